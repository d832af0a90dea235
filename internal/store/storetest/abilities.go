package storetest

import (
	"context"
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
