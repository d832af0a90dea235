package pages_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"chainexplorer/internal/api"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/servertest"
	"chainexplorer/internal/starknet"
)

// How much the first page of a transaction shows of its parts.
const shownCalls, shownMoves, shownEvents, shownFelts = 10, 20, 20, 64

// TestTransactionValues holds every value of every transaction's page, in order, against the
// API's answer, and the parts of its fee, and what it deployed, against the chain itself. The
// sentence on top is left to the tests of package preview.
func TestTransactionValues(t *testing.T) {
	w := sharedWorld(t, truthBlocks)
	var seen txSeen
	for n := range uint64(truthBlocks) {
		b := w.Chain.BlockAt(n)
		for i := range b.Transactions {
			w.transactionValues(b, i, &seen)
		}
	}
	if seen.calls == 0 || seen.fields == 0 || seen.messages == 0 || seen.bounds == 0 || seen.moves == 0 || seen.deployed == 0 || seen.lasting == 0 || seen.fresh == 0 {
		t.Errorf("too little was looked at: %+v", seen)
	}
}

// txSeen counts what pages had to show.
type txSeen struct{ calls, fields, messages, bounds, moves, deployed, lasting, fresh int }

func (w *world) transactionValues(b *starknet.Block, i int, seen *txSeen) {
	w.T.Helper()
	tx, r := &b.Transactions[i], &b.Receipts[i]
	var a api.Tx
	w.Get(fmt.Sprintf("/tx/%s?logLimit=%d", tx.Hash, shownEvents), &a)
	s := w.reads("/tx/" + tx.Hash.String())
	var x exactly
	x.add(a.TxHash, *a.ExecutionStatus, a.BlockNumber, a.TxIndex, *a.TimestampISO, a.TxVersion, a.FromAddress, decimal(r.ActualFee))
	if a.Nonce != nil {
		x.add(decimal(*a.Nonce))
	}
	x.add(a.DeclaredClassHash, a.CompiledClassHash, a.TxHash)
	for _, m := range a.TokenTransfers[:min(len(a.TokenTransfers), shownMoves)] {
		seen.moves++
		x.add(m.LogIndex, m.FromAddress, m.ToAddress)
		if m.Amount != nil && (m.TokenID == nil || *m.Amount != "1") {
			x.add(*m.Amount)
		}
		if x.add(m.TokenAddress); m.TokenID != nil {
			x.add(*m.TokenID)
		}
	}
	calls := a.AccountCalls
	if a.EntryPoint != nil {
		calls = []api.AccountCall{*a.EntryPoint}
	}
	for _, c := range calls[:min(len(calls), shownCalls)] {
		seen.calls++
		if c.MethodName == nil {
			x.add(c.Selector)
		}
		if x.add(c.To); c.DecodedArguments != nil {
			w.fields(&x, *c.DecodedArguments, c.To)
			seen.fields += len(*c.DecodedArguments)
		}
		x.raw(c.Calldata)
	}
	for _, e := range a.Logs {
		if e.EventName == nil && e.Topic0 != nil {
			x.add(*e.Topic0)
		}
		x.add(e.Address)
		w.fields(&x, e.DecodedFields, e.Address)
		seen.fields += len(e.DecodedFields)
		x.raw(e.Keys)
		x.raw(e.Data)
	}
	for _, m := range a.Messages {
		seen.messages++
		if said := m.Interpretation; said != nil && said.AmountRaw != nil {
			x.add(*said.AmountRaw, said.Recipient)
		}
		x.add(m.MessageHash, m.TxHash, m.BlockNumber, *m.TimestampISO)
	}
	seen.bounds += x.fee(b, tx, r)
	for _, d := range w.Chain.StateUpdateAt(b.Number).Diff.Deployed {
		if w.deployedBy(b, i, d.Address) {
			seen.deployed++
			x.add(d.Address, d.ClassHash)
		}
	}
	for _, d := range w.Chain.StateUpdateAt(b.Number).Diff.Replaced {
		emits := slices.ContainsFunc(r.Events, func(e starknet.Event) bool { return e.From == d.Address })
		if r.Execution != starknet.Reverted && (emits || slices.Contains(called(tx), d.Address)) {
			x.add(d.Address, d.ClassHash)
		}
	}
	if lasting := strings.Contains(s.html, "does not change any more"); lasting && *a.FinalityStatus != "ACCEPTED_ON_L1" {
		w.T.Errorf("%s: it says that it lasts, and is %s", s.path, *a.FinalityStatus)
	} else if lasting {
		seen.lasting++
	} else if strings.Contains(s.html, "Finalized: a fork that would change what happened is rare.") {
		if head, _ := w.Chain.Head(); b.Number+servertest.Depth > head {
			w.T.Errorf("%s: it says that block %d is finalized, below %d", s.path, b.Number, head)
		}
		seen.lasting++
	} else {
		seen.fresh++
		head, _ := w.Chain.Head()
		l1, _ := w.Chain.L1Head()
		x.add(head, iso(w.Chain.BlockAt(head).Timestamp), head-servertest.Depth, l1)
	}
	x.same(w.T, s.path, s.all)
}

// fee adds what each kind of gas came to, by the chain, and counts the bounds.
func (x *exactly) fee(b *starknet.Block, tx *starknet.Transaction, r *starknet.Receipt) (bounds int) {
	if tx.Type != starknet.L1Handler || !r.ActualFee.IsZero() {
		x.add(decimal(r.ActualFee))
	} else {
		x.add(0)
	}
	x.add(decimal(r.ActualFee))
	limits := [3]*starknet.ResourceBound{}
	if l := tx.ResourceBounds; l != nil {
		limits[0], limits[1] = &l.L2Gas, &l.L1Gas
		if l.HasL1DataGas {
			limits[2] = &l.L1DataGas
		}
	}
	for i, g := range []struct {
		used  uint64
		price starknet.GasPrice
	}{{r.Resources.L2Gas, b.L2GasPrice}, {r.Resources.L1Gas, b.L1GasPrice}, {r.Resources.L1DataGas, b.L1DataGasPrice}} {
		price := g.price.InWei
		if r.FeeUnit == starknet.Fri {
			price = g.price.InFri
		}
		if x.add(g.used, decimal(price)); limits[i] != nil {
			bounds++
			x.add(limits[i].MaxAmount, decimal(limits[i].MaxPricePerUnit))
		}
	}
	if tx.Tip > 0 {
		x.add(tx.Tip)
	}
	return bounds
}

// raw adds felts that are folded away.
func (x *exactly) raw(list []felt.Felt) {
	for _, f := range list[:min(len(list), shownFelts)] {
		x.add(f)
	}
}

// fields adds decoded values, as their kind has them.
func (w *world) fields(x *exactly, list []api.DecodedField, of felt.Felt) {
	for _, f := range list {
		switch {
		case f.BoolValue != nil:
			x.add(*f.BoolValue)
		case f.AddressValue != nil && (f.Type == nil || !strings.HasSuffix(*f.Type, "EthAddress")):
			x.add(*f.AddressValue)
		case f.NumericValue != nil:
			x.add(f.NumericValue.String())
			if _, known := w.Registry.Token(of); known && f.Kind == "u256" && (f.Label == "amount" || f.Label == "value") {
				x.add(f.NumericValue.String()) // in the token's own unit, too
			}
		case f.TextValue != nil && *f.TextValue == "":
		case f.TextValue != nil:
			x.add(clipValue(*f.TextValue))
		case len(f.RawValues) == 1 && (f.Kind == "hash" || f.Kind == "felt"):
			x.add(f.RawValues[0])
		default:
			x.add(clipValue(f.DisplayValue.String()))
		}
	}
}

// clipValue is how much of a text is kept as a value.
func clipValue(s string) string {
	if len(s) > 500 {
		return s[:500] + "…"
	}
	return s
}

// deployedBy says that a transaction made a contract: it is its own, or a deployer's event
// names it.
func (w *world) deployedBy(b *starknet.Block, tx int, a felt.Felt) bool {
	t, r := &b.Transactions[tx], &b.Receipts[tx]
	if t.Type == starknet.DeployAccount || t.Type == starknet.Deploy {
		return r.ContractAddress == a
	}
	l := &ledger{world: w}
	return slices.ContainsFunc(r.Events, func(e starknet.Event) bool {
		m, ok := l.deployment(b, &e)
		return ok && m.address == a
	})
}
