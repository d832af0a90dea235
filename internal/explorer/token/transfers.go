package token

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"chainexplorer/internal/arrange"
	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/event"
	"chainexplorer/internal/explorer/numbering"
	"chainexplorer/internal/explorer/transaction"
	"chainexplorer/internal/explorer/transfer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/store"
)

// TransferQuery asks for transfers, and besides what package transfer knows by what
// tokens call themselves and by time. Its Kinds are those of this package.
type TransferQuery struct {
	transfer.Query
	Symbol string // tokens that call themselves so, of those that are named; any when empty
	Since  uint64 // only blocks from this time on, seconds since 1970
	Until  *int64 // only blocks up to this time, included; any when nil
}

// TransferPage is a page of transfers, with what their tokens say of themselves.
type TransferPage struct {
	transfer.Page
	Metadata map[felt.Felt]*Metadata // nil for a token that was not looked at yet
}

// ErrManyNamed says that a symbol is of more tokens than a query can name.
var ErrManyNamed = fmt.Errorf("more than %d tokens have the symbol", transfer.MaxTokens)

// Identity is the same for queries that find the same, in whichever order they name
// it: a page's place is one of all of them. Neither the limit nor the place counts.
func (q *TransferQuery) Identity() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d\x00%d\x00%d\x00%v\x00%v\x00%d\x00%q", q.From, q.To, q.Side, q.Standards, q.TxTypes, q.Since, q.Symbol) //nolint:errcheck // a builder never fails
	if q.Until != nil {
		fmt.Fprintf(&b, "\x00until %d", *q.Until) //nolint:errcheck // as above
	}
	if q.Order != event.Desc {
		b.WriteString("\x00asc")
	}
	for _, list := range [][]felt.Felt{q.Addresses, q.Tokens} {
		b.WriteByte(1)
		list = slices.Clone(list)
		arrange.By(list, felt.Felt.Cmp)
		for _, f := range list {
			b.Write(f[:])
		}
	}
	return b.String()
}

// ListTransfers returns a page of the transfers that match. It costs what
// transfer.List does, a seek and a Get for each time, one scan for a symbol, and one
// GetMany.
func ListTransfers(ctx context.Context, r store.Reader, q TransferQuery) (page TransferPage, err error) {
	empty, err := q.settle(ctx, r)
	if err != nil || empty {
		return TransferPage{Page: transfer.Page{Done: true}}, err
	}
	q.Kinds = NewKindMemo(r).At
	if page.Page, err = transfer.List(ctx, r, q.Query); err != nil {
		return page, err
	}
	page.Metadata = map[felt.Felt]*Metadata{}
	var tokens []felt.Felt
	for i := range page.Transfers {
		t := page.Transfers[i].Token
		if _, there := page.Metadata[t]; !there {
			page.Metadata[t] = nil
			tokens = append(tokens, t)
		}
	}
	known, err := MetadataOf(ctx, r, tokens)
	for i := range known {
		page.Metadata[tokens[i]] = known[i]
	}
	return page, err
}

// settle finds what depends on the index: a time is a block, a symbol is a list of
// tokens. empty says that nothing can match.
func (q *TransferQuery) settle(ctx context.Context, r store.Reader) (empty bool, err error) {
	if q.Since > 0 {
		b, err := block.AtOrAfter(ctx, r, q.Since)
		if errors.Is(err, block.ErrNotFound) {
			return true, nil
		}
		if err != nil {
			return false, err
		}
		if q.From = max(q.From, b.Number); q.From > q.To {
			return true, nil
		}
	}
	if q.Until != nil {
		if *q.Until < 0 { // no block is older than 1970
			return true, nil
		}
		b, err := block.AtOrBefore(ctx, r, uint64(*q.Until))
		if errors.Is(err, block.ErrNotFound) {
			return true, nil
		}
		if err != nil {
			return false, err
		}
		if q.To = min(q.To, b.Number); q.From > q.To {
			return true, nil
		}
	}
	if q.Symbol == "" {
		return false, nil
	}
	named, err := WithSymbol(ctx, r, q.Symbol, transfer.MaxTokens+1)
	if err != nil {
		return false, err
	}
	if len(named) > transfer.MaxTokens {
		return false, ErrManyNamed
	}
	if len(q.Tokens) > 0 {
		named = slices.DeleteFunc(named, func(f felt.Felt) bool { return !slices.Contains(q.Tokens, f) })
	}
	q.Tokens = named
	return len(named) == 0, nil
}

// TransfersOf lists the first transfers of a transaction, settled by the standards
// that their tokens had at its block, and the number of all. certain says that this
// follows from blocks and classes alone: a token whose class does not tell its
// standard, such as one behind an old proxy, may be understood later.
func TransfersOf(ctx context.Context, r store.Reader, t *transaction.Record, most int) (list []transfer.Numbered, total int, certain bool, err error) {
	return (&TransferRoom{}).TransfersOf(ctx, r, t, most)
}

// TransferRoom is the memory of a transaction's transfers, for those who read one transaction after the other. The zero
// value is ready, and is for one goroutine.
type TransferRoom struct {
	list   []transfer.Numbered
	open   numbering.Few // tokens whose standards the transfers leave open
	at     []int         // of transfers: the number of their token among those, -1 where they leave nothing open
	kinds  []transfer.Standard
	tokens kindRoom
}

// roomyTransfers is for how many transfers a room keeps memory: few transactions have more.
const roomyTransfers = 64

// Recycle lets go of the transfers.
func (m *TransferRoom) Recycle() {
	if cap(m.list) > roomyTransfers {
		*m = TransferRoom{}
		return
	}
	m.tokens.recycle()
}

// TransfersOf is TransfersOf in memory that is used again: the list is there until the room is recycled.
func (m *TransferRoom) TransfersOf(ctx context.Context, r store.Reader, t *transaction.Record, most int) (list []transfer.Numbered, total int, certain bool, err error) {
	m.list = transfer.AppendOf(m.list[:0], t.Receipt.Events)
	total = len(m.list)
	list = m.list[:min(total, most)]
	certain, err = m.kindsAt(ctx, r, list, t.Block)
	if err != nil {
		return nil, 0, false, err
	}
	for i := range list {
		if n := m.at[i]; n >= 0 {
			list[i].Transfer = list[i].As(m.kinds[n])
		}
	}
	return list, total, certain, nil
}

// kindsAt tells the standards of the tokens that transfers leave open, by their
// classes at a block, and where these do not tell by what is known now.
func (m *TransferRoom) kindsAt(ctx context.Context, r store.Reader, list []transfer.Numbered, number uint64) (certain bool, err error) {
	m.findOpen(list)
	if m.kinds, err = m.tokens.byClass(ctx, r, m.open.All(), number, m.kinds[:0]); err != nil {
		return false, err
	}
	var rest []felt.Felt
	var where []int
	for i, kind := range m.kinds {
		if kind == transfer.Ambiguous {
			rest, where = append(rest, m.open.All()[i]), append(where, i)
		}
	}
	if len(rest) == 0 {
		return true, nil
	}
	now, err := Kinds(ctx, r, rest)
	if err != nil {
		return false, err
	}
	for k, i := range where {
		m.kinds[i] = now[k]
	}
	return false, nil
}

// findOpen finds the tokens whose standards transfers leave open. A transaction has few.
func (m *TransferRoom) findOpen(list []transfer.Numbered) {
	m.open.Reset()
	m.at = m.at[:0]
	for i := range list {
		n := -1
		if s := list[i].Standard; s != transfer.ERC721 && s != transfer.ERC1155 {
			n, _ = m.open.Number(&list[i].Token)
		}
		m.at = append(m.at, n)
	}
}
