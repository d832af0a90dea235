package account

import (
	"errors"
	"sync"
	"testing"
)

// testRotateDefaultOf: who names the key to be replaced has it replaced once, however
// often and from wherever they ask.
func testRotateDefaultOf(t *testing.T, at place) {
	b := newBench(t, at)
	w := b.workspace(t, "acme", Developer)
	b.key(t, NewKey{WorkspaceID: w.ID, Label: DefaultLabel, Scopes: Read | Trace}) // the operator's
	if _, there, err := b.DefaultKey(t.Context(), w.ID); there || err != nil {
		t.Fatal("an operator's key is the default one:", err)
	}
	if _, _, err := b.RotateDefaultOf(t.Context(), w.ID, "key_none"); !errors.Is(err, ErrKeyChanged) {
		t.Error(err)
	}
	first, old, err := b.RotateDefaultOf(t.Context(), w.ID, "")
	if err != nil || len(old) != 0 {
		t.Fatal(old, err)
	}
	if k, there, err := b.DefaultKey(t.Context(), w.ID); !there || err != nil || k.PublicID != first.Key.PublicID {
		t.Errorf("%+v, %t, %v", k, there, err)
	}
	if _, _, err := b.RotateDefaultOf(t.Context(), w.ID, ""); !errors.Is(err, ErrKeyChanged) {
		t.Error("issued twice:", err)
	}
	other := NewRepository(openDB(t, b.path), Options{Now: b.clock.now})
	var all sync.WaitGroup
	var mu sync.Mutex
	made := 0 // guarded by mu
	for i := range 8 {
		all.Go(func() {
			_, _, err := []*Repository{b.Repository, other}[i%2].RotateDefaultOf(t.Context(), w.ID, first.Key.PublicID)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				made++
			} else if !errors.Is(err, ErrKeyChanged) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if made != 1 {
		t.Errorf("rotated %d times", made)
	}
}
