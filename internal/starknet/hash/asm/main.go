// Command asm writes what is done to eight states and points at once: lanes_amd64.s.
//
//	cd internal/starknet/hash/asm && go run . -out ../lanes_amd64.s
//
// It is a module of its own, because nothing else needs what it is made with. A test holds
// the digest of these files against the one in what they wrote.
//
// An element is five words of 52 bits, in Montgomery form with 2^260, and a register has
// the same word of eight of them. An element is below 480 primes, and need not be below
// one: products come out below 1 + a*b/480 primes, with a and b in primes. Words that are
// only added may have up to 62 bits and a sign; before a multiplication their carries are
// passed on, and it takes the lower 52 bits of each by itself.
//
// All of it is written twice: with the multiplication of 52 bits that AVX-512 IFMA has, and
// with that of floating-point numbers, whose significands have as many (see floats.go).
package main

import (
	"crypto/sha256"
	"embed"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

//go:embed main.go poseidon.go pedersen.go floats.go
var source embed.FS

var sources = []string{"main.go", "poseidon.go", "pedersen.go", "floats.go"}

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
	permute("permute8Integers", "permute8Integers permutes eight states.")
	TEXT("addPoints8Integers", 0, "func(p *[120]uint64, table *uint64, offsets *uint64, n int)")
	Doc("addPoints8Integers adds n points of a table to each of eight.")
	addPoints()

	floats = true
	permute("permute8Floats", "permute8Floats is permute8Integers without IFMA.")
	TEXT("addPoints8Floats", 0, "func(p *[120]uint64, table *uint64, offsets *uint64, n int)")
	Doc("addPoints8Floats is addPoints8Integers without IFMA.")
	addPoints()
	Generate()
}

func permute(name, doc string) {
	TEXT(name, NOSPLIT, "func(s *[120]uint64, keys *uint64)")
	Doc(doc)
	Commentf("made from %x", digest())
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
}

func digest() []byte {
	sum := sha256.New()
	for _, name := range sources {
		text, err := source.ReadFile(name)
		if err != nil {
			panic(err)
		}
		sum.Write(text)
	}
	return sum.Sum(nil)
}

func constants() {
	if floats {
		mask, zero = constant(1<<52-1), constant(0)
		cut, rest = constant(cutBits), constant(restBits)
		return
	}
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

// pass is carry for what is only multiplied: the upper bits stay where they are not seen.
func (e *element) pass() {
	c := ZMM()
	for i := range words - 1 {
		VPSRLQ(Imm(52), e[i], c)
		VPADDQ(c, e[i+1], e[i+1])
		if floats {
			VPANDQ(mask, e[i], e[i])
		}
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

// square takes what factor made of an element whose carries were passed on.
func square(a element) element {
	if floats {
		return squareFloats(a)
	}
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

// mul takes what factor made of two.
func mul(a, b element) element {
	if floats {
		return mulFloats(a, b)
	}
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
	x = factor(x)
	s := square(x)
	s.pass()
	return mul(factor(s), x)
}
