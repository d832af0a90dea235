package relay

import (
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"chainexplorer/internal/relay/job"
	"chainexplorer/internal/relay/upstream"
)

// Metrics tell the operator how the relay fares. No label of theirs comes from a request.
type Metrics struct {
	relay     atomic.Pointer[Relay] // whose memory is told of; nil until there is one
	seconds   *prometheus.HistogramVec
	outcomes  *prometheus.CounterVec
	exchanges *prometheus.CounterVec
	alerts    *prometheus.CounterVec
	delivered prometheus.Counter
	expired   prometheus.Counter
}

// NewMetrics makes the metrics and registers them; a nil registerer leaves them
// unregistered.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	m := &Metrics{
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "chainexplorer_prover_state_seconds", Help: "How long prover jobs were in a state when they left it.",
			Buckets: prometheus.ExponentialBuckets(0.1, 2.5, 10)}, []string{"state"}),
		outcomes:  prometheus.NewCounterVec(prometheus.CounterOpts{Name: "chainexplorer_prover_jobs_total", Help: "Prover jobs that ended, by state and by what the last exchange with the prover came to."}, []string{"state", "class"}),
		exchanges: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "chainexplorer_prover_exchanges_total", Help: "Exchanges with the prover, by what they came to."}, []string{"class"}),
		alerts:    prometheus.NewCounterVec(prometheus.CounterOpts{Name: "chainexplorer_prover_alerts_total", Help: "Exchanges that say that the relay and the prover do not fit, by class."}, []string{"class"}),
		delivered: prometheus.NewCounter(prometheus.CounterOpts{Name: "chainexplorer_prover_results_delivered_total", Help: "Results and errors of the prover that were handed to their callers."}),
		expired:   prometheus.NewCounter(prometheus.CounterOpts{Name: "chainexplorer_prover_results_expired_total", Help: "Results and errors of the prover that nobody fetched in time."}),
	}
	if reg != nil {
		reg.MustRegister(m.seconds, m.outcomes, m.exchanges, m.alerts, m.delivered, m.expired)
		m.gauges(reg)
	}
	return m
}

// gauges tell how much is in the memory of the relay.
func (m *Metrics) gauges(reg prometheus.Registerer) {
	gauge := func(name, help string, of func(*Relay) int) {
		reg.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 {
			r := m.relay.Load()
			if r == nil {
				return 0
			}
			r.mu.Lock()
			defer r.mu.Unlock()
			return float64(of(r))
		}))
	}
	gauge("chainexplorer_prover_queued", "Requests of this process that wait for the prover.", func(r *Relay) int { return len(r.queue) })
	gauge("chainexplorer_prover_places", "Requests of this process that are in memory, queued or at the prover.", func(r *Relay) int { return r.tasks })
	gauge("chainexplorer_prover_results", "Results and errors of the prover that wait for their first poll.", func(r *Relay) int { return len(r.held) })
	gauge("chainexplorer_prover_up", "Whether the prover answers: 1 or 0.", func(r *Relay) int {
		if r.away.Load() {
			return 0
		}
		return 1
	})
}

func (m *Metrics) left(s job.State, d time.Duration) {
	m.seconds.WithLabelValues(string(s)).Observe(d.Seconds())
}

func (m *Metrics) answered(out upstream.Outcome) {
	m.exchanges.WithLabelValues(out.Class).Inc()
	if out.Alert {
		m.alerts.WithLabelValues(out.Class).Inc()
	}
}

func (m *Metrics) ended(s job.State, class string) {
	m.outcomes.WithLabelValues(string(s), class).Inc()
}
