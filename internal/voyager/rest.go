package voyager

import (
	"net/http"
	"strings"

	"chainexplorer/internal/kernel"
)

// unserved are paths of the feed that are known and not served, with what to ask instead.
var unserved = []struct{ path, instead string }{
	{"/meta-txns", "The index does not tell which calls were made from outside. GET /v1/{chain}/address/{address}/transactions lists what an address has a part in."},
	{"/contracts", "The index has no list of all contracts. GET /v1/{chain}/classes and /v1/{chain}/class/{class_hash} list those of each class."},
	{"/contracts/{a}/erc20-balance-history", "Ask GET /v1/{chain}/token/{token}/balance-of/{address} for the blocks that matter."},
	{"/classes/verified", "What is verified here is told with receipts. Ask GET /v1/{chain}/class/{class_hash}."},
	{"/classes/{h}/source", "Sources are proven, and not kept. Ask GET /v1/{chain}/class/{class_hash} for the receipt."},
	{"/tokens", "The index has no list of all tokens by holders. Ask GET /v1/{chain}/token/{token}."},
	{"/tokens/{a}/holders/overview", "Ask GET /v1/{chain}/token/{token}/holders/analytics."},
	{"/token-transfers", "Ask GET /v1/{chain}/transfers."},
	{"/messages/{h}", "Ask GET /v1/{chain}/message/{message_hash}."},
}

// handleRest answers for what is not served.
func (f *Feed) handleRest() {
	for base := range f.bases() {
		e := &endpoint{id: "voyagerUnserved", path: "/{rest...}", class: kernel.Light}
		f.raw(e, base, func(_ http.ResponseWriter, r *http.Request) (any, error) {
			return nil, notServed("/" + r.PathValue("rest"))
		})
	}
}

// notServed says what is wrong with a path.
func notServed(path string) error {
	for _, u := range unserved {
		if fits(u.path, path) {
			return refusef(http.StatusNotImplemented, "%s is not served. %s", u.path, u.instead)
		}
	}
	if strings.HasPrefix(path, "/nft-") || strings.HasPrefix(path, "/nfts/") || path == "/nfts" {
		return refusef(http.StatusNotImplemented, "NFT paths are not served: the index has no metadata of items. Ask GET /v1/{chain}/token/{token}/transfers.")
	}
	return refusef(http.StatusNotFound, "There is no path %s in the feed.", kernel.Clip(path, 80))
}

// fits says whether a path is one of a pattern, whose variables stand for one segment each.
func fits(pattern, path string) bool {
	want, have := strings.Split(pattern, "/"), strings.Split(path, "/")
	if len(want) != len(have) {
		return false
	}
	for i, segment := range want {
		if !strings.HasPrefix(segment, "{") && segment != have[i] {
			return false
		}
	}
	return true
}
