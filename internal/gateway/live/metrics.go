package live

import "github.com/prometheus/client_golang/prometheus"

// Metrics counts what sessions and hubs do. A nil *Metrics counts nothing.
type Metrics struct {
	sessions      prometheus.Gauge
	subscriptions *prometheus.GaugeVec
	notifications *prometheus.CounterVec
	closed        *prometheus.CounterVec
	reorgs        *prometheus.CounterVec
	failures      *prometheus.CounterVec
	head          *prometheus.GaugeVec
}

// NewMetrics makes the metrics and registers them.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	m := &Metrics{
		sessions: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "chainexplorer_rpc_ws_sessions", Help: "Open WebSocket sessions.",
		}),
		subscriptions: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "chainexplorer_rpc_ws_subscriptions", Help: "Subscriptions by the method that made them.",
		}, []string{"method"}),
		notifications: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "chainexplorer_rpc_ws_notifications_total", Help: "Notifications sent, by method.",
		}, []string{"method"}),
		closed: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "chainexplorer_rpc_ws_closed_total", Help: "Sessions that ended, by why.",
		}, []string{"reason"}),
		reorgs: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "chainexplorer_rpc_ws_reorgs_total", Help: "Forks that subscriptions were told of, by version of the specification.",
		}, []string{"version"}),
		failures: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "chainexplorer_rpc_ws_feed_failures_total", Help: "Times that the feed of a version could not go on and had to try again.",
		}, []string{"version"}),
		head: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "chainexplorer_rpc_ws_feed_head", Help: "Newest block that subscriptions of a version were given, while there are any.",
		}, []string{"version"}),
	}
	reg.MustRegister(m.sessions, m.subscriptions, m.notifications, m.closed, m.reorgs, m.failures, m.head)
	return m
}

func (m *Metrics) session(by float64) {
	if m != nil {
		m.sessions.Add(by)
	}
}

func (m *Metrics) subscription(method string, by float64) {
	if m != nil {
		m.subscriptions.WithLabelValues(method).Add(by)
	}
}

func (m *Metrics) notified(method string) {
	if m != nil {
		m.notifications.WithLabelValues(method).Inc()
	}
}

func (m *Metrics) close(reason string) {
	if m != nil {
		m.closed.WithLabelValues(reason).Inc()
	}
}

func (m *Metrics) reorg(version string) {
	if m != nil {
		m.reorgs.WithLabelValues(version).Inc()
	}
}

func (m *Metrics) failure(version string) {
	if m != nil {
		m.failures.WithLabelValues(version).Inc()
	}
}

// unfollowed forgets the head of a version that nobody follows any more: one that stays
// where it was would look like subscriptions that wait.
func (m *Metrics) unfollowed(version string) {
	if m != nil {
		m.head.DeleteLabelValues(version)
	}
}

func (m *Metrics) published(version string, head uint64) {
	if m != nil {
		m.head.WithLabelValues(version).Set(float64(head))
	}
}
