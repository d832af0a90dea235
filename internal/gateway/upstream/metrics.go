package upstream

import "github.com/prometheus/client_golang/prometheus"

// Metrics counts the answers that are kept. A nil *Metrics counts nothing.
type Metrics struct {
	bytes   prometheus.Gauge
	entries prometheus.Gauge
}

// NewMetrics makes the metrics and registers them.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	m := &Metrics{
		bytes: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "chainexplorer_rpc_kept_bytes", Help: "Memory of the node answers that are kept.",
		}),
		entries: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "chainexplorer_rpc_kept_answers", Help: "How many node answers are kept.",
		}),
	}
	reg.MustRegister(m.bytes, m.entries)
	return m
}

func (m *Metrics) setKept(bytes int64, entries int) {
	if m != nil {
		m.bytes.Set(float64(bytes))
		m.entries.Set(float64(entries))
	}
}
