package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"slices"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/simnode/contracts"
	"chainexplorer/internal/starknet"
)

// deed is something that an address did: a transaction or a transfer.
type deed struct {
	b     *starknet.Block
	tx    int
	parts []string // of a transaction
	moved *moved
}

// kindNames is the order of an address's parts.
var kindNames = []string{"sender", "deployed", "called", "l1_handler"}

// deeds lists what every address did, newest first; order is that of first appearance.
func (o *oracle) deeds() (all map[felt.Felt][]deed, order []felt.Felt) {
	all, tokens := map[felt.Felt][]deed{}, o.tokensByAddress()
	add := func(a felt.Felt, d deed) {
		if all[a] == nil {
			order = append(order, a)
		}
		all[a] = append(all[a], d)
	}
	for n := range o.head() + 1 {
		b := o.Chain.BlockAt(n)
		for i := range b.Transactions {
			t, r := &b.Transactions[i], &b.Receipts[i]
			parts, names := map[felt.Felt][]bool{}, []felt.Felt{}
			part := func(a felt.Felt, kind int) {
				if parts[a] == nil {
					parts[a] = make([]bool, len(kindNames))
					names = append(names, a)
				}
				parts[a][kind] = true
			}
			switch t.Type {
			case starknet.Invoke:
				if t.Version.IsZero() {
					part(t.ContractAddress, 2)
					break
				}
				part(t.Sender, 0)
				for _, c := range callsOf(t) {
					part(felt.MustParse(c["to"].(string)), 2)
				}
			case starknet.Declare:
				part(t.Sender, 0)
			case starknet.DeployAccount:
				part(r.ContractAddress, 0)
				part(r.ContractAddress, 1)
			case starknet.Deploy:
				part(r.ContractAddress, 1)
			case starknet.L1Handler:
				part(t.ContractAddress, 3)
			}
			for _, a := range o.spawned(b, i) {
				part(a, 1)
			}
			for _, a := range names {
				d := deed{b: b, tx: i}
				for k, is := range parts[a] {
					if is {
						d.parts = append(d.parts, kindNames[k])
					}
				}
				add(a, d)
			}
			for _, m := range movesOf(tokens, b, i) {
				d := deed{b: b, tx: i, moved: &m}
				add(m.from, d)
				if m.to != m.from {
					add(m.to, d)
				}
			}
		}
	}
	for _, list := range all {
		slices.Reverse(list)
	}
	return all, order
}

func (o *oracle) tier(n uint64) string {
	if n+depth <= o.head() {
		return "finalized"
	}
	return "head"
}

func other(a felt.Felt, d *deed) any {
	end, to := ends(&d.b.Transactions[d.tx], &d.b.Receipts[d.tx])
	if slices.Contains(d.parts, "sender") {
		end = to
	}
	if end == any(a.String()) {
		return nil
	}
	return end
}

func (o *oracle) wantActivity(a felt.Felt, d *deed) object {
	row := object{"blockNumber": d.b.Number, "timestampIso": iso(d.b.Timestamp), "txIndex": d.tx, "txHash": d.b.Transactions[d.tx].Hash,
		"txCursor": fmt.Sprintf("%d:%d", d.b.Number, d.tx), "logIndex": nil, "transferIndex": nil, "tokenAddress": nil, "amount": nil, "tokenId": nil,
		"primaryMethod": nil, "primaryMethodSource": nil}
	if d.moved == nil {
		o.wantPrimary(row, d.b, d.tx, o.wantMethod)
		row["kind"], row["counterparty"] = d.parts[0], other(a, d)
		return row
	}
	row["logIndex"], row["transferIndex"], row["tokenAddress"] = d.moved.log, d.moved.item, d.moved.token.Address
	row["amount"], row["tokenId"] = text(d.moved.value), text(d.moved.id)
	switch {
	case d.moved.from == d.moved.to:
		row["kind"], row["counterparty"] = "transfer_self", a
	case d.moved.to == a:
		row["kind"], row["counterparty"] = "transfer_in", d.moved.from
	default:
		row["kind"], row["counterparty"] = "transfer_out", d.moved.to
	}
	return row
}

func (o *oracle) wantAddressTx(a felt.Felt, d *deed) object {
	t, r := &d.b.Transactions[d.tx], &d.b.Receipts[d.tx]
	from, to := ends(t, r)
	row := object{"blockNumber": d.b.Number, "timestampIso": iso(d.b.Timestamp), "txIndex": d.tx, "txHash": t.Hash, "kinds": d.parts, "counterparty": other(a, d),
		"txType": t.Type.String(), "executionStatus": r.Execution.String(), "finalityStatus": d.b.Status.String(), "fromAddress": from, "toAddress": to,
		"callCount": nil, "methodsDiffer": nil, "topTransferTokenAddress": nil, "topTransferAmount": nil, "topTransferStandard": nil}
	o.wantPrimary(row, d.b, d.tx, o.wantMethod)
	if calls := callsOf(t); calls != nil {
		row["callCount"] = len(calls)
		row["methodsDiffer"] = slices.ContainsFunc(calls, func(c object) bool { return c["selector"] != calls[0]["selector"] })
	}
	n, top := 0, big.NewInt(-2)
	for _, m := range movesOf(o.tokensByAddress(), d.b, d.tx) {
		if m.from != a && m.to != a {
			continue
		}
		n++
		amount := m.value
		if amount == nil {
			amount = big.NewInt(-1)
		}
		if amount.Cmp(top) > 0 {
			top = amount
			row["topTransferTokenAddress"], row["topTransferAmount"], row["topTransferStandard"] = m.token.Address, text(m.value), standardNames[m.token.Standard]
		}
	}
	row["transferCount"] = n
	return row
}

// wantSummary is what the chain says of an address.
func (o *oracle) wantSummary(a felt.Felt, deeds []deed) object {
	transfers, first, latest := 0, any(nil), any(nil)
	for i := range deeds {
		if deeds[i].moved != nil {
			transfers++
		}
	}
	if len(deeds) > 0 {
		first, latest = deeds[len(deeds)-1].b.Number, deeds[0].b.Number
	}
	out := object{"address": a, "totalActivityCount": len(deeds), "activityCountExact": true, "transactionCount": len(transactionsOf(a, deeds)), "transferCount": transfers,
		"firstActivityBlock": first, "latestActivityBlock": latest, "classHash": nil, "isAccount": nil, "createdOnIso": nil, "deployedAtTxHash": nil,
		"deployedByAddress": nil, "deploymentProvenance": nil, "contractExistence": nil}
	c, there := o.Chain.ClassAt(a, o.head())
	out["known"] = there || len(deeds) > 0
	if !there {
		out["contractExistence"] = object{"status": "not_deployed", "reasonCode": "contract_not_found", "evidenceSource": "finalized_class_hash_at",
			"observedBlockNumber": o.head() - depth, "observedBlockHash": o.Chain.BlockAt(o.head() - depth).Hash, "expiresAtIso": nil}
		if a.Cmp(felt.FromUint64(4)) < 0 { // the protocol's own
			out["isAccount"], out["contractExistence"] = false, nil
		}
		o.wantKind(out, a, out["isAccount"])
		return out
	}
	w := o.wantContract(a)
	o.wantKind(out, a, w["isAccount"])
	out["classHash"], out["createdOnIso"], out["deployedAtTxHash"], out["deployedByAddress"] = c.Hash, w["createdOnIso"], w["deployedAtTx"], w["deployedByAddress"]
	out["isAccount"], out["deploymentProvenance"] = w["isAccount"], w["deploymentProvenance"]
	return out
}

// sample are addresses worth a look: busy ones, quiet ones, and none at all.
func (o *oracle) sample(all map[felt.Felt][]deed, order []felt.Felt) []felt.Felt {
	busiest := order[0]
	for _, a := range order {
		if len(all[a]) > len(all[busiest]) {
			busiest = a
		}
	}
	out := []felt.Felt{busiest, felt.Zero, felt.FromUint64(12345), contracts.CurrentUDC, contracts.STRK}
	for i := 0; i < len(order); i += 1 + len(order)/4 {
		out = append(out, order[i])
	}
	for _, a := range order { // somebody who sent something to himself
		if slices.ContainsFunc(all[a], func(d deed) bool { return d.moved != nil && d.moved.from == d.moved.to }) {
			return append(out, a)
		}
	}
	return out
}

// addresses compares all lists of addresses with the chain.
func (o *oracle) addresses() {
	o.T.Helper()
	all, order := o.deeds()
	for n, a := range o.sample(all, order) {
		o.address(a, all, n < 3)
	}
	o.batches(all, order)
}

// address compares the lists of one address, and all filters of them when there are few
// rows or it is asked for.
func (o *oracle) address(a felt.Felt, all map[felt.Felt][]deed, filters bool) {
	o.T.Helper()
	path := "address/" + a.String()
	activity, txs, transfers := []object{}, []object{}, []object{}
	in, out := []object{}, []object{}
	for i := range all[a] {
		d := &all[a][i]
		activity = append(activity, o.wantActivity(a, d))
		if d.moved == nil {
			continue
		}
		transfers = append(transfers, o.wantTransfer(d.moved, true))
		if d.moved.to == a {
			in = append(in, o.wantTransfer(d.moved, true))
		}
		if d.moved.from == a {
			out = append(out, o.wantTransfer(d.moved, true))
		}
	}
	for _, d := range transactionsOf(a, all[a]) {
		txs = append(txs, o.wantAddressTx(a, &d))
	}
	o.addressOrders(path, activity, txs, transfers)
	for _, limit := range []int{7, 100} {
		if limit < 10 && len(activity) > 200 {
			continue // the pages of the busiest would take long
		}
		o.sameList(path+" activity", activity, o.pages("listAddressActivity", path+"/activity", limit, nil))
		o.sameList(path+" transactions", txs, o.pages("listAddressTransactions", path+"/transactions", limit, nil))
		o.sameList(path+" transfers", transfers, o.pages("listAddressTransfers", path+"/transfers", limit, nil))
	}
	o.sameList(path+" in", in, o.pages("listAddressTransfers", path+"/transfers?direction=in", 100, nil))
	o.sameList(path+" out", out, o.pages("listAddressTransfers", path+"/transfers?direction=out", 100, nil))
	if filters || len(transfers) < 60 {
		o.filtered(path, transfers)
	}
	o.same("getAddress", chainID+"/"+path, o.wantSummary(a, all[a]))
	o.assets(a, all[a])
}

// post compares one answer to a body.
func (o *oracle) post(op, path, content string, want any) reply {
	o.T.Helper()
	r := o.Send(o.Request(http.MethodPost, "/v1/"+chainID+"/"+path, content))
	if r.StatusCode != http.StatusOK {
		o.T.Fatalf("POST %s: %d %s", path, r.StatusCode, r.Body)
	}
	if d := difference(want, r.Body); d != "" {
		o.T.Fatalf("POST %s: %s\n%s", path, d, r.Body)
	}
	if got := o.Contract.Of(http.MethodPost, "/v1/"+chainID+"/"+path); got == nil || got.ID != op {
		o.T.Fatalf("POST %s is not %s", path, op)
	}
	o.checks[op]++
	return r
}

func jsonText(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.Encode(v) //nolint:errcheck // what tests write can be encoded
	return b.String()
}

// batches compares the batch helpers for every address and transaction.
func (o *oracle) batches(all map[felt.Felt][]deed, order []felt.Felt) {
	o.T.Helper()
	order = append(slices.Clone(order), felt.FromUint64(999), order[0], order[0])
	for part := range slices.Chunk(order, 128) {
		var names []string
		summaries, intelligence := []object{}, []object{}
		for i, a := range part {
			text := a.String()
			if i%2 == 1 {
				text = a.Padded()
			}
			names = append(names, text)
			summaries = append(summaries, o.wantSummary(a, all[a]))
			intelligence = append(intelligence, o.wantIntelligence(a, all[a]))
		}
		content := jsonText(object{"addresses": names})
		o.post("summarizeAddresses", "address/summaries", content, object{"items": summaries})
		o.post("describeAddresses", "address/intelligence", content, object{"contractVersion": "service.address_activity_truth.v1",
			"sourceContractVersion": "indexed_successful_transaction_and_activity_summary.v1", "items": intelligence})
	}
	hashes, items := []felt.Felt{felt.FromUint64(77)}, []object{wantNoPreview(felt.FromUint64(77))}
	for n := o.head(); len(hashes) < 90 && n > 0; n-- {
		b := o.Chain.BlockAt(n)
		for i := range b.Transactions {
			hashes, items = append(hashes, b.Transactions[i].Hash), append(items, o.wantPreview(b, i))
		}
	}
	hashes, items = append(hashes[:min(99, len(hashes))], hashes[1]), append(items[:min(99, len(items))], items[1])
	o.post("previewTransactions", "tx/previews", jsonText(object{"hashes": hashes, "includeLogs": true, "includeExchangeCalls": true, "logLimitPerTx": 3}), object{"items": items})
}

func (o *oracle) wantIntelligence(a felt.Felt, deeds []deed) object {
	summary := o.wantSummary(a, deeds)
	out := object{"address": a, "known": len(deeds) > 0, "isDeployed": false, "label": nil, "labelSource": nil, "protocol": nil, "source": "indexed_partner_address_evidence",
		"hasReceivedFunds": slices.ContainsFunc(deeds, func(d deed) bool { return d.moved != nil && d.moved.to == a }),
		"activityCoverage": object{"status": "partial", "reasonCode": "success_only_total_not_materialized", "evidenceSource": "indexed_successful_transaction_and_activity_summary",
			"fromBlock": 0, "throughBlock": o.head(), "sourceWatermarkBlock": o.head(), "sourceWatermarkHash": o.Chain.BlockAt(o.head()).Hash}}
	if len(deeds) == 0 {
		out["activityCoverage"].(object)["status"], out["activityCoverage"].(object)["reasonCode"] = "exhaustive", "no_indexed_activity_evidence"
	}
	o.wantKind(out, a, summary["isAccount"])
	for _, name := range []string{"totalActivityCount", "activityCountExact", "latestActivityBlock", "classHash", "isAccount", "createdOnIso", "deployedAtTxHash", "deployedByAddress", "deploymentProvenance"} {
		out[name] = summary[name]
	}
	for _, name := range []string{"currentClassHash", "deploymentClassHash", "classHashSource", "classHashAsOfBlock", "classHashAsOfBlockHash", "classHashFinality"} {
		out[name] = nil
	}
	if l, ok := o.Registry.Label(a); ok {
		out["known"], out["label"], out["labelSource"] = true, l.Name, "indexed_protocol_registry"
		if l.Protocol != "" {
			out["protocol"] = object{"name": l.Protocol, "kind": orNull(l.Kind)}
		}
	} else if t, ok := o.Registry.Token(a); ok {
		out["known"], out["label"], out["labelSource"] = true, t.Name, "curated_known_token_metadata"
	}
	if _, there := o.Chain.ClassAt(a, o.head()); there {
		w := o.wantContract(a)
		for _, name := range []string{"classHash", "currentClassHash", "deploymentClassHash", "classHashSource", "classHashAsOfBlock", "classHashAsOfBlockHash", "classHashFinality"} {
			out[name] = w[name]
		}
		out["known"], out["isDeployed"] = true, true
	}
	return out
}

// wantKind fills in what stands at an address, in words.
func (o *oracle) wantKind(out object, a felt.Felt, isAccount any) {
	with(out, object{"typeLabel": "not_deployed", "typeLabelSource": nil, "accountKind": nil, "classLabel": nil, "classLabelSource": nil})
	if a.Cmp(felt.FromUint64(4)) < 0 {
		out["typeLabel"] = "system"
	}
	c, there := o.Chain.ClassAt(a, o.head())
	if !there {
		return
	}
	out["typeLabel"] = "contract"
	if o.tokenKind(a) != nil {
		out["typeLabel"] = "token"
	}
	if name, ok := o.Registry.ClassName(c.Hash); ok {
		out["classLabel"], out["classLabelSource"] = name, "official_class_registry"
	}
	if isAccount == true {
		out["typeLabel"], out["typeLabelSource"] = "account", "indexed_account_kind"
		if c.Hash == contracts.Classes().Account.Hash || c.Hash == contracts.Classes().AccountNext.Hash {
			out["accountKind"] = "openzeppelin"
		}
	}
}

// orNull is null for nothing.
func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}
