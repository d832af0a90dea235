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
	"chainexplorer/internal/explorer/transfer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/registry"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/simnode/contracts"
	"chainexplorer/internal/starknet"
)

// wantWallet is a wallet state with the balances that the chain has at a block.
func (o *oracle) wantWallet(owner felt.Felt, scope, preference string, n uint64, tokens []felt.Felt) object {
	known := o.registryTokens()
	b := o.Chain.BlockAt(n)
	finality := "accepted_on_l2"
	if l1, ok := o.Chain.L1Head(); ok && n <= l1 {
		finality = "accepted_on_l1"
	}
	if preference == "explicit" {
		finality = "explicit"
	}
	items, zeros := []object{}, 0
	for _, t := range tokens {
		balance := o.Chain.BalanceAt(t, owner, n)
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
		items = append(items, object{"tokenAddress": t, "balanceRaw": balance.String(), "status": "ok", "unreadableReason": nil, "metadata": meta,
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
		"verification": object{"selected": len(tokens), "verified": len(tokens), "visibleNonZero": len(items), "verifiedZeroHidden": zeros, "failed": 0, "timedOut": 0, "unsupported": 0, "unreadable": 0},
		"accountState": object{"nonce": nil, "nonceStatus": "not_requested", "classHash": nil, "classHashStatus": "not_requested"},
		"valuation": object{"scope": "page", "singlePageComplete": false, "completeForWallet": false, "totalUsd": nil, "pricedAssetCount": 0,
			"unpricedNonZeroAssetCount": len(items), "excludedUnpricedAssets": len(items) > 0},
		"hasMore": false, "nextCursor": nil}
}

// wallets compares wallet states at many blocks with the chain's balances.
func (o *oracle) wallets() {
	o.T.Helper()
	head := o.head()
	accounts := o.Chain.Accounts(head)
	var tokens []felt.Felt
	for _, t := range o.Chain.Tokens(2) {
		if t.Standard == simnode.ERC20 {
			tokens = append(tokens, t.Address)
		}
	}
	tokens = tokens[:min(25, len(tokens))]
	for i := 0; i < len(accounts); i += 1 + len(accounts)/4 {
		owner := accounts[i]
		for n := uint64(2); n <= head; n += 1 + head/3 {
			want := o.wantWallet(owner, "explicit", "explicit", n, tokens)
			nonce, there := o.Chain.NonceAt(owner, n)
			state := object{"nonce": nil, "nonceStatus": "verified", "classHash": nil, "classHashStatus": "verified"}
			if there {
				c, _ := o.Chain.ClassAt(owner, n)
				state["nonce"], state["classHash"] = felt.FromUint64(nonce), c.Hash
			}
			want["accountState"] = state
			body := object{"ownerAddress": owner, "scope": "explicit", "tokenAddresses": append(slices.Clone(tokens), tokens[0])[:min(25, len(tokens)+1)],
				"blockPreference": "explicit", "blockNumber": n, "include": object{"nonce": true, "classHash": true}}
			r := o.post("getWalletState", "query/wallet-state", jsonText(body), want)
			if r.Header.Get("X-Service-Query-Class") != "wallet_state" || r.Header.Get("X-Service-Cost-Units") != "1" {
				o.T.Errorf("headers %v", r.Header)
			}
		}
		body := object{"ownerAddress": owner, "scope": "explicit", "tokenAddresses": tokens}
		o.post("getWalletState", "query/wallet-state", jsonText(body), o.wantWallet(owner, "explicit", "latest_accepted_l2", head, tokens))
		if l1, ok := o.Chain.L1Head(); ok && l1 >= 2 {
			body["blockPreference"] = "l1_accepted"
			o.post("getWalletState", "query/wallet-state", jsonText(body), o.wantWallet(owner, "explicit", "l1_accepted", l1, tokens))
		}
	}
	o.discovered(accounts[0])
}

// discovered walks all candidates of an owner at one block.
func (o *oracle) discovered(owner felt.Felt) {
	o.T.Helper()
	all, _ := o.deeds()
	got := map[string]string{}
	cursor, pages := "", 0
	for {
		body := object{"ownerAddress": owner, "scope": "discovered", "mode": "verified_partial", "limit": 4}
		if cursor != "" {
			body["cursor"] = cursor
		}
		r := o.Send(o.Request(http.MethodPost, "/v1/"+chainID+"/query/wallet-state", jsonText(body)))
		var w struct {
			Block struct{ BlockNumber uint64 }
			Items []struct{ TokenAddress, BalanceRaw, Status string }

			HasMore, WalletSafe bool
			NextCursor          string
		}
		if err := json.Unmarshal(r.Body, &w); err != nil || r.StatusCode != http.StatusOK {
			o.T.Fatalf("%d %s", r.StatusCode, r.Body)
		}
		if w.Block.BlockNumber != o.head() || w.WalletSafe && (w.HasMore || pages > 0) {
			o.T.Errorf("page %d: %s", pages, r.Body)
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
			if b := o.Chain.BalanceAt(t.token.Address, owner, o.head()); b.Sign() > 0 {
				want[t.token.Address.String()] = b.String()
			}
		}
	}
	for t, b := range want {
		if got[t] != b {
			o.T.Errorf("%s of %s: %q, want %s", t, owner, got[t], b)
		}
	}
	if len(want) < 3 || pages == 0 {
		o.T.Errorf("%d tokens on %d pages", len(want), pages+1)
	}
}

// TestWalletRules asks for what is refused, and for what cannot be had.
func TestWalletRules(t *testing.T) {
	w := sharedWorld(t, 60)
	ask := func(body object) reply {
		return w.Send(w.Request(http.MethodPost, "/v1/"+chainID+"/query/wallet-state", jsonText(body)))
	}
	owner, strk := w.Chain.Accounts(39)[0], contracts.STRK
	for name, c := range map[string]struct {
		body object
		code kernel.Code
		says string
	}{
		"no owner":              {object{}, kernel.CodeInvalidRequest, "ownerAddress"},
		"a wrong key":           {object{"ownerAddress": owner, "wallets": 1}, kernel.CodeInvalidRequest, "wallets"},
		"a mode":                {object{"ownerAddress": owner, "mode": "fast"}, kernel.CodeInvalidRequest, "mode"},
		"a scope":               {object{"ownerAddress": owner, "scope": "all"}, kernel.CodeInvalidRequest, "scope"},
		"explicit of nothing":   {object{"ownerAddress": owner, "scope": "explicit"}, kernel.CodeInvalidRequest, "tokenAddresses"},
		"tokens that are found": {object{"ownerAddress": owner, "tokenAddresses": []any{strk}}, kernel.CodeInvalidRequest, "tokenAddresses"},
		"too many tokens":       {object{"ownerAddress": owner, "scope": "explicit", "tokenAddresses": slices.Repeat([]felt.Felt{strk}, 26)}, kernel.CodeInvalidRequest, "tokenAddresses"},
		"a bad token":           {object{"ownerAddress": owner, "scope": "explicit", "tokenAddresses": []string{"strk"}}, kernel.CodeInvalidRequest, "tokenAddresses[0]"},
		"no explicit block":     {object{"ownerAddress": owner, "blockPreference": "explicit"}, kernel.CodeInvalidRequest, "blockPreference"},
		"a block of no use":     {object{"ownerAddress": owner, "blockNumber": 3}, kernel.CodeInvalidRequest, "blockNumber"},
		"an unknown block":      {object{"ownerAddress": owner, "blockPreference": "explicit", "blockNumber": 999}, kernel.CodeNotFound, "999"},
		"an unknown hash":       {object{"ownerAddress": owner, "blockPreference": "explicit", "blockHash": "0x99"}, kernel.CodeNotFound, "0x99"},
		"a made-up cursor":      {object{"ownerAddress": owner, "cursor": "AAAA"}, kernel.CodeInvalidCursor, "cursor"},
	} {
		r := ask(c.body)
		if e := r.Envelope(); e.Code != c.code || !strings.Contains(e.Message, c.says) {
			t.Errorf("%s: %d %s", name, r.StatusCode, r.Body)
		}
	}
}

// refusing is a node at which some contracts refuse to tell balances.
type refusing struct {
	api.Node
	tokens []felt.Felt
}

func (n *refusing) CallAt(ctx context.Context, at contractcall.Block, calls []contractcall.Call) ([]contractcall.Result, error) {
	out, err := n.Node.CallAt(ctx, at, calls)
	for i := range out {
		if slices.Contains(n.tokens, calls[i].Contract) {
			out[i] = contractcall.Result{Fault: contractcall.Reverted, Reason: "no"}
		}
	}
	return out, err
}

// TestWalletUnreadable: a token that cannot be read fails no request, whatever the
// mode, and takes nothing from the others.
func TestWalletUnreadable(t *testing.T) {
	node := &refusing{}
	w := newWorld(t, 40, func(o *options) { node.Node, o.Chains[0].Node = o.Chains[0].Node, node })
	ask := func(body object) (s api.WalletState) {
		t.Helper()
		body["ownerAddress"] = w.Chain.Accounts(39)[0]
		r := w.Send(w.Request(http.MethodPost, "/v1/"+chainID+"/query/wallet-state", jsonText(body)))
		if err := json.Unmarshal(r.Body, &s); err != nil || r.StatusCode != http.StatusOK {
			t.Fatalf("%v: %d %s", body, r.StatusCode, r.Body)
		}
		return s
	}
	reasons := func(s api.WalletState) map[felt.Felt]string {
		out := map[felt.Felt]string{}
		for _, i := range s.Items {
			if i.Unreadable != nil {
				if i.BalanceRaw != nil || i.Status == "ok" {
					t.Errorf("%s is %s and has %s", i.TokenAddress, i.Status, *i.BalanceRaw)
				}
				out[i.TokenAddress] = *i.Unreadable
			}
		}
		return out
	}
	before := ask(object{})
	var spam, trusted felt.Felt
	for _, i := range before.Items {
		if i.Metadata.Trusted {
			trusted = i.TokenAddress
		} else {
			spam = i.TokenAddress
		}
	}
	if spam.IsZero() || trusted.IsZero() || !before.WalletSafe {
		t.Fatalf("the owner has too little: %+v", before)
	}

	node.tokens = []felt.Felt{spam}
	s := ask(object{})
	if got := reasons(s); len(got) != 1 || got[spam] != "reverted" || s.Correctness != "verified_complete" || s.Partial || !s.WalletSafe ||
		s.Verification.Unreadable != 1 || s.Verification.Failed != 1 || s.Verification.Verified != before.Verification.Verified-1 || len(s.Items) != len(before.Items) {
		t.Errorf("with a spam token: %v in %+v", got, s)
	}
	for i := range s.Items {
		if s.Items[i].TokenAddress != spam && *s.Items[i].BalanceRaw != *before.Items[i].BalanceRaw {
			t.Errorf("%s has %s, and %s beside a spam token", s.Items[i].TokenAddress, *before.Items[i].BalanceRaw, *s.Items[i].BalanceRaw)
		}
	}
	node.tokens = []felt.Felt{trusted}
	if s := ask(object{}); !s.Partial || s.WalletSafe || s.Correctness != "verified_partial" || reasons(s)[trusted] != "reverted" {
		t.Errorf("without a trusted token: %+v", s)
	}
	node.tokens = nil
	nothing := felt.FromUint64(0x1234)
	for _, mode := range []string{"require_complete", "verified_partial"} {
		s := ask(object{"mode": mode, "scope": "explicit", "tokenAddresses": []any{trusted, contracts.CurrentUDC, nothing}})
		if got := reasons(s); !s.Partial || s.WalletSafe || s.Correctness != "verified_partial" || len(s.Items) != 3 || len(got) != 2 || got[nothing] != "no_contract" ||
			got[contracts.CurrentUDC] != "no_balance_function" || s.Verification.Verified != 1 || s.Verification.Unsupported != 2 || s.Verification.Unreadable != 2 {
			t.Errorf("%s: %+v", mode, s)
		}
	}
}

// TestWalletBeforeDeployment: a token of the registry that is not deployed is held
// by nobody, which does not make a snapshot incomplete.
func TestWalletBeforeDeployment(t *testing.T) {
	w := newWorld(t, 10)
	known, err := w.Known.Chain(chainID).With(registry.Entries{Tokens: []registry.Token{{Address: felt.FromUint64(0x1234), Symbol: "SOON", Name: "Soon", Decimals: 18}}})
	if err != nil {
		t.Fatal(err)
	}
	setRegistry(w.Routes, known)
	r := w.Send(w.Request(http.MethodPost, "/v1/"+chainID+"/query/wallet-state", jsonText(object{"ownerAddress": w.Chain.Accounts(9)[0]})))
	var got struct {
		Correctness  string
		Verification struct{ Selected, Verified, VisibleNonZero, VerifiedZeroHidden int }
	}
	v := &got.Verification
	if err := json.Unmarshal(r.Body, &got); err != nil || got.Correctness != "verified_complete" || v.Verified != v.Selected ||
		v.VerifiedZeroHidden == 0 || strings.Contains(string(r.Body), `"0x1234"`) {
		t.Errorf("%v: %d %s", err, r.StatusCode, r.Body)
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
		w := newWorld(t, 5, func(o *options) { o.Chains[0].Node = node })
		for _, mode := range []string{"require_complete", "verified_partial"} {
			body := object{"ownerAddress": "0x1", "mode": mode, "scope": "explicit", "tokenAddresses": []any{contracts.STRK}}
			r := w.Send(w.Request(http.MethodPost, "/v1/"+chainID+"/query/wallet-state", jsonText(body)))
			if !nodeIsAway(r) || r.Header.Get("Retry-After") == "" {
				t.Errorf("%s: %d %s", mode, r.StatusCode, r.Body)
			}
		}
	}
}

// stumbling is a node that fails when it is asked about a token among others, and with some error when it is asked about it alone.
type stumbling struct {
	api.Node
	over  felt.Felt
	alone error
}

func (n *stumbling) CallAt(ctx context.Context, at contractcall.Block, calls []contractcall.Call) ([]contractcall.Result, error) {
	if !slices.ContainsFunc(calls, func(c contractcall.Call) bool { return c.Contract == n.over }) {
		return n.Node.CallAt(ctx, at, calls)
	}
	if len(calls) == len(contractcall.BalanceOf) {
		return nil, n.alone
	}
	return nil, fmt.Errorf("an odd error: %w", contractcall.ErrUnavailable)
}

// TestWalletInPart: one token that no node can be asked about this time takes nothing from the others where the request
// takes what there is, and fails the whole where it does not.
func TestWalletInPart(t *testing.T) {
	node := &stumbling{}
	w := newWorld(t, 40, func(o *options) { node.Node, o.Chains[0].Node = o.Chains[0].Node, node })
	ask := func(mode string) reply {
		return w.Send(w.Request(http.MethodPost, "/v1/"+chainID+"/query/wallet-state", jsonText(object{"ownerAddress": w.Chain.Accounts(39)[0], "mode": mode})))
	}
	read := func(r reply) (s api.WalletState) {
		t.Helper()
		if err := json.Unmarshal(r.Body, &s); err != nil || r.StatusCode != http.StatusOK {
			t.Fatalf("%d %s", r.StatusCode, r.Body)
		}
		return s
	}
	before := read(ask("verified_partial"))
	if len(before.Items) < 2 || before.Partial {
		t.Fatalf("the owner has too little: %+v", before)
	}
	bad := before.Items[0].TokenAddress
	node.over = bad
	for status, err := range map[string]error{"error": contractcall.ErrUnavailable, "timeout": context.DeadlineExceeded} {
		node.alone = err
		if r := ask("require_complete"); !nodeIsAway(r) {
			t.Errorf("%s: %d %s", status, r.StatusCode, r.Body)
		}
		s := read(ask("verified_partial"))
		v := s.Verification
		if !s.Partial || s.WalletSafe || s.Correctness != "verified_partial" || len(s.Items) != len(before.Items) || v.Unreadable != 0 ||
			v.Verified != before.Verification.Verified-1 || v.Failed+v.TimedOut != 1 || (v.TimedOut == 1) != (status == "timeout") {
			t.Errorf("%s: %+v", status, s)
		}
		for i, item := range s.Items {
			switch was := before.Items[i]; {
			case item.TokenAddress != was.TokenAddress:
				t.Errorf("%s: item %d is of %s, and was of %s", status, i, item.TokenAddress, was.TokenAddress)
			case item.TokenAddress == bad:
				if item.Status != status || item.BalanceRaw != nil || item.Unreadable != nil {
					t.Errorf("%s: %+v", status, item)
				}
			case item.Status != "ok" || *item.BalanceRaw != *was.BalanceRaw:
				t.Errorf("%s: %+v, and was %+v", status, item, was)
			}
		}
	}
}

// TestSnapshots: a walk over candidates keeps its block, and ends with its time.
func TestSnapshots(t *testing.T) {
	w := newWorld(t, 40)
	owner := w.Chain.Accounts(39)[0]
	path := "/address/" + owner.String() + "/assets/discovery?limit=2"
	var first, second struct {
		SnapshotID string
		NextCursor string
	}
	w.Get(path, &first)
	w.Chain.Extend(3)
	w.CatchUp()
	w.Get(path+"&cursor="+first.NextCursor, &second)
	if first.SnapshotID != second.SnapshotID || !strings.HasPrefix(first.SnapshotID, "39:") {
		t.Errorf("snapshots %s and %s", first.SnapshotID, second.SnapshotID)
	}
	refused := func(what, cursor string) {
		t.Helper()
		if r := w.Do(http.MethodGet, "/v1/"+chainID+path+"&cursor="+cursor, w.Key); r.Envelope().Code != kernel.CodeInvalidCursor {
			t.Errorf("%s: %d %s", what, r.StatusCode, r.Body)
		}
	}
	w.Clock.Advance(5*time.Minute + time.Second)
	refused("five minutes later", second.NextCursor)
	w.Get(path, &first)
	w.Chain.Fork(20)
	w.Chain.Extend(1)
	w.CatchUp()
	refused("after a fork", first.NextCursor)
}

// TestDiscoveryPages: known tokens come first, and pages are full as long as there
// is something to fill them with, however many NFT collections lie between.
func TestDiscoveryPages(t *testing.T) {
	w := newWorld(t, 120)
	owner, collections := busiestCollector(w.Chain, 119)
	if collections < 3 {
		t.Fatalf("the best collector has %d collections", collections)
	}
	for _, scope := range []string{"discovered", "discovered_plus_registry"} {
		for _, limit := range []int{1, 2, 7} {
			path := fmt.Sprintf("/address/%s/assets/discovery?scope=%s&limit=%d", owner, scope, limit)
			var page api.AssetPage
			var all []api.Asset
			for cursor := ""; ; cursor = "&cursor=" + *page.NextCursor {
				page = api.AssetPage{}
				w.Get(path+cursor, &page)
				all = append(all, page.Items...)
				if page.HasMore != (page.NextCursor != nil) || page.HasMore && len(page.Items) < limit || !page.HasMore && len(page.Items) == 0 {
					t.Errorf("%s: a page of %d, more: %v", path, len(page.Items), page.HasMore)
				}
				if page.NextCursor == nil {
					break
				}
			}
			seen := map[felt.Felt]bool{}
			for i, x := range all {
				if seen[x.TokenAddress] {
					t.Errorf("%s: %s is listed twice", path, x.TokenAddress)
				}
				seen[x.TokenAddress] = true
				if i > 0 && x.Metadata.Trusted && !all[i-1].Metadata.Trusted {
					t.Errorf("%s: the trusted token %s stands behind another", path, x.TokenAddress)
				}
			}
			if !all[0].Metadata.Trusted || len(all) < 4 {
				t.Errorf("%s: %d tokens, the first %+v", path, len(all), all[0])
			}
		}
	}
}

// busiestCollector is who touched the most NFT collections.
func busiestCollector(c *simnode.Chain, head uint64) (best felt.Felt, most int) {
	touched := map[felt.Felt]map[felt.Felt]bool{}
	for _, token := range c.Tokens(head) {
		if token.Standard == simnode.ERC20 {
			continue
		}
		for n := range head + 1 {
			for _, r := range c.BlockAt(n).Receipts {
				for _, e := range r.Events {
					if e.From != token.Address {
						continue
					}
					for _, x := range transfer.Of([]starknet.Event{e}) {
						for _, a := range []felt.Felt{x.From, x.To} {
							if !a.IsZero() {
								if touched[a] == nil {
									touched[a] = map[felt.Felt]bool{}
								}
								touched[a][token.Address] = true
							}
						}
					}
				}
			}
		}
	}
	for a, tokens := range touched {
		if len(tokens) > most || len(tokens) == most && a.Cmp(best) < 0 {
			best, most = a, len(tokens)
		}
	}
	return best, most
}
