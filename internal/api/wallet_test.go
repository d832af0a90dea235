package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"chainexplorer/internal/api"
	"chainexplorer/internal/contractcall"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/registry"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/simnode/contracts"
)

// wantWallet is a wallet state with the balances that the chain has at a block.
func (o *oracle) wantWallet(owner felt.Felt, scope, preference string, n uint64, tokens []felt.Felt) object {
	known := o.registryTokens()
	b := o.chain.BlockAt(n)
	finality := "accepted_on_l2"
	if l1, ok := o.chain.L1Head(); ok && n <= l1 {
		finality = "accepted_on_l1"
	}
	if preference == "explicit" {
		finality = "explicit"
	}
	items, zeros := []object{}, 0
	for _, t := range tokens {
		balance := o.chain.BalanceAt(t, owner, n)
		if balance.Sign() == 0 {
			zeros++
			continue
		}
		meta := object{"symbol": nil, "name": nil, "decimals": nil, "source": "unavailable", "trusted": false, "spamStatus": "not_assessed"}
		if k := o.tokensByAddress()[t]; k != nil {
			name, symbol, decimals := o.wantNames(k)
			meta = object{"symbol": symbol, "name": name, "decimals": decimals, "source": "indexed_metadata", "trusted": false, "spamStatus": "not_assessed"}
		}
		if k, ok := known[t]; ok {
			meta = object{"symbol": k.Symbol, "name": k.Name, "decimals": k.Decimals, "source": "reviewed_registry", "trusted": true, "spamStatus": "not_assessed"}
		}
		items = append(items, object{"tokenAddress": t, "balanceRaw": balance.String(), "status": "ok", "metadata": meta,
			"price": object{"status": "unavailable", "reasonCode": "price_metadata_unavailable", "quoteCurrency": "usd", "priceUsd": nil, "valueUsd": nil, "source": nil,
				"provider": nil, "confidence": nil, "priceTimestamp": nil, "observedAt": nil, "maxAgeSeconds": nil}})
	}
	coverage := object{"declaredScope": "standard_fungible_transfer_evidence", "completeWithinScope": true, "globallyComplete": false,
		"reasonCodes": []string{"unsupported_nonstandard"}, "coveredThroughBlock": n, "targetThroughBlock": n, "tailObservedThroughBlock": o.head()}
	if scope == "explicit" {
		coverage["declaredScope"], coverage["reasonCodes"] = "caller_explicit", []string{}
	}
	return object{"schemaVersion": "service.wallet_state.v1", "chainId": chainID, "ownerAddress": owner, "requestId": anything,
		"block": object{"preference": preference, "blockNumber": n, "blockHash": b.Hash, "finalityStatus": finality}, "scope": scope, "coverage": coverage,
		"correctness": "verified_complete", "partial": false, "walletSafe": true, "items": items,
		"verification": object{"selected": len(tokens), "verified": len(tokens), "visibleNonZero": len(items), "verifiedZeroHidden": zeros, "failed": 0, "timedOut": 0, "unsupported": 0},
		"accountState": object{"nonce": nil, "nonceStatus": "not_requested", "classHash": nil, "classHashStatus": "not_requested"},
		"valuation": object{"scope": "page", "singlePageComplete": false, "completeForWallet": false, "totalUsd": nil, "pricedAssetCount": 0,
			"unpricedNonZeroAssetCount": len(items), "excludedUnpricedAssets": len(items) > 0},
		"hasMore": false, "nextCursor": nil}
}

// wallets compares wallet states at many blocks with the chain's balances.
func (o *oracle) wallets() {
	o.t.Helper()
	head := o.head()
	accounts := o.chain.Accounts(head)
	var tokens []felt.Felt
	for _, t := range o.chain.Tokens(2) {
		if t.Standard == simnode.ERC20 {
			tokens = append(tokens, t.Address)
		}
	}
	tokens = tokens[:min(25, len(tokens))]
	for i := 0; i < len(accounts); i += 1 + len(accounts)/4 {
		owner := accounts[i]
		for n := uint64(2); n <= head; n += 1 + head/3 {
			want := o.wantWallet(owner, "explicit", "explicit", n, tokens)
			nonce, there := o.chain.NonceAt(owner, n)
			state := object{"nonce": nil, "nonceStatus": "verified", "classHash": nil, "classHashStatus": "verified"}
			if there {
				c, _ := o.chain.ClassAt(owner, n)
				state["nonce"], state["classHash"] = felt.FromUint64(nonce), c.Hash
			}
			want["accountState"] = state
			body := object{"ownerAddress": owner, "scope": "explicit", "tokenAddresses": append(slices.Clone(tokens), tokens[0])[:min(25, len(tokens)+1)],
				"blockPreference": "explicit", "blockNumber": n, "include": object{"nonce": true, "classHash": true}}
			r := o.post("getWalletState", "query/wallet-state", jsonText(body), want)
			if r.Header.Get("X-Service-Query-Class") != "wallet_state" || r.Header.Get("X-Service-Cost-Units") != "1" {
				o.t.Errorf("headers %v", r.Header)
			}
		}
		body := object{"ownerAddress": owner, "scope": "explicit", "tokenAddresses": tokens}
		o.post("getWalletState", "query/wallet-state", jsonText(body), o.wantWallet(owner, "explicit", "latest_accepted_l2", head, tokens))
		if l1, ok := o.chain.L1Head(); ok && l1 >= 2 {
			body["blockPreference"] = "l1_accepted"
			o.post("getWalletState", "query/wallet-state", jsonText(body), o.wantWallet(owner, "explicit", "l1_accepted", l1, tokens))
		}
	}
	o.discovered(accounts[0])
}

// discovered walks all candidates of an owner at one block.
func (o *oracle) discovered(owner felt.Felt) {
	o.t.Helper()
	all, _ := o.deeds()
	got := map[string]string{}
	cursor, pages := "", 0
	for {
		body := object{"ownerAddress": owner, "scope": "discovered", "mode": "verified_partial", "limit": 4}
		if cursor != "" {
			body["cursor"] = cursor
		}
		r := o.send(o.request(http.MethodPost, "/v1/"+chainID+"/query/wallet-state", jsonText(body)))
		var w struct {
			Block struct{ BlockNumber uint64 }
			Items []struct{ TokenAddress, BalanceRaw, Status string }

			HasMore, WalletSafe bool
			NextCursor          string
		}
		if err := json.Unmarshal(r.body, &w); err != nil || r.StatusCode != http.StatusOK {
			o.t.Fatalf("%d %s", r.StatusCode, r.body)
		}
		if w.Block.BlockNumber != o.head() || w.WalletSafe && (w.HasMore || pages > 0) {
			o.t.Errorf("page %d: %s", pages, r.body)
		}
		for _, i := range w.Items {
			if i.Status == "ok" {
				got[i.TokenAddress] = i.BalanceRaw
			}
		}
		o.checks["getWalletState"]++
		if cursor = w.NextCursor; cursor == "" {
			break
		}
		pages++
	}
	want := map[string]string{}
	for i := range all[owner] {
		if t := all[owner][i].moved; t != nil && t.token.Standard == simnode.ERC20 {
			if b := o.chain.BalanceAt(t.token.Address, owner, o.head()); b.Sign() > 0 {
				want[t.token.Address.String()] = b.String()
			}
		}
	}
	for t, b := range want {
		if got[t] != b {
			o.t.Errorf("%s of %s: %q, want %s", t, owner, got[t], b)
		}
	}
	if len(want) < 3 || pages == 0 {
		o.t.Errorf("%d tokens on %d pages", len(want), pages+1)
	}
}

// TestWalletRules asks for what is refused, and for what cannot be had.
func TestWalletRules(t *testing.T) {
	w := newWorld(t, 40)
	ask := func(body object) reply {
		return w.send(w.request(http.MethodPost, "/v1/"+chainID+"/query/wallet-state", jsonText(body)))
	}
	owner, strk := w.chain.Accounts(39)[0], contracts.STRK
	for name, c := range map[string]struct {
		body object
		code api.Code
		says string
	}{
		"no owner":              {object{}, api.CodeInvalidRequest, "ownerAddress"},
		"a wrong key":           {object{"ownerAddress": owner, "wallets": 1}, api.CodeInvalidRequest, "wallets"},
		"a mode":                {object{"ownerAddress": owner, "mode": "fast"}, api.CodeInvalidRequest, "mode"},
		"a scope":               {object{"ownerAddress": owner, "scope": "all"}, api.CodeInvalidRequest, "scope"},
		"explicit of nothing":   {object{"ownerAddress": owner, "scope": "explicit"}, api.CodeInvalidRequest, "tokenAddresses"},
		"tokens that are found": {object{"ownerAddress": owner, "tokenAddresses": []any{strk}}, api.CodeInvalidRequest, "tokenAddresses"},
		"too many tokens":       {object{"ownerAddress": owner, "scope": "explicit", "tokenAddresses": slices.Repeat([]felt.Felt{strk}, 26)}, api.CodeInvalidRequest, "tokenAddresses"},
		"a bad token":           {object{"ownerAddress": owner, "scope": "explicit", "tokenAddresses": []string{"strk"}}, api.CodeInvalidRequest, "tokenAddresses[0]"},
		"no explicit block":     {object{"ownerAddress": owner, "blockPreference": "explicit"}, api.CodeInvalidRequest, "blockPreference"},
		"a block of no use":     {object{"ownerAddress": owner, "blockNumber": 3}, api.CodeInvalidRequest, "blockNumber"},
		"an unknown block":      {object{"ownerAddress": owner, "blockPreference": "explicit", "blockNumber": 999}, api.CodeBlockNotFound, "999"},
		"an unknown hash":       {object{"ownerAddress": owner, "blockPreference": "explicit", "blockHash": "0x99"}, api.CodeBlockNotFound, "0x99"},
		"a made-up cursor":      {object{"ownerAddress": owner, "cursor": "AAAA"}, api.CodeInvalidCursor, "cursor"},
		"a token that is none": {object{"ownerAddress": owner, "scope": "explicit", "tokenAddresses": []any{strk, contracts.CurrentUDC}}, api.CodeWalletIncomplete,
			contracts.CurrentUDC.String()},
		"a token before its time": {object{"ownerAddress": owner, "scope": "explicit", "tokenAddresses": []any{"0x1234"}, "blockPreference": "explicit", "blockNumber": 1},
			api.CodeWalletIncomplete, "0x1234"},
	} {
		r := ask(c.body)
		if e := r.envelope(); e.Code != c.code || !strings.Contains(e.Message, c.says) {
			t.Errorf("%s: %d %s", name, r.StatusCode, r.body)
		} else if c.code == api.CodeWalletIncomplete && r.Header.Get("Retry-After") != "2" {
			t.Errorf("%s: no hint when to try again", name)
		}
	}
	r := ask(object{"ownerAddress": owner, "mode": "verified_partial", "scope": "explicit", "tokenAddresses": []any{strk, contracts.CurrentUDC, "0x1234"}})
	var got struct {
		Partial, WalletSafe bool
		Correctness         string
		Items               []struct {
			TokenAddress felt.Felt
			BalanceRaw   *string
			Status       string
		}
		Verification struct{ Selected, Verified, Unsupported int }
	}
	if err := json.Unmarshal(r.body, &got); err != nil || !got.Partial || got.WalletSafe || got.Correctness != "verified_partial" || len(got.Items) != 3 ||
		got.Verification.Verified != 1 || got.Verification.Unsupported != 2 || got.Items[1].BalanceRaw != nil || got.Items[1].Status != "unsupported" || *got.Items[0].BalanceRaw == "" {
		t.Errorf("%v: %s", err, r.body)
	}
}

// TestWalletBeforeDeployment: a token of the registry that is not deployed is held
// by nobody, which does not make a snapshot incomplete.
func TestWalletBeforeDeployment(t *testing.T) {
	w := newWorld(t, 10)
	known, err := w.known.Chain(chainID).With(registry.Entries{Tokens: []registry.Token{{Address: felt.FromUint64(0x1234), Symbol: "SOON", Name: "Soon", Decimals: 18}}})
	if err != nil {
		t.Fatal(err)
	}
	w.server.SetRegistry(chainID, known)
	r := w.send(w.request(http.MethodPost, "/v1/"+chainID+"/query/wallet-state", jsonText(object{"ownerAddress": w.chain.Accounts(9)[0]})))
	var got struct {
		Correctness  string
		Verification struct{ Selected, Verified, VisibleNonZero, VerifiedZeroHidden int }
	}
	v := &got.Verification
	if err := json.Unmarshal(r.body, &got); err != nil || got.Correctness != "verified_complete" || v.Verified != v.Selected ||
		v.VerifiedZeroHidden == 0 || strings.Contains(string(r.body), `"0x1234"`) {
		t.Errorf("%v: %d %s", err, r.StatusCode, r.body)
	}
}

// failing is a node that does not answer.
type failing struct{ api.Node }

func (failing) CallAt(context.Context, contractcall.Block, []contractcall.Call) ([]contractcall.Result, error) {
	return nil, fmt.Errorf("gone: %w", contractcall.ErrUnavailable)
}

// TestWalletWithoutNode: nothing is made up when no node answers.
func TestWalletWithoutNode(t *testing.T) {
	for _, node := range []api.Node{nil, failing{}} {
		w := newWorld(t, 5, func(o *api.Options) { o.Chains[0].Node = node })
		for _, mode := range []string{"require_complete", "verified_partial"} {
			body := object{"ownerAddress": "0x1", "mode": mode, "scope": "explicit", "tokenAddresses": []any{contracts.STRK}}
			r := w.send(w.request(http.MethodPost, "/v1/"+chainID+"/query/wallet-state", jsonText(body)))
			if r.envelope().Code != api.CodeNodeUnavailable || r.Header.Get("Retry-After") == "" {
				t.Errorf("%s: %d %s", mode, r.StatusCode, r.body)
			}
		}
	}
}

// TestSnapshots: a walk over candidates keeps its block, and ends with its time.
func TestSnapshots(t *testing.T) {
	w := newWorld(t, 40)
	owner := w.chain.Accounts(39)[0]
	path := "/address/" + owner.String() + "/assets/discovery?limit=2"
	var first, second struct {
		SnapshotID string
		NextCursor string
	}
	w.get(path, &first)
	w.chain.Extend(3)
	w.catchUp()
	w.get(path+"&cursor="+first.NextCursor, &second)
	if first.SnapshotID != second.SnapshotID || !strings.HasPrefix(first.SnapshotID, "39:") {
		t.Errorf("snapshots %s and %s", first.SnapshotID, second.SnapshotID)
	}
	refused := func(what, cursor string) {
		t.Helper()
		if r := w.do(http.MethodGet, "/v1/"+chainID+path+"&cursor="+cursor, w.key); r.envelope().Code != api.CodeInvalidCursor {
			t.Errorf("%s: %d %s", what, r.StatusCode, r.body)
		}
	}
	w.clock.advance(5*time.Minute + time.Second)
	refused("five minutes later", second.NextCursor)
	w.get(path, &first)
	w.chain.Fork(20)
	w.chain.Extend(1)
	w.catchUp()
	refused("after a fork", first.NextCursor)
}
