package api_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"net/url"
	"slices"
	"time"
	"unicode"

	"chainexplorer/internal/api"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/starknet"
)

// What the routes of tokens must answer, from the simulated chain alone.

// moved is a transfer as the chain's tokens mean it.
type moved struct {
	token         *simnode.Token
	block         *starknet.Block
	tx, log, item int
	from, to      felt.Felt
	id, value     *big.Int // id is nil of an ERC-20
}

// number is a 256-bit number in two felts; nil when it is none.
func number(low, high felt.Felt) *big.Int {
	v, err := felt.U256(low, high)
	if err != nil {
		return nil
	}
	return new(big.Int).SetBytes(v[:])
}

// movesOf reads the events of tokens that the chain knows. Nobody else's are
// well-formed on a simulated chain.
func movesOf(tokens map[felt.Felt]*simnode.Token, b *starknet.Block, tx int) (out []moved) {
	for log, e := range b.Receipts[tx].Events {
		k := tokens[e.From]
		if k == nil || len(e.Keys) == 0 {
			continue
		}
		all := append(append([]felt.Felt{}, e.Keys[1:]...), e.Data...)
		add := func(from, to felt.Felt, id, value *big.Int) {
			out = append(out, moved{k, b, tx, log, len(out), from, to, id, value})
			out[len(out)-1].item = 0
		}
		switch name := e.Keys[0]; {
		case name == felt.Selector("Transfer") && k.Standard == simnode.ERC20:
			add(all[0], all[1], nil, number(all[2], all[3]))
		case name == felt.Selector("Transfer") && k.Standard == simnode.ERC721:
			add(all[0], all[1], number(all[2], all[3]), big.NewInt(1))
		case name == felt.Selector("TransferSingle"):
			add(all[1], all[2], number(all[3], all[4]), number(all[5], all[6]))
		case name == felt.Selector("TransferBatch"):
			n, _ := all[3].Uint64()
			ids, values := all[4:], all[5+2*n:]
			for i := range int(n) {
				add(all[1], all[2], number(ids[2*i], ids[2*i+1]), number(values[2*i], values[2*i+1]))
				out[len(out)-1].item = i
			}
		}
	}
	return out
}

func (w *world) tokensByAddress() map[felt.Felt]*simnode.Token {
	head, _ := w.Chain.Head()
	out := map[felt.Felt]*simnode.Token{}
	for _, k := range w.Chain.Tokens(head) {
		out[k.Address] = &k
	}
	return out
}

// moves lists all transfers of the chain, newest first.
func (w *world) moves() (out []moved) {
	head, _ := w.Chain.Head()
	tokens := w.tokensByAddress()
	for n := range head + 1 {
		b := w.Chain.BlockAt(n)
		for i := range b.Receipts {
			out = append(out, movesOf(tokens, b, i)...)
		}
	}
	slices.Reverse(out)
	return out
}

var standardNames = map[simnode.Standard]string{simnode.ERC20: "erc20", simnode.ERC721: "erc721", simnode.ERC1155: "erc1155"}

func text(n *big.Int) any {
	if n == nil {
		return nil
	}
	return n.String()
}

func (o *oracle) wantTxTransfers(b *starknet.Block, tx int) []object {
	out := []object{}
	for _, m := range movesOf(o.tokensByAddress(), b, tx) {
		out = append(out, object{"logIndex": m.log, "transferIndex": m.item, "tokenAddress": m.token.Address, "fromAddress": m.from, "toAddress": m.to,
			"amount": text(m.value), "tokenId": text(m.id), "standard": standardNames[m.token.Standard], "historicalUsd": nil})
	}
	return out
}

// shown is how a name of a token is shown.
func shown(s string, most int) string {
	runes := []rune(s)
	if len(runes) > most {
		runes = append(runes[:most-1], '…')
	}
	for i, r := range runes {
		if unicode.IsControl(r) || r != '\u200d' && unicode.Is(unicode.Cf, r) {
			runes[i] = unicode.ReplacementChar
		}
	}
	return string(runes)
}

// wantNames are what a token says of itself; a short string has 31 bytes.
func (w *world) wantNames(k *simnode.Token) (name, symbol, decimals any) {
	if k.Standard == simnode.ERC1155 {
		return nil, nil, nil
	}
	head, _ := w.Chain.Head()
	class, _ := w.Chain.ClassAt(k.Address, head)
	n, s := k.Name, k.Symbol
	if !class.ByteArrayText {
		n, s = n[:min(31, len(n))], s[:min(31, len(s))]
	}
	if k.Standard == simnode.ERC20 {
		decimals = k.Decimals
	}
	return shown(n, 128), shown(s, 40), decimals
}

func (w *world) wantTransfer(m *moved, withToken bool) object {
	name, symbol, decimals := w.wantNames(m.token)
	tier, basis := w.wantTier(m.block.Number)
	out := object{"blockNumber": m.block.Number, "timestampIso": iso(m.block.Timestamp), "txIndex": m.tx, "logIndex": m.log, "transferIndex": m.item,
		"txHash": m.block.Transactions[m.tx].Hash, "fromAddress": m.from, "toAddress": m.to, "amount": text(m.value), "rawValue": text(m.value), "tokenId": text(m.id),
		"standard": standardNames[m.token.Standard], "tokenSymbol": symbol, "tokenName": name, "tokenDecimals": decimals, "actionContext": nil,
		"historicalUsd": nil, "sourceTier": tier, "sourceTierBasis": basis}
	if withToken {
		out["tokenAddress"] = m.token.Address
	}
	if m.token.Standard == simnode.ERC721 {
		out["rawValue"] = nil
	}
	for kind, label := range map[string]string{"mint": "Mint", "burn": "Burn"} {
		if kind == "mint" && m.from.IsZero() || kind == "burn" && m.to.IsZero() {
			out["actionContext"] = object{"actionKind": kind, "actionLabel": label, "methodLabel": nil, "protocolSlug": nil, "protocolName": nil,
				"reasonCode": "zero_address_party", "confidence": "exact", "isInternalRouting": false, "source": "indexed_transfer_event", "indexedAt": nil}
		}
	}
	return out
}

// tokens compares the routes of tokens with the chain.
func (o *oracle) tokens(head uint64) {
	o.T.Helper()
	all := o.moves()
	byToken := map[felt.Felt][]moved{}
	for _, m := range all {
		byToken[m.token.Address] = append(byToken[m.token.Address], m)
	}
	want := []object{}
	for i := range all {
		want = append(want, o.wantTransfer(&all[i], true))
	}
	o.sameList("transfers", want, o.pages("listTransfers", "transfers", 100, nil))
	if n := 40; len(all) > n {
		o.sameList("newest transfers", want[:n], o.pageOf("listTransfers", "transfers?limit=40"))
	}
	for _, k := range o.Chain.Tokens(head) {
		own := byToken[k.Address]
		path := chainID + "/token/" + k.Address.String()
		if len(own) == 0 {
			o.missing("getToken", path)
			continue
		}
		o.token(&k, path, own)
		if len(own) > 60 && k.Symbol != "USDC" {
			continue
		}
		want, party := []object{}, []object{}
		for i := range own {
			row := o.wantTransfer(&own[i], false)
			want = append(want, row)
			if own[i].from == own[0].to || own[i].to == own[0].to {
				party = append(party, row)
			}
		}
		o.sameList(k.Symbol, want, o.pages("listTokenTransfers", "token/"+k.Address.Padded()+"/transfers", 17, nil))
		o.sameList(k.Symbol, party, o.pageOf("listTokenTransfers", "token/"+k.Address.String()+"/transfers?limit=100&address="+own[0].to.String()))
	}
}

// pageOf is the first page of a list with a query.
func (o *oracle) pageOf(op, path string) []json.RawMessage {
	o.T.Helper()
	r := o.ask(op, chainID+"/"+path)
	var p page
	if err := json.Unmarshal(r.Body, &p); err != nil || r.StatusCode != http.StatusOK {
		o.T.Fatalf("GET %s: %d %s", path, r.StatusCode, r.Body)
	}
	o.checked(op, chainID+"/"+path, r)
	return p.Items
}

// token compares a summary; the supply is that of the block it names.
func (o *oracle) token(k *simnode.Token, path string, own []moved) {
	o.T.Helper()
	head, _ := o.Chain.Head()
	senders, receivers := map[felt.Felt]bool{}, map[felt.Felt]bool{}
	for _, m := range own {
		senders[m.from], receivers[m.to] = true, true
	}
	delete(senders, felt.Zero)
	delete(receivers, felt.Zero)
	name, symbol, decimals := o.wantNames(k)
	var got api.TokenSummary
	o.Get("/token/"+k.Address.String(), &got)
	want := object{"chainId": chainID, "tokenAddress": k.Address, "symbol": symbol, "name": name, "decimals": decimals, "standard": standardNames[k.Standard],
		"metadataUpdatedAtIso": got.MetadataUpdatedAtISO, "summaryVersion": own[0].block.Number, "summaryVersionUpdatedAtIso": iso(own[0].block.Timestamp),
		"summaryCacheStatus": "current", "summaryCacheUpdatedAtIso": o.Clock.Now().UTC().Format(time.RFC3339),
		"transferCount": len(own), "distinctFromCount": len(senders), "distinctToCount": len(receivers), "latestTransferBlock": own[0].block.Number,
		"totalSupplyRaw": nil, "totalSupplySource": nil, "totalSupplyBlockNumber": nil, "totalSupplyUpdatedAtIso": nil}
	if k.Standard == simnode.ERC20 {
		if got.TotalSupplyBlockNumber == nil || *got.TotalSupplyBlockNumber > head {
			o.T.Fatalf("%s: supply at %v", path, got.TotalSupplyBlockNumber)
		}
		want["totalSupplyRaw"] = o.Chain.SupplyAt(k.Address, *got.TotalSupplyBlockNumber).String()
		for _, m := range own {
			if (m.from.IsZero() || m.to.IsZero()) && m.block.Number > *got.TotalSupplyBlockNumber {
				want["summaryCacheStatus"] = "stale"
			}
		}
		want["totalSupplySource"], want["totalSupplyBlockNumber"], want["totalSupplyUpdatedAtIso"] = "starknet_rpc_totalSupply", got.TotalSupplyBlockNumber, got.MetadataUpdatedAtISO
	}
	o.same("getToken", path, want)
}

// query is a list of transfers with filters.
func (w *world) transferPages(q url.Values, limit int) (rows []json.RawMessage) {
	w.T.Helper()
	q.Set("limit", fmt.Sprint(limit))
	for {
		var p page
		w.Get("/transfers?"+q.Encode(), &p)
		if len(p.Items) > limit {
			w.T.Fatalf("%d transfers on a page of %d", len(p.Items), limit)
		}
		rows = append(rows, p.Items...)
		if p.NextCursor == nil {
			return rows
		}
		q.Set("cursor", *p.NextCursor)
	}
}
