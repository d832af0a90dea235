package api_test

import (
	"net/http"
	"net/url"
	"slices"
	"testing"
	"time"

	"chainexplorer/internal/api"
	"chainexplorer/internal/explorer/token"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/registry"
	"chainexplorer/internal/store"
)

// TestSearchByName: tokens are found by the beginning of their symbol or name, known
// ones first, and one that takes the name of another is marked.
func TestSearchByName(t *testing.T) {
	w := newWorld(t, 20)
	search := func(q string) []api.SearchToken {
		t.Helper()
		var out api.SearchResult
		w.Get("/search?q="+q, &out)
		return out.Tokens
	}
	before := search("uSd")
	if len(before) == 0 || !before[0].Known || before[0].Lookalike || before[0].Source != "registry" {
		t.Fatalf("the known token is not first: %+v", before)
	}
	imitation, disguise, other, name := felt.FromUint64(0x777), felt.FromUint64(0x779), felt.FromUint64(0x778), "Usd of somebody"
	disguised := "\u200bUЅD" + (*before[0].Symbol)[3:] // with a letter of another alphabet, behind what is not seen
	lease, err := w.Engine.Acquire(t.Context(), store.Writer, "test", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	b := &store.Batch{Epoch: lease.Epoch}
	for address, m := range map[felt.Felt]*token.Metadata{imitation: {Known: true, Symbol: before[0].Symbol}, disguise: {Known: true, Symbol: &disguised}, other: {Known: true, Name: &name}} {
		m.BlockHash = w.Chain.BlockAt(0).Hash
		b.Put(token.MetadataKey(address), m.Encode())
		for _, k := range m.NameKeys(address) {
			b.Put(k, []byte{})
		}
	}
	if err := w.Engine.Commit(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	found := map[felt.Felt]api.SearchToken{}
	for i, s := range search("usd") {
		if found[s.TokenAddress] = s; s.Known != (i < len(before)) {
			t.Errorf("place %d is %+v", i, s)
		}
	}
	if s := found[imitation]; !s.Lookalike || s.Known || s.Source != "token_contract" {
		t.Errorf("the imitation is %+v", s)
	}
	if s := found[disguise]; !s.Lookalike || s.Known {
		t.Errorf("what looks like %q is %+v", *before[0].Symbol, s)
	}
	if list := search(url.QueryEscape(disguised)); len(list) < 2 || !list[0].Known || list[0].TokenAddress != before[0].TokenAddress || !slices.ContainsFunc(list, func(s api.SearchToken) bool { return s.TokenAddress == disguise && s.Lookalike }) {
		t.Errorf("the disguise itself finds %+v", list)
	}
	if s := found[other]; s.Lookalike || s.Known || s.Name == nil || *s.Name != name {
		t.Errorf("a token of its own name is %+v", s)
	}
	if s := search("somebody"); len(s) != 0 {
		t.Errorf("the middle of a name finds %+v", s)
	}
	if r := w.Do(http.MethodGet, "/v1/"+chainID+"/search?q=0xZZ", w.Key); r.StatusCode != http.StatusBadRequest {
		t.Errorf("half a hash: %d %s", r.StatusCode, r.Body)
	}
}

// TestKnownTokensByEitherName: a known token is found by what the registry calls it
// and by what it calls itself, whether or not the chain has shown it yet.
func TestKnownTokensByEitherName(t *testing.T) {
	w := newWorld(t, 20)
	known := registry.Builtin().Chain(chainID) // which calls some of them by other names
	setRegistry(w.Routes, known)
	own := map[felt.Felt]api.TokenSummary{}
	for _, k := range known.Tokens() {
		r := w.Do(http.MethodGet, "/v1/"+chainID+"/token/"+k.Address.String(), w.Key)
		var found api.SearchResult
		for _, name := range []string{k.Symbol, k.Name} {
			w.Get("/search?q="+url.QueryEscape(name), &found)
			listed := slices.ContainsFunc(found.Tokens, func(s api.SearchToken) bool { return s.TokenAddress == k.Address && s.Known })
			if !listed {
				t.Errorf("%s is not found by %q", k.Address, name)
			}
		}
		if r.StatusCode == http.StatusOK {
			var s api.TokenSummary
			w.Get("/token/"+k.Address.String(), &s)
			own[k.Address] = s
		}
	}
	other := 0
	for address, s := range own {
		k, _ := known.Token(address)
		if s.Name == nil || *s.Name == k.Name {
			continue
		}
		other++
		var found api.SearchResult
		w.Get("/search?q="+url.QueryEscape(*s.Name), &found)
		if !slices.ContainsFunc(found.Tokens, func(f api.SearchToken) bool { return f.TokenAddress == address && f.Known }) {
			t.Errorf("%s is not found by its own name %q", address, *s.Name)
		}
	}
	if len(own) == 0 || other == 0 || len(own) == len(known.Tokens()) {
		t.Fatalf("%d of %d known tokens are on the chain, %d with another name: nothing was shown", len(own), len(known.Tokens()), other)
	}
}

// TestSearchFindsNoTokenThatAForkTookAway: names outlive the blocks in which they were told.
func TestSearchFindsNoTokenThatAForkTookAway(t *testing.T) {
	w := newWorld(t, 30)
	head, _ := w.Chain.Head()
	finds := func(symbol string) []api.SearchToken {
		t.Helper()
		var out api.SearchResult
		w.Get("/search?q="+url.QueryEscape(symbol), &out)
		return out.Tokens
	}
	answer := func(token felt.Felt) int {
		return w.Do(http.MethodGet, "/v1/"+chainID+"/token/"+token.String(), w.Key).StatusCode
	}
	told := map[felt.Felt]string{} // found before the fork, by symbol
	for _, token := range w.Chain.Tokens(head) {
		if token.Symbol != "" && slices.ContainsFunc(finds(token.Symbol), func(s api.SearchToken) bool { return s.TokenAddress == token.Address }) {
			told[token.Address] = token.Symbol
		}
	}
	w.Chain.Fork(28)
	w.Chain.Extend(10)
	w.CatchUp()
	gone := 0
	for address, symbol := range told {
		if answer(address) == http.StatusNotFound {
			gone++
		}
		for _, s := range finds(symbol) {
			if status := answer(s.TokenAddress); !s.Known && status != http.StatusOK {
				t.Errorf("%q finds %s, which is answered with %d", symbol, s.TokenAddress, status)
			}
		}
	}
	if gone == 0 {
		t.Errorf("none of %d tokens is gone", len(told))
	}
}
