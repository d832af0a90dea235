package privacypool_test

import (
	"math/big"
	"reflect"
	"slices"
	"testing"

	"chainexplorer/internal/explorer"
	facts "chainexplorer/internal/explorer/privacypool"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/simnode/contracts"
	"chainexplorer/internal/store"
)

// kinds is how lists call what the chain knows.
var kinds = map[simnode.PoolFactKind]facts.Kind{
	simnode.PoolViewingKeySet: facts.ViewingKeySet, simnode.PoolDeposit: facts.Deposit, simnode.PoolWithdrawal: facts.Withdrawal,
	simnode.PoolOpenNoteCreated: facts.OpenNoteCreated, simnode.PoolOpenNoteDeposited: facts.OpenNoteDeposited, simnode.PoolEncNoteCreated: facts.EncNoteCreated,
	simnode.PoolNoteUsed: facts.NoteUsed, simnode.PoolExternalInvoked: facts.ExternalContractInvoked, simnode.PoolStrange: facts.Unknown,
}

// TestListsOfALivelyPool holds lists, fees and the amounts of open notes against a
// chain whose pool is used in every block, charges fees, some of them through a
// forwarder, and misbehaves; also after a fork.
func TestListsOfALivelyPool(t *testing.T) {
	c := simnode.Config{Seed: 33, Blocks: 60, PoolUses: 3}
	for i, k := range []simnode.PoolTroubleKind{simnode.TroubleSelector, simnode.TroubleNoAmount, simnode.TroubleHugeAmount, simnode.TroubleUnfunded, simnode.TroubleClass} {
		c.PoolTrouble = append(c.PoolTrouble, simnode.PoolTrouble{Block: troubled + uint64(i), Kind: k})
	}
	c.PoolTrouble = append(c.PoolTrouble, simnode.PoolTrouble{Block: 52, Kind: simnode.TroubleClassEnds})
	w := newWorld(t, c)
	w.sameLists()
	w.chain.Fork(14)
	w.chain.Extend(3)
	w.catchUp()
	w.sameLists()
}

// sameLists compares everything that lists tell with what the chain knows.
func (w *world) sameLists() {
	t := w.t
	t.Helper()
	head, _ := w.chain.Head()
	var rows []facts.Row
	paid, known := map[explorer.Position]facts.Paid{}, 0
	w.view(func(r store.Reader) {
		q := facts.Query{Pools: w.pools, Head: head, Limit: 37}
		for {
			page, err := facts.List(t.Context(), r, q)
			if err != nil {
				t.Fatal(err)
			}
			fees, err := facts.Fees(t.Context(), r, w.pools, page.Rows)
			if err != nil {
				t.Fatal(err)
			}
			for p, f := range fees {
				paid[p] = f
			}
			amounts, err := facts.Deposits(t.Context(), r, w.pools, page.Rows)
			if err != nil {
				t.Fatal(err)
			}
			for i := range page.Rows {
				w.sameDeposit(&page.Rows[i], amounts[i] != nil)
			}
			rows = append(rows, page.Rows...)
			if q.After = page.Next; q.After == nil {
				return
			}
		}
	})
	want := w.chain.PoolFacts(0, head)
	if len(rows) != len(want) {
		t.Fatalf("%d events, want %d", len(rows), len(want))
	}
	statuses := map[facts.Status]int{}
	called := map[explorer.Position]bool{}
	for i := range rows {
		row := &rows[len(rows)-1-i]
		w.sameFact(row, &want[i])
		statuses[row.Reading.Status]++
		if row.Known {
			known++
		}
		if row.Fact.Group != facts.Config && row.Fact.Group != facts.Governance && row.Fact.Group != facts.NoGroup {
			called[row.Position()] = row.Known
		}
	}
	if statuses[facts.Decoded] < 100 || statuses[facts.NameOnly] < 10 || statuses[facts.NotAttributed] == 0 || known == len(rows) {
		t.Fatalf("the chain does too little for this test: %v", statuses)
	}
	evident, relayed := 0, 0
	charged := map[explorer.Position]bool{}
	for _, f := range w.chain.PoolFees(0, head) {
		p := explorer.Position{Block: f.Block, Index: uint32(f.TxIndex)}
		if !f.Evident || !called[p] {
			continue
		}
		charged[p] = true
		if got, want := paid[p], w.fee(p, f.Amount); !got.Known || !reflect.DeepEqual(got.Fees, []facts.Fee{want}) {
			t.Errorf("transaction %d of block %d: %+v, want %+v", f.TxIndex, f.Block, got, want)
		}
		evident++
		if f.Relayed {
			relayed++
		}
	}
	if evident < 20 || relayed < 3 {
		t.Fatalf("%d fees, %d of them relayed", evident, relayed)
	}
	for p, got := range paid {
		if readable, isCall := called[p]; isCall && got.Known != readable || len(got.Fees) > 0 && !charged[p] {
			t.Errorf("transaction %d of block %d: %+v", p.Index, p.Block, got)
		}
	}
}

// fee is what a transaction paid for its call of the pool: the transfer of the amount in
// force to the collector in force that is the last in front of what the call did.
func (w *world) fee(p explorer.Position, amount *big.Int) facts.Fee {
	w.t.Helper()
	want := facts.Fee{Token: contracts.STRK, Amount: amount}
	receipt := w.chain.BlockAt(p.Block).Receipts[p.Index]
	first := len(receipt.Events)
	for _, f := range w.chain.PoolFacts(0, p.Block) {
		switch at := (explorer.Place{Block: f.Block, Tx: uint32(f.TxIndex), Log: uint32(f.EventIndex)}); {
		case f.ID == contracts.SelFeeCollectorSet && at.Position().Before(p):
			want.CollectorSet, want.Collector = at, w.chain.BlockAt(f.Block).Receipts[f.TxIndex].Events[f.EventIndex].Data[0]
		case f.ID == contracts.SelFeeAmountSet && at.Position().Before(p):
			want.AmountSet = at
		case at.Position() == p && f.Kind != simnode.PoolConfigured:
			first = min(first, f.EventIndex)
		}
	}
	found := false
	for log, e := range receipt.Events[:first] {
		if e.From != contracts.STRK || e.Keys[0] != contracts.SelTransfer {
			continue
		}
		if all := append(slices.Clone(e.Keys[1:]), e.Data...); all[1] == want.Collector && all[2].Big().Cmp(amount) == 0 {
			want.Log, found = uint32(log), true
		}
	}
	if !found {
		w.t.Fatalf("transaction %d of block %d pays no fee", p.Index, p.Block)
	}
	return want
}

// sameFact compares an event with what the chain meant by it.
func (w *world) sameFact(row *facts.Row, f *simnode.PoolFact) {
	t := w.t
	t.Helper()
	if row.Place != (explorer.Place{Block: f.Block, Tx: uint32(f.TxIndex), Log: uint32(f.EventIndex)}) {
		t.Fatalf("event at %+v, want %+v", row.Place, f)
	}
	if kind, ok := kinds[f.Kind]; ok && row.Fact.Kind != kind {
		t.Fatalf("%+v: %s, want %+v", row.Place, row.Fact.Name, f)
	}
	moves := f.Kind == simnode.PoolDeposit || f.Kind == simnode.PoolWithdrawal || f.Kind == simnode.PoolOpenNoteDeposited
	status := facts.Decoded
	switch {
	case f.Kind == simnode.PoolStrange:
		status = facts.NotAttributed
	case !row.Known, moves && f.Amount == nil:
		status = facts.NameOnly
	}
	if row.Reading.Status != status {
		t.Errorf("%+v: %s, want %s", row.Place, row.Reading.Status, status)
	}
	class, _ := w.chain.ClassAt(w.chain.Pool(), f.Block)
	if stranger := contracts.PoolStranger().Hash; class.Hash == stranger && row.Known && (row.Class == nil || *row.Class != contracts.Classes().PoolV21.Hash && *row.Class != contracts.Classes().PoolV2.Hash && *row.Class != contracts.Classes().PoolV1.Hash) {
		t.Errorf("%+v is read by a class that nobody knows", row.Place)
	}
	if (row.Fact.Amount != nil) != (moves && row.Known && f.Amount != nil) && row.Fact.Kind != facts.FeeAmountSet {
		t.Errorf("%+v: amount %s, want %s", row.Place, row.Fact.Amount, f.Amount)
	}
	if moves && row.Fact.Amount != nil && row.Fact.Amount.Cmp(f.Amount) != 0 {
		t.Errorf("%+v: amount %s, want %s", row.Place, row.Fact.Amount, f.Amount)
	}
	if moves && row.Known && (row.Fact.Token == nil || *row.Fact.Token != f.Token) {
		t.Errorf("%+v: token %v, want %s", row.Place, row.Fact.Token, f.Token)
	}
}

// sameDeposit says whether an open note must have an amount.
func (w *world) sameDeposit(row *facts.Row, told bool) {
	w.t.Helper()
	want := false
	if row.Fact.Kind == facts.OpenNoteCreated && row.Known {
		for _, f := range w.chain.PoolFacts(row.Block, row.Block) {
			want = want || f.Kind == simnode.PoolOpenNoteDeposited && f.ID == *row.Fact.NoteID
		}
	}
	if told != want {
		w.t.Errorf("%+v: the amount of an open note is told: %t, want %t", row.Place, told, want)
	}
}
