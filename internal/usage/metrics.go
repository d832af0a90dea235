package usage

import "github.com/prometheus/client_golang/prometheus"

// Metrics are the counters of a Recorder for Prometheus.
type Metrics struct {
	recorded prometheus.Counter
	dropped  *prometheus.CounterVec
	flushes  *prometheus.CounterVec
}

// NewMetrics makes the metrics and registers them; a nil registerer leaves them
// unregistered.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	m := &Metrics{
		recorded: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "chainexplorer_usage_requests_total", Help: "Requests and JSON-RPC calls that were counted for the usage of their keys.",
		}),
		dropped: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "chainexplorer_usage_dropped_total", Help: "Requests that had no room in memory: count for those that are missing in the usage, detail for those that are counted and not listed.",
		}, []string{"what"}),
		flushes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "chainexplorer_usage_flushes_total", Help: "Writes of the usage to the control database, by outcome; what failed is kept and tried again.",
		}, []string{"outcome"}),
	}
	for _, what := range []string{"count", "detail"} {
		m.dropped.WithLabelValues(what)
	}
	for _, outcome := range []string{"ok", "failed"} {
		m.flushes.WithLabelValues(outcome)
	}
	if reg != nil {
		reg.MustRegister(m.recorded, m.dropped, m.flushes)
	}
	return m
}
