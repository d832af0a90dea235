package postgres

import "github.com/prometheus/client_golang/prometheus"

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
	add(gauge, "connections", "Connections for views that are open.", func(e *Engine) float64 { return float64(e.read.Stat().TotalConns()) })
	add(gauge, "connections_busy", "Connections for views that are in use.", func(e *Engine) float64 { return float64(e.read.Stat().AcquiredConns()) })
	add(gauge, "connections_max", "Connections for views that may be open.", func(e *Engine) float64 { return float64(e.read.Stat().MaxConns()) })
	add(counter, "connection_waits_total", "Views that had to wait for a connection.", func(e *Engine) float64 { return float64(e.read.Stat().EmptyAcquireCount()) })
	add(counter, "connection_wait_seconds_total", "Time that views waited for connections.",
		func(e *Engine) float64 { return e.read.Stat().EmptyAcquireWaitTime().Seconds() })
	return c
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
