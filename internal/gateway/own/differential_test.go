package own_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/starknet"
)

// tally counts the calls of a method.
type tally struct{ calls, eligible, answered int }

// differential holds the index against nodes, call by call.
type differential struct {
	*world
	past
	tallies map[string]*tally
	synced  bool // the index is at the head of the nodes
}

// TestDifferential asks the index and a node of each version the same, at random, on a
// chain that grows and forks, with an index that keeps up, lags or is on a branch that
// is gone. Where the index answers, the two must agree; where it has all, it must answer.
func TestDifferential(t *testing.T) {
	d := &differential{world: newWorld(t, simnode.Config{Seed: 7, Blocks: 180, L1Lag: 30, TxPerBlock: 4}), tallies: map[string]*tally{}}
	d.r = rand.New(rand.NewPCG(1, 2))
	d.verify(100, 150)
	d.remember(d.chain, 0)
	each := 110
	if raced {
		each = 4
	}
	for range 5 {
		head, _ := d.chain.Head()
		d.run("at the head", each, true)
		d.chain.Extend(1 + d.r.IntN(3))
		d.run("behind", each, false)
		d.hidden = true
		d.run("without a head", each/4, false)
		d.hidden = false
		d.chain.Fork(1 + d.r.IntN(8))
		d.remember(d.chain, head-8)
		d.run("behind and on another branch", each, false)
		d.follow()
		d.run("at the head again", each, true)
		d.chain.Fork(1 + d.r.IntN(8))
		d.run("on another branch", each, false)
		d.chain.Extend(1) // the indexer looks for a fork when there is something new
		d.remember(d.chain, head-8)
		d.follow()
	}
	all := tally{}
	names := slices.Sorted(keys(d.tallies))
	for _, name := range names {
		n := d.tallies[name]
		t.Logf("%-42s %6d calls, %6d that the index must answer, %6d answered", name, n.calls, n.eligible, n.answered)
		all.calls, all.eligible, all.answered = all.calls+n.calls, all.eligible+n.eligible, all.answered+n.answered
		if n.eligible == 0 || n.answered < n.eligible {
			t.Errorf("%s: %d of %d calls were answered", name, n.answered, n.eligible)
		}
	}
	t.Logf("%d calls, %d answered", all.calls, all.answered)
	if !raced && all.calls < 10_000 {
		t.Errorf("only %d calls", all.calls)
	}
}

func keys[V any](m map[string]V) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// run asks n times in every version.
func (d *differential) run(when string, n int, synced bool) {
	d.t.Helper()
	d.synced = synced
	for i := range n {
		for _, v := range versions {
			d.call(when, v)
			if i%4 == 0 {
				d.compareEvents(when, v)
			}
		}
	}
}

// question is a call and whether the index has all that it takes to answer it.
type question struct {
	method, params string
	eligible       bool
}

// call makes up a call and compares the answers.
func (d *differential) call(when string, v starknet.SpecVersion) {
	d.t.Helper()
	q := d.question(v)
	mine := d.ask(v, q.method, q.params)
	d.count(q.method, q.eligible && d.synced, mine.done)
	if q.eligible && d.synced && !mine.done {
		d.t.Errorf("%s: %s %s in %s was not answered", when, q.method, q.params, v)
	}
	if !mine.done {
		return
	}
	if theirs := d.askNode(v, q.method, q.params); !same(mine, theirs) {
		d.t.Fatalf("%s: %s %s in %s:\nindex %+v\nnode  %+v", when, q.method, q.params, v, mine, theirs)
	}
}

func (d *differential) count(name string, eligible, answered bool) {
	n := d.tallies[name]
	if n == nil {
		n = &tally{}
		d.tallies[name] = n
	}
	n.calls++
	if eligible {
		n.eligible++
	}
	if answered {
		n.answered++
	}
}

func (d *differential) question(v starknet.SpecVersion) question {
	id, known := d.blockID()
	tx, inChain := d.txHash()
	switch d.r.IntN(12) {
	case 0:
		return question{"starknet_blockNumber", pick(d.r, []string{`[]`, `{}`}), true}
	case 1:
		return question{"starknet_blockHashAndNumber", `[]`, true}
	case 2:
		return question{"starknet_getBlockTransactionCount", `{"block_id":` + id + `}`, known}
	case 3, 4, 5:
		name := pick(d.r, []string{"starknet_getBlockWithTxHashes", "starknet_getBlockWithTxs", "starknet_getBlockWithReceipts"})
		return question{name, `{"block_id":` + id + `}`, known && v < starknet.V010}
	case 6, 7:
		flags, plain := d.flags()
		return question{"starknet_getTransactionByHash", `{"transaction_hash":` + tx + flags + `}`, inChain && plain}
	case 8, 9:
		flags, plain := d.flags()
		index := pick(d.r, []string{"0", "1", "2", "3", "5", "1000000", "18446744073709551615", "-1", "1.0", `"0x1"`})
		return question{"starknet_getTransactionByBlockIdAndIndex", `{"block_id":` + id + `,"index":` + index + flags + `}`, known && plain && len(index) == 1}
	case 10:
		return question{"starknet_getTransactionReceipt", `{"transaction_hash":` + tx + `}`, inChain}
	default:
		return question{"starknet_getTransactionStatus", `{"transaction_hash":` + tx + `}`, inChain}
	}
}

// flags are response flags; plain says that every version answers with them.
func (d *differential) flags() (text string, plain bool) {
	switch d.r.IntN(6) {
	case 0, 1:
		return `,"response_flags":["INCLUDE_PROOF_FACTS"]`, false
	case 2:
		return `,"response_flags":null`, false
	case 3:
		return `,"response_flags":["OTHER"]`, false
	}
	return "", true
}

// blockID makes up a block id; known says that it is one of the chain.
func (d *differential) blockID() (text string, known bool) {
	head, _ := d.chain.Head()
	switch d.r.IntN(10) {
	case 0, 1, 2, 3:
		n := d.r.Uint64N(head + 3)
		return fmt.Sprintf(`{"block_number":%d}`, n), n <= head
	case 4, 5:
		hash := pick(d.r, d.blocks)
		_, canonical := d.chain.BlockByHash(hash)
		return fmt.Sprintf(`{"block_hash":%q}`, hash), canonical
	case 6:
		n := head - d.r.Uint64N(20)
		return fmt.Sprintf(`{"block_number":%d}`, n), true
	case 7, 8:
		return `"latest"`, true
	}
	return pick(d.r, []string{`"pending"`, `"pre_confirmed"`, `"l1_accepted"`, `"newest"`, `5`, `null`, `{}`, `{"block_number":-1}`,
		`{"block_number":1,"block_hash":"0x1"}`, `{"block_number":1,"block_number":2}`, `{"block_hash":"0x1"}`, `{"block_hash":1}`,
		`{"block_number":1.0}`, `{"block_number":"1"}`, `{"block_number":18446744073709551615}`, `{"block_number":1,"more":2}`, `[]`, `"\u006catest"`}), false
}

func (d *differential) txHash() (text string, inChain bool) {
	switch d.r.IntN(10) {
	case 0:
		return fmt.Sprintf("%q", felt.FromUint64(d.r.Uint64())), false
	case 1:
		return pick(d.r, []string{`"0x"`, `1`, `"123"`, `null`, `"0x800000000000011000000000000000000000000000000000000000000000001"`}), false
	}
	h := pick(d.r, d.txs)
	_, inChain = d.chain.TransactionByHash(h)
	text = h.String()
	if d.r.IntN(10) == 0 {
		text = strings.ToUpper(h.Padded()[2:])
		text = "0x" + text
	}
	return fmt.Sprintf("%q", text), inChain
}

// compareEvents walks a random filter to its end on both sides.
func (d *differential) compareEvents(when string, v starknet.SpecVersion) {
	d.t.Helper()
	f, eligible := d.filter(v)
	mine := d.walk(d.ask, v, f)
	eligible = eligible && d.synced
	d.count("starknet_getEvents", eligible, mine.done)
	if eligible && !mine.done {
		d.t.Errorf("%s: %v in %s was not answered", when, f, v)
	}
	if !mine.done {
		return
	}
	theirs := d.walk(d.askNode, v, f)
	if !same(mine, theirs) {
		d.t.Fatalf("%s: events of %v in %s:\nindex %+v\nnode  %+v", when, f, v, mine, theirs)
	}
}

// filter makes up a filter that mostly finds something.
func (d *differential) filter(v starknet.SpecVersion) (f map[string]any, eligible bool) {
	head, _ := d.chain.Head()
	f, eligible = map[string]any{"chunk_size": 1 + d.r.IntN(200)}, true
	from := d.r.Uint64N(head + 1)
	to := min(head, from+d.r.Uint64N(15))
	f["from_block"], f["to_block"] = map[string]any{"block_number": from}, map[string]any{"block_number": to}
	switch d.r.IntN(12) {
	case 0:
		f["from_block"], f["to_block"] = map[string]any{"block_number": head - d.r.Uint64N(15)}, "latest"
	case 1:
		f["to_block"] = map[string]any{"block_hash": d.chain.BlockAt(to).Hash}
	case 2:
		f["from_block"] = map[string]any{"block_hash": d.chain.BlockAt(from).Hash}
	case 3:
		delete(f, "from_block")
		f["to_block"] = map[string]any{"block_number": d.r.Uint64N(15)}
	case 4:
		delete(f, "to_block")
		eligible = false
	case 5:
		f["to_block"] = pick(d.r, []any{"pending", "pre_confirmed", "l1_accepted", map[string]any{"block_number": head + 1 + d.r.Uint64N(3)}, map[string]any{"block_hash": "0x1"}, 7})
		eligible = false
	}
	e := pick(d.r, d.events)
	if d.r.IntN(3) == 0 {
		f["address"] = e.From
		if v >= starknet.V010 && d.r.IntN(2) == 0 {
			f["address"] = []felt.Felt{e.From, pick(d.r, d.events).From}
		}
	}
	if d.r.IntN(4) > 0 {
		keys := [][]felt.Felt{}
		for i, k := range e.Keys {
			values := []felt.Felt{k}
			switch d.r.IntN(4) {
			case 0:
				values = []felt.Felt{}
			case 1:
				if other := pick(d.r, d.events); i < len(other.Keys) {
					values = append(values, other.Keys[i])
				}
			}
			keys = append(keys, values)
			if d.r.IntN(3) == 0 {
				break
			}
		}
		for range d.r.IntN(3) {
			keys = append(keys, []felt.Felt{})
		}
		f["keys"] = keys
	}
	d.oddities(v, f, &eligible)
	return f, eligible
}

// oddities makes some filters strange.
func (d *differential) oddities(v starknet.SpecVersion, f map[string]any, eligible *bool) {
	odd := func(name string, value any) { f[name], *eligible = value, false }
	switch d.r.IntN(30) {
	case 0:
		odd("chunk_size", pick(d.r, []any{0, -1, "5", nil, 1.5}))
	case 1:
		f["chunk_size"] = pick(d.r, []any{10_240, 10_241, 1 << 40})
	case 2:
		odd("more", 1)
	case 3:
		odd("keys", pick(d.r, []any{5, [][]string{{"x"}}, make([][]felt.Felt, 17), []string{"0x1"}, nil, []any{nil}}))
	case 4:
		f["address"] = nil
	case 5:
		odd("address", pick(d.r, []any{"x", 5, []string{}, map[string]any{}}))
	case 6:
		odd("continuation_token", "3-1")
	case 7:
		odd("from_block", map[string]any{"block_number": 100_000})
	}
}
