package node

import (
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics counts what the pool does. A nil *Metrics counts nothing.
type Metrics struct {
	requests *prometheus.CounterVec
	latency  *prometheus.HistogramVec
	bytes    *prometheus.CounterVec
	retries  prometheus.Counter
	head     *prometheus.GaugeVec
	healthy  *prometheus.GaugeVec

	hedges       *prometheus.CounterVec
	unasked      *prometheus.CounterVec
	falseAnswers *prometheus.CounterVec
	quarantined  *prometheus.GaugeVec
}

// NewMetrics makes the pool's metrics and registers them.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	m := &Metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "chainexplorer_node_requests_total", Help: "Calls to nodes by method and outcome.",
		}, []string{"node", "method", "outcome"}),
		latency: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "chainexplorer_node_request_seconds", Help: "Duration of HTTP requests to nodes, body included.",
			Buckets: prometheus.ExponentialBuckets(0.001, 2.5, 12),
		}, []string{"node"}),
		bytes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "chainexplorer_node_response_bytes_total", Help: "Bytes of responses, after decompression.",
		}, []string{"node"}),
		retries: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "chainexplorer_node_retries_total", Help: "Further requests for reads that the first one did not settle.",
		}),
		head: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "chainexplorer_node_head", Help: "Number of the newest block that the node told of.",
		}, []string{"node"}),
		healthy: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "chainexplorer_node_healthy", Help: "1 while the node answers.",
		}, []string{"node"}),
		hedges: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "chainexplorer_node_hedges_total", Help: "Requests that were made because another took much longer than usual, by who got them.",
		}, []string{"node"}),
		unasked: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "chainexplorer_node_unasked_total", Help: "Calls of others that were put to no node: none was healthy (unhealthy), none spoke the version (version), or there was no place or memory for them (busy).",
		}, []string{"reason"}),
		falseAnswers: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "chainexplorer_node_false_answers_total", Help: "Answers that put the node into quarantine.",
		}, []string{"node"}),
		quarantined: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "chainexplorer_node_quarantined", Help: "1 while the node is not believed because of a false answer.",
		}, []string{"node"}),
	}
	reg.MustRegister(m.requests, m.latency, m.bytes, m.retries, m.head, m.healthy, m.hedges, m.unasked, m.falseAnswers, m.quarantined)
	return m
}

func (m *Metrics) request(node, method, outcome string) {
	if m == nil {
		return
	}
	if !readMethods[method] && !writeMethods[method] {
		method = "other" // a label must not grow with what callers ask
	}
	m.requests.WithLabelValues(node, method, outcome).Inc()
}

func (m *Metrics) observe(node string, d time.Duration, size int) {
	if m == nil {
		return
	}
	m.latency.WithLabelValues(node).Observe(d.Seconds())
	m.bytes.WithLabelValues(node).Add(float64(size))
}

func (m *Metrics) retry() {
	if m != nil {
		m.retries.Inc()
	}
}

func (m *Metrics) setHead(node string, number uint64) {
	if m != nil {
		m.head.WithLabelValues(node).Set(float64(number))
	}
}

func (m *Metrics) setHealthy(node string, ok bool) {
	if m != nil {
		m.healthy.WithLabelValues(node).Set(oneIf(ok))
	}
}

func (m *Metrics) hedge(node string) {
	if m != nil {
		m.hedges.WithLabelValues(node).Inc()
	}
}

// unforwarded counts a call of others that no node answered because of us or because
// there was none to ask; other failures are counted with the node.
func (m *Metrics) unforwarded(err error) {
	if m == nil {
		return
	}
	switch {
	case errors.Is(err, ErrBusy):
		m.unasked.WithLabelValues("busy").Inc()
	case errors.Is(err, ErrNoneHealthy):
		m.unasked.WithLabelValues("unhealthy").Inc()
	case errors.Is(err, ErrNoVersion):
		m.unasked.WithLabelValues("version").Inc()
	}
}

func (m *Metrics) falseAnswer(node string) {
	if m != nil {
		m.falseAnswers.WithLabelValues(node).Inc()
	}
}

func (m *Metrics) setQuarantined(node string, is bool) {
	if m != nil {
		m.quarantined.WithLabelValues(node).Set(oneIf(is))
	}
}

func oneIf(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
