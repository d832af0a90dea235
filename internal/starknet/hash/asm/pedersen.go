package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// addPoints adds affine points to points in Jacobian coordinates, X, Y and Z. An offset is
// that of a lane's point in the table, which has x and y. No point is added to itself or
// its inverse: then Z would be zero from there on.
func addPoints() {
	p, table := Load(Param("p"), GP64()), Load(Param("table"), GP64())
	offsets, left := Load(Param("offsets"), GP64()), Load(Param("n"), GP64())
	constants()
	x1, y1, z1 := Mem{Base: p}, Mem{Base: p, Disp: size}, Mem{Base: p, Disp: 2 * size}
	local := AllocLocal(5 * size)
	h, hhh, v, old, r := local, local.Offset(size), local.Offset(2*size), local.Offset(3*size), local.Offset(4*size)

	Label("point")
	z := load(z1)
	zz := square(factor(z))
	zz.pass()
	zz = factor(zz)
	e := mul(factor(gather(table, offsets, 0)), zz)
	e.less(load(x1), 6)
	e.carry()
	e.store(h) // x2*z^2 - x1: below 7.1 primes
	e = mul(zz, factor(load(z1)))
	e.pass()
	e = mul(factor(gather(table, offsets, 1)), factor(e))
	y := load(y1)
	e.less(y, 6)
	e.carry()
	e.store(r) // y2*z^3 - y1: below 7.1
	y.store(old)

	e = mul(factor(load(h)), factor(load(z1)))
	e.carry()
	e.store(z1)
	g := load(h)
	e = square(factor(g))
	e.pass()
	e = factor(e)
	w := mul(factor(load(x1)), e)
	w.store(v) // x1*h^2
	e = mul(e, factor(load(h)))
	e.carry()
	e.store(hhh) // h^3

	e = square(factor(load(r)))
	e.less(load(hhh), 4)
	w = load(v)
	e.sub(w)
	e.sub(w)
	e.carry()
	e.store(x1) // below 5.1
	w.less(e, 6)
	w.carry()
	w = mul(factor(w), factor(load(r)))
	w.store(v)
	e = mul(factor(load(old)), factor(load(hhh)))
	w = load(v)
	w.less(e, 4)
	w.carry()
	w.store(y1) // below 5.1

	ADDQ(U32(64), offsets)
	DECQ(left)
	JNE(LabelRef("point"))
	VZEROUPPER()
	RET()
}

// gather reads one coordinate of the points at the next offsets.
func gather(table, offsets reg.Register, coordinate int) (e element) {
	at, lanes := ZMM(), GP32()
	VMOVDQU64(Mem{Base: offsets}, at)
	MOVL(U32(0xff), lanes)
	for i := range e {
		e[i] = ZMM()
		VMOVDQA64(zero, e[i])
		all := K() // which a gather uses up
		KMOVW(lanes, all)
		VPGATHERQQ(Mem{Base: table, Index: at, Scale: 1, Disp: coordinate*keyed + 8*i}, all, e[i])
	}
	return e
}

// less subtracts, and adds so many primes that zero is not passed.
func (e *element) less(o element, primes uint64) {
	e.sub(o)
	g, t := GP64(), ZMM()
	for _, w := range []struct {
		at   int
		word uint64
	}{{0, 1}, {3, 17 << 36}, {4, 1 << 43}} {
		MOVQ(U64(primes*w.word), g)
		VPBROADCASTQ(g, t)
		VPADDQ(t, e[w.at], e[w.at])
	}
}
