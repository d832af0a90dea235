package contract

import (
	"math/rand/v2"
	"testing"

	"chainexplorer/internal/felt"
)

// TestDistinct finds each contract once, and that of each pair, whether they are few or many.
func TestDistinct(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var m ClassRoom
	for _, contracts := range []uint64{0, 1, 3, 8, 9, 40} {
		pairs := make([]At, 3*contracts)
		for i := range pairs {
			pairs[i] = At{Address: felt.FromUint64(rng.Uint64N(contracts)), Block: uint64(i)}
		}
		m.distinct(pairs)
		addresses, at := m.contracts.All(), m.at
		seen := map[felt.Felt]bool{}
		for _, a := range addresses {
			if seen[a] {
				t.Errorf("%s twice among %d", a, len(addresses))
			}
			seen[a] = true
		}
		for i := range pairs {
			if addresses[at[i]] != pairs[i].Address {
				t.Errorf("pair %d of %d contracts is at %d", i, contracts, at[i])
			}
			delete(seen, pairs[i].Address)
		}
		if len(seen) > 0 {
			t.Errorf("%d contracts that no pair has", len(seen))
		}
	}
}
