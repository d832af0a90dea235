package controller

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"chainexplorer/internal/verification/job"
)

// Metrics say how much there is to verify, and what came of it.
type Metrics struct {
	repo     *job.Repo
	outcomes *prometheus.CounterVec
	jobs     *prometheus.Desc
	oldest   *prometheus.Desc
	bytes    *prometheus.Desc
}

// NewMetrics makes the metrics and registers them; a nil registerer leaves them
// unregistered.
func NewMetrics(repo *job.Repo, reg prometheus.Registerer) *Metrics {
	m := &Metrics{
		repo:     repo,
		outcomes: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "chainexplorer_verification_outcomes_total", Help: "Verification jobs that this worker brought to an end, by how they ended."}, []string{"outcome"}),
		jobs:     prometheus.NewDesc("chainexplorer_verification_jobs", "Verification jobs that have not ended, by state.", []string{"state"}, nil),
		oldest:   prometheus.NewDesc("chainexplorer_verification_oldest_seconds", "How long the oldest of them is in its state.", []string{"state"}, nil),
		bytes:    prometheus.NewDesc("chainexplorer_verification_source_bytes", "Bytes of sources that are kept or promised room.", nil, nil),
	}
	if reg != nil {
		reg.MustRegister(m.outcomes, m)
	}
	return m
}

func (m *Metrics) ended(outcome string) {
	if m != nil {
		m.outcomes.WithLabelValues(outcome).Inc()
	}
}

// Describe tells Prometheus what there is.
func (m *Metrics) Describe(ch chan<- *prometheus.Desc) {
	ch <- m.jobs
	ch <- m.oldest
	ch <- m.bytes
}

// Collect asks the control database, for no longer than a scrape may take.
func (m *Metrics) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	l, err := m.repo.Load(ctx, job.Chain)
	if err != nil {
		return // what is not known is not said
	}
	for _, s := range job.States() {
		if s.Terminal() {
			continue
		}
		ch <- prometheus.MustNewConstMetric(m.jobs, prometheus.GaugeValue, float64(l.Jobs[s]), string(s))
		age := 0.0
		if at, ok := l.Oldest[s]; ok {
			age = max(0, time.Since(at).Seconds())
		}
		ch <- prometheus.MustNewConstMetric(m.oldest, prometheus.GaugeValue, age, string(s))
	}
	ch <- prometheus.MustNewConstMetric(m.bytes, prometheus.GaugeValue, float64(l.SourceBytes))
}
