package index

import (
	"context"
	"fmt"
	"time"

	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/store"
)

// agree asks all nodes every L1Interval whether they have the index's blocks, and
// keeps how far a quorum of them does, until ctx ends. Nothing above that is called
// finalized, by whoever reads the store.
func (x *Indexer) agree(ctx context.Context, peers Peers) {
	t := time.NewTicker(x.L1Interval)
	defer t.Stop()
	for {
		switch err := x.askAgreement(ctx, peers); {
		case err == nil, ctx.Err() != nil:
		case storeGone(err):
			return // the run ends for the same reason
		default:
			x.Logger.Warn("could not tell how far the nodes agree", "err", err)
		}
		select {
		case <-t.C:
		case <-ctx.Done():
			return
		}
	}
}

// askAgreement asks about the newest block of each tier, from the highest down.
func (x *Indexer) askAgreement(ctx context.Context, peers Peers) error {
	var state chain.State
	hashes := map[uint64]felt.Felt{}
	var tiers []chain.TierAgreement
	err := x.Store.View(ctx, func(r store.Reader) (err error) {
		if state, err = chain.Read(ctx, r); err != nil || !state.HasHead {
			return err
		}
		tiers = append(tiers, chain.TierAgreement{Tier: chain.AcceptedL2, Number: state.Head.Number})
		if deep, ok := state.Below(x.FinalityDepth); ok {
			tiers = append(tiers, chain.TierAgreement{Tier: chain.Finalized, Number: deep})
		}
		if state.HasL1 {
			tiers = append(tiers, chain.TierAgreement{Tier: chain.AcceptedL1, Number: state.L1.Number})
		}
		for _, t := range tiers {
			b, err := block.Get(ctx, r, t.Number)
			if err != nil {
				return fmt.Errorf("read block %d: %w", t.Number, err)
			}
			hashes[t.Number] = b.Hash
		}
		return nil
	})
	if err != nil {
		return err
	}
	next, _ := state.AgreedNext()
	now := chain.Agreed{Quorum: uint64(x.Quorum), Forks: state.Fork.Count, Tiers: tiers}
	if state.Agreed.Quorum >= now.Quorum { // what more nodes agreed on, so many did
		now.Next, now.Hash = next, state.Agreed.Hash
	}
	for i := range tiers {
		t := &tiers[i]
		for _, said := range peers.HashesAt(ctx, t.Number) {
			t.Asked++
			switch {
			case said.Err != nil || !said.Found:
			case said.Hash == hashes[t.Number]:
				t.Agree++
			default:
				t.Differ++
			}
		}
		if t.Agree >= now.Quorum && t.Number+1 > now.Next {
			now.Next, now.Hash = t.Number+1, hashes[t.Number]
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	now.At = time.Now()
	b := &store.Batch{Epoch: x.lease.Epoch}
	b.Put(chain.AgreedKey, now.Encode())
	if err := x.Store.Commit(ctx, b); err != nil {
		return fmt.Errorf("store how far the nodes agree: %w", err)
	}
	return nil
}

// beginAgreement makes the row say what this run wants, before anything else is
// written: without a quorum what an earlier run left would hold the finalized tier
// back for ever, and with a higher one nothing is agreed on yet.
func (x *Indexer) beginAgreement(ctx context.Context) error {
	had, want := x.state.Agreed.Quorum, uint64(x.Quorum)
	b := &store.Batch{Epoch: x.lease.Epoch}
	switch {
	case want < 2 && had > 0:
		b.Delete(chain.AgreedKey)
	case want >= 2 && had < want:
		b.Put(chain.AgreedKey, chain.Agreed{Quorum: want, Forks: x.state.Fork.Count}.Encode())
	default:
		return nil
	}
	if err := x.Store.Commit(ctx, b); err != nil {
		return fmt.Errorf("store which quorum is wanted: %w", err)
	}
	return nil
}
