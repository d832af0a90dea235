package hash

import "github.com/consensys/gnark-crypto/ecc/stark-curve/fp"

// Permute is the Hades permutation, which Poseidon is made of.
func Permute(s *[3]fp.Element) {
	w := [3]weak{weak(s[0]), weak(s[1]), weak(s[2])}
	k := ownScalars()
	for i := range fullRounds / 2 {
		fullRound(&w, &k.full[i])
	}
	k.partialRounds(&w)
	for i := range fullRounds / 2 {
		fullRound(&w, &k.full[i+fullRounds/2])
	}
	for i := range s {
		w[i].add(&prime)
		s[i] = w[i].element()
	}
}

// fullRound takes and leaves what fold leaves: the prime is in the keys.
func fullRound(s *[3]weak, keys *[3]weak) {
	for j := range s {
		s[j].add(&keys[j]) // below 3.1 primes
		s[j] = cube(&s[j]) // below 1.2
	}
	// The matrix (3 1 1), (1 -1 1), (1 1 -2), with three primes more where it subtracts.
	sum := s[0]
	sum.add(&s[1])
	sum.add(&s[2])
	s[0].double()
	s[0].add(&sum)
	s[0].fold()
	sum.add(&threePrimes)
	s[1].double()
	left := sum
	left.sub(&s[1])
	s[1] = left
	s[1].fold()
	twice := s[2]
	twice.double()
	sum.sub(&twice)
	sum.sub(&s[2])
	s[2] = sum
	s[2].fold()
}

var threePrimes = weak{3, 0, 0, 3 * top}

// partialRounds takes and leaves what fold leaves. See recurrence.
func (k *scalars) partialRounds(s *[3]weak) {
	x0 := s[2]
	x0.add(&k.partial[0])
	y0 := cube(&x0)

	x1 := s[0]
	x1.add(&s[1])
	x1.add(&threePrimes)
	x1.sub(&y0)
	x1.sub(&y0)
	x1.fold()
	x1.add(&k.partial[1])
	y1 := cube(&x1)

	x2 := s[0]
	x2.double()
	x2.add(&y0)
	x2.add(&threePrimes)
	x2.sub(&y1)
	x2.fold()
	x2.double()
	x2.add(&k.partial[2])
	y2 := cube(&x2)

	// z is z[i+1]; held is 2z[i] + y[i+1].
	z, held := y1, y0
	z.double()
	z.add(&x2)
	held.double()
	held.add(&x1)
	held.double()
	held.add(&y1)
	y := y2
	for i := 3; i < partialRounds; i++ {
		x := z
		x.add(&held)
		x.add(&threePrimes)
		x.sub(&y)
		x.fold()
		x.double()
		x.add(&k.partial[i]) // between 0.9 and 4.1 primes

		held = z
		held.double()
		held.add(&y)
		z = y
		z.double()
		z.add(&x)
		y = cube(&x)
	}

	// z is z[n-1], held is 2z[n-2] + y[n-1]: u is 2z + 2held.
	u := z
	u.add(&held)
	u.fold()
	u.double()
	z.fold()
	z.double()

	s[2] = u
	s[2].add(&k.c)
	s[2].add(&threePrimes)
	s[2].sub(&y)
	s[2].sub(&y)
	s[2].fold()

	s[1] = z
	s[1].add(&y)
	s[1].add(&k.b)
	s[1].fold()

	s[0] = u
	s[0].double()
	s[0].add(&z)
	s[0].add(&y)
	s[0].add(&k.a)
	s[0].fold()
}

// Poseidon is the Poseidon hash of a pair.
func Poseidon(a, b *fp.Element) fp.Element {
	s := [3]fp.Element{*a, *b}
	s[2].SetUint64(2)
	Permute(&s)
	return s[0]
}
