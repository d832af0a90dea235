package hash

import (
	"math/bits"

	"github.com/consensys/gnark-crypto/ecc/stark-curve/fp"
)

// weak is an element of the field in Montgomery form, as fp.Element is, that need not be
// below the prime: anything below 2^256 stands for it, which is 30 primes. What is below
// the prime after each step elsewhere is brought below it once, at the end.
type weak [4]uint64

// top is the only word of the prime, 2^251 + 17*2^192 + 1, besides the one: a step of a
// reduction is one multiplication by it.
const top = 1<<59 + 17

// mul is a times b by 2^-256, for a*b below 30 times the square of the prime; the result
// is below 1 + a*b/30 primes, with a and b in primes.
func mul(a, b *weak) weak {
	var t [8]uint64
	var c, hi, lo uint64
	a0, a1, a2, a3 := a[0], a[1], a[2], a[3]
	b0, b1, b2, b3 := b[0], b[1], b[2], b[3]

	// a * b0
	c, t[0] = bits.Mul64(a0, b0)
	hi, lo = bits.Mul64(a1, b0)
	t[1], lo = bits.Add64(lo, c, 0)
	c, _ = bits.Add64(hi, 0, lo)
	hi, lo = bits.Mul64(a2, b0)
	t[2], lo = bits.Add64(lo, c, 0)
	c, _ = bits.Add64(hi, 0, lo)
	hi, lo = bits.Mul64(a3, b0)
	t[3], lo = bits.Add64(lo, c, 0)
	t[4], _ = bits.Add64(hi, 0, lo)

	t[1], t[2], t[3], t[4], t[5] = row(t[1], t[2], t[3], t[4], a0, a1, a2, a3, b1)
	t[2], t[3], t[4], t[5], t[6] = row(t[2], t[3], t[4], t[5], a0, a1, a2, a3, b2)
	t[3], t[4], t[5], t[6], t[7] = row(t[3], t[4], t[5], t[6], a0, a1, a2, a3, b3)
	return reduce(&t)
}

// row adds a * b to four words, and has a fifth.
func row(t0, t1, t2, t3, a0, a1, a2, a3, b uint64) (uint64, uint64, uint64, uint64, uint64) {
	h0, l0 := bits.Mul64(a0, b)
	h1, l1 := bits.Mul64(a1, b)
	h2, l2 := bits.Mul64(a2, b)
	h3, l3 := bits.Mul64(a3, b)
	var c uint64
	l1, c = bits.Add64(l1, h0, 0)
	l2, c = bits.Add64(l2, h1, c)
	l3, c = bits.Add64(l3, h2, c)
	h3 += c
	t0, c = bits.Add64(t0, l0, 0)
	t1, c = bits.Add64(t1, l1, c)
	t2, c = bits.Add64(t2, l2, c)
	t3, c = bits.Add64(t3, l3, c)
	return t0, t1, t2, t3, h3 + c
}

// square is a times a by 2^-256.
func square(a *weak) weak {
	var t [8]uint64
	var c uint64
	a0, a1, a2, a3 := a[0], a[1], a[2], a[3]

	// The products of different words, once.
	h01, l01 := bits.Mul64(a0, a1)
	h02, l02 := bits.Mul64(a0, a2)
	h03, l03 := bits.Mul64(a0, a3)
	h12, l12 := bits.Mul64(a1, a2)
	h13, l13 := bits.Mul64(a1, a3)
	h23, l23 := bits.Mul64(a2, a3)
	t1 := l01
	t2, c := bits.Add64(h01, l02, 0)
	t3, c := bits.Add64(h02, l03, c)
	t4, c := bits.Add64(h03, l13, c)
	t5, c := bits.Add64(h13, l23, c)
	t6 := h23 + c
	t3, c = bits.Add64(t3, l12, 0)
	t4, c = bits.Add64(t4, h12, c)
	t5, c = bits.Add64(t5, 0, c)
	t6 += c

	// Twice them, and the squares.
	t7 := t6 >> 63
	t6 = t6<<1 | t5>>63
	t5 = t5<<1 | t4>>63
	t4 = t4<<1 | t3>>63
	t3 = t3<<1 | t2>>63
	t2 = t2<<1 | t1>>63
	t1 <<= 1
	h0, l0 := bits.Mul64(a0, a0)
	h1, l1 := bits.Mul64(a1, a1)
	h2, l2 := bits.Mul64(a2, a2)
	h3, l3 := bits.Mul64(a3, a3)
	t[0] = l0
	t[1], c = bits.Add64(t1, h0, 0)
	t[2], c = bits.Add64(t2, l1, c)
	t[3], c = bits.Add64(t3, h1, c)
	t[4], c = bits.Add64(t4, l2, c)
	t[5], c = bits.Add64(t5, h2, c)
	t[6], c = bits.Add64(t6, l3, c)
	t[7] = t7 + h3 + c
	return reduce(&t)
}

// reduce takes multiples of the prime away until the lower half is zero, and one too many
// of them is given back: what is left is above zero.
func reduce(t *[8]uint64) weak {
	h0, l0 := bits.Mul64(t[0], top)
	h1, l1 := bits.Mul64(t[1], top)
	h2, l2 := bits.Mul64(t[2], top)
	m, c := bits.Sub64(t[3], l0, 0)
	h3, l3 := bits.Mul64(m, top)
	// What is taken from the upper half, in four words: l1, l2, l3, h3 and h0, h1, h2.
	var d uint64
	l1, d = bits.Add64(l1, h0, c)
	l2, d = bits.Add64(l2, h1, d)
	l3, d = bits.Add64(l3, h2, d)
	h3 += d
	var r weak
	r[0], c = bits.Sub64(t[4], l1, 0)
	r[1], c = bits.Sub64(t[5], l2, c)
	r[2], c = bits.Sub64(t[6], l3, c)
	r[3], _ = bits.Sub64(t[7], h3, c)
	// One prime more.
	r[0], c = bits.Add64(r[0], 1, 0)
	r[1], c = bits.Add64(r[1], 0, c)
	r[2], c = bits.Add64(r[2], 0, c)
	r[3], _ = bits.Add64(r[3], top, c)
	return r
}

func cube(a *weak) weak {
	s := square(a)
	return mul(&s, a)
}

func (a *weak) add(b *weak) {
	var c uint64
	a[0], c = bits.Add64(a[0], b[0], 0)
	a[1], c = bits.Add64(a[1], b[1], c)
	a[2], c = bits.Add64(a[2], b[2], c)
	a[3], _ = bits.Add64(a[3], b[3], c)
}

func (a *weak) sub(b *weak) {
	var c uint64
	a[0], c = bits.Sub64(a[0], b[0], 0)
	a[1], c = bits.Sub64(a[1], b[1], c)
	a[2], c = bits.Sub64(a[2], b[2], c)
	a[3], _ = bits.Sub64(a[3], b[3], c)
}

func (a *weak) double() {
	a[3] = a[3]<<1 | a[2]>>63
	a[2] = a[2]<<1 | a[1]>>63
	a[1] = a[1]<<1 | a[0]>>63
	a[0] <<= 1
}

// fold leaves less than 1.01 primes and more than -0.01 of them, modulo 2^256: something
// has to be added before it is multiplied.
func (a *weak) fold() {
	q := a[3] >> 59
	var c uint64
	a[0], c = bits.Sub64(a[0], q, 0)
	a[1], c = bits.Sub64(a[1], 0, c)
	a[2], c = bits.Sub64(a[2], 0, c)
	a[3], _ = bits.Sub64(a[3], q*top, c)
}

// element is what a stands for, below the prime. a is below 30 primes.
func (a *weak) element() (e fp.Element) {
	w := *a
	w.fold()
	w.add(&prime) // between 0.99 and 2.01 primes
	for range 2 {
		v := w
		v.sub(&prime)
		if v[3]>>63 == 0 {
			w = v
		}
	}
	return fp.Element(w)
}

var prime = weak{1, 0, 0, top}
