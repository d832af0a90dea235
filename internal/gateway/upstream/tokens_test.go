package upstream

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"chainexplorer/internal/node"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/starknet"
)

// A list goes on at the node that gave its token, while others are asked for other lists.
func TestTokensGoBackToTheirNode(t *testing.T) {
	s := &scripted{}
	u := New(Options{Pool: s})
	gives := func(name, token string) {
		s.answer = answers(node.Told{Result: json.RawMessage(`{"events":[],"continuation_token":` + token + `}`), Node: name}, nil)
	}
	asked := func(params string) string {
		t.Helper()
		if _, err := call(t, u, "starknet_getEvents", params); err != nil {
			t.Fatal(err)
		}
		return s.asked[len(s.asked)-1].Node
	}
	gives("a", `"5-100"`)
	if n := asked(`[{"from_block":{"block_number":1},"chunk_size":10}]`); n != "" {
		t.Errorf("asked %s", n)
	}
	// The same token for another list, from another node.
	gives("b", `"5-100"`)
	if n := asked(`[{"from_block":{"block_number":2},"chunk_size":10}]`); n != "" {
		t.Errorf("asked %s", n)
	}
	gives("a", `"6-100"`)
	if n := asked(`{"filter":{"chunk_size":20, "continuation_token":"5-100", "from_block":{"block_number": 1}}}`); n != "a" {
		t.Errorf("asked %s", n)
	}
	gives("b", `null`)
	if n := asked(`[{"from_block":{"block_number":2},"chunk_size":10,"continuation_token":"5-100"}]`); n != "b" {
		t.Errorf("asked %s", n)
	}
	gives("a", `null`)
	if n := asked(`[{"from_block":{"block_number":1},"chunk_size":10,"continuation_token":"6-100"}]`); n != "a" {
		t.Errorf("asked %s", n)
	}
	// One that nobody gave goes to any node.
	if n := asked(`[{"from_block":{"block_number":1},"chunk_size":10,"continuation_token":"7-100"}]`); n != "" {
		t.Errorf("asked %s", n)
	}
	if n := asked(`[{"from_block":{"block_number":3},"chunk_size":10,"continuation_token":"5-100"}]`); n != "" {
		t.Errorf("asked %s", n)
	}
}

func TestTokensAreBounded(t *testing.T) {
	tk := newTokens()
	key := tokenOf([]byte(`{"chunk_size":1}`), starknet.V010)
	for i := range tokensKept + 100 {
		tk.remember(key, node.Told{Node: "a", Result: json.RawMessage(fmt.Sprintf(`{"events":[],"continuation_token":"%d"}`, i))})
	}
	tk.remember(key, node.Told{Node: "a", Result: json.RawMessage(`{"continuation_token":"` + strings.Repeat("x", maxToken+1) + `"}`)})
	if len(tk.nodes) != tokensKept || tk.order.Len() != tokensKept {
		t.Errorf("%d tokens are remembered", len(tk.nodes))
	}
	key.given, key.token = true, "50"
	if _, ok := tk.node(key); ok {
		t.Error("the oldest is remembered")
	}
	key.token = fmt.Sprint(tokensKept + 99)
	if n, ok := tk.node(key); !ok || n != "a" {
		t.Error("the newest is not")
	}
}

// A list is read to its end through two nodes, page by page.
func TestEventsPageByPage(t *testing.T) {
	w := newWorld(t, simnode.Config{Seed: 2, Blocks: 30}, simnode.NodeConfig{}, simnode.NodeConfig{})
	token, pages := "", 0
	for {
		a, err := w.call("starknet_getEvents", `[{"from_block":{"block_number":0},"to_block":{"block_number":29},"chunk_size":50`+token+`}]`)
		if err != nil || a.Error != nil {
			t.Fatalf("%s, %v", a.Error, err)
		}
		var page struct {
			Token *string `json:"continuation_token"`
		}
		if err := json.Unmarshal(a.Result, &page); err != nil {
			t.Fatal(err)
		}
		if pages++; page.Token == nil {
			break
		}
		token = fmt.Sprintf(`,"continuation_token":%q`, *page.Token)
	}
	if pages < 3 {
		t.Errorf("%d pages", pages)
	}
	if a, b := w.nodes[0].Requests("starknet_getEvents"), w.nodes[1].Requests("starknet_getEvents"); a != 0 && b != 0 {
		t.Errorf("pages came from both nodes: %d and %d", a, b)
	}
}

// What was started for callers ends with them: a goroutine that is left would hold up
// the end of the bubble.
func TestNothingIsLeftRunning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := fixed(`"0x1"`)
		u := New(Options{Pool: s, CacheBytes: 1 << 20})
		for i := range 500 {
			if _, err := call(t, u, "starknet_getNonce", fmt.Sprintf(`["latest","0x%x"]`, i+1)); err != nil {
				t.Fatal(err)
			}
		}
		if asked, freed := s.count(); asked != 500 || freed != 500 {
			t.Errorf("asked %d, freed %d", asked, freed)
		}
	})
}

func BenchmarkKept(b *testing.B) {
	w := newWorld(b, simnode.Config{Seed: 3, Blocks: 60, L1Lag: 40})
	m, raw, args := bind(b, "starknet_getBlockWithTxs", `{"block_id":{"block_number":5}}`, starknet.V010)
	for range 2 {
		a, err := w.up.Call(b.Context(), m, raw, args, starknet.V010)
		if err != nil {
			b.Fatal(err)
		}
		a.Release()
	}
	before := w.reads(m.Name)
	b.ReportAllocs()
	for b.Loop() {
		a, err := w.up.Call(b.Context(), m, raw, args, starknet.V010)
		if err != nil || !a.Kept {
			b.Fatal(err)
		}
		a.Release()
	}
	if n := w.reads(m.Name); n != before {
		b.Fatalf("%d requests", n-before)
	}
}
