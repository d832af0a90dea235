// Package hash has the two hash functions of Starknet, Poseidon and Pedersen, on elements
// of its field. The field and the curve are others'; their packages with such functions
// make tables in every process that links them, for a quarter of a second.
//
// Most of what verifying a block costs is Poseidon's permutation, and most of what a block
// hashes does not depend on each other. So there is one permutation at a time, on four
// words an element, and eight at once on processors with AVX-512, on five words of 52 bits:
// Lists and Pairs hash many things and choose. Words are multiplied by IFMA where the processor
// has that, and elsewhere as floating-point numbers. All use the same two shortcuts:
//
//   - The prime is 2^251 + 17*2^192 + 1: a step of a Montgomery reduction is one
//     multiplication, and what is above 2^251 is folded down by a shift. Between steps
//     nothing is brought below the prime.
//   - In the 83 partial rounds only one of the three elements is cubed, and the others are
//     linear in what the cubes were: they are not computed at all (see recurrence).
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
	firstPartial  = fullRounds / 2
	lastPartial   = firstPartial + partialRounds - 1
)

// roundKeys are derived from a name, as the protocol's were.
func roundKeys() *[rounds][3]fp.Element {
	var keys [rounds][3]fp.Element
	for i := range 3 * rounds {
		digest := sha256.Sum256([]byte("Hades" + strconv.Itoa(i)))
		keys[i/3][i%3].SetBytes(digest[:])
	}
	return &keys
}

// recurrence is the partial rounds without the two elements that are not cubed.
//
// Let a, b and c be the elements of a round i behind its keys, and y the cube of c. Then the
// next are 3a+b+y, a-b+y and a+b-2y, and their keys. With u = a+b, and x for c:
//
//	x[i+1] = u[i] - 2y[i] + keys
//	u[i+2] = 2u[i+1] + 4u[i] + 2y[i+1] + keys
//
// by the characteristic polynomial of the matrix of a and b, in which the part of y[i]
// vanishes. As u[i] is x[i+1] + 2y[i] but for keys, with z[i] for that,
//
//	x[i+3] = 2(z[i+1] + 2z[i] + y[i+1] - y[i+2]) + next[i+3]
//
// so that only x grows, and is folded. The first three and the last come from a, b and u.
type recurrence struct {
	full [fullRounds][3]fp.Element // keys of full rounds
	// Of the first three partial rounds: what is added to c, to a+b-2y, and to 4a+2y-2y'.
	first, second, third fp.Element
	next                 [partialRounds]fp.Element // from the fourth on
	// Of the elements behind the last: what is added to their sums of z, x and y.
	a, b, c fp.Element
}

// keys is made when the first hash is asked for: most processes ask for none.
var keys = sync.OnceValue(func() *recurrence {
	var r recurrence
	k := roundKeys()
	for i := range fullRounds / 2 {
		r.full[i], r.full[i+fullRounds/2] = k[i], k[lastPartial+1+i]
	}
	p := k[firstPartial : lastPartial+1]
	sum := func(i int) (s fp.Element) { return *s.Add(&p[i][0], &p[i][1]) }
	times := func(n int64, e fp.Element) (m fp.Element) { return *m.Mul(m.SetInt64(n), &e) }
	all := func(es ...fp.Element) (s fp.Element) {
		for i := range es {
			s.Add(&s, &es[i])
		}
		return s
	}
	// u[i+2]: what its keys add.
	grow := func(i int) fp.Element { return all(times(4, p[i+1][0]), times(-2, sum(i+1)), sum(i+2)) }
	r.first = p[0][2]
	r.second = all(sum(0), p[1][2])
	r.third = all(times(4, p[0][0]), sum(1), p[2][2])
	for i := range partialRounds - 3 {
		r.next[i+3] = all(grow(i), times(-2, p[i+2][2]), times(-4, p[i+1][2]), p[i+3][2])
	}
	// With n for the last: u[n-1] = z[n-1] - before, u[n] = 2u[n-1] + 4u[n-2] + 2y[n-1] + grow,
	// 2a = u[n] + 2u[n-1] + own.
	const n = partialRounds - 1
	before, own := p[n][2], all(times(2, p[n][0]), times(-1, sum(n)))
	last := all(grow(n-2), times(-2, before), times(-4, p[n-1][2]))
	r.a = all(times(2, last), times(-2, before), own)
	r.b = all(times(-2, before), own)
	r.c = last
	return &r
})

// scalars are the keys for one permutation at a time, with the prime added where what they
// are added to was folded and may be below zero.
type scalars struct {
	full    [fullRounds][3]weak
	partial [partialRounds]weak
	a, b, c weak
}

var ownScalars = sync.OnceValue(func() *scalars {
	k := keys()
	s := &scalars{a: weak(k.a), b: weak(k.b), c: weak(k.c)}
	for i := range k.full {
		for j := range k.full[i] {
			s.full[i][j] = weak(k.full[i][j])
			s.full[i][j].add(&prime)
		}
	}
	for i := range s.partial {
		s.partial[i] = weak(k.next[i])
		switch i {
		case 0:
			s.partial[i] = weak(k.first)
		case 1:
			s.partial[i] = weak(k.second)
		case 2:
			s.partial[i] = weak(k.third)
		}
		s.partial[i].add(&prime)
	}
	for _, w := range []*weak{&s.a, &s.b, &s.c} {
		w.add(&prime)
	}
	return s
})
