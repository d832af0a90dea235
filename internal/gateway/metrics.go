package gateway

import (
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"chainexplorer/internal/gateway/method"
	"chainexplorer/internal/starknet"
)

// Metrics are the gateway's counters for Prometheus. Methods are those of the table,
// so that no caller can make up labels.
type Metrics struct {
	calls    *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	refusals *prometheus.CounterVec
	versions *versions
}

// NewMetrics makes the metrics and registers them; a nil registerer leaves them
// unregistered.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	m := &Metrics{
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "chainexplorer_rpc_calls_total", Help: "JSON-RPC calls by method, by where the answer was looked for last (gateway, index, kept, shared, node, or nobody for a call that was refused before) and how it ended (ok, node_error, or the gateway's own error).",
		}, []string{"chain", "method", "source", "outcome"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "chainexplorer_rpc_call_seconds", Help: "Time to answer a JSON-RPC call, by method.",
			Buckets: prometheus.ExponentialBuckets(0.0002, 3, 11),
		}, []string{"method"}),
		refusals: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "chainexplorer_rpc_requests_refused_total", Help: "JSON-RPC requests that were refused as a whole, by the reason.",
		}, []string{"code"}),
		versions: &versions{of: map[string]func() []starknet.SpecVersion{}},
	}
	if reg != nil {
		reg.MustRegister(m.calls, m.seconds, m.refusals, m.versions)
	}
	return m
}

func (m *Metrics) refused(code string) { m.refusals.WithLabelValues(code).Inc() }

func (m *Metrics) called(chain string, of *method.Method, out *outcome) {
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
	m.calls.WithLabelValues(chain, name, source, end).Inc()
	m.seconds.WithLabelValues(name).Observe(out.took.Seconds())
}

// versions tells which versions of the specification nodes speak, when it is asked.
type versions struct {
	of map[string]func() []starknet.SpecVersion // by chain; not changed once the gateway serves
}

var versionDesc = prometheus.NewDesc("chainexplorer_rpc_version_served", "1 while a node that can be asked speaks this version of the specification.", []string{"chain", "version"}, nil)

// Describe implements prometheus.Collector.
func (v *versions) Describe(ch chan<- *prometheus.Desc) { ch <- versionDesc }

// Collect implements prometheus.Collector.
func (v *versions) Collect(ch chan<- prometheus.Metric) {
	for chain, spoken := range v.of {
		now := spoken()
		for _, version := range method.Versions() {
			served := 0.0
			if slices.Contains(now, version) {
				served = 1
			}
			ch <- prometheus.MustNewConstMetric(versionDesc, prometheus.GaugeValue, served, chain, version.String())
		}
	}
}
