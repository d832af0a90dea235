package feed

import (
	"slices"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/address"
	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/event"
	"chainexplorer/internal/explorer/token"
	"chainexplorer/internal/explorer/transfer"
	"chainexplorer/internal/felt"
)

// blockList is every block.
type blockList struct{ found []*block.Summary }

func (l *blockList) list(v *view, from, to uint64, after *transfer.Place, limit int) ([]match, *transfer.Place, error) {
	if after != nil {
		from = max(from, after.Block+1)
	}
	top := min(to, from+uint64(limit)-1)
	if from > to {
		return nil, nil, nil
	}
	list, err := block.List(v.ctx, v.r, top, int(top-from)+1)
	if err != nil {
		return nil, nil, err
	}
	slices.Reverse(list)
	out := make([]match, len(list))
	for i, b := range list {
		out[i] = match{transfer.Place{Place: explorer.Place{Block: b.Number}}, block.Stamp{Number: b.Number, Hash: b.Hash, Timestamp: b.Timestamp}}
	}
	l.found = append(l.found, list...)
	if top == to {
		return out, nil, nil
	}
	return out, &transfer.Place{Place: explorer.EndOf(top)}, nil
}

func (l *blockList) rows(v *view, n int) ([]any, error) {
	return v.Rows.Blocks(v.state, l.found[:n]), nil
}

// eventList is a search for events.
type eventList struct {
	filter *Filter
	found  []event.Hit
}

func (l *eventList) list(v *view, from, to uint64, after *transfer.Place, limit int) ([]match, *transfer.Place, error) {
	q := event.Query{Emitters: l.filter.Address, Keys: l.filter.Topics, From: from, To: to, Order: event.Asc, Limit: limit}
	if after != nil {
		q.After = &after.Place
	}
	page, err := event.Search(v.ctx, v.r, q)
	if err != nil {
		return nil, nil, err
	}
	out := make([]match, len(page.Events))
	for i := range page.Events {
		h := &page.Events[i]
		out[i] = match{transfer.Place{Place: h.Place}, block.Stamp{Number: h.Block, Hash: h.BlockHash, Timestamp: h.Timestamp}}
	}
	l.found = append(l.found, page.Events...)
	if page.Done || page.Next == nil {
		return out, nil, nil
	}
	return out, &transfer.Place{Place: *page.Next}, nil
}

func (l *eventList) rows(v *view, n int) ([]any, error) {
	return v.Rows.Events(v.ctx, v.r, v.state, l.found[:n])
}

// transferList is a list of transfers.
type transferList struct {
	filter *Filter
	found  token.TransferPage
}

func (l *transferList) list(v *view, from, to uint64, after *transfer.Place, limit int) ([]match, *transfer.Place, error) {
	q := token.TransferQuery{Query: transfer.Query{Addresses: l.filter.Address, Tokens: l.filter.Token, From: from, To: to, Order: event.Asc, After: after, Limit: limit}}
	switch {
	case len(l.filter.From) > 0:
		q.Addresses, q.Side = l.filter.From, transfer.Out
	case len(l.filter.To) > 0:
		q.Addresses, q.Side = l.filter.To, transfer.In
	}
	page, err := token.ListTransfers(v.ctx, v.r, q)
	if err != nil {
		return nil, nil, err
	}
	out := make([]match, len(page.Transfers))
	for i := range page.Transfers {
		t := &page.Transfers[i]
		out[i] = match{t.Place, block.Stamp{Number: t.Block, Hash: t.BlockHash, Timestamp: t.Timestamp}}
	}
	l.found.Transfers = append(l.found.Transfers, page.Transfers...)
	if l.found.Metadata == nil {
		l.found.Metadata = map[felt.Felt]*token.Metadata{}
	}
	for t, m := range page.Metadata {
		l.found.Metadata[t] = m
	}
	if page.Done {
		return out, nil, nil
	}
	return out, page.Next, nil
}

func (l *transferList) rows(v *view, n int) ([]any, error) {
	l.found.Transfers = l.found.Transfers[:n]
	return v.Rows.Transfers(v.state, &l.found), nil
}

// transactionList is the list of an address's transactions.
type transactionList struct {
	of    felt.Felt
	found []address.Tx
}

func (l *transactionList) list(v *view, from, to uint64, after *transfer.Place, limit int) ([]match, *transfer.Place, error) {
	q := address.TxQuery{Address: l.of, Order: event.Asc, Limit: limit}
	switch {
	case after != nil:
		q.After = &explorer.Position{Block: after.Block, Index: after.Tx}
	case from > 0:
		q.After = &explorer.Position{Block: from - 1, Index: explorer.BehindAll}
	}
	page, err := address.ListTransactions(v.ctx, v.r, q)
	if err != nil {
		return nil, nil, err
	}
	list := page.Transactions
	if n := slices.IndexFunc(list, func(t address.Tx) bool { return t.Block > to }); n >= 0 {
		list, page.Next = list[:n], nil
	}
	numbers := make([]uint64, len(list))
	for i := range list {
		numbers[i] = list[i].Block
	}
	stamps, err := block.Stamps(v.ctx, v.r, numbers)
	if err != nil {
		return nil, nil, err
	}
	out := make([]match, len(list))
	for i, t := range list {
		out[i] = match{transfer.Place{Place: explorer.Place{Block: t.Block, Tx: t.Index}}, stamps[i]}
	}
	l.found = append(l.found, list...)
	if page.Next == nil {
		return out, nil, nil
	}
	return out, &transfer.Place{Place: explorer.Place{Block: page.Next.Block, Tx: page.Next.Index}}, nil
}

func (l *transactionList) rows(v *view, n int) ([]any, error) {
	return v.Rows.Transactions(v.ctx, v.r, v.state, l.of, l.found[:n])
}
