package transaction

import (
	"context"
	"fmt"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/record"
)

// spanCost is what opening another span costs in a walk, in rows.
const spanCost = 32

// WalkEvents visits transactions from a position on to the end of a block, in the
// order of the chain, with all the events of each. It ends when visit returns false,
// or before it has read more than so many rows; at is a place up to which all was
// visited, and done says that there is nothing behind it. One scan per span.
func WalkEvents(ctx context.Context, r store.Reader, from explorer.Position, last uint64, rows int,
	visit func(p explorer.Position, events []Emitted) bool,
) (at explorer.Place, done bool, err error) {
	var d record.Decoder
	return walk(ctx, r, from, last, rows, func(p explorer.Position, value []byte) (bool, error) {
		events, err := emittedBy(&d, p, value)
		return err == nil && visit(p, events), err
	})
}

// Walk is WalkEvents for whoever wants all of a transaction.
func Walk(ctx context.Context, r store.Reader, from explorer.Position, last uint64, rows int,
	visit func(*Record) bool,
) (at explorer.Place, done bool, err error) {
	var d record.Decoder
	return walk(ctx, r, from, last, rows, func(p explorer.Position, value []byte) (bool, error) {
		rec, err := decode(&d, p, value)
		return err == nil && visit(rec), err
	})
}

func walk(ctx context.Context, r store.Reader, from explorer.Position, last uint64, rows int,
	visit func(p explorer.Position, value []byte) (bool, error),
) (at explorer.Place, done bool, err error) {
	for from.Block <= last {
		if rows <= spanCost {
			rows = spanCost + 1 // some progress must be made
		}
		rows -= spanCost
		rng := store.Range{Table: Transactions, Partition: explorer.Span(from.Block), From: from.Append(nil), Limit: rows}
		end := explorer.FirstOfSpan(from.Block) + explorer.SpanSize - 1 // the span's last block
		if last < end {
			rng.To, end = explorer.BlockKey(last+1), last
		}
		for row, err := range r.Scan(ctx, rng) {
			if err != nil {
				return at, false, fmt.Errorf("walk transactions from block %d: %w", from.Block, err)
			}
			p, ok := explorer.ParsePosition(row.Sort)
			if !ok {
				return at, false, fmt.Errorf("transaction row with a key of %d bytes", len(row.Sort))
			}
			more, err := visit(p, row.Value)
			if err != nil {
				return at, false, err
			}
			rows--
			at = explorer.Place{Block: p.Block, Tx: p.Index, Log: explorer.BehindAll}
			if !more {
				return at, false, nil
			}
		}
		if rows == 0 { // the scan was cut short, or ended just there
			return at, false, nil
		}
		at = explorer.EndOf(end)
		if end == last {
			return at, true, nil
		}
		from = explorer.Position{Block: end + 1}
		if rows <= spanCost {
			return at, false, nil
		}
	}
	return explorer.EndOf(last), true, nil
}

// emittedBy reads all events of a record, and nothing behind them.
func emittedBy(d *record.Decoder, p explorer.Position, b []byte) ([]Emitted, error) {
	d.Reset(b, recordVersion)
	e := Emitted{}
	e.TxType = starknet.TxType(d.Byte())
	d.Byte() // flags
	e.Stamp = readStamp(d)
	d.Raw(e.TxHash[:])
	n := d.Len(3)
	out := make([]Emitted, n)
	for i := range out {
		out[i] = e
		out[i].Event = decodeEvent(d)
	}
	if err := d.Err(); err != nil {
		return nil, fmt.Errorf("events of transaction %d of block %d: %w", p.Index, p.Block, err)
	}
	return out, nil
}
