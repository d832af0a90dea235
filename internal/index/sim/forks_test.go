package sim

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/explorer/transaction"
	"chainexplorer/internal/index"
	"chainexplorer/internal/index/simsource"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/storetest"
)

// TestUndoRestoresEveryByte indexes block by block, then takes blocks away by
// a fork: after each step the store is as it was at that block, and the fork is
// counted with the last.
func TestUndoRestoresEveryByte(t *testing.T) {
	skipRaced(t)
	const n = 40
	for _, c := range some([]struct {
		depth, stepBytes, steps int
	}{
		{depth: 1, steps: 1}, {depth: 2, steps: 1}, {depth: 5, steps: 1}, {depth: 20, steps: 1}, {depth: 39, steps: 1},
		{depth: 39, stepBytes: 1, steps: 39}, {depth: 6, stepBytes: 1, steps: 6}, {depth: 30, stepBytes: 40 << 10},
	}) {
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
			old := simsource.State(t, engine).Head
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
				s := simsource.State(t, engine)
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
			if s := simsource.State(t, engine); s.Fork.Count != 1 || s.Rewinding {
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
	head := simsource.State(t, e).Head
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
	for _, c := range some([]struct {
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
	}) {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := quiet(5, blocks, c.l1Lag, UnknownVersion)
				o := options(w)
				o.UndoBlocks = c.undo
				engine := openStore(t, vfs.NewCrashableMem())
				defer closeStore(t, engine)
				runTo(t, engine, o, blocks-1)
				runFor(t, engine, o, 5*time.Second) // L1 acceptance is asked for
				before := simsource.State(t, engine)
				w.chain.Fork(c.depth)
				w.chain.Extend(1)
				if c.deep {
					o.Store = engine
					err := newIndexer(t, o).Run(t.Context())
					var deep *index.DeepForkError
					if !errors.As(err, &deep) || deep.Floor != blocks-c.undo || deep.Head != blocks-1 {
						t.Fatalf("got %v, want a DeepForkError with floor %d", err, blocks-c.undo)
					}
					after := simsource.State(t, engine)
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
				s := simsource.State(t, engine)
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
		if s := simsource.State(t, engine); !publicFault(s, err) {
			t.Errorf("fault row is %+v, want %v", s.Fault, err)
		}
	}
	compareLines(t, withoutFault(dump(t, engine)), before)
}

// withoutFault leaves out the row that tells why the indexer stopped.
func withoutFault(lines []storetest.Line) []storetest.Line {
	return slices.DeleteFunc(lines, func(l storetest.Line) bool { return l.Table == chain.Meta && string(l.Sort) == "fault" })
}

// TestShrunkenChain: a head that goes back is waited for; what replaces it is taken.
func TestShrunkenChain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := quiet(2, 20, 5, UnknownVersion)
		engine, o := started(t, w)
		before := simsource.State(t, engine).Head
		w.chain.Truncate(5)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		o.Store = engine
		if err := newIndexer(t, o).Run(ctx); err != nil {
			t.Fatal(err)
		}
		if simsource.State(t, engine).Head != before {
			t.Error("blocks were undone without a replacement")
		}
		w.chain.Extend(6)
		runTo(t, engine, o, 20)
		compareWithQuietRun(t, planFor(1, false), w, engine, 20)
	})
}

// TestUndoRefusesAChangedRow: a block whose rows are not those that it wrote is not undone,
// and is once they are.
func TestUndoRefusesAChangedRow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 12
		w := quiet(3, n, 1000, UnknownVersion)
		engine, o := started(t, w)
		change := func() {
			ctx := t.Context()
			lease, err := engine.Acquire(ctx, store.Writer, "test", time.Hour)
			if err != nil {
				t.Fatal(err)
			}
			defer engine.Release(ctx, lease) //nolint:errcheck // the run would say it
			var key store.Key
			var value []byte
			err = engine.View(ctx, func(r store.Reader) (err error) {
				for number := uint64(n - 5); value == nil && number < n; number++ { // some have none
					key = transaction.Key(explorer.Position{Block: number})
					if value, err = r.Get(ctx, key); err != nil && !errors.Is(err, store.ErrNotFound) {
						return err
					}
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			value[10] ^= 1 // of the block's hash, which no other row is made of
			b := &store.Batch{}
			b.Under(lease)
			b.Put(key, value)
			if err := engine.Commit(ctx, b); err != nil {
				t.Fatal(err)
			}
		}
		change()
		w.chain.Fork(6)
		w.chain.Extend(1)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		o.Store = engine
		var logged strings.Builder
		o.Logger = slog.New(slog.NewTextHandler(&logged, nil))
		if err := newIndexer(t, o).RunTo(ctx, n); err != nil { // it tries until its time is over
			t.Fatal(err)
		}
		if !strings.Contains(logged.String(), "projected again it has digest") {
			t.Errorf("the log does not say why:\n%s", logged.String())
		}
		if s := simsource.State(t, engine); s.Head.Number != n-1 || s.Rewinding {
			t.Errorf("blocks were undone: %+v", s)
		}
		change()
		o.Logger = nil
		runTo(t, engine, o, n)
	})
}
