package api

import (
	"context"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/explorer/event"
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
	var of felt.Felt
	if contract != nil {
		of = *contract
	}
	return c.aliases(of, class)
}
