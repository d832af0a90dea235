package token

import (
	"encoding/binary"
	"math/big"
	"math/bits"
)

// Amount is a sum of 256-bit values with a sign: two's complement, 320 bits,
// least significant word first. More transfers than fit in 2^63 would have to be
// added before it overflows.
type Amount [5]uint64

// AmountOf is a big-endian 256-bit value.
func AmountOf(v [32]byte) (a Amount) {
	for i := range 4 {
		a[i] = binary.BigEndian.Uint64(v[24-8*i:])
	}
	return a
}

// Add returns a+b.
func (a Amount) Add(b Amount) (sum Amount) {
	var carry uint64
	for i := range a {
		sum[i], carry = bits.Add64(a[i], b[i], carry)
	}
	return sum
}

// Sub returns a-b.
func (a Amount) Sub(b Amount) (diff Amount) {
	var borrow uint64
	for i := range a {
		diff[i], borrow = bits.Sub64(a[i], b[i], borrow)
	}
	return diff
}

// Sign is -1, 0 or 1.
func (a Amount) Sign() int {
	switch {
	case a[4]>>63 == 1:
		return -1
	case a == Amount{}:
		return 0
	}
	return 1
}

// Cmp orders amounts.
func (a Amount) Cmp(b Amount) int { return a.Sub(b).Sign() }

// magnitude is the absolute value, big endian without leading zeros, in a buffer of zeros.
func (a Amount) magnitude(buf *[40]byte) []byte {
	if a.Sign() < 0 {
		a = Amount{}.Sub(a)
	}
	first := len(buf)
	for i, w := range a {
		if w == 0 {
			continue // zeros already
		}
		binary.BigEndian.PutUint64(buf[32-8*i:], w)
		first = 32 - 8*i + bits.LeadingZeros64(w)/8
	}
	return buf[first:]
}

// fromMagnitude is the inverse of magnitude; false when it is not in its
// shortest form or too long.
func fromMagnitude(b []byte, negative bool) (a Amount, ok bool) {
	var buf [40]byte
	if len(b) > len(buf) || len(b) > 0 && b[0] == 0 || len(b) == 0 && negative {
		return a, false
	}
	copy(buf[len(buf)-len(b):], b)
	for i := range a {
		a[i] = binary.BigEndian.Uint64(buf[32-8*i:])
	}
	if a[4]>>63 == 1 {
		return a, false
	}
	if negative {
		a = Amount{}.Sub(a)
	}
	return a, true
}

// AmountOfInt is a small number.
func AmountOfInt(n int64) (a Amount) {
	a[0] = uint64(n)
	if n < 0 {
		a[1], a[2], a[3], a[4] = ^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0)
	}
	return a
}

// Big returns the amount as a big integer.
func (a Amount) Big() *big.Int {
	var buf [40]byte
	n := new(big.Int).SetBytes(a.magnitude(&buf))
	if a.Sign() < 0 {
		n.Neg(n)
	}
	return n
}

// String is the decimal form.
func (a Amount) String() string { return a.Big().String() }
