package metadata_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"chainexplorer/internal/explorer/token"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/index"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
)

// replaced finds tokens of blocks from one on whose classes these replace, with the last block that does.
func (w *world) replaced(from uint64) map[felt.Felt]uint64 {
	tokens := map[felt.Felt]bool{}
	for _, t := range w.chain.Tokens(w.head().Number) {
		tokens[t.Address] = true
	}
	out := map[felt.Felt]uint64{}
	for n := from; n <= w.head().Number; n++ {
		for _, c := range w.chain.StateUpdateAt(n).Diff.Replaced {
			if tokens[c.Address] {
				out[c.Address] = n
			}
		}
	}
	return out
}

// TestUpgrades: a token whose class was replaced is asked again soon, and not after hours; the others are left alone,
// and so is one that replaces its class all the time.
func TestUpgrades(t *testing.T) {
	skipRaced(t)
	synctest.Test(t, func(t *testing.T) {
		w := start(t, 40, time.Minute)
		time.Sleep(time.Hour)
		w.chain.Extend(200)
		time.Sleep(15 * time.Minute) // what is new is asked, too
		all := w.replaced(40)
		if len(all) == 0 {
			t.Fatal("no class of a token was replaced")
		}
		for address, n := range all {
			if m := w.of(address); m == nil || !m.Known || m.Block < n {
				t.Errorf("token %s has another class since block %d: %+v", address, n, m)
			}
		}
		for _, tk := range w.chain.Tokens(39) {
			m := w.of(tk.Address)
			if _, there := all[tk.Address]; !there && m != nil && m.Known && m.Block >= 40 {
				t.Errorf("token %s was asked again at block %d", tk.Address, m.Block)
			}
		}
		w.check()
	})
}

// upgrader is a source whose block replaces the class of a contract, too.
type upgrader struct {
	*source
	block uint64
	more  starknet.ReplacedClass
}

func (u upgrader) Fetch(ctx context.Context, number uint64) (index.Raw, error) {
	raw, err := u.source.Fetch(ctx, number)
	if number == u.block && err == nil {
		su := *u.Chain.StateUpdateAt(number)
		su.Diff.Replaced = append(slices.Clip(su.Diff.Replaced), u.more)
		raw.StateUpdate = starknet.AppendStateUpdate(nil, &su, starknet.V010)
	}
	return raw, err
}

// TestUpgradedAndUnused: that nobody uses a token does not keep its new name unknown. Where the block that replaced its
// class was looked at it is asked soon, and where that was not so when it is due.
func TestUpgradedAndUnused(t *testing.T) {
	for name, c := range map[string]struct {
		looked bool
		pause  time.Duration
		asked  bool
	}{
		"at once": {true, 11 * time.Minute, true}, "not so soon": {true, 9 * time.Minute, false},
		"when due": {false, 7 * time.Hour, true}, "before": {false, 5 * time.Hour, false},
	} {
		w := newIdle(t, 60)
		unused := w.unused(40)
		if len(unused) < 2 {
			t.Fatalf("%d tokens are unused", len(unused))
		}
		now := time.Unix(1e9, 0)
		w.catchUp(now)
		w.chain.Extend(1)
		class, _ := w.chain.ClassAt(w.chain.Tokens(59)[0].Address, 59)
		x, err := index.New(index.Options{Store: w.engine, Source: upgrader{w.source, 60, starknet.ReplacedClass{Address: unused[0], ClassHash: class.Hash}}, Verify: index.VerifyOff})
		if err == nil {
			err = x.RunTo(t.Context(), 60)
		}
		if err != nil {
			t.Fatal(err)
		}
		if !c.looked {
			w.commit(func(b *store.Batch) { b.Put(token.UpgradesKey, (&token.Upgrades{Next: 61}).Encode()) })
		}
		w.catchUp(now.Add(time.Minute))
		w.catchUp(now.Add(c.pause))
		for i, address := range unused[:2] {
			want := uint64(59)
			if i == 0 && c.asked {
				want = 60
			}
			if m := w.of(address); m == nil || m.Block != want {
				t.Errorf("%s: token %d was asked at %+v, want block %d", name, i, m, want)
			}
		}
	}
}

// unused are tokens that no block from one on moves.
func (w *world) unused(from uint64) (out []felt.Felt) {
	for _, tk := range w.chain.Tokens(from) {
		w.view(func(ctx context.Context, r store.Reader) error {
			totals, some, err := token.TotalsOf(ctx, r, tk.Address)
			if some && totals.Latest < from {
				out = append(out, tk.Address)
			}
			return err
		})
	}
	return out
}
