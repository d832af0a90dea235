package api_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/registry"
	"chainexplorer/internal/servertest"
	"chainexplorer/internal/simnode/contracts"
)

var (
	_ = tested(routeTest{operation: "listPrivacyPoolEvents", evidence: eventList, truth: (*oracle).privacyEvents,
		golden: func(*world) map[string]string {
			return map[string]string{"page": "/privacy-pool/events?limit=3", "deposits": "/privacy-pool/events?event=deposit&limit=2", "withdrawals": "/privacy-pool/events?event=withdrawal&limit=1"}
		}})
	_ = tested(routeTest{operation: "listPrivacyPoolCommitments", evidence: eventList, truth: (*oracle).privacyCommitments,
		golden: func(w *world) map[string]string {
			return map[string]string{"page": "/privacy-pool/commitments?limit=2", "unknown-pool": "/privacy-pool/commitments?pool=0x00ABC"}
		}})
	_ = tested(routeTest{operation: "listPrivacyPoolNullifiers", evidence: eventList, truth: (*oracle).privacyNullifiers,
		golden: func(w *world) map[string]string {
			return map[string]string{"page": "/privacy-pool/nullifiers?limit=2&pool=" + w.Chain.Pool().Padded()}
		}})
)

// privacyEvents compares the events of the pool with the chain: all of them, and
// those of every name.
func (o *oracle) privacyEvents() {
	o.T.Helper()
	byName := map[string][]object{}
	all := o.wantPoolEvents()
	for _, row := range all {
		name := row["eventName"].(string)
		byName[name] = append(byName[name], row)
	}
	if len(byName) < 6 {
		o.T.Fatalf("the pool does too little: %d kinds of events", len(byName))
	}
	for _, limit := range []int{7, 100} {
		o.sameList("events of pools", all, o.pages("listPrivacyPoolEvents", "privacy-pool/events", limit, nil))
	}
	for name, rows := range byName {
		o.sameList(name, rows, o.pages("listPrivacyPoolEvents", "privacy-pool/events?event="+name, 11, nil))
	}
	o.same("listPrivacyPoolEvents", chainID+"/privacy-pool/events?event=upgrade_agent_removed", object{"items": []object{}, "nextCursor": nil})
}

// wantPoolEvents are all events of the pool, newest first.
func (o *oracle) wantPoolEvents() []object {
	o.T.Helper()
	events := o.poolEvents()
	out := make([]object, 0, len(events))
	for i := len(events) - 1; i >= 0; i-- {
		out = append(out, o.wantPoolEvent(&events[i]))
	}
	return out
}

func (o *oracle) privacyCommitments() {
	o.T.Helper()
	o.privacyFacts("listPrivacyPoolCommitments", "privacy-pool/commitments", o.wantCommitments(o.poolEvents()))
}

func (o *oracle) privacyNullifiers() {
	o.T.Helper()
	o.privacyFacts("listPrivacyPoolNullifiers", "privacy-pool/nullifiers", o.wantNullifiers(o.poolEvents()))
}

func (o *oracle) privacyFacts(op, path string, want []object) {
	o.T.Helper()
	if len(want) < 3 {
		o.T.Fatalf("%s: the pool does too little", path)
	}
	for _, limit := range []int{3, 100} {
		o.sameList(path, want, o.pages(op, path, limit, nil))
	}
	o.sameList(path, want, o.pages(op, path+"?pool=0X"+strings.ToUpper(o.Chain.Pool().Padded()[2:]), 50, nil))
}

// TestPrivacyPoolRequests: what is refused, and how.
func TestPrivacyPoolRequests(t *testing.T) {
	w := newWorld(t, 180)
	base := "/v1/" + chainID + "/privacy-pool/"
	pool := w.Chain.Pool().Padded()
	for path, want := range map[string]struct {
		status int
		code   kernel.Code
	}{
		"events?event=burn":                            {400, kernel.CodeInvalidRequest},
		"events?event=Deposit":                         {400, kernel.CodeInvalidRequest},
		"events?event=protocol_event":                  {400, kernel.CodeInvalidRequest}, // no selector tells it
		"events?event=deposit,withdrawal":              {400, kernel.CodeInvalidRequest},
		"events?pool=" + pool:                          {400, kernel.CodeInvalidRequest}, // event is the only filter
		"events?limit=x":                               {400, kernel.CodeInvalidRequest},
		"events?cursor=12:0:1":                         {400, kernel.CodeInvalidCursor},
		"commitments?event=deposit":                    {400, kernel.CodeInvalidRequest},
		"commitments?pool=pool":                        {400, kernel.CodeInvalidRequest},
		"nullifiers?pool=0x" + strings.Repeat("f", 64): {400, kernel.CodeInvalidRequest},
		"nullifiers?cursor=abc&pool=0x1":               {400, kernel.CodeInvalidCursor},
		"merkle-roots":                                 {404, kernel.CodeUnsupportedRoute},
	} {
		r := w.Do(http.MethodGet, base+path, w.Key)
		servertest.Expect(t, r, want.status, want.code, nil)
		if want.status == 400 && r.Header.Get("X-Service-Route-Stability") != "beta" {
			t.Errorf("%s: stability %q", path, r.Header.Get("X-Service-Route-Stability"))
		}
	}
	// A limit out of range is clamped, as on other lists.
	for path, most := range map[string]int{"events?limit=0": 1, "events?limit=-7": 1, "events?limit=100000": 100, "events": 25, "commitments?limit=0": 1, "nullifiers?limit=0": 1} {
		var p page
		r := w.Do(http.MethodGet, base+path, w.Key)
		if err := json.Unmarshal(r.Body, &p); err != nil || len(p.Items) != most || p.NextCursor == nil || r.Header.Get("X-Service-Route-Stability") != "beta" {
			t.Errorf("%s: %d with %d items", path, r.StatusCode, len(p.Items))
		}
	}
	// A pool that nobody configured has no rows.
	for _, path := range []string{"commitments?pool=0x1234", "nullifiers?pool=" + contracts.STRK.String()} {
		if r := w.Do(http.MethodGet, base+path, w.Key); r.StatusCode != http.StatusOK || strings.TrimSpace(string(r.Body)) != `{"items":[],"nextCursor":null}` {
			t.Errorf("%s: %d %s", path, r.StatusCode, r.Body)
		}
	}
	servertest.Expect(t, w.Do(http.MethodGet, base+"events", ""), 401, kernel.CodeUnauthorized, nil)
}

// TestPrivacyPoolCursors: a cursor is good for its list and filter alone, and ends
// with the block that it stands in.
func TestPrivacyPoolCursors(t *testing.T) {
	w := newWorld(t, 60)
	base := "/v1/" + chainID + "/privacy-pool/"
	pool := "?pool=" + w.Chain.Pool().Padded()
	lists := []string{"events?", "events?event=deposit", "events?event=note_used", "commitments?", "commitments" + pool, "nullifiers?", "nullifiers" + pool}
	cursors := make([]string, len(lists))
	for i, path := range lists {
		var p page
		if r := w.Do(http.MethodGet, base+path+"&limit=1", w.Key); json.Unmarshal(r.Body, &p) != nil || p.NextCursor == nil {
			t.Fatalf("%s: %s", path, r.Body)
		}
		cursors[i] = url.QueryEscape(*p.NextCursor)
	}
	for i, path := range lists {
		for j, cursor := range cursors {
			status, code := http.StatusOK, kernel.Code("")
			if i != j {
				status, code = http.StatusBadRequest, kernel.CodeInvalidCursor
			}
			servertest.Expect(t, w.Do(http.MethodGet, base+path+"&cursor="+cursor, w.Key), status, code, nil)
		}
	}
	w.Chain.Fork(50)
	w.Chain.Extend(1)
	w.CatchUp()
	for i, path := range lists {
		servertest.Expect(t, w.Do(http.MethodGet, base+path+"&cursor="+cursors[i], w.Key), http.StatusBadRequest, kernel.CodeInvalidCursor, nil)
	}
}

// TestPrivacyPoolUnknownClass: what a class that the registry does not know emitted
// keeps its name and its evidence, and says no more, until the operator adds the class.
func TestPrivacyPoolUnknownClass(t *testing.T) {
	w := newWorld(t, 60)
	o := &oracle{world: w, checks: map[string]int{}}
	seen := map[felt.Felt]int{}
	for _, e := range o.poolEvents() {
		seen[e.class]++
	}
	classes := contracts.Classes()
	if seen[classes.PoolV1.Hash] < 10 || seen[classes.PoolV2.Hash]+seen[classes.PoolV21.Hash] < 10 {
		t.Fatalf("the pool was not upgraded in the middle: %v", seen)
	}
	know := func() {
		setRegistry(w.Routes, w.Registry)
		w.Chain.Extend(1) // answers are kept until the next block: a process has one registry
		w.CatchUp()
	}
	entry := registry.PrivacyPool{Address: w.Chain.Pool(), Name: "Pool", FeeToken: contracts.STRK}
	for _, known := range [][]registry.PoolClass{
		{{Hash: classes.PoolV1.Hash, Generation: registry.PoolV1}},
		{{Hash: classes.PoolV2.Hash, Generation: registry.PoolV2}, {Hash: classes.PoolV21.Hash, Generation: registry.PoolV21}},
		{{Hash: felt.FromUint64(1), Generation: registry.PoolV1}},
	} {
		entry.Classes = known
		fewer, err := w.Known.With(chainID, registry.Entries{PrivacyPools: []registry.PrivacyPool{entry}})
		if err != nil {
			t.Fatal(err)
		}
		w.Registry = fewer.Chain(chainID)
		know()
		o.privacyCommitments()
		o.privacyNullifiers()
		o.unknownClassEvents()
	}
	w.Registry = w.Known.Chain(chainID)
	know()
	o.privacyEvents()
	o.privacyCommitments()
	o.privacyNullifiers()
	// Without any pool the lists are empty.
	none, err := registry.New(registry.Entries{})
	if err != nil {
		t.Fatal(err)
	}
	w.Registry = none
	know()
	for _, path := range []string{"events", "commitments", "nullifiers"} {
		if r := w.Do(http.MethodGet, "/v1/"+chainID+"/privacy-pool/"+path, w.Key); r.StatusCode != http.StatusOK || strings.TrimSpace(string(r.Body)) != `{"items":[],"nextCursor":null}` {
			t.Errorf("%s: %d %s", path, r.StatusCode, r.Body)
		}
	}
}

// unknownClassEvents compares events where fees are not known from the place on where
// a setting was made by a class that is not.
func (o *oracle) unknownClassEvents() {
	o.T.Helper()
	want := []object{}
	strange := false
	for _, e := range o.poolEvents() {
		row := o.wantPoolEvent(&e)
		if s := e.Event.Keys[0]; s == contracts.SelFeeAmountSet || s == contracts.SelFeeCollectorSet {
			strange = strange || !o.readable(&e)
		}
		if strange {
			row["privacyFees"] = anything
		}
		want = append([]object{row}, want...)
	}
	o.sameList("events of an unknown class", want, o.pages("listPrivacyPoolEvents", "privacy-pool/events", 100, nil))
}
