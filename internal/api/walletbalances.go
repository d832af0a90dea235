package api

import (
	"context"
	"errors"

	"golang.org/x/sync/errgroup"

	"chainexplorer/internal/explorer/asset"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
)

// askBalances asks for all balances in one batch. Where the request takes what there is, tokens are asked for one
// by one when that fails: a node may stumble over one contract alone.
func (s *Routes) askBalances(ctx context.Context, c *Chain, at *liveBlock, q *walletQuery, list []asset.Candidate) ([]asset.Balance, error) {
	if len(list) == 0 {
		return nil, nil
	}
	_, results, err := s.ask(ctx, c, at, asset.BalanceCalls(q.owner, list)...)
	if err == nil {
		return asset.Balances(list, results), nil
	}
	if q.Mode != "verified_partial" || len(list) == 1 || c.Node == nil || !nodeIsAway(err) || ctx.Err() != nil {
		return nil, err
	}
	apart, answered, busy := s.askApart(ctx, c, at, q.owner, list)
	if busy != nil {
		return nil, busy
	}
	if !answered {
		return nil, err
	}
	return apart, nil
}

// nodeIsAway says that a request failed for want of a node.
func nodeIsAway(err error) bool {
	var e *kernel.Error
	return errors.As(err, &e) && e.Reason == kernel.ReasonNodeUnavailable
}

// askedApart is how many tokens are asked for at a time: a few that never answer leave room for the others.
const askedApart = 8

// askApart asks for each balance by itself, and says whether any was told. The request has one place for
// them, and the time of one.
func (s *Routes) askApart(ctx context.Context, c *Chain, at *liveBlock, owner felt.Felt, list []asset.Candidate) (out []asset.Balance, answered bool, busy error) {
	who := kernel.RequestOf(ctx).Caller
	if e := s.Live.Enter(ctx, who, "that wait for a node"); e != nil {
		return nil, false, e
	}
	defer s.Live.Leave(who)
	ctx, cancel := context.WithTimeout(ctx, nodeTime)
	defer cancel()
	out = make([]asset.Balance, len(list))
	var asked errgroup.Group
	asked.SetLimit(askedApart)
	for i := range list {
		asked.Go(func() error {
			one := list[i : i+1]
			results, err := c.Node.CallAt(ctx, at.at, asset.BalanceCalls(owner, one))
			switch {
			case err == nil:
				out[i] = asset.Balances(one, results)[0]
			case ctx.Err() != nil, errors.Is(err, context.DeadlineExceeded):
				out[i].Why = asset.TooLate
			default:
				out[i].Why = asset.Unanswered
			}
			return nil
		})
	}
	asked.Wait() //nolint:errcheck // each has its own
	for i := range out {
		answered = answered || out[i].Amount != nil || out[i].Why.ForGood()
	}
	return out, answered, nil
}
