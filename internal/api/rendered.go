package api

import (
	"context"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/census"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/explorer/event"
	"chainexplorer/internal/explorer/token"
	"chainexplorer/internal/felt"
)

// What other surfaces that tell of the same rows take from here, so that a name or a decoded
// value is the same wherever it is read.

// RenderEvents decodes and renders events of a view, in order.
func (s *Routes) RenderEvents(ctx context.Context, r explorer.Reader, c *Chain, state *chain.State, hits []event.Hit) ([]EventRow, error) {
	rows, _, err := s.renderEvents(ctx, r, c, state, hits)
	return rows, err
}

// AliasesOf names a contract and a class as the registry does; nil is none.
func (c *Chain) AliasesOf(contract, class *felt.Felt) Aliases {
	if contract == nil {
		out := c.aliases(felt.Felt{}, class)
		out.ContractAlias = nil
		return out
	}
	return c.aliases(*contract, class)
}

// RenderTransfers renders a page of transfers.
func RenderTransfers(c *Chain, state *chain.State, page *token.TransferPage) []TransferItem {
	return renderTransfers(c, state, page)
}

// Generation finds the count of a token's holders that is pinned, or without a pin the newest.
func (s *Routes) Generation(ctx context.Context, r explorer.Reader, c *Chain, state *chain.State, token felt.Felt, pin *census.Pin) (g *census.Generation, revoked bool, err error) {
	var at *holderCursor
	if pin != nil {
		at = &holderCursor{Pin: *pin}
	}
	return s.generationFor(ctx, c, r, state, token, at)
}
