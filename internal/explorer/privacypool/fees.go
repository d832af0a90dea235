package privacypool

import (
	"context"
	"fmt"
	"math/big"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/transaction"
	"chainexplorer/internal/explorer/transfer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/registry"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
)

// Fee is a transfer that paid for a call of a pool: of the fee in force, in its
// token, to the collector in force, in front of what the call did.
type Fee struct {
	Token     felt.Felt
	Amount    *big.Int
	Collector felt.Felt
	Log       uint32 // of the transfer's event in the transaction
	Index     uint32 // of the transfer in its event
	// CollectorSet and AmountSet are where the settings in force were made.
	CollectorSet, AmountSet explorer.Place
}

// Paid are the fees of a transaction.
type Paid struct {
	Fees []Fee
	// Known is false when the class in force is not known, when a setting that was in
	// force cannot be read, or when it lies behind more changes than are looked at.
	Known bool
}

// Fees returns what was paid in the transactions of rows. A pool takes its fee with
// every call and says nothing of it: calls that say nothing else either are in no row.
//
// One round trip for the transactions, and two searches or more for each pool: one for
// every 64 changes of a setting, at most 8.
func Fees(ctx context.Context, r store.Reader, pools []registry.PrivacyPool, rows []Row) (map[explorer.Position]Paid, error) {
	records, err := recordsOf(ctx, r, rows)
	if err != nil {
		return nil, err
	}
	type called struct {
		explorer.Position
		pool felt.Felt
	}
	strange := map[called]bool{}
	for i := range rows {
		if !rows[i].Known {
			strange[called{rows[i].Position(), rows[i].Event.From}] = true
		}
	}
	settings := map[felt.Felt]*fee{}
	out := make(map[explorer.Position]Paid, len(records))
	for i := range rows { // newest first, so that the first of a pool loads for all
		p := rows[i].Position()
		if _, done := out[p]; done {
			continue
		}
		paid := Paid{Known: true}
		transfers := transfersTo(records[p].Receipt.Events)
		for pool, at := range actionsIn(pools, records[p]) {
			if strange[called{p, pool.Address}] {
				paid.Known = false
				continue
			}
			f := settings[pool.Address]
			if f == nil {
				f = &fee{}
				oldest := explorer.Place{Block: rows[len(rows)-1].Block, Tx: rows[len(rows)-1].Tx}
				if err := f.load(ctx, r, pool, rows[0].Block, oldest); err != nil {
					return nil, err
				}
				settings[pool.Address] = f
			}
			one, known := f.at(pool, at, transfers)
			paid.Known = paid.Known && known
			if one != nil {
				paid.Fees = append(paid.Fees, *one)
			}
		}
		out[p] = paid
	}
	return out, nil
}

// isAction says whether an event of the group is what a call of the pool does, which
// is what costs a fee. The rest is its administration.
func isAction(g Group) bool {
	switch g {
	case ValueIn, ValueOut, Commitment, Nullifier, Registration, Interaction:
		return true
	}
	return false
}

// actionsIn yields the pools that a transaction called, with the first that each
// said of it, in the order of the transaction.
func actionsIn(pools []registry.PrivacyPool, rec *transaction.Record) func(yield func(*registry.PrivacyPool, explorer.Place) bool) {
	return func(yield func(*registry.PrivacyPool, explorer.Place) bool) {
		done := make([]bool, len(pools))
		for log := range rec.Receipt.Events {
			e := &rec.Receipt.Events[log]
			for i := range pools {
				if pools[i].Address != e.From || done[i] {
					continue
				}
				if f, _ := Decode(UnknownClass, e.Keys, e.Data); !isAction(f.Group) {
					continue
				}
				done[i] = true
				if !yield(&pools[i], explorer.Place{Block: rec.Block, Tx: rec.Index, Log: uint32(log)}) {
					return
				}
			}
		}
	}
}

// moved is a transfer in its transaction.
type moved struct {
	transfer.Transfer
	log, index uint32
	used       bool // for a fee
}

func transfersTo(events []starknet.Event) (out []moved) {
	var list []transfer.Transfer
	for log := range events {
		list, _ = transfer.Append(list[:0], &events[log])
		for i := range list {
			out = append(out, moved{Transfer: list[i], log: uint32(log), index: uint32(i)})
		}
	}
	return out
}

// setting is a change of what a pool charges.
type setting struct {
	at    explorer.Place
	value *felt.Felt // nil: it cannot be read
}

// history is a setting's changes, newest first.
type history struct {
	list  []setting
	whole bool // nothing is older
}

// fee is the history of what a pool charges, and to whom it goes.
type fee struct{ amounts, collectors history }

// The bounds of a history: how many changes a search asks for, and how many searches
// there are.
const (
	changesAtOnce = 64
	maxSearches   = 4
)

func (f *fee) load(ctx context.Context, r store.Reader, pool *registry.PrivacyPool, newest uint64, oldest explorer.Place) (err error) {
	if f.amounts, err = changes(ctx, r, pool, FeeAmountSet, newest, oldest); err != nil {
		return err
	}
	f.collectors, err = changes(ctx, r, pool, FeeCollectorSet, newest, oldest)
	return err
}

// changes reads a setting's changes from a block down to the one that was in force
// at a place.
func changes(ctx context.Context, r store.Reader, pool *registry.PrivacyPool, k Kind, newest uint64, oldest explorer.Place) (h history, err error) {
	pools := []registry.PrivacyPool{*pool}
	q := Query{Pools: pools, Kinds: []Kind{k}, Head: newest, Limit: changesAtOnce}
	for range maxSearches {
		page, err := List(ctx, r, q)
		if err != nil {
			return h, fmt.Errorf("settings of privacy pool %s: %w", pool.Address, err)
		}
		for i := range page.Rows {
			s := setting{at: page.Rows[i].Place}
			if f := &page.Rows[i].Fact; page.Rows[i].Status == Decoded && k == FeeCollectorSet {
				s.value = f.Value
			} else if page.Rows[i].Status == Decoded {
				s.value = &page.Rows[i].Event.Data[0]
			}
			h.list = append(h.list, s)
		}
		if h.whole = page.Next == nil; h.whole {
			return h, nil
		}
		if n := len(h.list); n > 0 && h.list[n-1].at.Before(oldest) {
			return h, nil
		}
		q.After = page.Next
	}
	return h, nil
}

// inForce is the setting at a place; nil when there was none. It is not known when
// the changes that were read do not reach that far, or it cannot be read.
func (h *history) inForce(at explorer.Place) (s *setting, known bool) {
	for i := range h.list {
		if h.list[i].at.Before(at) {
			return &h.list[i], h.list[i].value != nil
		}
	}
	return nil, h.whole
}

// at finds the transfer that paid for a call whose first event stands at a place: the
// nearest in front of it.
func (f *fee) at(pool *registry.PrivacyPool, at explorer.Place, transfers []moved) (paid *Fee, known bool) {
	amount, known := f.amounts.inForce(at)
	if !known {
		return nil, false
	}
	collector, known := f.collectors.inForce(at)
	if !known {
		return nil, false
	}
	if amount == nil || collector == nil || amount.value.IsZero() {
		return nil, true // nothing is charged
	}
	want := amount.value.Big()
	for i := len(transfers) - 1; i >= 0; i-- {
		t := &transfers[i]
		if t.log >= at.Log || t.used || t.Token != pool.FeeToken || t.To != *collector.value {
			continue
		}
		// A token that keeps all in the data does not say that the number is an amount;
		// that of a fee is.
		if n := t.Number(); n != nil && n.Cmp(want) == 0 {
			t.used = true
			return &Fee{Token: pool.FeeToken, Amount: want, Collector: *collector.value, Log: t.log, Index: t.index, CollectorSet: collector.at, AmountSet: amount.at}, true
		}
	}
	return nil, true
}
