package privacypool_test

import (
	"fmt"
	"testing"
	"time"

	"chainexplorer/internal/explorer/catalog"
	"chainexplorer/internal/explorer/privacypool/ledger"
	"chainexplorer/internal/index/fsck"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/store"
)

// problems checks the index.
func (w *world) problems() []string {
	w.t.Helper()
	report, err := fsck.Check(w.t.Context(), fsck.Options{Store: w.engine, Scratch: memory(w.t), Subjects: catalog.Subjects()})
	if err != nil {
		w.t.Fatal(err)
	}
	return report.Problems
}

// TestFsck: the checker makes the ledger again and finds it the same, whatever is being
// made beside it, and notices every row that was changed, taken away or added.
func TestFsck(t *testing.T) {
	w := newWorld(t, simnode.Config{Seed: 9, Blocks: 45, PoolUses: 1, BlockTime: 29 * time.Minute, PoolTrouble: []simnode.PoolTrouble{{Block: 20, Kind: simnode.TroubleNoAmount}}})
	w.run(nil, nil)
	if got := w.problems(); len(got) != 0 {
		t.Fatalf("a sound ledger: %v", got)
	}
	var victims []store.Op
	w.view(func(r store.Reader) {
		for _, table := range ledger.Job() {
			n := 0
			for e, err := range r.Walk(t.Context(), table, nil) {
				if err != nil {
					t.Fatal(err)
				}
				if n++; n == 2 || table == ledger.States {
					k := store.Key{Table: table, Partition: append([]byte(nil), e.Partition...), Sort: append([]byte(nil), e.Sort...)}
					victims = append(victims, store.Op{Key: k, Value: append([]byte(nil), e.Value...)})
				}
			}
		}
	})
	if len(victims) != len(ledger.Job()) {
		t.Fatalf("%d tables have rows", len(victims))
	}
	lease, err := w.engine.Acquire(t.Context(), store.Writer, "test", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	put := func(change func(b *store.Batch)) {
		t.Helper()
		b := &store.Batch{}
		change(b)
		b.Under(lease)
		if err := w.engine.Commit(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	for i, v := range victims {
		spoiled := append([]byte(nil), v.Value...)
		spoiled[len(spoiled)-1] ^= 1
		stray := v.Key
		stray.Sort = append(append([]byte(nil), v.Sort...), 1)
		changes := map[string]func(b *store.Batch){
			"spoiled": func(b *store.Batch) { b.Put(v.Key, spoiled) },
			"missing": func(b *store.Batch) { b.Delete(v.Key) },
			"added":   func(b *store.Batch) { b.Put(stray, v.Value) },
		}
		if v.Table == ledger.States {
			delete(changes, "added")
		}
		for name, change := range changes {
			put(change)
			if got := w.problems(); len(got) == 0 {
				t.Errorf("%s: a row that is %s is not noticed", victims[i].Table.Name, name)
			}
			put(func(b *store.Batch) {
				b.Delete(stray)
				b.Put(v.Key, v.Value)
			})
		}
	}
	if got := w.problems(); len(got) != 0 {
		t.Fatalf("put back: %v", got)
	}
}

// TestFsckBetweenSteps: a ledger is sound after every commit, one that is being made and
// one that is being deleted included.
func TestFsckBetweenSteps(t *testing.T) {
	w := newTrouble(t, simnode.TroubleClass)
	w.run(nil, nil)
	w.pools, w.events, w.hours, w.rows = stranger(w.pools), 25, 9, 60
	n, seen := 0, map[string]bool{}
	w.run(nil, func() {
		w.view(func(r store.Reader) {
			s, err := ledger.ReadState(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			seen[fmt.Sprint(s.Building != nil, len(s.Dead))] = true
		})
		if n++; n%4 == 1 {
			if got := w.problems(); len(got) != 0 {
				t.Fatalf("after commit %d: %v", n, got)
			}
		}
	})
	if n < 10 || !seen["true 0"] || !seen["false 1"] {
		t.Fatalf("%d commits, %v", n, seen)
	}
}
