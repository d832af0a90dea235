package main

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/index"
	"chainexplorer/internal/index/recheck"
	"chainexplorer/internal/job"
	"chainexplorer/internal/job/census"
	"chainexplorer/internal/job/metadata"
	"chainexplorer/internal/job/pools"
	"chainexplorer/internal/job/privacypool"
	"chainexplorer/internal/node"
	"chainexplorer/internal/registry"
	"chainexplorer/internal/store"
	"chainexplorer/internal/web/pages"
)

// jobSettings are what the jobs beside an indexer are set up by.
type jobSettings struct {
	Store                           store.Engine
	Shared                          bool // other processes may do the jobs as well
	TTL                             time.Duration
	Pool                            *node.Pool
	Chain                           felt.Felt
	Registry                        *registry.Chain
	Depth                           uint64
	CensusInterval, CensusRetention time.Duration
	AuditRate                       float64               // blocks a second; 0 for no auditor
	Counting                        func(census.Progress) // shows the holder census; nil where the log does
	More                            []job.Job
	Logger                          *slog.Logger
	Metrics                         prometheus.Registerer
}

// open sets the jobs of a chain up.
func (s jobSettings) open() (*jobs, error) {
	var known []felt.Felt
	for _, t := range s.Registry.Tokens() {
		known = append(known, t.Address)
	}
	list := []job.Job{
		metadata.New(metadata.Job{Store: s.Store, Source: &index.Nodes{Pool: s.Pool}, Known: known, Logger: s.Logger}),
		&pools.Job{Store: s.Store, Dexes: s.Registry.Dexes(), Depth: s.Depth, Logger: s.Logger},
		&privacypool.Job{Store: s.Store, Pools: s.Registry.PrivacyPools(), Depth: s.Depth, Logger: s.Logger},
		census.New(census.Job{Store: s.Store, Node: s.Pool, Registry: s.Registry, Depth: s.Depth,
			Tip:     func() (uint64, bool) { return newestOf(s.Pool) },
			Rebuild: s.CensusInterval, Retention: s.CensusRetention, Progress: s.Counting, Logger: s.Logger}),
	}
	if s.AuditRate > 0 {
		list = append(list, &recheck.Job{Store: s.Store, Node: &index.Nodes{Pool: s.Pool}, States: s.Pool, Voices: func() []recheck.Voice { return voicesOf(s.Pool) }, Registry: s.Registry, Depth: s.Depth,
			Interval: time.Duration(float64(time.Second) / s.AuditRate), Logger: s.Logger, Metrics: recheck.NewMetrics(s.Metrics)})
	}
	privacypool.RegisterMetrics(s.Metrics, s.Store, s.Registry.PrivacyPools(), s.Depth)
	list = append(list, s.More...)
	r, err := job.New(job.Options{
		Store: s.Store, Chain: s.Chain, Owner: owner(), TTL: s.TTL, Shared: s.Shared, Logger: s.Logger, Metrics: job.NewMetrics(s.Metrics),
		Jobs: list,
	})
	if err != nil {
		return nil, err
	}
	return &jobs{runner: r, store: s.Store}, nil
}

// jobs are the jobs of one chain. A nil one has none.
type jobs struct {
	runner *job.Runner
	store  store.Engine
}

// workOf tells how the jobs of a chain fare in this process.
func (s *service) workOf(chain string) (out []pages.Work) {
	for _, c := range s.chains {
		if c.id != chain || c.jobs == nil {
			continue
		}
		for _, r := range c.jobs.runner.Reports() {
			out = append(out, pages.Work{Name: r.Name, Held: r.Held, Done: r.Done, Failed: r.Failed, Failures: r.Failures})
		}
	}
	return out
}

// announced wakes the jobs after a commit of this process.
func (j *jobs) announced(index.Announcement) {
	if j != nil {
		j.runner.Wake()
	}
}

// run does the jobs until ctx ends. A store that other processes write to tells of
// their blocks.
func (j *jobs) run(ctx context.Context) error {
	if j == nil {
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	told := make(chan struct{})
	go func() {
		defer close(told)
		if others, ok := j.store.(store.Announcer); ok {
			for range others.Changes(ctx, store.Writer) {
				j.runner.Wake()
			}
		}
	}()
	err := j.runner.Run(ctx)
	cancel()
	<-told
	if err != nil {
		return fmt.Errorf("jobs: %w", err)
	}
	return nil
}

// newestOf is the newest block that a healthy node of a pool is known to have.
func newestOf(pool *node.Pool) (head uint64, ok bool) {
	for _, st := range pool.Statuses() {
		if st.Usable() && st.QuarantinedUntil.IsZero() && !st.Head.Hash.IsZero() {
			head, ok = max(head, st.Head.Number), true
		}
	}
	return head, ok
}

// checkCensus refuses times that would leave a token without a census.
func checkCensus(interval, retention time.Duration) error {
	if interval < time.Minute || retention < 2*interval {
		return &usageError{"--census-interval must be at least a minute, and --census-retention at least twice as long"}
	}
	return nil
}

// voicesOf are the nodes one by one, those that are used at all.
func voicesOf(p *node.Pool) (out []recheck.Voice) {
	all := &index.Nodes{Pool: p}
	for _, n := range p.Statuses() {
		if n.Refused != nil {
			continue
		}
		out = append(out, recheck.Voice{Name: n.Node, States: p.Only(n.Node), Class: func(ctx context.Context, number uint64, hash felt.Felt) ([]byte, string, error) {
			return all.ClassFrom(ctx, number, hash, index.From{Only: n.Node})
		}})
	}
	return out
}

// checkAudit refuses rates that are none.
func checkAudit(rate float64) error {
	if rate != 0 && !(rate >= 0.001 && rate <= 1000) { // this way round for what is no number
		return &usageError{"--audit-rate must be 0, or 0.001 to 1000 blocks a second"}
	}
	return nil
}
