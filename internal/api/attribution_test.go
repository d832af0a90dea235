package api_test

import (
	"chainexplorer/internal/felt"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/simnode/contracts"
)

var _ = tested(routeTest{
	operation: "getAddressAttribution", evidence: lookedUp, truth: (*oracle).attribution,
	golden: func(w *world) map[string]string {
		return map[string]string{"known": "/address/" + w.Chain.Network().PairRouter.String() + "/attribution", "unknown": "/address/0x00ABC/attribution"}
	},
})

// attribution compares who addresses are said to be with what was registered.
func (o *oracle) attribution() {
	o.T.Helper()
	var unlisted felt.Felt
	for a, k := range o.tokensByAddress() {
		if _, listed := o.Registry.Token(a); !listed && k.Standard == simnode.ERC20 && k.Name != "" {
			unlisted = a
		}
	}
	for _, a := range []felt.Felt{o.Chain.Network().PairRouter, contracts.STRK, felt.FromUint64(31337), unlisted} {
		want := object{"chainId": chainID, "requestedAddress": a.Padded(), "canonicalAddress": a, "known": false, "label": nil, "confidence": "none",
			"source": "indexed_address_attribution", "labelSource": nil, "labelConfidence": nil, "selfReportedName": nil, "protocol": nil}
		if l, ok := o.Registry.Label(a); ok {
			want["known"], want["label"], want["confidence"], want["source"], want["labelSource"] = true, l.Name, "high", "indexed_protocol_registry", l.Source
			want["protocol"] = object{"name": l.Protocol, "kind": l.Kind}
		} else if t, ok := o.Registry.Token(a); ok {
			want["known"], want["label"], want["confidence"], want["source"], want["labelSource"] = true, t.Name, "high", "curated_known_token_metadata", "registry"
		}
		if want["known"] == true {
			want["labelConfidence"] = "high"
		}
		if k := o.tokensByAddress()[a]; k != nil {
			want["selfReportedName"], _, _ = o.wantNames(k)
		}
		o.same("getAddressAttribution", chainID+"/address/"+a.Padded()+"/attribution", want)
	}
}
