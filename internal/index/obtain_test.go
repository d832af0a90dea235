package index_test

import (
	"errors"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"chainexplorer/internal/explorer/class"
	"chainexplorer/internal/index"
	"chainexplorer/internal/index/simsource"
	"chainexplorer/internal/node"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/simnode/liar"
	"chainexplorer/internal/store"
)

// liars puts lying nodes in front of a chain, one for each set of rules, and
// returns a pool of all of them. Quarantines are short.
func liars(t *testing.T, c *simnode.Chain, rules ...[]liar.Rule) (*node.Pool, []*liar.Proxy) {
	t.Helper()
	var proxies []*liar.Proxy
	var endpoints []node.Endpoint
	for _, r := range rules {
		p := liar.New(simnode.NewNode(c, simnode.NodeConfig{}))
		p.Set(r...)
		srv := httptest.NewServer(p)
		t.Cleanup(srv.Close)
		t.Cleanup(p.Release)
		proxies = append(proxies, p)
		endpoints = append(endpoints, node.Endpoint{URL: srv.URL})
	}
	pool, err := node.Open(t.Context(), node.Config{Nodes: endpoints, BackoffBase: time.Millisecond, BackoffMax: 20 * time.Millisecond,
		HealthInterval: 50 * time.Millisecond, PollInterval: 10 * time.Millisecond,
		QuarantineBase: 30 * time.Millisecond, QuarantineMax: 100 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool, proxies
}

// about lies about some blocks.
func about(method string, from, to uint64, rewrite func(liar.Call, any) any) liar.Rule {
	return liar.Rule{Method: method, When: func(c liar.Call) bool { return c.HasBlock && c.Block >= from && c.Block <= to }, Rewrite: rewrite}
}

const receipts = "starknet_getBlockWithReceipts"

var falsehoods = map[string]liar.Rule{
	"altered field": about(receipts, 20, 30, func(_ liar.Call, r any) any {
		r.(map[string]any)["sequencer_address"] = "0xbad"
		return r
	}),
	"not a block": about(receipts, 20, 30, func(liar.Call, any) any { return map[string]any{"hello": "world"} }),
	"parts of two blocks": about("starknet_getStateUpdate", 20, 30, func(_ liar.Call, r any) any {
		r.(map[string]any)["block_hash"] = "0x1234"
		return r
	}),
	"another block": about(receipts, 20, 30, func(_ liar.Call, r any) any {
		r.(map[string]any)["block_number"] = 7
		return r
	}),
	"no class": {Method: "starknet_getClass", Rewrite: func(liar.Call, any) any { return map[string]any{"abi": 7} }},
	"another class": {Method: "starknet_getClass", Rewrite: func(_ liar.Call, r any) any {
		o := r.(map[string]any)
		if _, sierra := o["sierra_program"]; sierra {
			o["abi"] = "[]"
		}
		return o
	}},
}

func tryTo(t *testing.T, e store.Engine, src index.Source, number uint64) error {
	t.Helper()
	x, err := index.New(index.Options{Store: e, Source: src, RetryMin: time.Millisecond, RetryMax: 10 * time.Millisecond, Verify: index.VerifyAll,
		PollInterval: 10 * time.Millisecond, L1Interval: time.Millisecond, UndoBlocks: 80, Window: 8})
	if err != nil {
		t.Fatal(err)
	}
	return x.RunTo(t.Context(), number)
}

// One liar does not stop an index that has an honest node: the liar is found out,
// and the index is what it is without it.
func TestLiarBesideAnHonestNode(t *testing.T) {
	c := simnode.New(simnode.Config{Seed: 8, Blocks: 40, L1Lag: 10, TxPerBlock: 6, RealHashes: true})
	quiet := openMem(t)
	want := runTo(t, quiet, serve(t, c, 0, nil), 39)
	for name, rule := range falsehoods {
		if index.Raced && name != "altered field" && name != "parts of two blocks" {
			continue // it is met in the same way
		}
		t.Run(name, func(t *testing.T) {
			pool, proxies := liars(t, c, []liar.Rule{rule}, nil)
			e := openMem(t)
			if err := tryTo(t, e, &index.Nodes{Pool: pool}, 39); err != nil {
				t.Fatal(err)
			}
			got := simsource.State(t, e)
			if got.Head != want.Head || got.HasFault {
				t.Errorf("%+v, want head %+v", got, want.Head)
			}
			checkHashes(t, e, c, 39)
			sameClasses(t, e, quiet, c, 39)
			if proxies[0].Told() == 0 {
				t.Error("no lie was told")
			}
		})
	}
}

// sameClasses holds what is kept of the declared classes against another index.
func sameClasses(t *testing.T, got, want store.Engine, c *simnode.Chain, last uint64) {
	t.Helper()
	var keys []store.Key
	for n := range last + 1 {
		for _, d := range c.StateUpdateAt(n).Diff.Declared {
			keys = append(keys, class.ABIKey(d.ClassHash), class.InterfaceKey(d.ClassHash), class.MissingKey(d.ClassHash))
		}
	}
	rows := func(e store.Engine) (out [][]byte) {
		err := e.View(t.Context(), func(r store.Reader) (err error) {
			out, err = r.GetMany(t.Context(), keys)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	if a, b := rows(got), rows(want); len(keys) == 0 || !reflect.DeepEqual(a, b) {
		t.Errorf("%d classes differ", len(keys)/3)
	}
}

func TestAllNodesLie(t *testing.T) {
	c := simnode.New(simnode.Config{Seed: 8, Blocks: 40, TxPerBlock: 6, RealHashes: true})
	lie := falsehoods["altered field"]
	worlds := [][][]liar.Rule{{{lie}}, {{lie}, {lie}}, {{lie}, {lie}, {lie}}}
	if index.Raced {
		worlds = worlds[2:]
	}
	for _, nodes := range worlds {
		pool, _ := liars(t, c, nodes...)
		e := openMem(t)
		err := tryTo(t, e, &index.Nodes{Pool: pool}, 39)
		var verify *index.VerifyError
		if !errors.As(err, &verify) || verify.Block < 20 {
			t.Fatalf("%d nodes: %v", len(nodes), err)
		}
		if s := simsource.State(t, e); !s.HasFault || s.HasHead && s.Head.Number >= 20 {
			t.Errorf("%d nodes: %+v", len(nodes), s)
		}
	}
}

// A liar does not get its way while the honest node is away: it is waited for.
func TestHonestNodeIsWaitedFor(t *testing.T) {
	c := simnode.New(simnode.Config{Seed: 8, Blocks: 40, TxPerBlock: 6, RealHashes: true})
	away := liar.Rule{Method: receipts, Status: 503}
	pool, proxies := liars(t, c, []liar.Rule{falsehoods["altered field"]}, []liar.Rule{away})
	e := openMem(t)
	done := make(chan error, 1)
	go func() { done <- tryTo(t, e, &index.Nodes{Pool: pool}, 39) }()
	for proxies[0].Told() < 1 || proxies[1].Told() < 30 {
		select {
		case err := <-done:
			t.Fatalf("the run ended: %v", err)
		case <-time.After(time.Millisecond):
		}
	}
	proxies[1].Set()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if s := simsource.State(t, e); s.Head.Number != 39 || s.HasFault {
		t.Errorf("%+v", s)
	}
}

// Whoever was caught is named, with what it did.
func TestLiarIsNamed(t *testing.T) {
	c := simnode.New(simnode.Config{Seed: 8, Blocks: 40, TxPerBlock: 6, RealHashes: true})
	rule := falsehoods["altered field"]
	rule.Times = 1
	pool, _ := liars(t, c, []liar.Rule{rule}, nil)
	blamed := make(chan string, 64)
	src := &watched{Nodes: &index.Nodes{Pool: pool}, blamed: blamed}
	if err := tryTo(t, openMem(t), src, 39); err != nil {
		t.Fatal(err)
	}
	if got := <-blamed; !strings.HasPrefix(got, pool.Statuses()[0].Node+" block 2") || !strings.Contains(got, "fails verification") {
		t.Errorf("%s", got)
	}
}

type watched struct {
	*index.Nodes
	blamed chan string
}

func (w *watched) Blame(node string, err error) {
	w.blamed <- node + " " + err.Error()
	w.Nodes.Blame(node, err)
}
