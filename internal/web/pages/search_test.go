package pages_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"chainexplorer/internal/api"
	"chainexplorer/internal/servertest"
)

// TestSearchLeadsToTheOnlyHit finds one thing of each kind.
func TestSearchLeadsToTheOnlyHit(t *testing.T) {
	w := sharedWorld(t, 60)
	var b api.Block
	w.Get("/block/20", &b)
	var classes struct{ Items []struct{ ClassHash string } }
	w.Get("/classes?limit=1", &classes)
	tx := b.Transactions[0]
	for q, want := range map[string]string{
		"20":                       "/block/20",
		"#20":                      "/block/20",
		"block 20":                 "/block/20",
		"Block #20":                "/block/20",
		b.BlockHash.String()[2:]:   "/block/20",
		tx.TxHash.Padded()[2:]:     "/tx/" + tx.TxHash.String(),
		b.BlockHash.String():       "/block/20",
		" " + tx.TxHash.Padded():   "/tx/" + tx.TxHash.String(),
		tx.FromAddress.String():    "/address/" + tx.FromAddress.String(),
		classes.Items[0].ClassHash: "/class/" + classes.Items[0].ClassHash,
	} {
		r := w.Do(http.MethodGet, "/search?q="+url.QueryEscape(q), "", "Accept", "text/html")
		if r.StatusCode != http.StatusFound || r.Header.Get("Location") != "/"+chainID+want {
			t.Errorf("%q: %d %s, want %s", q, r.StatusCode, r.Header.Get("Location"), want)
		}
	}
}

// TestSearchPage shows what was found, and says what was not.
func TestSearchPage(t *testing.T) {
	w := sharedWorld(t, 60)
	for q, want := range map[string]string{
		"":                                "What can be found",
		"0xdead00dead":                    "Nothing that is indexed here",
		"0xzz":                            "hex digits of a felt",
		strings.Repeat("long", 40):        "more than 70 characters",
		"<script>alert(1)</script>\u202e": "&lt;script&gt;",
	} {
		if page := w.look("/search?q="+url.QueryEscape(q), http.StatusOK); !strings.Contains(page, want) {
			t.Errorf("%q: the page lacks %q:\n%s", q, want, clip(page[strings.Index(page, "<main"):]))
		}
	}
}

// TestSearchOfTokens: the address of a token leads to the token first, and a number is no name.
func TestSearchOfTokens(t *testing.T) {
	w := sharedWorld(t, 60)
	token := w.movedToken()
	for _, q := range []string{token, token[2:]} {
		page := w.look("/search?q="+q, http.StatusOK)
		as, at := strings.Index(page, `<a href="/`+chainID+`/token/`+token+`"`), strings.Index(page, `<a href="/`+chainID+`/address/`+token+`"`)
		if as < 0 || at < as {
			t.Errorf("%s: the token stands at %d, the address at %d", q, as, at)
		}
	}
	for _, q := range []string{"1,0", "10,0", "0,0"} {
		if page := w.look("/search?q="+url.QueryEscape(q), http.StatusOK); strings.Contains(page, `class="hits"`) {
			t.Errorf("%s finds %s", q, clip(page[strings.Index(page, "<main"):]))
		}
	}
	if page := w.page("/blocks"); !strings.Contains(page, `data-suggest="/search/suggest?chain=`+chainID+`&amp;q="`) {
		t.Error("the search box of a chain does not name it")
	}
	if page := w.look("/"+chainID+"/block/999999", http.StatusNotFound); strings.Contains(page, ">look on") {
		t.Error("another chain is offered for what nobody looked up there")
	}
}

// TestSuggestionsOfAChain: those of the chain whose page has the box come first.
func TestSuggestionsOfAChain(t *testing.T) {
	w := &world{servertest.New(t, 5, func(o *servertest.Options) {
		other := o.Chains[0]
		other.ID = "SN_MAIN"
		o.Chains = append(o.Chains, other)
	})}
	for query, want := range map[string][]string{"": {chainID, "SN_MAIN"}, "&chain=SN_MAIN": {"SN_MAIN", chainID}, "&chain=" + chainID: {chainID, "SN_MAIN"}, "&chain=none": {chainID, "SN_MAIN"}} {
		var found []struct{ Chain string }
		r := w.Do(http.MethodGet, "/search/suggest?q=%233"+query, "")
		if err := json.Unmarshal(r.Plain(), &found); err != nil || len(found) != 2 || found[0].Chain != want[0] || found[1].Chain != want[1] {
			t.Errorf("%s: %v %v, want %v", query, found, err, want)
		}
	}
}

// TestSearchOfNoText: whatever was typed, the page is text.
func TestSearchOfNoText(t *testing.T) {
	w := sharedWorld(t, 60)
	for _, q := range []string{"%FF%FE", "a%C3", strings.Repeat("%C3%A9", 150), "a" + strings.Repeat("%C3%A9", 150)} {
		for _, path := range []string{"/search?q=" + q, "/" + chainID + "/tokens?q=" + q[:min(len(q), 60)], "/" + chainID + "/events?event=" + q} {
			r := w.Do(http.MethodGet, path, "", "Accept", "text/html")
			if body := r.Plain(); r.StatusCode >= 500 || !utf8.Valid(body) {
				t.Errorf("%s: %d, valid %t", path, r.StatusCode, utf8.Valid(body))
			}
		}
	}
}

// TestSuggestions are few, of the API's own finding, and lead to pages.
func TestSuggestions(t *testing.T) {
	w := sharedWorld(t, 60)
	ask := func(q string) (out []struct{ Href, Kind, Text, Note, Chain string }) {
		t.Helper()
		r := w.Do(http.MethodGet, "/search/suggest?q="+url.QueryEscape(q), "")
		if r.StatusCode != http.StatusOK || r.Header.Get("Content-Type") != "application/json" {
			t.Fatalf("%q: %d %s", q, r.StatusCode, r.Header)
		}
		if err := json.Unmarshal(r.Plain(), &out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	var found api.SearchResult
	w.Get("/search?q=s", &found)
	got := ask("s")
	if len(found.Tokens) == 0 || len(got) != min(len(found.Tokens), 8) {
		t.Fatalf("%d suggestions, the API finds %d tokens", len(got), len(found.Tokens))
	}
	for i, s := range got {
		if s.Kind != "Token" || s.Href != fmt.Sprintf("/%s/token/%s", chainID, found.Tokens[i].TokenAddress) || s.Text == "" || s.Chain != chainID {
			t.Errorf("%+v", s)
		}
	}
	for _, nothing := range []string{"", "0xzz", "0xdead00dead", strings.Repeat("x", 500)} {
		if got := ask(nothing); len(got) != 0 {
			t.Errorf("%q: %v", nothing, got)
		}
	}
}

// TestKnownTokensAreFound: a known token is found, and has a page, before the chain has shown
// anything of it.
func TestKnownTokensAreFound(t *testing.T) {
	w := sharedWorld(t, 60)
	unseen := 0
	for _, k := range w.Registry.Tokens() {
		path := "/" + chainID + "/token/" + k.Address.String()
		if r := w.Do(http.MethodGet, "/search?q="+url.QueryEscape(k.Name), "", "Accept", "text/html"); r.Header.Get("Location") != path && !strings.Contains(string(r.Plain()), `href="`+path+`"`) {
			t.Errorf("%s is not found: %d", k.Name, r.StatusCode)
		}
		if w.Do(http.MethodGet, "/v1"+path, w.Key).StatusCode == http.StatusOK {
			continue
		}
		unseen++
		if page := w.look(path, http.StatusOK); !strings.Contains(page, "nothing is indexed") || !strings.Contains(page, k.Symbol) || !strings.Contains(page, k.Address.String()) {
			t.Errorf("the page of %s: %s", k.Name, page[strings.Index(page, "<main"):])
		}
	}
	if unseen == 0 {
		t.Fatal("every known token is on the chain: nothing was shown")
	}
}
