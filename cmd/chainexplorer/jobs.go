package main

import (
	"log/slog"
	"time"

	"chainexplorer/internal/census"
	"chainexplorer/internal/index"
	"chainexplorer/internal/metadata"
	"chainexplorer/internal/node"
	"chainexplorer/internal/pools"
	"chainexplorer/internal/registry"
	"chainexplorer/internal/store"
)

// jobSettings are what the jobs beside an indexer are set up by.
type jobSettings struct {
	Store                           store.Engine
	Pool                            *node.Pool
	Registry                        *registry.Chain
	Depth                           uint64
	CensusInterval, CensusRetention time.Duration
	Logger                          *slog.Logger
}

// jobs lists what works beside the indexer of a chain.
func (s jobSettings) jobs() []index.Job {
	return []index.Job{
		metadata.New(metadata.Job{Store: s.Store, Source: &index.Nodes{Pool: s.Pool}, Logger: s.Logger}),
		&pools.Job{Store: s.Store, Dexes: s.Registry.Dexes(), Depth: s.Depth, Logger: s.Logger},
		census.New(census.Job{Store: s.Store, Node: s.Pool, Registry: s.Registry, Depth: s.Depth,
			Tip:     func() (uint64, bool) { return newestOf(s.Pool) },
			Rebuild: s.CensusInterval, Retention: s.CensusRetention, Logger: s.Logger}),
	}
}

// newestOf is the newest block that a healthy node of a pool is known to have.
func newestOf(pool *node.Pool) (head uint64, ok bool) {
	for _, st := range pool.Statuses() {
		if st.Healthy && !st.Head.Hash.IsZero() {
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
