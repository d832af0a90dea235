package token

import (
	"fmt"
	"sync"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/numbering"
	"chainexplorer/internal/explorer/postings"
	"chainexplorer/internal/explorer/transfer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/record"
)

// Subject projects balances and totals.
type Subject struct{}

var _ explorer.Follower = Subject{}

// Name is the subject's name.
func (Subject) Name() string { return "token" }

// Tables lists the tables with this subject's rows: its own, and that of package
// transfer which holds balances. What was fetched is not among them: see
// Enrichment.
func (Subject) Tables() []*store.Table {
	return []*store.Table{Balances, transfer.Pairs, TotalRows, Firsts}
}

// Recalled lists the tables whose rows are asked for again.
func (Subject) Recalled() []*store.Table { return []*store.Table{Balances, TotalRows} }

// Project writes nothing: every row builds on earlier ones.
func (Subject) Project(*explorer.Block, *explorer.Rows) error { return nil }

// change is what a block does to a balance.
type change struct {
	Pair
	token          int32 // its number among the block's
	amount         Amount
	units          int64
	sent, received bool
	places         postings.List
}

// total is what a block adds to a token's totals, besides what follows from
// the balances.
type total struct {
	token  felt.Felt
	earned Totals
	zero   postings.List // of mints and burns
}

// ledger is what a block does, in the order in which the block first names a
// token and a holder.
type ledger struct {
	changes []change
	totals  []total
	places  postings.Builder

	list   []transfer.Transfer
	pairs  numbering.Table // of changes: the holder and the number of the token
	tokens numbering.Table // of totals
}

// ledgers keeps the memory of those that are done.
var ledgers = sync.Pool{New: func() any { return &ledger{} }}

// keepChanges bounds the memory that a ledger keeps after a huge block.
const keepChanges = 1 << 14

func (l *ledger) done() {
	if !l.places.Reset() || cap(l.changes) > keepChanges {
		return
	}
	l.changes, l.totals = l.changes[:0], l.totals[:0]
	l.pairs.Reset()
	l.tokens.Reset()
	ledgers.Put(l)
}

// read adds up a block.
func read(receipts []starknet.Receipt) *ledger {
	l := ledgers.Get().(*ledger)
	for i := range receipts {
		events := receipts[i].Events
		for j := range events {
			var layout transfer.Layout
			l.list, layout = transfer.Append(l.list[:0], &events[j])
			if layout == transfer.NoTransfer {
				continue
			}
			n, fresh := l.tokens.Number(&events[j].From, 0)
			if fresh {
				l.totals = append(l.totals, total{token: events[j].From})
			}
			t := &l.totals[n].earned
			t.Layouts |= 1 << layout
			if layout == transfer.Malformed {
				t.Malformed++
			}
			for k := range l.list {
				l.add(n, &l.list[k], uint32(i), uint32(j))
			}
		}
	}
	return l
}

// Change is what a block did to the balance of a holder: to both of its forms, as
// Balance has them.
type Change struct {
	Pair
	Amount Amount
	Units  int64
}

// Changes adds up what the transfers of a block's receipts did, in the order in which the
// block first names a token and a holder. Added up over all blocks they are the balances.
// Nothing is read.
func Changes(receipts []starknet.Receipt) []Change {
	l := read(receipts)
	defer l.done()
	out := make([]Change, len(l.changes))
	for i := range l.changes {
		c := &l.changes[i]
		out[i] = Change{Pair: c.Pair, Amount: c.amount, Units: c.units}
	}
	return out
}

func (l *ledger) add(token int32, t *transfer.Transfer, tx, log uint32) {
	sum := &l.totals[token].earned
	value := AmountOf(t.Value)
	sum.Transfers++
	find := func(holder *felt.Felt) *change {
		n, fresh := l.pairs.Number(holder, uint32(token))
		if fresh {
			l.changes = append(l.changes, change{Pair: Pair{t.Token, *holder}, token: token})
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
		l.place(&l.totals[token].zero, tx, log, transfer.Out)
	} else {
		c := find(&t.From)
		c.amount, c.units, c.sent = c.amount.Sub(value), c.units-1, true
		l.place(&c.places, tx, log, transfer.Out)
	}
	if t.To.IsZero() {
		sum.Burns++
		sum.Supply = sum.Supply.Sub(value)
		sum.SupplyUnits--
		l.place(&l.totals[token].zero, tx, log, transfer.In)
	} else {
		c := find(&t.To)
		c.amount, c.units, c.received = c.amount.Add(value), c.units+1, true
		l.place(&c.places, tx, log, transfer.In)
	}
}

// place adds an event to a list, once: the transfers of a batch, and both sides of
// one to oneself, are one event.
func (l *ledger) place(to *postings.List, tx, log uint32, side transfer.Side) {
	l.places.Add(to, side.At(tx, log))
}

// Plan adds the block up. It asks for the balances that change, then for the totals
// of the tokens, in the order in which the block first names them.
func (Subject) Plan(b *explorer.Block) explorer.Plan {
	l := read(b.Receipts)
	keys := make([]store.Key, 0, len(l.changes)+len(l.totals))
	for i := range l.changes {
		keys = append(keys, balanceKey(&l.changes[i].Pair))
	}
	for i := range l.totals {
		keys = append(keys, totalKey(&l.totals[i].token))
	}
	return explorer.Plan{Keys: keys, Follow: func(earlier [][]byte, rows *explorer.Rows) error {
		return l.follow(b.Number, earlier, rows)
	}}
}

// follow writes what the ledger comes to upon the earlier rows.
func (l *ledger) follow(number uint64, earlier [][]byte, rows *explorer.Rows) error {
	defer l.done()
	if len(earlier) != len(l.changes)+len(l.totals) {
		return fmt.Errorf("%d earlier rows for %d balances and %d tokens", len(earlier), len(l.changes), len(l.totals))
	}
	var buf []byte
	var pair transfer.PairRow
	for i := range l.changes {
		c := &l.changes[i]
		var before Balance
		if v := earlier[i]; v != nil {
			var err error
			if before, err = decodeBalance(v); err != nil {
				return fmt.Errorf("balance of %s in %s: %w", c.Holder, c.Token, err)
			}
		}
		after := c.apply(&before, number)
		l.totals[c.token].earned.moved(&before, &after)
		var past []byte
		buf, past = appendBalance(buf[:0], &after)
		rows.Put(Balances, c.Token[:], c.Holder[:], buf)
		pair.Fill(past, &l.places, c.places)
		pair.Put(rows, &c.Holder, &c.Token, number)
	}
	var e record.Encoder
	for i := range l.totals {
		t := &l.totals[i]
		v := earlier[len(l.changes)+i]
		var sum Totals
		if v == nil {
			rows.Put(Firsts, explorer.Span(number), firstSort(number, &t.token), nil)
		} else {
			var err error
			if sum, err = decodeTotals(v); err != nil {
				return fmt.Errorf("totals of %s: %w", t.token, err)
			}
		}
		if !t.zero.Empty() {
			pair.Fill(nil, &l.places, t.zero)
			pair.Put(rows, &felt.Zero, &t.token, number)
		}
		sum.grow(&t.earned, number)
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
	first, latest, layouts := t.First, t.Latest, t.Layouts|earned.Layouts
	from := earned.fields()
	for i, f := range t.fields() {
		*f += *from[i]
	}
	t.First, t.Latest, t.Layouts = first, latest, layouts // these do not add up
	t.Supply = t.Supply.Add(earned.Supply)
	t.SupplyUnits += earned.SupplyUnits
}
