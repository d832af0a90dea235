package api_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/registry"
	"chainexplorer/internal/servertest"
)

// slowWorld is a chain of some days, with a block every so often, whose pool is lively and
// charges a fee.
func slowWorld(t *testing.T, n int) *oracle {
	t.Helper()
	return &oracle{world: &world{servertest.NewLively(t, n, 17*time.Minute, 50, 2)}, checks: map[string]int{}}
}

// privacy compares all routes of the pool with the chain.
func (o *oracle) privacy() {
	o.T.Helper()
	o.poolTvl()
	o.poolHours()
	o.poolStatus()
	o.poolBuckets()
	o.poolSeries()
	o.poolAnalytics()
	o.poolDashboard()
	o.privacyEvents()
	o.privacyCommitments()
	o.privacyNullifiers()
}

// TestPrivacyPoolTruthOverDays compares every route of the pool over days, while blocks
// arrive and forks replace some, also below the finalized tier.
func TestPrivacyPoolTruthOverDays(t *testing.T) {
	skipRaced(t)
	o := slowWorld(t, 150)
	o.privacy()
	if n := len(o.wantHours()); n < 24 {
		t.Fatalf("only %d hours are over", n)
	}
	for _, step := range []func(){
		func() { o.Chain.Extend(13); o.CatchUp() },
		func() { o.fork(4) },
		func() { o.Clock.Advance(time.Minute); o.fork(depth + 40) },
		func() { o.Chain.Extend(60); o.CatchUp() },
	} {
		step()
		o.privacy()
	}
	if fees := o.wantSeries(o.ledgerEvents(o.poolThrough()), "all", "day", 3660, felt.Zero)["privacyFeeSeries"].([]object); len(fees) == 0 {
		t.Error("no fee was paid")
	}
	paid, times := 0, map[any]bool{}
	for _, row := range o.wantPoolEvents() {
		if fees := row["privacyFees"].([]object); len(fees) > 0 {
			paid++
			times[fees[0]["feeAmountConfigBlockNumber"]] = true
		}
	}
	if paid < 100 || len(times) < 2 {
		t.Errorf("%d events of transactions that paid a fee, which was set %d times", paid, len(times))
	}
}

const somePoints = "/v1/" + chainID + "/privacy-pool/tvl/series?from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z"

// TestHoursTakeExactRanges: what is no exact hour of UTC is refused, and a cursor works
// in its range alone.
func TestHoursTakeExactRanges(t *testing.T) {
	o := slowWorld(t, 60)
	path := "/v1/" + chainID + "/privacy-pool/tvl/series"
	ask := func(query string) reply { return o.Do(http.MethodGet, path+"?"+query, o.Key) }
	const good = "2026-01-01T03:00:00Z"
	for _, query := range []string{"", "from=" + good, "to=" + good, "from=" + good + "&to=2026-01-01T02:00:00Z", "from=" + good + "&to=" + good + "&granularity=day",
		"from=" + good + "&to=" + good + "&granularity="} {
		servertest.Expect(t, ask(query), 400, kernel.CodeInvalidRequest, nil)
	}
	for _, bad := range []string{"2026-01-01T03:00:01Z", "2026-01-01T03:30:00Z", "2026-01-01T03:00:00.5Z", "2026-01-01T04:00:00%2B01:00", "2026-01-01", "2026-01-01T03:00:00", "1767236400",
		"2026-01-01%2003:00:00Z", "1969-12-31T23:00:00Z", "soon", "2026-13-01T00:00:00Z"} {
		servertest.Expect(t, ask("from="+bad+"&to="+good), 400, kernel.CodeInvalidRequest, nil)
		servertest.Expect(t, ask("from=2026-01-01T00:00:00Z&to="+bad), 400, kernel.CodeInvalidRequest, nil)
	}
	for _, same := range []string{good, "2026-01-01t03:00:00z", "2026-01-01T03:00:00.000Z", "2026-01-01T03:00:00%2B00:00"} {
		r := ask("from=" + same + "&to=" + same)
		if servertest.Expect(t, r, 200, "", nil); !strings.Contains(string(r.Body), `"from":"`+good+`","to":"`+good+`"`) {
			t.Errorf("%s: %s", same, r.Body)
		}
	}
	var first page
	for limit, want := range map[string]int{"0": 1, "-3": 1, "25": 24, "2": 2} {
		r := ask("from=2026-01-01T00:00:00Z&to=2026-01-03T00:00:00Z&limit=" + limit)
		if err := json.Unmarshal(r.Body, &first); err != nil || len(first.Items) > want || want < 24 && len(first.Items) != want {
			t.Errorf("limit %s: %d items", limit, len(first.Items))
		}
	}
	if r := ask("from=2026-01-01T00:00:00Z&to=2026-01-03T00:00:00Z&limit=2"); json.Unmarshal(r.Body, &first) != nil || first.NextCursor == nil {
		t.Fatalf("%s", r.Body)
	}
	cursor := "&cursor=" + url.QueryEscape(*first.NextCursor)
	servertest.Expect(t, ask("from=2026-01-01T00:00:00.0Z&to=2026-01-03T00:00:00Z&limit=7"+cursor), 200, "", nil) // the same range
	for _, query := range []string{"from=2026-01-01T01:00:00Z&to=2026-01-03T00:00:00Z", "from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z"} {
		servertest.Expect(t, ask(query+cursor), 400, kernel.CodeInvalidCursor, nil)
	}
	// The walk ends when a fork takes away what its first page held.
	o.fork(depth + 30)
	servertest.Expect(t, ask("from=2026-01-01T00:00:00Z&to=2026-01-03T00:00:00Z"+cursor), 400, kernel.CodeInvalidCursor, nil)
}

// TestSeriesParameters: only what the contract lists is taken.
func TestSeriesParameters(t *testing.T) {
	w := sharedWorld(t, 30)
	for _, query := range []string{"range=1y", "range=90d", "range=", "granularity=minute", "granularity=month", "token=seven", "token=0x" + strings.Repeat("f", 64), "range=7d&range=30d", "limit=3"} {
		servertest.Expect(t, w.Do(http.MethodGet, "/v1/"+chainID+"/privacy-pool/metrics/series?"+query, w.Key), 400, kernel.CodeInvalidRequest, nil)
	}
	for _, route := range []string{"tvl", "status", "analytics", "dashboard"} {
		servertest.Expect(t, w.Do(http.MethodGet, "/v1/"+chainID+"/privacy-pool/"+route+"?limit=3", w.Key), 400, kernel.CodeInvalidRequest, map[string]string{"X-Service-Route-Stability": "beta"})
	}
}

// TestPointsAreConditional: pages and the snapshot have the validators and the dates
// that the contract says.
func TestPointsAreConditional(t *testing.T) {
	o := slowWorld(t, 60)
	now := func() string { return o.Clock.Now().UTC().Format(http.TimeFormat) }
	made := now()
	o.Clock.Advance(time.Hour)
	get := func(path string, headers ...string) reply { return o.Do(http.MethodGet, path, o.Key, headers...) }
	const tvl = "/v1/" + chainID + "/privacy-pool/tvl"
	current := get(tvl)
	if text := `"materializedAt":"` + o.Clock.Now().Add(-time.Hour).UTC().Format(time.RFC3339) + `"`; !strings.Contains(string(current.Body), text) {
		t.Errorf("no %s in %s", text, current.Body)
	}
	servertest.Expect(t, current, 200, "", map[string]string{"Last-Modified": now(), "Server-Timing": "pp_tvl_cache_miss", "X-Service-Route-Stability": "beta"})
	o.Clock.Advance(20 * time.Second)
	for _, headers := range [][]string{{"If-None-Match", current.Header.Get("ETag")}, {"If-Modified-Since", current.Header.Get("Last-Modified")}} {
		servertest.Expect(t, get(tvl, headers...), 304, "", map[string]string{"Etag": current.Header.Get("ETag"), "Last-Modified": current.Header.Get("Last-Modified"), "Server-Timing": "pp_tvl_cache_hit"})
	}
	page := get(somePoints)
	servertest.Expect(t, page, 200, "", map[string]string{"Last-Modified": made, "X-Service-Route-Stability": "beta"})
	if tag := page.Header.Get("ETag"); !strings.HasPrefix(tag, `W/"`) || len(tag) != 68 {
		t.Errorf("ETag %s", tag)
	}
	same := []string{"If-Modified-Since", made}
	servertest.Expect(t, get(somePoints, same...), 304, "", nil)
	empty := get("/v1/" + chainID + "/privacy-pool/tvl/series?from=2031-01-01T00:00:00Z&to=2031-01-02T00:00:00Z")
	servertest.Expect(t, empty, 200, "", map[string]string{"Last-Modified": "Thu, 01 Jan 1970 00:00:00 GMT"})

	// More points: the page is another.
	o.Chain.Extend(20)
	o.CatchUp()
	o.Clock.Advance(time.Minute)
	servertest.Expect(t, get(tvl, "If-None-Match", current.Header.Get("ETag")), 200, "", map[string]string{"Server-Timing": "pp_tvl_cache_miss"})
	servertest.Expect(t, get(tvl, "If-Modified-Since", current.Header.Get("Last-Modified")), 200, "", nil)
	grown := get(somePoints, same...)
	servertest.Expect(t, grown, 200, "", nil)
	// A fork takes some away: whoever goes by dates alone is not told to keep them.
	o.Chain.Fork(depth + 45)
	o.Chain.Extend(1)
	o.IndexInto(o.Engine) // the ledger is not made anew yet
	revoked := get(somePoints, "If-Modified-Since", grown.Header.Get("Last-Modified"))
	if servertest.Expect(t, revoked, 200, "", map[string]string{"Last-Modified": "Thu, 01 Jan 1970 00:00:00 GMT"}); !strings.Contains(string(revoked.Body), `"items":[]`) {
		t.Errorf("%s", revoked.Body)
	}
	if r := get(tvl); !strings.Contains(string(r.Body), `"status":"unavailable"`) {
		t.Errorf("%s", r.Body)
	}
	o.Clock.Advance(time.Minute)
	o.CatchUp()
	o.Clock.Advance(time.Minute)
	servertest.Expect(t, get(somePoints, "If-Modified-Since", grown.Header.Get("Last-Modified")), 200, "", nil)
	o.poolHours()
}

// TestNoLedger: where there is none, nothing is claimed, and nothing is zero.
func TestNoLedger(t *testing.T) {
	w := newWorld(t, 30)
	other, err := w.Known.With(chainID, registry.Entries{PrivacyPools: []registry.PrivacyPool{{Address: felt.FromUint64(77), Name: "Another", FeeToken: felt.FromUint64(78),
		Classes: []registry.PoolClass{{Hash: felt.FromUint64(79), Generation: registry.PoolV1}}}}})
	if err != nil {
		t.Fatal(err)
	}
	none, err := registry.New(registry.Entries{})
	if err != nil {
		t.Fatal(err)
	}
	for _, known := range []*registry.Chain{other.Chain(chainID), none} {
		setRegistry(w.Routes, known)
		for route, want := range map[string][]string{
			"tvl": {`"status":"unavailable"`, `"reasonCode":"no_finalized_flow_snapshot"`, `"blockNumber":null`, `"missingAmountEventCount":null`, `"decodedMaterializationFresh":null`, `"assets":[]`,
				`"asOfL1Accepted":null`, `"totalUsd":null`},
			"status":         {`"status":"unavailable"`, `"totalEvents":null`, `"depositCount":null`, `"noteState":null`, `"materializationFresh":null`},
			"analytics":      {`"status":"unavailable"`, `"totalEvents":null`, `"unknownTokenCount":null`, `"tokenFlows":[]`},
			"metric-buckets": {`"status":"unavailable"`, `"items":[]`},
			"metrics/series": {`"status":"unavailable"`, `"walletSeries":[]`},
			"dashboard":      {`"status":"unavailable"`},
			"tvl/series?from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z": {`"items":[]`, `"nextCursor":null`},
		} {
			r := w.Do(http.MethodGet, "/v1/"+chainID+"/privacy-pool/"+route, w.Key)
			servertest.Expect(t, r, 200, "", map[string]string{"X-Service-Route-Stability": "beta"})
			for _, text := range want {
				if !strings.Contains(string(r.Body), text) {
					t.Errorf("%s: no %s in %s", route, text, r.Body)
				}
			}
		}
	}
}

// poolSnapshot is what the tests below read of a snapshot.
type poolSnapshot struct {
	Status   string
	Coverage struct {
		Status, ReasonCode          string
		DecodedMaterializationFresh *bool
		DecodedEventLagBlocks       *uint64
		MissingAmountEventCount     *uint64
	}
	Assets []struct{ Status, ReasonCode string }
}

func (w *world) poolSnapshot() (s poolSnapshot) {
	w.T.Helper()
	w.Get("/privacy-pool/tvl", &s)
	return s
}

// TestStaleSnapshot: a snapshot of an index that nobody vouches for, or of a ledger that
// is behind, is not to be published.
func TestStaleSnapshot(t *testing.T) {
	heard, head := time.Time{}, uint64(29)
	w := newWorld(t, 30, func(o *options) {
		heard = o.Now()
		o.Chains[0].Heard = func() chain.Seen { return servertest.Hears(func() time.Time { return heard }, head)() }
	})
	want := func(reason string, fresh *bool, lag uint64) {
		t.Helper()
		s := w.poolSnapshot()
		c := &s.Coverage
		status := "degraded"
		if fresh != nil && *fresh {
			status = "complete"
		}
		if s.Status != status || c.Status != status || c.ReasonCode != reason || (c.DecodedMaterializationFresh == nil) != (fresh == nil) ||
			fresh != nil && *fresh != *c.DecodedMaterializationFresh || c.DecodedEventLagBlocks == nil || *c.DecodedEventLagBlocks != lag {
			t.Errorf("%+v, want %s", s, reason)
		}
	}
	yes, no := true, false
	want("finalized_public_flow_ledger", &yes, 0)
	w.Clock.Advance(2 * time.Minute)
	want("materialization_freshness_unavailable", nil, 0)
	heard, head = w.Clock.Now(), 29+21
	want("decoded_materialization_lag", &no, 0)
	// The index goes on, and the ledger does not.
	w.Chain.Extend(70)
	w.IndexInto(w.Engine)
	head = 99
	want("decoded_materialization_lag", &no, 70)
	w.RunJobs()
	want("finalized_public_flow_ledger", &yes, 0)
}

// TestUnknownClassOfThePool: from a class on that nobody knows, nothing is complete; it
// heals when the operator names the class.
func TestUnknownClassOfThePool(t *testing.T) {
	o := slowWorld(t, 60)
	whole := o.Known
	entries := o.Chain.Network().Registry()
	pool := &entries.PrivacyPools[0]
	pool.Classes = pool.Classes[:1]
	var err error
	if o.Known, err = registry.Builtin().With(chainID, entries); err != nil {
		t.Fatal(err)
	}
	setRegistry(o.Routes, o.Known.Chain(chainID))
	o.RunJobs()
	s := o.poolSnapshot()
	if s.Status != "degraded" || s.Coverage.ReasonCode != "incomplete_finalized_flow_ledger" || len(s.Assets) == 0 || s.Assets[0].Status != "degraded" || s.Assets[0].ReasonCode != "amount_decode_incomplete" {
		t.Errorf("%+v", s)
	}
	var status struct {
		Status                 string
		Reasons                []struct{ Code, FirstCursor string }
		UnknownClassEventCount uint64
		Pools                  []struct {
			ClassKnown  *bool
			PoolVersion *string
		}
	}
	o.Get("/privacy-pool/status", &status)
	if status.Status != "degraded" || len(status.Reasons) == 0 || status.Reasons[0].Code != "unknown_pool_class" || status.UnknownClassEventCount == 0 ||
		status.Pools[0].ClassKnown == nil || *status.Pools[0].ClassKnown || status.Pools[0].PoolVersion != nil {
		t.Errorf("%+v", status)
	}
	var hours struct {
		Items []struct{ Status, ReasonCode string }
	}
	o.Get("/privacy-pool/tvl/series?from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z", &hours)
	counts := map[string]int{}
	for _, h := range hours.Items {
		counts[h.Status+" "+h.ReasonCode]++
	}
	if counts["complete finalized_public_flow_ledger"] == 0 || counts["degraded incomplete_finalized_flow_ledger"] == 0 || len(counts) != 2 {
		t.Errorf("%v", counts)
	}
	o.Known = whole
	setRegistry(o.Routes, whole.Chain(chainID))
	o.RunJobs()
	o.privacy()
}
