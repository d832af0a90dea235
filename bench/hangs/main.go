// Command hangs measures what requests that never answer cost while catching up:
// the same blocks are indexed from a node that answers all requests and from one
// that lets a share of them hang, and the ratio is printed.
//
//	go run ./bench/hangs
package main

import (
	"context"
	"flag"
	"fmt"
	"net/http/httptest"
	"os"
	"sync/atomic"
	"time"

	"chainexplorer/internal/explorer/catalog"
	"chainexplorer/internal/index"
	"chainexplorer/internal/node"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/simnode/liar"
	"chainexplorer/internal/store/pebble"
)

func main() {
	blocks := flag.Int("blocks", 1500, "blocks to index")
	every := flag.Uint64("every", 100, "one of so many blocks hangs when it is asked for first")
	nodes := flag.Int("nodes", 1, "nodes, all of which hang alike")
	flag.Parse()
	if err := run(*blocks, *every, *nodes); err != nil {
		fmt.Fprintln(os.Stderr, "hangs:", err)
		os.Exit(1)
	}
}

func run(blocks int, every uint64, nodes int) error {
	chain := simnode.New(simnode.Config{Seed: 1, Blocks: blocks, TxPerBlock: 20})
	quiet, _, err := catchUp(chain, blocks, nodes, nil)
	if err != nil {
		return err
	}
	var asked atomic.Uint64
	hang := liar.Rule{Method: "starknet_getBlockWithReceipts", Hang: true, When: func(liar.Call) bool { return asked.Add(1)%every == 0 }}
	hung, told, err := catchUp(chain, blocks, nodes, []liar.Rule{hang})
	if err != nil {
		return err
	}
	rate := func(d time.Duration) float64 { return float64(blocks) / d.Seconds() }
	fmt.Printf("| no request hangs | %.0f blocks/s | 1.00 |\n", rate(quiet))
	fmt.Printf("| %d requests hang, one of %d | %.0f blocks/s | %.2f |\n", told, every, rate(hung), quiet.Seconds()/hung.Seconds())
	return nil
}

// catchUp indexes the chain from nodes with the given faults.
func catchUp(chain *simnode.Chain, blocks, nodes int, rules []liar.Rule) (took time.Duration, told int, err error) {
	var endpoints []node.Endpoint
	var proxies []*liar.Proxy
	for range nodes {
		p := liar.New(simnode.NewNode(chain, simnode.NodeConfig{}))
		p.Set(rules...)
		srv := httptest.NewServer(p)
		defer srv.Close()
		defer p.Release()
		proxies = append(proxies, p)
		endpoints = append(endpoints, node.Endpoint{URL: srv.URL})
	}
	ctx := context.Background()
	pool, err := node.Open(ctx, node.Config{Nodes: endpoints})
	if err != nil {
		return 0, 0, err
	}
	defer pool.Close()
	engine, err := pebble.OpenMem(catalog.Tables())
	if err != nil {
		return 0, 0, err
	}
	defer engine.Close() //nolint:errcheck // in memory
	x, err := index.New(index.Options{Store: engine, Source: &index.Nodes{Pool: pool}, Verify: index.VerifyOff})
	if err != nil {
		return 0, 0, err
	}
	start := time.Now()
	err = x.RunTo(ctx, uint64(blocks-1))
	took = time.Since(start)
	for _, p := range proxies {
		told += p.Told()
	}
	return took, told, err
}
