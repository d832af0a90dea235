package index

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"chainexplorer/internal/explorer/chain"
)

// Metrics are the write path's counters for Prometheus.
type Metrics struct {
	stages       *prometheus.HistogramVec
	blocks       prometheus.Counter
	transactions prometheus.Counter
	events       prometheus.Counter
	bytes        prometheus.Counter
	forks        prometheus.Counter
	forkDepth    prometheus.Histogram
	failures     prometheus.Counter
	verified     *prometheus.CounterVec
	classes      *prometheus.CounterVec
	headNumber   prometheus.Gauge
	headTime     prometheus.Gauge
	target       prometheus.Gauge
	l1Number     prometheus.Gauge

	findings *prometheus.GaugeVec

	doubts sync.Map // reason and starknet_version -> true
}

// NewMetrics makes the metrics and registers them; a nil registerer leaves
// them unregistered.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: "chainexplorer_index_" + name, Help: help})
	}
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Name: "chainexplorer_index_" + name, Help: help})
	}
	m := &Metrics{
		stages: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "chainexplorer_index_stage_seconds",
			Help:    "Time of one block (commit: of one batch) in a stage of the pipeline.",
			Buckets: prometheus.ExponentialBuckets(0.0001, 4, 10),
		}, []string{"stage"}),
		blocks:       counter("blocks_total", "Blocks committed."),
		transactions: counter("transactions_total", "Transactions committed."),
		events:       counter("events_total", "Events committed."),
		bytes:        counter("written_bytes_total", "Keys and values given to the store."),
		forks:        counter("forks_total", "Forks undone."),
		forkDepth: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "chainexplorer_index_fork_depth_blocks", Help: "Blocks undone by a fork.",
			Buckets: []float64{1, 2, 5, 10, 50, 200, 1000, 5000},
		}),
		failures: counter("failed_rounds_total", "Rounds that failed and were repeated."),
		verified: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "chainexplorer_index_verified_blocks_total",
			Help: "Blocks whose hashes were recomputed, by outcome.",
		}, []string{"outcome"}),
		findings: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "chainexplorer_index_blocks",
			Help: "Blocks of the index, by what is recorded of their verification.",
		}, []string{"verification"}),
		classes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "chainexplorer_index_classes_total",
			Help: "Classes that were asked for, by what came of it.",
		}, []string{"outcome"}),
		headNumber: gauge("head_block", "Newest indexed block."),
		headTime:   gauge("head_timestamp_seconds", "Timestamp of the newest indexed block."),
		target:     gauge("node_head_block", "Newest block of the node."),
		l1Number:   gauge("l1_accepted_block", "Newest indexed block that is accepted on L1."),
	}
	if reg != nil {
		reg.MustRegister(m.stages, m.blocks, m.transactions, m.events, m.bytes, m.forks, m.forkDepth,
			m.failures, m.verified, m.findings, m.classes, m.headNumber, m.headTime, m.target, m.l1Number)
	}
	return m
}

func (m *Metrics) stage(name string, start time.Time) {
	m.stages.WithLabelValues(name).Observe(time.Since(start).Seconds())
}

// checked tells what is recorded of the verification of all blocks.
func (m *Metrics) checked(l *chain.FindingLog, head chain.Head) {
	sum := l.Summary()
	rest := head.Number + 1
	for _, c := range []struct {
		outcome chain.Outcome
		n       uint64
	}{{chain.Verified, sum.Verified}, {chain.NotChecked, sum.NotChecked}, {chain.Unverified, sum.Unverified}} {
		m.findings.WithLabelValues(c.outcome.String()).Set(float64(c.n))
		rest -= min(rest, c.n)
	}
	m.findings.WithLabelValues(chain.Unknown.String()).Set(float64(rest))
}

func (m *Metrics) committed(b *batch) {
	m.checked(&b.findings, b.head)
	m.blocks.Add(float64(b.blocks))
	m.transactions.Add(float64(b.transactions))
	m.events.Add(float64(b.events))
	m.bytes.Add(float64(b.ops.Bytes()))
	m.head(b.head)
}

func (m *Metrics) head(h chain.Head) {
	m.headNumber.Set(float64(h.Number))
	m.headTime.Set(float64(h.Timestamp))
}

func (m *Metrics) fork(depth uint64) {
	m.forks.Inc()
	m.forkDepth.Observe(float64(depth))
}

func (m *Metrics) l1(number uint64) { m.l1Number.Set(float64(number)) }
