package api_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"chainexplorer/internal/api"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/simnode"
)

type eventRow struct {
	BlockNumber, TxIndex, LogIndex uint64
	TimestampIso, SourceTier       string
	TxHash, Address                felt.Felt
	Keys, Data                     []felt.Felt
	Topic0, Topic1, Topic2, Topic3 *felt.Felt
	DecodingStatus                 string
	EventName, EventNameSource     *string
	DecodedFieldsUnavailableReason *string
	EventTimeClassHash             *felt.Felt
	DecodedFields                  []struct {
		Label, Source string
		RawValues     []felt.Felt
		OriginIndexes []int
	}
}

type eventPage struct {
	Items         []eventRow
	NextCursor    *string
	RangeCoverage *api.RangeCoverage
}

// place is how rows and ground truth are compared.
func (r *eventRow) place() string {
	return fmt.Sprintf("%d:%d:%d", r.BlockNumber, r.TxIndex, r.LogIndex)
}

// walk reads all pages of a search.
func (w *world) walk(path string, query url.Values, key string, limit int) (rows []eventRow) {
	w.T.Helper()
	query = url.Values(slicesOf(query))
	query.Set("limit", strconv.Itoa(limit))
	for pages := 0; ; pages++ {
		if pages > 5000 {
			w.T.Fatalf("%s?%s does not end", path, query.Encode())
		}
		r := w.Do(http.MethodGet, "/v1/"+chainID+path+"?"+query.Encode(), key)
		if r.StatusCode != http.StatusOK {
			w.T.Fatalf("%s?%s: %d %s", path, query.Encode(), r.StatusCode, r.Body)
		}
		var p eventPage
		if err := json.Unmarshal(r.Body, &p); err != nil {
			w.T.Fatal(err)
		}
		if len(p.Items) > limit {
			w.T.Fatalf("page of %d with limit %d", len(p.Items), limit)
		}
		rows = append(rows, p.Items...)
		if p.NextCursor == nil {
			return rows
		}
		query.Set("cursor", *p.NextCursor)
	}
}

func slicesOf(q url.Values) map[string][]string {
	out := map[string][]string{}
	for k, v := range q {
		out[k] = slices.Clone(v)
	}
	return out
}

// spell writes a felt in one of its legal forms.
func spell(rng *rand.Rand, f felt.Felt) string {
	switch rng.IntN(3) {
	case 0:
		return f.Padded()
	case 1:
		return "0X" + strings.ToUpper(f.String()[2:])
	}
	return f.String()
}

// TestEventSearchAgainstTruth compares random searches with the chain, before
// and after forks.
func TestEventSearchAgainstTruth(t *testing.T) {
	skipRaced(t)
	w := newWorld(t, 90)
	rng := rand.New(rand.NewPCG(4, 4))
	for round := range 3 {
		head, _ := w.Chain.Head()
		all := w.Chain.Events(simnode.EventFilter{From: 0, To: head})
		for range 20 {
			w.compareSearch(rng, all, head)
		}
		w.Chain.Fork(10 + 20*round)
		w.Chain.Extend(3)
		w.CatchUp()
	}
}

// compareSearch makes one random search that is sure to be legal.
func (w *world) compareSearch(rng *rand.Rand, all []simnode.EventRef, head uint64) {
	w.T.Helper()
	sample := func() *simnode.EventRef { return &all[rng.IntN(len(all))] }
	q, f := url.Values{}, simnode.EventFilter{From: 0, To: head}
	path, one := "/events", rng.IntN(3) == 0
	if one {
		f.Addresses = []felt.Felt{sample().Event.From}
		path = "/contract/" + spell(rng, f.Addresses[0]) + "/events"
	}
	for range rng.IntN(3) {
		if !one {
			f.Addresses = append(f.Addresses, sample().Event.From)
			q.Add([]string{"address", "contract", "contractAddress"}[rng.IntN(3)], spell(rng, f.Addresses[len(f.Addresses)-1]))
		}
	}
	later := rng.IntN(3) > 0
	if later || len(f.Addresses) == 0 || rng.IntN(2) == 0 {
		anchor := sample()
		for p := range anchor.Event.Keys {
			if p > 0 && (!later || rng.IntN(2) == 0) {
				f.Keys = append(f.Keys, nil)
				continue
			}
			values := []felt.Felt{anchor.Event.Keys[p]}
			if other := sample(); p < len(other.Event.Keys) && rng.IntN(2) == 0 {
				values = append(values, other.Event.Keys[p])
			}
			name := "topic" + strconv.Itoa(p)
			if p == 0 && rng.IntN(2) == 0 {
				name = "selector"
			}
			for _, v := range values {
				q.Add(name, spell(rng, v))
			}
			f.Keys = append(f.Keys, values)
		}
		for len(f.Keys) > 0 && f.Keys[len(f.Keys)-1] == nil {
			f.Keys = f.Keys[:len(f.Keys)-1]
		}
	}
	if later || rng.IntN(2) == 0 {
		f.From = rng.Uint64N(head)
		f.To = f.From + rng.Uint64N(head)
		q.Set("from_block", strconv.FormatUint(f.From, 10))
		q.Set("to_block", strconv.FormatUint(f.To, 10))
	}
	want := w.Chain.Events(f)
	asc := rng.IntN(2) == 0
	if asc {
		q.Set("order", "asc")
	} else {
		slices.Reverse(want)
	}
	limit := []int{1, 7, 25, 100}[rng.IntN(4)]
	if len(want) > 20*limit {
		limit = 100 // every page is held against the document, which takes its time
	}
	got := w.walk(path, q, w.Key, limit)
	if len(got) != len(want) {
		w.T.Fatalf("%s?%s: %d events, want %d", path, q.Encode(), len(got), len(want))
	}
	for i := range want {
		ref, row := &want[i], &got[i]
		if row.place() != fmt.Sprintf("%d:%d:%d", ref.Block.Number, ref.TxIndex, ref.Index) || row.TxHash != ref.Block.Transactions[ref.TxIndex].Hash || row.Address != ref.Event.From ||
			!slices.Equal(row.Keys, ref.Event.Keys) || !slices.Equal(row.Data, ref.Event.Data) {
			w.T.Fatalf("%s?%s: event %d is %+v, want %+v", path, q.Encode(), i, row, ref)
		}
		checkRow(w.T, row)
	}
}

// checkRow holds a row against itself.
func checkRow(t *testing.T, r *eventRow) {
	t.Helper()
	for i, topic := range []*felt.Felt{r.Topic0, r.Topic1, r.Topic2, r.Topic3} {
		if i < len(r.Keys) != (topic != nil) || topic != nil && *topic != r.Keys[i] {
			t.Fatalf("topic%d does not project the keys: %+v", i, r)
		}
	}
	switch r.DecodingStatus {
	case "decoded":
		// Every key behind the selector path and all data belong to one field each.
		data := make([]bool, len(r.Data))
		for _, f := range r.DecodedFields {
			from := r.Keys
			if f.Source == "data" {
				from = r.Data
			}
			for j, at := range f.OriginIndexes {
				if from[at] != f.RawValues[j] {
					t.Fatalf("field %s does not hold what stands at its origin: %+v", f.Label, r)
				}
				if f.Source == "data" {
					data[at] = true
				}
			}
		}
		if slices.Contains(data, false) || r.EventName == nil || r.DecodedFieldsUnavailableReason != nil {
			t.Fatalf("decoded, but not all of it: %+v", r)
		}
	case "name_only":
		if r.EventName == nil || r.DecodedFields != nil || r.DecodedFieldsUnavailableReason == nil {
			t.Fatalf("name_only row is %+v", r)
		}
	case "unknown":
		if r.EventName != nil || r.DecodedFields != nil {
			t.Fatalf("unknown row is %+v", r)
		}
	default:
		t.Fatalf("decoding status %q", r.DecodingStatus)
	}
}

// TestMostEventsAreDecoded: on a chain whose classes are all known, only what
// was made to be misread is not.
func TestMostEventsAreDecoded(t *testing.T) {
	w := sharedWorld(t, 60)
	counts := map[string]int{}
	for _, name := range []string{"Transfer", "Swap", "Sync", "ContractDeployed", "Deposit", "Upgraded"} {
		for _, r := range w.walk("/events", url.Values{"topic0": {felt.Selector(name).String()}}, w.Key, 100) {
			counts[r.DecodingStatus]++
			if r.EventName != nil && *r.EventName != name {
				t.Fatalf("event %s is called %s", name, *r.EventName)
			}
		}
	}
	if counts["decoded"] < 10*(counts["name_only"]+counts["unknown"]) || counts["decoded"] < 100 {
		t.Errorf("decoding statuses are %v", counts)
	}
}

// TestEventRules is the contract's list of what is refused.
func TestEventRules(t *testing.T) {
	w := sharedWorld(t, 30)
	transfer := felt.Selector("Transfer").String()
	many := func(name string, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "&%s=0x%x", name, i+1)
		}
		return b.String()
	}
	for _, c := range []struct {
		path   string
		status int
		want   string
	}{
		{"/events", 400, "needs a filter"},
		{"/events?from_block=1&to_block=5", 400, "needs a filter"},
		{"/events?topic1=0x1&from_block=1&to_block=5", 400, "need topic0"},
		{"/events?topic1=0x1&address=0x5&from_block=1&to_block=5", 400, "need topic0"},
		{"/events?topic0=0x1&topic1=0x1", 400, "need from_block and to_block"},
		{"/events?topic0=0x1&topic15=0x1&from_block=3", 400, "need from_block and to_block"},
		{"/contract/0x1/events?topic1=0x1&from_block=1&to_block=5", 400, "need topic0"},
		{"/events?topic0=0x1&topic1=0x1&from_block=0&to_block=9999", 200, ""},
		{"/events?topic0=0x1&topic1=0x1&from_block=0&to_block=10000", 400, "at most 10000"},
		{"/events?topic0=0x1&from_block=0&to_block=1000000", 200, ""},
		{"/events?topic0=0x1&from_block=9&to_block=1", 400, "above"},
		{"/events?topic0=0x1&from_block=-1", 400, "not a block number"},
		{"/events?topic0=0x1&from_block=latest", 400, "not a block number"},
		{"/events?topic0=Transfer", 400, "its selector would be " + transfer},
		{"/events?selector=Transfer", 400, "selector: \\\"Transfer\\\" is a name"},
		{"/contract/0x1/events?keys=Transfer", 400, "keys: \\\"Transfer\\\" is a name"},
		{"/events?contract=Transfer", 400, "contract: \\\"Transfer\\\" is not 0x"},
		{"/transfers?token=ETH", 400, "token: \\\"ETH\\\" is not 0x"},
		{"/events?topic0=0x1&from_block=a&to_block=b", 400, "from_block"},
		{"/events?topic0=5", 400, "not 0x"},
		{"/events?topic0=&address=0x1", 400, "topic0: it has no value"},
		{"/events?topic0=0x1&topic0=", 400, "topic0: it has no value"},
		{"/events?topic0=0x1&topic1=&from_block=1&to_block=5", 400, "topic1: it has no value"},
		{"/events?topic0=0x1&from_block=", 400, "from_block: it has no value"},
		{"/contract/0x1/events?key=&key=0x1&from_block=1&to_block=5", 400, "key: it has no value"},
		{"/events?topic0=0x1&cursor=", 200, ""},
		{"/events?address=0xzz", 400, "address"},
		{"/events?topic16=0x1", 400, "topic16"},
		{"/events?topic0=0x1&key=0x2", 400, "key"},
		{"/events?topic0=0x1&keys=0x2", 400, "keys"},
		{"/contract/0x1/events?key=" + transfer, 200, ""},
		{"/contract/0x1/events?keys=" + transfer, 200, ""},
		{"/contract/0x1/events?key=0x1&topic0=0x1", 400, "use one of the two"},
		{"/contract/zz/events", 400, "address"},
		{"/events?order=up&topic0=0x1", 400, "order"},
		{"/events?x=1" + many("topic0", 128), 400, "x"},
		{"/events?limit=100" + many("topic0", 128), 200, ""},
		{"/events?limit=100" + many("topic0", 129), 400, "at most 128"},
		{"/events?limit=100" + many("topic0", 100) + many("selector", 28), 200, ""},
		{"/events?from_block=1&to_block=2" + many("topic0", 100) + many("topic1", 100) + many("topic2", 56), 200, ""},
		{"/events?from_block=1&to_block=2" + many("topic0", 100) + many("topic1", 100) + many("topic2", 57), 400, "at most 256"},
		{"/events?from_block=1&to_block=2&topic1=0x1" + many("topic0", 17) + many("address", 16), 400, "at most 256 pairs"},
		{"/events?topic0=0x1&limit=0", 200, ""},
		{"/events?topic0=0x1&limit=ten", 400, "limit"},
		{"/events?topic0=0x1&limit=500", 200, ""},
		{"/events?topic0=0x1&cursor=abc", 400, "cursor"},
	} {
		r := w.Do(http.MethodGet, "/v1/"+chainID+c.path, w.Key)
		if r.StatusCode != c.status || !strings.Contains(string(r.Body), c.want) {
			t.Errorf("%.90s: %d, want %d %q: %.300s", c.path, r.StatusCode, c.status, c.want, r.Body)
		}
	}
}

// TestEventCursors: bound to the search by value, refused after a fork below.
func TestEventCursors(t *testing.T) {
	w := newWorld(t, 60)
	sel := felt.Selector("Transfer")
	first := func(query string) string {
		var p eventPage
		r := w.Do(http.MethodGet, "/v1/"+chainID+"/events?limit=5&"+query, w.Key)
		if err := json.Unmarshal(r.Body, &p); err != nil || p.NextCursor == nil {
			t.Fatalf("%s: %v %s", query, err, r.Body)
		}
		return url.QueryEscape(*p.NextCursor)
	}
	cursor := first("topic0=" + sel.String())
	ask := func(query string) reply { return w.Do(http.MethodGet, "/v1/"+chainID+"/events?"+query, w.Key) }
	for query, status := range map[string]int{
		"limit=50&selector=" + sel.Padded() + "&cursor=" + cursor:      200, // the same search, spelt otherwise
		"topic0=0x1&cursor=" + cursor:                                  400,
		"order=asc&topic0=" + sel.String() + "&cursor=" + cursor:       400,
		"to_block=50&topic0=" + sel.String() + "&cursor=" + cursor:     400,
		"topic0=" + sel.String() + "&cursor=" + cursor[:len(cursor)-2]: 400,
	} {
		if r := ask(query); r.StatusCode != status {
			t.Errorf("%s: %d, want %d: %s", query, r.StatusCode, status, r.Body)
		}
	}
	w.Chain.Extend(2)
	w.CatchUp()
	if r := ask("topic0=" + sel.String() + "&cursor=" + cursor); r.StatusCode != 200 {
		t.Errorf("after new blocks: %d %s", r.StatusCode, r.Body)
	}
	w.Chain.Fork(30)
	w.Chain.Extend(1)
	w.CatchUp()
	if r := ask("topic0=" + sel.String() + "&cursor=" + cursor); r.StatusCode != 400 || !strings.Contains(string(r.Body), "invalid_cursor") {
		t.Errorf("after a fork below: %d %s", r.StatusCode, r.Body)
	}
}

// TestEventSearchWithAllItsValues: the limits hold for felts written in full, not
// only for short ones.
func TestEventSearchWithAllItsValues(t *testing.T) {
	w := sharedWorld(t, 30)
	var b strings.Builder
	add := func(name string, n int) {
		for i := range n {
			fmt.Fprintf(&b, "&%s=0x%064x", name, felt.FromUint64(uint64(i+1)))
		}
	}
	add("topic0", 2)
	add("topic10", 128)
	add("topic11", 126)
	add("contractAddress", 128)
	query := "/v1/" + chainID + "/events?from_block=9223372036854775000&to_block=9223372036854775807&order=desc&limit=100" + b.String()
	if r := w.Do(http.MethodGet, query, w.Key); r.StatusCode != http.StatusOK {
		t.Errorf("%d values in %d bytes: %d %.200s", 256+128, len(query), r.StatusCode, r.Body)
	}
}
