package upstream

import (
	"context"
	"errors"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/explorer/class"
	"chainexplorer/internal/explorer/transaction"
	"chainexplorer/internal/gateway/method"
)

// This file asks the index which block an answer is about, and whether that block can
// still be replaced. When the index cannot tell, the answer is not kept: that is never
// a reason to refuse a call.

// errUnknown says that the index does not have what is asked for.
var errUnknown = errors.New("not indexed")

// blockOf is the block that nodes must have to answer, if it is known.
func (u *Upstream) blockOf(ctx context.Context, s subject) *uint64 {
	switch s.kind {
	case byNumber:
		return &s.number
	case ofClass:
		if s.in != nil {
			return u.blockOf(ctx, *s.in)
		}
		return nil
	case byHash, ofTransaction:
	default:
		return nil
	}
	if u.index == nil {
		return nil
	}
	var number uint64
	err := u.index.View(ctx, func(r explorer.Reader) (err error) {
		number, err = numberOf(ctx, r, s)
		return err
	})
	if err != nil {
		if !errors.Is(err, errUnknown) {
			u.log.Debug("the block of a call is not known", "error", err)
		}
		return nil
	}
	return &number
}

// numberOf is the block that s is in. One Get, or for a class one scan.
func numberOf(ctx context.Context, r explorer.Reader, s subject) (uint64, error) {
	var number uint64
	var err error
	switch s.kind {
	case byNumber:
		return s.number, nil
	case byHash:
		number, err = block.NumberOf(ctx, r, s.hash)
	case ofTransaction:
		var at explorer.Position
		at, err = transaction.PositionOf(ctx, r, s.hash)
		number = at.Block
	case ofClass:
		var d class.Declaration
		var found bool
		if d, found, err = class.Declared(ctx, r, s.hash); !found && err == nil {
			err = errUnknown
		}
		number = d.Block
	default:
		return 0, errUnknown
	}
	if errors.Is(err, block.ErrNotFound) || errors.Is(err, transaction.ErrNotFound) {
		err = errUnknown
	}
	return number, err
}

// unsettled says that the answer cannot be one that is kept, by what the index was like
// when the call came: the block is not deep enough, or too new for its last status. It
// saves the look at the index that tells for sure.
func (u *Upstream) unsettled(m *method.Method, about subject, now chain.Revision) bool {
	if about.kind != byNumber || about.number < now.L1 {
		return false
	}
	return m.Keep == method.OfBlockStatus || about.number >= now.Next || now.Next-about.number <= u.depth
}

// settled says whether a result can be kept: in one view the index has gone through no
// fork since before the node was asked, and what the result is about cannot be replaced.
func (u *Upstream) settled(ctx context.Context, q *question, result []byte) (ok bool) {
	switch {
	case string(result) == "null":
		return false // nothing that is settled is nothing
	case q.about.kind == everywhere:
		return u.ofTheChain(result)
	case u.index == nil:
		return false
	}
	err := chain.View(ctx, u.index, func(r explorer.Reader, s *chain.State) (err error) {
		if s.Fork.Count != q.at.Forks || s.Rewinding || !s.HasHead {
			return nil
		}
		if ok, err = u.standsFast(ctx, r, s, q.about); !ok || err != nil {
			return err
		}
		ok, err = agrees(ctx, r, s, q, result)
		return err
	})
	if err != nil {
		if !errors.Is(err, errUnknown) {
			u.log.Debug("an answer is not kept", "method", q.method.Name, "error", err)
		}
		return false
	}
	return ok
}

// standsFast says whether the block of s cannot be replaced any more: it is deep
// enough, and above the place where the chain forked last only if L1 has accepted it.
// There a node that still follows what the fork undid would say something else.
func (u *Upstream) standsFast(ctx context.Context, r explorer.Reader, s *chain.State, about subject) (bool, error) {
	if about.in != nil {
		if ok, err := u.standsFast(ctx, r, s, *about.in); !ok || err != nil {
			return false, err
		}
	}
	number, err := numberOf(ctx, r, about)
	if err != nil || number > s.Head.Number {
		return false, err
	}
	finality := s.Finality(number, u.depth)
	if s.Fork.Count > 0 && number > s.Fork.Ancestor {
		return finality == chain.AcceptedL1, nil
	}
	return finality >= chain.Finalized, nil
}
