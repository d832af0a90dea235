package starknet_test

// The commitments once more, from the definition: a Patricia tree cut in two
// bit by bit, and leaves spelled out.

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
)

type leaf struct {
	key   uint64
	value felt.Felt
}

// patricia is the root of the tree of the given height over leaves.
func patricia(leaves []leaf, height uint, hash func(a, b felt.Felt) felt.Felt) felt.Felt {
	if len(leaves) == 0 {
		return felt.Zero
	}
	// Walk down while all leaves are on one side: that is an edge.
	length, path := uint(0), uint64(0)
	for length < height {
		bit := leaves[0].key >> (height - length - 1) & 1
		for _, l := range leaves {
			if l.key>>(height-length-1)&1 != bit {
				goto fork
			}
		}
		path = path<<1 | bit
		length++
	}
fork:
	var node felt.Felt
	if length == height {
		node = leaves[0].value
	} else {
		below := height - length - 1
		var left, right []leaf
		for _, l := range leaves {
			if l.key>>below&1 == 0 {
				left = append(left, l)
			} else {
				right = append(right, l)
			}
		}
		node = hash(patricia(left, below, hash), patricia(right, below, hash))
	}
	if length == 0 {
		return node
	}
	sum := hash(node, felt.FromUint64(path)).Big()
	sum.Add(sum, big.NewInt(int64(length)))
	prime := new(big.Int).SetBytes(felt.Prime[:])
	out, err := felt.FromBig(sum.Mod(sum, prime))
	if err != nil {
		panic(err)
	}
	return out
}

func TestCommitmentsFromTheDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	for n := range 20 {
		b := randomBlock(r, n)
		for _, version := range []string{"0.13.3", "0.13.4"} {
			b.StarknetVersion = version
			var transactions, events []leaf
			for i := range b.Transactions {
				tx := &b.Transactions[i]
				list := append([]felt.Felt{tx.Hash}, tx.Signature...)
				if len(tx.Signature) == 0 && version == "0.13.3" {
					list = append(list, felt.Zero)
				}
				transactions = append(transactions, leaf{uint64(i), starknet.PoseidonArray(list...)})
				for _, e := range b.Receipts[i].Events {
					list := []felt.Felt{e.From, tx.Hash, felt.FromUint64(uint64(len(e.Keys)))}
					list = append(append(list, e.Keys...), felt.FromUint64(uint64(len(e.Data))))
					list = append(list, e.Data...)
					events = append(events, leaf{uint64(len(events)), starknet.PoseidonArray(list...)})
				}
			}
			got, err := starknet.ComputeCommitments(b, nil)
			if err != nil {
				t.Fatal(err)
			}
			if want := patricia(transactions, 64, starknet.Poseidon); got.Transactions != want {
				t.Errorf("version %s, %d transactions: %s, want %s", version, n, got.Transactions, want)
			}
			if want := patricia(events, 64, starknet.Poseidon); got.Events != want {
				t.Errorf("version %s, %d events: %s, want %s", version, len(events), got.Events, want)
			}
			if got.TransactionCount != uint64(n) || got.EventCount != uint64(len(events)) {
				t.Errorf("counts %d and %d", got.TransactionCount, got.EventCount)
			}
		}
	}
}
