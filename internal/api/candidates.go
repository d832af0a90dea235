package api

import (
	"context"
	"encoding/binary"
	"slices"
	"time"

	"chainexplorer/internal/contractcall"
	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/token"
	"chainexplorer/internal/explorer/transfer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/registry"
	"chainexplorer/internal/store"
)

// A walk over the tokens that an address may hold has two legs: the known tokens
// first, so that no number of unknown ones can push them away, then all others that
// it has sent or received; each by falling address. NFT collections are passed over
// and take no room of a page.

// maxLookedAt bounds the tokens that are looked at for one page. Only where so many
// are passed over a page has fewer than it could.
const maxLookedAt = 2_000

// snapshot pins a walk over candidates to a block.
type snapshot struct {
	block  contractcall.Block
	issued time.Time
	others bool       // the known tokens are done
	last   *felt.Felt // the last token of this leg that was looked at
}

// candidate is a token that an address may hold.
type candidate struct {
	token felt.Felt
	seen  *uint64 // block of the newest transfer
	known *registry.Token
	meta  *token.Metadata // what it calls itself
}

// candidates lists up to limit tokens as of the snapshot's block and moves on
// behind them. With listed the known tokens are candidates without a transfer. It
// costs a seek for each token that it looks at, and a few round trips.
func (p *snapshot) candidates(ctx context.Context, c *Chain, r store.Reader, owner felt.Felt, listed bool, limit int) (out []candidate, more bool, err error) {
	w := walk{snapshot: *p, c: c, r: r, owner: owner, listed: listed, kinds: newTokenKinds(r)}
	for budget := maxLookedAt; !w.ended && len(out) <= limit; {
		if budget <= 0 {
			more = true // they may all be passed over, but somebody has to look
			break
		}
		found, looked, err := w.step(ctx, limit+1-len(out))
		if err != nil {
			return nil, false, err
		}
		budget -= looked
		out = append(out, found...)
	}
	p.others, p.last = w.others, w.last
	if len(out) > limit {
		more, out = true, out[:limit]
		last := &out[limit-1]
		p.others, p.last = last.known == nil, &last.token
	}
	return out, more, addNames(ctx, r, out)
}

// walk is a walk under way.
type walk struct {
	snapshot
	c      *Chain
	r      store.Reader
	owner  felt.Felt
	listed bool
	kinds  *tokenKinds
	ended  bool
}

// step looks at some tokens and returns those that are candidates, at most limit.
func (w *walk) step(ctx context.Context, limit int) (out []candidate, looked int, err error) {
	if !w.others {
		return w.stepKnown(ctx, limit)
	}
	held, err := transfer.TokensOf(ctx, w.r, w.owner, w.last, limit)
	if err != nil {
		return nil, 0, err
	}
	w.ended = len(held) < limit
	tokens := make([]felt.Felt, len(held))
	for i := range held {
		tokens[i] = held[i].Token
		w.last = &tokens[i]
	}
	kinds, err := w.kinds.of(ctx, tokens)
	if err != nil {
		return nil, 0, err
	}
	for i, h := range held {
		if _, known := w.c.Registry.Token(h.Token); known || kinds[i] == transfer.ERC721 || kinds[i] == transfer.ERC1155 {
			continue
		}
		seen, found := h.Block, true
		if seen > w.block.Number {
			if seen, found, err = transfer.LatestOf(ctx, w.r, w.owner, h.Token, w.block.Number); err != nil {
				return nil, 0, err
			}
		}
		if found {
			out = append(out, candidate{token: h.Token, seen: &seen})
		}
	}
	return out, len(held), nil
}

// stepKnown does the same for known tokens.
func (w *walk) stepKnown(ctx context.Context, limit int) (out []candidate, looked int, err error) {
	for _, t := range slices.Backward(w.c.Registry.Tokens()) {
		if w.last != nil && t.Address.Cmp(*w.last) >= 0 {
			continue
		}
		if len(out) == limit {
			return out, looked, nil
		}
		looked++
		w.last = &t.Address
		x := candidate{token: t.Address, known: &t}
		block, found, err := transfer.LatestOf(ctx, w.r, w.owner, t.Address, w.block.Number)
		if err != nil {
			return nil, 0, err
		}
		if found {
			x.seen = &block
		}
		if found || w.listed {
			out = append(out, x)
		}
	}
	w.others, w.last = true, nil
	return out, looked, nil
}

func addNames(ctx context.Context, r store.Reader, list []candidate) error {
	tokens := make([]felt.Felt, len(list))
	for i := range list {
		tokens[i] = list[i].token
	}
	names, err := token.MetadataOf(ctx, r, tokens)
	for i := range names {
		list[i].meta = names[i]
	}
	return err
}

// snapshotSize is that of the rest of a snapshot's cursor: when it was issued, the
// leg, and the last token, zero for none.
const snapshotSize = 8 + 1 + felt.Size

func (s *Routes) sealSnapshot(scope string, p *snapshot) *string {
	rest := binary.BigEndian.AppendUint64(nil, uint64(p.issued.UnixMicro()))
	var leg byte
	if p.others {
		leg = 1
	}
	var last felt.Felt
	if p.last != nil {
		last = *p.last
	}
	return s.sealAt(scope, block.Ref(p.block), append(append(rest, leg), last[:]...))
}

// openSnapshot reads a cursor, which ends with its snapshot: when its time is
// over, or its block is no longer part of the chain.
func (s *Routes) openSnapshot(ctx context.Context, r store.Reader, scope, cursor string) (*snapshot, error) {
	at, rest, err := s.openAt(ctx, r, scope, cursor, snapshotSize)
	if err != nil {
		return nil, err
	}
	p := &snapshot{block: contractcall.Block{Number: at.Number, Hash: at.Hash}, issued: time.UnixMicro(int64(binary.BigEndian.Uint64(rest))), others: rest[8] == 1}
	if last := felt.Felt(rest[9:]); !last.IsZero() {
		p.last = &last
	}
	if s.Now().Sub(p.issued) > snapshotLife {
		return nil, kernel.Fail(kernel.CodeInvalidCursor, "The snapshot of this cursor has expired. Start again without a cursor.")
	}
	return p, nil
}
