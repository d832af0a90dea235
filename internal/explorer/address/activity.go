package address

import (
	"context"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/event"
	"chainexplorer/internal/explorer/transfer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/store"
)

// scanRows is how many rows a page of activity looks at for a part that few of
// them have. A row is the address's parts in one block.
const scanRows = 5000

// Place is where an item of activity is. In the order of the chain a transaction
// stands in front of its transfers.
type Place struct {
	transfer.Place
	Whole bool // it is the transaction itself
}

// Before reports whether p comes first in the chain.
func (p Place) Before(q Place) bool {
	if p.Block != q.Block || p.Tx != q.Tx || p.Whole == q.Whole {
		return p.Place.Before(q.Place)
	}
	return p.Whole
}

// Item is something that an address did, or that was done to it: a transaction
// that it has a part in, or a transfer.
type Item struct {
	At       Place
	Part     Part             // of a transfer one of the parts of transfers
	Transfer *transfer.Listed // nil for a transaction
}

// ActivityQuery asks for the activity of an address.
type ActivityQuery struct {
	Address felt.Felt
	// Head is the newest block.
	Head  uint64
	Order event.Order
	// After is where the page before ended: its ActivityPage.Next.
	After *Place
	// Only is the part of which items must be, and of a transaction its first; any
	// when zero.
	Only  Part
	Limit int
	Kinds transfer.Kinds
}

// ActivityPage is a page of it. Next is where to go on, nil when nothing is left.
// A page may end early, and be empty, with a Next.
type ActivityPage struct {
	Items []Item
	Next  *Place
}

// ListActivity lists what an address did.
func ListActivity(ctx context.Context, r store.Reader, q ActivityQuery) (page ActivityPage, err error) {
	if q.Limit < 1 || q.Limit > MaxLimit {
		return page, ErrLimit
	}
	var lists [2][]Item
	var ends [2]*Place // where one of the lists is not known any further
	if q.Only == 0 || q.Only&stored != 0 {
		if lists[0], ends[0], err = q.transactions(ctx, r); err != nil {
			return page, err
		}
	}
	if q.Only == 0 || q.Only&stored == 0 {
		if lists[1], ends[1], err = q.transfers(ctx, r); err != nil {
			return page, err
		}
	}
	for _, end := range ends {
		if end != nil && (page.Next == nil || q.first(*end, *page.Next)) {
			page.Next = end
		}
	}
	page.Items = q.merge(lists[0], lists[1], page.Next)
	if len(page.Items) > q.Limit {
		page.Items = page.Items[:q.Limit]
		page.Next = &page.Items[q.Limit-1].At
	}
	return page, nil
}

// merge makes one list of two that are in the query's order, one more than the page takes, and
// nothing behind an end, if there is one.
func (q *ActivityQuery) merge(a, b []Item, end *Place) []Item {
	out := make([]Item, 0, min(len(a)+len(b), q.Limit+1))
	for len(a)+len(b) > 0 && len(out) <= q.Limit {
		from := &a
		if len(a) == 0 || len(b) > 0 && q.first(b[0].At, a[0].At) {
			from = &b
		}
		next := (*from)[0]
		if end != nil && q.first(*end, next.At) {
			break
		}
		out, *from = append(out, next), (*from)[1:]
	}
	return out
}

// first reports whether a comes in front of b in the query's order.
func (q *ActivityQuery) first(a, b Place) bool {
	if q.Order == event.Asc {
		return a.Before(b)
	}
	return b.Before(a)
}

// transactions reads one more than the page takes, if there are as many. end is
// where the list is not known any further.
func (q *ActivityQuery) transactions(ctx context.Context, r store.Reader) (items []Item, end *Place, err error) {
	rows := q.Limit + 2 // the first may have nothing behind the place
	if q.Only != 0 {
		rows = scanRows
	} else {
		items = make([]Item, 0, q.Limit+1)
	}
	stopped, err := walk(ctx, r, &q.Address, q.Order == event.Asc, q.afterTx(), rows, func(t Tx) bool {
		if q.Only == 0 || t.Part.First() == q.Only {
			items = append(items, Item{At: Place{transfer.Place{Place: explorer.Place{Block: t.Block, Tx: t.Index}}, true}, Part: t.Part})
		}
		return len(items) <= q.Limit
	})
	switch {
	case err != nil:
		return nil, nil, err
	case len(items) > q.Limit:
		end = &items[q.Limit].At
	case stopped != nil:
		end = &Place{Place: transfer.Place{Place: explorer.Place{Block: stopped.Block, Tx: stopped.Index}}, Whole: true}
	}
	return items, end, nil
}

// afterTx is behind which transaction to go on.
func (q *ActivityQuery) afterTx() *explorer.Position {
	if q.After == nil {
		return nil
	}
	at := explorer.Position{Block: q.After.Block, Index: q.After.Tx}
	if q.Order == event.Desc && !q.After.Whole && at.Index != explorer.BehindAll {
		at.Index++ // newest first, the transaction of a transfer comes after it
	}
	return &at
}

// transfers reads a page of them.
func (q *ActivityQuery) transfers(ctx context.Context, r store.Reader) (items []Item, end *Place, err error) {
	moved := transfer.Query{To: q.Head, Order: q.Order, After: q.afterTransfer(), Limit: q.Limit, Kinds: q.Kinds}
	if q.Only != 0 {
		moved.Exactly = true
		moved.Side = map[Part]transfer.Side{ReceivedTokens: transfer.In, SentTokens: transfer.Out, KeptTokens: transfer.Both}[q.Only]
	}
	page, err := transfer.ListByAddress(ctx, r, q.Address, moved)
	if err != nil {
		return nil, nil, err
	}
	items = make([]Item, 0, len(page.Transfers))
	for i := range page.Transfers {
		t := &page.Transfers[i]
		part := SentTokens
		switch {
		case t.From == t.To:
			part = KeptTokens
		case t.To == q.Address:
			part = ReceivedTokens
		}
		items = append(items, Item{At: Place{Place: t.Place}, Part: part, Transfer: t})
	}
	if !page.Done {
		end = &Place{Place: *page.Next}
	}
	return items, end, nil
}

// afterTransfer is behind which transfer to go on.
func (q *ActivityQuery) afterTransfer() *transfer.Place {
	switch {
	case q.After == nil:
		return nil
	case !q.After.Whole || q.Order == event.Desc: // of a transaction: in front of all its transfers
		return &q.After.Place
	case q.After.Tx > 0:
		return &transfer.Place{Place: explorer.Place{Block: q.After.Block, Tx: q.After.Tx - 1, Log: explorer.BehindAll}, Index: explorer.BehindAll}
	case q.After.Block > 0:
		return &transfer.Place{Place: explorer.Place{Block: q.After.Block - 1, Tx: explorer.BehindAll, Log: explorer.BehindAll}, Index: explorer.BehindAll}
	}
	return nil
}
