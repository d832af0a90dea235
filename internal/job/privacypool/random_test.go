package privacypool_test

import (
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"chainexplorer/internal/explorer/privacypool/ledger"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/job/privacypool"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/simnode/contracts"
	"chainexplorer/internal/store"
)

// flows adds the public movements of the pool up to a block from the raw events, in the
// order of the chain, and says in which block a token was first overdrawn.
func (w *world) flows(through uint64) (left map[felt.Felt]*big.Int, overdrawn uint64) {
	left = map[felt.Felt]*big.Int{}
	for _, ref := range w.chain.Events(simnode.EventFilter{To: through, Addresses: []felt.Felt{w.chain.Pool()}}) {
		e := ref.Event
		var token felt.Felt
		sign := int64(1)
		switch e.Keys[0] {
		case contracts.SelDeposit, contracts.SelOpenNoteDeposited:
			token = e.Keys[2]
		case contracts.SelWithdrawal:
			token, sign = e.Keys[2], -1
		default:
			continue
		}
		if left[token] == nil {
			left[token] = new(big.Int)
		}
		if n := len(e.Data); n > 0 && e.Data[n-1].Big().BitLen() <= 128 {
			left[token].Add(left[token], new(big.Int).Mul(big.NewInt(sign), e.Data[n-1].Big()))
		}
		if left[token].Sign() < 0 && overdrawn == 0 {
			overdrawn = ref.Block.Number
		}
	}
	return left, overdrawn
}

// TestAnyHistory: whatever the chain does, and whatever becomes of the process, what is
// served is of the chain as it is, adds up to its public movements, and is never
// complete where something could not be read.
func TestAnyHistory(t *testing.T) {
	histories := uint64(6)
	if raced {
		histories = 2 // the others are tried without the detector
	}
	for seed := range histories {
		rng := rand.New(rand.NewPCG(seed, 7))
		c := simnode.Config{Seed: 100 + seed, Blocks: 30, PoolUses: 1 + rng.IntN(2), BlockTime: time.Duration(1+rng.IntN(90)) * time.Minute}
		trouble := uint64(1 << 60)
		if seed%3 != 0 {
			kind := []simnode.PoolTroubleKind{simnode.TroubleSelector, simnode.TroubleNoAmount, simnode.TroubleOverdrawn, simnode.TroubleHugeAmount}[rng.IntN(4)]
			trouble = 25 + uint64(rng.IntN(30))
			c.PoolTrouble = []simnode.PoolTrouble{{Block: trouble, Kind: kind}}
		}
		w := newWorld(t, c)
		served := 0
		look := func() {
			l := w.read()
			if l == nil {
				return
			}
			served++
			if b := w.chain.BlockAt(l.Through); b == nil || b.Hash != l.Hash {
				t.Fatalf("seed %d: block %d of a branch that is gone is served", seed, l.Through)
			}
			if (l.Degraded() != nil) != (l.Through >= trouble) {
				t.Fatalf("seed %d: block %d: %+v, trouble in block %d", seed, l.Through, l.Gaps, trouble)
			}
			want, overdrawn := w.flows(l.Through)
			var rows []ledger.Asset
			w.view(func(r store.Reader) {
				var err error
				if rows, _, err = l.Assets(t.Context(), r); err != nil {
					t.Fatal(err)
				}
			})
			if len(rows) != len(want) {
				t.Fatalf("seed %d: block %d: %d tokens, want %d", seed, l.Through, len(rows), len(want))
			}
			negative := false
			for i := range rows {
				a := &rows[i]
				if a.Protected().Cmp(want[a.Token]) != 0 {
					t.Fatalf("seed %d: block %d: %s of %s, want %s", seed, l.Through, a.Protected(), a.Token, want[a.Token])
				}
				if a.Complete() && a.Protected().Sign() < 0 {
					t.Fatalf("seed %d: block %d: %s is complete and negative", seed, l.Through, a.Token)
				}
				negative = negative || a.NegativeSince != nil && a.NegativeSince.Block == overdrawn
			}
			if negative != (overdrawn != 0) {
				t.Fatalf("seed %d: block %d: overdrawn in block %d", seed, l.Through, overdrawn)
			}
			for _, p := range w.points(l) {
				if b := w.chain.BlockAt(p.AsOf); b == nil || b.Hash != p.Hash || p.Complete() != (p.AsOf < trouble) {
					t.Fatalf("seed %d: hour %d as of block %d: %s", seed, p.Hour, p.AsOf, p.Gap)
				}
			}
		}
		for range 8 {
			w.events, w.hours, w.rows = 1+rng.IntN(40), 1+rng.IntN(20), 1+rng.IntN(200)
			switch rng.IntN(5) {
			case 0:
				w.chain.Fork(1 + rng.IntN(18))
			case 1:
				if _, err := privacypool.Rematerialize(t.Context(), w.engine, "test"); err != nil {
					t.Fatal(err)
				}
			}
			w.chain.Extend(1 + rng.IntN(8))
			w.catchUp()
			look()
			w.run(func() error {
				if rng.IntN(4) == 0 {
					return errKilled
				}
				return nil
			}, func() {
				if rng.IntN(6) == 0 {
					look()
				}
			})
			look()
		}
		if served < 8 {
			t.Fatalf("seed %d: looked at %d ledgers", seed, served)
		}
		fresh := w.fresh(memory(t))
		fresh.run(nil, nil)
		if w.dump() != fresh.dump() {
			t.Fatalf("seed %d: another history of the process gives other rows", seed)
		}
		if got := w.problems(); len(got) != 0 {
			t.Fatalf("seed %d: %v", seed, got)
		}
	}
}
