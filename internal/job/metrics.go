package job

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics say which jobs this process does, and how they fare. Their label is
// "name", because "job" is a label of Prometheus itself.
type Metrics struct {
	holds    *prometheus.GaugeVec
	runs     *prometheus.CounterVec
	busy     *prometheus.CounterVec
	failures *prometheus.CounterVec
	losses   *prometheus.CounterVec
	success  *prometheus.GaugeVec
}

// NewMetrics makes the metrics and registers them; a nil registerer leaves
// them unregistered.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	label := []string{"name"}
	counter := func(name, help string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "chainexplorer_job_" + name, Help: help}, label)
	}
	gauge := func(name, help string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "chainexplorer_job_" + name, Help: help}, label)
	}
	m := &Metrics{
		holds:    gauge("held", "1 while this process does the job, 0 while it stands by."),
		runs:     counter("runs_total", "Times that the job looked for work and did all of it."),
		busy:     counter("busy_seconds_total", "Time that these runs took."),
		failures: counter("failures_total", "Times that the job failed and was left to whoever is first to try it again."),
		losses:   counter("lost_total", "Times that the job's lease was lost to another process, or could not be renewed."),
		success:  gauge("last_success_timestamp_seconds", "When this process last did all there was to do."),
	}
	if reg != nil {
		reg.MustRegister(m.holds, m.runs, m.busy, m.failures, m.losses, m.success)
	}
	return m
}

func (m *Metrics) held(name string, yes bool) {
	v := 0.0
	if yes {
		v = 1
	}
	m.holds.WithLabelValues(name).Set(v)
	m.failures.WithLabelValues(name)
	m.losses.WithLabelValues(name)
	m.runs.WithLabelValues(name)
}

func (m *Metrics) done(name string, took time.Duration) {
	m.runs.WithLabelValues(name).Inc()
	m.busy.WithLabelValues(name).Add(took.Seconds())
	m.success.WithLabelValues(name).SetToCurrentTime()
}

func (m *Metrics) failed(name string) { m.failures.WithLabelValues(name).Inc() }

func (m *Metrics) lost(name string) { m.losses.WithLabelValues(name).Inc() }
