package ledger

import (
	"math/big"
	"testing"
	"time"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/privacypool"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/registry"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble/pebbletest"
)

// TestAssetLimit: a stranger who deposits token after token makes the ledger degraded
// and not its answers long, whatever the size of the steps.
func TestAssetLimit(t *testing.T) {
	pools := []registry.PrivacyPool{{Address: felt.FromUint64(1), FeeToken: felt.FromUint64(2)}}
	var first []byte
	for _, size := range []int{50, 333, 5000} {
		e := pebbletest.Open(t, Enrichment())
		lease, err := e.Acquire(t.Context(), store.Writer, "test", time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		g := New(1, 0, pools)
		for n := 0; n < MaxAssets+300; n += size {
			batch := &store.Batch{}
			err := e.View(t.Context(), func(r store.Reader) error {
				b, err := openBook(t.Context(), r, g, 0)
				if err != nil {
					return err
				}
				for i := n; i < min(n+size, MaxAssets+300); i++ {
					token, actor := felt.FromUint64(uint64(1000+(i*7919)%(MaxAssets+300))), felt.FromUint64(9)
					own := ownEvent{known: true, status: privacypool.Decoded, fact: privacypool.Fact{Kind: privacypool.Deposit, Group: privacypool.ValueIn, Name: "deposit", Token: &token, Actor: &actor, Amount: big.NewInt(5)}}
					if err := b.apply(&transaction{Position: explorer.Position{Block: uint64(i)}, time: 7200, own: []ownEvent{own}}); err != nil {
						return err
					}
				}
				if n+size >= MaxAssets+300 {
					b.closeHour(&block.Summary{Header: starknet.Header{Number: MaxAssets + 300, Timestamp: 7300}})
				}
				b.put(batch)
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			batch.Under(lease)
			if err := e.Commit(t.Context(), batch); err != nil {
				t.Fatal(err)
			}
		}
		gap := g.Degraded()
		if gap == nil || gap.Reason != AssetLimitExceeded || gap.First.Block != MaxAssets || gap.Count != 300 || g.TokenCount != MaxAssets+300 {
			t.Fatalf("steps of %d: %+v", size, g.Gaps)
		}
		l := &Ledger{Generation: g}
		err = e.View(t.Context(), func(r store.Reader) error {
			assets, truncated, err := l.Assets(t.Context(), r)
			if err != nil || !truncated || len(assets) != MaxAssets {
				t.Errorf("steps of %d: %d assets, truncated %t: %v", size, len(assets), truncated, err)
			}
			points, _, err := l.Hours(t.Context(), r, 0, 1<<40, 24)
			if err != nil || len(points) != 1 || len(points[0].Assets) != MaxAssets || points[0].Complete() {
				t.Errorf("steps of %d: %d points: %v", size, len(points), err)
			}
			snapshot, err := r.Get(t.Context(), g.key(Snapshots, hourSort(7200)))
			if first == nil {
				first = snapshot
			}
			if string(first) != string(snapshot) {
				t.Errorf("steps of %d make another snapshot", size)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestWindows: a window ends with the bucket that the ledger is in, never begins before
// the first event, and never reads more rows than it may.
func TestWindows(t *testing.T) {
	const day = uint64(daySeconds)
	g := &Generation{First: &explorer.Place{}, FirstTime: 10*day + 5, Time: 10_000*day + 7}
	for _, x := range []struct {
		w           Window
		kept        Length
		first, last uint64
		some        bool
	}{
		{Window{Day, 3}, Day, 9_998 * day, 10_000 * day, true},
		{Window{Day, 1 << 30}, Day, (10_000 - MaxBuckets + 1) * day, 10_000 * day, true},
		{Window{Hour, 24}, Hour, 10_000*day - 23*3600, 10_000 * day, true},
		{Window{Week, 2}, Day, Week.Start(9_993 * day), Week.Start(10_000 * day), true},
		{Window{Day, 0}, 0, 0, 0, false},
	} {
		kept, first, last, some := x.w.span(g)
		if some != x.some || some && (kept != x.kept || first != x.first || last != x.last) {
			t.Errorf("%+v: %d, %d to %d, %t", x.w, kept, first, last, some)
		}
		if some && (last+x.w.Length.Seconds()-first)/kept.Seconds() > MaxBuckets {
			t.Errorf("%+v reads too much", x.w)
		}
	}
	g.Time = 11*day + 1
	if _, first, last, _ := (Window{Day, 90}).span(g); first != 10*day || last != 11*day {
		t.Errorf("%d to %d", first, last)
	}
}

// TestFresh: a ledger is fresh near the finalized block, on both sides, once it has
// caught up.
func TestFresh(t *testing.T) {
	l := &Ledger{Generation: &Generation{Some: true, Through: 1000}}
	for finalized, want := range map[uint64]bool{1000: true, 1000 + FreshLag: true, 1001 + FreshLag: false, 1000 - FreshLag: true, 999 - FreshLag: false} {
		if l.Fresh(finalized) != want {
			t.Errorf("fresh at %d with %d finalized: %t", l.Through, finalized, !want)
		}
	}
	if l.Lag(1005) != 5 || l.Lag(990) != 0 {
		t.Error("the lag is wrong")
	}
	if l.Backfilling = true; l.Fresh(1000) {
		t.Error("a ledger that is being made is fresh")
	}
}
