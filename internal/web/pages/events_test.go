package pages_test

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/simnode"
)

// happened are the transactions of the events that match, newest first.
func (w *world) happened(f simnode.EventFilter) (out []string) {
	for _, e := range w.Chain.Events(f) {
		out = append(out, fmt.Sprintf("%d %s", e.Block.Number, e.Block.Transactions[e.TxIndex].Hash))
	}
	slices.Reverse(out)
	return out
}

// keyed is a token that has the parties of transfers in keys, and the first who paid.
func (w *world) keyed() (token, from felt.Felt) {
	w.T.Helper()
	for _, e := range w.Chain.Events(simnode.EventFilter{From: 3, To: truthBlocks, Keys: [][]felt.Felt{{felt.Selector("Transfer")}}}) {
		if len(e.Event.Keys) == 3 && len(e.Event.Data) == 2 && !e.Event.Keys[1].IsZero() {
			return e.Event.From, e.Event.Keys[1]
		}
	}
	w.T.Fatal("there is none")
	return token, from
}

// found follows the pages of a search.
func (w *world) found(path string) (out []string) {
	w.T.Helper()
	for range 1000 {
		s := w.reads(path)
		for _, row := range s.rows["found"] {
			out = append(out, row["Where"][0]+" "+row["Where"][1])
		}
		if s.next == "" {
			return out
		}
		path = strings.TrimPrefix(html.UnescapeString(s.next), "/"+chainID)
	}
	w.T.Fatalf("%s has no end", path)
	return nil
}

// TestEventSearch finds by names what the chain knows by selectors, to the last page, and
// the file has the same.
func TestEventSearch(t *testing.T) {
	w := sharedWorld(t, truthBlocks)
	head, _ := w.Chain.Head()
	transfer, approval := felt.Selector("Transfer"), felt.Selector("Approval")
	strk, busy := w.keyed()
	for _, x := range []struct {
		path   string
		query  url.Values
		filter simnode.EventFilter
	}{
		{"/events", url.Values{"event": {"Transfer"}, "from_block": {"40"}}, simnode.EventFilter{From: 40, To: head, Keys: [][]felt.Felt{{transfer}}}},
		{"/events", url.Values{"event": {"Approval Transfer"}, "contract": {strk.String()}}, simnode.EventFilter{To: head, Addresses: []felt.Felt{strk}, Keys: [][]felt.Felt{{transfer, approval}}}},
		{"/events", url.Values{"event": {transfer.String()}, "contract": {strk.String()}, "key1": {busy.Big().String()}}, simnode.EventFilter{To: head, Addresses: []felt.Felt{strk}, Keys: [][]felt.Felt{{transfer}, {busy}}}},
		{"/contract/" + strk.String() + "/events", url.Values{"event": {"Transfer"}, "key1": {busy.String()}, "from_block": {"3"}, "to_block": {"50"}}, simnode.EventFilter{From: 3, To: 50, Addresses: []felt.Felt{strk}, Keys: [][]felt.Felt{{transfer}, {busy}}}},
		{"/contract/" + strk.String() + "/events", nil, simnode.EventFilter{To: head, Addresses: []felt.Felt{strk}}},
	} {
		path := x.path + "?" + x.query.Encode()
		want := w.happened(x.filter)
		if len(want) == 0 {
			t.Fatalf("%s: the chain has none", path)
		}
		if got := w.found(path); !slices.Equal(got, want) {
			t.Errorf("%s: %d events, want %d", path, len(got), len(want))
		}
		page := html.UnescapeString(w.page(path))
		start := strings.Index(page, "GET /v1/")
		call := page[start+len("GET "):]
		call = call[:strings.Index(call, "<")]
		if r := w.Do(http.MethodGet, call, w.Key); r.StatusCode != http.StatusOK {
			t.Errorf("%s: the equal call %s is %d", path, call, r.StatusCode)
		}
		if x.query.Has("key1") && !x.query.Has("to_block") { // a file takes no range of our choosing
			x.query.Set("from_block", "0")
			x.query.Set("to_block", fmt.Sprint(head))
		}
		rows, trailer := w.file("/" + chainID + x.path + ".csv?" + x.query.Encode())
		if len(rows) != len(want) || !strings.HasPrefix(trailer, "# complete") || rows[0][0]+" "+rows[0][2] != want[0] {
			t.Errorf("%s: the file has %d rows of %d: %s", path, len(rows), len(want), trailer)
		}
	}
}

// TestEventPageDecodes compares the values of events with their felts, and says what the
// names rest on.
func TestEventPageDecodes(t *testing.T) {
	w := sharedWorld(t, truthBlocks)
	strk, _ := w.keyed()
	s := w.reads("/contract/" + strk.String() + "/events?event=Transfer&order=asc")
	events := w.Chain.Events(simnode.EventFilter{To: truthBlocks, Addresses: []felt.Felt{strk}, Keys: [][]felt.Felt{{felt.Selector("Transfer")}}})
	for i, row := range s.rows["found"] {
		e := events[i].Event
		for _, f := range slices.Concat(e.Keys, e.Data) {
			if !slices.Contains(row["Values"], f.String()) {
				t.Errorf("event %d lacks %s", i, f)
			}
		}
		amount, err := felt.U256(e.Data[len(e.Data)-2], e.Data[len(e.Data)-1])
		if err != nil {
			t.Fatal(err)
		}
		low, high := felt.SplitU256(amount)
		if high.IsZero() && !slices.Contains(row["Values"], low.Big().String()) {
			t.Errorf("event %d lacks the amount %s: %v", i, low.Big(), row["Values"])
		}
		if !slices.Contains(row["Event"], "class_abi") {
			t.Errorf("event %d does not say what its name rests on: %v", i, row["Event"])
		}
	}
	if len(s.rows["found"]) == 0 {
		t.Error("nothing was found")
	}
	if page := w.page("/contract/" + strk.String() + "/events?event=Transfer"); !strings.Contains(page, `<label for="key1">from `) || !strings.Contains(page, `<option value="Transfer">`) {
		t.Error("the form does not call keys and events by their names")
	}
}

// TestEventRefusals tells in words what cannot be searched, and what can.
func TestEventRefusals(t *testing.T) {
	w := sharedWorld(t, truthBlocks)
	for query, want := range map[string]struct {
		status int
		text   string
	}{
		"":                        {200, "Such as"},
		"?event=%3Cscript%3E":     {400, "neither the name of an event nor a selector"},
		"?contract=bob":           {400, "bob"},
		"?from_block=zz":          {400, `"zz" is not the number of a block`},
		"?to_block=1":             {400, "A range of blocks alone"},
		"?key1=1":                 {400, "need an event"},
		"?event=Transfer&key1=zz": {400, "zz"},
		"?event=Transfer&key1=1&from_block=0&to_block=99999": {400, "Search the last 10,000 blocks of it"},
		"?event=Transfer&from_block=9&to_block=1":            {400, "cannot be answered"},
		"?event=Transfer&cursor=x":                           {400, "cannot be answered"},
		"?event=Transfer&key1=1":                             {200, "these are the newest ones"},
		"?event=NeverHappened":                               {200, "No event matches"},
	} {
		if page := html.UnescapeString(w.look("/"+chainID+"/events"+query, want.status)); !strings.Contains(page, want.text) || !strings.Contains(page, `name="event"`) {
			t.Errorf("%s: no %q in %s", query, want.text, clip(page[max(strings.Index(page, "<main"), 0):]))
		}
	}
	w.look("/"+chainID+"/contract/0xdead/events", 404)
	if r := w.Do(http.MethodGet, "/"+chainID+"/events.csv", "", "Accept", "text/html"); r.StatusCode != http.StatusBadRequest {
		t.Errorf("a file of all events: %d", r.StatusCode)
	}
}
