package privacypool_test

import (
	"slices"
	"testing"
	"time"

	"chainexplorer/internal/explorer/privacypool/ledger"
	"chainexplorer/internal/job/privacypool"
	"chainexplorer/internal/registry"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/simnode/contracts"
	"chainexplorer/internal/store"
)

const troubled = 40 // the block of the trouble

func newTrouble(t *testing.T, kinds ...simnode.PoolTroubleKind) *world {
	t.Helper()
	c := simnode.Config{Seed: 21, Blocks: 70, PoolUses: 1, BlockTime: 17 * time.Minute}
	for i, k := range kinds {
		c.PoolTrouble = append(c.PoolTrouble, simnode.PoolTrouble{Block: troubled + uint64(i), Kind: k})
	}
	return newWorld(t, c)
}

// points are all hours of the ledger.
func (w *world) points(l *ledger.Ledger) (out []ledger.Point) {
	w.t.Helper()
	w.view(func(r store.Reader) {
		for from := uint64(1); from != 0; {
			page, next, err := l.Hours(w.t.Context(), r, from, 1<<60, ledger.MaxHours)
			if err != nil {
				w.t.Fatal(err)
			}
			out, from = append(out, page...), next
		}
	})
	return out
}

// assets are those of the ledger, by token.
func (w *world) assets(l *ledger.Ledger) (out []ledger.Asset) {
	w.t.Helper()
	w.view(func(r store.Reader) {
		var err error
		if out, _, err = l.Assets(w.t.Context(), r); err != nil {
			w.t.Fatal(err)
		}
	})
	return out
}

// TestTrouble: what cannot be read, or what the protocol rules out, degrades the ledger
// from its place on, with the reason and nothing else.
func TestTrouble(t *testing.T) {
	for name, x := range map[string]struct {
		kind   simnode.PoolTroubleKind
		reason ledger.Reason
		asset  ledger.Reason // of the token in trouble
		others ledger.Reason
		check  func(l *ledger.Ledger, a *ledger.Asset) bool
	}{
		"class": {simnode.TroubleClass, ledger.UnknownPoolClass, ledger.AmountDecodeIncomplete, ledger.AmountDecodeIncomplete,
			func(l *ledger.Ledger, _ *ledger.Asset) bool {
				return l.UnknownClassEvents > 0 && l.UnknownSelectors == 0
			}},
		"there and back": {simnode.TroubleThereAndBack, ledger.UnknownPoolClass, ledger.AmountDecodeIncomplete, ledger.AmountDecodeIncomplete,
			func(l *ledger.Ledger, _ *ledger.Asset) bool {
				return l.UnknownClassEvents >= 2 && l.UnknownSelectors == 0
			}},
		"selector": {simnode.TroubleSelector, ledger.UnknownSelector, ledger.AmountDecodeIncomplete, ledger.AmountDecodeIncomplete,
			func(l *ledger.Ledger, _ *ledger.Asset) bool {
				return l.UnknownSelectors == 1 && l.MissingAmounts == 0 && l.CountOf("protocol_event") == 1
			}},
		"no amount": {simnode.TroubleNoAmount, ledger.AmountDecodeIncomplete, ledger.AmountDecodeIncomplete, ledger.FinalizedPublicFlow,
			func(l *ledger.Ledger, a *ledger.Asset) bool {
				return l.MissingAmounts == 1 && a.MissingAmounts == 1 && l.Unscoped == 0
			}},
		"huge amount": {simnode.TroubleHugeAmount, ledger.AmountDecodeIncomplete, ledger.AmountDecodeIncomplete, ledger.FinalizedPublicFlow,
			func(l *ledger.Ledger, a *ledger.Asset) bool { return l.MissingAmounts == 1 && a.MissingAmounts == 1 }},
		"overdrawn": {simnode.TroubleOverdrawn, ledger.NegativeProtectedAmount, ledger.NegativeProtectedAmount, ledger.FinalizedPublicFlow,
			func(_ *ledger.Ledger, a *ledger.Asset) bool { return a.NegativeSince.Block == troubled }},
		"note twice":      {simnode.TroubleNote, ledger.DuplicateCommitment, ledger.FinalizedPublicFlow, ledger.FinalizedPublicFlow, nil},
		"nullifier twice": {simnode.TroubleNullifier, ledger.DuplicateNullifier, ledger.FinalizedPublicFlow, ledger.FinalizedPublicFlow, nil},
		"unfunded":        {simnode.TroubleUnfunded, ledger.OpenNoteUnpaired, ledger.FinalizedPublicFlow, ledger.FinalizedPublicFlow, nil},
		"no transfer": {simnode.TroubleNoTransfer, "", ledger.FinalizedPublicFlow, ledger.FinalizedPublicFlow,
			func(l *ledger.Ledger, a *ledger.Asset) bool { return l.Unreconciled == 1 && a.Unreconciled == 1 }},
	} {
		t.Run(name, func(t *testing.T) {
			w := newTrouble(t, x.kind)
			w.events, w.hours = 9, 3
			w.run(nil, nil)
			l := w.read()
			gap := l.Degraded()
			if (gap == nil) != (x.reason == "") || gap != nil && (gap.Reason != x.reason || gap.First.Block != troubled || len(l.Gaps) != 1) {
				t.Fatalf("%+v, want %s", l.Gaps, x.reason)
			}
			for _, a := range w.assets(l) {
				want := x.others
				if a.Token == contracts.STRK {
					if want = x.asset; x.check != nil && !x.check(l, &a) {
						t.Errorf("%+v of %+v", a, *l.Generation)
					}
				}
				if a.Reason != want {
					t.Errorf("%s is %s, want %s", a.Token, a.Reason, want)
				}
			}
			var sound, degraded int
			for _, p := range w.points(l) {
				if want := p.AsOf < troubled || x.reason == ""; p.Complete() != want || !want && p.Gap != x.reason {
					t.Fatalf("hour %d as of block %d: %s", p.Hour, p.AsOf, p.Gap)
				}
				if p.Complete() {
					sound++
				} else {
					degraded++
				}
				if p.AsOf < troubled {
					w.sameAssets(p.Assets, p.AsOf, false)
				}
			}
			if sound < 3 || degraded < 3 && x.reason != "" {
				t.Fatalf("%d sound and %d degraded hours", sound, degraded)
			}
		})
	}
}

// stranger is the registry after an operator has added the class that nobody knew.
func stranger(pools []registry.PrivacyPool) []registry.PrivacyPool {
	pools = slices.Clone(pools)
	pools[0].Classes = append(slices.Clone(pools[0].Classes), registry.PoolClass{Hash: contracts.PoolStranger().Hash, Generation: registry.PoolV21})
	slices.SortFunc(pools[0].Classes, func(a, b registry.PoolClass) int { return a.Hash.Cmp(b.Hash) })
	return pools
}

// TestHeals: a ledger that met a class that nobody knew goes on being served, degraded,
// until the one that is made with that class has caught up.
func TestHeals(t *testing.T) {
	w := newTrouble(t, simnode.TroubleClass)
	w.run(nil, nil)
	before := w.read()
	if gap := before.Degraded(); gap == nil || gap.Reason != ledger.UnknownPoolClass {
		t.Fatalf("%+v", before.Gaps)
	}
	w.pools, w.events, w.hours, w.rows = stranger(w.pools), 5, 2, 7
	healed := false
	w.run(nil, func() {
		switch l := w.read(); {
		case l == nil:
			t.Fatal("nothing is served")
		case l.Number == before.Number:
			if healed || !l.Outdated || l.Through != before.Through || l.Degraded() == nil {
				t.Fatalf("generation %d is served again, outdated %t", l.Number, l.Outdated)
			}
			w.assets(l)
		default:
			healed = true
			if l.Degraded() != nil || l.Outdated || l.Backfilling {
				t.Fatalf("%+v", l.Gaps)
			}
		}
	})
	if !healed {
		t.Fatal("the ledger was not made anew")
	}
	w.view(func(r store.Reader) { w.check(r, w.read()) })
	w.noOthers()
}

// noOthers says that no rows are left but those of the generation that is served.
func (w *world) noOthers() {
	w.t.Helper()
	w.view(func(r store.Reader) {
		s, err := ledger.ReadState(w.t.Context(), r)
		if err != nil || s.Building != nil || len(s.Dead) != 0 {
			w.t.Fatalf("%+v: %v", s, err)
		}
		for _, table := range ledger.Kept() {
			for e, err := range r.Walk(w.t.Context(), table, nil) {
				if err != nil {
					w.t.Fatal(err)
				}
				if string(e.Partition) != string(ledger.Partition(s.Serving.Number)) {
					w.t.Fatalf("a row of generation %x is left in %s", e.Partition, table.Name)
				}
			}
		}
	})
}

// TestRematerialize: the operator's word makes a new generation beside the one that is
// served, which goes on with the chain meanwhile. A second word begins anew.
func TestRematerialize(t *testing.T) {
	w := newTrouble(t)
	w.run(nil, nil)
	first := w.read()
	ask := func(want uint64) {
		t.Helper()
		if n, err := privacypool.Rematerialize(t.Context(), w.engine, "test"); err != nil || n != want {
			t.Fatal(n, err)
		}
	}
	ask(1)
	w.events, w.hours, w.rows = 20, 5, 50
	w.chain.Extend(3)
	w.catchUp()
	commits, numbers := 0, map[uint32]bool{}
	w.run(nil, func() {
		if commits++; commits == 4 {
			ask(2)
		}
		l := w.read()
		if l == nil || l.Backfilling || l.Degraded() != nil {
			t.Fatalf("%+v", l)
		}
		if numbers[l.Number] = true; l.Number == first.Number && commits > 2 && l.Through != first.Through+3 {
			t.Fatalf("generation %d stays behind at block %d while another is made", l.Number, l.Through)
		}
		w.view(func(r store.Reader) {
			assets, _, err := l.Assets(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			w.sameAssets(assets, l.Through, true)
		})
	})
	last := w.read()
	if last.Request != 2 || len(numbers) != 2 || !numbers[first.Number] || last.Number != first.Number+2 {
		t.Fatalf("generations %v were served, the last one answers request %d", numbers, last.Request)
	}
	w.noOthers()
	if got := w.problems(); len(got) != 0 {
		t.Fatal(got)
	}
	fresh := w.fresh(memory(t))
	fresh.run(nil, nil)
	if w.dump() != fresh.dump() {
		t.Fatal("the new generation has other rows than a fresh one")
	}
}

// TestOtherPools: a ledger of other pools than the registry's is not shown, and makes
// room for one of these.
func TestOtherPools(t *testing.T) {
	w := newTrouble(t)
	w.run(nil, nil)
	first := w.read()
	w.pools = append(slices.Clone(w.pools), registry.PrivacyPool{Address: contracts.STRK, Name: "another", Classes: w.pools[0].Classes, FeeToken: contracts.STRK})
	slices.SortFunc(w.pools, func(a, b registry.PrivacyPool) int { return a.Address.Cmp(b.Address) })
	if l := w.read(); l != nil {
		t.Fatalf("%d pools are shown for %d", len(l.Pools), len(w.pools))
	}
	w.run(nil, nil)
	if l := w.read(); l == nil || l.Number == first.Number || len(l.Pools) != 2 || l.Degraded() == nil { // a token is no pool
		t.Fatalf("%+v", l)
	}
	w.pools = nil
	w.run(nil, nil)
	w.view(func(r store.Reader) {
		s, err := ledger.ReadState(t.Context(), r)
		if err != nil || s.Serving != nil || s.Building != nil || len(s.Dead) != 0 {
			t.Fatalf("%+v: %v", s, err)
		}
	})
}

// TestQuietHours: an hour in which nothing happened has a point and no snapshot of its own.
func TestQuietHours(t *testing.T) {
	w := newWorld(t, simnode.Config{Seed: 2, Blocks: 40, BlockTime: 2*time.Hour + 7*time.Minute})
	w.run(nil, nil)
	l := w.read()
	points, snapshots := w.points(l), 0
	w.view(func(r store.Reader) {
		for _, err := range r.Walk(t.Context(), ledger.Snapshots, nil) {
			if err != nil {
				t.Fatal(err)
			}
			snapshots++
		}
	})
	blocks := map[uint64]bool{}
	for _, f := range w.chain.PoolFacts(0, l.Through) {
		blocks[f.Block] = true
	}
	if snapshots > len(blocks) || snapshots < 3 || len(points) < 2*snapshots {
		t.Fatalf("%d snapshots of %d points, %d blocks with events", snapshots, len(points), len(blocks))
	}
	w.view(func(r store.Reader) { w.checkHours(r, l) })
}
