package upstream

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/node"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/simnode/contracts"
	"chainexplorer/internal/starknet"
)

// ask makes a call twice and says whether the second one reached a node.
func (w *world) ask(t *testing.T, name, params string) (first Answer, kept bool) {
	t.Helper()
	first, err := w.call(name, params)
	if err != nil {
		t.Fatalf("%s %s: %v", name, params, err)
	}
	before := w.reads(name)
	again, err := w.call(name, params)
	if err != nil {
		t.Fatalf("%s %s: %v", name, params, err)
	}
	if string(again.Result) != string(first.Result) {
		t.Errorf("%s %s: another answer", name, params)
	}
	if asked := w.reads(name) != before; asked == again.Kept {
		t.Errorf("%s %s: kept is %v and a node was asked is %v", name, params, again.Kept, asked)
	}
	return first, again.Kept
}

func TestWhatIsKept(t *testing.T) {
	// The head is 59, L1 has accepted 19, and blocks to 49 are settled.
	w := newWorld(t, simnode.Config{Seed: 3, Blocks: 60, L1Lag: 40})
	number := func(n int) string { return fmt.Sprintf(`{"block_number":%d}`, n) }
	hash := func(n uint64) string { return fmt.Sprintf(`{"block_hash":%q}`, w.chain.BlockAt(n).Hash) }
	tx := func(n uint64) string {
		return fmt.Sprintf(`{"transaction_hash":%q}`, w.chain.BlockAt(n).Transactions[0].Hash)
	}
	class, err := w.call("starknet_getClassHashAt", fmt.Sprintf(`["latest",%q]`, contracts.STRK))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		method, params string
		kept           bool
	}{
		{"starknet_chainId", `[]`, true},
		{"starknet_specVersion", `[]`, false},
		{"starknet_blockNumber", `[]`, false},
		{"starknet_getNonce", `["latest","` + contracts.STRK.String() + `"]`, false},
		{"starknet_getNonce", `["pre_confirmed","` + contracts.STRK.String() + `"]`, false},
		{"starknet_getNonce", `["l1_accepted","` + contracts.STRK.String() + `"]`, false},
		{"starknet_getNonce", `[` + number(49) + `,"` + contracts.STRK.String() + `"]`, true},
		{"starknet_getNonce", `[` + number(50) + `,"` + contracts.STRK.String() + `"]`, false},
		{"starknet_getNonce", `[` + hash(49) + `,"` + contracts.STRK.String() + `"]`, true},
		{"starknet_getNonce", `[` + hash(50) + `,"` + contracts.STRK.String() + `"]`, false},
		{"starknet_getBlockTransactionCount", `[` + number(5) + `]`, true},
		{"starknet_getStateUpdate", `{"block_id":` + number(5) + `}`, true},
		{"starknet_getTransactionByBlockIdAndIndex", `{"block_id":` + number(5) + `,"index":0}`, true},
		{"starknet_getBlockWithTxHashes", `[` + number(19) + `]`, true},
		{"starknet_getBlockWithTxHashes", `[` + number(20) + `]`, false}, // its status will change
		{"starknet_getBlockWithTxs", `{"block_id":` + hash(19) + `}`, true},
		{"starknet_getBlockWithReceipts", `{"block_id":` + hash(20) + `}`, false},
		{"starknet_getTransactionByHash", tx(49), true},
		{"starknet_getTransactionByHash", tx(50), false},
		{"starknet_getTransactionReceipt", tx(19), true},
		{"starknet_getTransactionReceipt", tx(20), false},
		{"starknet_getTransactionStatus", tx(5), false},
		{"starknet_traceTransaction", tx(49), true},
		{"starknet_traceTransaction", tx(50), false},
		{"starknet_traceBlockTransactions", `{"block_id":` + number(49) + `}`, true},
		{"starknet_getEvents", `[{"from_block":` + number(1) + `,"to_block":` + number(2) + `,"chunk_size":10}]`, false},
		{"starknet_getClass", `["latest",` + string(class.Result) + `]`, true},
		{"starknet_getClass", `[` + number(50) + `,` + string(class.Result) + `]`, false},
		{"starknet_getClass", `[` + number(49) + `,` + string(class.Result) + `]`, true},
		{"starknet_getClass", `["pre_confirmed",` + string(class.Result) + `]`, false},
		// Errors never are.
		{"starknet_getNonce", `[` + number(5) + `,"0x12345"]`, false},
		{"starknet_getTransactionByBlockIdAndIndex", `{"block_id":` + number(5) + `,"index":100000}`, false},
		{"starknet_getTransactionByHash", `{"transaction_hash":"0x12345"}`, false},
		{"starknet_getBlockWithTxs", `{"block_id":` + number(1000) + `}`, false},
	} {
		first, kept := w.ask(t, c.method, c.params)
		if kept != c.kept {
			t.Errorf("%s %s: kept is %v", c.method, c.params, kept)
		}
		if want := straight(t, w.nodes[0], c.method, c.params); string(first.Result)+string(first.Error) != want {
			t.Errorf("%s %s: %.200s, want %.200s", c.method, c.params, first.Result, want)
		}
	}
	// One version's answer is not another's.
	m, raw, args := bind(t, "starknet_getBlockWithTxHashes", `[`+number(19)+`]`, starknet.V09)
	if a, err := w.up.Call(t.Context(), m, raw, args, starknet.V09); err == nil {
		t.Errorf("kept %v: %.100s", a.Kept, a.Result)
	}
}

// A fork of any depth leaves nothing behind of what was kept before it.
func TestForkLeavesNothingBehind(t *testing.T) {
	w := newWorld(t, simnode.Config{Seed: 4, Blocks: 60, L1Lag: -1})
	const update = "starknet_getStateUpdate"
	if _, kept := w.ask(t, update, `{"block_id":{"block_number":45}}`); !kept {
		t.Fatal("not kept")
	}
	if _, kept := w.ask(t, update, `{"block_id":{"block_number":5}}`); !kept {
		t.Fatal("not kept")
	}
	old, _ := w.call(update, `{"block_id":{"block_number":45}}`)
	w.chain.Fork(30)
	w.chain.Extend(31)
	// The nodes have forked and the index has not: what is kept is what the index has.
	w.follow()
	now, err := w.call(update, `{"block_id":{"block_number":45}}`)
	if err != nil || now.Kept || string(now.Result) == string(old.Result) {
		t.Errorf("%v, kept %v: the answer of a block that is gone", err, now.Kept)
	}
	if want := straight(t, w.nodes[0], update, `{"block_id":{"block_number":45}}`); string(now.Result) != want {
		t.Error("not what the node says")
	}
	// Above the fork nothing is kept that L1 has not accepted: a node may not have
	// followed it. Below it everything is, again.
	if _, kept := w.ask(t, update, `{"block_id":{"block_number":45}}`); kept {
		t.Error("kept above a fork")
	}
	if _, kept := w.ask(t, update, `{"block_id":{"block_number":5}}`); !kept {
		t.Error("not kept below a fork")
	}
}

// An answer that was asked for before a fork is not kept after it.
func TestForkWhileANodeIsAsked(t *testing.T) {
	w := newWorld(t, simnode.Config{Seed: 4, Blocks: 60, L1Lag: -1})
	var once bool
	slow := &scripted{answer: func(ctx context.Context, a node.Ask) (node.Told, error) {
		told, err := w.pool.Forward(ctx, a)
		if !once {
			once = true
			w.chain.Fork(30)
			w.chain.Extend(31)
			w.follow()
		}
		return told, err
	}}
	u := New(Options{Pool: slow, Store: w.store, Depth: depth, CacheBytes: 1 << 20})
	for i := range 2 {
		a, err := call(t, u, "starknet_getStateUpdate", `{"block_id":{"block_number":5}}`)
		if err != nil || a.Kept {
			t.Errorf("call %d: kept %v, %v", i, a.Kept, err)
		}
	}
	if n := len(u.kept.byKey); n != 1 {
		t.Errorf("%d answers are kept: the first cannot be found any more", n)
	}
}

func TestKeptIsBounded(t *testing.T) {
	w := newWorld(t, simnode.Config{Seed: 3, Blocks: 60, L1Lag: 40})
	const room = 64 << 10
	u := New(Options{Pool: w.pool, Store: w.store, Depth: depth, CacheBytes: room})
	for n := range 40 {
		for _, name := range []string{"starknet_getStateUpdate", "starknet_getBlockTransactionCount", "starknet_traceBlockTransactions"} {
			if _, err := call(t, u, name, fmt.Sprintf(`{"block_id":{"block_number":%d}}`, n)); err != nil {
				t.Fatal(err)
			}
		}
	}
	sum := int64(0)
	for el := u.kept.order.Front(); el != nil; el = el.Next() {
		if size := el.Value.(*entry).size(); size > room/16 {
			t.Errorf("an entry of %d bytes", size)
		}
		sum += el.Value.(*entry).size()
	}
	if sum > room || sum != u.kept.size || sum < room/2 || len(u.kept.byKey) != u.kept.order.Len() {
		t.Errorf("%d bytes are kept, %d counted, of %d", sum, u.kept.size, room)
	}
	if a, _ := call(t, u, "starknet_getBlockTransactionCount", `{"block_id":{"block_number":39}}`); !a.Kept {
		t.Error("the latest answer was not kept")
	}
	if a, _ := call(t, u, "starknet_getBlockTransactionCount", `{"block_id":{"block_number":0}}`); a.Kept {
		t.Error("the oldest answer was kept")
	}
}

// down is an index that cannot be read.
type down struct{}

func (down) View(context.Context, func(explorer.Reader) error) error { return errDown }

func TestIndexAway(t *testing.T) {
	w := newWorld(t, simnode.Config{Seed: 3, Blocks: 60, L1Lag: 40})
	hash := w.chain.BlockAt(5).Transactions[0].Hash
	for _, index := range []explorer.Index{nil, down{}} {
		u := New(Options{Pool: w.pool, Store: index, Depth: depth, CacheBytes: 1 << 20})
		for range 2 {
			a, err := call(t, u, "starknet_getTransactionByHash", fmt.Sprintf(`{"transaction_hash":%q}`, hash))
			if err != nil || a.Kept || !strings.Contains(string(a.Result), hash.String()) {
				t.Errorf("%s, kept %v, %v", a.Result, a.Kept, err)
			}
		}
	}
}

// Nodes are told which block a read is about, so that one is asked that has it.
func TestBlockOfARead(t *testing.T) {
	w := newWorld(t, simnode.Config{Seed: 3, Blocks: 60, L1Lag: 40})
	s := &scripted{answer: func(context.Context, node.Ask) (node.Told, error) { return node.Told{}, errDown }}
	u := New(Options{Pool: s, Store: w.store, Depth: depth})
	b := w.chain.BlockAt(57)
	for _, c := range []struct {
		method, params string
		want           int // -1: none
	}{
		{"starknet_getNonce", `[{"block_number":58},"0x1"]`, 58},
		{"starknet_getNonce", `[{"block_number":1000},"0x1"]`, 1000},
		{"starknet_getNonce", fmt.Sprintf(`[{"block_hash":%q},"0x1"]`, b.Hash), 57},
		{"starknet_getNonce", `[{"block_hash":"0x123"},"0x1"]`, -1},
		{"starknet_getNonce", `["latest","0x1"]`, -1},
		{"starknet_getNonce", `[{"block_number":58,"block_number":3},"0x1"]`, -1},
		{"starknet_getNonce", `[{"block_number":5.8e1},"0x1"]`, -1},
		{"starknet_getTransactionReceipt", fmt.Sprintf(`[%q]`, b.Transactions[0].Hash), 57},
		{"starknet_estimateFee", `[[],[],{"block_number":58}]`, 58},
		{"starknet_getClass", `[{"block_number":58},"0x1"]`, 58},
	} {
		if _, err := call(t, u, c.method, c.params); err == nil {
			t.Fatal("no error")
		}
		got := -1
		if at := s.asked[len(s.asked)-1].At; at != nil {
			got = int(*at)
		}
		if got != c.want {
			t.Errorf("%s %s: block %d, want %d", c.method, c.params, got, c.want)
		}
	}
}

// What tells a status is kept when it tells the last one, of the block that the index has.
func TestStatusMustBeTheLast(t *testing.T) {
	w := newWorld(t, simnode.Config{Seed: 3, Blocks: 60, L1Lag: 40})
	hash := w.chain.BlockAt(5).Hash.String()
	for _, c := range []struct {
		old, new string
		kept     bool
	}{
		{"", "", true},
		{"ACCEPTED_ON_L1", "ACCEPTED_ON_L2", false}, // the node has not heard yet
		{`"block_hash":"` + hash, `"block_hash":"0x123`, false},
		{`"block_hash"`, `"block"`, false},
		{`"block_number":5`, `"block":5`, false},
	} {
		nodes := &scripted{answer: func(ctx context.Context, a node.Ask) (node.Told, error) {
			told, err := w.pool.Forward(ctx, a)
			told.Result = []byte(strings.ReplaceAll(string(told.Result), c.old, c.new))
			return told, err
		}}
		if c.old == "" {
			nodes.answer = w.pool.Forward
		}
		u := New(Options{Pool: nodes, Store: w.store, Depth: depth, CacheBytes: 1 << 20})
		for name, params := range map[string]string{
			"starknet_getBlockWithTxHashes":  `{"block_id":{"block_number":5}}`,
			"starknet_getTransactionReceipt": fmt.Sprintf(`{"transaction_hash":%q}`, w.chain.BlockAt(5).Transactions[0].Hash),
		} {
			var last Answer
			for range 2 {
				var err error
				if last, err = call(t, u, name, params); err != nil {
					t.Fatal(err)
				}
			}
			if last.Kept != c.kept {
				t.Errorf("%s with %q for %q: kept is %v: %.400s", name, c.new, c.old, last.Kept, last.Result)
			}
		}
	}
}
