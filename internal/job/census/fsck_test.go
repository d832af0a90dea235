package census_test

import (
	"testing"
	"time"

	"chainexplorer/internal/explorer/catalog"
	rows "chainexplorer/internal/explorer/census"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/index/fsck"
	"chainexplorer/internal/simnode/contracts"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble"
)

// TestFsck: the checker finds a census sound, and notices a holder that was
// taken away, added, or given another balance, and one of no generation.
func TestFsck(t *testing.T) {
	w := newWorld(t, 40, nil)
	w.mustRun()
	g := w.newest(contracts.STRK)
	var first rows.Holder
	err := w.engine.View(t.Context(), func(r store.Reader) error {
		list, err := rows.Page(t.Context(), r, g.Token, g.ID, nil, 1)
		first = list[0]
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	key := func(id uint64, p rows.Place) store.Key {
		return store.Key{Table: rows.Holders, Partition: rows.HolderPartition(g.Token, id), Sort: append([]byte(nil), p[:]...)}
	}
	richer := rows.PlaceOf([rows.BalanceSize]byte{1}, first.Address())
	value := rows.AppendHolder(nil, first.LastBlock)
	for name, change := range map[string]func(b *store.Batch){
		"sound":      func(*store.Batch) {},
		"taken away": func(b *store.Batch) { b.Delete(key(g.ID, first.Place)) },
		"added": func(b *store.Batch) {
			b.Put(key(g.ID, rows.PlaceOf([rows.BalanceSize]byte{}, felt.FromUint64(5))), value)
		},
		"richer":         func(b *store.Batch) { b.Delete(key(g.ID, first.Place)); b.Put(key(g.ID, richer), value) },
		"of another day": func(b *store.Batch) { b.Put(key(g.ID, first.Place), rows.AppendHolder(nil, first.LastBlock+1)) },
		"of nothing":     func(b *store.Batch) { b.Put(key(g.ID+1000, first.Place), value) },
	} {
		lease, err := w.engine.Acquire(t.Context(), store.Writer, "test", time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		// Spoil, check, and put it back.
		b := &store.Batch{Epoch: lease.Epoch}
		change(b)
		if b.Len() > 0 {
			if err := w.engine.Commit(t.Context(), b); err != nil {
				t.Fatal(err)
			}
		}
		scratch, err := pebble.OpenMem(catalog.Tables())
		if err != nil {
			t.Fatal(err)
		}
		report, err := fsck.Check(t.Context(), fsck.Options{Store: w.engine, Scratch: scratch, Subjects: catalog.Subjects()})
		scratch.Close() //nolint:errcheck // in memory
		if err != nil {
			t.Fatal(err)
		}
		if report.Clean() != (name == "sound") {
			t.Errorf("%s: %v", name, report.Problems)
		}
		undo := &store.Batch{Epoch: lease.Epoch}
		for _, op := range b.Ops() {
			undo.Delete(op.Key)
		}
		undo.Put(key(g.ID, first.Place), value)
		if err := w.engine.Commit(t.Context(), undo); err != nil {
			t.Fatal(err)
		}
		if err := w.engine.Release(t.Context(), lease); err != nil {
			t.Fatal(err)
		}
	}
}
