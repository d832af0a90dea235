package jsonscan

// Strings and their escapes.

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// special marks the bytes that end the plain run of a string.
var special = func() (t [256]bool) {
	for c := range byte(' ') {
		t[c] = true
	}
	t['"'], t['\\'] = true, true
	return t
}()

// String reads a string and returns its bytes with escapes resolved.
func (s *Scanner) String() []byte {
	if s.peek() != '"' {
		s.expected("a string")
		return nil
	}
	start := s.pos + 1
	for i := start; i < len(s.data); i++ {
		if c := s.data[i]; special[c] {
			if c == '"' {
				s.pos = i + 1
				return s.data[start:i]
			}
			return s.escaped(start, i)
		}
	}
	s.failAt(len(s.data), "string without end")
	return nil
}

// Quoted reads a string that has no escapes and returns the bytes up to the
// next quote unchecked: the caller must accept only characters that need no
// escape. It is how hex numbers are read.
func (s *Scanner) Quoted() []byte {
	if s.peek() != '"' {
		s.expected("a string")
		return nil
	}
	start := s.pos + 1
	n := bytes.IndexByte(s.data[start:], '"')
	if n < 0 {
		s.failAt(len(s.data), "string without end")
		return nil
	}
	s.pos = start + n + 1
	return s.data[start : start+n]
}

// Ahead returns the text and where the string begins in it that is next, behind its quote; -1
// if something else is next. A caller that understands the string up to its closing quote says
// with Pass how long it is.
func (s *Scanner) Ahead() (text []byte, at int) {
	if s.peek() != '"' {
		return nil, -1
	}
	return s.data, s.pos + 1
}

// Pass goes behind the string that is next, of n bytes between its quotes.
func (s *Scanner) Pass(n int) { s.pos += n + 2 }

// Requote goes back to offset, where a string starts, and reads it as String
// does: for a Quoted whose bytes turned out to hold an escape.
func (s *Scanner) Requote(offset int) []byte {
	if s.err != nil {
		return nil
	}
	s.pos = offset
	return s.String()
}

// escaped reads the rest of a string whose first special byte is at i.
func (s *Scanner) escaped(start, i int) []byte {
	s.buf = append(s.buf[:0], s.data[start:i]...)
	for i < len(s.data) {
		c := s.data[i]
		switch {
		case c == '"':
			s.pos = i + 1
			return s.buf
		case c < ' ':
			s.failAt(i, "control character in a string")
			return nil
		case c == '\\':
			n := s.escape(i)
			if n == 0 {
				s.failAt(i, "bad escape in a string")
				return nil
			}
			i += n
		default:
			s.buf = append(s.buf, c)
			i++
		}
	}
	s.failAt(len(s.data), "string without end")
	return nil
}

// escape resolves the escape at i and returns its length, or zero.
func (s *Scanner) escape(i int) int {
	if i+1 >= len(s.data) {
		return 0
	}
	c := s.data[i+1]
	switch c {
	case '"', '\\', '/':
	case 'b':
		c = '\b'
	case 'f':
		c = '\f'
	case 'n':
		c = '\n'
	case 'r':
		c = '\r'
	case 't':
		c = '\t'
	case 'u':
		return s.unicodeEscape(i)
	default:
		return 0
	}
	s.buf = append(s.buf, c)
	return 2
}

// unicodeEscape resolves a code point or a surrogate pair. Half a pair becomes
// the replacement character.
func (s *Scanner) unicodeEscape(i int) int {
	r, ok := s.hex4(i)
	if !ok {
		return 0
	}
	n := 6
	if utf16.IsSurrogate(r) {
		low, ok := s.hex4(i + 6)
		r = utf16.DecodeRune(r, low)
		if ok && r != utf8.RuneError {
			n = 12
		}
	}
	s.buf = utf8.AppendRune(s.buf, r)
	return n
}

// hex4 reads \uXXXX at i.
func (s *Scanner) hex4(i int) (rune, bool) {
	if i+6 > len(s.data) || s.data[i] != '\\' || s.data[i+1] != 'u' {
		return 0, false
	}
	var r rune
	for _, c := range s.data[i+2 : i+6] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}
