// Package hash has the two hash functions of Starknet, Poseidon and Pedersen, on elements
// of its field. The field and the curve are others'; their packages with such functions
// make tables in every process that links them, for a quarter of a second.
package hash

import (
	"crypto/sha256"
	"strconv"
	"sync"

	"github.com/consensys/gnark-crypto/ecc/stark-curve/fp"
)

// The rounds of the permutation: half of the full ones, the partial ones, the other half.
const (
	fullRounds    = 8
	partialRounds = 83
	rounds        = fullRounds + partialRounds
)

// roundKeys are derived from a name, as the protocol's were.
var roundKeys = sync.OnceValue(func() *[rounds][3]fp.Element {
	var keys [rounds][3]fp.Element
	for i := range 3 * rounds {
		digest := sha256.Sum256([]byte("Hades" + strconv.Itoa(i)))
		keys[i/3][i%3].SetBytes(digest[:])
	}
	return &keys
})

// Permute is the Hades permutation, which Poseidon is made of.
func Permute(s *[3]fp.Element) {
	keys := roundKeys()
	for i := range keys {
		for j := range s {
			s[j].Add(&s[j], &keys[i][j])
		}
		if i < fullRounds/2 || i >= rounds-fullRounds/2 {
			cube(&s[0])
			cube(&s[1])
		}
		cube(&s[2])
		// The matrix (3 1 1), (1 -1 1), (1 1 -2).
		var sum, twice fp.Element
		sum.Add(&s[0], &s[1]).Add(&sum, &s[2])
		s[0].Double(&s[0]).Add(&s[0], &sum)
		s[1].Sub(&sum, s[1].Double(&s[1]))
		s[2].Sub(&sum, s[2].Add(&s[2], twice.Double(&s[2])))
	}
}

func cube(e *fp.Element) {
	var square fp.Element
	square.Square(e)
	e.Mul(e, &square)
}

// Poseidon is the Poseidon hash of a pair.
func Poseidon(a, b *fp.Element) fp.Element {
	s := [3]fp.Element{*a, *b}
	s[2].SetUint64(2)
	Permute(&s)
	return s[0]
}
