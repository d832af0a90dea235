package store

import (
	"encoding/binary"
	"math"
)

// MaxKeyBytes bounds partition and sort of a row together. It stays well below
// the longest row that a PostgreSQL index can hold, so that a row that fits
// one engine fits both.
const MaxKeyBytes = 1 << 10

// AppendUint64 appends n in the form that sorts as n does.
func AppendUint64(b []byte, n uint64) []byte { return binary.BigEndian.AppendUint64(b, n) }

// AppendUint32 appends n in the form that sorts as n does.
func AppendUint32(b []byte, n uint32) []byte { return binary.BigEndian.AppendUint32(b, n) }

// Uint64 reads a number that AppendUint64 wrote and returns what follows it.
// It reports false when b is too short.
func Uint64(b []byte) (n uint64, rest []byte, ok bool) {
	if len(b) < 8 {
		return 0, b, false
	}
	return binary.BigEndian.Uint64(b), b[8:], true
}

// Uint32 reads a number that AppendUint32 wrote and returns what follows it.
// It reports false when b is too short.
func Uint32(b []byte) (n uint32, rest []byte, ok bool) {
	if len(b) < 4 {
		return 0, b, false
	}
	return binary.BigEndian.Uint32(b), b[4:], true
}

// PrefixEnd returns the first key behind all keys that begin with prefix: the
// To of a range over the prefix. It is nil, the open end, when no key is
// behind them.
func PrefixEnd(prefix []byte) []byte {
	for i := len(prefix) - 1; i >= 0; i-- {
		if prefix[i] != math.MaxUint8 {
			end := append([]byte(nil), prefix[:i+1]...)
			end[i]++
			return end
		}
	}
	return nil
}

// After returns the first key behind key: the From of a range that continues
// where another ended.
func After(key []byte) []byte {
	next := make([]byte, len(key)+1)
	copy(next, key)
	return next
}
