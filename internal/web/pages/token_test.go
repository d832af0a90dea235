package pages_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"chainexplorer/internal/api"
	"chainexplorer/internal/explorer/token"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/servertest"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/store"
)

// TestTokenPages compares the pages of tokens with the API and with the chain: what it is,
// its supply from both sides, its transfers, and who holds it.
func TestTokenPages(t *testing.T) {
	w := &world{servertest.New(t, 50)}
	w.RunJobs()
	counted := 0
	for _, x := range w.Chain.Tokens(49) {
		a := x.Address.String()
		var summary api.TokenSummary
		if r := w.Do(http.MethodGet, "/v1/"+chainID+"/token/"+a, w.Key); r.StatusCode != http.StatusOK {
			continue
		}
		w.Get("/token/"+a, &summary)
		s := w.reads("/token/" + a)
		if summary.TransferCount != nil && (len(s.facts["Transfers"]) == 0 || s.facts["Transfers"][0] != fmt.Sprint(*summary.TransferCount)) {
			t.Errorf("%s: transfers %q, want %d", a, s.facts["Transfers"], *summary.TransferCount)
		}
		if summary.TotalSupplyRaw == nil && !strings.HasPrefix(s.texts["Supply, as the contract said"], "unknown") {
			t.Errorf("%s: a supply that is not known is %q", a, s.texts["Supply, as the contract said"])
		}
		if summary.TotalSupplyRaw != nil {
			s.is(t, "Supply, as the contract said", *summary.TotalSupplyRaw, *summary.TotalSupplyBlockNumber)
		}
		_, known := w.Registry.Token(x.Address)
		page := w.page("/token/" + a)
		if strings.Contains(page, ">known token<") != known {
			t.Errorf("%s: known is %v and the page says otherwise", a, known)
		}
		if x.Standard != simnode.ERC20 || x.Lie != 0 || !known {
			continue
		}
		if got := s.facts["Supply, by indexed events"]; len(got) == 1 && got[0] != w.Chain.SupplyAt(x.Address, 49).String() {
			t.Errorf("%s: indexed supply %q, want %s", a, got, w.Chain.SupplyAt(x.Address, 49))
		}
		counted++
	}
	if counted == 0 {
		t.Error("no known token was looked at")
	}
}

// hostile are names that want to be more than names.
var hostile = map[uint64][2]string{
	0xa1: {"USDС", "USD Coin"},                                     // Cyrillic
	0xa2: {"<script>alert(1)</script>", `"><img src=x onerror=x>`}, // HTML
	0xa3: {"\u202eKRTS\u202c", strings.Repeat("long ", 2000)},
	0xa4: {"=HYPERLINK(1)", "@SUM(A1)"},
	0xa5: {"  s t r k ", ""},
}

// TestHostileTokens: whatever a token calls itself is text, short, and marked where it looks
// like a known token.
func TestHostileTokens(t *testing.T) {
	w := &world{servertest.New(t, 20)}
	lease, err := w.Engine.Acquire(t.Context(), store.Writer, "test", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	b := &store.Batch{Epoch: lease.Epoch}
	named := map[uint64]felt.Felt{}
	i := uint64(0xa1)
	for _, x := range w.Chain.Tokens(19) { // tokens that move, so that lists show the names
		if _, known := w.Registry.Token(x.Address); known || i > 0xa5 {
			continue
		}
		text := hostile[i]
		m := &token.Metadata{Known: true, Symbol: &text[0], Name: &text[1], Decimals: new(uint8)}
		head := w.Chain.BlockAt(19)
		m.Block, m.BlockHash = head.Number, head.Hash
		b.Put(token.MetadataKey(x.Address), m.Encode())
		for _, k := range m.NameKeys(x.Address) {
			b.Put(k, []byte{})
		}
		named[i] = x.Address
		i++
	}
	if err := w.Engine.Commit(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	if len(named) < 4 {
		t.Fatalf("%d tokens of no registry", len(named))
	}
	for n, a := range named {
		for _, path := range []string{"/token/" + a.String(), "/token/" + a.String() + "/transfers", "/tokens", "/address/" + a.String()} {
			page := w.page(path)
			if strings.Contains(page, "<script>alert") || strings.Contains(page, "<img src=x") || strings.ContainsAny(page, "\u202e\u202c") || strings.Contains(page, strings.Repeat("long ", 20)) {
				t.Errorf("%s: a name got through: %s", path, clip(page))
			}
		}
		page := w.page("/token/" + a.String())
		if like := strings.Contains(page, "This is not"); like != (n == 0xa1 || n == 0xa5) {
			t.Errorf("%q: called a lookalike: %v", hostile[n][0], like)
		}
	}
	if a, ok := named[0xa4]; ok {
		rows, _ := w.file("/" + chainID + "/token/" + a.String() + "/transfers.csv")
		if len(rows) == 0 || rows[0][10] != "'=HYPERLINK(1)" || rows[0][17] != "unknown" {
			t.Errorf("a formula in a file: %q", rows)
		}
	}
	if rows, _ := w.file("/" + chainID + "/token/" + named[0xa1].String() + "/transfers.csv"); len(rows) == 0 || rows[0][17] != "lookalike" {
		t.Errorf("an imitation in a file: %q", rows)
	}
	// The one with a letter of another alphabet is found by what it displays: once, marked,
	// and behind the known one.
	disguise := named[0xa1].String()
	for _, path := range []string{"/" + chainID + "/tokens?q=usdc", "/search?q=usdc"} {
		page := w.look(path, http.StatusOK)
		at := strings.Index(page, "/token/"+disguise)
		if at < 0 || strings.Index(page, "USDC") > at || strings.Count(page, `class="lookalike"`) != strings.Count(page, ">lookalike") || !strings.Contains(page[at:], ">lookalike") {
			t.Errorf("%s: the imitation stands at %d: %s", path, at, page[strings.Index(page, "<main"):])
		}
	}
}

// TestTokens pages through the tokens that the chain has shown: each once, with its block.
func TestTokens(t *testing.T) {
	w := sharedWorld(t, truthBlocks)
	var found []string
	for path, pages := "/tokens", 0; path != ""; w.onwards(&pages) {
		s := w.reads(path)
		for _, row := range s.rows["found"] {
			found = append(found, row["Token"][0])
		}
		if path == "/tokens" && len(s.rows["known"]) != len(w.Registry.Tokens()) {
			t.Errorf("%d known tokens, want %d", len(s.rows["known"]), len(w.Registry.Tokens()))
		}
		_, path, _ = strings.Cut(s.next, "/"+chainID)
	}
	if len(found) == 0 || len(slices.Compact(slices.Sorted(slices.Values(found)))) != len(found) {
		t.Errorf("%d tokens, some twice or none", len(found))
	}
	for _, x := range w.Chain.Tokens(truthBlocks - 1) {
		var summary api.TokenSummary
		if r := w.Do(http.MethodGet, "/v1/"+chainID+"/token/"+x.Address.String(), w.Key); r.StatusCode != http.StatusOK {
			continue
		}
		w.Get("/token/"+x.Address.String(), &summary)
		if summary.TransferCount != nil && !slices.Contains(found, x.Address.String()) {
			t.Errorf("%s moved and is not listed", x.Address)
		}
	}
	middle := felt.MustParse(found[len(found)/2])
	for path, status := range map[string]int{"/tokens?before=x": 400, "/tokens?before=99999-0x1": 400, "/tokens?before=5-y": 400, "/tokens?before=5-" + middle.String(): 200, "/token/x": 400, "/token/0x1234567": 404, "/token/" + middle.String() + "/supply?block=30": 200, "/token/" + middle.String() + "/transfers?address=x": 400} {
		w.look("/"+chainID+path, status)
	}
}

// TestLiveSupply asks the contract, at a block.
func TestLiveSupply(t *testing.T) {
	w := sharedWorld(t, truthBlocks)
	for _, x := range w.Chain.Tokens(20) {
		if _, known := w.Registry.Token(x.Address); !known || x.Standard != simnode.ERC20 {
			continue
		}
		s := w.reads("/token/" + x.Address.String() + "/supply?block=33")
		if got := s.facts["The contract says"]; len(got) != 3 || got[0] != w.Chain.SupplyAt(x.Address, 33).String() || got[1] != "33" {
			t.Errorf("%s: %q, want %s", x.Address, got, w.Chain.SupplyAt(x.Address, 33))
		}
	}
}
