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
	builds   *prometheus.HistogramVec
	running  prometheus.Gauge
	trouble  prometheus.Gauge
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
		builds: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "chainexplorer_verification_build_seconds", Help: "Time that builds took, by whether a class came of it.",
			Buckets: []float64{0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800}}, []string{"result"}),
		running: prometheus.NewGauge(prometheus.GaugeOpts{Name: "chainexplorer_verification_running", Help: "Verification jobs that this worker is at."}),
		trouble: prometheus.NewGauge(prometheus.GaugeOpts{Name: "chainexplorer_verification_trouble", Help: "1 while this worker is set up to verify and can verify nothing; the log and readiness say why."}),
		jobs:    prometheus.NewDesc("chainexplorer_verification_jobs", "Verification jobs that have not ended, by state.", []string{"state"}, nil),
		oldest:  prometheus.NewDesc("chainexplorer_verification_oldest_seconds", "How long the oldest of them is in its state.", []string{"state"}, nil),
		bytes:   prometheus.NewDesc("chainexplorer_verification_source_bytes", "Bytes of sources that are kept or promised room.", nil, nil),
	}
	if reg != nil {
		reg.MustRegister(m.outcomes, m.builds, m.running, m.trouble, m)
	}
	return m
}

func (m *Metrics) ended(outcome string) {
	if m != nil {
		m.outcomes.WithLabelValues(outcome).Inc()
	}
}

func (m *Metrics) begun() {
	if m != nil {
		m.running.Inc()
	}
}

func (m *Metrics) over() {
	if m != nil {
		m.running.Dec()
	}
}

// built says how long a build took.
func (m *Metrics) built(took time.Duration, err error) {
	if m == nil {
		return
	}
	result := "class"
	if err != nil {
		result = "failure"
	}
	m.builds.WithLabelValues(result).Observe(took.Seconds())
}

func (m *Metrics) troubled(yes bool) {
	if m == nil {
		return
	}
	m.trouble.Set(0)
	if yes {
		m.trouble.Set(1)
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
