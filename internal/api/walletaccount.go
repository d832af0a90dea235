package api

import (
	"context"
	"errors"

	"golang.org/x/sync/errgroup"

	"chainexplorer/internal/contractcall"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
)

// accountPart is one of the things that a node tells of an owner's own contract.
type accountPart struct {
	read   func(context.Context, contractcall.Block, felt.Felt) (felt.Felt, bool, error)
	value  **felt.Felt
	status *string

	got         felt.Felt
	found, late bool
	err         error
}

// askAccount reads the owner's nonce and class at the block of the balances, both at
// once: what one takes is not taken from the other. What could not be read fails the
// request, or is a gap like a balance that could not.
func (s *Routes) askAccount(ctx context.Context, c *Chain, at *liveBlock, q *walletQuery, out *WalletState) error {
	account := &out.AccountState
	account.NonceStatus, account.ClassHashStatus = "not_requested", "not_requested"
	if q.Include == nil || !q.Include.Nonce && !q.Include.ClassHash {
		return nil
	}
	if c.Node == nil {
		return noNode()
	}
	who := kernel.RequestOf(ctx).Caller
	if e := s.Live.Enter(ctx, who, "that wait for a node"); e != nil {
		return e
	}
	defer s.Live.Leave(who)
	var parts []*accountPart
	if q.Include.Nonce {
		parts = append(parts, &accountPart{read: c.Node.NonceAt, value: &account.Nonce, status: &account.NonceStatus})
	}
	if q.Include.ClassHash {
		parts = append(parts, &accountPart{read: c.Node.ClassHashAt, value: &account.ClassHash, status: &account.ClassHashStatus})
	}
	ctx, cancel := context.WithTimeout(ctx, nodeTime)
	defer cancel()
	var asked errgroup.Group
	for _, p := range parts {
		asked.Go(func() error {
			p.got, p.found, p.err = p.read(ctx, at.at, q.owner)
			p.late = ctx.Err() != nil || errors.Is(p.err, context.DeadlineExceeded)
			return nil
		})
	}
	asked.Wait() //nolint:errcheck // each has its own
	for _, p := range parts {
		switch {
		case p.err == nil:
			if *p.status = "verified"; p.found {
				*p.value = &p.got
			}
			continue
		case q.Mode != "verified_partial":
			return nodeFailure(ctx, p.err)
		case p.late:
			*p.status = "timeout"
		default:
			*p.status = "error"
		}
		out.lack()
	}
	return nil
}
