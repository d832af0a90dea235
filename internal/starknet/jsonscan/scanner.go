// Package jsonscan reads JSON in one pass, pulled by a decoder that knows what
// it wants next. It accepts exactly the texts that RFC 8259 allows, up to a
// nesting of MaxDepth, builds no tree, and allocates only for strings with
// escapes.
//
// The first error sticks: from then on every method returns its zero value and
// every loop ends, so that a decoder looks at Err once.
//
//	for ok := s.OpenObject(); ok; ok = s.NextMember() {
//		switch string(s.Key()) {
//		case "number":
//			n = s.Uint64()
//		default:
//			s.Skip()
//		}
//	}
package jsonscan

import (
	"bytes"
	"errors"
	"fmt"
	"math"
)

// MaxDepth is how deep objects and arrays may nest.
const MaxDepth = 128

// Error is a text that is not JSON, or not what the decoder asked for.
type Error struct {
	Offset int
	Msg    string
}

func (e *Error) Error() string { return fmt.Sprintf("%s at byte %d", e.Msg, e.Offset) }

// ErrDepth says that a text nests deeper than MaxDepth.
var ErrDepth = errors.New("nested too deep")

// Scanner reads one text. Make it with New. It reads data where it is, and
// the byte slices that it returns are valid only until data changes or the
// next string with escapes is read.
type Scanner struct {
	data  []byte
	pos   int
	depth int
	err   error
	buf   []byte // the last string with escapes
}

// New returns a scanner at the start of data.
func New(data []byte) Scanner { return Scanner{data: data} }

// Err returns the first error.
func (s *Scanner) Err() error { return s.err }

// Fail makes err the scanner's error, unless it has one.
func (s *Scanner) Fail(err error) {
	if s.err == nil {
		s.err = err
	}
	s.pos = len(s.data)
}

// Replace puts err in the place of the error that happened, for a decoder that
// adds what it knows.
func (s *Scanner) Replace(err error) { s.err = err }

// Offset is the position of the next byte.
func (s *Scanner) Offset() int { return s.pos }

func (s *Scanner) failAt(offset int, msg string) {
	s.Fail(&Error{Offset: offset, Msg: msg})
}

func (s *Scanner) expected(what string) {
	if s.pos >= len(s.data) {
		s.failAt(len(s.data), "text ends instead of "+what)
		return
	}
	s.failAt(s.pos, fmt.Sprintf("%q instead of %s", s.data[s.pos], what))
}

// peek skips white space and returns the next byte, or zero at the end.
func (s *Scanner) peek() byte {
	for s.pos < len(s.data) {
		c := s.data[s.pos]
		if c > ' ' || (c != ' ' && c != '\n' && c != '\r' && c != '\t') {
			return c
		}
		s.pos++
	}
	return 0
}

func (s *Scanner) open(bracket, end byte, what string) bool {
	if s.peek() != bracket {
		s.expected(what)
		return false
	}
	if s.depth == MaxDepth {
		s.Fail(ErrDepth)
		return false
	}
	s.pos++
	if s.peek() == end {
		s.pos++
		return false
	}
	s.depth++
	return s.err == nil
}

func (s *Scanner) next(end byte, what string) bool {
	switch s.peek() {
	case ',':
		s.pos++
		return true
	case end:
		s.pos++
		s.depth--
		return false
	}
	s.expected(what)
	return false
}

// OpenObject enters an object and reports whether it has a member.
func (s *Scanner) OpenObject() bool { return s.open('{', '}', "an object") }

// NextMember leads to the next member, or leaves the object.
func (s *Scanner) NextMember() bool { return s.next('}', "a comma or a closing brace") }

// OpenArray enters an array and reports whether it has an element.
func (s *Scanner) OpenArray() bool { return s.open('[', ']', "an array") }

// NextElement leads to the next element, or leaves the array.
func (s *Scanner) NextElement() bool { return s.next(']', "a comma or a closing bracket") }

// Key reads a member's name and the colon.
func (s *Scanner) Key() []byte {
	key := s.String()
	if s.peek() != ':' {
		s.expected("a colon")
		return nil
	}
	s.pos++
	return key
}

// Null consumes a null if one is next and reports whether it did.
func (s *Scanner) Null() bool {
	if s.peek() != 'n' {
		return false
	}
	s.literal("null")
	return s.err == nil
}

// Bool reads true or false.
func (s *Scanner) Bool() bool {
	switch s.peek() {
	case 't':
		s.literal("true")
		return s.err == nil
	case 'f':
		s.literal("false")
	default:
		s.expected("a boolean")
	}
	return false
}

func (s *Scanner) literal(word string) {
	if !bytes.HasPrefix(s.data[s.pos:], []byte(word)) {
		s.failAt(s.pos, "not "+word)
		return
	}
	s.pos += len(word)
}

// Uint64 reads a number that is a whole number without sign, fraction or
// exponent and fits 64 bits.
func (s *Scanner) Uint64() uint64 {
	c := s.peek()
	start := s.pos
	if c < '0' || c > '9' {
		s.expected("a whole number")
		return 0
	}
	var n uint64
	for s.pos < len(s.data) {
		c := s.data[s.pos]
		if c < '0' || c > '9' {
			break
		}
		d := uint64(c - '0')
		if n > (math.MaxUint64-d)/10 {
			s.failAt(start, "number does not fit 64 bits")
			return 0
		}
		n = n*10 + d
		s.pos++
	}
	if s.data[start] == '0' && s.pos > start+1 {
		s.failAt(start, "number with a leading zero")
		return 0
	}
	if s.pos < len(s.data) {
		switch s.data[s.pos] {
		case '.', 'e', 'E':
			s.failAt(start, "number that is not whole")
			return 0
		}
	}
	return n
}

// End checks that nothing but white space is left.
func (s *Scanner) End() {
	if s.err == nil && (s.peek() != 0 || s.pos < len(s.data)) {
		s.expected("the end of the text")
	}
}
