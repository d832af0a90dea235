package simnode

import (
	"encoding/binary"
	"math/big"
	"math/bits"

	"chainexplorer/internal/felt"
)

// amount is a token amount: 256 bits, least significant word first. It is a
// plain value because the chain does arithmetic on millions of them.
type amount [4]uint64

func amountOf(n uint64) amount { return amount{n} }

// units is n with the given number of decimals.
func units(n uint64, decimals int) amount {
	a := amountOf(n)
	for range decimals {
		a = a.mul(10)
	}
	return a
}

func (a amount) isZero() bool { return a == amount{} }

// add panics at 2^256, for the same reason as sub below zero.
func (a amount) add(b amount) (sum amount) {
	var carry uint64
	for i := range a {
		sum[i], carry = bits.Add64(a[i], b[i], carry)
	}
	if carry != 0 {
		panic("simnode: an amount went over 256 bits")
	}
	return sum
}

// sub panics below zero: the simulated contracts check before they subtract,
// and a mistake must not become ground truth.
func (a amount) sub(b amount) (diff amount) {
	var borrow uint64
	for i := range a {
		diff[i], borrow = bits.Sub64(a[i], b[i], borrow)
	}
	if borrow != 0 {
		panic("simnode: an amount went below zero")
	}
	return diff
}

func (a amount) less(b amount) bool {
	for i := 3; i >= 0; i-- {
		if a[i] != b[i] {
			return a[i] < b[i]
		}
	}
	return false
}

func (a amount) mul(n uint64) (out amount) {
	var carry uint64
	for i := range a {
		hi, lo := bits.Mul64(a[i], n)
		var c uint64
		out[i], c = bits.Add64(lo, carry, 0)
		carry = hi + c
	}
	return out
}

func (a amount) shr(n uint) (out amount) {
	for ; n >= 64; n -= 64 {
		a = amount{a[1], a[2], a[3], 0}
	}
	if n == 0 {
		return a
	}
	for i := range 3 {
		out[i] = a[i]>>n | a[i+1]<<(64-n)
	}
	out[3] = a[3] >> n
	return out
}

// part is n/65536 of a, for amounts below 2^240.
func (a amount) part(n int) amount { return a.mul(uint64(n)).shr(16) }

// fits128 reports whether the amount is below 2^128.
func (a amount) fits128() bool { return a[2]|a[3] == 0 }

func (a amount) low() felt.Felt  { return felt.FromUint128(a[1], a[0]) }
func (a amount) high() felt.Felt { return felt.FromUint128(a[3], a[2]) }

func (a amount) big() *big.Int {
	var b [32]byte
	for i, w := range a {
		binary.BigEndian.PutUint64(b[24-8*i:], w)
	}
	return new(big.Int).SetBytes(b[:])
}

// amountFromBig is for numbers in [0, 2^256).
func amountFromBig(n *big.Int) (a amount) {
	var b [32]byte
	n.FillBytes(b[:])
	for i := range a {
		a[i] = binary.BigEndian.Uint64(b[24-8*i:])
	}
	return a
}

// amountFromBytes reads 32 big-endian bytes.
func amountFromBytes(b [32]byte) (a amount) {
	for i := range a {
		a[i] = binary.BigEndian.Uint64(b[24-8*i:])
	}
	return a
}
