package places_test

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/places"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble/pebbletest"
	"chainexplorer/internal/store/record"
)

var table = &store.Table{ID: 9, Name: "list", PartitionLen: 1}

// TestPages walks random lists, alone and joined, with every page size.
func TestPages(t *testing.T) {
	e := pebbletest.Open(t, []*store.Table{table})
	lease, err := e.Acquire(t.Context(), store.Writer, "test", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	batch := &store.Batch{Epoch: lease.Epoch}
	var all [2][]explorer.Place // newest first
	for l := range all {
		for block := range uint64(40) {
			var spots []places.Spot
			for tx := range uint32(4) {
				for sub := range uint32(3) {
					if rng.IntN(4) == 0 {
						spots = append(spots, places.Spot{Tx: tx * 200, Sub: sub * 100})
					}
				}
			}
			if len(spots) == 0 {
				continue
			}
			batch.Put(store.Key{Table: table, Partition: []byte{byte(l)}, Sort: explorer.BlockKey(block)}, places.Encode(nil, spots))
			for _, s := range spots {
				all[l] = append(all[l], s.In(block))
			}
		}
		slices.Reverse(all[l])
	}
	if err := e.Commit(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	lists := []places.List{{Table: table, Partition: []byte{0}}, {Table: table, Partition: []byte{1}}}
	joined := slices.Concat(all[0], all[1])
	slices.SortFunc(joined, func(a, b explorer.Place) int {
		if b.Before(a) {
			return -1
		} else if a.Before(b) {
			return 1
		}
		return 0
	})
	err = e.View(t.Context(), func(r store.Reader) error {
		for _, c := range []struct {
			lists []places.List
			want  []explorer.Place
		}{{lists[:1], all[0]}, {lists[1:], all[1]}} {
			for limit := 1; limit < 9; limit++ {
				for _, from := range []uint64{0, 17} {
					want := c.want
					if n := slices.IndexFunc(want, func(p explorer.Place) bool { return p.Block < from }); n >= 0 {
						want = want[:n]
					}
					var got []explorer.Place
					before := explorer.EndOf(1 << 40)
					for more := true; more; {
						var hits []places.Hit
						hits, more, err = places.Page(t.Context(), r, places.Query{Lists: c.lists, Before: before, From: from, Limit: limit})
						if err != nil {
							return err
						}
						if more && len(hits) != limit {
							t.Fatalf("%d hits of %d and more", len(hits), limit)
						}
						for _, h := range hits {
							got = append(got, h.Place)
						}
						before = got[len(got)-1]
					}
					if !reflect.DeepEqual(got, want) {
						t.Fatalf("limit %d: %v, want %v", limit, got, want)
					}
				}
			}
		}
		hits, more, err := places.Page(t.Context(), r, places.Query{Lists: lists, Before: explorer.EndOf(1 << 40), Limit: 1000})
		if err != nil || more || len(hits) != len(joined) {
			t.Fatalf("%d hits, %t, %v", len(hits), more, err)
		}
		for i, h := range hits {
			if h.Place != joined[i] {
				t.Fatalf("place %d is %v, want %v", i, h, joined[i])
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// FuzzDecode: what is accepted is what Encode writes.
func FuzzDecode(f *testing.F) {
	f.Add(places.Encode(nil, []places.Spot{{Tx: 0, Sub: 0}, {Tx: 0, Sub: 3}, {Tx: 300, Sub: 1}}))
	f.Add([]byte{1, 0, 1, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		spots, err := places.Decode(nil, b)
		if err != nil {
			if !errors.Is(err, record.ErrCorrupt) {
				t.Fatal(err)
			}
			return
		}
		if again := places.Encode(nil, spots); string(again) != string(b) {
			t.Fatalf("%x reads as %v, which is %x", b, spots, again)
		}
	})
}
