package message_test

import (
	"reflect"
	"testing"
	"time"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/message"
	"chainexplorer/internal/explorer/transaction"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble"
	"chainexplorer/internal/store/pebble/pebbletest"
)

// world indexes blocks one by one.
type world struct {
	*testing.T
	engine pebble.Engine
	epoch  uint64
}

func newWorld(t *testing.T) *world {
	e := pebbletest.Open(t, append(message.Subject{}.Tables(), transaction.Subject{}.Tables()...))
	lease, err := e.Acquire(t.Context(), store.Writer, "test", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	return &world{t, e, lease.Epoch}
}

func (w *world) index(b *explorer.Block) {
	w.Helper()
	rows := &explorer.Rows{}
	err := w.engine.View(w.Context(), func(r store.Reader) error {
		if err := (transaction.Subject{}).Project(b, rows); err != nil {
			return err
		}
		if err := (message.Subject{}).Project(b, rows); err != nil {
			return err
		}
		return explorer.Follow(w.Context(), []explorer.Plan{message.Subject{}.Plan(b)}, r.GetMany, rows)
	})
	if err != nil {
		w.Fatal(err)
	}
	batch := &store.Batch{Epoch: w.epoch}
	for _, op := range rows.Ops() {
		batch.Put(op.Key, op.Value)
	}
	if err := w.engine.Commit(w.Context(), batch); err != nil {
		w.Fatal(err)
	}
}

func block(number uint64, sent ...[]starknet.MessageToL1) *explorer.Block {
	b := &explorer.Block{}
	b.Number = number
	for i, list := range sent {
		h := felt.FromUint64(number*100 + uint64(i) + 1)
		b.Transactions = append(b.Transactions, starknet.Transaction{Type: starknet.Invoke, Hash: h})
		b.Receipts = append(b.Receipts, starknet.Receipt{Type: starknet.Invoke, TransactionHash: h, MessagesSent: list, Execution: starknet.Succeeded})
	}
	return b
}

// TestSentTwice: the same message sent again, in one transaction, one block and
// later, is counted and listed each time; far apart blocks are found over spans.
func TestSentTwice(t *testing.T) {
	w := newWorld(t)
	a := starknet.MessageToL1{From: felt.FromUint64(5), To: felt.FromUint64(6), Payload: []felt.Felt{felt.FromUint64(1)}}
	self := starknet.MessageToL1{From: felt.FromUint64(7), To: felt.FromUint64(7)}
	far := uint64(3*explorer.SpanSize + 5)
	w.index(block(2, []starknet.MessageToL1{a, self, a}, []starknet.MessageToL1{a}))
	w.index(block(far, []starknet.MessageToL1{a}))
	place := func(b uint64, tx, sub uint32) explorer.Place {
		return explorer.Place{Block: b, Tx: tx, Log: sub}
	}
	ofA := []explorer.Place{place(far, 0, 0), place(2, 1, 0), place(2, 0, 2), place(2, 0, 0)}
	err := w.engine.View(t.Context(), func(r store.Reader) error {
		got, next, err := message.OfHash(t.Context(), r, a.Hash(), explorer.EndOf(far), 10)
		if err != nil || next != nil || !reflect.DeepEqual(got, ofA) {
			t.Errorf("by hash: %v, %v, %v", got, next, err)
		}
		loaded, err := message.Load(t.Context(), r, got)
		if err != nil {
			return err
		}
		for _, m := range loaded {
			if m.Times != 4 || m.Direction != message.ToL1 || m.From != a.From || m.To != a.To {
				t.Errorf("loaded %+v", m)
			}
		}
		got, next, err = message.List(t.Context(), r, message.Filter{Contract: &self.To}, explorer.EndOf(far), 10, 1)
		if err != nil || next != nil || !reflect.DeepEqual(got, []explorer.Place{place(2, 0, 1)}) {
			t.Errorf("a message to itself: %v, %v, %v", got, next, err)
		}
		// One span a page: two pages in between are empty and go on.
		var all []explorer.Place
		pages := 0
		for before := explorer.EndOf(far); ; pages++ {
			got, next, err := message.List(t.Context(), r, message.Filter{}, before, 3, 1)
			if err != nil {
				return err
			}
			all = append(all, got...)
			if next == nil {
				break
			}
			before = *next
		}
		want := []explorer.Place{place(far, 0, 0), place(2, 1, 0), place(2, 0, 2), place(2, 0, 1), place(2, 0, 0)}
		if !reflect.DeepEqual(all, want) || pages < 4 {
			t.Errorf("over spans: %v in %d pages", all, pages+1)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
