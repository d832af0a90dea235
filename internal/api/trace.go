package api

import (
	"context"

	"chainexplorer/internal/contractcall"
	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/explorer/decoded"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
)

// Trace asks a node what a transaction called, within the time and number that live
// requests have: nil when it has no trace. It is the node's word, and is not checked.
// Nothing of it may be asked while a view is held.
func (s *Routes) Trace(ctx context.Context, c *Chain, at contractcall.Block, tx felt.Felt) ([]byte, error) {
	if c.Node == nil {
		return nil, noNode()
	}
	who := kernel.RequestOf(ctx).Caller
	if e := s.Live.Enter(ctx, who, "that wait for a node"); e != nil {
		return nil, e
	}
	defer s.Live.Leave(who)
	ctx, cancel := context.WithTimeout(ctx, nodeTime)
	defer cancel()
	trace, found, err := c.Node.TraceOf(ctx, at, tx)
	if err != nil {
		return nil, nodeFailure(ctx, err)
	}
	if !found {
		return nil, nil
	}
	return trace, nil
}

// CallNames names calls by the classes that they say ran, "" where nothing does.
func (s *Routes) CallNames(ctx context.Context, c *Chain, r explorer.Reader, state *chain.State, calls []decoded.Call) ([]string, error) {
	results, _, err := decoded.Calls(ctx, r, s.schemas, calls, decoded.Options{NoHistory: true, Verified: c.verified(state)})
	if err != nil {
		return nil, err
	}
	out := make([]string, len(results))
	for i := range results {
		out[i] = results[i].Name
	}
	return out, nil
}
