package hash

import (
	"sync"

	"github.com/consensys/gnark-crypto/ecc/stark-curve/fp"
)

// width is how many states are permuted at once.
const width = 8

// way is how eight of a kind are worked on.
type way int

const (
	alone    way = iota // one after the other
	integers            // at once, by AVX-512 IFMA
	floats              // at once, by the floating-point numbers of AVX-512
)

func (w way) String() string { return [...]string{"alone", "AVX-512 IFMA", "AVX-512"}[w] }

// eight is the way in use.
var eight = ways()[0]

// words of 52 bits make an element of a lane.
const (
	words = 5
	ones  = 1<<52 - 1
)

// lanes is eight states as permute8 wants them: by element, word and lane. Elements are in
// Montgomery form with 2^260, sixteen times what they are in an fp.Element.
type lanes [3][words][width]uint64

// set puts an element into a lane of the state, below sixteen primes.
func (s *lanes) set(at, lane int, e *fp.Element) {
	for i, w := range split(e) {
		s[at][i][lane] = w
	}
}

// add adds an element to one of a lane. It may be done once between two permutations.
func (s *lanes) add(at, lane int, e *fp.Element) {
	for i, w := range split(e) {
		s[at][i][lane] += w
	}
}

// clear makes a lane's state zero.
func (s *lanes) clear(lane int) {
	for at := range s {
		for i := range s[at] {
			s[at][i][lane] = 0
		}
	}
}

// split is an element times sixteen in words of 52 bits.
func split(e *fp.Element) [words]uint64 {
	return [words]uint64{
		e[0] << 4 & ones,
		(e[0]>>48 | e[1]<<16) & ones,
		(e[1]>>36 | e[2]<<28) & ones,
		(e[2]>>24 | e[3]<<40) & ones,
		e[3] >> 12,
	}
}

// get is an element of a lane, which permute8 left.
func (s *lanes) get(at, lane int) fp.Element {
	l := &s[at]
	// By sixteen: so many primes more that the lower bits are zero.
	k := -l[0][lane] & 15
	w0 := l[0][lane] + k
	w1 := l[1][lane] + w0>>52
	w2 := l[2][lane] + w1>>52
	w3 := l[3][lane] + k*(17<<36) + w2>>52
	w4 := l[4][lane] + k<<43 + w3>>52
	w0, w1, w2, w3 = w0&ones, w1&ones, w2&ones, w3&ones
	v := weak{w0>>4 | w1<<48, w1>>16 | w2<<36, w2>>28 | w3<<24, w3>>40 | w4<<12}
	return v.element()
}

const laneKeyCount = 3*fullRounds + partialRounds + 6

// laneKeys are the keys in the order in which permute8 takes them: those of the first full
// rounds, of the partial ones and of what is behind them, of the last full rounds, and
// zeros. Three primes are added to each, for what the matrix subtracts.
var laneKeys = sync.OnceValue(func() *[laneKeyCount * words]uint64 {
	k := keys()
	var all []fp.Element
	for i := range fullRounds / 2 {
		all = append(all, k.full[i][:]...)
	}
	all = append(all, k.first, k.second, k.third)
	all = append(all, k.next[3:]...)
	all = append(all, k.a, k.b, k.c)
	for i := range fullRounds / 2 {
		all = append(all, k.full[i+fullRounds/2][:]...)
	}
	all = append(all, fp.Element{}, fp.Element{}, fp.Element{})
	var out [laneKeyCount * words]uint64
	for i := range all {
		w := weak(sixteen(&all[i]))
		w.add(&threePrimes)
		copy(out[i*words:], w.words())
	}
	return &out
})

// sixteen is an element as lanes have it, below the prime.
func sixteen(e *fp.Element) fp.Element {
	n := fp.NewElement(16)
	return *n.Mul(&n, e)
}

// words are the bits of a number, 52 by 52.
func (a *weak) words() []uint64 {
	return []uint64{a[0] & ones, (a[0]>>52 | a[1]<<12) & ones, (a[1]>>40 | a[2]<<24) & ones, (a[2]>>28 | a[3]<<36) & ones, a[3] >> 16}
}
