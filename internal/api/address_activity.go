package api

import (
	"context"
	"fmt"
	"strings"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/address"
	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/explorer/token"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
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
	Counterparty  *felt.Felt `json:"counterparty" doc:"Of a transfer the other side; of a transaction as in the list of transactions."`
	TokenAddress  *felt.Felt `json:"tokenAddress"`
	Amount        *string    `json:"amount" doc:"Decimal; 1 of an NFT; null for a transaction, and when the standard is unknown."`
	TokenID       *string    `json:"tokenId" doc:"Decimal."`
	MainMethod
}

// ActivityPage is a page of activity.
type ActivityPage struct {
	Items      []ActivityItem `json:"items"`
	NextCursor *string        `json:"nextCursor"`
}

func (s *Routes) listAddressActivity(ctx context.Context, in *struct {
	AddressInput
	Type string `query:"type" enum:"sender,deployed,called,l1_handler,transfer_in,transfer_out,transfer_self" doc:"Only items of this kind."`
}) (*body[ActivityPage], error) {
	a, err := parseAddress(in.Address)
	if err != nil {
		return nil, err
	}
	q := address.ActivityQuery{Address: a, Order: in.order(), Limit: in.Limit.Size()}
	for part, name := range partNames {
		if name == in.Type {
			q.Only = part
		}
	}
	scope := in.scope("listAddressActivity", &a, in.Type)
	out := &body[ActivityPage]{ActivityPage{Items: []ActivityItem{}}}
	err = s.view(ctx, in.Chain, func(c *Chain, r explorer.Reader, state *chain.State) error {
		if in.Cursor != "" {
			at, err := s.openActivity(ctx, r, scope, in.Cursor)
			if err != nil {
				return err
			}
			q.After = &at
		}
		q.Head, q.Kinds = state.Head.Number, token.NewKindMemo(r).At
		page, err := address.ListActivity(ctx, r, q)
		if err != nil {
			return err
		}
		var certain bool
		if out.Body.Items, certain, err = s.renderActivity(ctx, r, c, state, &a, page.Items); err != nil {
			return err
		}
		for i := range page.Items {
			certain = certain && page.Items[i].Transfer == nil // some standards come from calls
		}
		kernel.RequestOf(ctx).Vouch(certain)
		if page.Next != nil {
			out.Body.NextCursor, err = s.sealActivity(ctx, r, scope, *page.Next)
		}
		return err
	})
	return out, err
}

// renderActivity shows transactions and transfers. It is certain when the names of
// what was called are.
func (s *Routes) renderActivity(ctx context.Context, r explorer.Reader, c *Chain, state *chain.State, a *felt.Felt, items []address.Item) (out []ActivityItem, certain bool, err error) {
	first := newOpenings(len(items))
	records, err := address.PreviewsOf(ctx, r, items, first.look)
	if err != nil {
		return nil, false, err
	}
	methods, certain, err := s.primaryMethods(ctx, r, c, state, first)
	if err != nil {
		return nil, false, err
	}
	out = make([]ActivityItem, len(items))
	text := &texts{}
	for i := range items {
		at, m, t := items[i].At, items[i].Transfer, records[i]
		out[i] = ActivityItem{BlockNumber: at.Block, TxIndex: at.Tx, TxCursor: text.cursor(explorer.Position{Block: at.Block, Index: at.Tx}), Kind: partNames[items[i].Part.First()],
			Counterparty: items[i].Counterparty(a, t), MainMethod: methods[i]}
		if m == nil {
			out[i].TimestampISO, out[i].TxHash = text.at(text.iso(t.BlockTime)), t.Hash
			continue
		}
		out[i].TimestampISO, out[i].TxHash = text.at(text.iso(m.Timestamp)), m.TxHash
		out[i].LogIndex, out[i].TransferIndex, out[i].TokenAddress = &m.Log, &m.Index, &m.Token
		out[i].Amount, _, out[i].TokenID = text.values(&m.Transfer)
	}
	return out, certain, nil
}

// txMark begins the cursor of a page that ended with a transaction.
const txMark = "t."

func (s *Routes) sealActivity(ctx context.Context, r explorer.Reader, scope string, at address.Place) (*string, error) {
	b, err := block.Get(ctx, r, at.Block)
	if err != nil {
		return nil, fmt.Errorf("end of a page: %w", err)
	}
	if at.Whole {
		scope += "\x00tx"
	}
	next := s.sealTransfer(scope, at.Place, b.Hash)
	if at.Whole {
		*next = txMark + *next
	}
	return next, nil
}

func (s *Routes) openActivity(ctx context.Context, r explorer.Reader, scope, cursor string) (at address.Place, err error) {
	cursor, at.Whole = strings.CutPrefix(cursor, txMark)
	if at.Whole {
		scope += "\x00tx"
	}
	at.Place, err = s.openTransfer(ctx, r, scope, cursor)
	return at, err
}
