package api_test

import (
	"encoding/json"
	"net/http"
	"reflect"
	"testing"
	"time"

	"chainexplorer/internal/api"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/servertest"
	"chainexplorer/internal/simnode/contracts"
)

var _ = tested(routeTest{operation: "getTokenHoldings", evidence: ownSetup, truth: (*oracle).tokenHoldings, golden: func(*world) map[string]string { return nil }})

// tokenHoldings: the route is gone, whoever asks for what, and says where to go.
func (o *oracle) tokenHoldings() {
	o.T.Helper()
	owner := contracts.STRK
	for _, path := range []string{
		"/v1/" + chainID + "/address/" + owner.String() + "/token-holdings",
		"/api/v1/" + chainID + "/address/" + owner.Padded() + "/token-holdings",
		"/v1/" + chainID + "/address/" + owner.String() + "/token-holdings?limit=25&cursor=abc&includeZero=true&limit=7",
		"/v1/" + chainID + "/address/" + owner.String() + "/token-holdings?%zz",
	} {
		r := o.Do(http.MethodGet, path, o.Key)
		discovery, wallet := "/v1/"+chainID+"/address/"+owner.String()+"/assets/discovery", "/v1/"+chainID+"/query/wallet-state"
		servertest.Expect(o.T, r, http.StatusGone, kernel.CodeTokenHoldingsRetired, map[string]string{"Deprecation": "true", "Cache-Control": "private, no-store",
			"Link": `<` + discovery + `>; rel="successor-version", <` + wallet + `>; rel="successor-version", </docs/api/retired-routes>; rel="deprecation"`})
		var got api.Retirement
		if err := json.Unmarshal(r.Plain(), &got); err != nil {
			o.T.Fatalf("%v: %s", err, r.Body)
		}
		want := api.Retirement{SchemaVersion: "service.retirement.v1", Code: "token_holdings_retired", Message: got.Message, MigrationGuide: "/docs/api/retired-routes",
			Successors: []api.Successor{{Rel: "asset_discovery", Method: "GET", Path: discovery}, {Rel: "wallet_state", Method: "POST", Path: wallet}},
			ChainID:    chainID, OwnerAddress: owner, RequestID: r.Header.Get("X-Request-Id")}
		if got.Message == "" || !reflect.DeepEqual(got, want) {
			o.T.Errorf("%s: %s", path, r.Body)
		}
		if since, err := http.ParseTime(r.Header.Get("Sunset")); err != nil || since.After(time.Now()) {
			o.T.Errorf("Sunset %q: %v", r.Header.Get("Sunset"), err)
		}
		o.checks["getTokenHoldings"]++
	}
	if next := o.Do(http.MethodGet, "/v1/"+chainID+"/address/"+owner.String()+"/assets/discovery", o.Key); next.StatusCode != http.StatusOK {
		o.T.Errorf("the successor answers %d", next.StatusCode)
	}
}

// TestRetiredRouteIsARoute: what is wrong with the key, the chain or the address is
// said as everywhere.
func TestRetiredRouteIsARoute(t *testing.T) {
	w := sharedWorld(t, 30)
	at := "/v1/" + chainID + "/address/0x1/token-holdings"
	servertest.Expect(t, w.Do(http.MethodGet, at, ""), 401, kernel.CodeUnauthorized, map[string]string{"Deprecation": "true"})
	servertest.Expect(t, w.Do(http.MethodGet, "/v1/SN_OTHER/address/0x1/token-holdings", w.Key), 404, kernel.CodeNotFound, nil)
	servertest.Expect(t, w.Do(http.MethodGet, "/v1/"+chainID+"/address/me/token-holdings", w.Key), 400, kernel.CodeInvalidRequest, nil)
	if head := w.Do(http.MethodHead, at, w.Key); head.StatusCode != 410 || len(head.Body) != 0 {
		t.Errorf("HEAD: %d %q", head.StatusCode, head.Body)
	}
	op := w.Contract.Of(http.MethodGet, at)
	if op.Item["deprecated"] != true || op.Responses["200"] != nil || op.Responses["304"] != nil || op.Responses["410"] == nil {
		t.Errorf("the document has %v and %v", op.Item["deprecated"], op.Responses)
	}
}
