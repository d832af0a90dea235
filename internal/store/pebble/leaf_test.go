package pebble

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"chainexplorer/internal/store"
)

var listed = &store.Table{ID: 9, Name: "listed", PartitionLen: 1, SortLen: 1 + store.NumberBytes, Series: true}

func listedKey(number uint64) store.Key {
	return store.Key{Table: listed, Partition: []byte("p"), Sort: binary.BigEndian.AppendUint64([]byte("s"), number)}
}

func openListed(t *testing.T, disk vfs.FS, bulkBytes int) (*engine, store.Lease) {
	t.Helper()
	o := MemOptions(disk, []*store.Table{listed})
	o.BulkBytes = bulkBytes
	e, err := open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	l, err := e.Acquire(t.Context(), store.Writer, "test", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return e, l
}

// storedKeys counts the keys that Pebble has of the table.
func storedKeys(t *testing.T, e *engine) (n int) {
	t.Helper()
	it, err := e.db.NewIter(nil)
	if err != nil {
		t.Fatal(err)
	}
	for ok := it.SeekGE([]byte{listed.ID}); ok; ok = it.Next() {
		n++
	}
	if err := it.Close(); err != nil {
		t.Fatal(err)
	}
	return n
}

func numbersOf(t *testing.T, e *engine) (numbers []uint64) {
	t.Helper()
	err := e.View(t.Context(), func(r store.Reader) error {
		for row, err := range r.Scan(t.Context(), store.Range{Table: listed, Partition: []byte("p"), Limit: 1000}) {
			if err != nil {
				return err
			}
			numbers = append(numbers, binary.BigEndian.Uint64(row.Sort[1:]))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return numbers
}

// TestLeaves: a large commit of settled rows stores a few keys, one that is not settled or
// small stores them all, and what is settled cannot be changed, by small commits and large
// ones, also after the store was closed.
func TestLeaves(t *testing.T) {
	disk := vfs.NewMem()
	commit := func(bulkBytes int, fill func(b *store.Batch)) (int, error) {
		e, l := openListed(t, disk, bulkBytes)
		b := &store.Batch{Epoch: l.Epoch}
		fill(b)
		err := e.Commit(t.Context(), b)
		keys := storedKeys(t, e)
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		return keys, err
	}
	rows := func(from, to uint64) func(b *store.Batch) {
		return func(b *store.Batch) {
			for n := from; n < to; n++ {
				b.Put(listedKey(n), make([]byte, 90))
			}
		}
	}
	keys, err := commit(1, func(b *store.Batch) { rows(0, 100)(b); b.Settled = 100 })
	if err != nil || keys < 9 || keys > 12 {
		t.Fatalf("a hundred rows of 90 bytes are %d keys, %v; want about ten", keys, err)
	}
	if more, err := commit(1, rows(100, 110)); err != nil || more != keys+10 {
		t.Fatalf("ten rows that are not settled are %d keys, %v", more-keys, err)
	}
	if more, err := commit(1<<20, func(b *store.Batch) { rows(110, 120)(b); b.Settled = 120 }); err != nil || more != keys+20 {
		t.Fatalf("ten rows of a small commit are %d keys, %v", more-keys-10, err)
	}
	for _, bulkBytes := range []int{1, 1 << 20} {
		for name, fill := range map[string]func(b *store.Batch){
			"set": func(b *store.Batch) { b.Put(listedKey(120), nil); b.Put(listedKey(99), nil) },
			"go":  func(b *store.Batch) { b.Delete(listedKey(0)) },
			"go, not there": func(b *store.Batch) {
				b.Delete(store.Key{Table: listed, Partition: []byte("q"), Sort: listedKey(5).Sort})
			},
			"cut from": func(b *store.Batch) {
				b.Cut(store.Cut{Table: listed, Partition: []byte("p"), From: listedKey(50).Sort})
			},
			"cut to": func(b *store.Batch) { b.Cut(store.Cut{Table: listed, Partition: []byte("p"), To: listedKey(50).Sort}) },
			"cut behind": func(b *store.Batch) {
				b.Cut(store.Cut{Table: listed, Partition: []byte("p"), From: store.After(listedKey(99).Sort)})
			},
			"set, to settle": func(b *store.Batch) { b.Put(listedKey(99), nil); b.Settled = 100 },
		} {
			if _, err := commit(bulkBytes, fill); !errors.Is(err, store.ErrInvalid) {
				t.Errorf("%s, bulk from %d bytes on: %v", name, bulkBytes, err)
			}
		}
	}
	var want []uint64
	for n := range uint64(120) {
		want = append(want, n)
	}
	e, _ := openListed(t, disk, 1)
	if got := numbersOf(t, e); !slices.Equal(got, want) {
		t.Errorf("after all refusals there is %d", got)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := commit(1, func(b *store.Batch) {
		b.Delete(listedKey(119))
		b.Cut(store.Cut{Table: listed, Partition: []byte("p"), From: listedKey(115).Sort})
	}); err != nil {
		t.Fatal(err)
	}
	e, _ = openListed(t, disk, 1)
	if got := numbersOf(t, e); !slices.Equal(got, want[:115]) {
		t.Errorf("after the cut there is %d", got)
	}
}

// TestDamagedLeaf: what cannot be a leaf is told as damage, by every way to read it.
func TestDamagedLeaf(t *testing.T) {
	e, l := openListed(t, vfs.NewMem(), 1)
	b := &store.Batch{Epoch: l.Epoch, Settled: 10}
	b.Put(listedKey(1), []byte("one"))
	b.Put(listedKey(2), []byte("two"))
	if err := e.Commit(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	k := listedKey(2)
	if err := e.db.Set(append(appendKey(nil, &k), leafMark), []byte{1, 3, 'o'}, nil); err != nil {
		t.Fatal(err)
	}
	b = &store.Batch{Epoch: l.Epoch}
	b.Put(listedKey(20), nil) // a new state
	if err := e.Commit(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	reads := map[string]func(ctx context.Context, r store.Reader) error{
		"Get": func(ctx context.Context, r store.Reader) error { _, err := r.Get(ctx, listedKey(1)); return err },
		"GetMany": func(ctx context.Context, r store.Reader) error {
			_, err := r.GetMany(ctx, []store.Key{listedKey(1)})
			return err
		},
		"Scan": func(ctx context.Context, r store.Reader) error {
			for _, err := range r.Scan(ctx, store.Range{Table: listed, Partition: []byte("p"), Limit: 1}) {
				return err
			}
			return nil
		},
		"Walk": func(ctx context.Context, r store.Reader) error {
			for _, err := range r.Walk(ctx, listed, nil) {
				return err
			}
			return nil
		},
	}
	for name, read := range reads {
		err := e.View(t.Context(), func(r store.Reader) error { return read(t.Context(), r) })
		if !errors.Is(err, store.ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzLeaf: whatever is stored either is a leaf, and then the one that its rows make, or is
// refused.
func FuzzLeaf(f *testing.F) {
	f.Add(uint64(7), []byte{2, 1, 'a', 2, 0})
	f.Add(uint64(7), []byte{8, 0})
	f.Add(uint64(7), []byte{2, 0})
	f.Add(uint64(0), []byte{0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01})
	f.Add(uint64(1<<63), binary.AppendUvarint([]byte{0, 0}, 1<<63))
	lengths := leafLengthsOf([]*store.Table{listed})
	f.Fuzz(func(t *testing.T, last uint64, value []byte) {
		k := listedKey(last)
		key := append(appendKey(nil, &k), leafMark)
		var l leaf
		if err := l.read(key, value); err != nil {
			if !errors.Is(err, store.ErrDamaged) {
				t.Fatal(err)
			}
			return
		}
		if n := l.rows[len(l.rows)-1].number; n != last {
			t.Fatalf("the leaf of %d ends with %d", last, n)
		}
		var rows []string
		w := leafWriter{lengths: &lengths, settled: last + 1, set: func(key, value []byte) error {
			if !lengths.isLeaf(key) {
				rows = append(rows, fmt.Sprintf("%x %x", key, value))
				return nil
			}
			var l leaf
			if err := l.read(key, value); err != nil {
				return err
			}
			for i := range l.rows {
				rows = append(rows, fmt.Sprintf("%x %x", l.keyOf(i), l.rows[i].value))
			}
			return nil
		}}
		var want []string
		for i := range l.rows {
			key := bytes.Clone(l.keyOf(i))
			want = append(want, fmt.Sprintf("%x %x", key, l.rows[i].value))
			if v, found := l.find(l.rows[i].number); !found || !bytes.Equal(v, l.rows[i].value) {
				t.Fatalf("row %d is not found", i)
			}
			if last+1 != 0 {
				if err := w.put(key, l.rows[i].value); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := w.flush(); err != nil {
			t.Fatal(err)
		}
		if last+1 != 0 && !slices.Equal(rows, want) {
			t.Fatalf("written again it is %q, it was %q", rows, want)
		}
	})
}
