package pebble

import (
	"testing"

	"chainexplorer/internal/store"
)

type rememberedKey string

// TestMemory: views of one state share what was made of it, and a commit ends that.
func TestMemory(t *testing.T) {
	table := &store.Table{ID: 1, Name: "rows", PartitionLen: 1}
	e, err := OpenMem([]*store.Table{table})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close() //nolint:errcheck // in memory
	recalled := func() (n int, ok bool) {
		t.Helper()
		err := e.View(t.Context(), func(r store.Reader) error {
			n, ok = store.Recalled[rememberedKey, int](r, "answer")
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return n, ok
	}
	lease, err := e.Acquire(t.Context(), "index", "test", 1e12)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := recalled(); ok {
		t.Fatal("something is remembered of a new store")
	}
	err = e.View(t.Context(), func(r store.Reader) error {
		store.Remember(r, rememberedKey("answer"), 42)
		b := &store.Batch{Lease: lease.Name, Epoch: lease.Epoch}
		b.Put(store.Key{Table: table, Partition: []byte{1}}, []byte("row"))
		if n, ok := recalled(); !ok || n != 42 {
			t.Errorf("another view of the state recalls %d, %v", n, ok)
		}
		if err := e.Commit(t.Context(), b); err != nil {
			return err
		}
		// This view is of the old state, and what it is told must not reach the new one.
		store.Remember(r, rememberedKey("answer"), 43)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if n, ok := recalled(); ok {
		t.Errorf("after a commit %d is recalled of the state before it", n)
	}
}

// TestMemoryIsBounded: a state that many ask about takes no more memory than so much.
func TestMemoryIsBounded(t *testing.T) {
	e, err := OpenMem([]*store.Table{{ID: 1, Name: "rows", PartitionLen: 1}})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close() //nolint:errcheck // in memory
	held := 0
	err = e.View(t.Context(), func(r store.Reader) error {
		for i := range 10_000 {
			store.Remember(r, i, i)
		}
		if _, ok := store.Recalled[int, int](r, 9_999); !ok {
			t.Error("what was read last is not remembered")
		}
		for i := range 10_000 {
			if _, ok := store.Recalled[int, int](r, i); ok {
				held++
			}
		}
		return nil
	})
	if err != nil || held == 0 || held > 4096 {
		t.Errorf("%d things are held, want some and at most 4096 (%v)", held, err)
	}
}
