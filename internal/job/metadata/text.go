package metadata

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"chainexplorer/internal/felt"
)

// The longest texts that are kept, in characters. What is longer ends in an
// ellipsis.
const (
	maxName   = 128
	maxSymbol = 40
)

// text reads a name or a symbol: one felt is a short string, three or more are a
// ByteArray if their lengths agree. The result is valid UTF-8 of at most most
// characters, in which controls, and marks that change how the rest is shown,
// are replaced by U+FFFD.
func text(fs []felt.Felt, most int) (*string, bool) {
	var b []byte
	switch {
	case len(fs) == 1:
		if b = fs[0].Trimmed(); len(b) > 31 {
			return nil, false
		}
	case len(fs) >= 3:
		data, used, err := felt.DecodeByteArray(fs)
		if err != nil || used != len(fs) {
			return nil, false
		}
		b = data
	default:
		return nil, false
	}
	s := clean(b, most)
	return &s, true
}

func clean(b []byte, most int) string {
	var out strings.Builder
	n := 0
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b) // RuneError for a byte that is none
		b = b[size:]
		if n++; n == most && len(b) > 0 {
			out.WriteRune('…')
			break
		}
		// The joiner of compound characters is the one format mark that
		// belongs into a name.
		if r != '\u200d' && (unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co)) {
			r = utf8.RuneError
		}
		out.WriteRune(r)
	}
	return out.String()
}

// decimals is one felt that fits a byte.
func decimals(fs []felt.Felt) *uint8 {
	if len(fs) != 1 {
		return nil
	}
	n, ok := fs[0].Uint64()
	if !ok || n > 255 {
		return nil
	}
	d := uint8(n)
	return &d
}

// amount is a number of two halves, or one felt as old tokens have it.
func amount(fs []felt.Felt) *[32]byte {
	switch len(fs) {
	case 1:
		v := [32]byte(fs[0])
		return &v
	case 2:
		if v, err := felt.U256(fs[0], fs[1]); err == nil {
			return &v
		}
	}
	return nil
}

// yes is one felt that is true.
func yes(fs []felt.Felt) bool { return len(fs) == 1 && fs[0] == felt.FromUint64(1) }
