package transaction

import (
	"context"
	"fmt"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/record"
)

const (
	// stretchCost is what opening another stretch costs in a walk, in rows.
	stretchCost = 32
	// hopCost is what it costs to find out which blocks have the next transactions.
	hopCost = 128
	// dense is how many transactions a block must have, about, for a walk to go on to the
	// next stretch. Where there are fewer it asks for the next ones by their places,
	// first for a few, then for twice as many each time, up to farthest.
	dense    = 2
	nearest  = 32
	farthest = 256
)

// WalkEvents visits transactions from a position on to the end of a block that is
// indexed, in the order of the chain, with all the events of each. It ends when visit
// returns false, or before it has read more than so many rows; at is a place up to which
// all was visited, and done says that there is nothing behind it. One scan per stretch;
// where blocks have hardly any transactions, one GetMany for up to 256 of them and the
// reads of block.Oldest, however many blocks are in between.
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
	w := walker{r: r, last: last, rows: max(rows, stretchCost+1), visit: visit} // some progress must be made
	for ahead := nearest; from.Block <= last; ahead = min(2*ahead, farthest) {
		if w.rows <= stretchCost {
			return w.at, false, nil
		}
		sparse, err := w.stretch(ctx, &from)
		if err == nil && sparse && !w.ended && from.Block <= last {
			err = w.hop(ctx, &from, ahead)
		}
		if err != nil || w.ended {
			return w.at, false, err
		}
	}
	return explorer.EndOf(last), true, nil
}

// walker is a walk. Its steps move the place that it goes on from.
type walker struct {
	r     store.Reader
	last  uint64
	rows  int // that may be read yet
	visit func(p explorer.Position, value []byte) (bool, error)
	at    explorer.Place // all up to here was visited
	ended bool           // by the visitor, or because there are no more rows to be read
}

// see visits a transaction.
func (w *walker) see(p explorer.Position, value []byte) error {
	more, err := w.visit(p, value)
	if err != nil {
		return err
	}
	w.rows--
	w.at = explorer.Place{Block: p.Block, Tx: p.Index, Log: explorer.BehindAll}
	w.ended = !more || w.rows == 0
	return nil
}

// stretch visits what is left of one, and tells whether that was little.
func (w *walker) stretch(ctx context.Context, from *explorer.Position) (sparse bool, err error) {
	w.rows -= stretchCost
	rng := store.Range{Table: Transactions, Partition: explorer.Stretch(from.Block), From: from.Append(nil), Limit: w.rows}
	end := explorer.FirstOfStretch(from.Block) + explorer.StretchSize - 1 // its last block
	if w.last < end {
		rng.To, end = explorer.BlockKey(w.last+1), w.last
	}
	found := uint64(0)
	for row, err := range w.r.Scan(ctx, rng) {
		if err != nil {
			return false, fmt.Errorf("walk transactions from block %d: %w", from.Block, err)
		}
		p, ok := explorer.ParsePosition(row.Sort)
		if !ok {
			return false, fmt.Errorf("transaction row with a key of %d bytes", len(row.Sort))
		}
		if err := w.see(p, row.Value); err != nil || w.ended {
			return false, err
		}
		found++
	}
	sparse = found < dense*(end-from.Block+1)
	w.at, *from = explorer.EndOf(end), explorer.Position{Block: end + 1}
	return sparse, nil
}

// hop visits the next transactions, at most so many, wherever they are.
func (w *walker) hop(ctx context.Context, from *explorer.Position, most int) error {
	most = min(most, w.rows)
	blocks, err := block.Oldest(ctx, w.r, from.Block, w.last, most)
	if err != nil {
		return fmt.Errorf("walk transactions from block %d: %w", from.Block, err)
	}
	places := oldestOf(blocks, most)
	values, err := w.r.GetMany(ctx, keysOf(places))
	if err != nil {
		return fmt.Errorf("read %d transactions: %w", len(places), err)
	}
	for i, p := range places {
		if values[i] == nil {
			return notThere(p)
		}
		if err := w.see(p, values[i]); err != nil || w.ended {
			return err
		}
		*from = explorer.Position{Block: p.Block, Index: p.Index + 1}
	}
	if len(places) < most { // there are no more
		*from = explorer.Position{Block: w.last + 1}
	}
	w.rows -= hopCost
	return nil
}

// oldestOf are the places of the first transactions of blocks in order.
func oldestOf(blocks []*block.Summary, limit int) (out []explorer.Position) {
	for _, b := range blocks {
		for i := uint64(0); i < b.Transactions && len(out) < limit; i++ {
			out = append(out, explorer.Position{Block: b.Number, Index: uint32(i)})
		}
	}
	return out
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
