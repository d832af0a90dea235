package main

import (
	"fmt"
	"net"
	"net/http"
	"time"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/node"
	"chainexplorer/internal/simnode"
	verification "chainexplorer/internal/verification/job"
)

// demoMainBlocks is the history of SN_MAIN, which is there for what no other chain has:
// enough for its first blocks to be accepted on L1.
const demoMainBlocks = 48

// playedChain is a simulated chain, and where its node answers.
type playedChain struct {
	*simnode.Chain
	id     string
	blocks int
	node   node.Endpoint
	server *http.Server
}

// Close ends the node.
func (p *playedChain) Close() error { return p.server.Close() }

func (c *demoCommand) mainBlocks() int { return min(demoMainBlocks, c.Blocks) }

// play makes the chains of the demo, by their names. SN_MAIN declares a class whose source
// is at hand.
func (c *demoCommand) play() (map[string]*playedChain, error) {
	sample, err := sampleClass()
	if err != nil {
		return nil, fmt.Errorf("demo: %w", err)
	}
	config := func(id string, blocks int) simnode.Config {
		return simnode.Config{
			Seed: c.Seed, ChainID: felt.MustShortString(id), Blocks: blocks, RealHashes: true, ForkRate: c.ForkRate, BlockTime: c.Interval, L1Lag: min(600, blocks/3+1), PoolUses: 1,
			StartTime: time.Now().Add(-time.Duration(blocks) * c.Interval).Truncate(time.Second),
		}
	}
	main := config(verification.Chain, c.mainBlocks())
	main.Declare = sample
	out := map[string]*playedChain{}
	for id, cfg := range map[string]simnode.Config{verification.Chain: main, "SN_SEPOLIA": config("SN_SEPOLIA", c.Blocks)} {
		if out[id], err = playChain(id, cfg); err != nil {
			for _, p := range out {
				if p != nil {
					p.Close() //nolint:errcheck // the demo ends
				}
			}
			return nil, fmt.Errorf("demo: %w", err)
		}
	}
	return out, nil
}

func playChain(id string, cfg simnode.Config) (*playedChain, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &playedChain{Chain: simnode.New(cfg), id: id, blocks: cfg.Blocks}
	p.server = &http.Server{Handler: simnode.NewNode(p.Chain, simnode.NodeConfig{}), ReadHeaderTimeout: 5 * time.Second}
	go p.server.Serve(l) //nolint:errcheck // ends with the demo
	address := l.Addr().String()
	p.node = node.Endpoint{URL: "http://" + address, WebSocketURL: "ws://" + address + "/ws"}
	return p, nil
}
