package api

import (
	"context"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/address"
	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/explorer/decoded"
	"chainexplorer/internal/explorer/event"
	"chainexplorer/internal/explorer/token"
	"chainexplorer/internal/feed"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
)

// FinalityItem says how far a chain is settled.
type FinalityItem struct {
	Finalized  *TierBlock `json:"finalized" doc:"The newest finalized block: deep enough below the head. Null for none."`
	L1Accepted *TierBlock `json:"l1Accepted" doc:"The newest block that L1 has accepted. Null for none."`
}

// TierBlock is the newest block of a tier.
type TierBlock struct {
	BlockNumber  uint64    `json:"blockNumber"`
	BlockHash    felt.Felt `json:"blockHash"`
	TimestampISO string    `json:"timestampIso" format:"date-time"`
}

// NewFeed is the reader of a chain's feed, without routes: for jobs.
func NewFeed(c Chain) *feed.Reader {
	if c.Depth == 0 {
		c.Depth = chain.DefaultDepth
	}
	return feedOf(&c, decoded.NewCache(schemaCacheBytes))
}

// Feed is the reader of a served chain's feed; nil where it is not served.
func (s *Routes) Feed(id string) *feed.Reader {
	c := s.Chains[id]
	if c == nil {
		return nil
	}
	return feedOf(c, s.schemas)
}

func feedOf(c *Chain, schemas *decoded.Cache) *feed.Reader {
	s := &Routes{schemas: schemas} // rows are made without a server
	return &feed.Reader{Chain: c.ID, Index: c.Store, Depth: c.Depth, Rows: feed.Rows{
		Blocks: func(state *chain.State, list []*block.Summary) []any {
			return anys(blockItems(state, list), nil)
		},
		Events: func(ctx context.Context, r explorer.Reader, state *chain.State, hits []event.Hit) ([]any, error) {
			rows, _, err := s.renderEvents(ctx, r, c, state, hits)
			return anys(rows, err), err
		},
		Transfers: func(state *chain.State, page *token.TransferPage) []any {
			return anys(renderTransfers(c, state, page), nil)
		},
		Transactions: func(ctx context.Context, r explorer.Reader, state *chain.State, of felt.Felt, list []address.Tx) ([]any, error) {
			rows, _, err := s.addressTxs(ctx, r, c, state, of, list)
			return anys(rows, err), err
		},
		Finality: func(finalized, l1 *block.Stamp) any { return FinalityItem{tierBlock(finalized), tierBlock(l1)} },
		Fork:     func(state *chain.State) any { return lastFork(state) },
	}}
}

func anys[T any](rows []T, err error) []any {
	if err != nil {
		return nil
	}
	out := make([]any, len(rows))
	for i := range rows {
		out[i] = &rows[i]
	}
	return out
}

func tierBlock(s *block.Stamp) *TierBlock {
	if s == nil {
		return nil
	}
	return &TierBlock{s.Number, s.Hash, kernel.TimestampISO(s.Timestamp)}
}

// addressTxs shows transactions as an address sees them. They are certain when they follow
// from the chain alone.
func (s *Routes) addressTxs(ctx context.Context, r explorer.Reader, c *Chain, state *chain.State, of felt.Felt, list []address.Tx) (out []AddressTx, certain bool, err error) {
	first := newOpenings(len(list))
	seen, err := address.See(ctx, r, of, list, token.NewKindMemo(r).At, first.look)
	if err != nil {
		return nil, false, err
	}
	methods, certain, err := s.primaryMethods(ctx, r, c, state, first)
	if err != nil {
		return nil, false, err
	}
	out = make([]AddressTx, len(seen))
	text := &texts{}
	for i := range seen {
		out[i] = renderAddressTx(state, &seen[i], methods[i], text)
		certain = certain && seen[i].Transfers == 0 // some standards come from calls
	}
	return out, certain, nil
}
