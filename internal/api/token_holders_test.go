package api_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"net/url"
	"testing"
	"time"

	"chainexplorer/internal/api"
	"chainexplorer/internal/explorer/transfer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/registry"
	"chainexplorer/internal/servertest"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/simnode/contracts"
)

// holders compares the census of every known token with the holders that the
// chain knows at the block of the generation.
func (o *oracle) holders(head uint64) {
	o.T.Helper()
	defer o.as(o.Partner)()
	o.Clock.Advance(3 * time.Hour) // long enough for a new generation
	o.RunJobs()
	counted := 0
	for _, token := range o.Known.Chain(chainID).Tokens() {
		path := chainID + "/token/" + token.Address.String() + "/holders"
		if o.Chain.SupplyAt(token.Address, head).Sign() == 0 {
			continue
		}
		counted++
		page, items := o.walkHolders(path, 1+int(head)%9)
		at := page.Snapshot.AsOfBlock
		if at != head-depth || page.Snapshot.AsOfBlockHash != o.Chain.BlockAt(at).Hash || page.Snapshot.LagBlocks != depth {
			// A generation of a token that has not moved since stays.
			if last := o.lastTransfers(token.Address, head); at > head-depth || len(last) == 0 || newest(last) > at {
				o.T.Fatalf("%s is as of block %d, the head is %d", path, at, head)
			}
		}
		o.sameHolders(path, token.Address, page, items)
		o.checked("listTokenHolders", path, o.Do(http.MethodGet, "/v1/"+path, o.Key))
		o.screening(path, items)
		o.analytics(path, page, items)
	}
	if counted < 4 {
		o.T.Fatalf("%d tokens were counted", counted)
	}
	o.missing("listTokenHolders", chainID+"/token/0x1234/holders")
}

// walkHolders reads all pages of a generation.
func (w *world) walkHolders(path string, limit int) (first api.HolderPage, items []api.HolderItem) {
	w.T.Helper()
	next := ""
	for n := 0; ; n++ {
		r := w.Do(http.MethodGet, fmt.Sprintf("/v1/%s?limit=%d%s", path, limit, next), w.Partner)
		var page api.HolderPage
		if err := json.Unmarshal(r.Body, &page); err != nil || r.StatusCode != http.StatusOK || len(page.Items) > limit {
			w.T.Fatalf("GET %s: %d %s", path, r.StatusCode, r.Body)
		}
		if n == 0 {
			first = page
		} else if page.Snapshot != first.Snapshot || page.HolderCount != first.HolderCount {
			w.T.Fatalf("GET %s: the generation changed between pages: %+v, %+v", path, page.Snapshot, first.Snapshot)
		}
		items = append(items, page.Items...)
		if page.NextCursor == nil {
			return first, items
		}
		next = "&cursor=" + url.QueryEscape(*page.NextCursor)
	}
}

func newest(last map[felt.Felt]uint64) (n uint64) {
	for _, b := range last {
		n = max(n, b)
	}
	return n
}

// lastTransfers is the newest block up to one in which each address took part.
func (o *oracle) lastTransfers(token felt.Felt, n uint64) map[felt.Felt]uint64 {
	out := map[felt.Felt]uint64{}
	for _, ref := range o.Chain.Events(simnode.EventFilter{To: n, Addresses: []felt.Felt{token}, Keys: [][]felt.Felt{{contracts.SelTransfer}}}) {
		list, _ := transfer.Decode(ref.Event)
		for _, t := range list {
			out[t.From], out[t.To] = ref.Block.Number, ref.Block.Number
		}
	}
	return out
}

func (o *oracle) sameHolders(path string, token felt.Felt, page api.HolderPage, items []api.HolderItem) {
	o.T.Helper()
	at := page.Snapshot.AsOfBlock
	want := o.Chain.Holders(token, at)
	last := o.lastTransfers(token, at)
	supply := o.Chain.SupplyAt(token, at).String()
	if len(items) != len(want) || page.HolderCount != uint64(len(want)) || *page.HolderBalanceTotalRaw != supply {
		o.T.Fatalf("GET %s: %d rows of %d holders, want %d; total %s, want %s", path, len(items), page.HolderCount, len(want), *page.HolderBalanceTotalRaw, supply)
	}
	digest := sha256.New()
	for i, h := range want {
		got := items[i]
		block := last[h.Address]
		if got.Rank != uint64(i+1) || got.Address != h.Address || got.BalanceRaw != h.Balance.String() || got.LastUpdatedBlock != block ||
			*got.LastUpdatedTimestampISO != iso(o.Chain.BlockAt(block).Timestamp) {
			o.T.Fatalf("GET %s: row %d is %+v, want %s %s since %d", path, i, got, h.Address, h.Balance, block)
		}
		fmt.Fprintf(digest, "%d,%s,%s,%d\n", got.Rank, got.Address, got.BalanceRaw, got.LastUpdatedBlock) //nolint:errcheck // a hash never fails
	}
	if sum := hex.EncodeToString(digest.Sum(nil)); sum != page.Snapshot.RowDigest {
		o.T.Fatalf("GET %s: digest %s, the rows have %s", path, page.Snapshot.RowDigest, sum)
	}
	c := page.Certification
	if c.Status != "certified" || c.ValidatedAgainst == nil || *c.ValidatedAgainst != "starknet_rpc_balanceOf" || c.CheckedAt == nil || c.ReasonCode != "materialized_snapshot" ||
		*c.TotalSupplyRaw != supply || c.SampledBalances != uint64(min(40, len(want))) {
		o.T.Fatalf("GET %s: %+v", path, c)
	}
	if m := page.Completeness; m != (api.HolderCompleteness{PopulationComplete: true, PopulationReasonCode: "complete_canonical_transfer_coverage", Exact: true, ReasonCode: "materialized_snapshot"}) {
		o.T.Fatalf("GET %s: %+v", path, m)
	}
}

func (o *oracle) screening(path string, items []api.HolderItem) {
	o.T.Helper()
	r := o.Do(http.MethodGet, "/v1/"+path+"/screening?limit=100", o.Key)
	var page api.ScreeningPage
	if err := json.Unmarshal(r.Body, &page); err != nil || r.StatusCode != http.StatusOK {
		o.T.Fatalf("GET %s/screening: %d %s", path, r.StatusCode, r.Body)
	}
	want := items[:min(10, len(items))]
	if page.Screening != (api.Screening{Kind: "top_k_screening", RequestedTopN: 10, ReturnedCount: len(want), ReasonCode: "screening_projection_not_population_proof"}) || page.NextCursor != nil {
		o.T.Fatalf("GET %s/screening: %s", path, r.Body)
	}
	a, _ := json.Marshal(want)
	b, _ := json.Marshal(page.Items)
	if string(a) != string(b) {
		o.T.Fatalf("GET %s/screening: %s, want %s", path, b, a)
	}
	o.checked("screenTokenHolders", path+"/screening?limit=100", r)
}

// analytics recomputes every metric from the rows, the slow way.
func (o *oracle) analytics(path string, page api.HolderPage, items []api.HolderItem) {
	o.T.Helper()
	r := o.Do(http.MethodGet, "/v1/"+path+"/analytics", o.Key)
	var got api.HolderAnalytics
	if err := json.Unmarshal(r.Body, &got); err != nil || r.StatusCode != http.StatusOK || got.Metrics == nil {
		o.T.Fatalf("GET %s/analytics: %d %s", path, r.StatusCode, r.Body)
	}
	total := new(big.Int)
	balances := make([]*big.Int, len(items))
	for i, item := range items {
		balances[i], _ = new(big.Int).SetString(item.BalanceRaw, 10)
		total.Add(total, balances[i])
	}
	sum := func(n int) *big.Int {
		s := new(big.Int)
		for _, b := range balances[:min(n, len(balances))] {
			s.Add(s, b)
		}
		return s
	}
	bps := func(n *big.Int) uint64 {
		return new(big.Int).Quo(new(big.Int).Mul(n, big.NewInt(10_000)), total).Uint64()
	}
	share := func(i int) *big.Rat { return new(big.Rat).SetFrac(balances[i], total) }
	want := api.HolderMetrics{HolderBalanceTotalRaw: total.String(),
		Top5BalanceRaw: sum(5).String(), Top10BalanceRaw: sum(10).String(), Top100BalanceRaw: sum(100).String(),
		Top5ShareBps: bps(sum(5)), Top10ShareBps: bps(sum(10)), Top100ShareBps: bps(sum(100))}
	mins := []uint64{100, 10, 1, 0}
	tierSums := [4]*big.Int{new(big.Int), new(big.Int), new(big.Int), new(big.Int)}
	var tierCounts [4]uint64
	for i := range balances {
		for t, m := range mins {
			if share(i).Cmp(big.NewRat(int64(m), 10_000)) >= 0 {
				tierCounts[t]++
				tierSums[t].Add(tierSums[t], balances[i])
				break
			}
		}
		if share(i).Cmp(big.NewRat(1, 100)) > 0 {
			want.HoldersAbove1Percent++
		}
		if want.Nakamoto50Count == nil && new(big.Int).Mul(sum(i+1), big.NewInt(2)).Cmp(total) > 0 {
			n := uint64(i + 1)
			want.Nakamoto50Count = &n
		}
	}
	for t, name := range []string{"whale", "large", "medium", "small"} {
		want.TierDistribution = append(want.TierDistribution, api.HolderTier{Tier: name, MinShareBps: mins[t], HolderCount: tierCounts[t], ShareBps: bps(tierSums[t])})
	}
	want.WhaleCount, want.WhaleShareBps = tierCounts[0], bps(tierSums[0])
	for i, label := range []string{"1%", "0.1%", "0.01%"} {
		var n uint64
		for _, c := range tierCounts[:i+1] {
			n += c
		}
		want.ThresholdCounts = append(want.ThresholdCounts, api.HolderThreshold{Label: label, ThresholdBps: mins[i], HolderCount: n})
	}
	// Gini by its definition: the mean difference of all pairs, by twice the mean.
	differences := new(big.Int)
	for i := range balances {
		for k := range balances[:i] {
			differences.Add(differences, new(big.Int).Sub(balances[k], balances[i]))
		}
	}
	gini := new(big.Rat).SetFrac(differences, new(big.Int).Mul(big.NewInt(int64(len(balances))), total))
	gini.Mul(gini, big.NewRat(1_000_000, 1))
	want.GiniScorePPM = new(big.Int).Quo(gini.Num(), gini.Denom()).Uint64()
	a, _ := json.Marshal(want)
	b, _ := json.Marshal(got.Metrics)
	if string(a) != string(b) {
		o.T.Fatalf("GET %s/analytics: %s\nwant %s", path, b, a)
	}
	if got.Snapshot != page.Snapshot || got.HolderCount != page.HolderCount || got.ValidatedAgainst == nil {
		o.T.Fatalf("GET %s/analytics: %s", path, r.Body)
	}
	o.checked("getTokenHolderAnalytics", path+"/analytics", r)
}

// TestHolderRefusals: who may ask, for which tokens, and when.
func TestHolderRefusals(t *testing.T) {
	w := newWorld(t, 40)
	strk := "/v1/" + chainID + "/token/" + contracts.STRK.String() + "/holders"
	for _, route := range []string{"", "/screening", "/analytics"} {
		servertest.Expect(t, w.Do(http.MethodGet, strk+route, w.Key), 403, kernel.CodeForbidden, nil)
		servertest.Expect(t, w.Do(http.MethodGet, strk+route, w.Partner), 200, "", nil)
		servertest.Expect(t, w.Do(http.MethodGet, "/v1/"+chainID+"/token/0x12/holders"+route, w.Partner), 404, kernel.CodeNotFound, nil)
		other := (&golden{world: w}).unqualified()
		servertest.Expect(t, w.Do(http.MethodGet, "/v1/"+chainID+"/token/"+other.String()+"/holders"+route, w.Partner), 422, kernel.CodeUnqualifiedPolicy, nil)
	}
	// Known and qualified, but on this chain it never moved.
	vacant, err := w.Known.With(chainID, registry.Entries{Tokens: []registry.Token{{Address: felt.FromUint64(0x99), Symbol: "X", Name: "X", Census: registry.Census{Qualified: true, Reason: "test"}}}})
	if err != nil {
		t.Fatal(err)
	}
	setRegistry(w.Routes, vacant.Chain(chainID))
	servertest.Expect(t, w.Do(http.MethodGet, "/v1/"+chainID+"/token/0x99/holders", w.Partner), 404, kernel.CodeNotFound, nil)
	// Qualified just now: nothing is counted yet.
	other := (&golden{world: w}).unqualified()
	known, err := w.Known.With(chainID, registry.Entries{Tokens: []registry.Token{{Address: other, Symbol: "X", Name: "X", Census: registry.Census{Qualified: true, Reason: "test"}}}})
	if err != nil {
		t.Fatal(err)
	}
	setRegistry(w.Routes, known.Chain(chainID))
	servertest.Expect(t, w.Do(http.MethodGet, "/v1/"+chainID+"/token/"+other.String()+"/holders", w.Partner), 503, kernel.CodeServiceUnavailable, map[string]string{"Retry-After": "15"})
}

// TestHolderCursors: a cursor belongs to its token and generation, lives until
// expiresAt while newer generations appear, and not beyond.
func TestHolderCursors(t *testing.T) {
	w := newWorld(t, 60)
	strk, eth := "/v1/"+chainID+"/token/"+contracts.STRK.String()+"/holders", "/v1/"+chainID+"/token/"+contracts.ETH.String()+"/holders"
	read := func(path string) (p api.HolderPage) {
		t.Helper()
		r := w.Do(http.MethodGet, path, w.Partner)
		if err := json.Unmarshal(r.Body, &p); err != nil || r.StatusCode != http.StatusOK {
			t.Fatalf("GET %s: %d %s", path, r.StatusCode, r.Body)
		}
		return p
	}
	first := read(strk + "?limit=3")
	cursor := "&cursor=" + url.QueryEscape(*first.NextCursor)
	second := read(strk + "?limit=3" + cursor)
	// Newer generations appear.
	w.Clock.Advance(3 * time.Hour)
	w.Chain.Extend(20)
	w.CatchUp()
	if now := read(strk + "?limit=3"); now.Snapshot.GenerationID <= first.Snapshot.GenerationID {
		t.Fatalf("no newer generation: %+v", now.Snapshot)
	}
	again := read(strk + "?limit=3" + cursor)
	if fmt.Sprint(again.Items[0].Address, again.Snapshot.GenerationID) != fmt.Sprint(second.Items[0].Address, first.Snapshot.GenerationID) || again.Items[0].Rank != 4 {
		t.Errorf("the cursor went elsewhere: %+v", again)
	}
	for name, path := range map[string]string{"another token": eth + "?limit=3" + cursor, "another route": strk + "/screening?limit=3" + cursor} {
		if r := w.Do(http.MethodGet, path, w.Partner); r.StatusCode != 400 || r.Envelope().Code != kernel.CodeInvalidCursor {
			t.Errorf("%s: %d %s", name, r.StatusCode, r.Body)
		}
	}
	// A second before the end, and at the end.
	end, err := time.Parse(time.RFC3339, first.Snapshot.ExpiresAt)
	if err != nil {
		t.Fatal(err)
	}
	w.Clock.Advance(end.Sub(w.Clock.Now()) - time.Second)
	w.RunJobs()
	read(strk + "?limit=3" + cursor)
	w.Clock.Advance(time.Second)
	servertest.Expect(t, w.Do(http.MethodGet, strk+"?limit=3"+cursor, w.Partner), 400, kernel.CodeInvalidCursor, nil)
	// A page of the newest is there all the time, and nothing of the old one is left.
	w.Clock.Advance(2 * time.Minute)
	w.RunJobs()
	if p := read(strk + "?limit=3"); p.Certification.Status != "certified" {
		t.Errorf("%+v", p.Certification)
	}
	servertest.Expect(t, w.Do(http.MethodGet, strk+"?limit=3"+cursor, w.Partner), 400, kernel.CodeInvalidCursor, nil)
}

// TestHolderRevocation: a fork below the block of a generation revokes it, from
// the moment that the index has undone the block.
func TestHolderRevocation(t *testing.T) {
	w := newWorld(t, 60)
	strk := "/v1/" + chainID + "/token/" + contracts.STRK.String() + "/holders"
	var first, after api.HolderPage
	r := w.Do(http.MethodGet, strk+"?limit=3", w.Partner)
	if err := json.Unmarshal(r.Body, &first); err != nil {
		t.Fatal(err)
	}
	w.Chain.Fork(25)
	w.Chain.Extend(1)
	w.IndexInto(w.Engine) // the jobs have not run yet
	for _, jobs := range []bool{false, true} {
		if jobs {
			// The job has revoked it, and counted again.
			w.RunJobs()
		}
		servertest.Expect(t, w.Do(http.MethodGet, strk+"?limit=3&cursor="+url.QueryEscape(*first.NextCursor), w.Partner), 400, kernel.CodeInvalidCursor, nil)
		r = w.Do(http.MethodGet, strk+"?limit=3", w.Partner)
		if err := json.Unmarshal(r.Body, &after); err != nil || r.StatusCode != http.StatusOK {
			t.Fatalf("%d %s", r.StatusCode, r.Body)
		}
		if !jobs && (after.Certification.Status != "revoked" || after.HolderCount != 0 || after.HolderBalanceTotalRaw != nil || len(after.Items) != 0 || after.Completeness.Exact || after.Completeness.PopulationComplete) {
			t.Errorf("a generation without its block is shown: %s", r.Body)
		}
		if !jobs {
			servertest.Expect(t, w.Do(http.MethodGet, strk+"/screening", w.Partner), 503, kernel.CodeServiceUnavailable, nil)
			var a api.HolderAnalytics
			r := w.Do(http.MethodGet, strk+"/analytics", w.Partner)
			if err := json.Unmarshal(r.Body, &a); err != nil || a.Metrics != nil || a.Certification.Status != "revoked" {
				t.Errorf("%d %s", r.StatusCode, r.Body)
			}
		}
		if jobs && (after.Certification.Status != "certified" || after.Snapshot.GenerationID == first.Snapshot.GenerationID || after.Snapshot.AsOfBlockHash != w.Chain.BlockAt(after.Snapshot.AsOfBlock).Hash) {
			t.Errorf("it was not counted again: %s", r.Body)
		}
	}
}
