package own_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"reflect"
	"testing"
	"time"

	"chainexplorer/internal/explorer/catalog"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/gateway/method"
	"chainexplorer/internal/gateway/own"
	"chainexplorer/internal/index"
	"chainexplorer/internal/index/simsource"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble"
	"chainexplorer/internal/store/pebble/pebbletest"
)

const depth = 12 // no fork of these tests is deeper

var versions = []starknet.SpecVersion{starknet.V08, starknet.V09, starknet.V010}

// world is a simulated chain, a node of every version that serves it, and an index of it.
type world struct {
	t      testing.TB
	chain  *simnode.Chain
	nodes  map[starknet.SpecVersion]*simnode.Node
	engine pebble.Engine
	own    *own.Index
	hidden bool // the nodes show no head
}

func newWorld(t testing.TB, cfg simnode.Config, change ...func(*own.Options)) *world {
	t.Helper()
	w := &world{t: t, chain: simnode.New(cfg), nodes: map[starknet.SpecVersion]*simnode.Node{}}
	for _, v := range versions {
		w.nodes[v] = simnode.NewNode(w.chain, simnode.NodeConfig{Version: v, MaxChunk: 10_240})
	}
	w.engine = pebbletest.Open(t, catalog.Tables())
	w.follow()
	o := own.Options{Store: w.engine, Depth: depth, Head: w.head}
	for _, f := range change {
		f(&o)
	}
	w.own = own.New(o)
	return w
}

// head is what the nodes show.
func (w *world) head() (number uint64, hash felt.Felt, ok bool) {
	if number, ok = w.chain.Head(); !ok || w.hidden {
		return 0, felt.Felt{}, false
	}
	return number, w.chain.BlockAt(number).Hash, true
}

// follow brings the index to the head of the chain, and its L1 mark to the chain's.
func (w *world) follow() {
	w.t.Helper()
	head, _ := w.chain.Head()
	err := simsource.Follow(w.t.Context(), w.engine, w.chain, head, func(o *index.Options) {
		o.L1Interval, o.NoClasses = time.Nanosecond, true
	})
	if err != nil {
		w.t.Fatal(err)
	}
	want, some := w.chain.L1Head()
	if s := simsource.State(w.t, w.engine); s.HasL1 != some || s.L1.Number != want {
		w.t.Fatalf("the index has L1 mark %d, the chain %d", s.L1.Number, want)
	}
}

// verify notes that blocks were held against their hashes.
func (w *world) verify(from, to uint64) {
	w.t.Helper()
	ctx := w.t.Context()
	lease, err := w.engine.Acquire(ctx, store.Writer, "verify", time.Minute)
	if err != nil {
		w.t.Fatal(err)
	}
	b := &store.Batch{Epoch: lease.Epoch}
	findings := make([]chain.Finding, to-from+1)
	for i := range findings {
		findings[i] = chain.Finding{Outcome: chain.Verified, Rules: starknet.RulesPoseidon2}
	}
	err = w.engine.View(ctx, func(r store.Reader) error { return chain.AmendFindings(ctx, r, from, findings, b) })
	if err == nil {
		err = w.engine.Commit(ctx, b)
	}
	if err == nil {
		err = w.engine.Release(ctx, lease)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// answer is what somebody answered.
type answer struct {
	result any
	code   int // not 0: an error
	done   bool
}

// ask asks the index, with named parameters as a gateway binds them.
func (w *world) ask(v starknet.SpecVersion, name, params string) answer {
	w.t.Helper()
	return w.askWithin(v, name, params, 0)
}

func (w *world) askWithin(v starknet.SpecVersion, name, params string, limit int64) answer {
	w.t.Helper()
	m := method.Lookup(name)
	args, err := m.Bind([]byte(params), v)
	if err != nil {
		return answer{} // the gateway refuses it
	}
	result, code, done, err := w.own.Answer(w.t.Context(), m, args, v, limit)
	if err != nil {
		w.t.Fatalf("%s %s in %s: %v", name, params, v, err)
	}
	if limit > 0 && int64(len(result)) > limit {
		w.t.Fatalf("%s %s in %s: %d bytes, more than %d", name, params, v, len(result), limit)
	}
	a := answer{code: code, done: done}
	if done && code == 0 {
		a.result = decode(w.t, result)
	}
	return a
}

func decode(t testing.TB, text []byte) (v any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return v
}

// askNode asks a node over its handler.
func (w *world) askNode(v starknet.SpecVersion, name, params string) answer {
	w.t.Helper()
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, name, params)
	rec := httptest.NewRecorder()
	w.nodes[v].ServeHTTP(rec, httptest.NewRequest(http.MethodPost, "/", bytes.NewReader([]byte(body))))
	reply, _ := decode(w.t, rec.Body.Bytes()).(map[string]any)
	if e, ok := reply["error"].(map[string]any); ok {
		code, err := e["code"].(json.Number).Int64()
		if err != nil {
			w.t.Fatal(err)
		}
		return answer{code: int(code), done: true}
	}
	return answer{result: reply["result"], done: true}
}

// walk asks for all pages of events; ask is one of the two above.
func (w *world) walk(ask func(v starknet.SpecVersion, name, params string) answer, v starknet.SpecVersion, f map[string]any) answer {
	w.t.Helper()
	all := []any{}
	for pages := 0; ; pages++ {
		a := ask(v, "starknet_getEvents", filterParams(f))
		if !a.done || a.code != 0 {
			if pages > 0 {
				w.t.Fatalf("page %d of %v in %s ended with %+v", pages, f, v, a)
			}
			return a
		}
		page := a.result.(map[string]any)
		all = append(all, page["events"].([]any)...)
		next, more := page["continuation_token"]
		if !more {
			return answer{result: all, done: true}
		}
		if pages > 20_000 {
			w.t.Fatalf("%v in %s has no end", f, v)
		}
		g := map[string]any{}
		for k, x := range f {
			g[k] = x
		}
		g["continuation_token"] = next
		f = g
	}
}

func filterParams(f map[string]any) string {
	text, err := json.Marshal(map[string]any{"filter": f})
	if err != nil {
		panic(err) // plain values
	}
	return string(text)
}

func same(a, b answer) bool { return a.code == b.code && reflect.DeepEqual(a.result, b.result) }

// past is what a chain had at some time: things to ask for, of branches that are gone too.
type past struct {
	r      *rand.Rand
	blocks []felt.Felt
	txs    []felt.Felt
	events []starknet.Event
}

func (p *past) remember(c *simnode.Chain, from uint64) {
	head, _ := c.Head()
	for n := from; n <= head; n++ {
		b := c.BlockAt(n)
		p.blocks = append(p.blocks, b.Hash)
		for i := range b.Transactions {
			p.txs = append(p.txs, b.Transactions[i].Hash)
			p.events = append(p.events, b.Receipts[i].Events...)
		}
	}
}

func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }
