package index_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/index"
	"chainexplorer/internal/index/simsource"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/simnode/liar"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble"
)

// follow runs an indexer until the state is as wanted.
func follow(t *testing.T, e store.Engine, o index.Options, wanted func(chain.State) bool) chain.State {
	t.Helper()
	o.Store, o.RetryMin, o.RetryMax = e, time.Millisecond, 10*time.Millisecond
	o.PollInterval, o.L1Interval = 10*time.Millisecond, 5*time.Millisecond
	x, err := index.New(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- x.Run(ctx) }()
	for {
		s := simsource.State(t, e)
		if wanted(s) {
			cancel()
			if err := <-done; err != nil {
				t.Fatal(err)
			}
			return s
		}
		select {
		case err := <-done:
			t.Fatalf("the run ended at %+v: %v", s, err)
		case <-time.After(time.Millisecond):
		}
	}
}

// What an only node gives and nobody can use is told in the store at once, and
// taken back when it gives something better.
func TestHindranceIsTold(t *testing.T) {
	c := simnode.New(simnode.Config{Seed: 8, Blocks: 40, TxPerBlock: 2})
	denied := liar.Rule{Method: receipts, When: func(c liar.Call) bool { return c.HasBlock && c.Block >= 20 }, Code: 24, Message: "Block not found"}
	for name, test := range map[string]struct {
		rule liar.Rule
		says string
	}{
		"not a block":         {falsehoods["not a block"], "Block 20 from node-1 cannot be read"},
		"parts of two blocks": {falsehoods["parts of two blocks"], "Block 20 from node-1 cannot be read, or its parts"},
		"denied":              {denied, "Block 20 is not to be had: node-1 says that it has"},
	} {
		if index.Raced && name != "denied" {
			continue // the others are told in the same way
		}
		t.Run(name, func(t *testing.T) {
			pool, proxies := liars(t, c, []liar.Rule{test.rule})
			e := openMem(t)
			o := index.Options{Source: &index.Nodes{Pool: pool}, Verify: index.VerifyOff, MaxStuck: 1 << 30}
			s := follow(t, e, o, func(s chain.State) bool { return !s.Hindered.Since.IsZero() })
			h := s.Hindered
			if h.Block != 20 || !strings.HasPrefix(h.Reason, test.says) || strings.Contains(h.Reason, "127.0.0.1") || s.HasFault || s.Head.Number != 19 {
				t.Errorf("%+v, head %d", h, s.Head.Number)
			}
			proxies[0].Set()
			s = follow(t, e, o, func(s chain.State) bool { return s.Head.Number == 39 })
			if !s.Hindered.Since.IsZero() {
				t.Errorf("still told: %+v", s.Hindered)
			}
		})
	}
}

// full is a store that takes no blocks.
type full struct {
	pebble.Engine
	refuses atomic.Bool
}

func (f *full) Commit(ctx context.Context, b *store.Batch) error {
	if _, block := b.Changes().Last(chain.HeadKey); block && f.refuses.Load() {
		if s := b.Stream(); s != nil {
			s.Drop()
		}
		return errors.New("no space left on device")
	}
	return f.Engine.Commit(ctx, b)
}

// What the store does not take is told as such, and not of the nodes.
func TestHindranceOfTheStore(t *testing.T) {
	c := simnode.New(simnode.Config{Seed: 8, Blocks: 10, TxPerBlock: 2})
	pool, _ := liars(t, c, nil)
	e := &full{Engine: openMem(t)}
	o := index.Options{Source: &index.Nodes{Pool: pool}, Verify: index.VerifyOff, MaxStuck: 1 << 30}
	e.refuses.Store(true)
	s := follow(t, e, o, func(s chain.State) bool { return !s.Hindered.Since.IsZero() })
	if h := s.Hindered; !h.InStore() || h.Reason != "Block 0 could not be stored: the store is full or fails." {
		t.Errorf("%+v", h)
	}
	e.refuses.Store(false)
	s = follow(t, e, o, func(s chain.State) bool { return s.HasHead && s.Head.Number == 9 })
	if !s.Hindered.Since.IsZero() {
		t.Errorf("still told: %+v", s.Hindered)
	}
}

// A block that nobody can use any more because the chain went back is forgotten
// without a new one.
func TestHindranceEndsWithoutABlock(t *testing.T) {
	c := simnode.New(simnode.Config{Seed: 8, Blocks: 40, TxPerBlock: 2})
	bad := about(receipts, 39, 39, func(liar.Call, any) any { return map[string]any{} })
	pool, proxies := liars(t, c, []liar.Rule{bad})
	e := openMem(t)
	o := index.Options{Source: &index.Nodes{Pool: pool}, Verify: index.VerifyOff, MaxStuck: 1 << 30}
	follow(t, e, o, func(s chain.State) bool { return !s.Hindered.Since.IsZero() })
	back := c.BlockAt(38)
	proxies[0].Set(bad, liar.Rule{Method: "starknet_blockHashAndNumber", Rewrite: func(liar.Call, any) any {
		return map[string]any{"block_number": 38, "block_hash": back.Hash.String()}
	}})
	follow(t, e, o, func(s chain.State) bool { return s.Hindered.Since.IsZero() && s.Head.Number == 38 })
}

// What an operator has to do is not told to strangers, nor where the node is.
func TestFaultIsPublic(t *testing.T) {
	c := simnode.New(simnode.Config{Seed: 8, Blocks: 40, TxPerBlock: 6, RealHashes: true})
	pool, _ := liars(t, c, []liar.Rule{falsehoods["altered field"]}, []liar.Rule{falsehoods["altered field"]})
	e := openMem(t)
	err := tryTo(t, e, &index.Nodes{Pool: pool}, 39)
	if err == nil || !strings.Contains(err.Error(), "127.0.0.1") {
		t.Fatalf("the operator is told %v", err)
	}
	reason := simsource.State(t, e).Fault.Reason
	if !strings.Contains(reason, "from node-") || !strings.Contains(reason, "fails verification") || strings.Contains(reason, "127.0.0.1") || strings.Contains(reason, "--") {
		t.Errorf("strangers are told %q", reason)
	}
}
