package api_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"strings"
	"testing"

	"chainexplorer/internal/api"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/registry"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/simnode/contracts"
)

// as lets the oracle ask with another key until the result is called.
func (o *oracle) as(key string) func() {
	before := o.Key
	o.Key = key
	return func() { o.Key = before }
}

// pools compares the pools of every token that is in one with the creation
// events of the chain up to the finalized block.
func (o *oracle) pools(head uint64) {
	o.T.Helper()
	defer o.as(o.Partner)()
	through := head - depth
	known := o.Known.Chain(chainID)
	want := map[felt.Felt][]object{}
	net := o.Chain.Network()
	called := map[felt.Felt]string{}
	for _, t := range o.Chain.Tokens(head) {
		called[t.Address] = t.Symbol
	}
	for _, ref := range o.Chain.Events(simnode.EventFilter{To: through, Addresses: []felt.Felt{net.EkuboCore, net.PairFactory},
		Keys: [][]felt.Felt{{contracts.SelPoolInitialized, contracts.SelPairCreated}}}) {
		d := ref.Event.Data
		item := object{"snapshotBlock": through, "source": "indexed_creation_event", "updatedAtIso": iso(o.Chain.BlockAt(through).Timestamp),
			"createdAtBlock": ref.Block.Number, "createdAtTx": ref.Block.Transactions[ref.TxIndex].Hash, "createdAtLogIndex": ref.Index}
		for _, name := range []string{"priceUsd", "tvlUsd", "volume24hUsd", "volume24hPrevUsd", "volume24hChangeBps", "volumeWindowStartUnix", "volumeWindowEndUnix",
			"trades24h", "traders24h", "lastTradeBlock", "feeBps"} {
			item[name] = nil
		}
		if ref.Event.From == net.EkuboCore {
			parts := make([]string, 5)
			for i := range parts {
				parts[i] = d[i].String()
			}
			key := strings.Join(parts, ":")
			// As a fraction of 2^128, in ten-thousandths.
			bps, _ := new(big.Rat).SetFrac(new(big.Int).Mul(d[2].Big(), big.NewInt(10_000)), new(big.Int).Lsh(big.NewInt(1), 128)).Float64()
			with(item, object{"marketId": "ekubo:" + key, "marketKind": "singleton_pool", "poolKey": key, "protocolSlug": "ekubo", "protocolName": "Ekubo", "dex": "ekubo",
				"poolType": "cl", "poolAddress": net.EkuboCore, "feeBps": json.Number(fmt.Sprint(float64(int64(bps*10_000+0.5)) / 10_000))})
		} else {
			with(item, object{"marketId": "jediswap:" + d[2].String(), "marketKind": "pool_contract", "poolKey": d[2], "protocolSlug": "jediswap", "protocolName": "JediSwap",
				"dex": "jediswap", "poolType": "cpmm", "poolAddress": d[2]})
		}
		symbols := [2]any{}
		for i := range symbols {
			symbols[i] = called[d[i]]
			if t, ok := known.Token(d[i]); ok {
				symbols[i] = t.Symbol
			}
		}
		item["displayName"] = nil
		if symbols[0] != nil && symbols[1] != nil {
			item["displayName"] = fmt.Sprintf("%s / %s", symbols[0], symbols[1])
		}
		for i := range 2 {
			own := with(object{}, item)
			own["pairedTokenAddress"], own["pairedTokenSymbol"] = d[1-i], symbols[1-i]
			want[d[i]] = append([]object{own}, want[d[i]]...)
		}
	}
	if len(want) == 0 {
		o.T.Fatal("the chain has no pools")
	}
	for token, items := range want {
		path := "token/" + token.String() + "/markets/pools"
		o.sameList(path, items, o.pages("listTokenPools", path, 2, nil))
		o.same("listTokenPools", chainID+"/"+path+"?limit=100", object{"chainId": chainID, "tokenAddress": token, "totalPairs": len(items), "totalTvlUsd": nil, "totalVolume24hUsd": nil,
			"snapshotBlock": through, "snapshotBlockHash": o.Chain.BlockAt(through).Hash, "updatedAtIso": iso(o.Chain.BlockAt(through).Timestamp),
			"volumeWindowStartUnix": nil, "volumeWindowEndUnix": nil, "items": items, "nextCursor": nil,
			"coverage": object{"exact": true, "reasonCode": "materialized_pool_snapshot"}, "limits": object{"maxPageSize": 100, "tier": "partner"}})
	}
	o.missing("listTokenPools", chainID+"/token/0x1234/markets/pools")
}

// TestPoolsNeedThePartnerScope: a read key is refused.
func TestPoolsNeedThePartnerScope(t *testing.T) {
	w := sharedWorld(t, 30)
	r := w.Do(http.MethodGet, "/v1/"+chainID+"/token/"+contracts.STRK.String()+"/markets/pools", w.Key)
	if r.StatusCode != http.StatusForbidden || r.Envelope().Code != kernel.CodeForbidden {
		t.Errorf("%d %s", r.StatusCode, r.Body)
	}
}

// TestPoolsOfAnotherRegistry: rows of other exchanges are not passed off as all.
func TestPoolsOfAnotherRegistry(t *testing.T) {
	w := newWorld(t, 40)
	other, err := w.Known.With(chainID, registry.Entries{Dexes: []registry.Dex{registry.PairFactory("new", "New", felt.FromUint64(77))}})
	if err != nil {
		t.Fatal(err)
	}
	path := "/v1/" + chainID + "/token/" + contracts.STRK.String() + "/markets/pools?limit=1"
	first := w.Do(http.MethodGet, path, w.Partner)
	var page struct{ NextCursor *string }
	if err := json.Unmarshal(first.Body, &page); err != nil || page.NextCursor == nil {
		t.Fatalf("%s", first.Body)
	}
	setRegistry(w.Routes, other.Chain(chainID))
	r := w.Do(http.MethodGet, path, w.Partner)
	var got api.TokenPools
	if err := json.Unmarshal(r.Body, &got); err != nil || got.Coverage.Exact || got.TotalPairs != nil || got.Coverage.ReasonCode != "pool_snapshot_missing" {
		t.Errorf("%d %s", r.StatusCode, r.Body)
	}
	if r := w.Do(http.MethodGet, path+"&cursor="+*page.NextCursor, w.Partner); r.StatusCode != http.StatusServiceUnavailable || r.Header.Get("Retry-After") == "" {
		t.Errorf("%d %s", r.StatusCode, r.Body)
	}
	w.Known = other
	w.RunJobs()
	if r := w.Do(http.MethodGet, path, w.Partner); json.Unmarshal(r.Body, &got) != nil || !got.Coverage.Exact {
		t.Errorf("after the pools were read again: %d %s", r.StatusCode, r.Body)
	}
	if r := w.Do(http.MethodGet, path+"&cursor="+*page.NextCursor, w.Partner); r.StatusCode != http.StatusOK {
		t.Errorf("the cursor: %d %s", r.StatusCode, r.Body)
	}
}
