package pebble

import (
	lsm "github.com/cockroachdb/pebble/v2"
	"github.com/prometheus/client_golang/prometheus"
)

// collector shows the engine's figures to Prometheus. They are read when asked
// for, so they cost nothing in between.
type collector struct {
	engine *engine
	in     prometheus.Registerer
	series []series
}

type series struct {
	desc  *prometheus.Desc
	kind  prometheus.ValueType
	value func(*engine, *lsm.Metrics) float64
}

func newCollector(e *engine, in prometheus.Registerer) *collector {
	c := &collector{engine: e, in: in}
	add := func(kind prometheus.ValueType, name, help string, value func(*engine, *lsm.Metrics) float64) {
		desc := prometheus.NewDesc("chainexplorer_store_"+name, help, nil, nil)
		c.series = append(c.series, series{desc, kind, value})
	}
	gauge, counter := prometheus.GaugeValue, prometheus.CounterValue
	add(gauge, "disk_bytes", "Bytes that the store takes on disk.",
		func(e *engine, m *lsm.Metrics) float64 { return float64(e.stats(m).DiskBytes) })
	add(gauge, "memory_bytes", "Bytes of block cache and memtables.",
		func(e *engine, m *lsm.Metrics) float64 { return float64(e.stats(m).MemoryBytes) })
	add(counter, "commits_total", "Batches committed.",
		func(e *engine, _ *lsm.Metrics) float64 { return float64(e.commits.Load()) })
	add(counter, "commit_bytes_total", "Keys and values committed.",
		func(e *engine, _ *lsm.Metrics) float64 { return float64(e.commitBytes.Load()) })
	add(counter, "log_bytes_total", "Bytes written to the write-ahead log.",
		func(_ *engine, m *lsm.Metrics) float64 { return float64(m.WAL.BytesWritten) })
	add(counter, "flushes_total", "Memtables written to disk.",
		func(_ *engine, m *lsm.Metrics) float64 { return float64(m.Flush.Count) })
	add(counter, "compactions_total", "Compactions finished.",
		func(_ *engine, m *lsm.Metrics) float64 { return float64(m.Compact.Count) })
	add(gauge, "compaction_debt_bytes", "Bytes that compactions are behind.",
		func(_ *engine, m *lsm.Metrics) float64 { return float64(m.Compact.EstimatedDebt) })
	add(gauge, "read_amplification", "Tables that one read may have to look at.",
		func(_ *engine, m *lsm.Metrics) float64 { return float64(m.ReadAmp()) })
	add(counter, "cache_hits_total", "Blocks found in the block cache.",
		func(_ *engine, m *lsm.Metrics) float64 { return float64(m.BlockCache.Hits) })
	add(counter, "cache_misses_total", "Blocks not found in the block cache.",
		func(_ *engine, m *lsm.Metrics) float64 { return float64(m.BlockCache.Misses) })
	add(gauge, "stopped", "1 after a failed write stopped the store.",
		func(e *engine, _ *lsm.Metrics) float64 {
			if e.stop.get() != nil {
				return 1
			}
			return 0
		})
	add(gauge, "lost_blocks", "Blocks that had been acknowledged, were missing when the store was opened, and are not indexed again yet.",
		func(e *engine, _ *lsm.Metrics) float64 {
			l, lost := e.Lost()
			if !lost {
				return 0
			}
			return float64(max(l.Acknowledged, l.Found+1) - l.Found)
		})
	add(gauge, "paused", "1 while commits wait for room on the disk.",
		func(e *engine, _ *lsm.Metrics) float64 {
			if _, paused := e.Paused(); paused {
				return 1
			}
			return 0
		})
	add(gauge, "free_bytes", "Room on the store's disk; -1 where the system does not tell.",
		func(e *engine, _ *lsm.Metrics) float64 {
			if free, known := e.free(); known {
				return float64(free)
			}
			return -1
		})
	return c
}

// Describe serves prometheus.Collector.
func (c *collector) Describe(ch chan<- *prometheus.Desc) {
	for _, s := range c.series {
		ch <- s.desc
	}
}

// Collect serves prometheus.Collector. A store that is being closed shows
// nothing.
func (c *collector) Collect(ch chan<- prometheus.Metric) {
	e := c.engine
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return
	}
	e.running.Add(1)
	e.mu.Unlock()
	defer e.running.Done()
	m := e.db.Metrics()
	for _, s := range c.series {
		ch <- prometheus.MustNewConstMetric(s.desc, s.kind, s.value(e, m))
	}
}

func (c *collector) unregister() { c.in.Unregister(c) }
