package token

import (
	"fmt"
	"slices"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/transfer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/record"
)

// Subject projects balances and totals.
type Subject struct{}

var _ explorer.Follower = Subject{}

// Name is the subject's name.
func (Subject) Name() string { return "token" }

// Tables lists the subject's tables. What was fetched is not among them: see
// Enrichment.
func (Subject) Tables() []*store.Table {
	return []*store.Table{Balances, Histories, TotalRows, Firsts}
}

// Project writes nothing: every row builds on earlier ones.
func (Subject) Project(*explorer.Block, *explorer.Rows) error { return nil }

// change is what a block does to a balance.
type change struct {
	Pair
	token          int // its number among the block's
	amount         Amount
	units          int64
	sent, received bool
}

// total is what a block adds to a token's totals, besides what follows from
// the balances.
type total struct {
	token  felt.Felt
	earned Totals
}

// ledger is what a block does: changes and totals by token, then by holder.
type ledger struct {
	changes []change
	totals  []total
}

// read adds up a block. The maps only find things and are never ranged over.
func read(b *explorer.Block) (l ledger) {
	var list []transfer.Transfer
	pairs, tokens := map[Pair]int{}, map[felt.Felt]int{}
	for i := range b.Receipts {
		events := b.Receipts[i].Events
		for j := range events {
			var layout transfer.Layout
			list, layout = transfer.Append(list[:0], &events[j])
			if layout == transfer.NoTransfer {
				continue
			}
			n, there := tokens[events[j].From]
			if !there {
				n = len(l.totals)
				tokens[events[j].From] = n
				l.totals = append(l.totals, total{token: events[j].From})
			}
			t := &l.totals[n].earned
			t.Layouts |= 1 << layout
			if layout == transfer.Malformed {
				t.Malformed++
			}
			for k := range list {
				l.add(pairs, n, &list[k])
			}
		}
	}
	return l
}

func (l *ledger) add(pairs map[Pair]int, token int, t *transfer.Transfer) {
	sum := &l.totals[token].earned
	value := AmountOf(t.Value)
	sum.Transfers++
	find := func(holder felt.Felt) *change {
		p := Pair{t.Token, holder}
		n, there := pairs[p]
		if !there {
			n = len(l.changes)
			pairs[p] = n
			l.changes = append(l.changes, change{Pair: p, token: token})
		}
		return &l.changes[n]
	}
	if t.From == t.To && !t.From.IsZero() {
		sum.SelfTransfers++
	}
	if t.From.IsZero() {
		sum.Mints++
		sum.Supply = sum.Supply.Add(value)
		sum.SupplyUnits++
	} else {
		c := find(t.From)
		c.amount, c.units, c.sent = c.amount.Sub(value), c.units-1, true
	}
	if t.To.IsZero() {
		sum.Burns++
		sum.Supply = sum.Supply.Sub(value)
		sum.SupplyUnits--
	} else {
		c := find(t.To)
		c.amount, c.units, c.received = c.amount.Add(value), c.units+1, true
	}
}

// Earlier asks for the balances that change, then for the totals of the tokens,
// in the order in which the block first names them.
func (Subject) Earlier(b *explorer.Block) []store.Key {
	l := read(b)
	keys := make([]store.Key, 0, len(l.changes)+len(l.totals))
	for i := range l.changes {
		keys = append(keys, balanceKey(&l.changes[i].Pair))
	}
	for i := range l.totals {
		keys = append(keys, totalKey(&l.totals[i].token))
	}
	return keys
}

// Follow writes the balances after the block and the totals.
func (Subject) Follow(b *explorer.Block, earlier [][]byte, rows *explorer.Rows) error {
	l := read(b)
	if len(earlier) != len(l.changes)+len(l.totals) {
		return fmt.Errorf("%d earlier rows for %d balances and %d tokens", len(earlier), len(l.changes), len(l.totals))
	}
	block := explorer.BlockKey(b.Number)
	var buf []byte
	for i := range l.changes {
		c := &l.changes[i]
		var before Balance
		if v := earlier[i]; v != nil {
			var err error
			if before, err = decodeBalance(v); err != nil {
				return fmt.Errorf("balance of %s in %s: %w", c.Holder, c.Token, err)
			}
		}
		after := c.apply(&before, b.Number)
		l.totals[c.token].earned.moved(&before, &after)
		buf = appendBalance(buf[:0], &after)
		rows.Put(Balances, c.Token[:], c.Holder[:], buf)
		rows.Put(Histories, historyPartition(&c.Pair), block, buf)
	}
	var e record.Encoder
	for i := range l.totals {
		t := &l.totals[i]
		v := earlier[len(l.changes)+i]
		var sum Totals
		if v == nil {
			rows.Put(Firsts, explorer.Span(b.Number), firstSort(b.Number, &t.token), nil)
		} else {
			var err error
			if sum, err = decodeTotals(v); err != nil {
				return fmt.Errorf("totals of %s: %w", t.token, err)
			}
		}
		sum.grow(&t.earned, b.Number)
		rows.Put(TotalRows, t.token[:], nil, encodeTotals(&e, &sum))
	}
	return nil
}

func (c *change) apply(before *Balance, block uint64) Balance {
	return Balance{
		Amount: before.Amount.Add(c.amount), Units: before.Units + c.units,
		Sent: before.Sent || c.sent, Received: before.Received || c.received, Block: block,
	}
}

// moved counts what a balance's change does to the counters. They are kept as
// differences, modulo 2^64, until grow adds them to the totals.
func (t *Totals) moved(before, after *Balance) {
	count := func(n *uint64, was, is bool) {
		switch {
		case is && !was:
			*n++
		case was && !is:
			*n--
		}
	}
	count(&t.Senders, before.Sent, after.Sent)
	count(&t.Receivers, before.Received, after.Received)
	count(&t.Holders, before.Amount.Sign() != 0, after.Amount.Sign() != 0)
	count(&t.Negative, before.Amount.Sign() < 0, after.Amount.Sign() < 0)
	count(&t.UnitHolders, before.Units != 0, after.Units != 0)
	count(&t.NegativeUnits, before.Units < 0, after.Units < 0)
}

// grow adds what a block earned.
func (t *Totals) grow(earned *Totals, block uint64) {
	if earned.Transfers > 0 {
		if t.Transfers == 0 {
			t.First = block
		}
		t.Latest = block
	}
	skip := []*uint64{&t.First, &t.Latest, &t.Layouts}
	from := earned.fields()
	for i, f := range t.fields() {
		if !slices.Contains(skip, f) {
			*f += *from[i]
		}
	}
	t.Layouts |= earned.Layouts
	t.Supply = t.Supply.Add(earned.Supply)
	t.SupplyUnits += earned.SupplyUnits
}
