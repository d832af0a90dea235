package privacypool_test

import (
	"testing"
	"time"

	"chainexplorer/internal/explorer/privacypool/ledger"
	"chainexplorer/internal/simnode"
)

// TestTimesOfAnyKind: what a block costs does not depend on the time that a node tells of
// it. The hours that no block is near have no points, every point says what the chain had
// at its block, and nothing is lost of what the pools did.
func TestTimesOfAnyKind(t *testing.T) {
	const blocks, odd = 60, 30
	start := uint64(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Unix())
	last := uint64(time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC).Unix())
	jump := func(by uint64) map[uint64]uint64 {
		out := map[uint64]uint64{}
		for n := uint64(odd); n < blocks; n++ {
			out[n] = start + n*1800 + by
		}
		return out
	}
	const hour = 3600
	for name, c := range map[string]struct {
		times map[uint64]uint64
		holes bool // hours without points
	}{
		"as they should be":      {nil, false},
		"a month stands still":   {jump(30 * 24 * hour), false},
		"a century stands still": {jump(100 * 366 * 24 * hour), true},
		"all from far ahead":     {jump(last - start - blocks*1800), true},
		"one from far ahead":     {map[uint64]uint64{odd: last}, false},
		"one from long ago":      {map[uint64]uint64{odd: 0}, false},
		"back by some hours":     {map[uint64]uint64{odd: start + odd*1800 + 9*hour}, false},
	} {
		w := newWorld(t, simnode.Config{Seed: 21, Blocks: blocks, PoolUses: 2, BlockTime: 30 * time.Minute, Times: c.times})
		steps := 0
		w.hours = 50
		w.run(nil, func() { steps++ })
		l := w.read()
		if steps > 40 || l == nil || l.Degraded() != nil || l.Through < blocks-depth-2 {
			t.Fatalf("%s: %d steps to %+v", name, steps, l)
		}
		points := w.points(l)
		holes := false
		for i := range points {
			p := &points[i]
			if i > 0 && p.Hour <= points[i-1].Hour {
				t.Fatalf("%s: hour %d follows %d", name, p.Hour, points[i-1].Hour)
			}
			holes = holes || i > 0 && p.Hour != points[i-1].Hour+hour || l.Time >= p.Hour+ledger.MaxQuiet*hour && i == len(points)-1
			if b := w.chain.BlockAt(p.AsOf); b.Hash != p.Hash || b.Timestamp != p.Timestamp {
				t.Fatalf("%s: hour %d is as of block %d", name, p.Hour, p.AsOf)
			}
			w.sameAssets(p.Assets, p.AsOf, false)
		}
		if len(points) < 10 || len(points) > blocks+ledger.MaxQuiet || holes != c.holes {
			t.Errorf("%s: %d points, hours without: %t", name, len(points), holes)
		}
		if got := w.problems(); len(got) != 0 {
			t.Errorf("%s: %v", name, got)
		}
		rows := w.dump()
		again := w.fresh(memory(t))
		again.events, again.hours = 3, 1
		again.run(nil, nil)
		if got := again.dump(); got != rows {
			t.Errorf("%s: other rows in other steps", name)
		}
	}
}

// TestTimesGoBackLater: a point is the same whether it was made when its block was new or
// when the chain had got further, also where the times of later blocks are earlier ones.
func TestTimesGoBackLater(t *testing.T) {
	const begin, blocks, ahead, back = 20, 60, 22, 42
	start := uint64(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Unix())
	times := map[uint64]uint64{}
	for n := uint64(ahead); n < back; n++ {
		times[n] = start + n*1800 + 9*3600 + 900
	}
	w := newWorld(t, simnode.Config{Seed: 21, Blocks: begin, PoolUses: 2, BlockTime: 30 * time.Minute, Times: times})
	w.run(nil, nil)
	for range blocks - begin {
		w.chain.Extend(1)
		w.catchUp()
		w.run(nil, nil)
	}
	if got := w.problems(); len(got) != 0 {
		t.Errorf("made while the chain grew: %v", got)
	}
	again := w.fresh(memory(t))
	again.run(nil, nil)
	if again.dump() != w.dump() {
		t.Error("other rows when it is made at once")
	}
}
