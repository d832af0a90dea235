package api_test

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"strconv"
	"time"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/starknet"
)

// What the API must answer, made from the simulated chain alone: every field of
// every answer, written down a second time and independently of the handlers.

type object = map[string]any

// depth is how far below the head a block is finalized in these tests.
const depth = 10

func iso(seconds uint64) string { return time.Unix(int64(seconds), 0).UTC().Format(time.RFC3339) }

func dec(f felt.Felt) string { return new(big.Int).SetBytes(f[:]).String() }

func feltOr(f felt.Felt, ok bool) any {
	if !ok {
		return nil
	}
	return f.String()
}

func felts(list []felt.Felt) []string {
	out := []string{}
	for _, f := range list {
		out = append(out, f.String())
	}
	return out
}

func wantPrice(p starknet.GasPrice) object {
	return object{"priceInWei": dec(p.InWei), "priceInFri": dec(p.InFri)}
}

func wantBlockItem(b *starknet.Block) object {
	return object{"blockNumber": b.Number, "blockHash": b.Hash, "parentHash": b.ParentHash, "timestampIso": iso(b.Timestamp),
		"txCount": len(b.Transactions), "finalityStatus": b.Status.String()}
}

func wantTimed(b *starknet.Block) any {
	if b == nil {
		return nil
	}
	return object{"blockNumber": b.Number, "blockHash": b.Hash, "timestampIso": iso(b.Timestamp), "timestampUnix": b.Timestamp,
		"finalityStatus": b.Status.String()}
}

func wantBlock(b *starknet.Block, txLimit int) object {
	events := 0
	for i := range b.Receipts {
		events += len(b.Receipts[i].Events)
	}
	out := wantBlockItem(b)
	for k, v := range (object{
		"chainId": chainID, "eventCount": events, "rawObjectKey": fmt.Sprintf("%s/block/%d/%s", chainID, b.Number, b.Hash),
		"stateRoot": b.NewRoot, "sequencerAddress": b.Sequencer, "l1DataAvailabilityMode": "BLOB", "starknetVersion": b.StarknetVersion,
		"l1GasPrice": wantPrice(b.L1GasPrice), "l2GasPrice": wantPrice(b.L2GasPrice), "l1DataGasPrice": wantPrice(b.L1DataGasPrice),
		"verification": object{"status": "not_checked", "reason": nil, "covered": []string{}, "notCovered": []string{}},
		"transactions": wantPreviews(b, 0, txLimit),
	}) {
		out[k] = v
	}
	return out
}

// wantPreviews are the rows of a block's transactions from one index to another.
func wantPreviews(b *starknet.Block, from, to int) []object {
	out := []object{}
	for i := from; i < min(to, len(b.Transactions)); i++ {
		sender, target := ends(&b.Transactions[i], &b.Receipts[i])
		out = append(out, object{"txHash": b.Transactions[i].Hash, "txIndex": i, "txCursor": fmt.Sprintf("%d:%d", b.Number, i),
			"fromAddress": sender, "toAddress": target, "executionStatus": b.Receipts[i].Execution.String(), "finalityStatus": b.Status.String()})
	}
	return out
}

// ends are who sends a transaction and what it is addressed to.
func ends(t *starknet.Transaction, r *starknet.Receipt) (from, to any) {
	switch t.Type {
	case starknet.Invoke:
		calls := callsOf(t)
		if t.Version.IsZero() { // it names the contract to call, and nobody who calls
			return t.ContractAddress.String(), t.ContractAddress.String()
		}
		if len(calls) > 0 {
			return t.Sender.String(), calls[0]["to"]
		}
		return t.Sender.String(), nil
	case starknet.Declare:
		return t.Sender.String(), nil
	case starknet.L1Handler:
		return t.Calldata[0].String(), t.ContractAddress.String()
	case starknet.Deploy: // nobody sent the oldest kind
		return nil, r.ContractAddress.String()
	default:
		return r.ContractAddress.String(), r.ContractAddress.String()
	}
}

// signedCalls reads the calldata of an account, which has one of two layouts. Both
// start with the number of calls. In the newer one a call is its contract, its
// selector, and a counted list; the older one has contract, selector, offset and
// length of every call first, and then one counted list for all of them.
func signedCalls(t *starknet.Transaction) []calledOf {
	if t.Type != starknet.Invoke || t.Version.IsZero() {
		return nil
	}
	calls := word(t.Calldata[0])
	out, rest := []calledOf{}, t.Calldata[1:]
	for range calls {
		if len(rest) < 3 || len(rest) < 3+word(rest[2]) {
			break
		}
		n := word(rest[2])
		out = append(out, calledOf{to: rest[0], selector: rest[1], data: rest[3 : 3+n]})
		rest = rest[3+n:]
	}
	if len(out) == calls && len(rest) == 0 {
		return out
	}
	out, rest = []calledOf{}, t.Calldata[1:]
	data := rest[4*calls+1:]
	for range calls {
		out = append(out, calledOf{to: rest[0], selector: rest[1], data: data[word(rest[2]):][:word(rest[3])]})
		rest = rest[4:]
	}
	if len(rest) != 1+word(rest[0]) {
		panic("the simulated chain makes other calldata than this test knows")
	}
	return out
}

// callsOf are the contracts and selectors of signed calls, nil when there is no
// list of them.
func callsOf(t *starknet.Transaction) (out []object) {
	for _, c := range signedCalls(t) {
		out = append(out, object{"to": c.to.String(), "selector": c.selector.String()})
	}
	return out
}

// word is a length; what cannot be one is longer than any list.
func word(f felt.Felt) int {
	if n, ok := f.Uint64(); ok && n < 1<<20 {
		return int(n)
	}
	return 1 << 20
}

func wantFeedItem(b *starknet.Block, i int) object {
	sender, target := ends(&b.Transactions[i], &b.Receipts[i])
	return object{"blockNumber": b.Number, "timestampIso": iso(b.Timestamp), "txHash": b.Transactions[i].Hash, "txIndex": i,
		"txType": b.Transactions[i].Type.String(), "fromAddress": sender, "toAddress": target,
		"executionStatus": b.Receipts[i].Execution.String(), "finalityStatus": b.Status.String()}
}

func (o *oracle) wantTx(ref simnode.TxRef, messages []simnode.Message, transfers []object, logLimit int) object {
	b, t, r := ref.Block, ref.Transaction, ref.Receipt
	sender, target := ends(t, r)
	calldata := t.Calldata
	if t.Type == starknet.DeployAccount || t.Type == starknet.Deploy {
		calldata = t.ConstructorCalldata
	}
	out := object{
		"chainId": chainID, "blockNumber": b.Number, "blockHash": b.Hash, "timestampIso": iso(b.Timestamp), "txIndex": ref.Index, "txHash": t.Hash,
		"txCursor": fmt.Sprintf("%d:%d", b.Number, ref.Index), "fromAddress": sender, "toAddress": target,
		"executionStatus": r.Execution.String(), "finalityStatus": b.Status.String(), "txType": t.Type.String(), "txVersion": t.Version,
		"nonce": feltOr(t.Nonce, t.HasNonce), "rawObjectKey": fmt.Sprintf("%s/tx/%s", chainID, t.Hash), "receipt": wantReceipt(b, r),
		"logCount": len(r.Events), "logsTruncated": len(r.Events) > logLimit, "eventDecodingDegraded": false, "logs": o.wantLogs(r.Events, logLimit),
		"calldata": felts(calldata[:min(len(calldata), 1024)]), "calldataTruncated": len(calldata) > 1024,
		"accountCallCount": nil, "accountCalls": []object{}, "declaredL2GasCap": nil, "declaredClassHash": nil, "compiledClassHash": nil,
		"tokenTransfers": transfers, "tokenTransfersCoverage": object{"status": "exact", "reasonCode": "indexed_transfer_events"},
		"messages": o.wantMessages(messages), "messagesCoverage": wantMessagesCoverage(len(messages)), "bridgeIntent": o.wantPreview(b, ref.Index)["bridgeIntent"],
	}
	o.wantTxCalls(out, b, ref.Index)
	if t.Type == starknet.Declare {
		out["declaredClassHash"] = t.ClassHash
		if v, _ := t.PlainVersion(); v >= 2 {
			out["compiledClassHash"] = t.CompiledClassHash
		}
	}
	if t.ResourceBounds != nil {
		out["declaredL2GasCap"] = strconv.FormatUint(t.ResourceBounds.L2Gas.MaxAmount, 10)
	}
	return out
}

func wantReceipt(b *starknet.Block, r *starknet.Receipt) object {
	out := object{"executionStatus": r.Execution.String(), "finalityStatus": b.Status.String(), "actualFeeAmount": r.ActualFee,
		"actualFeeUnit": r.FeeUnit.String(), "revertReason": nil, "gasUsed": nil, "effectiveGasPrice": nil}
	if r.Execution == starknet.Reverted {
		out["revertReason"] = r.RevertReason
	}
	gas, price := r.Resources.L2Gas, b.L2GasPrice
	if gas == 0 {
		gas, price = r.Resources.L1Gas, b.L1GasPrice
	}
	if gas > 0 {
		out["gasUsed"], out["effectiveGasPrice"] = strconv.FormatUint(gas, 10), dec(price.InFri)
		if r.FeeUnit == starknet.Wei {
			out["effectiveGasPrice"] = dec(price.InWei)
		}
	}
	return out
}

func (o *oracle) wantLogs(events []starknet.Event, limit int) []object {
	out := []object{}
	for i, e := range events {
		if i == limit {
			break
		}
		log := object{"logIndex": i, "address": e.From, "keys": felts(e.Keys), "data": felts(e.Data), "decodingStatus": anything,
			"eventName": anything, "eventNameSource": anything, "eventNameUnavailableReason": anything, "decodedFieldsSource": anything,
			"decodedFieldsUnavailableReason": anything, "eventTimeClassHash": anything, "contractAlias": nil, "classAlias": anything}
		if l, ok := o.Registry.Label(e.From); ok {
			log["contractAlias"] = l.Name
		} else if t, ok := o.Registry.Token(e.From); ok {
			log["contractAlias"] = t.Name
		}
		for j := range 4 {
			log["topic"+strconv.Itoa(j)] = nil
			if j < len(e.Keys) {
				log["topic"+strconv.Itoa(j)] = e.Keys[j]
			}
		}
		out = append(out, log)
	}
	return out
}

// wantEvent is a row of event search.
func (o *oracle) wantEvent(ref *simnode.EventRef) object {
	row := o.wantLogs([]starknet.Event{*ref.Event}, 1)[0]
	row["logIndex"], row["txIndex"], row["blockNumber"] = ref.Index, ref.TxIndex, ref.Block.Number
	row["txHash"], row["timestampIso"] = ref.Block.Transactions[ref.TxIndex].Hash, iso(ref.Block.Timestamp)
	row["sourceTier"], row["sourceTierBasis"] = o.wantTier(ref.Block.Number)
	return row
}

// wantMessages are the messages of one transaction, in order.
func (o *oracle) wantMessages(list []simnode.Message) []object {
	out := []object{}
	for i := range list {
		out = append(out, o.wantMessage(&list[i], i))
	}
	return out
}

// wantMessage is the i-th message of its transaction.
func (o *oracle) wantMessage(m *simnode.Message, i int) object {
	b := o.Chain.BlockAt(m.Block)
	tx, head := b.Transactions[m.TxIndex].Hash, o.head()
	row := object{"id": fmt.Sprintf("%d:%d:%d", m.Block, m.TxIndex, i), "blockNumber": m.Block, "timestampIso": iso(b.Timestamp), "txIndex": m.TxIndex,
		"messageHash": "0x" + hex.EncodeToString(m.Hash[:]), "logIndex": i, "fromAddress": m.From, "toAddress": m.To, "txHash": tx, "l2Hash": tx,
		"l1Hash": nil, "l1BlockNumber": nil, "l1Fee": nil, "payload": felts(m.Payload), "payloadTruncated": false, "nonce": nil, "selector": nil,
		"pendingCount": nil, "bridgeContractAddress": nil, "interpretation": nil}
	row["sourceTier"], row["sourceTierBasis"] = o.wantTier(m.Block)
	if b, meaning := o.meaning(m); b != nil {
		row["bridgeContractAddress"], row["interpretation"] = b.L2, meaning
	}
	if m.ToL1 {
		times := 0
		for _, other := range o.Chain.Messages(0, head) {
			if other.ToL1 && other.Hash == m.Hash {
				times++
			}
		}
		row["direction"], row["status"], row["l1ContractAddress"], row["l2ContractAddress"] = "l2_to_l1", "sent_pending_l1_acceptance", m.To, m.From
		row["l1SentCount"], row["l2SentCount"], row["l1ConsumedCount"] = 0, times, nil
		if b.Status == starknet.AcceptedOnL1 {
			row["status"] = "sent_l1_consumption_unknown"
		}
		return row
	}
	row["direction"], row["status"], row["l1ContractAddress"], row["l2ContractAddress"] = "l1_to_l2", "consumed_on_l2", m.From, m.To
	row["nonce"], row["selector"] = felt.FromUint64(m.Nonce), m.Selector
	row["l1SentCount"], row["l2SentCount"], row["l1ConsumedCount"], row["pendingCount"] = 1, 0, 0, 0
	if m.Reverted {
		row["status"], row["pendingCount"] = "failed_on_l2", nil
	}
	return row
}

func (o *oracle) head() uint64 {
	head, _ := o.Chain.Head()
	return head
}

func wantMessagesCoverage(n int) object {
	out := object{"status": "exact", "source": "starknet_protocol_messages", "reasonCode": "indexed_protocol_message_facts",
		"message": "All messages of the transaction are shown."}
	if n == 0 {
		out["reasonCode"], out["message"] = "no_matching_message_rows", "The transaction has no messages."
	}
	return out
}

// difference tells where an answer is not what it should be.
func difference(want any, body []byte) string {
	text, err := json.Marshal(want)
	if err != nil {
		return err.Error()
	}
	var a, b any
	if err := json.Unmarshal(text, &a); err != nil {
		return err.Error()
	}
	if err := json.Unmarshal(body, &b); err != nil {
		return err.Error()
	}
	return differ("$", a, b)
}

// anything stands for what another test compares: see checkRow for events.
const anything = "(anything)"

func differ(at string, want, got any) string {
	if want == anything {
		return ""
	}
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return fmt.Sprintf("%s: want an object, got %v", at, got)
		}
		for k := range g {
			if _, ok := w[k]; !ok && (k != "decodedFields" || w["decodingStatus"] != anything) {
				return fmt.Sprintf("%s.%s: not expected", at, k)
			}
		}
		for k, v := range w {
			if _, ok := g[k]; !ok {
				return fmt.Sprintf("%s.%s: missing", at, k)
			}
			if d := differ(at+"."+k, v, g[k]); d != "" {
				return d
			}
		}
		return ""
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return fmt.Sprintf("%s: want %d elements, got %v", at, len(w), got)
		}
		for i := range w {
			if d := differ(fmt.Sprintf("%s[%d]", at, i), w[i], g[i]); d != "" {
				return d
			}
		}
		return ""
	}
	if want != got {
		return fmt.Sprintf("%s: want %v, got %v", at, want, got)
	}
	return ""
}
