package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// each does something to all three elements of the state.
func each(name string, state reg.Register, do func(at Mem)) {
	at, left := GP64(), GP64()
	MOVQ(state, at)
	MOVQ(U32(3), left)
	Label(name)
	do(Mem{Base: at})
	ADDQ(U32(size), at)
	DECQ(left)
	JNE(LabelRef(name))
}

// fullRounds is half of them: keys, cubes and the matrix (3 1 1), (1 -1 1), (1 1 -2). Three
// primes are in the keys, for what it subtracts; the last leaves what may be that much below.
func fullRounds(name string, state, keys reg.Register) {
	left := GP64()
	MOVQ(U32(4), left)
	Label(name)
	each(name+"cubes", state, func(at Mem) {
		x := load(at)
		x.key(keys)
		x.carry()
		y := cube(x)
		y.store(at)
	})
	a, b, c := Mem{Base: state}, Mem{Base: state, Disp: size}, Mem{Base: state, Disp: 2 * size}
	for i := range words {
		x, y, z, sum := ZMM(), ZMM(), ZMM(), ZMM()
		VMOVDQU64(word(a, i), x)
		VMOVDQU64(word(b, i), y)
		VMOVDQU64(word(c, i), z)
		VPADDQ(x, y, sum)
		VPADDQ(z, sum, sum)
		VPADDQ(x, x, x)
		VPADDQ(sum, x, x)
		VMOVDQU64(x, word(a, i))
		VPADDQ(y, y, y)
		VPSUBQ(y, sum, y)
		VMOVDQU64(y, word(b, i))
		VPSUBQ(z, sum, sum)
		VPADDQ(z, z, z)
		VPSUBQ(z, sum, sum)
		VMOVDQU64(sum, word(c, i))
	}
	DECQ(left)
	JNE(LabelRef(name))
}

// partialRounds is the recurrence of the package that this is for.
func partialRounds(state, keys reg.Register) {
	a, b, c := Mem{Base: state}, Mem{Base: state, Disp: size}, Mem{Base: state, Disp: 2 * size}
	// z is z[i+1] and held is 2z[i] + y[i+1] in memory; they take the places of a and b,
	// and y that of c.
	scratch := AllocLocal(2 * size)
	first, x1 := scratch, scratch.Offset(size)

	x := load(c)
	x.key(keys)
	x.carry()
	y := cube(x)
	y.store(first)

	x = load(a)
	x.addFrom(b)
	y = load(first)
	x.sub(y)
	x.sub(y)
	x.key(keys)
	x.carry()
	x.store(x1)
	y = cube(x) // the second; the first is in memory

	x = load(a)
	x.double()
	x.addFrom(first)
	x.sub(y)
	x.double()
	x.key(keys)
	x.carry()
	// z[1] = x[2] + 2y[1], held = 2(x[1] + 2y[0]) + y[1]
	z := y.copied()
	z.double()
	z.add(x)
	z.store(a)
	z = load(first)
	z.double()
	z.addFrom(x1)
	z.double()
	z.add(y)
	z.store(b)
	y = cube(x)
	y.store(c)

	left := GP64()
	MOVQ(U64(80), left)
	Label("partial")
	y = load(c)
	z = load(a)
	x = load(b)
	x.add(z)
	x.sub(y)
	x.fold()
	x.double()
	x.key(keys)
	x.carry()
	z.double()
	z.add(y)
	z.store(b)
	y.double()
	y.add(x)
	y.store(a)
	y = cube(x)
	y.store(c)
	DECQ(left)
	JNE(LabelRef("partial"))

	// With u = 2z + 2held: 2u + 2z + y, 2z + y, and u - 2y; keys are added.
	z = load(a)
	z.double()
	u := load(b)
	u.double()
	u.add(z)
	w := u.copied()
	w.double()
	w.add(z)
	w.addFrom(c)
	w.key(keys)
	w.store(a)
	z.addFrom(c)
	z.key(keys)
	z.store(b)
	y = load(c)
	u.sub(y)
	u.sub(y)
	u.key(keys)
	u.store(c)
}
