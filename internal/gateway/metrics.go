package gateway

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"chainexplorer/internal/gateway/method"
)

// Metrics are the gateway's counters for Prometheus. Methods are those of the table,
// so that no caller can make up labels.
type Metrics struct {
	calls    *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	refusals *prometheus.CounterVec
}

// NewMetrics makes the metrics and registers them; a nil registerer leaves them
// unregistered.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	m := &Metrics{
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "chainexplorer_rpc_calls_total", Help: "JSON-RPC calls by method, by who answered (gateway, index, kept, node, nobody) and how it ended (ok, node_error, or the gateway's own error).",
		}, []string{"method", "source", "outcome"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "chainexplorer_rpc_call_seconds", Help: "Time to answer a JSON-RPC call, by method.",
			Buckets: prometheus.ExponentialBuckets(0.0002, 3, 11),
		}, []string{"method"}),
		refusals: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "chainexplorer_rpc_requests_refused_total", Help: "JSON-RPC requests that were refused as a whole, by the reason.",
		}, []string{"code"}),
	}
	if reg != nil {
		reg.MustRegister(m.calls, m.seconds, m.refusals)
	}
	return m
}

func (m *Metrics) refused(code string) { m.refusals.WithLabelValues(code).Inc() }

func (m *Metrics) called(of *method.Method, out *outcome, took time.Duration) {
	name, source, end := "other", out.source, "ok"
	if of != nil {
		name = of.Name
	}
	if source == "" {
		source = "nobody"
	}
	switch {
	case out.fault != nil:
		end = out.fault.Name
	case out.failure != nil:
		end = "node_error"
	}
	m.calls.WithLabelValues(name, source, end).Inc()
	m.seconds.WithLabelValues(name).Observe(took.Seconds())
}
