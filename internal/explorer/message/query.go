package message

import (
	"context"
	"fmt"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/places"
	"chainexplorer/internal/explorer/transaction"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/store"
)

// Filter narrows a list.
type Filter struct {
	// Contract is one of either layer that sent or gets the message; any when nil.
	Contract *felt.Felt
	// Direction is the only one that counts; both when nil.
	Direction *Direction
}

func (f *Filter) directions() []Direction {
	if f.Direction != nil {
		return []Direction{*f.Direction}
	}
	return Directions
}

// Match reports whether a message is one that the filter lets through.
func (f *Filter) Match(m *Message) bool {
	if f.Direction != nil && m.Direction != *f.Direction {
		return false
	}
	return f.Contract == nil || m.To == *f.Contract || m.HasFrom && m.From == *f.Contract
}

// List returns up to limit messages older than a place, newest first. Without a
// contract it looks through at most maxSpans spans of blocks, so that a long run
// of blocks without messages ends the page early: next is where to go on, nil at
// the end.
func List(ctx context.Context, r store.Reader, f Filter, before Place, limit, maxSpans int) (out []Place, next *Place, err error) {
	if f.Contract != nil {
		q := places.Query{Before: before, Limit: limit}
		for _, d := range f.directions() {
			q.Lists = append(q.Lists, places.List{Table: Contracts, Partition: contractPartition(d, f.Contract)})
		}
		hits, more, err := places.Page(ctx, r, q)
		if err != nil {
			return nil, nil, err
		}
		return page(nil, hits, more)
	}
	for range maxSpans {
		first := explorer.FirstOfSpan(before.Block)
		q := places.Query{Before: before, From: first, Limit: limit - len(out)}
		for _, d := range f.directions() {
			q.Lists = append(q.Lists, places.List{Table: Blocks, Partition: blockPartition(d, before.Block)})
		}
		hits, more, err := places.Page(ctx, r, q)
		if err != nil {
			return nil, nil, err
		}
		if more {
			return page(out, hits, true)
		}
		out, _, _ = page(out, hits, false)
		if first == 0 {
			return out, nil, nil
		}
		// Everything of this span was seen: go on behind all of the one before.
		if before = places.End(first - 1); len(out) == limit {
			break
		}
	}
	return out, &before, nil
}

func page(out []Place, hits []places.Hit, more bool) ([]Place, *Place, error) {
	for _, h := range hits {
		out = append(out, h.Place)
	}
	if !more {
		return out, nil, nil
	}
	return out, &out[len(out)-1], nil
}

// OfHash returns up to limit messages with a hash that are older than a place,
// newest first. One scan.
func OfHash(ctx context.Context, r store.Reader, hash Hash, before Place, limit int) (out []Place, next *Place, err error) {
	rng := store.Range{Table: Hashes, Partition: hash[:], To: appendPlace(nil, before), Reverse: true, Limit: limit + 1}
	for row, err := range r.Scan(ctx, rng) {
		if err != nil {
			return nil, nil, fmt.Errorf("read messages by hash: %w", err)
		}
		p, _, err := parseHashRow(row)
		if err != nil {
			return nil, nil, err
		}
		if len(out) == limit {
			return out, &out[limit-1], nil
		}
		out = append(out, p)
	}
	return out, nil, nil
}

// Loaded is a message with what belongs to it.
type Loaded struct {
	Place
	Message
	TxHash felt.Felt
	// Times is how often L2 sent a message with this hash to L1.
	Times uint64
}

// Load reads messages by their places, which must be of the same view. Two
// round trips.
func Load(ctx context.Context, r store.Reader, list []Place) ([]Loaded, error) {
	var positions []explorer.Position
	at := map[explorer.Position]int{}
	for _, p := range list {
		pos := explorer.Position{Block: p.Block, Index: p.Tx}
		if _, there := at[pos]; !there {
			at[pos] = len(positions)
			positions = append(positions, pos)
		}
	}
	records, err := transaction.GetMany(ctx, r, positions)
	if err != nil {
		return nil, err
	}
	out := make([]Loaded, len(list))
	for i, p := range list {
		t := records[at[explorer.Position{Block: p.Block, Index: p.Tx}]]
		if int(p.Sub) >= Count(&t.Transaction, &t.Receipt) {
			return nil, fmt.Errorf("message %d of transaction %s: %w", p.Sub, t.Hash, transaction.ErrNotFound)
		}
		out[i] = Loaded{Place: p, Message: Of(&t.Transaction, &t.Receipt, int(p.Sub)), TxHash: t.Hash}
	}
	return out, count(ctx, r, out)
}

// OfTransaction returns the first messages of a transaction. One round trip, or
// none when it sent nothing.
func OfTransaction(ctx context.Context, r store.Reader, t *transaction.Record, limit int) ([]Loaded, error) {
	out := make([]Loaded, min(limit, Count(&t.Transaction, &t.Receipt)))
	for i := range out {
		out[i] = Loaded{Place: Place{Block: t.Block, Spot: places.Spot{Tx: t.Index, Sub: uint32(i)}},
			Message: Of(&t.Transaction, &t.Receipt, i), TxHash: t.Hash}
	}
	return out, count(ctx, r, out)
}

// count fills in how often messages were sent.
func count(ctx context.Context, r store.Reader, list []Loaded) error {
	var keys []store.Key
	var of []int
	for i := range list {
		if list[i].Direction == ToL1 {
			keys, of = append(keys, sentKey(&list[i].Hash)), append(of, i)
		}
	}
	if len(keys) == 0 {
		return nil
	}
	values, err := r.GetMany(ctx, keys)
	if err != nil {
		return fmt.Errorf("read counts of messages: %w", err)
	}
	for n, i := range of {
		if list[i].Times, err = decodeSent(values[n]); err != nil {
			return err
		}
	}
	return nil
}
