// Package felt holds the one number type of the chain: an element of the
// Starknet prime field, kept as 32 big-endian bytes.
//
// The bytes are the canonical form everywhere in the program: they sort like
// the number, they are a store key as they are, and turning hex into them
// needs no big-integer arithmetic. A Felt made by this package is always
// below the prime; only a conversion from an unchecked array can break that.
package felt

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
)

// Size is the length of a Felt in bytes.
const Size = 32

// Felt is a field element, big endian. The zero value is the number zero.
type Felt [Size]byte

// Zero is the number zero.
var Zero Felt

// Prime is 2^251 + 17*2^192 + 1, the first value that is not a felt.
var Prime = [Size]byte{0: 0x08, 7: 0x11, 31: 0x01}

// primeTop is the most significant 64 bits of the prime. Below them the
// prime has only its last bit set, which makes the range check two compares.
const primeTop = 0x0800000000000011

// ErrSyntax says that a text is not 0x followed by 1 to 64 hex digits.
var ErrSyntax = errors.New("not a 0x-prefixed hex number")

// ErrRange says that a value is not below the field prime.
var ErrRange = errors.New("value is not below the field prime")

// FromUint64 returns n as a felt.
func FromUint64(n uint64) Felt {
	var f Felt
	binary.BigEndian.PutUint64(f[24:], n)
	return f
}

// FromUint128 returns hi*2^64 + lo as a felt.
func FromUint128(hi, lo uint64) Felt {
	var f Felt
	binary.BigEndian.PutUint64(f[16:], hi)
	binary.BigEndian.PutUint64(f[24:], lo)
	return f
}

// FromBytes reads up to 32 big-endian bytes.
func FromBytes(b []byte) (Felt, error) {
	var f Felt
	if err := f.SetBytes(b); err != nil {
		return Felt{}, err
	}
	return f, nil
}

// SetBytes is FromBytes without the copy, for decoders that read many. On an error f is undefined.
func (f *Felt) SetBytes(b []byte) error {
	if len(b) > Size {
		return fmt.Errorf("felt of %d bytes: %w", len(b), ErrRange)
	}
	if len(b) == Size {
		*f = Felt(b)
		if !f.valid() {
			return ErrRange
		}
		return nil
	}
	clear(f[:Size-len(b)]) // what has fewer bytes is below the prime
	copy(f[Size-len(b):], b)
	return nil
}

// valid reports whether f is below the prime.
func (f *Felt) valid() bool {
	top := binary.BigEndian.Uint64(f[:8])
	if top != primeTop {
		return top < primeTop
	}
	return binary.BigEndian.Uint64(f[8:])|binary.BigEndian.Uint64(f[16:])|binary.BigEndian.Uint64(f[24:]) == 0
}

// IsZero reports whether f is zero.
func (f Felt) IsZero() bool { return f == Felt{} }

// Cmp orders felts as numbers.
func (f Felt) Cmp(g Felt) int { return bytes.Compare(f[:], g[:]) }

// Uint64 returns the value and whether it fits.
func (f Felt) Uint64() (uint64, bool) {
	n := binary.BigEndian.Uint64(f[24:])
	return n, binary.BigEndian.Uint64(f[:])|binary.BigEndian.Uint64(f[8:])|binary.BigEndian.Uint64(f[16:]) == 0
}

// Trimmed returns the bytes of f without leading zeros; zero has none.
// The slice aliases f.
func (f *Felt) Trimmed() []byte {
	for i := 0; i < Size; i += 8 {
		if w := binary.BigEndian.Uint64(f[i:]); w != 0 {
			return f[i+bits.LeadingZeros64(w)/8:]
		}
	}
	return f[Size:]
}

// Is reports whether f is g. It is == without a call, for what compares felts all the time.
func (f *Felt) Is(g *Felt) bool {
	// In Go ^ binds no closer than |, so that each difference stands in parentheses.
	return (binary.NativeEndian.Uint64(f[:])^binary.NativeEndian.Uint64(g[:]))|
		(binary.NativeEndian.Uint64(f[8:])^binary.NativeEndian.Uint64(g[8:]))|
		(binary.NativeEndian.Uint64(f[16:])^binary.NativeEndian.Uint64(g[16:]))|
		(binary.NativeEndian.Uint64(f[24:])^binary.NativeEndian.Uint64(g[24:])) == 0
}
