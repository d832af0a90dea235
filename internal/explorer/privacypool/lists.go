package privacypool

import (
	"context"
	"fmt"
	"math/big"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/event"
	"chainexplorer/internal/explorer/transaction"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/registry"
	"chainexplorer/internal/store"
)

// Query asks for events of pools, newest first.
type Query struct {
	Pools []registry.PrivacyPool
	// Kinds are those that are wanted; all, and what nobody knows, when empty.
	Kinds []Kind
	// Head is the newest block to look at.
	Head uint64
	// After is where the page before ended.
	After *explorer.Place
	Limit int
}

// Row is an event of a pool.
type Row struct {
	event.Hit
	Reading
}

// Page is a part of a list.
type Page struct {
	Rows []Row
	// Next is where to go on, with the hash of its block; nil at the end.
	Next     *explorer.Place
	NextHash felt.Felt
}

// Named is the one of pools that has an address; none when there is no such pool.
func Named(pools []registry.PrivacyPool, address felt.Felt) []registry.PrivacyPool {
	if p := poolAt(pools, address); p != nil {
		return []registry.PrivacyPool{*p}
	}
	return nil
}

// List returns a page of pools' events. One search by pairs of pool and kind, and
// Read. A page may end early, and be empty, as that of a search.
func List(ctx context.Context, r store.Reader, q Query) (page Page, err error) {
	if len(q.Pools) == 0 {
		return page, nil
	}
	search := event.Query{From: 0, To: q.Head, Order: event.Desc, After: q.After, Limit: q.Limit}
	for i := range q.Pools {
		search.Emitters = append(search.Emitters, q.Pools[i].Address)
	}
	for _, k := range q.Kinds {
		search.Keys[0] = append(search.Keys[0], k.Selector())
	}
	found, err := event.Search(ctx, r, search)
	if err != nil {
		return page, fmt.Errorf("list events of privacy pools: %w", err)
	}
	readings, err := Read(ctx, r, q.Pools, found.Events)
	if err != nil {
		return page, err
	}
	page.Rows = make([]Row, len(readings))
	for i := range readings {
		page.Rows[i] = Row{found.Events[i], readings[i]}
	}
	if !found.Done {
		page.Next, page.NextHash = found.Next, found.NextHash
	}
	return page, nil
}

// Deposits are the amounts that open notes were made with, in the order of rows: nil
// for a row that makes none, and where its transaction does not tell. A note is paid
// for in the transaction that creates it. One round trip, and Read.
func Deposits(ctx context.Context, r store.Reader, pools []registry.PrivacyPool, rows []Row) ([]*big.Int, error) {
	out := make([]*big.Int, len(rows))
	var open []Row
	for i := range rows {
		if rows[i].Fact.Kind == OpenNoteCreated && rows[i].Fact.NoteID != nil {
			open = append(open, rows[i])
		}
	}
	records, err := recordsOf(ctx, r, open)
	if err != nil {
		return nil, err
	}
	type note struct {
		explorer.Position
		pool, id felt.Felt
	}
	var paid []event.Hit
	for p, rec := range records {
		for log := range rec.Receipt.Events {
			e := rec.Receipt.Events[log]
			if len(e.Keys) > 0 && e.Keys[0] == depositedSelector && poolAt(pools, e.From) != nil {
				paid = append(paid, event.Hit{Place: explorer.Place{Block: p.Block, Tx: p.Index, Log: uint32(log)}, Event: e})
			}
		}
	}
	readings, err := Read(ctx, r, pools, paid)
	if err != nil {
		return nil, err
	}
	amounts := map[note]*big.Int{}
	for i := range paid {
		f := &readings[i].Fact
		if f.NoteID == nil {
			continue
		}
		n := note{paid[i].Position(), paid[i].Event.From, *f.NoteID}
		if _, twice := amounts[n]; twice { // which of them is meant is not known
			f.Amount = nil
		}
		amounts[n] = f.Amount
	}
	for i := range rows {
		if f := &rows[i].Fact; f.Kind == OpenNoteCreated && f.NoteID != nil {
			out[i] = amounts[note{rows[i].Position(), rows[i].Event.From, *f.NoteID}]
		}
	}
	return out, nil
}

var depositedSelector = OpenNoteDeposited.Selector()

// recordsOf reads the transactions of rows, each once. One round trip.
func recordsOf(ctx context.Context, r store.Reader, rows []Row) (map[explorer.Position]*transaction.Record, error) {
	out := make(map[explorer.Position]*transaction.Record, len(rows))
	var positions []explorer.Position
	for i := range rows {
		p := rows[i].Position()
		if _, twice := out[p]; !twice {
			out[p] = nil
			positions = append(positions, p)
		}
	}
	records, err := transaction.GetMany(ctx, r, positions)
	if err != nil {
		return nil, err
	}
	for i, p := range positions {
		out[p] = records[i]
	}
	return out, nil
}
