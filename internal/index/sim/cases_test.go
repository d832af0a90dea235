package sim

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/index"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/lease"
	"chainexplorer/internal/store/storetest"
)

// quiet is a world without faults.
func quiet(seed uint64, blocks, l1Lag int, version string) *World {
	return NewWorld(NewChain(seed, blocks, l1Lag, version), seed, Faults{}, 0, 0)
}

func options(w index.Source) index.Options {
	return index.Options{Source: w, Subjects: Subjects(), Unverified: index.UnverifiedStore, UndoBlocks: 50, L1Interval: time.Second}
}

// TestKillAtEveryCommit kills the process before and after every single commit
// of a run that catches up, follows the tail and goes through a fork.
func TestKillAtEveryCommit(t *testing.T) {
	step := 1
	if raced {
		step = 9
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
	o.Store = &killer{Engine: engine, at: at, after: after, kill: kill}
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
	if fork := stateOf(t, next).Fork; !first && (fork.Count != 1 || fork.Depth != 7 || fork.Ancestor != 22) {
		t.Errorf("killed at commit %d, the one fork of 7 blocks above 22 is told as %+v", at, fork)
	}
	return reached
}

// TestUndoRestoresEveryByte indexes block by block, then takes blocks away by
// a fork: after each step the store is as it was at that block, and the fork is
// counted with the last.
func TestUndoRestoresEveryByte(t *testing.T) {
	const n = 40
	for _, c := range []struct {
		depth, stepBytes, steps int
	}{
		{depth: 1, steps: 1}, {depth: 2, steps: 1}, {depth: 5, steps: 1}, {depth: 20, steps: 1}, {depth: 39, steps: 1},
		{depth: 39, stepBytes: 1, steps: 39}, {depth: 6, stepBytes: 1, steps: 6}, {depth: 30, stepBytes: 40 << 10},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := quiet(uint64(c.depth), 1, 1000, UnknownVersion)
			o := options(w)
			o.UndoBytes = c.stepBytes
			engine := openStore(t, vfs.NewCrashableMem())
			defer closeStore(t, engine)
			var dumps [n][]storetest.Line
			seen := revisions{}
			for i := range n {
				w.chain.Extend(i + 1 - w.chain.Len())
				runTo(t, engine, o, uint64(i))
				dumps[i] = dump(t, engine)
				seen.note(t, engine)
			}
			old := stateOf(t, engine).Head
			w.chain.Fork(c.depth)
			w.chain.Extend(1)
			steps, ancestor := 0, uint64(n-1)
			o.Announce = func(a index.Announcement) {
				seen.note(t, engine)
				if a.Fork == nil {
					return
				}
				steps++
				compareLines(t, dump(t, engine), dumps[a.Head.Number])
				s := stateOf(t, engine)
				done := a.Head.Number == uint64(n-1-c.depth)
				if a.Fork.Ancestor != a.Head.Number || a.Fork.Ancestor >= ancestor || a.Fork.Count != 1 || a.Fork.OldHead != old.Hash ||
					a.Fork.Depth != n-1-a.Head.Number || s.Head != a.Head || s.Rewinding == done || (s.Fork == *a.Fork) != done {
					t.Errorf("depth %d: step %d announces %+v, the index says %+v", c.depth, steps, a.Fork, s)
				}
				ancestor = a.Fork.Ancestor
			}
			runTo(t, engine, o, n)
			if steps == 0 || c.steps != 0 && steps != c.steps || c.steps == 0 && steps < 2 {
				t.Fatalf("depth %d, %d bytes a step: %d steps, want %d", c.depth, c.stepBytes, steps, c.steps)
			}
			if s := stateOf(t, engine); s.Fork.Count != 1 || s.Rewinding {
				t.Errorf("after %d steps the index says %+v", steps, s)
			}
		})
	}
}

// revisions are the states that an index was in, by the names that readers know
// them by: one name is one state, and what is kept by a part of the name outlives
// no block that goes.
type revisions map[chain.Revision]chain.Head

func (v revisions) note(t *testing.T, e store.Engine) {
	t.Helper()
	var now chain.Revision
	err := e.View(t.Context(), func(r store.Reader) (err error) {
		now, err = chain.Now(t.Context(), r)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	head := stateOf(t, e).Head
	if before, there := v[now]; there && before != head {
		t.Errorf("revision %+v is block %s and block %s", now, before.Hash, head.Hash)
	}
	v[now] = head
	lasting := now.Lasting()
	if before, there := v[lasting]; there && before.Number > head.Number {
		t.Errorf("answers of revision %+v outlive the undoing of block %d", now, before.Number)
	}
	v[lasting] = head
}

func dump(t *testing.T, e store.Engine) []storetest.Line {
	t.Helper()
	lines, err := storetest.Dump(t.Context(), e, Tables())
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

func compareLines(t *testing.T, got, want []storetest.Line) {
	t.Helper()
	keep := func(lines []storetest.Line) (out []storetest.Line) {
		for _, l := range lines {
			// These rows tell of the forks, and classes outlive them.
			if (l.Table != chain.Meta || string(l.Sort) != "fork" && string(l.Sort) != "rewind") && !enriched(l.Table) {
				out = append(out, l)
			}
		}
		return out
	}
	got, want = keep(got), keep(want)
	if len(got) != len(want) {
		t.Errorf("%d rows, want %d", len(got), len(want))
		return
	}
	for i := range got {
		if got[i].String() != want[i].String() {
			t.Errorf("row %d is %s, want %s", i, got[i], want[i])
			return
		}
	}
}

// TestForks checks what a fork of each depth does to the marks of the index.
func TestForks(t *testing.T) {
	const blocks = 60
	for _, c := range []struct {
		name         string
		depth, l1Lag int
		undo         uint64
		belowL1      bool
		deep         bool
	}{
		{name: "one block", depth: 1, l1Lag: 10, undo: 30},
		{name: "down to the L1 mark", depth: 10, l1Lag: 10, undo: 30},
		{name: "below the L1 mark", depth: 11, l1Lag: 10, undo: 30, belowL1: true},
		{name: "far below the L1 mark", depth: 25, l1Lag: 10, undo: 30, belowL1: true},
		{name: "as deep as the undo records go", depth: 30, l1Lag: 10, undo: 30, belowL1: true},
		{name: "deeper than the undo records", depth: 31, l1Lag: 10, undo: 30, deep: true},
		{name: "deep, but not accepted on L1", depth: 50, l1Lag: 1000, undo: 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := quiet(5, blocks, c.l1Lag, UnknownVersion)
				o := options(w)
				o.UndoBlocks = c.undo
				engine := openStore(t, vfs.NewCrashableMem())
				defer closeStore(t, engine)
				runTo(t, engine, o, blocks-1)
				runFor(t, engine, o, 5*time.Second) // L1 acceptance is asked for
				before := stateOf(t, engine)
				w.chain.Fork(c.depth)
				w.chain.Extend(1)
				if c.deep {
					o.Store = engine
					err := newIndexer(t, o).Run(t.Context())
					var deep *index.DeepForkError
					if !errors.As(err, &deep) || deep.Floor != blocks-c.undo || deep.Head != blocks-1 {
						t.Fatalf("got %v, want a DeepForkError with floor %d", err, blocks-c.undo)
					}
					after := stateOf(t, engine)
					if after.Head != before.Head {
						t.Error("the head moved")
					}
					if !publicFault(after, deep) {
						t.Errorf("fault row is %+v", after.Fault)
					}
					return
				}
				if c.belowL1 {
					refusedBelowL1(t, engine, o, uint64(blocks-c.depth))
					o.AllowForkBelowL1 = ref(uint64(blocks - c.depth))
				}
				runTo(t, engine, o, blocks)
				s := stateOf(t, engine)
				if s.HasFault {
					t.Errorf("the fault outlived what it was about: %+v", s.Fault)
				}
				if s.Fork.Count != 1 || s.Fork.Depth != uint64(c.depth) || s.Fork.Ancestor != uint64(blocks-1-c.depth) ||
					s.Fork.BelowL1 != c.belowL1 || s.Fork.OldHead != before.Head.Hash {
					t.Errorf("fork row is %+v", s.Fork)
				}
				checkSound(t, engine)
			})
		})
	}
}

// refusedBelowL1 checks that blocks which L1 accepted are not undone without the
// operator's word, and gives it.
func refusedBelowL1(t *testing.T, engine store.Engine, o index.Options, first uint64) {
	t.Helper()
	before := dump(t, engine)
	o.Store = engine
	for _, allowed := range []*uint64{nil, ref(first + 1)} {
		o.AllowForkBelowL1 = allowed
		err := newIndexer(t, o).Run(t.Context())
		var refused *index.L1ForkError
		if !errors.As(err, &refused) || refused.Block != first || !strings.Contains(err.Error(), "--allow-fork-below-l1 "+strconv.FormatUint(first, 10)) {
			t.Fatalf("got %v, want an L1ForkError about block %d", err, first)
		}
		if s := stateOf(t, engine); !publicFault(s, err) {
			t.Errorf("fault row is %+v, want %v", s.Fault, err)
		}
	}
	compareLines(t, withoutFault(dump(t, engine)), before)
}

// withoutFault leaves out the row that tells why the indexer stopped.
func withoutFault(lines []storetest.Line) []storetest.Line {
	return slices.DeleteFunc(lines, func(l storetest.Line) bool { return l.Table == chain.Meta && string(l.Sort) == "fault" })
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
		engine := openStore(t, vfs.NewCrashableMem())
		defer closeStore(t, engine)
		o := options(good)
		o.UndoBlocks = 20
		runTo(t, engine, o, 59)
		o.Source, o.Store = bad, engine
		var deep *index.DeepForkError
		if err := newIndexer(t, o).Run(t.Context()); !errors.As(err, &deep) {
			t.Fatalf("got %v, want a DeepForkError", err)
		}
		good.chain.Extend(1)
		o.Source = good
		runTo(t, engine, o, 60)
		if stateOf(t, engine).HasFault {
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
		{"an older layout", "the index has layout 3 and this program has layout 4: index again into an empty directory or database", chain.Format{Layout: 3, ChainID: ChainID}},
		{"a newer layout", "the index has layout 5 and this program has layout 4: upgrade the program", chain.Format{Layout: 5, ChainID: ChainID}},
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
			s := stateOf(t, engine)
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
		if got := stateOf(t, engine).Head.Number; got != 10 {
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
		engine := openStore(t, vfs.NewCrashableMem())
		defer closeStore(t, engine)
		o := options(w)
		runTo(t, engine, o, 9)
		before := dump(t, engine)
		w.chain.Extend(1)
		o.Source, o.Store = contrary{w}, engine
		var stuck *index.StuckError
		if err := newIndexer(t, o).Run(t.Context()); !errors.As(err, &stuck) {
			t.Fatalf("got %v, want a StuckError", err)
		}
		if s := stateOf(t, engine); !publicFault(s, stuck) || !s.Hindered.Since.IsZero() {
			t.Errorf("%+v, %+v", s.Fault, s.Hindered)
		}
		compareLines(t, withoutFault(dump(t, engine)), before)
	})
}

// TestShrunkenChain: a head that goes back is waited for; what replaces it is taken.
func TestShrunkenChain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := quiet(2, 20, 5, UnknownVersion)
		engine := openStore(t, vfs.NewCrashableMem())
		defer closeStore(t, engine)
		o := options(w)
		runTo(t, engine, o, 19)
		before := stateOf(t, engine).Head
		w.chain.Truncate(5)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		o.Store = engine
		if err := newIndexer(t, o).Run(ctx); err != nil {
			t.Fatal(err)
		}
		if stateOf(t, engine).Head != before {
			t.Error("blocks were undone without a replacement")
		}
		w.chain.Extend(6)
		runTo(t, engine, o, 20)
		compareWithQuietRun(t, planFor(1, false), w, engine, 20)
	})
}
