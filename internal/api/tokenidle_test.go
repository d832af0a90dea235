package api_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"testing"

	"chainexplorer/internal/api"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/simnode"
)

// notAskedYet: before the contract was asked its class alone tells that it is a token.
func (o *oracle) notAskedYet() {
	o.T.Helper()
	seen := o.Chain.Tokens(o.head())
	for range 200 {
		o.Chain.Extend(1)
		o.IndexInto(o.Engine)
		for _, k := range o.Chain.Tokens(o.head()) {
			if !o.untouched(k.Address) || slices.ContainsFunc(seen, func(s simnode.Token) bool { return s.Address == k.Address }) {
				continue
			}
			r := o.Do(http.MethodGet, "/v1/"+chainID+"/token/"+k.Address.String(), o.Key)
			var got api.TokenSummary
			if err := json.Unmarshal(r.Body, &got); err != nil || r.StatusCode != http.StatusOK || got.SummaryCacheStatus != "metadata_only" ||
				got.Name != nil || got.Symbol != nil || got.MetadataUpdatedAtISO != nil || got.TransferCount != nil || got.Standard != standardNames[k.Standard] {
				o.T.Errorf("%s: %d %s", k.Address, r.StatusCode, r.Body)
			}
			o.CatchUp()
			return
		}
	}
	o.T.Fatal("every new token moved at once")
}

// TestTokensThatNeverMoved: a contract that its class makes a token has a summary
// before its first transfer, with nulls for what only transfers tell; it is found by
// its symbol, and gone when a fork takes the contract away.
func TestTokensThatNeverMoved(t *testing.T) {
	o := &oracle{world: newWorld(t, 12), checks: map[string]int{}}
	var last felt.Felt
	standards := map[simnode.Standard]int{}
	for range 12 {
		for _, k := range o.Chain.Tokens(o.head()) {
			if !o.untouched(k.Address) {
				continue
			}
			last = k.Address
			standards[k.Standard]++
			path := "/v1/" + chainID + "/token/" + k.Address.String()
			r := o.Do(http.MethodGet, path, o.Key)
			var got api.TokenSummary
			if err := json.Unmarshal(r.Body, &got); err != nil || r.StatusCode != http.StatusOK {
				t.Fatalf("%s: %d %s", path, r.StatusCode, r.Body)
			}
			name, symbol, decimals := o.wantNames(&k)
			want := object{"status": "metadata_only", "standard": standardNames[k.Standard], "name": name, "symbol": symbol, "decimals": decimals,
				"transferCount": nil, "distinctFromCount": nil, "distinctToCount": nil, "latestTransferBlock": nil, "summaryVersion": 0, "summaryVersionUpdatedAtIso": nil}
			said, err := json.Marshal(object{"status": got.SummaryCacheStatus, "standard": got.Standard, "name": got.Name, "symbol": got.Symbol, "decimals": got.Decimals,
				"transferCount": got.TransferCount, "distinctFromCount": got.DistinctFromCount, "distinctToCount": got.DistinctToCount,
				"latestTransferBlock": got.LatestTransferBlock, "summaryVersion": got.SummaryVersion, "summaryVersionUpdatedAtIso": got.SummaryVersionUpdatedAtISO})
			if err != nil {
				t.Fatal(err)
			}
			if d := difference(want, said); d != "" {
				t.Errorf("%s: %s\n%s", path, d, r.Body)
			}
			if got.Symbol == nil || *got.Symbol == "" {
				continue
			}
			var found api.SearchResult
			r = o.Do(http.MethodGet, "/v1/"+chainID+"/search?q="+url.QueryEscape(*got.Symbol), o.Key)
			if err := json.Unmarshal(r.Body, &found); err != nil || !slices.ContainsFunc(found.Tokens, func(s api.SearchToken) bool { return s.TokenAddress == k.Address }) {
				t.Errorf("%q does not find %s: %d %s", *got.Symbol, k.Address, r.StatusCode, r.Body)
			}
		}
		o.Chain.Extend(2)
		o.CatchUp()
	}
	if len(standards) == 0 {
		t.Fatal("every token of the chain moved")
	}
	o.notAskedYet()
	o.fork(int(o.head()))
	if _, there := o.Chain.ClassAt(last, o.head()); there {
		t.Fatal("the fork has the same contract")
	}
	o.missing("getToken", chainID+"/token/"+last.String())
}
