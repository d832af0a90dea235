package voyager

import (
	"net/http"
	"slices"
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
		for _, path := range []string{"", "/{rest...}"} { // the mux would redirect the base to itself with a slash
			e := &endpoint{id: "voyagerUnserved", path: path, class: kernel.Light}
			f.raw(e, base, func(_ http.ResponseWriter, r *http.Request) (any, error) {
				if path == "" {
					return nil, f.noPath(r.URL.Path)
				}
				return nil, notServed("/" + r.PathValue("rest"))
			})
		}
	}
}

// chainOf is the chain that a path names in front of the base, "" for none, and what follows the base.
// Not ok is a path that is none of the feed, or of what would be the feed of another chain.
func (f *Feed) chainOf(path string) (chain, rest string, ok bool) {
	if !strings.HasPrefix(path, Base) {
		chain, path, _ = strings.Cut(strings.TrimPrefix(path, "/"), "/")
		if path = "/" + path; !strings.HasPrefix(chain, "SN_") && !slices.Contains(f.routes.Order, chain) {
			return "", "", false
		}
	}
	rest, ok = strings.CutPrefix(path, Base)
	return chain, rest, ok && (rest == "" || rest[0] == '/')
}

// owns says whether whoever asks for a path expects the feed's shape of failures.
func (f *Feed) owns(path string) bool {
	_, _, ok := f.chainOf(path)
	return ok
}

// noPath says what is wrong with a path that no pattern of the feed has.
func (f *Feed) noPath(path string) error {
	chain, rest, _ := f.chainOf(path)
	switch {
	case chain != "" && !slices.Contains(f.routes.Order, chain):
		return refusef(http.StatusNotFound, "%s is not served here; there is %s.", kernel.Clip(chain, 40), kernel.Listed(f.routes.Order))
	case strings.Trim(rest, "/") == "":
		return refusef(http.StatusNotFound, "The feed begins here: ask for a path of it, such as %s/blocks. /docs/guide/voyager lists them.", Base)
	}
	return refusef(http.StatusNotFound, "There is no path %s in the feed, spelt like this. /docs/guide/voyager lists them.", kernel.Clip(rest, 80))
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
