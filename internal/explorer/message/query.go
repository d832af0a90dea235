package message

import (
	"context"
	"errors"
	"fmt"
	"slices"

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

// Query asks for messages that a filter lets through: of the chain, or of one
// transaction, or with one hash, or both.
type Query struct {
	Filter
	Tx   *felt.Felt
	Hash *Hash
}

// listSpans is how far a page looks through blocks without messages, in spans of
// 4,096 blocks.
const listSpans = 64

func (f *Filter) directions() []Direction {
	if f.Direction != nil {
		return []Direction{*f.Direction}
	}
	return Directions
}

// Page finds up to limit messages older than a place, newest first, and where to go
// on; nil at the end. A filter, a hash or a transaction is a list each, and two round
// trips for what belongs to the messages.
func (q *Query) Page(ctx context.Context, r store.Reader, before explorer.Place, limit int) (out []Loaded, next *explorer.Place, err error) {
	var list []explorer.Place
	switch {
	case q.Tx != nil:
		return q.ofTransaction(ctx, r, before, limit)
	case q.Hash != nil:
		list, next, err = OfHash(ctx, r, *q.Hash, before, limit)
	default:
		list, next, err = List(ctx, r, q.Filter, before, limit, listSpans)
	}
	if err != nil {
		return nil, nil, err
	}
	out, err = Load(ctx, r, list)
	if q.Hash != nil { // all with one hash have the same ends and direction, but for a collision
		out = slices.DeleteFunc(out, func(m Loaded) bool { return !q.Match(&m.Message) })
	}
	return out, next, err
}

// ofTransaction lists the matching messages of one transaction, last first.
func (q *Query) ofTransaction(ctx context.Context, r store.Reader, before explorer.Place, limit int) (out []Loaded, next *explorer.Place, err error) {
	p, err := transaction.PositionOf(ctx, r, *q.Tx)
	if errors.Is(err, transaction.ErrNotFound) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	t, err := transaction.Get(ctx, r, p)
	if err != nil {
		return nil, nil, err
	}
	all, err := OfTransaction(ctx, r, t, Count(&t.Transaction, &t.Receipt))
	if err != nil {
		return nil, nil, err
	}
	for _, m := range slices.Backward(all) {
		if !m.Place.Before(before) || !q.Match(&m.Message) || q.Hash != nil && m.Hash != *q.Hash {
			continue
		}
		if len(out) == limit {
			return out, &out[limit-1].Place, nil
		}
		out = append(out, m)
	}
	return out, nil, nil
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
func List(ctx context.Context, r store.Reader, f Filter, before explorer.Place, limit, maxSpans int) (out []explorer.Place, next *explorer.Place, err error) {
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
		if before = explorer.EndOf(first - 1); len(out) == limit {
			break
		}
	}
	return out, &before, nil
}

func page(out []explorer.Place, hits []places.Hit, more bool) ([]explorer.Place, *explorer.Place, error) {
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
func OfHash(ctx context.Context, r store.Reader, hash Hash, before explorer.Place, limit int) (out []explorer.Place, next *explorer.Place, err error) {
	rng := store.Range{Table: Hashes, Partition: hash[:], To: before.Append(nil), Reverse: true, Limit: limit + 1}
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
	explorer.Place
	Message
	TxHash felt.Felt
	// Times is how often L2 sent a message with this hash to L1.
	Times uint64
}

// Load reads messages by their places, which must be of the same view. Two
// round trips.
func Load(ctx context.Context, r store.Reader, list []explorer.Place) ([]Loaded, error) {
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
		if int(p.Log) >= Count(&t.Transaction, &t.Receipt) {
			return nil, fmt.Errorf("message %d of transaction %s: %w", p.Log, t.Hash, transaction.ErrNotFound)
		}
		out[i] = Loaded{Place: p, Message: Of(&t.Transaction, &t.Receipt, int(p.Log)), TxHash: t.Hash}
	}
	return out, count(ctx, r, out)
}

// OfTransaction returns the first messages of a transaction. One round trip, or
// none when it sent nothing.
func OfTransaction(ctx context.Context, r store.Reader, t *transaction.Record, limit int) ([]Loaded, error) {
	out := make([]Loaded, min(limit, Count(&t.Transaction, &t.Receipt)))
	for i := range out {
		out[i] = Loaded{Place: explorer.Place{Block: t.Block, Tx: t.Index, Log: uint32(i)},
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
