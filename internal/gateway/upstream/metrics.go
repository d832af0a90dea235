package upstream

import "github.com/prometheus/client_golang/prometheus"

// Metrics counts where answers come from. A nil *Metrics counts nothing.
type Metrics struct {
	answers *prometheus.CounterVec
	bytes   prometheus.Gauge
	entries prometheus.Gauge
}

// NewMetrics makes the metrics and registers them.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	m := &Metrics{
		answers: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "chainexplorer_rpc_answers_total", Help: "Calls of the JSON-RPC gateway that needed nodes, by method and by where the answer came from: kept, shared, node, or failed.",
		}, []string{"method", "from"}),
		bytes: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "chainexplorer_rpc_kept_bytes", Help: "Memory of the node answers that are kept.",
		}),
		entries: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "chainexplorer_rpc_kept_answers", Help: "How many node answers are kept.",
		}),
	}
	reg.MustRegister(m.answers, m.bytes, m.entries)
	return m
}

// answer counts a call. Methods are those of the table: the labels are bounded.
func (m *Metrics) answer(method, from string) {
	if m != nil {
		m.answers.WithLabelValues(method, from).Inc()
	}
}

func (m *Metrics) setKept(bytes int64, entries int) {
	if m != nil {
		m.bytes.Set(float64(bytes))
		m.entries.Set(float64(entries))
	}
}
