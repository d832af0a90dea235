package storetest

import (
	"context"
	"errors"
	"slices"
	"testing"

	"chainexplorer/internal/store"
)

// testCounter: the number of an engine that counts is another after each commit, and
// while it stays the same so does what a view sees.
func testCounter(t *testing.T, s Store) {
	w := open(t, s)
	counter, ok := w.engine.(store.Counter)
	if !ok {
		return // an ability that an engine need not have
	}
	key := store.Key{Table: single, Sort: []byte("n")}
	seen := map[uint64]string{}
	for i := range 50 {
		value := string(store.AppendUint64(nil, uint64(i)))
		before := counter.Commits()
		w.commit(func(b *store.Batch) { b.Put(key, []byte(value)) })
		n := counter.Commits()
		if n == before {
			t.Fatalf("commit %d: the number is %d before and after", i, n)
		}
		err := w.engine.View(t.Context(), func(r store.Reader) error {
			got, err := r.Get(t.Context(), key)
			if old, known := seen[n]; known && old != string(got) {
				t.Errorf("number %d stood for %x and stands for %x", n, old, got)
			}
			seen[n] = string(got)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// testCutter: an engine that takes cuts ends the rows of a part and no other, before
// what the batch writes, and one that takes none says so.
func testCutter(t *testing.T, s Store) {
	w := open(t, s)
	rows := func() (out []string) {
		w.view(func(ctx context.Context, r store.Reader) {
			for _, p := range []string{"o", "p", "q", "\xff"} {
				got, err := scan(ctx, r, store.Range{Table: narrow, Partition: []byte(p), Limit: manyRows})
				if err != nil {
					t.Fatal(err)
				}
				for _, row := range got {
					out = append(out, p+row)
				}
			}
		})
		return out
	}
	w.commit(func(b *store.Batch) {
		for _, p := range []string{"o", "p", "q", "\xff"} {
			for _, sort := range []string{"a", "b", "ba", "c"} {
				b.Put(key(narrow, p, sort), nil)
			}
		}
	})
	b := &store.Batch{Epoch: w.lease.Epoch}
	b.Put(key(narrow, "p", "ba"), []byte("new"))
	b.Cut(store.Cut{Table: narrow, Partition: []byte("p"), From: []byte("b")})
	b.Cut(store.Cut{Table: narrow, Partition: []byte("q"), From: []byte("b"), To: []byte("c")})
	b.Cut(store.Cut{Table: narrow, Partition: []byte("q"), From: []byte("a"), To: []byte("ba")})
	b.Cut(store.Cut{Table: narrow, Partition: []byte("o"), From: []byte("b"), To: []byte("b")})
	b.Cut(store.Cut{Table: narrow, Partition: []byte{0xff}, From: nil})
	err := w.engine.Commit(t.Context(), b)
	if _, able := w.engine.(store.Cutter); !able {
		if !errors.Is(err, store.ErrInvalid) {
			t.Errorf("cuts: %v", err)
		}
		return // an ability that an engine need not have
	}
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"oa=", "ob=", "oba=", "oc=", "pa=", "pba=new", "qc="}
	if got := rows(); !slices.Equal(got, want) {
		t.Errorf("after the cuts there is %q, want %q", got, want)
	}
	w.commit(func(b *store.Batch) { b.Put(key(narrow, "p", "c"), []byte("again")) })
	if err := w.engine.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	want = slices.Insert(want, 6, "pc=again")
	if got := rows(); !slices.Equal(got, want) {
		t.Errorf("in its smallest form there is %q, want %q", got, want)
	}
	for _, c := range []store.Cut{
		{Table: narrow, Partition: []byte("pp")}, {Table: nil},
		{Table: narrow, Partition: []byte("p"), From: make([]byte, store.MaxKeyBytes)},
		{Table: narrow, Partition: []byte("p"), To: make([]byte, store.MaxKeyBytes)},
	} {
		b := &store.Batch{Epoch: w.lease.Epoch}
		b.Cut(c)
		if err := w.engine.Commit(t.Context(), b); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("cut %+v: %v", c, err)
		}
	}
}

// testAnnouncer: an engine that announces tells of what another one commits, and of
// nothing more when its listener has gone.
func testAnnouncer(t *testing.T, s Store) {
	w := open(t, s)
	reader := w.engine
	if s.Shared {
		reader = s.Open(t)
		defer reader.Close() //nolint:errcheck // the test is over
	}
	announcer, ok := reader.(store.Announcer)
	if !ok {
		return // an ability that an engine need not have
	}
	ctx, stop := context.WithCancel(t.Context())
	changes := announcer.Changes(ctx, store.Writer)
	for i, heard := uint64(0), false; !heard; i++ { // the listener may begin later than this
		w.commit(func(b *store.Batch) {
			b.Put(store.Key{Table: single, Sort: []byte("n")}, store.AppendUint64(nil, i))
		})
		select {
		case _, heard = <-changes:
			if !heard {
				t.Fatal("the channel was closed")
			}
		default:
		}
	}
	stop()
	for range changes { // until it is closed
	}
}
