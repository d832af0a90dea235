package request

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"hash"
	"slices"
	"unicode/utf16"
	"unicode/utf8"
)

// The body is read where it lies. The standard decoder would leave copies of what is in
// it all over the heap, where nobody could clear them.

type kind byte

const (
	object kind = 'o'
	array  kind = 'a'
	text   kind = 's'
	number kind = 'n'
	isTrue kind = 't'
	isFals kind = 'f'
	null   kind = 'z'
)

// span is where some bytes are: in the body, or in what its escapes stand for.
type span struct {
	start, end int32
	unescaped  bool
}

// node is a value. The members of an object are in the order of their names, whatever
// the order in which they came.
type node struct {
	kind        kind
	name        span // of a member
	value       span // of a string, without its quotes, or a number
	first, next int32
	count       int32
}

// Bounds of what is read, beside the bytes: far more than any transaction needs.
const (
	maxDepth = 16
	maxNodes = 100_000
)

const none = -1

type document struct {
	body  []byte
	plain []byte // what escapes stand for: never longer than the body
	nodes []node
	at    int
}

func (d *document) bytes(s span) []byte {
	if s.unescaped {
		return d.plain[s.start:s.end]
	}
	return d.body[s.start:s.end]
}

// clear leaves nothing of the body in what was made of it.
func (d *document) clear() {
	clear(d.plain[:cap(d.plain)])
	d.nodes, d.body = nil, nil
}

func (d *document) fault(reason string) error { return &Error{Reason: reason, Offset: d.at} }

// read reads the whole body as one value, and returns its number.
func (d *document) read() (int32, error) {
	if !utf8.Valid(d.body) {
		return none, &Error{Reason: "it is not UTF-8"}
	}
	root, err := d.readValue(0)
	if err != nil {
		return none, err
	}
	d.skip()
	if d.at != len(d.body) {
		return none, d.fault("something follows its end")
	}
	return root, nil
}

func (d *document) skip() {
	for d.at < len(d.body) {
		switch d.body[d.at] {
		case ' ', '\t', '\n', '\r':
			d.at++
		default:
			return
		}
	}
}

// next takes a byte that must come now, white space in front of it.
func (d *document) next(want byte) bool {
	d.skip()
	if d.at < len(d.body) && d.body[d.at] == want {
		d.at++
		return true
	}
	return false
}

func (d *document) add(n node) (int32, error) {
	if len(d.nodes) >= maxNodes {
		return none, d.fault("it has too many values")
	}
	n.first, n.next = none, none
	d.nodes = append(d.nodes, n)
	return int32(len(d.nodes) - 1), nil //nolint:gosec // bounded above
}

func (d *document) readValue(depth int) (int32, error) {
	if depth > maxDepth {
		return none, d.fault("it is nested too deep")
	}
	d.skip()
	if d.at >= len(d.body) {
		return none, d.fault("it is not JSON")
	}
	switch c := d.body[d.at]; {
	case c == '{':
		return d.readObject(depth)
	case c == '[':
		return d.readArray(depth)
	case c == '"':
		s, err := d.readString()
		if err != nil {
			return none, err
		}
		return d.add(node{kind: text, value: s})
	case c == '-' || '0' <= c && c <= '9':
		s, err := d.readNumber()
		if err != nil {
			return none, err
		}
		return d.add(node{kind: number, value: s})
	}
	for word, k := range map[string]kind{"true": isTrue, "false": isFals, "null": null} {
		if bytes.HasPrefix(d.body[d.at:], []byte(word)) {
			d.at += len(word)
			return d.add(node{kind: k})
		}
	}
	return none, d.fault("it is not JSON")
}

func (d *document) readArray(depth int) (int32, error) {
	d.at++
	self, err := d.add(node{kind: array})
	if err != nil || d.next(']') {
		return self, err
	}
	last := int32(none)
	for {
		v, err := d.readValue(depth + 1)
		if err != nil {
			return none, err
		}
		if last == none {
			d.nodes[self].first = v
		} else {
			d.nodes[last].next = v
		}
		last = v
		d.nodes[self].count++
		if d.next(',') {
			continue
		}
		if d.next(']') {
			return self, nil
		}
		return none, d.fault("it is not JSON")
	}
}

func (d *document) readObject(depth int) (int32, error) {
	d.at++
	self, err := d.add(node{kind: object})
	if err != nil || d.next('}') {
		return self, err
	}
	var members []int32
	for {
		d.skip()
		if d.at >= len(d.body) || d.body[d.at] != '"' {
			return none, d.fault("it is not JSON")
		}
		name, err := d.readString()
		if err != nil {
			return none, err
		}
		if !d.next(':') {
			return none, d.fault("it is not JSON")
		}
		v, err := d.readValue(depth + 1)
		if err != nil {
			return none, err
		}
		d.nodes[v].name = name
		members = append(members, v)
		if d.next(',') {
			continue
		}
		if d.next('}') {
			return self, d.order(self, members)
		}
		return none, d.fault("it is not JSON")
	}
}

// order links the members by their names, of which none may be there twice: of two values
// the prover could take another than we.
func (d *document) order(self int32, members []int32) error {
	slices.SortFunc(members, func(a, b int32) int {
		return cmp.Or(bytes.Compare(d.bytes(d.nodes[a].name), d.bytes(d.nodes[b].name)), cmp.Compare(a, b))
	})
	d.nodes[self].first, d.nodes[self].count = members[0], int32(len(members)) //nolint:gosec // bounded by maxNodes
	for i := 1; i < len(members); i++ {
		last, v := members[i-1], members[i]
		if bytes.Equal(d.bytes(d.nodes[last].name), d.bytes(d.nodes[v].name)) {
			return d.fault("an object before this place has a member twice")
		}
		d.nodes[last].next = v
	}
	return nil
}

func (d *document) readNumber() (span, error) {
	start := d.at
	digits := func() bool {
		from := d.at
		for d.at < len(d.body) && '0' <= d.body[d.at] && d.body[d.at] <= '9' {
			d.at++
		}
		return d.at > from
	}
	peek := func(set string) bool {
		return d.at < len(d.body) && bytes.IndexByte([]byte(set), d.body[d.at]) >= 0
	}
	if peek("-") {
		d.at++
	}
	zero := peek("0")
	from := d.at
	if !digits() || zero && d.at > from+1 {
		return span{}, d.fault("it is not JSON")
	}
	if peek(".") {
		d.at++
		if !digits() {
			return span{}, d.fault("it is not JSON")
		}
	}
	if peek("eE") {
		d.at++
		if peek("+-") {
			d.at++
		}
		if !digits() {
			return span{}, d.fault("it is not JSON")
		}
	}
	return d.spanTo(start), nil
}

func (d *document) spanTo(start int) span {
	return span{start: int32(start), end: int32(d.at)} //nolint:gosec // a body has at most MaxBytes
}

// readString reads a string. One without escapes stays where it is.
func (d *document) readString() (span, error) {
	d.at++
	start := d.at
	for d.at < len(d.body) {
		switch c := d.body[d.at]; {
		case c == '"':
			s := d.spanTo(start)
			d.at++
			return s, nil
		case c == '\\':
			return d.readEscaped(start)
		case c < 0x20:
			return span{}, d.fault("it is not JSON")
		}
		d.at++
	}
	return span{}, d.fault("it is not JSON")
}

// readEscaped reads a string that has an escape at the current place.
func (d *document) readEscaped(start int) (span, error) {
	if d.plain == nil {
		d.plain = make([]byte, 0, len(d.body)) // all there can be: it never moves
	}
	from := len(d.plain)
	d.plain = append(d.plain, d.body[start:d.at]...)
	for d.at < len(d.body) {
		c := d.body[d.at]
		switch {
		case c == '"':
			d.at++
			return span{int32(from), int32(len(d.plain)), true}, nil //nolint:gosec // no longer than the body
		case c < 0x20:
			return span{}, d.fault("it is not JSON")
		case c != '\\':
			d.plain = append(d.plain, c)
			d.at++
			continue
		}
		r, ok := d.readEscape()
		if !ok {
			return span{}, d.fault("a string has an escape that stands for nothing")
		}
		d.plain = utf8.AppendRune(d.plain, r)
	}
	return span{}, d.fault("it is not JSON")
}

var escapes = map[byte]rune{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

func (d *document) readEscape() (rune, bool) {
	if d.at+1 >= len(d.body) {
		return 0, false
	}
	c := d.body[d.at+1]
	if c != 'u' {
		r, ok := escapes[c]
		d.at += 2
		return r, ok
	}
	r, ok := d.hex4(d.at + 2)
	d.at += 6
	if !ok || !utf16.IsSurrogate(r) {
		return r, ok
	}
	if d.at+1 >= len(d.body) || d.body[d.at] != '\\' || d.body[d.at+1] != 'u' {
		return 0, false
	}
	low, ok := d.hex4(d.at + 2)
	d.at += 6
	r = utf16.DecodeRune(r, low)
	return r, ok && r != utf8.RuneError
}

func (d *document) hex4(at int) (r rune, ok bool) {
	if at+4 > len(d.body) {
		return 0, false
	}
	for _, c := range d.body[at : at+4] {
		n := hexDigit(c)
		if n < 0 {
			return 0, false
		}
		r = r<<4 | rune(n)
	}
	return r, true
}

func hexDigit(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// digest writes a value in a form that no two values share but those that differ in the
// order of members, in white space and in how strings are escaped.
func (d *document) digest(h hash.Hash, i int32) {
	n := &d.nodes[i]
	var head [5]byte
	head[0] = byte(n.kind)
	size := n.count
	if n.kind == text || n.kind == number {
		size = n.value.end - n.value.start
	}
	binary.BigEndian.PutUint32(head[1:], uint32(size)) //nolint:gosec // never negative
	h.Write(head[:])
	switch n.kind {
	case text, number:
		h.Write(d.bytes(n.value))
	case object, array:
		for c := n.first; c != none; c = d.nodes[c].next {
			if n.kind == object {
				name := d.nodes[c].name
				binary.BigEndian.PutUint32(head[1:], uint32(name.end-name.start)) //nolint:gosec // never negative
				h.Write(head[1:])
				h.Write(d.bytes(name))
			}
			d.digest(h, c)
		}
	}
}
