package postgres

import (
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
)

// collector shows the engine's figures to Prometheus. They are read when asked
// for and cost the server nothing.
type collector struct {
	engine *Engine
	in     prometheus.Registerer
	series []series
}

type series struct {
	desc  *prometheus.Desc
	kind  prometheus.ValueType
	value func(*Engine) float64
}

func newCollector(e *Engine, in prometheus.Registerer) *collector {
	c := &collector{engine: e, in: in}
	add := func(kind prometheus.ValueType, name, help string, value func(*Engine) float64) {
		c.series = append(c.series, series{prometheus.NewDesc("chainexplorer_store_"+name, help, nil, nil), kind, value})
	}
	gauge, counter := prometheus.GaugeValue, prometheus.CounterValue
	add(counter, "commits_total", "Batches committed by this process.", func(e *Engine) float64 { return float64(e.commits.Load()) })
	add(counter, "commit_bytes_total", "Keys and values committed by this process.", func(e *Engine) float64 { return float64(e.commitBytes.Load()) })
	add(gauge, "connections", "Connections for views that are open.",
		func(e *Engine) float64 {
			return e.sum(func(s *pgxpool.Stat) float64 { return float64(s.TotalConns()) })
		})
	add(gauge, "connections_busy", "Connections for views that are in use.",
		func(e *Engine) float64 {
			if e.citus { // some are kept for the next view
				return float64(len(e.snapshots.views) * len(e.ring.Load().servers))
			}
			return float64(e.read.Stat().AcquiredConns())
		})
	add(gauge, "connections_max", "Connections for views that may be open.",
		func(e *Engine) float64 { return e.sum(func(s *pgxpool.Stat) float64 { return float64(s.MaxConns()) }) })
	add(counter, "connection_waits_total", "Views that had to wait for a connection.",
		func(e *Engine) float64 {
			return float64(e.read.Stat().EmptyAcquireCount() + e.snapshots.waits.Load())
		})
	add(counter, "connection_wait_seconds_total", "Time that views waited for connections.",
		func(e *Engine) float64 {
			return (e.read.Stat().EmptyAcquireWaitTime() + time.Duration(e.snapshots.waited.Load())).Seconds()
		})
	return c
}

// sum adds a figure of the connections for views up, over all servers.
func (e *Engine) sum(of func(*pgxpool.Stat) float64) (total float64) {
	for _, s := range e.ring.Load().servers {
		total += of(s.read.Stat())
	}
	return total
}

// Describe serves prometheus.Collector.
func (c *collector) Describe(ch chan<- *prometheus.Desc) {
	for _, s := range c.series {
		ch <- s.desc
	}
}

// Collect serves prometheus.Collector.
func (c *collector) Collect(ch chan<- prometheus.Metric) {
	if c.engine.isClosing() {
		return
	}
	for _, s := range c.series {
		ch <- prometheus.MustNewConstMetric(s.desc, s.kind, s.value(c.engine))
	}
}

func (c *collector) unregister() { c.in.Unregister(c) }
