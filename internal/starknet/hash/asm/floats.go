package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Without IFMA the two halves of a product of 52 by 52 bits come from floating-point numbers,
// which have significands of 53 bits and are multiplied and added in one step. All of these are
// whole numbers, and of all roundings only that of the first line loses something:
//
//	high = a*b + 2^104           rounded down: 2^104 + h*2^52, for a*b = h*2^52 + l
//	low  = a*b + (2^104 + 2^52 - high)         = 2^52 + l
//
// The lower 52 bits of both are h and l as they are. The bits above, which say how large the
// numbers are, are summed up with them and taken off the sum, modulo 2^64.

// floats says that functions are written that way.
var floats bool

// cut is 2^104, and rest 2^104 + 2^52.
var cut, rest reg.VecVirtual

var (
	cutBits  = math.Float64bits(1 << 104)
	restBits = math.Float64bits(1<<104 + 1<<52)
	lowBits  = math.Float64bits(1 << 52)
)

// factor is what is multiplied in the place of an element whose carries were passed on.
func factor(e element) (f element) {
	if !floats {
		return e
	}
	for i := range e {
		f[i] = ZMM()
		VCVTUQQ2PD(e[i], f[i])
	}
	return f
}

// floatSum is ten words that are summed up, and what is too much of each.
type floatSum struct {
	product
	over [2 * words]uint64
}

// put adds to a word. The first takes its place.
func (s *floatSum) put(i int, v reg.VecVirtual, bits uint64) {
	s.over[i] += bits
	if s.product[i] == nil {
		s.product[i] = v
		return
	}
	VPADDQ(v, s.product[i], s.product[i])
}

func (s *floatSum) times(i int, a, b reg.VecVirtual) {
	high, low := ZMM(), ZMM()
	VMOVDQA64(cut, high)
	VFMADD231PD_RZ_SAE(a, b, high)
	VSUBPD(high, rest, low)
	VFMADD231PD(a, b, low)
	s.put(i+1, high, cutBits)
	s.put(i, low, lowBits)
}

func squareFloats(a element) element {
	var s floatSum
	for i := range words {
		for j := i + 1; j < words; j++ {
			s.times(i+j, a[i], a[j])
		}
	}
	for i := range s.product {
		if s.product[i] != nil {
			VPADDQ(s.product[i], s.product[i], s.product[i])
			s.over[i] *= 2
		}
	}
	for i := range words {
		s.times(2*i, a[i], a[i])
	}
	return s.reduce()
}

func mulFloats(a, b element) element {
	var s floatSum
	for i := range words {
		for j := range words {
			s.times(i+j, a[i], b[j])
		}
	}
	return s.reduce()
}

// reduce adds multiples of the prime until the lower words are zero. The words of the prime
// have two bits and one: to multiply by them is to shift.
func (s *floatSum) reduce() (e element) {
	p := s.product
	g, over := GP64(), ZMM()
	for i := range p {
		MOVQ(U64(-s.over[i]), g)
		VPBROADCASTQ(g, over)
		VPADDQ(over, p[i], p[i])
	}
	m, c := ZMM(), ZMM()
	// low and high add m shifted to the left, at most 52 bits of it to a word.
	low := func(i, shift int) {
		VPSLLQ(Imm(uint64(shift)), m, c)
		VPANDQ(mask, c, c)
		VPADDQ(c, p[i], p[i])
	}
	high := func(i, shift int) {
		VPSRLQ(Imm(uint64(52-shift)), m, c)
		VPADDQ(c, p[i+1], p[i+1])
	}
	for i := range words {
		VPSUBQ(p[i], zero, m)
		VPANDQ(mask, m, m)
		VPADDQ(mask, p[i], c) // with the multiple the lower bits are zero, and this is carried
		VPSRLQ(Imm(52), c, c)
		VPADDQ(c, p[i+1], p[i+1])
		low(i+4, 43) // 1<<43
		high(i+4, 43)
		VPSLLQ(Imm(4), m, c)
		VPADDQ(c, m, m)
		low(i+3, 36) // 17<<36
		high(i+3, 36)
	}
	copy(e[:], p[words:])
	return e
}
