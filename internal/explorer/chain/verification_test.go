package chain_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// TestFindings plays appends, commits and forks against a plain list.
func TestFindings(t *testing.T) {
	ctx := t.Context()
	e, err := pebble.Open(pebble.MemOptions(vfs.NewMem(), []*store.Table{chain.Meta, chain.Verifications}))
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close() //nolint:errcheck // in memory
	lease, err := e.Acquire(ctx, store.Writer, "test", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	commit := func(fill func(r store.Reader, b *store.Batch) error) {
		t.Helper()
		b := &store.Batch{Epoch: lease.Epoch}
		if err := e.View(ctx, func(r store.Reader) error { return fill(r, b) }); err != nil {
			t.Fatal(err)
		}
		if err := e.Commit(ctx, b); err != nil {
			t.Fatal(err)
		}
	}
	kinds := []chain.Finding{
		{Outcome: chain.NotChecked}, {Outcome: chain.Verified, Rules: 2}, {Outcome: chain.Verified, Rules: 5},
		{Outcome: chain.Unverified, Reason: "a"}, {Outcome: chain.Unverified, Reason: "b"},
	}
	rng := rand.New(rand.NewPCG(1, 2))
	var list []chain.Finding
	for range 200 {
		if len(list) > 0 && rng.IntN(4) == 0 {
			keep := rng.IntN(len(list)) // blocks 0 to keep stay
			commit(func(r store.Reader, b *store.Batch) error { return chain.CutFindings(ctx, r, uint64(keep), b) })
			list = list[:keep+1]
		}
		commit(func(r store.Reader, b *store.Batch) error {
			log, err := chain.ReadFindingLog(ctx, r)
			if err != nil {
				return err
			}
			for range 1 + rng.IntN(3) { // batches that follow each other in one commit here
				for range 1 + rng.IntN(8) {
					f := kinds[rng.IntN(len(kinds))]
					if rng.IntN(3) > 0 && len(list) > 0 {
						f = list[len(list)-1]
					}
					log.Add(uint64(len(list)), f)
					list = append(list, f)
				}
				log.Put(b)
				log = log.Next()
			}
			return nil
		})
		compare(ctx, t, e, list)
		if rng.IntN(3) == 0 { // some are looked at again
			first := rng.IntN(len(list))
			again := list[first : first+1+rng.IntN(len(list)-first)]
			for i := range again {
				if rng.IntN(2) == 0 {
					again[i] = kinds[rng.IntN(len(kinds))]
				}
			}
			commit(func(r store.Reader, b *store.Batch) error {
				return chain.AmendFindings(ctx, r, uint64(first), again, b)
			})
			compare(ctx, t, e, list)
		}
	}
}

func compare(ctx context.Context, t *testing.T, e store.Engine, list []chain.Finding) {
	t.Helper()
	var want chain.Summary
	err := e.View(ctx, func(r store.Reader) error {
		for n, f := range list {
			got, err := chain.FindingAt(ctx, r, uint64(n))
			if err != nil {
				return err
			}
			if got != f {
				t.Fatalf("block %d of %d: %+v, want %+v", n, len(list), got, f)
			}
			switch f.Outcome {
			case chain.Verified:
				want.Verified++
			case chain.NotChecked:
				want.NotChecked++
			case chain.Unverified:
				if want.Unverified == 0 {
					want.FirstUnverified = uint64(n)
				}
				want.Unverified++
			}
		}
		for n, f := range slices.Backward(list) { // what is remembered now is of blocks behind
			if got, err := chain.FindingAt(ctx, r, uint64(n)); err != nil || got != f {
				t.Fatalf("block %d of %d, asked again: %+v, %v; want %+v", n, len(list), got, err, f)
			}
		}
		if f, err := chain.FindingAt(ctx, r, uint64(len(list))); err != nil || f != (chain.Finding{}) {
			t.Fatalf("a block that is not there: %+v, %v", f, err)
		}
		state, err := chain.Read(ctx, r)
		if err == nil && state.Checked != want {
			t.Fatalf("summary %+v, want %+v", state.Checked, want)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestNothingUnverifiedIsFinal holds the tiers against an unverified block.
func TestNothingUnverifiedIsFinal(t *testing.T) {
	s := chain.State{HasHead: true, Head: chain.Head{Number: 1000}, HasL1: true, L1: chain.L1{Number: 800}}
	if n, ok := s.FinalizedBlock(120); !ok || n != 880 || s.Finality(800, 120) != chain.AcceptedL1 {
		t.Fatalf("finalized %d %t", n, ok)
	}
	s.Checked = chain.Summary{Unverified: 1, FirstUnverified: 500}
	if n, ok := s.FinalizedBlock(120); !ok || n != 499 {
		t.Errorf("finalized %d %t, want 499", n, ok)
	}
	for number, want := range map[uint64]chain.Finality{499: chain.AcceptedL1, 500: chain.AcceptedL2, 700: chain.AcceptedL2, 850: chain.AcceptedL2} {
		if got := s.Finality(number, 120); got != want {
			t.Errorf("block %d has tier %d, want %d", number, got, want)
		}
	}
	s.Checked.FirstUnverified = 0
	if _, ok := s.FinalizedBlock(120); ok {
		t.Error("a chain whose first block is unverified has a finalized block")
	}
}
