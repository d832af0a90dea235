package metadata

import (
	"context"

	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/explorer/token"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/job"
	"chainexplorer/internal/store"
)

const (
	// How many tokens are queued in one commit, and how many spans of blocks are
	// looked at for them.
	discoverTokens = 1000
	discoverSpans  = 256
	// How many tokens are asked again after a fork, and how far below the head
	// they are looked for when there were several forks since the last look. What
	// is missed is asked again when it is due.
	againTokens = 10_000
	againBlocks = 20_000
)

// discover queues tokens that were first seen, or whose classes were replaced, since the last look.
func (j *Job) discover(ctx context.Context, commit job.Commit) (more bool, err error) {
	b := &store.Batch{}
	err = j.Store.View(ctx, func(r store.Reader) error {
		state, err := chain.Read(ctx, r)
		if err != nil || !state.HasHead {
			return err
		}
		p, err := token.ProgressNow(ctx, r)
		if err != nil {
			return err
		}
		before := p
		if state.Fork.Count != p.Forks {
			since := state.Fork.Ancestor + 1
			if state.Fork.Count > p.Forks+1 { // how deep the others were is not known
				since, p.Next = state.Head.Number-min(state.Head.Number, againBlocks), token.First{}
			}
			if since < p.Next.Block {
				p.Next = token.First{Block: since}
			}
			if err := j.again(ctx, r, b, since); err != nil {
				return err
			}
		}
		p.Forks = state.Fork.Count
		found, next, done, err := token.FirstSeen(ctx, r, p.Next, state.Head.Number, discoverTokens, discoverSpans)
		if err != nil {
			return err
		}
		more, p.Next = !done, next
		tokens := make([]felt.Felt, len(found))
		for i, f := range found {
			tokens[i] = f.Token
		}
		if err := queue(ctx, r, b, tokens); err != nil {
			return err
		}
		if p != before {
			b.Put(token.ProgressKey, p.Encode())
		}
		if p.Forks != before.Forks { // tokens may be in the batch that were upgraded as well
			more = true
			return nil
		}
		upgraded, err := j.followUpgrades(ctx, r, b, &state)
		more = more || upgraded
		return err
	})
	if err != nil || b.Len() == 0 {
		return more, err
	}
	return more, commit(ctx, b)
}

// again makes tokens due that were read at blocks that are no more.
func (j *Job) again(ctx context.Context, r store.Reader, b *store.Batch, since uint64) error {
	read, err := token.ReadSince(ctx, r, since, againTokens)
	if err != nil {
		return err
	}
	tokens := make([]felt.Felt, len(read))
	for i, q := range read {
		tokens[i] = q.Token
	}
	known, err := token.MetadataOf(ctx, r, tokens)
	if err != nil {
		return err
	}
	for i, m := range known {
		if m == nil || !m.Known {
			continue
		}
		switch holds, err := (block.Ref{Number: m.Block, Hash: m.BlockHash}).Holds(ctx, r); {
		case err != nil:
			return err
		case holds:
			continue
		}
		b.Delete(token.QueueKey(m.Due, tokens[i]))
		m.Due, m.Orphaned = 0, true
		b.Put(token.QueueKey(0, tokens[i]), nil)
		b.Put(token.MetadataKey(tokens[i]), m.Encode())
	}
	return nil
}
