package storetest

import (
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"chainexplorer/internal/store"
)

// testSeries: rows of series that are settled read like all others, beside those that are
// not, which can still go.
func testSeries(t *testing.T, s Store) {
	commits := 30
	if s.Brief {
		commits = 10
	}
	rnd := random{rand.New(rand.NewPCG(7, 1))}
	w, m, next, settled := open(t, s), model{}, uint64(0), uint64(0)
	_, cutter := w.engine.(store.Cutter)
	for range commits {
		b := &store.Batch{Epoch: w.lease.Epoch}
		streamer, streams := w.engine.(store.Streamer)
		if streams = streams && rnd.IntN(2) == 0; streams {
			b.Attach(streamer.Stream())
		}
		for range 1 + rnd.IntN(30) {
			list := &store.Batch{}
			for range rnd.IntN(8) {
				list.Put(rnd.seriesKey(next), rnd.bytes([]int{0, 1, 1, 20, 20, 300}[rnd.IntN(6)]))
			}
			if streams {
				w.add(b, m, list)
			} else {
				for _, op := range list.Ops() {
					b.Put(op.Key, op.Value)
				}
			}
			next += []uint64{1, 1, 1, 3, 1 << 33}[rnd.IntN(5)]
		}
		if rnd.IntN(2) == 0 {
			b.Settled, settled = next, next
		} else if !streams {
			for range rnd.IntN(20) {
				k := rnd.seriesKey(settled + rnd.Uint64N(next-settled))
				switch {
				case rnd.IntN(2) == 0:
					b.Delete(k)
				case cutter:
					b.Cut(store.Cut{Table: series, Partition: k.Partition, From: k.Sort, To: store.PrefixEnd(k.Sort[:1])})
				}
			}
		}
		if err := w.engine.Commit(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		m.apply(b)
		w.view(func(ctx context.Context, r store.Reader) { m.checkSeries(ctx, t, r, rnd) })
		switch rnd.IntN(20) {
		case 0:
			if err := w.engine.Close(); err != nil {
				t.Fatal(err)
			}
			w = open(t, s)
		case 1:
			if err := w.engine.Compact(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	w.view(func(ctx context.Context, r store.Reader) { m.checkWalk(ctx, t, r) })
	m.checkSettled(t, w, rnd, settled)
	dir := s.CopyDir(t)
	if err := w.engine.Checkpoint(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	copied := s.OpenCopy(t, dir)
	defer copied.Close() //nolint:errcheck // the test is over
	view(t, copied, func(ctx context.Context, r store.Reader) { m.checkWalk(ctx, t, r) })
}

// add hands rows to the stream of a batch, each once, and to the model.
func (w *writer) add(b *store.Batch, m model, rows *store.Batch) {
	w.t.Helper()
	var list store.Changes
	seen := map[string]bool{}
	for _, op := range rows.Ops() {
		if name := string(op.Partition) + string(op.Sort); !seen[name] {
			seen[name] = true
			list.Put(op.Table, op.Partition, op.Sort, op.Value)
		}
	}
	if err := b.Stream().Add(w.t.Context(), &list); err != nil {
		w.t.Fatal(err)
	}
	taken := &store.Batch{}
	for _, op := range list.AppendOps(nil) {
		taken.Put(op.Key, op.Value)
	}
	m.apply(taken)
}

// checkSettled: a change of what is settled is made, or refused as a whole.
func (m model) checkSettled(t *testing.T, w *writer, rnd random, settled uint64) {
	t.Helper()
	for _, k := range m.sorted() {
		if k.table != series || binary.BigEndian.Uint64([]byte(k.sort[1:])) >= settled {
			continue
		}
		b := &store.Batch{Epoch: w.lease.Epoch}
		b.Delete(store.Key{Table: series, Partition: []byte(k.partition), Sort: []byte(k.sort)})
		b.Put(rnd.seriesKey(settled), []byte("beside"))
		err := w.engine.Commit(t.Context(), b)
		if err == nil {
			m.apply(b)
		} else if !errors.Is(err, store.ErrInvalid) {
			t.Fatalf("a change of a settled row: %v", err)
		}
		w.view(func(ctx context.Context, r store.Reader) { m.checkWalk(ctx, t, r) })
		return
	}
	t.Fatal("nothing was settled")
}

func (r random) seriesKey(number uint64) store.Key {
	return store.Key{Table: series, Partition: r.partition(series), Sort: binary.BigEndian.AppendUint64(r.bytes(1), number)}
}

// seriesBound is a bound at a row, behind it, at its number's neighbours, in the middle of
// its number, or between series.
func (r random) seriesBound(sorts []string) []byte {
	if len(sorts) == 0 || r.IntN(5) == 0 {
		return r.bound()
	}
	at := []byte(sorts[r.IntN(len(sorts))])
	switch n := binary.BigEndian.Uint64(at[1:]); r.IntN(5) {
	case 0:
		return store.After(at)
	case 1:
		return binary.BigEndian.AppendUint64(at[:1:1], n+1)
	case 2:
		return binary.BigEndian.AppendUint64(at[:1:1], n-1)
	case 3:
		return at[:1+r.IntN(len(at))]
	}
	return at
}

// checkSeries compares some reads of each kind with the model.
func (m model) checkSeries(ctx context.Context, t *testing.T, r store.Reader, rnd random) {
	t.Helper()
	var keys []store.Key
	sorts := map[string][]string{}
	for _, k := range m.sorted() {
		sorts[k.partition] = append(sorts[k.partition], k.sort)
		keys = append(keys, store.Key{Table: series, Partition: []byte(k.partition), Sort: []byte(k.sort)})
		missing := rnd.seriesKey(binary.BigEndian.Uint64([]byte(k.sort[1:])) + uint64(rnd.IntN(3)))
		keys = append(keys, missing)
	}
	rnd.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	keys = keys[:min(len(keys), 200)]
	values, err := r.GetMany(ctx, keys)
	if err != nil {
		t.Fatal(err)
	}
	for i, k := range keys {
		want, ok := m[modelKey{k.Table, string(k.Partition), string(k.Sort)}]
		if string(values[i]) != want || (values[i] != nil) != ok {
			t.Fatalf("GetMany %x %x = %.40q, want %.40q, %t", k.Partition, k.Sort, values[i], want, ok)
		}
		v, err := r.Get(ctx, k)
		if string(v) != want || errors.Is(err, store.ErrNotFound) == ok || (err != nil && ok) {
			t.Fatalf("Get %x %x = %.40q, %v, want %.40q, %t", k.Partition, k.Sort, v, err, want, ok)
		}
	}
	for range 60 {
		p := rnd.partition(series)
		rg := store.Range{
			Table: series, Partition: p, Reverse: rnd.IntN(2) == 0, Limit: 1 + rnd.IntN(100),
			From: rnd.seriesBound(sorts[string(p)]), To: rnd.seriesBound(sorts[string(p)]),
		}
		got, err := scan(ctx, r, rg)
		if want := m.scan(rg); err != nil || !slices.Equal(got, want) {
			t.Fatalf("scan from %x to %x of %x, reverse %t, limit %d = %d rows, %v, want %d:\n%.200q\n%.200q", rg.From, rg.To, p, rg.Reverse, rg.Limit, len(got), err, len(want), got, want)
		}
	}
}
