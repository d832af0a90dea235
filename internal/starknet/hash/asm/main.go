// Command asm writes what is done to eight states and points at once: lanes_amd64.s.
//
//	cd internal/starknet/hash/asm && go run . -out ../lanes_amd64.s
//
// It is a module of its own, because nothing else needs what it is made with. A test holds
// the digest of this file against the one in what it wrote.
//
// An element is five words of 52 bits, in Montgomery form with 2^260, and a register has
// the same word of eight of them. An element is below 480 primes, and need not be below
// one: products come out below 1 + a*b/480 primes, with a and b in primes. Words that are
// only added may have up to 62 bits and a sign; before a multiplication their carries are
// passed on, and it takes the lower 52 bits of each by itself.
package main

import (
	"crypto/sha256"
	_ "embed"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

//go:embed main.go
var source []byte

const (
	words = 5
	size  = words * 64 // of an element in memory
	keyed = words * 8  // of an element's key
)

// element is eight elements in registers.
type element [words]reg.VecVirtual

// What all of it uses: the words of the prime that are not zero or one, and 52 ones.
var third, fourth, mask, zero reg.VecVirtual

func main() {
	TEXT("permute8", NOSPLIT, "func(s *[120]uint64, keys *uint64)")
	Doc("permute8 permutes eight states.")
	Commentf("made from %x", sha256.Sum256(source))
	state, keys := Load(Param("s"), GP64()), Load(Param("keys"), GP64())
	constants()
	fullRounds("first", state, keys)
	partialRounds(state, keys)
	fullRounds("last", state, keys)
	// What is left may be below zero: the last keys are nothing but the primes.
	each("out", state, func(at Mem) {
		x := load(at)
		x.key(keys)
		x.carry()
		x.store(at)
	})
	VZEROUPPER()
	RET()

	TEXT("addPoints8", 0, "func(p *[120]uint64, table *uint64, offsets *uint64, n int)")
	Doc("addPoints8 adds n points of a table to each of eight.")
	addPoints()
	Generate()
}

func constants() {
	third, fourth, mask, zero = constant(17<<36), constant(1<<43), constant(1<<52-1), constant(0)
}

func constant(n uint64) reg.VecVirtual {
	g, v := GP64(), ZMM()
	MOVQ(U64(n), g)
	VPBROADCASTQ(g, v)
	return v
}

func word(at Mem, i int) Mem { return at.Offset(64 * i) }

func load(at Mem) (e element) {
	for i := range e {
		e[i] = ZMM()
		VMOVDQU64(word(at, i), e[i])
	}
	return e
}

func (e *element) store(at Mem) {
	for i := range e {
		VMOVDQU64(e[i], word(at, i))
	}
}

// copied is in registers of its own.
func (e *element) copied() (c element) {
	for i := range e {
		c[i] = ZMM()
		VMOVDQA64(e[i], c[i])
	}
	return c
}

func (e *element) add(o element) {
	for i := range e {
		VPADDQ(o[i], e[i], e[i])
	}
}

func (e *element) addFrom(at Mem) {
	for i := range e {
		VPADDQ(word(at, i), e[i], e[i])
	}
}

func (e *element) sub(o element) {
	for i := range e {
		VPSUBQ(o[i], e[i], e[i])
	}
}

func (e *element) double() { e.add(*e) }

// key adds the next key and goes on to the one behind it.
func (e *element) key(keys reg.Register) {
	for i := range e {
		VPADDQ_BCST(Mem{Base: keys, Disp: 8 * i}, e[i], e[i])
	}
	ADDQ(Imm(keyed), keys)
}

// carry leaves words of 52 bits; the last has the sign.
func (e *element) carry() {
	c := ZMM()
	for i := range words - 1 {
		VPSRAQ(Imm(52), e[i], c)
		VPADDQ(c, e[i+1], e[i+1])
		VPANDQ(mask, e[i], e[i])
	}
}

// pass is carry for what is only multiplied: the upper bits stay, and are not seen.
func (e *element) pass() {
	c := ZMM()
	for i := range words - 1 {
		VPSRLQ(Imm(52), e[i], c)
		VPADDQ(c, e[i+1], e[i+1])
	}
}

// fold takes what is above 2^251 away, as multiples of the prime: less than a prime is left,
// and hardly less than nothing. Nothing is carried.
func (e *element) fold() {
	q, t := ZMM(), ZMM()
	VPSRAQ(Imm(43), e[4], q)
	VPSLLQ(Imm(43), q, t)
	VPSUBQ(t, e[4], e[4])
	VPSUBQ(q, e[0], e[0])
	VPSLLQ(Imm(36), q, t)
	VPSUBQ(t, e[3], e[3])
	VPSLLQ(Imm(40), q, t)
	VPSUBQ(t, e[3], e[3])
}

// product is ten words that are summed up.
type product [2 * words]reg.VecVirtual

func newProduct() (p product) {
	for i := range p {
		p[i] = ZMM()
		VMOVDQA64(zero, p[i])
	}
	return p
}

func (p *product) low(i int, a, b reg.VecVirtual)  { VPMADD52LUQ(a, b, p[i]) }
func (p *product) high(i int, a, b reg.VecVirtual) { VPMADD52HUQ(a, b, p[i+1]) }

func square(a element) element {
	p := newProduct()
	for i := range words {
		for j := i + 1; j < words; j++ {
			p.low(i+j, a[i], a[j])
			p.high(i+j, a[i], a[j])
		}
	}
	for i := 1; i < 2*words-1; i++ {
		VPADDQ(p[i], p[i], p[i])
	}
	for i := range words {
		p.low(2*i, a[i], a[i])
		p.high(2*i, a[i], a[i])
	}
	return p.reduce()
}

func mul(a, b element) element {
	p := newProduct()
	for i := range words {
		for j := range words {
			p.low(i+j, a[i], b[j])
			p.high(i+j, a[i], b[j])
		}
	}
	return p.reduce()
}

// reduce adds multiples of the prime until the lower words are zero.
func (p *product) reduce() (e element) {
	m, c := ZMM(), ZMM()
	for i := range words {
		VPSUBQ(p[i], zero, m)
		VPADDQ(mask, p[i], c) // with the multiple the lower bits are zero, and this is carried
		VPSRLQ(Imm(52), c, c)
		VPADDQ(c, p[i+1], p[i+1])
		p.low(i+3, m, third)
		p.high(i+3, m, third)
		p.low(i+4, m, fourth)
		p.high(i+4, m, fourth)
	}
	copy(e[:], p[words:])
	return e
}

// cube is of an element whose words were carried. Its words were not.
func cube(x element) element {
	s := square(x)
	s.pass()
	return mul(s, x)
}

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
	zz := square(z)
	zz.pass()
	e := mul(gather(table, offsets, 0), zz)
	e.less(load(x1), 6)
	e.carry()
	e.store(h) // x2*z^2 - x1: below 7.1 primes
	e = mul(zz, load(z1))
	e.pass()
	e = mul(gather(table, offsets, 1), e)
	y := load(y1)
	e.less(y, 6)
	e.carry()
	e.store(r) // y2*z^3 - y1: below 7.1
	y.store(old)

	e = mul(load(h), load(z1))
	e.carry()
	e.store(z1)
	g := load(h)
	e = square(g)
	e.pass()
	w := mul(load(x1), e)
	w.store(v) // x1*h^2
	e = mul(e, load(h))
	e.carry()
	e.store(hhh) // h^3

	e = square(load(r))
	e.less(load(hhh), 4)
	w = load(v)
	e.sub(w)
	e.sub(w)
	e.carry()
	e.store(x1) // below 5.1
	w.less(e, 6)
	w.carry()
	w = mul(w, load(r))
	w.store(v)
	e = mul(load(old), load(hhh))
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
