package voyager_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"chainexplorer/docs"
	"chainexplorer/internal/servertest"
)

// TestGuide asks for every path that the guide lists: what it calls served is, and the rest says that it is not.
func TestGuide(t *testing.T) {
	f := feedOf(servertest.Shared(t, blocks))
	f.key = f.Partner
	c := truth{f.Chain}
	text, err := docs.Files.ReadFile("voyager.md")
	if err != nil {
		t.Fatal(err)
	}
	class, _ := c.ClassAt(c.Tokens(1)[0].Address, c.head())
	fill := strings.NewReplacer("{ref}", "7", "{address}", c.Tokens(1)[0].Address.String(), "{class}", class.Hash.String(), "{hash}", c.BlockAt(3).Transactions[0].Hash.String(), "{message}", "0x1")
	states := map[string]int{}
	for _, row := range regexp.MustCompile("(?m)^\\| `(/[^`]*)` \\| (\\w+) \\|").FindAllStringSubmatch(string(text), -1) {
		path, state := row[1], row[2]
		states[state]++
		want := http.StatusOK
		if state == "unsupported" {
			want = http.StatusNotImplemented
		}
		r := f.Do(http.MethodGet, "/beta"+fill.Replace(path), "", "x-api-key", f.key)
		if r.StatusCode != want {
			t.Errorf("the guide says that %s is %s: %d %.200s", path, state, r.StatusCode, r.Plain())
			continue
		}
		if want != http.StatusOK {
			continue
		}
		for name := range fieldsOf(t, r.Plain()) {
			if !strings.Contains(string(text), "`"+name+"`") {
				t.Errorf("%s: the guide does not tell of the field %s", path, name)
			}
		}
	}
	if states["certified"] < 3 || states["beta"] < 5 || states["unsupported"] < 5 {
		t.Errorf("the guide has %v", states)
	}
}

// fieldsOf are the names of all fields of an answer.
func fieldsOf(t *testing.T, text []byte) map[string]bool {
	t.Helper()
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	out := map[string]bool{}
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case object:
			for name, inner := range v {
				out[name] = true
				walk(inner)
			}
		case []any:
			for _, inner := range v {
				walk(inner)
			}
		}
	}
	walk(v)
	return out
}

// FuzzRequest sends whatever it likes: a request is answered or refused in the feed's own words, and never our fault.
func FuzzRequest(f *testing.F) {
	paths := []string{"/blocks", "/blocks/1", "/txns", "/txns/0x1", "/events", "/contracts/0x1", "/contracts/0x1/transfers", "/contracts/0x1/erc20-tokens-held", "/classes", "/classes/0x1/contracts", "/messages", "/nothing"}
	for i, query := range []string{"p=1&ps=10", "p=99999999999", "ps=-1", "to=0x1&type=1", "block=pre_confirmed", "contract=0x1&p=11", "timestampFrom=1&timestampTo=2", "id=1-2-3-4-0x5", "type=null&block=", "p=%zz", "txnHash=0x0", "order_by=asc&id=0-0-0-0-0x0"} {
		f.Add(uint8(i), query)
	}
	f.Fuzz(func(t *testing.T, at uint8, query string) {
		w := servertest.Shared(t, blocks)
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/beta"+paths[int(at)%len(paths)], nil)
		r.URL.RawQuery = query
		r.RequestURI = r.URL.Path + "?" + url.QueryEscape(query)
		r.Header.Set("X-Api-Key", w.Key)
		got := httptest.NewRecorder()
		w.Server.ServeHTTP(got, r)
		switch got.Code {
		case http.StatusOK:
			return
		case http.StatusBadRequest, http.StatusNotFound, http.StatusConflict, http.StatusNotImplemented, http.StatusTooManyRequests:
		default:
			t.Errorf("%s: %d %.200s", query, got.Code, got.Body)
		}
		var body map[string]string
		if err := json.Unmarshal(got.Body.Bytes(), &body); err != nil || body["error"] == "" || len(body) != 1 {
			t.Errorf("%s: %d %.200s", query, got.Code, got.Body)
		}
	})
}
