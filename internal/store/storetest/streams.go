package storetest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"chainexplorer/internal/store"
)

// rising is the key of a row of the ascending table.
func rising(n int) store.Key {
	return store.Key{Table: last, Partition: []byte{byte(n >> 8), byte(n)}, Sort: []byte("row")}
}

// block is a list with a row of the ascending table for each number, and rows of another
// table between them, which no stream takes.
func block(value string, numbers ...int) *store.Changes {
	c := &store.Changes{}
	for _, n := range numbers {
		k := rising(n)
		c.Put(k.Table, k.Partition, k.Sort, []byte(value))
		c.Put(narrow, []byte("s"), k.Partition, nil)
	}
	return c
}

// risen are the rows of the ascending table, and of the other one of blocks.
func (w *writer) risen() map[string]string {
	out := map[string]string{}
	w.view(func(ctx context.Context, r store.Reader) {
		for _, t := range []*store.Table{last, narrow} {
			for row, err := range r.Walk(ctx, t, nil) {
				if err != nil {
					w.t.Fatal(err)
				}
				out[fmt.Sprintf("%s %x %s", t.Name, row.Partition, row.Sort)] = string(row.Value)
			}
		}
	})
	return out
}

func (w *writer) stream(blocks ...*store.Changes) store.Stream {
	w.t.Helper()
	s := w.engine.(store.Streamer).Stream()
	for _, c := range blocks {
		if err := s.Add(w.t.Context(), c); err != nil {
			w.t.Fatal(err)
		}
	}
	return s
}

// testStreamer: the rows of a stream are there with the commit of its batch, not before, and
// take the place of earlier ones.
func testStreamer(t *testing.T, s Store) {
	w := open(t, s)
	if _, able := w.engine.(store.Streamer); !able {
		return // an ability that an engine need not have
	}
	head := key(single, "", "head")
	want := map[string]string{}
	for round, blocks := range []int{0, 1, 40, 3} {
		value := fmt.Sprintf("%0200d", round)
		var lists []*store.Changes
		size := 0
		for i := range blocks {
			from := 20*round + 4*i // the last round writes rows of the one before again
			c := block(value, from, from+1, from+2)
			gone := rising(from + 3)
			c.Delete(gone.Table, gone.Partition, gone.Sort)
			lists = append(lists, c)
			for n := from; n < from+3; n++ {
				want[fmt.Sprintf("last %04x row", n)] = value
				size += 2 + 3 + len(value)
			}
			delete(want, fmt.Sprintf("last %04x row", from+3))
			size += 2 + 3
		}
		before := w.risen()
		b := &store.Batch{Epoch: w.lease.Epoch}
		b.Put(head, []byte(value))
		held := b.Bytes()
		b.Attach(w.stream(lists...))
		if b.Bytes() != held+size || b.Held() != held || b.Stream().Bytes() != size {
			t.Errorf("a batch of %d bytes and %d of a stream says %d and %d", held, size, b.Held(), b.Bytes())
		}
		if got := w.risen(); !maps.Equal(got, before) {
			t.Errorf("round %d: rows are there before the commit", round)
		}
		stats, err := w.engine.Stats(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := w.engine.Commit(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		after, err := w.engine.Stats(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got := after.CommitBytes - stats.CommitBytes; got != uint64(held+size) {
			t.Errorf("round %d: a commit of %d bytes is counted as %d", round, held+size, got)
		}
		if got := w.risen(); !maps.Equal(got, want) {
			t.Errorf("round %d: there is %v, want %v", round, got, want)
		}
		b.Stream().Drop() // it has ended
	}
	if err := w.engine.Close(); err != nil {
		t.Fatal(err)
	}
	w = open(t, s)
	if got := w.risen(); !maps.Equal(got, want) {
		t.Errorf("in the store that is opened again there is %v, want %v", got, want)
	}
}

// foreign is a stream of no engine.
type foreign struct{}

func (foreign) Add(context.Context, *store.Changes) error { return nil }
func (foreign) Bytes() int                                { return 0 }
func (foreign) Held() int                                 { return 0 }
func (foreign) Drop()                                     {}

// testStreamerRefusals: what cannot be committed leaves nothing, and ends the stream.
func testStreamerRefusals(t *testing.T, s Store) {
	w := open(t, s)
	batch := func(of store.Stream) *store.Batch {
		b := &store.Batch{Epoch: w.lease.Epoch}
		b.Put(key(single, "", "head"), []byte("refused"))
		b.Attach(of)
		return b
	}
	if err := w.engine.Commit(t.Context(), batch(foreign{})); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("a stream of no engine: %v", err)
	}
	if _, able := w.engine.(store.Streamer); !able {
		return // an ability that an engine need not have
	}
	b := &store.Batch{Epoch: w.lease.Epoch}
	b.Attach(w.stream(block("there", 1, 2, 3)))
	if err := w.engine.Commit(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	want := w.risen()
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, refuse := range map[string]func() (error, error){
		"another lease": func() (error, error) {
			b := batch(w.stream(block("v", 4), block("v", 5)))
			b.Epoch++
			return w.engine.Commit(t.Context(), b), store.ErrFenced
		},
		"canceled": func() (error, error) {
			return w.engine.Commit(canceled, batch(w.stream(block("v", 4)))), context.Canceled
		},
		"canceled before": func() (error, error) {
			of := w.stream(block("v", 4))
			if err := of.Add(canceled, block("v", 5)); !errors.Is(err, context.Canceled) {
				t.Errorf("add with a canceled context: %v", err)
			}
			return w.engine.Commit(t.Context(), batch(of)), context.Canceled
		},
		"cuts beside it": func() (error, error) {
			b := batch(w.stream(block("v", 4)))
			b.Cut(store.Cut{Table: narrow, Partition: []byte("s")})
			return w.engine.Commit(t.Context(), b), store.ErrInvalid
		},
		"ascending rows beside it": func() (error, error) {
			b := batch(w.stream(block("v", 4)))
			b.Put(rising(5), []byte("v"))
			return w.engine.Commit(t.Context(), b), store.ErrInvalid
		},
		"dropped": func() (error, error) {
			of := w.stream(block("v", 4))
			of.Drop()
			of.Drop()
			return w.engine.Commit(t.Context(), batch(of)), store.ErrInvalid
		},
		"emptied": func() (error, error) {
			of := w.stream(block("v", 4))
			b := batch(of)
			if b.Reset(); b.Stream() != nil || b.Bytes() != 0 {
				t.Errorf("an empty batch has %d bytes", b.Bytes())
			}
			return of.Add(t.Context(), block("v", 5)), store.ErrInvalid
		},
		"committed twice": func() (error, error) {
			b := &store.Batch{Epoch: w.lease.Epoch}
			b.Attach(w.stream(block("there", 3)))
			if err := w.engine.Commit(t.Context(), b); err != nil {
				t.Error(err)
			}
			return w.engine.Commit(t.Context(), b), store.ErrInvalid
		},
		"a key twice": func() (error, error) {
			of := w.stream(block("v", 4, 5))
			if err := of.Add(t.Context(), block("v", 5)); !errors.Is(err, store.ErrInvalid) {
				t.Errorf("a key twice: %v", err)
			}
			return w.engine.Commit(t.Context(), batch(of)), store.ErrInvalid
		},
		"falling keys": func() (error, error) {
			of := w.stream()
			if err := of.Add(t.Context(), block("v", 5, 4)); !errors.Is(err, store.ErrInvalid) {
				t.Errorf("falling keys: %v", err)
			}
			return w.engine.Commit(t.Context(), batch(of)), store.ErrInvalid
		},
		"a foreign table": func() (error, error) {
			c := &store.Changes{}
			c.Put(&store.Table{ID: 253, Name: "foreign", Ascending: true}, nil, nil, nil)
			of := w.stream()
			return of.Add(t.Context(), c), store.ErrInvalid
		},
	} {
		if got, want := refuse(); !errors.Is(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
		if got := w.risen(); !maps.Equal(got, want) {
			t.Errorf("%s: there is %v, want %v", name, got, want)
		}
	}
	left := w.stream(block("v", 4, 5))
	if err := w.engine.Close(); err != nil {
		t.Fatal(err)
	}
	if err := left.Add(t.Context(), block("v", 6)); !errors.Is(err, store.ErrClosed) {
		t.Errorf("add to a closed store: %v", err)
	}
	left.Drop()
	if err := w.engine.Commit(t.Context(), batch(left)); !errors.Is(err, store.ErrClosed) {
		t.Errorf("commit to a closed store: %v", err)
	}
	w = open(t, s)
	if got := w.risen(); !maps.Equal(got, want) {
		t.Errorf("in the store that is opened again there is %v, want %v", slices.Collect(maps.Keys(got)), want)
	}
}
