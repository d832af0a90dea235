package privacypool

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/explorer/privacypool/ledger"
	"chainexplorer/internal/registry"
	"chainexplorer/internal/store"
)

// metrics say how the ledger fares. They are read from the index when they are asked
// for, so that they hold whichever process does the job, and so that none goes on
// telling what was true when it lost it.
type metrics struct {
	store store.Engine
	pools []registry.PrivacyPool
	depth uint64

	through, lag, generation, status, gaps *prometheus.Desc
}

// scrapeTime is how long a store may take to be asked.
const scrapeTime = 5 * time.Second

// RegisterMetrics adds the metrics of the ledger of some pools. Depth is as of a Job.
func RegisterMetrics(reg prometheus.Registerer, e store.Engine, pools []registry.PrivacyPool, depth uint64) {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("chainexplorer_privacy_pool_ledger_"+name, help, labels, nil)
	}
	reg.MustRegister(&metrics{store: e, pools: pools, depth: depthOr(depth),
		through:    desc("through_block", "The block that the ledger of privacy pools reaches: the one that is served, and the one that is being made to take its place.", "ledger"),
		lag:        desc("lag_blocks", "How far that is behind the finalized block.", "ledger"),
		generation: desc("generation", "How many ledgers were begun up to this one.", "ledger"),
		status:     desc("status", "1 for what the ledger that is served is: complete, degraded, or unavailable when there is none.", "status"),
		gaps:       desc("gaps", "Events because of which the ledger that is served is degraded, by reason.", "reason"),
	})
}

// Describe names the metrics.
func (m *metrics) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{m.through, m.lag, m.generation, m.status, m.gaps} {
		to <- d
	}
}

// Collect reads them: the state, the head, and the block that each ledger reaches. What
// cannot be read is left out.
func (m *metrics) Collect(to chan<- prometheus.Metric) {
	if len(m.pools) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTime)
	defer cancel()
	var out []prometheus.Metric
	gauge := func(d *prometheus.Desc, n float64, label string) {
		out = append(out, prometheus.MustNewConstMetric(d, prometheus.GaugeValue, n, label))
	}
	err := m.store.View(ctx, func(r store.Reader) error {
		here, err := chain.Read(ctx, r)
		if err != nil || !here.Present {
			return err
		}
		s, err := ledger.ReadState(ctx, r)
		if err != nil {
			return err
		}
		finalized, some := here.FinalizedBlock(m.depth)
		served := "unavailable"
		for _, l := range []struct {
			name string
			*ledger.Generation
		}{{"serving", s.Serving}, {"building", s.Building}} {
			b, err := l.Sound(ctx, r, m.pools)
			if errors.Is(err, ledger.ErrMissing) {
				continue
			}
			if err != nil {
				return err
			}
			gauge(m.through, float64(b.Number), l.name)
			gauge(m.generation, float64(l.Number), l.name)
			if some {
				gauge(m.lag, float64(finalized)-float64(min(finalized, b.Number)), l.name)
			}
			if l.name == "building" {
				continue
			}
			served = "complete"
			for _, gap := range l.Gaps {
				served = "degraded"
				gauge(m.gaps, float64(gap.Count), string(gap.Reason))
			}
		}
		for _, status := range []string{"complete", "degraded", "unavailable"} {
			n := 0.0
			if status == served {
				n = 1
			}
			gauge(m.status, n, status)
		}
		return nil
	})
	if err != nil {
		return
	}
	for _, metric := range out {
		to <- metric
	}
}
