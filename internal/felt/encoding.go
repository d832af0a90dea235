package felt

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"
	"unicode/utf8"

	"golang.org/x/crypto/sha3"
)

// Selector is the name's Keccak-256 with the top six bits cleared: the key of
// an event and the number of an entry point.
func Selector(name string) Felt { return Keccak([]byte(name)) }

// Keccak is starknet_keccak: Keccak-256 reduced to its low 250 bits.
func Keccak(data []byte) Felt {
	h := sha3.NewLegacyKeccak256()
	h.Write(data) //nolint:errcheck // a hash never fails
	var f Felt
	h.Sum(f[:0])
	f[0] &= 0x03
	return f
}

// maxShortString is how many bytes a felt can carry as text.
const maxShortString = 31

// ErrTooLong says that a text does not fit a short string.
var ErrTooLong = errors.New("short string longer than 31 bytes")

// FromShortString packs up to 31 bytes of text into a felt.
func FromShortString(s string) (Felt, error) {
	var f Felt
	if len(s) > maxShortString {
		return f, ErrTooLong
	}
	copy(f[Size-len(s):], s)
	return f, nil
}

// MustShortString is FromShortString for constants; it panics on a long one.
func MustShortString(s string) Felt {
	f, err := FromShortString(s)
	if err != nil {
		panic(err)
	}
	return f
}

// ShortString reads f as text. It is not text when it is zero, needs 32
// bytes, or is not printable UTF-8.
func (f Felt) ShortString() (string, bool) {
	b := f.Trimmed()
	if len(b) == 0 || len(b) > maxShortString || !utf8.Valid(b) {
		return "", false
	}
	for _, r := range string(b) {
		if r < ' ' || r == 0x7f {
			return "", false
		}
	}
	return string(b), true
}

// U256 is low + high*2^128, big endian: the pair of felts that carries every
// token amount. Each half must be below 2^128.
func U256(low, high Felt) (out [32]byte, err error) {
	if !low.isHalf() || !high.isHalf() {
		return out, errHalf(low, high)
	}
	copy(out[:16], high[16:])
	copy(out[16:], low[16:])
	return out, nil
}

// isHalf says whether f is below 2^128.
func (f *Felt) isHalf() bool {
	return binary.BigEndian.Uint64(f[:8])|binary.BigEndian.Uint64(f[8:16]) == 0
}

func errHalf(low, high Felt) error {
	if low.isHalf() {
		low = high
	}
	return fmt.Errorf("u256 half %s is not below 2^128: %w", low, ErrRange)
}

// SplitU256 is the inverse of U256.
func SplitU256(v [32]byte) (low, high Felt) {
	copy(high[16:], v[:16])
	copy(low[16:], v[16:])
	return low, high
}

// Big returns f as a big integer, for arithmetic off the hot path.
func (f Felt) Big() *big.Int { return new(big.Int).SetBytes(f[:]) }

// Decimal returns f in decimal digits.
func (f Felt) Decimal() string {
	var buf [80]byte
	return string(AppendDecimal(buf[:0], (*[32]byte)(&f)))
}

// FromBig converts a big integer in [0, prime).
func FromBig(n *big.Int) (Felt, error) {
	if n.Sign() < 0 || n.BitLen() > 8*Size {
		return Felt{}, ErrRange
	}
	return FromBytes(n.Bytes())
}

// ErrByteArray says that felts are not a serialized ByteArray.
var ErrByteArray = errors.New("not a serialized ByteArray")

// DecodeByteArray reads a Cairo ByteArray from the front of fs: the number of
// full 31-byte words, the words, the pending word and its length. It returns
// the bytes and how many felts they took. A hostile length costs nothing: it
// is compared with what is there before anything is allocated.
func DecodeByteArray(fs []Felt) (data []byte, used int, err error) {
	if len(fs) < 3 {
		return nil, 0, ErrByteArray
	}
	words, ok := fs[0].Uint64()
	if !ok || words > uint64(len(fs)-3) {
		return nil, 0, ErrByteArray
	}
	n := int(words)
	pendingLen, ok := fs[n+2].Uint64()
	if !ok || pendingLen >= maxShortString {
		return nil, 0, ErrByteArray
	}
	data = make([]byte, 0, n*maxShortString+int(pendingLen))
	for i := range n {
		word := fs[1+i]
		if word[0] != 0 {
			return nil, 0, ErrByteArray
		}
		data = append(data, word[1:]...)
	}
	pending := fs[n+1]
	if len(pending.Trimmed()) > int(pendingLen) {
		return nil, 0, ErrByteArray
	}
	return append(data, pending[Size-int(pendingLen):]...), n + 3, nil
}

// EncodeByteArray is the inverse of DecodeByteArray.
func EncodeByteArray(data []byte) []Felt {
	n := len(data) / maxShortString
	out := make([]Felt, 0, n+3)
	out = append(out, FromUint64(uint64(n)))
	for i := range n {
		var word Felt
		copy(word[1:], data[i*maxShortString:])
		out = append(out, word)
	}
	rest := data[n*maxShortString:]
	var pending Felt
	copy(pending[Size-len(rest):], rest)
	return append(out, pending, FromUint64(uint64(len(rest))))
}
