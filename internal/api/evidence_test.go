package api_test

import (
	"encoding/json"
	"net/http"
	"os"
	"strings"

	"chainexplorer/internal/api"
	"chainexplorer/internal/site"
)

// meta compares what the service says of itself with how it was set up.
func (o *oracle) meta() {
	o.T.Helper()
	o.same("listChains", "meta/chains", object{"kind": "service.meta.chains", "schemaVersion": "1", "defaultChain": chainID,
		"chains":        []object{{"chainId": chainID, "statusPath": "/v1/" + chainID + "/status", "statusPathTemplate": "/v1/{chain}/status"}},
		"selectionRule": "Put the chain id into the path. There is no default chain in a path."})
	r := o.Do(http.MethodGet, "/v1/meta/capabilities", o.Key)
	var c api.Capabilities
	if err := json.Unmarshal(r.Body, &c); err != nil {
		o.T.Fatal(err)
	}
	o.checked("getCapabilities", "meta/capabilities", r)
	if len(c.EventSearchByChain) != 1 || c.EventSearchByChain[0].Chain != chainID || len(c.EventSearchByChain[0].FullRange.SelectorCoverage) == 0 {
		o.T.Errorf("coverage by chain: %s", r.Body)
	}
	listed := 0
	for _, f := range c.RouteFamilies {
		if len(f.UseWhen) < 30 {
			o.T.Errorf("family %s: use it when %q", f.Name, f.UseWhen)
		}
		for _, op := range f.Operations {
			if o.Contract.Of(op.Method, strings.NewReplacer("{", "", "}", "").Replace(op.Path)) == nil {
				o.T.Errorf("capabilities list %s %s, which the document does not have", op.Method, op.Path)
			}
			listed++
		}
	}
	if listed != len(o.Contract.Operations) {
		o.T.Errorf("capabilities list %d operations, the document %d", listed, len(o.Contract.Operations))
	}
	for _, call := range c.FirstCalls {
		if got := o.Do(call.Method, call.Path, o.Key); got.StatusCode != http.StatusOK {
			o.T.Errorf("first call %s: %d", call.Path, got.StatusCode)
		}
		o.checks["getCapabilities"]++
	}
	if c.DefaultChain != chainID || strings.Join(c.Caller.Scopes, " ") != "read batch write verify" || *c.Caller.WorkspacePlan != "enterprise" ||
		c.Caller.RateLimit.LightPerMinute != 1e9 || *c.Caller.KeyClass != "live" {
		o.T.Errorf("capabilities: %s", r.Body)
	}
}

// What comparisons with the simulated chain are worth, in the document's words.
var (
	exactBlock     = site.Evidence{Oracle: "indexed-replay", EvidenceLevel: "deploy-blocking", CertificationScope: "exact-block", SLOClass: "hot"}
	pagedList      = site.Evidence{Oracle: "indexed-replay", EvidenceLevel: "deploy-blocking", CertificationScope: "pagination", SLOClass: "hot"}
	eventList      = site.Evidence{Oracle: "indexed-replay", EvidenceLevel: "deploy-blocking", CertificationScope: "pagination", SLOClass: "warm"}
	liveCall       = site.Evidence{Oracle: "rpc-sampled", EvidenceLevel: "deploy-blocking", CertificationScope: "exact-block", SLOClass: "warm"}
	countedHolders = site.Evidence{Oracle: "materialized-db-plus-rpc", EvidenceLevel: "deploy-blocking", CertificationScope: "accounting", SLOClass: "warm"}
	ownSetup       = site.Evidence{Oracle: "configuration", EvidenceLevel: "sampled", CertificationScope: "route-table", SLOClass: "hot"}
	lookedUp       = site.Evidence{Oracle: "indexed-replay", EvidenceLevel: "sampled", CertificationScope: "derived-indexed", SLOClass: "warm"}
	batchOf        = site.Evidence{Oracle: "indexed-replay", EvidenceLevel: "deploy-blocking", CertificationScope: "derived-indexed", SLOClass: "batch"}
)

// evidence is what the document says was checked. The file is written by this
// test alone; it may claim less than the test checks, never more.
func (o *oracle) evidence() {
	o.T.Helper()
	got := map[string]site.Evidence{"getStatus": exactBlock, "getBlock": exactBlock, "getBlockAtTimestamp": exactBlock, "getTransaction": exactBlock,
		"searchEvents": eventList, "listContractEvents": eventList, "listTokenTransfers": eventList, "listTransfers": eventList, "getToken": lookedUp,
		"getContract": exactBlock, "getContractVerification": exactBlock, "listBridgeSignals": eventList, "getAddress": exactBlock, "listAddressTransactions": eventList,
		"listAddressActivity": eventList, "listAddressTransfers": eventList, "discoverAssets": eventList,
		"summarizeAddresses": batchOf, "describeAddresses": batchOf, "previewTransactions": batchOf, "getWalletState": liveCall,
		"listMessages": eventList, "listContractMessages": eventList, "getMessage": eventList,
		"getTokenTotalSupply": liveCall, "getTokenBalance": liveCall, "readContract": liveCall,
		"getTokenControls": lookedUp, "listTokenPools": pagedList,
		"listClasses": pagedList, "getClass": pagedList, "listContractClasses": pagedList, "getContractEntrypoints": exactBlock,
		"listTokenHolders": countedHolders, "screenTokenHolders": countedHolders, "getTokenHolderAnalytics": countedHolders,
		"listBlocks": pagedList, "listBlockTransactions": pagedList, "listTransactions": pagedList, "search": lookedUp, "getCapabilities": ownSetup, "listChains": ownSetup}
	for _, r := range routeTests {
		got[r.operation] = r.evidence
	}
	for op, e := range got {
		if e.Checks = o.checks[op]; e.Checks == 0 {
			o.T.Errorf("%s was not compared with anything", op)
		}
		got[op] = e
	}
	const file = "../site/evidence.json"
	if *update {
		text, err := json.MarshalIndent(got, "", "  ")
		if err != nil {
			o.T.Fatal(err)
		}
		if err := os.WriteFile(file, append(text, '\n'), 0o644); err != nil {
			o.T.Fatal(err)
		}
		return
	}
	text, err := os.ReadFile(file)
	if err != nil {
		o.T.Fatal(err)
	}
	var claimed map[string]site.Evidence
	if err := json.Unmarshal(text, &claimed); err != nil {
		o.T.Fatal(err)
	}
	for _, op := range o.Contract.Operations {
		if _, ok := claimed[op.ID]; !ok {
			o.T.Errorf("%s: no evidence for %s", file, op.ID)
		}
	}
	for op, e := range claimed {
		seen := got[op]
		if e.Checks > seen.Checks {
			o.T.Errorf("%s claims %d checks of %s, there were %d", file, e.Checks, op, seen.Checks)
		}
		if e.Checks = seen.Checks; e != seen {
			o.T.Errorf("%s claims %+v of %s, this test stands for %+v", file, e, op, seen)
		}
	}
}
