package api

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/address"
	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/explorer/places"
	"chainexplorer/internal/explorer/transfer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/store"
)

// ActivityItem is something that an address did, or that was done to it.
type ActivityItem struct {
	BlockNumber   uint64     `json:"blockNumber"`
	TimestampISO  *string    `json:"timestampIso" format:"date-time"`
	TxIndex       uint32     `json:"txIndex"`
	LogIndex      *uint32    `json:"logIndex" doc:"Null for a transaction."`
	TransferIndex *uint32    `json:"transferIndex" doc:"Null for a transaction."`
	TxHash        felt.Felt  `json:"txHash"`
	TxCursor      string     `json:"txCursor" doc:"block:tx"`
	Kind          string     `json:"kind" enum:"sender,deployed,called,l1_handler,transfer_in,transfer_out,transfer_self" doc:"Of a transaction, the first that holds."`
	Counterparty  *felt.Felt `json:"counterparty"`
	TokenAddress  *felt.Felt `json:"tokenAddress"`
	Amount        *string    `json:"amount" doc:"Decimal; 1 of an NFT; null for a transaction, and when the standard is unknown."`
	TokenID       *string    `json:"tokenId" doc:"Decimal."`
}

// ActivityPage is a page of activity, newest first.
type ActivityPage struct {
	Items      []ActivityItem `json:"items"`
	NextCursor *string        `json:"nextCursor"`
}

// activityPlace orders activity: a transaction stands in front of its transfers.
type activityPlace struct {
	transfer.Place
	tx bool // it is the transaction itself
}

func (p activityPlace) before(q activityPlace) bool {
	if p.Block != q.Block || p.Tx != q.Tx || p.tx == q.tx {
		return p.Place.Before(q.Place)
	}
	return p.tx
}

// places are where the two lists go on.
func (p activityPlace) places() (places.Place, *transfer.Place) {
	at := places.Place{Block: p.Block, Spot: places.Spot{Tx: p.Tx}}
	if p.tx {
		return at, &transfer.Place{Block: p.Block, Tx: p.Tx}
	}
	at.Sub = ^uint32(0) // the transaction of a transfer comes after it
	return at, &p.Place
}

func (s *Server) listAddressActivity(ctx context.Context, in *AddressInput) (*body[ActivityPage], error) {
	a, err := parseAddress(in.Address)
	if err != nil {
		return nil, err
	}
	limit := in.Limit.clamp(defaultAddressPage, maxAddressPage)
	scope := "listAddressActivity\x00" + in.Chain + "\x00" + a.String()
	out := &body[ActivityPage]{ActivityPage{Items: []ActivityItem{}}}
	err = s.view(ctx, in.Chain, func(_ *Chain, r store.Reader, state *chain.State) error {
		before, after := places.End(state.Head.Number), (*transfer.Place)(nil)
		if in.Cursor != "" {
			at, err := s.openActivity(ctx, r, scope, in.Cursor)
			if err != nil {
				return err
			}
			before, after = at.places()
		}
		hits, more, err := places.Page(ctx, r, places.Query{Lists: []places.List{address.List(&a)}, Before: before, Limit: limit})
		if err != nil {
			return err
		}
		kinds := newTokenKinds(r)
		moved, err := transfer.ListByAddress(ctx, r, a, transfer.Query{To: state.Head.Number, After: after, Limit: limit, Kinds: kinds.of})
		if err != nil {
			return err
		}
		items, err := renderActivity(ctx, r, &a, hits, moved.Transfers)
		if err != nil {
			return err
		}
		var next *activityPlace
		if !moved.Done { // nothing older than where the transfers end is known
			next = &activityPlace{Place: *moved.Next}
			items = slices.DeleteFunc(items, func(i activityItem) bool { return i.at.before(*next) })
		}
		if len(items) > limit || more && len(items) == limit {
			items = items[:limit]
			next = &items[len(items)-1].at
		}
		for i := range items {
			out.Body.Items = append(out.Body.Items, items[i].ActivityItem)
		}
		requestOf(ctx).indexed = len(moved.Transfers) == 0 // some standards come from calls
		if next != nil {
			out.Body.NextCursor, err = s.sealActivity(ctx, r, scope, *next)
		}
		return err
	})
	return out, err
}

type activityItem struct {
	at activityPlace
	ActivityItem
}

// renderActivity joins transactions and transfers, newest first.
func renderActivity(ctx context.Context, r store.Reader, a *felt.Felt, hits []places.Hit, moved []transfer.Listed) ([]activityItem, error) {
	records, err := transactionsAt(ctx, r, hits)
	if err != nil {
		return nil, err
	}
	var items []activityItem
	for i, t := range records {
		part := address.Part(hits[i].Sub)
		iso := timestampISO(t.BlockTime)
		items = append(items, activityItem{activityPlace{transfer.Place{Block: t.Block, Tx: t.Index}, true}, ActivityItem{
			BlockNumber: t.Block, TimestampISO: &iso, TxIndex: t.Index, TxHash: t.Hash, TxCursor: txCursor(t.Position),
			Kind: kindsOf(part)[0], Counterparty: counterparty(t, part),
		}})
	}
	for i := range moved {
		m := &moved[i]
		iso, kind, other := timestampISO(m.Timestamp), "transfer_out", &m.To
		switch {
		case m.From == m.To:
			kind = "transfer_self"
		case m.To == *a:
			kind, other = "transfer_in", &m.From
		}
		items = append(items, activityItem{activityPlace{m.Place, false}, ActivityItem{
			BlockNumber: m.Block, TimestampISO: &iso, TxIndex: m.Tx, LogIndex: &m.Log, TransferIndex: &m.Index, TxHash: m.TxHash,
			TxCursor: txCursor(explorer.Position{Block: m.Block, Index: m.Tx}), Kind: kind, Counterparty: other, TokenAddress: &m.Token,
		}})
		last := &items[len(items)-1]
		last.Amount, _, last.TokenID = transferValues(&m.Transfer)
	}
	slices.SortFunc(items, func(x, y activityItem) int {
		switch {
		case y.at.before(x.at):
			return -1
		case x.at.before(y.at):
			return 1
		}
		return 0
	})
	return items, nil
}

// txMark begins the cursor of a page that ended with a transaction.
const txMark = "t."

func (s *Server) sealActivity(ctx context.Context, r store.Reader, scope string, at activityPlace) (*string, error) {
	b, err := block.Get(ctx, r, at.Block)
	if err != nil {
		return nil, fmt.Errorf("end of a page: %w", err)
	}
	if at.tx {
		scope += "\x00tx"
	}
	next := s.sealTransfer(scope, at.Place, b.Hash)
	if at.tx {
		*next = txMark + *next
	}
	return next, nil
}

func (s *Server) openActivity(ctx context.Context, r store.Reader, scope, cursor string) (at activityPlace, err error) {
	cursor, at.tx = strings.CutPrefix(cursor, txMark)
	if at.tx {
		scope += "\x00tx"
	}
	at.Place, err = s.openTransfer(ctx, r, scope, cursor)
	return at, err
}
