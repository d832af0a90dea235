package own_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"reflect"
	"strings"
	"testing"

	"chainexplorer/docs"
	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/event"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/gateway/method"
	"chainexplorer/internal/gateway/own"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
)

// small is a chain with something of everything.
var small = simnode.Config{Seed: 3, Blocks: 90, L1Lag: 30}

// all is a filter that finds every event of the chain's blocks.
func all(w *world, chunk int) map[string]any {
	head, _ := w.chain.Head()
	return map[string]any{"from_block": number(0), "to_block": number(head), "chunk_size": chunk}
}

func number(n uint64) map[string]any { return map[string]any{"block_number": n} }

func with(f map[string]any, name string, value any) map[string]any {
	out := map[string]any{name: value}
	for k, v := range f {
		if k != name {
			out[k] = v
		}
	}
	return out
}

// transfers is a filter by a common key.
func transfers(w *world, chunk int) map[string]any {
	return with(all(w, chunk), "keys", [][]felt.Felt{{felt.Selector("Transfer")}})
}

// first is the first page of a filter and its token.
func (w *world) first(v starknet.SpecVersion, f map[string]any) (a answer, token string) {
	w.t.Helper()
	if a = w.ask(v, "starknet_getEvents", filterParams(f)); !a.done || a.code != 0 {
		w.t.Fatalf("%v: %+v", f, a)
	}
	token, _ = a.result.(map[string]any)["continuation_token"].(string)
	return a, token
}

func TestProofFacts(t *testing.T) {
	w := newWorld(t, simnode.Config{Seed: 3, Blocks: 300, L1Lag: 30, TxPerBlock: 8})
	head, _ := w.chain.Head()
	half := head / 2
	w.verify(0, half)
	var some, none, unknown int
	step := uint64(1)
	if raced { // one question after the other: it sees a few
		step = 7
	}
	for n := uint64(1); n <= head; n += step {
		for i, tx := range w.chain.BlockAt(n).Transactions {
			flagged := fmt.Sprintf(`{"transaction_hash":%q,"response_flags":["INCLUDE_PROOF_FACTS"]}`, tx.Hash)
			const name = "starknet_getTransactionByHash"
			mine := w.ask(starknet.V010, name, flagged)
			isV3 := tx.Type == starknet.Invoke && tx.Version == felt.FromUint64(3)
			switch {
			case isV3 && len(tx.ProofFacts) == 0 && n > half:
				unknown++
				if mine.done {
					t.Fatalf("transaction %d of block %d was not verified and is said to have no proof facts: %v", i, n, mine.result)
				}
				continue
			case isV3 && len(tx.ProofFacts) == 0:
				none++
			case isV3:
				some++
			}
			if theirs := w.askNode(starknet.V010, name, flagged); !same(mine, theirs) || !mine.done {
				t.Fatalf("transaction %d of block %d: index %+v, node %+v", i, n, mine, theirs)
			}
			plain := fmt.Sprintf(`{"transaction_hash":%q}`, tx.Hash)
			if _, shown := w.ask(starknet.V010, name, plain).result.(map[string]any)["proof_facts"]; shown {
				t.Fatalf("transaction %d of block %d shows proof facts that nobody asked for", i, n)
			}
		}
	}
	if some == 0 || none == 0 || unknown == 0 {
		t.Errorf("%d with facts, %d without, %d unknown", some, none, unknown)
	}
}

// TestNodesWentBack is about nodes that dropped more blocks than the index can have
// been ahead by.
func TestNodesWentBack(t *testing.T) {
	w := newWorld(t, small)
	w.chain.Truncate(2)
	if a := w.ask(starknet.V010, "starknet_blockNumber", `[]`); fmt.Sprint(a.result) != "89" {
		t.Errorf("the index heard of a block first and answers %+v", a)
	}
	w.chain.Truncate(9)
	for n, want := range map[string]bool{`{"block_number":78}`: true, `{"block_number":79}`: false, `"latest"`: false} {
		if a := w.ask(starknet.V010, "starknet_getBlockTransactionCount", `[`+n+`]`); a.done != want {
			t.Errorf("block %s: %+v", n, a)
		}
	}
	if a := w.ask(starknet.V010, "starknet_blockNumber", `[]`); a.done {
		t.Errorf("the head of the index is told though nodes went back: %+v", a)
	}
}

// TestUnknownMark is about an index that was never told of an L1 acceptance.
func TestUnknownMark(t *testing.T) {
	w := newWorld(t, simnode.Config{Seed: 3, Blocks: 20, L1Lag: -1})
	hash := w.chain.BlockAt(5).Transactions[0].Hash
	for name, want := range map[string]bool{"starknet_getTransactionReceipt": false, "starknet_getTransactionStatus": false, "starknet_getTransactionByHash": true} {
		if a := w.ask(starknet.V09, name, fmt.Sprintf(`[%q]`, hash)); a.done != want {
			t.Errorf("%s: %+v", name, a)
		}
	}
}

func TestTokens(t *testing.T) {
	w := newWorld(t, small)
	f := transfers(w, 7)
	_, token := w.first(starknet.V010, f)
	if !strings.HasPrefix(token, "idx1.") {
		t.Fatalf("token %q", token)
	}
	next := func(f map[string]any, token string) answer {
		return w.ask(starknet.V010, "starknet_getEvents", filterParams(with(f, "continuation_token", token)))
	}
	second := next(f, token)
	if !second.done || second.code != 0 {
		t.Fatalf("the second page: %+v", second)
	}
	for i := len("idx1."); i < len(token); i += 7 {
		changed := []byte(token)
		changed[i] ^= 1
		if a := next(f, string(changed)); a.code != 33 {
			t.Errorf("a token changed at %d: %+v", i, a)
		}
	}
	for _, made := range []string{"idx1.", "idx1.AAAA", token + "A", token[:len(token)-1], token + "=", strings.Replace(token, ".", ".\n", 1)} {
		if a := next(f, made); a.code != 33 {
			t.Errorf("token %q: %+v", made, a)
		}
	}
	for _, theirs := range []string{"3-1", "", "idx2.AAAA", "IDX1.AAAA"} {
		if a := next(f, theirs); a.done {
			t.Errorf("token %q of a node: %+v", theirs, a)
		}
	}
	other := [][]felt.Felt{{felt.Selector("Transfer"), felt.FromUint64(1)}}
	for name, g := range map[string]map[string]any{
		"another key":     with(f, "keys", other),
		"another emitter": with(f, "address", felt.FromUint64(1)),
		"no filter":       all(w, 7),
		"a later start":   with(f, "from_block", number(80)),
	} {
		if a := next(g, token); a.code != 33 {
			t.Errorf("with %s: %+v", name, a)
		}
	}
	// The same in other words, by another process.
	w.own = own.New(own.Options{Store: w.engine, Depth: depth, Head: w.head})
	if a := next(with(f, "keys", [][]felt.Felt{{felt.Selector("Transfer"), felt.Selector("Transfer")}, {}}), token); !same(a, second) {
		t.Errorf("the second page in other words: %+v, want %+v", a, second)
	}
}

// TestTokenOfForkedBlock ends a page in a block that is then replaced.
func TestTokenOfForkedBlock(t *testing.T) {
	for name, f := range map[string]func(*world, int) map[string]any{"by key": transfers, "unfiltered": all} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, small)
			head, _ := w.chain.Head()
			filter := with(f(w, 1), "from_block", number(head-2))
			_, gone := w.first(starknet.V09, filter)
			kept := with(f(w, 1), "from_block", number(head-60))
			_, stays := w.first(starknet.V09, kept)
			w.chain.Fork(5)
			if a := w.ask(starknet.V09, "starknet_getEvents", filterParams(with(filter, "continuation_token", gone))); len(a.result.(map[string]any)["events"].([]any)) > 0 {
				t.Errorf("events of a branch that the nodes left: %+v", a)
			}
			w.chain.Extend(1)
			w.follow()
			if a := w.ask(starknet.V09, "starknet_getEvents", filterParams(with(filter, "continuation_token", gone))); a.code != 33 {
				t.Errorf("a token of a block that is gone: %+v", a)
			}
			if a := w.ask(starknet.V09, "starknet_getEvents", filterParams(with(kept, "continuation_token", stays))); !a.done || a.code != 0 {
				t.Errorf("a token of a block that stayed: %+v", a)
			}
		})
	}
}

// TestSearchGoesOnWhileTheIndexLags pages up to latest while the chain grows: what the
// index has not got yet comes with later pages, and no node has to know its tokens.
func TestSearchGoesOnWhileTheIndexLags(t *testing.T) {
	w := newWorld(t, small)
	head, _ := w.chain.Head()
	f := with(with(all(w, 50), "from_block", number(head-5)), "to_block", "latest")
	a, token := w.first(starknet.V010, f)
	got := a.result.(map[string]any)["events"].([]any)
	w.chain.Extend(4)
	for pages := 0; token != ""; pages++ {
		if pages == 10 {
			w.follow()
		}
		if pages > 100 {
			t.Fatal("no end")
		}
		a, token = w.first(starknet.V010, with(f, "continuation_token", token))
		got = append(got, a.result.(map[string]any)["events"].([]any)...)
		if pages < 10 && token == "" {
			t.Fatal("the search ended before the index had all blocks")
		}
	}
	if want := w.walk(w.askNode, starknet.V010, f); !reflect.DeepEqual(got, want.result) {
		t.Errorf("%d events, want %d", len(got), len(want.result.([]any)))
	}
}

// TestSmallBudgets ends pages by work and by size: pages get shorter, and all of them
// together hold the same.
func TestSmallBudgets(t *testing.T) {
	budgets := []event.Budget{{Seeks: 3, Rows: 40, Events: 45}}
	if !raced { // thousands of pages, one after the other
		budgets = append(budgets, event.Budget{Seeks: 1, Rows: 1, Events: 1})
	}
	for _, budget := range budgets {
		w := newWorld(t, small, func(o *own.Options) { o.Budget = budget })
		head, _ := w.chain.Head()
		for _, f := range []map[string]any{transfers(w, 1000), all(w, 1000), with(transfers(w, 500), "address", w.chain.Tokens(head)[0].Address)} {
			want := w.walk(w.askNode, starknet.V010, f)
			if got := w.walk(w.ask, starknet.V010, f); !same(got, want) {
				t.Errorf("%v with budget %+v: %d events, want %d", f, budget, len(got.result.([]any)), len(want.result.([]any)))
			}
			if _, token := w.first(starknet.V010, f); token == "" {
				t.Errorf("%v: the budget %+v ended no page", f, budget)
			}
		}
	}
	w := newWorld(t, small)
	within := func(v starknet.SpecVersion, name, params string) answer { return w.askWithin(v, name, params, 4000) }
	for _, f := range []map[string]any{transfers(w, 1000), all(w, 1000)} {
		want := w.walk(w.askNode, starknet.V010, f)
		if got := w.walk(within, starknet.V010, f); !same(got, want) {
			t.Errorf("%v in pages of 4,000 bytes: %d events, want %d", f, len(got.result.([]any)), len(want.result.([]any)))
		}
		if a := w.askWithin(starknet.V010, "starknet_getEvents", filterParams(f), 300); a.done {
			t.Errorf("%v: a page without room for an event: %+v", f, a)
		}
	}
	if a := w.askWithin(starknet.V09, "starknet_getBlockWithReceipts", `["latest"]`, 500); a.done {
		t.Errorf("a block that is too large: %+v", a)
	}
	if a := w.askWithin(starknet.V09, "starknet_blockHashAndNumber", `[]`, 20); a.done {
		t.Errorf("an answer that is too large: %+v", a)
	}
}

// forking is an index whose chain forks in the middle of an answer: after so many reads
// of a view that is open.
type forking struct {
	store.Engine
	after int
	fork  func()
}

func (f *forking) View(ctx context.Context, fn func(store.Reader) error) error {
	return f.Engine.View(ctx, func(r store.Reader) error { return fn(&countingReader{r, f}) })
}

type countingReader struct {
	store.Reader
	f *forking
}

func (r *countingReader) tick() {
	if r.f.after--; r.f.after == 0 {
		r.f.fork()
	}
}

func (r *countingReader) Get(ctx context.Context, k store.Key) ([]byte, error) {
	r.tick()
	return r.Reader.Get(ctx, k)
}

func (r *countingReader) GetMany(ctx context.Context, keys []store.Key) ([][]byte, error) {
	r.tick()
	return r.Reader.GetMany(ctx, keys)
}

func (r *countingReader) Each(ctx context.Context, keys []store.Key, visitor func() store.Visitor) error {
	r.tick()
	return r.Reader.Each(ctx, keys, visitor)
}

func (r *countingReader) Scan(ctx context.Context, rng store.Range) iter.Seq2[store.Row, error] {
	r.tick()
	return r.Reader.Scan(ctx, rng)
}

var _ explorer.Index = (*forking)(nil)

// TestForkDuringAnAnswer undoes blocks while an answer about them is being made: it is
// of the branch that it began with, from end to end.
func TestForkDuringAnAnswer(t *testing.T) {
	w := newWorld(t, small)
	for _, q := range []struct{ name, params string }{
		{"starknet_getBlockWithReceipts", `["latest"]`},
		{"starknet_getTransactionByBlockIdAndIndex", `["latest",0]`},
		{"starknet_getEvents", ""},
	} {
		for after := 1; after <= 4; after++ {
			if q.name == "starknet_getEvents" {
				head, _ := w.chain.Head()
				q.params = filterParams(with(with(transfers(w, 1000), "from_block", number(head-4)), "to_block", "latest"))
			}
			want := w.askNode(starknet.V09, q.name, q.params)
			forked := false
			x := own.New(own.Options{Depth: depth, Head: w.head, Store: &forking{w.engine, after, func() {
				forked = true
				w.chain.Fork(4)
				w.chain.Extend(1)
				w.follow()
			}}})
			m := method.Lookup(q.name)
			args, err := m.Bind(json.RawMessage(q.params), starknet.V09)
			if err != nil {
				t.Fatal(err)
			}
			result, code, done, err := x.Answer(t.Context(), m, args, starknet.V09, 0)
			if err != nil || !done || code != 0 {
				t.Fatalf("%s: done %v, code %d, error %v", q.name, done, code, err)
			}
			if !forked {
				break // it reads no more than that
			}
			if got := (answer{result: decode(t, result)}); !reflect.DeepEqual(got.result, want.result) {
				t.Errorf("%s after %d reads: %+v, want %+v", q.name, after, got.result, want.result)
			}
		}
	}
}

func TestEmptyIndex(t *testing.T) {
	w := newWorld(t, simnode.Config{Seed: 3, Blocks: 1})
	for _, m := range method.All() {
		if m.Stream() || own.Answers(m) {
			continue
		}
		if _, _, done, err := w.own.Answer(t.Context(), m, nil, starknet.V010, 0); done || err != nil {
			t.Errorf("%s: done %v, error %v", m.Name, done, err)
		}
	}
}

// TestTheGuideNamesWhatIsAnswered: every method that the index answers, and no other.
func TestTheGuideNamesWhatIsAnswered(t *testing.T) {
	guide, err := docs.Files.ReadFile("rpc.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(guide), "## Who answers\n")
	text, _, found := strings.Cut(text, "Where it does not")
	if !found {
		t.Fatal("the guide does not say who answers")
	}
	for _, m := range method.All() {
		if named := strings.Contains(text, "`"+m.Name+"`"); named != own.Answers(m) {
			t.Errorf("%s: answered from the index: %t, named in the guide: %t", m.Name, own.Answers(m), named)
		}
	}
}
