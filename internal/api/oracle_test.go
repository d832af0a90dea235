package api_test

import (
	"bytes"
	"chainexplorer/internal/kernel"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// oracle compares answers with the simulated chain and counts what it compared.
type oracle struct {
	*world
	checks map[string]int // by operation
	asked  int

	orphans []orphan
	belowL1 bool // the last fork undid what L1 had accepted

	through throughClient // nil for plain requests
}

// ask makes a request, plain or through a client.
func (o *oracle) ask(op, path string) reply {
	o.T.Helper()
	if o.through != nil {
		return o.through.call(o.T, op, path)
	}
	return o.Do(http.MethodGet, "/v1/"+path, o.Key)
}

// same compares one answer in full.
func (o *oracle) same(op, path string, want any) reply {
	o.T.Helper()
	r := o.ask(op, path)
	if r.StatusCode != http.StatusOK {
		o.T.Fatalf("GET %s: %d %s", path, r.StatusCode, r.Body)
	}
	if d := difference(want, r.Body); d != "" {
		o.T.Fatalf("GET %s: %s\n%s", path, d, r.Body)
	}
	o.checked(op, path, r)
	return r
}

// missing asks for what does not exist.
func (o *oracle) missing(op, path string) {
	o.T.Helper()
	r := o.ask(op, path)
	if r.StatusCode != http.StatusNotFound || r.Envelope().Code != kernel.CodeNotFound {
		o.T.Fatalf("GET %s: %d %s", path, r.StatusCode, r.Body)
	}
	o.checked(op, path, r)
}

// checked counts, and now and then asks the twin under /api/v1, which must give the same.
func (o *oracle) checked(op, path string, r reply) {
	o.T.Helper()
	if got := o.Contract.Of(http.MethodGet, "/v1/"+strings.SplitN(path, "?", 2)[0]); got == nil || got.ID != op {
		o.T.Fatalf("GET %s is not %s", path, op)
	}
	o.checks[op]++
	if o.asked++; o.asked%5 != 0 || r.StatusCode != http.StatusOK || o.through != nil {
		return
	}
	twin := o.Do(http.MethodGet, "/api/v1/"+path, o.Key)
	if twin.StatusCode != r.StatusCode || !bytes.Equal(twin.Body, r.Body) || twin.Header.Get("ETag") != r.Header.Get("ETag") {
		o.T.Fatalf("GET /api/v1/%s: %d %s, want %s", path, twin.StatusCode, twin.Body, r.Body)
	}
}

// page is any page.
type page struct {
	Items      []json.RawMessage `json:"items"`
	NextCursor *string           `json:"nextCursor"`
}

func (o *oracle) page(op, path string, limit int, cursor *string) page {
	o.T.Helper()
	join := "?"
	if strings.Contains(path, "?") {
		join = "&"
	}
	path = fmt.Sprintf("%s/%s%slimit=%d", chainID, path, join, limit)
	if cursor != nil {
		path += "&cursor=" + url.QueryEscape(*cursor)
	}
	r := o.ask(op, path)
	var p page
	if err := json.Unmarshal(r.Body, &p); err != nil || r.StatusCode != http.StatusOK {
		o.T.Fatalf("GET %s: %d %s", path, r.StatusCode, r.Body)
	}
	if len(p.Items) > limit {
		o.T.Fatalf("GET %s: %d items", path, len(p.Items))
	}
	o.checked(op, path, r)
	return p
}

// pages walks a list to its end; between runs after every page but the last.
func (o *oracle) pages(op, path string, limit int, between func(n int)) []json.RawMessage {
	o.T.Helper()
	if o.through != nil && between == nil {
		return o.walk(op, path, limit)
	}
	var out []json.RawMessage
	p := o.page(op, path, limit, nil)
	for n := 1; ; n++ {
		out = append(out, p.Items...)
		if p.NextCursor == nil {
			return out
		}
		if n > 10_000 {
			o.T.Fatalf("%s: no end", path)
		}
		if between != nil {
			between(n)
		}
		p = o.page(op, path, limit, p.NextCursor)
	}
}

func (o *oracle) sameList(what string, want []object, got []json.RawMessage) {
	o.T.Helper()
	text, err := json.Marshal(got)
	if err != nil {
		o.T.Fatal(err)
	}
	if got == nil {
		text = []byte("[]")
	}
	if d := difference(want, text); d != "" {
		o.T.Fatalf("%s: %s", what, d)
	}
}

// sameRows leaves out the finality, which rises while somebody turns pages.
func (o *oracle) sameRows(what string, want []object, got []json.RawMessage) {
	o.T.Helper()
	for _, row := range want {
		delete(row, "finalityStatus")
	}
	stripped := []json.RawMessage{}
	for _, text := range got {
		row := map[string]json.RawMessage{}
		if err := json.Unmarshal(text, &row); err != nil {
			o.T.Fatal(err)
		}
		delete(row, "finalityStatus")
		text, err := json.Marshal(row)
		if err != nil {
			o.T.Fatal(err)
		}
		stripped = append(stripped, text)
	}
	o.sameList(what, want, stripped)
}
