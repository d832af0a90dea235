package main

import (
	"log/slog"

	"chainexplorer/internal/index"
	"chainexplorer/internal/metadata"
	"chainexplorer/internal/pools"
	"chainexplorer/internal/registry"
	"chainexplorer/internal/store"
)

// jobsOf are the jobs that work beside the indexer of a chain, whichever
// command runs it.
func jobsOf(engine store.Engine, source *index.Nodes, known *registry.Chain, depth uint64, log *slog.Logger) []index.Job {
	return []index.Job{
		metadata.New(metadata.Job{Store: engine, Source: source, Logger: log}),
		&pools.Job{Store: engine, Dexes: known.Dexes(), Depth: depth, Logger: log},
	}
}
