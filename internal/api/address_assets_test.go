package api_test

import (
	"fmt"
	"slices"
	"strings"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/starknet"
)

// filtered compares transfers under filters.
func (o *oracle) filtered(path string, transfers []object) {
	o.T.Helper()
	if len(transfers) == 0 {
		return
	}
	mid := transfers[len(transfers)/2]
	keep := func(match func(object) bool) []object {
		out := []object{}
		for _, t := range transfers {
			if match(t) {
				out = append(out, t)
			}
		}
		return out
	}
	token, block := mid["tokenAddress"].(felt.Felt), mid["blockNumber"].(uint64)
	for query, match := range map[string]func(object) bool{
		"token=" + token.Padded():           func(t object) bool { return t["tokenAddress"] == token },
		"token=0x1&token=" + token.String(): func(t object) bool { return t["tokenAddress"] == token },
		fmt.Sprintf("from_block=%d", block): func(t object) bool { return t["blockNumber"].(uint64) >= block },
		fmt.Sprintf("to_block=%d", block):   func(t object) bool { return t["blockNumber"].(uint64) <= block },
		"type=nft":                          func(t object) bool { return t["standard"] == "erc721" },
		"type=erc20":                        func(t object) bool { return t["standard"] == "erc20" },
		"symbol=StRk":                       func(t object) bool { return strings.EqualFold(fmt.Sprint(t["tokenSymbol"]), "strk") },
		"symbol=nosuchtoken":                func(object) bool { return false },
		"timestampFrom=" + fmt.Sprint(o.Chain.BlockAt(block).Timestamp): func(t object) bool { return t["blockNumber"].(uint64) >= block },
		"timestampTo=" + fmt.Sprint(o.Chain.BlockAt(block).Timestamp): func(t object) bool {
			return o.Chain.BlockAt(t["blockNumber"].(uint64)).Timestamp <= o.Chain.BlockAt(block).Timestamp
		},
		"timestampTo=1999-01-01T00:00:00Z": func(object) bool { return false },
		"timestampTo=1960-01-01T00:00:00Z": func(object) bool { return false },
		"invocationType=l1_handler": func(t object) bool {
			ref, _ := o.Chain.TransactionByHash(t["txHash"].(felt.Felt))
			return ref.Transaction.Type == starknet.L1Handler
		},
	} {
		o.sameList(path+" "+query, keep(match), o.pages("listAddressTransfers", path+"/transfers?"+query, 100, nil))
	}
}

// assets compares the candidates of an address.
func (o *oracle) assets(a felt.Felt, deeds []deed) {
	o.T.Helper()
	seen := map[felt.Felt]uint64{}
	for i := range deeds {
		if t := deeds[i].moved; t != nil {
			if _, newer := seen[t.token.Address]; !newer {
				seen[t.token.Address] = deeds[i].b.Number
			}
		}
	}
	known, tokensBy := o.registryTokens(), o.tokensByAddress()
	for _, scope := range []string{"discovered", "discovered_plus_registry"} {
		var tokens []felt.Felt
		for t := range seen {
			if tokensBy[t].Standard == simnode.ERC20 {
				tokens = append(tokens, t)
			}
		}
		if scope == "discovered_plus_registry" {
			for t := range known {
				if _, also := seen[t]; !also {
					tokens = append(tokens, t)
				}
			}
		}
		slices.SortFunc(tokens, func(x, y felt.Felt) int {
			_, first := known[x]
			if _, second := known[y]; first != second { // known ones first
				return map[bool]int{true: -1, false: 1}[first]
			}
			return y.Cmp(x)
		})
		want := []object{}
		for _, t := range tokens {
			evidence := []object{}
			meta := object{"symbol": nil, "name": nil, "decimals": nil, "source": "unavailable", "trusted": false, "spamStatus": "not_assessed"}
			if k, ok := known[t]; ok {
				evidence = append(evidence, object{"tier": "reviewed_registry", "source": "checked_in_registry", "lastObservedBlock": nil, "evidenceCountLowerBound": nil})
				meta = object{"symbol": k.Symbol, "name": k.Name, "decimals": k.Decimals, "source": "reviewed_registry", "trusted": true, "spamStatus": "not_assessed"}
			}
			if k := tokensBy[t]; k != nil && meta["source"] == "unavailable" {
				name, symbol, decimals := o.wantNames(k)
				meta = object{"symbol": symbol, "name": name, "decimals": decimals, "source": "indexed_metadata", "trusted": false, "spamStatus": "not_assessed"}
			}
			if n, ok := seen[t]; ok {
				evidence = append(evidence, object{"tier": "indexed_discovery", "source": "fungible_transfer_evidence", "lastObservedBlock": n, "evidenceCountLowerBound": 1})
			}
			want = append(want, object{"tokenAddress": t, "evidence": evidence, "metadata": meta})
		}
		path := "address/" + a.String() + "/assets/discovery?scope=" + scope
		for _, limit := range []int{5, 100} {
			o.sameList(path, want, o.pages("discoverAssets", path, limit, nil))
		}
	}
}
