package servertest

import (
	"context"
	"slices"
	"time"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/explorer/class"
	"chainexplorer/internal/explorer/contract"
	"chainexplorer/internal/explorer/transaction"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/index"
	"chainexplorer/internal/job/census"
	"chainexplorer/internal/job/metadata"
	"chainexplorer/internal/job/pools"
	"chainexplorer/internal/job/privacypool"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble"
)

// CatchUp indexes up to the chain's head, forks included.
func (w *World) CatchUp() {
	w.T.Helper()
	w.own()
	w.IndexInto(w.Engine)
	w.RunJobs()
}

// Verify notes that a block was held against its hash, as admin verify does.
func (w *World) Verify(number uint64) {
	w.T.Helper()
	w.write("verify", func(r store.Reader, b *store.Batch) error {
		return chain.AmendFindings(w.T.Context(), r, number, []chain.Finding{{Outcome: chain.Verified, Rules: starknet.RulesPoseidon2}}, b)
	})
}

// Describe changes what can be called of a class, as if its ABI said so.
func (w *World) Describe(hash felt.Felt, i *class.Interface) {
	w.T.Helper()
	w.write("describe", func(_ store.Reader, b *store.Batch) error {
		b.Put(class.InterfaceKey(hash), i.Encode())
		return nil
	})
}

// Rewrite changes an indexed block and its transactions, as if the node had told them so. The
// hashes stay.
func (w *World) Rewrite(number uint64, change func(*starknet.Block)) {
	w.T.Helper()
	w.write("rewrite", func(r store.Reader, b *store.Batch) error {
		told := *w.Chain.BlockAt(number)
		told.Transactions, told.Receipts = slices.Clone(told.Transactions), slices.Clone(told.Receipts)
		change(&told)
		x, rows := &explorer.Block{Block: told}, &explorer.Rows{}
		if err := (transaction.Subject{}).Project(x, rows); err != nil {
			return err
		}
		if err := explorer.Follow(w.T.Context(), []explorer.Plan{(block.Subject{}).Plan(x)}, r.GetMany, rows); err != nil {
			return err
		}
		for _, op := range rows.Ops() {
			b.Put(op.Key, op.Value)
		}
		return nil
	})
}

// Replace gives a contract another class from a block on, as if its state diff said so.
func (w *World) Replace(number uint64, address, class felt.Felt) {
	w.T.Helper()
	w.write("replace", func(_ store.Reader, b *store.Batch) error {
		var diff starknet.StateDiff
		diff.Replaced = []starknet.ReplacedClass{{Address: address, ClassHash: class}}
		block, rows := &explorer.Block{State: diff}, &explorer.Rows{}
		block.Number = number
		if err := (contract.Subject{}).Project(block, rows); err != nil {
			return err
		}
		if err := (contract.Subject{}).Plan(block).Follow(nil, rows); err != nil {
			return err
		}
		for _, op := range rows.Ops() {
			b.Put(op.Key, op.Value)
		}
		return nil
	})
}

// write commits something besides what the indexer does.
func (w *World) write(who string, fill func(store.Reader, *store.Batch) error) {
	w.T.Helper()
	w.own()
	lease, err := w.Engine.Acquire(w.T.Context(), store.Writer, who, time.Minute)
	if err != nil {
		w.T.Fatal(err)
	}
	b := &store.Batch{Epoch: lease.Epoch}
	err = w.Engine.View(w.T.Context(), func(r store.Reader) error { return fill(r, b) })
	if err == nil {
		err = w.Engine.Commit(w.T.Context(), b)
	}
	if err == nil {
		err = w.Engine.Release(w.T.Context(), lease)
	}
	if err != nil {
		w.T.Fatal(err)
	}
}

// stepper is a job that works commit by commit.
type stepper interface {
	Step(ctx context.Context, commit index.Commit) (more bool, err error)
}

// RunJobs lets the jobs that work beside the indexer do all that there is to do.
func (w *World) RunJobs() {
	w.T.Helper()
	w.own()
	lease, err := w.Engine.Acquire(w.T.Context(), store.Writer, "jobs", time.Minute)
	if err != nil {
		w.T.Fatal(err)
	}
	commit := func(ctx context.Context, b *store.Batch) error {
		b.Epoch = lease.Epoch
		return w.Engine.Commit(ctx, b)
	}
	names := metadata.New(metadata.Job{Store: w.Engine, Source: w.Source, Now: w.Clock.Now})
	if err := names.CatchUp(w.T.Context(), commit); err != nil {
		w.T.Fatal(err)
	}
	if w.Census == nil {
		w.Census = census.New(census.Job{Store: w.Engine, Node: w.Pool, Registry: w.Known.Chain(ChainID), Depth: Depth, Now: w.Clock.Now})
	}
	for _, j := range []stepper{&privacypool.Job{Store: w.Engine, Pools: w.Known.Chain(ChainID).PrivacyPools(), Depth: Depth, Now: w.Clock.Now}, &pools.Job{Store: w.Engine, Dexes: w.Known.Chain(ChainID).Dexes(), Depth: Depth}, w.Census} {
		for more := true; more; {
			if more, err = j.Step(w.T.Context(), commit); err != nil {
				w.T.Fatal(err)
			}
		}
	}
	if err := w.Engine.Release(w.T.Context(), lease); err != nil {
		w.T.Fatal(err)
	}
}

// IndexInto indexes into any engine up to the chain's head.
func (w *World) IndexInto(engine pebble.Engine) {
	w.T.Helper()
	head, _ := w.Chain.Head()
	x, err := index.New(index.Options{Store: engine, Source: w.Source, Verify: index.VerifyOff, L1Interval: time.Nanosecond, PollInterval: time.Millisecond, NoClasses: w.noClasses,
		ForkPatience: time.Nanosecond, AllowForkBelowL1: new(uint64)})
	if err != nil {
		w.T.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(w.T.Context(), time.Minute)
	defer cancel()
	if err := x.RunTo(ctx, head); err != nil {
		w.T.Fatal(err)
	}
}
