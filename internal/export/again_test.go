package export_test

import (
	"context"
	"errors"
	"path/filepath"
	"reflect"
	"testing"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/export"
	"chainexplorer/internal/registry"
	"chainexplorer/internal/simnode"
)

// TestGoingOn stops an export at many places, adds families and blocks, and finds the
// files of an export in one go.
func TestGoingOn(t *testing.T) {
	w := newWorld(t, simnode.New(simnode.Config{Seed: 63, Blocks: 50}))
	o := w.options(filepath.Join(t.TempDir(), "out"))
	o.Families = []string{"events", "balances"}
	stops := []uint64{1, 13, 25, 37}
	if raced {
		stops = stops[2:]
	}
	for _, stop := range stops {
		ctx, cancel := context.WithCancel(t.Context())
		o.Progress = func(p export.Progress) {
			if p.Blocks >= stop {
				cancel()
			}
		}
		if _, err := export.Run(ctx, o); err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		cancel()
	}
	if left, err := filepath.Glob(filepath.Join(o.Dir, "*", ".*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	o.Progress = nil
	w.export(o)
	same(t, o.Dir, w.fresh(func(f *export.Options) { f.Families = o.Families }))

	o.Families = nil
	w.Extend(9)
	w.index()
	if r := w.export(o); r.Undone != 0 || r.Kept == 0 {
		t.Errorf("with more families and blocks: %+v", r)
	}
	same(t, o.Dir, w.fresh(nil))
	before := filesIn(t, o.Dir)
	o.BlocksPerFile = 0 // what it began with
	if r := w.export(o); r.Written != 1 || r.Kept != 8*4-0 {
		t.Errorf("with nothing to do %d files were written and %d kept", r.Written, r.Kept)
	}
	if !reflect.DeepEqual(before, filesIn(t, o.Dir)) {
		t.Error("a run with nothing to do changed files")
	}
}

// TestForks undoes blocks between two runs, and while a range is read.
func TestForks(t *testing.T) {
	w := newWorld(t, simnode.New(simnode.Config{Seed: 64, Blocks: 60, L1Lag: -1}))
	o := w.options(filepath.Join(t.TempDir(), "out"))
	o.Latest = true
	w.export(o)
	latest := func(f *export.Options) { f.Latest = true }

	w.Fork(21)
	w.Extend(1)
	w.index()
	// Blocks 39 on are others: of four ranges the last two.
	if r := w.export(o); r.Undone != 8*2+1 || r.Kept != 8*2 {
		t.Errorf("after the fork: %d files undone, %d kept", r.Undone, r.Kept)
	}
	same(t, o.Dir, w.fresh(latest))

	short := newWorld(t, simnode.New(simnode.Config{Seed: 64, Blocks: 37, L1Lag: -1}))
	o.Index = short.Engine // what is above its head is gone
	short.export(o)
	same(t, o.Dir, short.fresh(latest))

	if raced {
		return // what follows does one thing after the other
	}
	// While the first range is read, between its pin, its headers and its transactions.
	for _, at := range []int{4, 5} {
		f := w.options(filepath.Join(t.TempDir(), "out"))
		f.Latest, f.Parallel = true, 1
		views := 0
		f.Index = viewed{w, func() {
			if views++; views == at {
				head, _ := w.Head()
				w.Fork(int(head) - 3)
				w.Extend(1)
				w.index()
			}
		}}
		w.export(f)
		if views <= at {
			t.Fatalf("only %d views", views)
		}
		f.Index = w.Engine
		if r := w.export(f); r.Undone != 0 { // only a block came meanwhile
			t.Errorf("%d files of a run with a fork at view %d had undone blocks", r.Undone, at)
		}
		same(t, f.Dir, w.fresh(latest))
	}
}

// viewed is told of every view before it is opened.
type viewed struct {
	*world
	before func()
}

func (v viewed) View(ctx context.Context, fn func(explorer.Reader) error) error {
	v.before()
	return v.world.View(ctx, fn)
}

// TestOtherRegistry: transfers say which standard a token has as far as the registry tells,
// and are written anew with another one, those alone.
func TestOtherRegistry(t *testing.T) {
	w := newWorld(t, simnode.New(simnode.Config{Seed: 64, Blocks: 30}))
	o := w.options(filepath.Join(t.TempDir(), "out"))
	o.Families = []string{"events", "transfers"}
	w.export(o)
	known, err := registry.Load("")
	if err != nil {
		t.Fatal(err)
	}
	o.Registry = known.Chain("SN_MAIN")
	if r := w.export(o); r.Undone != 2 || r.Kept != 2 || r.Written != 2 {
		t.Errorf("with another registry: %+v", r)
	}
	same(t, o.Dir, w.fresh(func(f *export.Options) { f.Families, f.Registry = o.Families, o.Registry }))
	if r := w.export(o); r.Undone != 0 || r.Written != 0 {
		t.Errorf("with the same registry again: %+v", r)
	}
}
