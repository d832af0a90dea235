package index_test

import (
	"context"
	"net/http/httptest"
	"testing"
	"time"

	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/catalog"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/index"
	"chainexplorer/internal/node"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble"
	"chainexplorer/internal/store/pebble/pebbletest"
)

func openMem(t *testing.T) pebble.Engine {
	t.Helper()
	e := pebbletest.Open(t, catalog.Tables())
	return e
}

// serve puts nodes in front of a chain, one for each list of faults, and
// returns a source on all of them.
func serve(t *testing.T, c *simnode.Chain, v starknet.SpecVersion, faults ...[]simnode.Fault) *index.Nodes {
	t.Helper()
	var endpoints []node.Endpoint
	for i, f := range faults {
		n := simnode.NewNode(c, simnode.NodeConfig{Version: v, FaultSeed: uint64(i)})
		n.Faults().Set(f...)
		srv := httptest.NewServer(n)
		t.Cleanup(srv.Close)
		endpoints = append(endpoints, node.Endpoint{URL: srv.URL, WebSocketURL: "ws" + srv.URL[len("http"):] + "/ws"})
	}
	pool, err := node.Open(t.Context(), node.Config{Nodes: endpoints, BackoffBase: time.Millisecond, BackoffMax: 20 * time.Millisecond,
		HealthInterval: 50 * time.Millisecond, PollInterval: 10 * time.Millisecond, MaxRetryAfter: 5 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return &index.Nodes{Pool: pool}
}

func runTo(t *testing.T, e store.Engine, src index.Source, number uint64) chain.State {
	t.Helper()
	x, err := index.New(index.Options{Store: e, ForkPatience: time.Millisecond, AllowForkBelowL1: new(uint64), Source: src, Unverified: index.UnverifiedStore, RetryMin: time.Millisecond, RetryMax: 10 * time.Millisecond,
		PollInterval: 10 * time.Millisecond, L1Interval: time.Millisecond, UndoBlocks: 80, Window: 8})
	if err != nil {
		t.Fatal(err)
	}
	if err := x.RunTo(t.Context(), number); err != nil {
		t.Fatal(err)
	}
	var s chain.State
	err = e.View(t.Context(), func(r store.Reader) (err error) {
		s, err = chain.Read(t.Context(), r)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestOverHTTP indexes from real sockets: one good node, one that fails in
// every way, one that lags; every version of the interface; with a fork.
func TestOverHTTP(t *testing.T) {
	failing := []simnode.Fault{
		{Kind: simnode.FaultHTTPStatus, Status: 500, Probability: 0.1},
		{Kind: simnode.FaultHTTPStatus, Status: 429, RetryAfter: time.Second, Probability: 0.05},
		{Kind: simnode.FaultTruncate, Probability: 0.1},
		{Kind: simnode.FaultDrop, Probability: 0.05},
		{Kind: simnode.FaultWrongID, Probability: 0.05},
		{Kind: simnode.FaultRPCError, Code: -32603, Probability: 0.05},
	}
	lagging := []simnode.Fault{{Kind: simnode.FaultHeadLag, Blocks: 7}}
	for _, v := range []starknet.SpecVersion{starknet.V08, starknet.V09, starknet.V010} {
		t.Run(v.String(), func(t *testing.T) {
			t.Parallel()
			c := simnode.New(simnode.Config{Seed: 31, Blocks: 60, L1Lag: 15})
			src := serve(t, c, v, nil, failing, lagging)
			e := openMem(t)
			runTo(t, e, src, 59)
			c.Fork(20) // below the L1 mark
			c.Extend(5)
			got := runTo(t, e, src, 64)
			if got.Fork.Count != 1 || got.Fork.Ancestor != 39 || !got.Fork.BelowL1 {
				t.Errorf("fork is %+v", got.Fork)
			}
			if !got.HasL1 || got.L1.Number != 49 || got.L1.Hash != c.BlockAt(49).Hash {
				t.Errorf("L1 mark is %+v, want block 49", got.L1)
			}
			want := runTo(t, openMem(t), serve(t, c, v, nil), 64)
			if got.Head != want.Head {
				t.Errorf("head is %+v, from one good node %+v", got.Head, want.Head)
			}
			checkHashes(t, e, c, 64)
		})
	}
}

func checkHashes(t *testing.T, e store.Engine, c *simnode.Chain, last uint64) {
	t.Helper()
	err := e.View(t.Context(), func(r store.Reader) error {
		for i := range last + 1 {
			s, err := block.Get(t.Context(), r, i)
			if err != nil {
				return err
			}
			if s.Hash != c.BlockAt(i).Hash {
				t.Errorf("block %d is %s, on the chain %s", i, s.Hash, c.BlockAt(i).Hash)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestVersionsAgree: nodes of different versions lead to the same digest as
// long as no transaction carries what only the newest of them tell.
func TestVersionsAgree(t *testing.T) {
	if index.Raced {
		t.Skip("the goroutines of a shorter test: run without the race detector")
	}
	c := simnode.New(simnode.Config{Seed: 31, Blocks: 60})
	old := runTo(t, openMem(t), serve(t, c, starknet.V08, nil), 59)
	next := runTo(t, openMem(t), serve(t, c, starknet.V09, nil), 59)
	if old.Head != next.Head {
		t.Errorf("0.8 gives %+v, 0.9 gives %+v", old.Head, next.Head)
	}
}

// TestL1BesideOldNodes: while the nodes that know the name of the newest accepted block are away, the
// others tell it by the statuses of their blocks.
func TestL1BesideOldNodes(t *testing.T) {
	c := simnode.New(simnode.Config{Seed: 31, Blocks: 60, L1Lag: 15})
	var endpoints []node.Endpoint
	var away *httptest.Server
	for _, v := range []starknet.SpecVersion{starknet.V08, starknet.V010} {
		away = httptest.NewServer(simnode.NewNode(c, simnode.NodeConfig{Version: v}))
		t.Cleanup(away.Close)
		endpoints = append(endpoints, node.Endpoint{URL: away.URL})
	}
	pool, err := node.Open(t.Context(), node.Config{Nodes: endpoints, BackoffBase: time.Millisecond, BackoffMax: 20 * time.Millisecond,
		HealthInterval: 50 * time.Millisecond, PollInterval: 10 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	src := &index.Nodes{Pool: pool}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for _, last := range []uint64{44, 54} {
		if got, err := src.L1Accepted(ctx); err != nil || got.Number != last || got.Hash != c.BlockAt(last).Hash {
			t.Fatalf("block %d is accepted: %v, want %d", got.Number, err, last)
		}
		away.Close()
		c.Extend(10)
		for head := (index.BlockRef{}); head.Number < 69; { // the pool hears of it in time
			if head, err = src.Head(ctx); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestFollowsTheTail: new blocks arrive by WebSocket, without waiting for a poll.
func TestFollowsTheTail(t *testing.T) {
	c := simnode.New(simnode.Config{Seed: 32, Blocks: 20})
	src := serve(t, c, starknet.V010, nil)
	e := openMem(t)
	heads := make(chan chain.Head, 64)
	x, err := index.New(index.Options{Store: e, Source: src, Unverified: index.UnverifiedStore, PollInterval: time.Hour,
		Announce: func(a index.Announcement) { heads <- a.Head }})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- x.Run(ctx)
		close(heads) // nobody waits for those that do not come
	}()
	for want := uint64(19); want < 26; want++ {
		for h := range heads {
			if h.Number == want {
				break
			}
		}
		c.Extend(1)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if p := x.Progress(); p.Head < 25 || p.Blocks < 26 {
		t.Errorf("progress is %+v", p)
	}
}
