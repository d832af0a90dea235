package parquet

import "unicode/utf8"

// bounds are the least and the greatest of some values.
type bounds struct {
	min, max []byte
	any      bool // there is a value
}

func (b *bounds) add(t *Type, v []byte) {
	switch {
	case !b.any:
		b.min, b.max, b.any = append(b.min[:0], v...), append(b.max[:0], v...), true
	case t.compare(v, b.min) < 0:
		b.min = append(b.min[:0], v...)
	case t.compare(v, b.max) > 0:
		b.max = append(b.max[:0], v...)
	}
}

// atLeast is a text that is not below v, of at most so many bytes where there is one.
func atLeast(v []byte, size int) []byte {
	if len(v) <= size {
		return v
	}
	for short := cut(v, size); len(short) > 0; {
		r, n := utf8.DecodeLastRune(short)
		if r == utf8.RuneError && n == 1 {
			break
		}
		short = short[:len(short)-n]
		if r++; r == 0xd800 { // no text has the half of a pair
			r = 0xe000
		}
		if r <= utf8.MaxRune {
			return utf8.AppendRune(short[:len(short):len(short)], r)
		}
	}
	return v
}

// cut is the beginning of a text, of whole characters.
func cut(v []byte, size int) []byte {
	if len(v) <= size {
		return v
	}
	for size > 0 && !utf8.RuneStart(v[size]) {
		size--
	}
	return v[:size]
}
