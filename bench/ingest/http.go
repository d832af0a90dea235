package main

import (
	"context"
	"net/http/httptest"
	"time"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/index"
	"chainexplorer/internal/node"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/starknet"
)

// chainOf is the chain whose blocks memory.Generate makes, accepted on L1 but for the newest.
func chainOf(blocks, tx int, events float64) simnode.Config {
	return simnode.Config{Seed: 1, Blocks: blocks, TxPerBlock: tx, EventsPerTx: events, ChainID: felt.MustShortString("SN_SEPOLIA"), L1Lag: 1}
}

// serveChain serves a chain by a simulated node over loopback. It works on the same
// cores, as a node beside the service does, and makes its answers for each request.
func serveChain(ctx context.Context, cfg simnode.Config) (source func() index.Source, stop func(), err error) {
	srv := httptest.NewServer(simnode.NewNode(simnode.New(cfg), simnode.NodeConfig{Version: starknet.V010}))
	pool, err := node.Open(ctx, node.Config{Nodes: []node.Endpoint{{URL: srv.URL}}, HealthInterval: time.Hour})
	if err != nil {
		srv.Close()
		return nil, nil, err
	}
	return func() index.Source { return &index.Nodes{Pool: pool} }, func() {
		pool.Close()
		srv.Close()
	}, nil
}
