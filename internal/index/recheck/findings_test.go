package recheck_test

import (
	"context"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/audit"
	"chainexplorer/internal/explorer/transaction"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/index"
	"chainexplorer/internal/index/recheck"
	"chainexplorer/internal/node"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/simnode/liar"
	"chainexplorer/internal/store"
)

// withSecond adds a node to the auditor, which asks either alone when it matters.
func (a *audited) withSecond() *liar.Proxy {
	a.t.Helper()
	second := liar.New(simnode.NewNode(a.chain, simnode.NodeConfig{}))
	var urls []node.Endpoint
	for _, p := range []*liar.Proxy{a.liar, second} {
		srv := httptest.NewServer(p)
		a.t.Cleanup(srv.Close)
		urls = append(urls, node.Endpoint{URL: srv.URL})
	}
	pool, err := node.Open(a.t.Context(), node.Config{Nodes: urls})
	if err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(pool.Close)
	a.pool = pool
	a.restart()
	a.voices()
	return second
}

// voices tells the auditor its nodes one by one, as the program does.
func (a *audited) voices() {
	nodes := &index.Nodes{Pool: a.pool}
	a.job.Voices = func() (out []recheck.Voice) {
		for _, n := range a.pool.Statuses() {
			out = append(out, recheck.Voice{Name: n.Node, States: a.pool.Only(n.Node), Class: func(ctx context.Context, number uint64, hash felt.Felt) ([]byte, string, error) {
				return nodes.ClassFrom(ctx, number, hash, index.From{Only: n.Node})
			}})
		}
		return out
	}
}

// TestAuditorAsksAnotherNode: what one node says alone is disputed by one that agrees
// with the index, and counts when the other says so too.
func TestAuditorAsksAnotherNode(t *testing.T) {
	lie := liar.Rule{Method: "starknet_getNonce", Rewrite: func(liar.Call, any) any { return "0xbad" }}
	silent := liar.Rule{Method: "starknet_getNonce", Code: -32603, Message: "Internal error"}
	for _, c := range []struct {
		name          string
		first, second []liar.Rule
		want          audit.Standing
	}{
		{"one lies", []liar.Rule{lie}, nil, audit.Disputed},
		{"both say so", []liar.Rule{lie}, []liar.Rule{lie}, audit.Proved},
		{"the other cannot tell", []liar.Rule{lie}, []liar.Rule{silent}, audit.OneWord},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := newAudited(t, followedPlain)
			second := a.withSecond()
			a.liar.Set(c.first...)
			second.Set(c.second...)
			var s audit.State
			for i := 0; i < 3*final && len(s.Findings) == 0; i++ { // which node is asked first is the pool's choice
				s = a.step(time.Second)
			}
			if len(s.Findings) == 0 {
				t.Fatalf("nothing is found: %+v", s)
			}
			for _, f := range s.Findings {
				if f.Standing != c.want || f.Kind != audit.Nonces {
					t.Errorf("%s: %+v", f.Standing, f)
				}
			}
			if f, found := s.Worst(); !found || f.Counts() == (c.want == audit.Disputed) {
				t.Errorf("worst %+v", f)
			}
		})
	}
}

// TestAuditorRemembersAll: several blocks that were altered, and one that cannot be
// read, are all told; the auditor goes on past them, and takes each back when it was
// made good.
func TestAuditorRemembersAll(t *testing.T) {
	a := newAudited(t, followedReal)
	other := get(t, a.store, transaction.Key(explorer.Position{Block: 4}))
	was := map[uint64][]byte{}
	for _, n := range []uint64{3, 7, 12} {
		key := transaction.Key(explorer.Position{Block: n})
		was[n] = get(t, a.store, key)
		if n == 7 {
			put(t, a.store, key, []byte{0xff, 1, 2})
		} else {
			put(t, a.store, key, other)
		}
	}
	s := a.pass(final + 1)
	var blocks []uint64
	for _, f := range s.Findings {
		blocks = append(blocks, f.Block)
		if want := map[bool]audit.Standing{true: audit.Damaged, false: audit.Proved}[f.Block == 7]; f.Standing != want || f.Kind != audit.Blocks || f.Reason == "" {
			t.Errorf("%+v, want %s", f, want)
		}
	}
	if len(blocks) != 3 || blocks[0] != 3 || blocks[1] != 7 || blocks[2] != 12 || s.Next != final+1 || s.Through != final || s.Omitted != 0 {
		t.Fatalf("found %v, and came to %d: %+v", blocks, s.Next, s)
	}
	for n, row := range was {
		put(t, a.store, transaction.Key(explorer.Position{Block: n}), row)
	}
	a.restart() // a new process looks at them first, one after the other
	for left := 2; left >= 0; left-- {
		if s = a.step(time.Second); len(s.Findings) != left || s.Next != final+1 {
			t.Errorf("with %d to go: %+v", left, s)
		}
	}
}

// TestFindingsAreBounded: the lowest are kept and the others counted, and a reason of
// any length can be stored.
func TestFindingsAreBounded(t *testing.T) {
	var s audit.State
	for n := uint64(200); n > 0; n-- {
		s.Find(audit.Finding{Block: n, Standing: audit.Disputed, Reason: strings.Repeat("ä", 2000)})
	}
	s.Find(audit.Finding{Block: 9, Standing: audit.Damaged, Reason: "again"})
	got, err := audit.Decode(s.Encode())
	if err != nil {
		t.Fatal(err)
	}
	if w, _ := got.Worst(); len(got.Findings) != audit.MaxFindings || got.Findings[0].Block != 1 || got.Findings[63].Block != 64 || got.Omitted != 200-audit.MaxFindings || w.Block != 9 {
		t.Errorf("%d findings, %d omitted, worst %+v", len(got.Findings), got.Omitted, w)
	}
	if n := len(s.Encode()); n > 64<<10 {
		t.Errorf("the row has %d bytes", n)
	}
	// A row of the first version: one finding.
	old := append([]byte{1}, make([]byte, 13)...)
	if got, err = audit.Decode(append(old, 0)); err != nil || len(got.Findings) != 0 {
		t.Errorf("version 1: %+v %v", got, err)
	}
}

// viewed is a store that counts the views that are open.
type viewed struct {
	store.Engine
	open atomic.Int32
}

func (v *viewed) View(ctx context.Context, f func(store.Reader) error) error {
	v.open.Add(1)
	defer v.open.Add(-1)
	return v.Engine.View(ctx, f)
}

// asked is a node that sees whether a view is open while it is asked.
type asked struct {
	recheck.Node
	store *viewed
	held  atomic.Int32
}

func (n *asked) Fetch(ctx context.Context, number uint64) (index.Raw, error) {
	n.held.Add(n.store.open.Load())
	return n.Node.Fetch(ctx, number)
}

// TestAuditorHoldsNoView: a slow node keeps no view of the store open.
func TestAuditorHoldsNoView(t *testing.T) {
	a := newAudited(t, followedReal)
	v := &viewed{Engine: a.store}
	n := &asked{Node: a.job.Node, store: v}
	a.job.Store, a.job.Node = v, n
	a.pass(final)
	if held := n.held.Load(); held != 0 {
		t.Errorf("the node was asked %d times while a view was open", held)
	}
}

// TestAuditorWithoutNodes: it fails, and leaves what it found before with its time, so
// that it is told to be stale.
func TestAuditorWithoutNodes(t *testing.T) {
	a := newAudited(t, followedReal)
	was := a.pass(20)
	a.liar.Set(liar.Rule{Method: "*", Code: -32603, Message: "Internal error"}, liar.Rule{Method: "starknet_getBlockWithReceipts", Code: -32603, Message: "Internal error"}, liar.Rule{Method: "starknet_getStateUpdate", Code: -32603, Message: "Internal error"})
	a.clock = a.clock.Add(2 * time.Hour)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := a.job.Step(ctx, commitAs(t, a.store, "job/audit")); err == nil {
		t.Error("a block was audited without a node")
	}
	if s := stateOf(t, a.store); s.At != was.At || s.Next != was.Next {
		t.Errorf("%+v, before %+v", s, was)
	}
}
