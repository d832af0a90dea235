package webhook

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics say how deliveries fare.
type Metrics struct {
	deliveries *prometheus.CounterVec
	dead       prometheus.Counter
	age        prometheus.Gauge
	states     *prometheus.GaugeVec
}

// NewMetrics makes the metrics and registers them; a nil registerer leaves them
// unregistered.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	m := &Metrics{
		deliveries: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "chainexplorer_webhook_deliveries_total", Help: "Attempts to deliver a webhook message, by outcome: delivered, refused (any other answer) or unreachable (no answer)."}, []string{"outcome"}),
		dead:       prometheus.NewCounter(prometheus.CounterOpts{Name: "chainexplorer_webhook_dead_letters_total", Help: "Webhook messages that were given up."}),
		age:        prometheus.NewGauge(prometheus.GaugeOpts{Name: "chainexplorer_webhook_oldest_seconds", Help: "How long the oldest webhook message has been waiting to be taken; 0 when none waits."}),
		states:     prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "chainexplorer_webhook_subscriptions", Help: "Webhooks of the chain that are active, or were disabled by the service."}, []string{"state"}),
	}
	for _, outcome := range []string{"delivered", "refused", "unreachable"} {
		m.deliveries.WithLabelValues(outcome)
	}
	if reg != nil {
		reg.MustRegister(m.deliveries, m.dead, m.age, m.states)
	}
	return m
}

func (m *Metrics) sent(outcome string) { m.deliveries.WithLabelValues(outcome).Inc() }

func (m *Metrics) gaveUp() { m.dead.Inc() }

func (m *Metrics) oldest(age time.Duration) { m.age.Set(age.Seconds()) }

func (m *Metrics) subscriptions(active, disabled int) {
	m.states.WithLabelValues("active").Set(float64(active))
	m.states.WithLabelValues("disabled").Set(float64(disabled))
}
