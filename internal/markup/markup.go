// Package markup writes HTML by appending, for what stands on every page or in every row
// of a list: a template walks a tree and calls by reflection for each of its values, which
// takes ten times as long.
//
// What it escapes is decided by types. Put takes constants of the program and nothing else:
// a text that is not a constant is not an Ours, so that it does not compile. Every other text
// goes through Text, which escapes it for an element or for an attribute in double quotes, or
// through Link, for an attribute that is an address.
package markup

import (
	"html/template"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"chainexplorer/internal/felt"
)

// Ours is markup or a word of this program: a constant. Nothing else is made one.
type Ours string

// Writer holds what was written. The zero Writer is ready.
type Writer struct{ b []byte }

// Put writes markup of the program.
func (w *Writer) Put(s Ours) { w.b = append(w.b, s...) }

// HTML writes what is escaped already.
func (w *Writer) HTML(h template.HTML) { w.b = append(w.b, h...) }

// Text writes a text into an element or an attribute in double quotes.
func (w *Writer) Text(s string) {
	if strings.ContainsAny(s, "<>&'\"\x00") {
		s = template.HTMLEscapeString(s)
	}
	w.b = append(w.b, s...)
}

// Uint writes digits.
func (w *Writer) Uint(n uint64) { w.b = strconv.AppendUint(w.b, n, 10) }

// Int writes digits, behind a sign if it is below zero.
func (w *Writer) Int(n int) { w.b = strconv.AppendInt(w.b, int64(n), 10) }

// Group writes digits with separators between thousands.
func (w *Writer) Group(n uint64) {
	var digits [20]byte
	w.Digits(strconv.AppendUint(digits[:0], n, 10))
}

// Digits writes digits with separators between thousands.
func (w *Writer) Digits(digits []byte) {
	for i, c := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			w.b = append(w.b, ',')
		}
		w.b = append(w.b, c)
	}
}

// Time writes a moment in a layout of package time.
func (w *Writer) Time(t time.Time, layout Ours) { w.b = t.AppendFormat(w.b, string(layout)) }

// Felt writes the digits of a felt.
func (w *Writer) Felt(f *felt.Felt) { w.b = f.AppendHex(w.b) }

// shortFelt is how many digits are not shortened, with 0x.
const shortFelt = 12

// ShortFelt writes the ends of a felt's digits, by which people tell them apart.
func (w *Writer) ShortFelt(f *felt.Felt) {
	var digits [2 + 2*felt.Size]byte
	text := f.AppendHex(digits[:0])
	if len(text) <= shortFelt {
		w.b = append(w.b, text...)
		return
	}
	w.b = append(w.b, text[:6]...)
	w.b = append(w.b, "…"...)
	w.b = append(w.b, text[len(text)-4:]...)
}

// Link writes an address into an attribute in double quotes: one of this site, or of the web.
// Any other leads nowhere, and what no address holds is written as bytes of a URL.
func (w *Writer) Link(href string) {
	if !leadsSomewhere(href) {
		w.b = append(w.b, '#')
		return
	}
	for i := range len(href) {
		switch c := href[i]; {
		case c == '&':
			w.b = append(w.b, "&amp;"...)
		case c == '%' && (i+2 >= len(href) || !isHex(href[i+1]) || !isHex(href[i+2])), !inAddress[c]:
			const digits = "0123456789abcdef"
			w.b = append(w.b, '%', digits[c>>4], digits[c&15])
		default:
			w.b = append(w.b, c)
		}
	}
}

// leadsSomewhere tells addresses that a page may link to: of the web, or without a scheme. As
// templates do, it takes a colon in front of the first slash for the end of one.
func leadsSomewhere(href string) bool {
	scheme, _, some := strings.Cut(href, ":")
	if !some || strings.Contains(scheme, "/") {
		return true
	}
	return strings.EqualFold(scheme, "https") || strings.EqualFold(scheme, "http")
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

// inAddress are the bytes that stand for themselves in an address. Quotes and brackets are
// written as bytes, which means the same.
var inAddress = func() (t [utf8.RuneSelf * 2]bool) {
	for c := range utf8.RuneSelf {
		b := byte(c)
		t[c] = 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9' || strings.IndexByte("-._~!#$&*+,/:;=?@[]%", b) >= 0
	}
	return t
}()

// Len is how many bytes there are.
func (w *Writer) Len() int { return len(w.b) }

// Bytes are what was written, until the next is.
func (w *Writer) Bytes() []byte { return w.b }

// Done is a copy of what was written.
func (w *Writer) Done() template.HTML { return template.HTML(w.b) } //nolint:gosec // escaped as it was written

// mostKept is how large a writer may have grown to be used again.
const mostKept = 1 << 20

var pool = sync.Pool{New: func() any { return &Writer{b: make([]byte, 0, 16<<10)} }}

// Get takes a writer that was used before, empty.
func Get() *Writer { return pool.Get().(*Writer) }

// Free gives a writer back. What its Bytes returned must not be used any more.
func (w *Writer) Free() {
	if cap(w.b) > mostKept {
		return
	}
	w.b = w.b[:0]
	pool.Put(w)
}
