package voyager_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"chainexplorer/internal/api"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/registry"
	"chainexplorer/internal/servertest"
	"chainexplorer/internal/simnode"
)

func seconds(t *testing.T, iso *string) any {
	t.Helper()
	if iso == nil {
		return nil
	}
	at, err := time.Parse(time.RFC3339, *iso)
	if err != nil {
		t.Fatal(err)
	}
	return at.Unix()
}

func padded(f *felt.Felt) any {
	if f == nil {
		return nil
	}
	return f.Padded()
}

// TestContracts holds contracts against what the API says of them.
func TestContracts(t *testing.T) {
	f := feedOf(servertest.Shared(t, blocks))
	c := truth{f.Chain}
	addresses := c.Accounts(c.head())[:3]
	for _, token := range c.Tokens(c.head())[:5] {
		addresses = append(addresses, token.Address)
	}
	for _, at := range addresses {
		var want api.Contract
		f.Get("/contract/"+at.String(), &want)
		got := f.get("/contracts/" + at.String())
		same(t, at.String(), []any{got["address"], got["classHash"], got["blockNumber"], got["creationTimestamp"], got["isAccount"], got["nonce"], got["version"], got["implementationContract"], got["verifiedTimestamp"], got["classAlias"]},
			[]any{at.Padded(), padded(want.ClassHash), want.DeployedAtBlock, seconds(t, want.CreatedOnISO), want.IsAccount, nil, nil, nil, nil, want.ClassLabel})
		if want.DeployedAtBlock != nil && got["blockHash"] != c.BlockAt(*want.DeployedAtBlock).Hash.String() {
			t.Errorf("%s: block %v", at, got["blockHash"])
		}
		kind := *want.TypeLabel
		if want.TokenKind != nil {
			kind = *want.TokenKind
			same(t, at.String(), []any{got["isErcToken"], got["tokenName"]}, []any{true, want.Alias})
		}
		if got["type"] != kind {
			t.Errorf("%s: %v, want %s", at, got["type"], kind)
		}
		if len(got) != 17 {
			t.Errorf("%d fields: %v", len(got), got)
		}
	}
	if text := f.refused("/contracts/0x99", http.StatusNotFound); text != "Contract not found" {
		t.Error(text)
	}
}

func TestClasses(t *testing.T) {
	f := feedOf(servertest.Shared(t, blocks))
	c := truth{f.Chain}
	var all []api.ClassItem
	for cursor := ""; ; {
		var page api.ClassPage
		f.Get("/classes?sort=declared_at_desc&limit=100"+cursor, &page)
		all = append(all, page.Items...)
		if page.NextCursor == nil {
			break
		}
		cursor = "&cursor=" + *page.NextCursor
	}
	got := f.untilLast("/classes", 10)
	if len(got) != len(all) || len(all) < 11 {
		t.Fatalf("%d classes, want %d", len(got), len(all))
	}
	for i, want := range all {
		item := got[i]
		if item["hash"] != want.ClassHash.Padded() {
			t.Fatalf("class %d is %v, want %s", i, item["hash"], want.ClassHash)
		}
		var at any
		if want.DeclaredBlock != nil {
			at = c.BlockAt(*want.DeclaredBlock).Timestamp
		}
		same(t, want.ClassHash.String(), []any{item["creationTimestamp"], item["transactionHash"], item["version"], item["type"], item["verifiedTimestamp"]}, []any{at, nil, nil, nil, nil})
		detail := f.get("/classes/" + want.ClassHash.String())
		for name, v := range item {
			if name != "transactionHash" {
				same(t, "detail."+name, detail[name], v)
			}
		}
		same(t, "detail", []any{detail["contractsCount"], detail["abi"], detail["code"], detail["byteCode"], detail["license"]}, []any{want.InstanceCount, nil, nil, nil, nil})
		if hash, declared := detail["transactionHash"].(string); declared {
			h, _ := felt.Parse(hash) //nolint:errcheck // it is not found then
			ref, found := c.TransactionByHash(h)
			if !found || ref.Transaction.ClassHash != want.ClassHash || detail["declaredBy"] != ref.Transaction.Sender.Padded() {
				t.Errorf("class %s: declared by %v in %v", want.ClassHash, detail["declaredBy"], hash)
			}
		}
		contracts := f.untilLast("/classes/"+want.ClassHash.String()+"/contracts", 10)
		if uint64(len(contracts)) != *want.InstanceCount {
			t.Errorf("class %s: %d contracts, want %d", want.ClassHash, len(contracts), *want.InstanceCount)
		}
		seen := map[any]bool{}
		for _, o := range contracts {
			if seen[o["address"]] {
				t.Errorf("contract %v comes twice", o["address"])
			}
			seen[o["address"]] = true
			at, err := felt.Parse(fmt.Sprint(o["address"]))
			if class, ok := c.ClassAt(at, c.head()); err != nil || !ok || class.Hash != want.ClassHash {
				t.Errorf("contract %v is not of class %s", o["address"], want.ClassHash)
			}
		}
		if len(contracts) > 0 {
			o := contracts[0]
			var summary api.Contract
			f.Get(fmt.Sprintf("/contract/%v", o["address"]), &summary)
			var address api.AddressSummary
			f.Get(fmt.Sprintf("/address/%v", o["address"]), &address)
			same(t, "contract", []any{o["creationTimestamp"], o["txnCount"], o["starknetId"], o["constructorCalldata"]}, []any{seconds(t, summary.CreatedOnISO), address.TransactionCount, nil, nil})
		}
	}
	f.refused("/classes/0x99", http.StatusNotFound)
	f.refused("/classes/0x99/contracts", http.StatusNotFound)
	f.refused("/classes/verified", http.StatusNotImplemented)
}

// textOf and padText spell an address of L1, and one of L2; nil where there is none.
func textOf(f *felt.Felt) any {
	if f == nil {
		return nil
	}
	return f.String()
}

func padText(f *felt.Felt) any {
	if f == nil {
		return nil
	}
	return f.Padded()
}

func TestMessages(t *testing.T) {
	f := feedOf(servertest.Shared(t, blocks))
	c := truth{f.Chain}
	list := func(query string) (out []object) {
		for cursor := ""; ; {
			var page api.MessagePage
			f.Get("/messages?limit=100"+query+cursor, &page)
			for _, m := range page.Items {
				kind, from, to := "l1l2", textOf(m.FromAddress), padText(m.ToAddress)
				if m.Direction == "l2_to_l1" {
					kind, from, to = "l2l1", padText(m.FromAddress), textOf(m.ToAddress)
				}
				hash := c.BlockAt(m.BlockNumber).Hash
				out = append(out, object{"number": nil, "hash": m.MessageHash, "block_number": m.BlockNumber, "block_hash": hash, "tx_hash": m.TxHash, "from_address": from,
					"to_address": to, "l1_blocks_hash": nil, "l2_blocks_hash": hash, "timestamp": seconds(t, m.TimestampISO), "verified_block_number": nil,
					"alias_l1_contract_address": nil, "type": kind})
			}
			if page.NextCursor == nil {
				return out
			}
			cursor = "&cursor=" + *page.NextCursor
		}
	}
	all := list("")
	if len(all) < 11 {
		t.Fatalf("%d messages are too few", len(all))
	}
	nameless := func(items []object) []object {
		for _, i := range items {
			delete(i, "contractAlias")
		}
		return orNone(items)
	}
	same(t, "all", nameless(f.untilLast("/messages", 10)), all)
	same(t, "until short", nameless(f.untilShort("/messages", 10)), all)
	same(t, "to L2", nameless(f.untilLast("/messages?type=0", 10)), list("&direction=l1_to_l2"))
	same(t, "to L1", nameless(f.untilLast("/messages?type=1", 10)), list("&direction=l2_to_l1"))
	for n := range c.head() + 1 {
		in := slices.DeleteFunc(slices.Clone(all), func(o object) bool { return o["block_number"] != n })
		same(t, "of a block", nameless(f.untilLast(fmt.Sprintf("/messages?block=%d", n), 10)), in)
	}
	to := fmt.Sprint(all[0]["to_address"])
	of := slices.DeleteFunc(slices.Clone(all), func(o object) bool { return o["to_address"] != to && o["from_address"] != to })
	same(t, "of a contract", nameless(f.untilLast("/messages?contract="+to, 10)), of)
	f.refused("/messages?type=2", http.StatusBadRequest)
	f.refused("/messages?block=x", http.StatusBadRequest)
	f.refused("/messages/0x1", http.StatusNotImplemented)
}

// transfers reads all transfers of a contract, as an adapter does: by the id of the last one.
func (f feed) transfers(path string) (all []object) {
	f.T.Helper()
	for id := ""; ; {
		page := f.get(path + id)
		items, _ := itemsOf(f.T, object{"items": page["items"], "lastPage": 1.0})
		all = append(all, items...)
		if page["hasMore"] != true {
			return all
		}
		id = "&id=" + fmt.Sprint(items[len(items)-1]["id"])
	}
}

func TestContractTransfers(t *testing.T) {
	f := feedOf(servertest.New(t, 40))
	c := truth{f.Chain}
	of := c.Accounts(c.head())[0]
	path := "/contracts/" + of.String() + "/transfers?ps=10"
	for _, q := range []struct{ feed, api string }{
		{"", "type=erc20"}, {"&type=erc721", "type=erc721"}, {"&type=erc1155", "type=erc1155"}, {"&order_by=asc", "type=erc20&order=asc"},
		{"&from=" + of.Padded(), "type=erc20&direction=out"}, {"&to=" + of.Padded(), "type=erc20&direction=in"}, {"&invocationType=ALL&symbol=STRK", "type=erc20&symbol=STRK"},
		{"&tokenAddress=" + c.Tokens(1)[0].Address.String(), "type=erc20&token=" + c.Tokens(1)[0].Address.String()},
		{fmt.Sprintf("&timestampFrom=%d&timestampTo=%d", c.BlockAt(9).Timestamp, c.BlockAt(20).Timestamp), "type=erc20&from_block=9&to_block=20"},
	} {
		got := f.transfers(path + q.feed)
		var want []api.TransferItem
		for cursor := ""; ; {
			var page api.TransferPage
			f.Get("/address/"+of.String()+"/transfers?limit=100&"+q.api+cursor, &page)
			want = append(want, page.Items...)
			if page.NextCursor == nil {
				break
			}
			cursor = "&cursor=" + *page.NextCursor
		}
		if len(got) != len(want) {
			t.Errorf("%s: %d transfers, want %d", q.feed, len(got), len(want))
			continue
		}
		for i, w := range want {
			g := got[i]
			same(t, q.feed, []any{g["txHash"], g["blockNumber"], g["blockHash"], g["timestamp"], g["tokenAddress"], g["transferFrom"], g["transferTo"], g["transferValue"], g["tokenId"], g["tokenName"], g["tokenSymbol"], g["tokenDecimals"]},
				[]any{w.TxHash, w.BlockNumber, c.BlockAt(w.BlockNumber).Hash, c.BlockAt(w.BlockNumber).Timestamp, w.TokenAddress.Padded(), w.FromAddress.Padded(), w.ToAddress.Padded(), w.Amount, w.TokenID, w.TokenName, w.TokenSymbol, w.TokenDecimals})
		}
	}
	first := f.get(path)
	items, _ := itemsOf(t, object{"items": first["items"], "lastPage": 1.0})
	if len(items) != 10 || first["hasMore"] != true {
		t.Fatalf("the first page: %v", first["hasMore"])
	}
	everything := f.transfers(path + "&order_by=asc")
	if r := first["range"].(object); r["endTimestamp"].(float64) < everything[len(everything)-1]["timestamp"].(float64) || r["startTimestamp"].(float64) > everything[0]["timestamp"].(float64) {
		t.Errorf("range %v", r)
	}
	for _, bad := range []string{"&p=1", "&type=x", "&order_by=up", "&from=0x99", "&to=" + of.String() + "&from=" + of.String(), "&invocationType=EXECUTE", "&id=1", "&id=1-2-3-4-0x5-6",
		"&id=-1-2-3-4-0x5", "&timestampFrom=1&timestampTo=99999999", "&symbol=" + strings.Repeat("x", 65)} {
		f.refused(path+bad, http.StatusBadRequest)
	}
	id := fmt.Sprint(items[0]["id"])
	f.Chain.Fork(3)
	f.Chain.Extend(1)
	f.CatchUp()
	f.refused(path+"&id="+id, http.StatusConflict)
	same(t, "of nobody", f.get("/contracts/0x99/transfers"), object{"items": []any{}, "hasMore": false, "range": object{"startTimestamp": nil, "endTimestamp": nil}})
}

func TestTokensHeld(t *testing.T) {
	f := feedOf(servertest.Shared(t, blocks))
	c := truth{f.Chain}
	for _, of := range c.Accounts(c.head())[:4] {
		r := f.Do(http.MethodGet, "/beta/contracts/"+of.String()+"/erc20-tokens-held", f.Key)
		held, _ := itemsOf(t, object{"items": list(t, r), "lastPage": 1.0})
		balances := f.get("/contracts/" + of.String() + "/token-balances")
		other, _ := itemsOf(t, object{"items": balances["erc20TokenBalances"], "lastPage": 1.0})
		if len(held) == 0 || len(other) != len(held) || balances["totalTokensCount"] != float64(len(held)) || balances["totalUsdValue"] != nil {
			t.Fatalf("%s holds %d and %d tokens: %v", of, len(held), len(other), balances["totalTokensCount"])
		}
		seen, told := map[any]bool{}, 0
		for i, h := range held {
			seen[h["address"]] = true
			at, err := felt.Parse(fmt.Sprint(h["address"]))
			if err != nil {
				t.Fatal(err)
			}
			if h["balance"] != nil {
				told++
			}
			if h["balance"] != nil && h["balance"] != c.BalanceAt(at, of, c.head()).String() {
				t.Errorf("%s has %v of %s, want %s", of, h["balance"], at, c.BalanceAt(at, of, c.head()))
			}
			for name, v := range h {
				same(t, name, other[i][name], v)
			}
		}
		if told == 0 {
			t.Errorf("no balance of %s is told", of)
		}
		for _, token := range c.Tokens(c.head()) {
			if token.Standard == simnode.ERC20 && token.Lie == 0 && c.BalanceAt(token.Address, of, c.head()).Sign() != 0 && !seen[token.Address.Padded()] {
				t.Errorf("%s holds %s, and is not told", of, token.Address)
			}
		}
	}
	if r := f.Do(http.MethodGet, "/beta/contracts/0x99/erc20-tokens-held", f.Key); string(r.Body) != "[]" {
		t.Errorf("nobody holds %s", r.Body)
	}
}

// TestTokensHeldBehindProxies: a token whose class does not tell what it is is told by what it answered.
func TestTokensHeldBehindProxies(t *testing.T) {
	f := feedOf(servertest.New(t, blocks, func(o *servertest.Options) {
		o.Chains[0].Registry = registry.Builtin().Chain(servertest.ChainID) // which does not list the tokens of the simulated chain
	}))
	dai := f.Chain.Network().DAI
	var summary struct{ Standard string }
	if f.Get("/token/"+dai.String(), &summary); summary.Standard != "erc20" {
		t.Fatalf("the token behind the proxy is %s", summary.Standard)
	}
	var page api.TransferPage
	f.Get("/token/"+dai.String()+"/transfers", &page)
	of := page.Items[0].ToAddress
	held, _ := itemsOf(t, object{"items": list(t, f.Do(http.MethodGet, "/beta/contracts/"+of.String()+"/erc20-tokens-held", f.Key)), "lastPage": 1.0})
	at := slices.IndexFunc(held, func(h object) bool { return h["address"] == dai.Padded() })
	if at < 0 {
		t.Fatalf("%s moved %s, an ERC-20, which is not told", of, dai)
	}
	same(t, "of a token that nobody looked at", []any{held[at]["balance"], held[at]["isVerified"]}, []any{nil, nil})
}
