package address

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/event"
	"chainexplorer/internal/explorer/places"
	"chainexplorer/internal/explorer/transaction"
	"chainexplorer/internal/explorer/transfer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/record"
)

// The bounds of a page.
const (
	MaxLimit = 1000
	// ScanTransactions is how many transactions a page looks at for a type that
	// few of them have. It may be passed by one chunk.
	ScanTransactions = 1000
	scanChunk        = 200
	usualParts       = 101 // for how many of a list memory is taken at first: a page of 100 and the one behind it
)

// ErrLimit is the error of a caller.
var ErrLimit = fmt.Errorf("a page has 1 to %d items", MaxLimit)

// Tx is a transaction of an address, and what the address has to do with it.
type Tx struct {
	explorer.Position
	Part Part
}

// TxQuery asks for transactions of an address.
type TxQuery struct {
	Address felt.Felt
	Order   event.Order
	// After is where the page before ended: its TxPage.Next.
	After *explorer.Position
	// Types are those of which a transaction must be one; any when empty.
	Types []starknet.TxType
	Limit int
}

// TxPage is a page of them. Next is where to go on, nil when nothing is left. A
// page that looked at ScanTransactions has fewer than asked for, or none, and a
// Next.
type TxPage struct {
	Transactions []Tx
	Next         *explorer.Position
}

// ListTransactions lists the transactions that an address has a part in or that
// move tokens from or to it, each once.
func ListTransactions(ctx context.Context, r store.Reader, q TxQuery) (page TxPage, err error) {
	if q.Limit < 1 || q.Limit > MaxLimit {
		return page, ErrLimit
	}
	var list []Tx
	if len(q.Types) == 0 {
		if list, err = joined(ctx, r, &q, q.After, q.Limit+1); err != nil {
			return page, err
		}
		return cut(list, q.Limit), nil
	}
	after := q.After
	for looked := 0; ; {
		part, err := joined(ctx, r, &q, after, scanChunk)
		if err != nil {
			return page, err
		}
		if list, err = keepTypes(ctx, r, list, part, q.Types); err != nil {
			return page, err
		}
		if len(list) > q.Limit || len(part) < scanChunk {
			return cut(list, q.Limit), nil
		}
		after = &part[len(part)-1].Position
		if looked += len(part); looked >= ScanTransactions {
			return TxPage{list, after}, nil
		}
	}
}

// ListParts lists up to limit transactions that an address has a part in, the newest first,
// in front of a position: those that only moved its tokens are left out. One scan.
func ListParts(ctx context.Context, r store.Reader, address felt.Felt, before explorer.Position, limit int) (out []Tx, err error) {
	if limit < 1 || limit > MaxLimit {
		return nil, ErrLimit
	}
	_, err = walk(ctx, r, &address, false, &before, limit+1, func(t Tx) bool {
		out = append(out, t)
		return len(out) < limit
	})
	return out, err
}

// cut makes a page of a list that has one more if there is more.
func cut(list []Tx, limit int) TxPage {
	if len(list) <= limit {
		return TxPage{list, nil}
	}
	list = list[:limit]
	return TxPage{list, &list[limit-1].Position}
}

// keepTypes appends the transactions that are of one of the types. One GetMany.
func keepTypes(ctx context.Context, r store.Reader, dst, list []Tx, types []starknet.TxType) ([]Tx, error) {
	positions := make([]explorer.Position, len(list))
	for i := range list {
		positions[i] = list[i].Position
	}
	heads, err := transaction.PreviewsOf(ctx, r, positions)
	if err != nil {
		return nil, err
	}
	for i, h := range heads {
		if slices.Contains(types, h.Type) {
			dst = append(dst, list[i])
		}
	}
	return dst, nil
}

// joined reads up to n transactions behind one from both lists. Each gives its
// first n, so that the first n of both are among them. Two scans.
func joined(ctx context.Context, r store.Reader, q *TxQuery, after *explorer.Position, n int) ([]Tx, error) {
	up := q.Order == event.Asc
	parts, moves := make([]Tx, 0, usualParts), make([]Tx, 0, usualParts)
	// The first row may have nothing behind the place.
	_, err := walk(ctx, r, &q.Address, up, after, n+1, func(t Tx) bool {
		parts = append(parts, t)
		return len(parts) < n
	})
	if err != nil {
		return nil, err
	}
	err = transfer.WalkTransactions(ctx, r, q.Address, transfer.Way{Ascending: up, Past: after, Rows: n + 1}, func(p explorer.Position, m transfer.Moves) bool {
		moves = append(moves, Tx{p, partOf(m)})
		return len(moves) < n
	})
	if err != nil {
		return nil, err
	}
	return join(parts, moves, up, n), nil
}

// walk calls use with the transactions that an address has a part in, behind one,
// until it returns false, or the list ends, or the rows are spent: then stopped is
// in the last block that was read, behind all of it. One scan.
func walk(ctx context.Context, r store.Reader, address *felt.Felt, up bool, after *explorer.Position, rows int, use func(Tx) bool) (stopped *explorer.Position, err error) {
	var bad error
	end, err := places.Walk(ctx, r, List(address), places.Way{Ascending: up, Past: past(after, up), Rows: rows}, func(block uint64, s places.Spot) bool {
		part := Part(s.Sub)
		if part == 0 || part&^stored != 0 {
			bad = fmt.Errorf("%w: address %s has part %d in transaction %d of block %d", record.ErrCorrupt, address, part, s.Tx, block)
			return false
		}
		return use(Tx{explorer.Position{Block: block, Index: s.Tx}, part})
	})
	if err = errors.Join(err, bad); err != nil || end == nil {
		return nil, err
	}
	at := end.Position()
	return &at, nil
}

// past is a position as the lists of places count: behind all that a transaction
// has there in the order.
func past(p *explorer.Position, up bool) *explorer.Place {
	if p == nil {
		return nil
	}
	out := explorer.Place{Block: p.Block, Tx: p.Index}
	if up {
		out.Log = explorer.BehindAll
	}
	return &out
}

// partOf tells moves as parts.
func partOf(m transfer.Moves) (p Part) {
	if m&transfer.MovedIn != 0 {
		p |= ReceivedTokens
	}
	if m&transfer.MovedOut != 0 {
		p |= SentTokens
	}
	if m&transfer.MovedSelf != 0 {
		p |= KeptTokens
	}
	return p
}

// join makes one list of two that are in order; a transaction that is in both is
// one.
func join(a, b []Tx, up bool, n int) []Tx {
	out := make([]Tx, 0, min(n, len(a)+len(b)))
	for len(out) < n && len(a)+len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0].Position != b[0].Position && a[0].Before(b[0].Position) == up:
			out, a = append(out, a[0]), a[1:]
		case len(a) == 0 || a[0].Position != b[0].Position:
			out, b = append(out, b[0]), b[1:]
		default:
			out = append(out, Tx{a[0].Position, a[0].Part | b[0].Part})
			a, b = a[1:], b[1:]
		}
	}
	return out
}
