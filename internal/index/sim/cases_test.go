package sim

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/index"
	"chainexplorer/internal/index/simsource"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/lease"
)

// quiet is a world without faults.
func quiet(seed uint64, blocks, l1Lag int, version string) *World {
	return NewWorld(NewChain(seed, blocks, l1Lag, version), seed, Faults{}, 0, 0)
}

func options(w index.Source) index.Options {
	return index.Options{Source: w, Subjects: Subjects(), Unverified: index.UnverifiedStore, UndoBlocks: 50, L1Interval: time.Second}
}

// started is an index of all blocks of a world, which is closed with the test.
func started(t *testing.T, w *World, change ...func(*index.Options)) (store.Engine, index.Options) {
	t.Helper()
	engine := openStore(t, vfs.NewCrashableMem())
	t.Cleanup(func() { closeStore(t, engine) })
	o := options(w)
	for _, f := range change {
		f(&o)
	}
	runTo(t, engine, o, uint64(w.chain.Len()-1))
	return engine, o
}

// TestKillAtEveryCommit kills the process before and after every single commit
// of a run that catches up, follows the tail and goes through a fork.
func TestKillAtEveryCommit(t *testing.T) {
	step := 1
	if raced {
		step = 40
	}
	for _, after := range []bool{false, true} {
		for at := 1; ; at += step {
			reached := false
			synctest.Test(t, func(t *testing.T) { reached = killedRun(t, at, after) })
			if !reached {
				if at < 10 {
					t.Fatalf("the run has only %d commits", at-1)
				}
				break
			}
		}
	}
}

func killedRun(t *testing.T, at int, after bool) (reached bool) {
	w := quiet(4, 30, 5, UnknownVersion)
	o := options(w)
	o.BatchBytes, o.TailBlocks, o.UndoBlocks = 4<<10, 4, 20
	o.AllowForkBelowL1 = new(uint64)
	o.UndoBytes = 1 // every block that a fork takes back is a commit
	fs := vfs.NewCrashableMem()
	left := fs
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	kill := func() {
		reached = true
		left = fs.CrashClone(vfs.CrashCloneCfg{})
		cancel()
	}
	engine := openStore(t, fs)
	o.Store = streamingKiller{&killer{Engine: engine, at: at, after: after, kill: kill}}
	if err := newIndexer(t, o).RunTo(ctx, 29); err != nil {
		t.Fatal(err)
	}
	first := reached
	w.chain.Fork(7)
	if !first { // the second part of the history
		w.chain.Extend(2)
		if err := newIndexer(t, o).RunTo(ctx, 31); err != nil {
			t.Fatal(err)
		}
	}
	closeStore(t, engine)
	last := w.Settle()
	next := openStore(t, left)
	defer closeStore(t, next)
	o = options(w)
	o.AllowForkBelowL1 = new(uint64)
	runTo(t, next, o, last)
	compareWithQuietRun(t, planFor(1, false), w, next, last)
	if fork := simsource.State(t, next).Fork; !first && (fork.Count != 1 || fork.Depth != 7 || fork.Ancestor != 22) {
		t.Errorf("killed at commit %d, the one fork of 7 blocks above 22 is told as %+v", at, fork)
	}
	return reached
}

func ref(n uint64) *uint64 { return &n }

// runFor runs the indexer for a while.
func runFor(t *testing.T, e store.Engine, o index.Options, d time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	o.Store = e
	if err := newIndexer(t, o).Run(ctx); err != nil {
		t.Fatal(err)
	}
}

// TestFaultIsClearedByTheNextBlock: a node that comes back to the old chain heals the index.
func TestFaultIsClearedByTheNextBlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		good := quiet(5, 60, 10, UnknownVersion)
		bad := quiet(6, 80, 10, UnknownVersion)
		engine, o := started(t, good, func(o *index.Options) { o.UndoBlocks = 20 })
		o.Source, o.Store = bad, engine
		var deep *index.DeepForkError
		if err := newIndexer(t, o).Run(t.Context()); !errors.As(err, &deep) {
			t.Fatalf("got %v, want a DeepForkError", err)
		}
		good.chain.Extend(1)
		o.Source = good
		runTo(t, engine, o, 60)
		if simsource.State(t, engine).HasFault {
			t.Error("the fault outlived the next block")
		}
	})
}

// TestRefusals are stores that must not be touched.
func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		name, want string
		format     chain.Format
	}{
		{"an older layout", "the index has layout 5 and this program has layout 6: index again into an empty directory or database", chain.Format{Layout: 5, ChainID: ChainID}},
		{"a newer layout", "the index has layout 7 and this program has layout 6: upgrade the program", chain.Format{Layout: 7, ChainID: ChainID}},
		{"another chain", "the index holds chain SN_MAIN and the node serves chain SN_SIM: use another directory or database, or another node", chain.Format{Layout: chain.Layout, ChainID: felt.MustShortString("SN_MAIN")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				engine := openStore(t, vfs.NewCrashableMem())
				defer closeStore(t, engine)
				lease, err := engine.Acquire(t.Context(), store.Writer, "test", time.Minute)
				if err != nil {
					t.Fatal(err)
				}
				b := &store.Batch{Epoch: lease.Epoch}
				b.Put(chain.FormatKey, c.format.Encode())
				if err := errors.Join(engine.Commit(t.Context(), b), engine.Release(t.Context(), lease)); err != nil {
					t.Fatal(err)
				}
				before := dump(t, engine)
				o := options(quiet(1, 5, 0, UnknownVersion))
				o.Store = engine
				err = newIndexer(t, o).Run(t.Context())
				var refused *index.FormatError
				if !errors.As(err, &refused) || !strings.Contains(err.Error(), c.want) {
					t.Fatalf("got %v, want %q", err, c.want)
				}
				compareLines(t, dump(t, engine), before)
			})
		})
	}
}

// TestL1MarkAndPruning: the mark follows the node, and undo records go when
// they are accepted on L1 and deep enough.
func TestL1MarkAndPruning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := quiet(8, 40, 15, UnknownVersion)
		engine := openStore(t, vfs.NewCrashableMem())
		defer closeStore(t, engine)
		o := options(w)
		o.UndoBlocks = 20
		o.Store, o.Verify = engine, index.VerifyOff // unverified blocks have no tiers
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		x := newIndexer(t, o)
		go func() { ended <- x.Run(ctx) }()
		for step := range 12 {
			time.Sleep(30 * time.Second)
			synctest.Wait()
			s := simsource.State(t, engine)
			head := uint64(39 + 3*step)
			if s.Head.Number != head || !s.HasL1 || s.L1.Number != head-15 {
				t.Fatalf("head %d, L1 %d: want %d, %d", s.Head.Number, s.L1.Number, head, head-15)
			}
			if s.Finality(head-15, 10) != chain.AcceptedL1 || s.Finality(head-10, 10) != chain.Finalized || s.Finality(head-9, 10) != chain.AcceptedL2 {
				t.Error("finality tiers are wrong")
			}
			n := 0
			for _, l := range dump(t, engine) {
				if l.Table.Name == "undo" {
					n++
				}
			}
			if n != 20 {
				t.Errorf("%d undo records, want 20", n)
			}
			w.mu.Lock()
			w.chain.Extend(3)
			w.mu.Unlock()
		}
		cancel()
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		checkSound(t, engine)
	})
}

// stalled is a store whose lease is not renewed any more: the process was paused.
type stalled struct{ store.Engine }

func (s stalled) Renew(ctx context.Context, _ store.Lease, _ time.Duration) (store.Lease, error) {
	<-ctx.Done()
	return store.Lease{}, ctx.Err()
}

// TestStandby: a second indexer waits while the first one works, takes over
// when its lease runs out, and the first, who cannot know that it still has it,
// has stopped by then.
func TestStandby(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := quiet(2, 10, 5, UnknownVersion)
		engine := openStore(t, vfs.NewCrashableMem())
		defer closeStore(t, engine)
		start := func(owner string, e store.Engine) chan error {
			o := options(w)
			o.Owner, o.Store = owner, e
			ended := make(chan error, 1)
			x := newIndexer(t, o)
			ctx, cancel := context.WithCancel(t.Context())
			t.Cleanup(cancel)
			go func() { ended <- x.Run(ctx) }()
			return ended
		}
		first := start("first", stalled{engine})
		time.Sleep(5 * time.Second)
		second := start("second", engine)
		time.Sleep(5 * time.Second)
		synctest.Wait()
		select {
		case err := <-second:
			t.Fatalf("the second indexer did not wait: %v", err)
		default:
		}
		time.Sleep(20 * time.Second) // the first lease runs out
		w.mu.Lock()
		w.chain.Extend(1)
		w.mu.Unlock()
		if err := <-first; !errors.Is(err, lease.ErrLost) {
			t.Fatalf("the paused indexer ended with %v, want ErrLost", err)
		}
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if got := simsource.State(t, engine).Head.Number; got != 10 {
			t.Fatalf("head is %d after the take-over, want 10", got)
		}
	})
}

// contrary says that every new block has another parent, but agrees on all old ones.
type contrary struct{ *World }

func (c contrary) Fetch(ctx context.Context, number uint64) (index.Raw, error) {
	l := liar{World: c.World, at: number, lie: func(b *starknet.Block, _ *starknet.StateUpdate) {
		b.ParentHash = felt.FromUint64(1)
	}}
	return l.Fetch(ctx, number)
}

// TestContradiction: a node that contradicts itself without end stops the run
// and changes nothing.
func TestContradiction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := quiet(2, 10, 5, UnknownVersion)
		engine, o := started(t, w)
		before := dump(t, engine)
		w.chain.Extend(1)
		o.Source, o.Store = contrary{w}, engine
		var stuck *index.StuckError
		if err := newIndexer(t, o).Run(t.Context()); !errors.As(err, &stuck) {
			t.Fatalf("got %v, want a StuckError", err)
		}
		if s := simsource.State(t, engine); !publicFault(s, stuck) || !s.Hindered.Since.IsZero() {
			t.Errorf("%+v, %+v", s.Fault, s.Hindered)
		}
		compareLines(t, withoutFault(dump(t, engine)), before)
	})
}
