package index_test

import (
	"context"
	"testing"
	"time"

	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/index"
	"chainexplorer/internal/index/simsource"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/simnode/liar"
	"chainexplorer/internal/store/pebble"
)

const headers = "starknet_getBlockWithTxHashes"

// keepAgreeing runs an indexer with a quorum until ok says that the state is good.
func keepAgreeing(t *testing.T, e pebble.Engine, src index.Source, quorum int, ok func(chain.State) bool) chain.State {
	t.Helper()
	x, err := index.New(index.Options{Store: e, Source: src, Quorum: quorum, FinalityDepth: 10, RetryMin: time.Millisecond, RetryMax: 10 * time.Millisecond,
		PollInterval: 10 * time.Millisecond, L1Interval: 5 * time.Millisecond, Verify: index.VerifyOff})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- x.Run(ctx) }()
	for {
		s := simsource.State(t, e)
		if ok(s) || ctx.Err() != nil {
			cancel()
			if err := <-done; err != nil {
				t.Fatal(err)
			}
			return s
		}
		select {
		case err := <-done:
			t.Fatalf("the run ended: %v", err)
		case <-time.After(time.Millisecond):
		}
	}
}

func TestQuorum(t *testing.T) {
	c := simnode.New(simnode.Config{Seed: 8, Blocks: 40, TxPerBlock: 3, L1Lag: 20})
	// The second node has other blocks from 25 on.
	other := about(headers, 25, 99, func(_ liar.Call, r any) any {
		r.(map[string]any)["block_hash"] = "0x77"
		return r
	})
	pool, proxies := liars(t, c, nil, []liar.Rule{other})
	src, e := &index.Nodes{Pool: pool}, openMem(t)

	s := keepAgreeing(t, e, src, 2, func(s chain.State) bool {
		return s.HasHead && s.Head.Number == 39 && s.HasL1 && len(s.Agreed.Tiers) == 3 && s.Agreed.Next > 0 && s.Agreed.Tiers[0].Number == 39
	})
	// While catching up they may have been asked about a block up to 24.
	agreed := s.Agreed.Next - 1
	if s.L1.Number != 19 || agreed < 19 || agreed > 24 || s.Agreed.Quorum != 2 {
		t.Fatalf("L1 %+v, agreed %+v", s.L1, s.Agreed)
	}
	if final, ok := s.FinalizedBlock(10); !ok || final != agreed || s.Finality(agreed+1, 10) != chain.AcceptedL2 || s.Finality(19, 10) != chain.AcceptedL1 {
		t.Errorf("finalized %d, %v", final, ok)
	}
	if head := s.Agreed.Tiers[0]; head.Tier != chain.AcceptedL2 || head.Agree != 1 || head.Differ != 1 || head.Asked != 2 {
		t.Errorf("%+v", head)
	}

	// When both have the same blocks again, the depth decides.
	proxies[1].Set()
	s = keepAgreeing(t, e, src, 2, func(s chain.State) bool { return s.Agreed.Next == 40 })
	if final, ok := s.FinalizedBlock(10); !ok || final != 29 {
		t.Errorf("finalized %d, %v", final, ok)
	}

	// A fork takes back what it undid, until the nodes are asked again.
	s.Fork.Count, s.Fork.Ancestor = s.Fork.Count+1, 21
	if final, ok := s.FinalizedBlock(10); !ok || final != 21 {
		t.Errorf("after a fork: finalized %d, %v", final, ok)
	}
	s.Fork.Count++
	if _, ok := s.FinalizedBlock(10); ok {
		t.Error("after two forks a block is finalized")
	}

	// Without a quorum nothing is kept of it.
	s = keepAgreeing(t, e, src, 1, func(s chain.State) bool { return s.Agreed.Quorum == 0 })
	if final, ok := s.FinalizedBlock(10); !ok || final != 29 {
		t.Errorf("without a quorum: finalized %d, %v", final, ok)
	}
}
