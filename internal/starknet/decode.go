package starknet

// The decoder that all wire types share: scanning, shared arrays, error paths.

import (
	"bytes"
	"errors"
	"fmt"
	"math/bits"
	"strings"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet/jsonscan"
)

// ErrPreConfirmed says that a node answered with a block that is still being
// built, where a confirmed one was expected.
var ErrPreConfirmed = errors.New("block is not confirmed yet")

// ErrMissing says that a required field is not there.
var ErrMissing = errors.New("required field is missing")

// DecodeError is a value that a node sent and that cannot be understood. Path
// leads to it, as in transactions[3].receipt.events.
type DecodeError struct {
	Path string
	Err  error
}

func (e *DecodeError) Error() string { return e.Path + ": " + e.Err.Error() }

// Unwrap returns what is wrong at the path.
func (e *DecodeError) Unwrap() error { return e.Err }

// decoder reads one answer of a node. The lists of one kind share a slab, so
// that a block costs few allocations however many lists it has.
type decoder struct {
	s      jsonscan.Scanner
	felts  slab[felt.Felt]
	events slab[Event]
	msgs   slab[MessageToL1]
	bounds slab[ResourceBounds]
	number felt.Felt // on its way to a smaller type
	// preConfirmed notes that a receipt was not final.
	preConfirmed bool
}

func newDecoder(data []byte) *decoder {
	return &decoder{s: jsonscan.New(data)}
}

// finish checks the end of the text and returns the error with its path.
func (d *decoder) finish(what string) error {
	d.s.End()
	if err := d.s.Err(); err != nil {
		return fmt.Errorf("decode %s: %w", what, err)
	}
	return nil
}

// fail sets an error at the current place; the callers on the way out add
// their part of the path.
func (d *decoder) fail(path string, err error) { d.s.Fail(&DecodeError{Path: path, Err: err}) }

func (d *decoder) bad() bool { return d.s.Err() != nil }

// within puts a step in front of the path of the error, if there is one. It
// is called after a value was read, so that a path costs nothing without error.
func (d *decoder) within(name string) {
	err := d.s.Err()
	if err == nil {
		return
	}
	de, ok := err.(*DecodeError)
	switch {
	case !ok:
		de = &DecodeError{Path: name, Err: err}
	case strings.HasPrefix(de.Path, "["):
		de.Path = name + de.Path
	default:
		de.Path = name + "." + de.Path
	}
	d.s.Replace(de)
}

func (d *decoder) withinIndex(i int) {
	if d.bad() {
		d.within(fmt.Sprintf("[%d]", i))
	}
}

// fieldSet is a set of fields of one object, by their place in its name list.
type fieldSet uint32

// require fails with the name of the first field that is missing.
func (d *decoder) require(seen, required fieldSet, names []string) {
	if missing := required &^ seen; missing != 0 && !d.bad() {
		d.fail(names[bits.TrailingZeros32(uint32(missing))], ErrMissing)
	}
}

// slab hands out lists cut from large arrays.
type slab[T any] struct {
	free  []T // unused capacity behind the lists handed out, length zero
	total int // capacity made so far
}

// hint prepares for about n items.
func (a *slab[T]) hint(n int) { a.free, a.total = make([]T, 0, n), n }

// minSlab is how many items a new array has at least.
const minSlab = 16

// grow makes room behind a list that fills its array and returns the list in
// its new place. Each array is half as large as all before it.
func (a *slab[T]) grow(list []T) []T {
	size := max(minSlab, 2*len(list), a.total/2)
	a.total += size
	next := make([]T, len(list), size)
	copy(next, list)
	return next
}

// begin starts a list. When its length reaches its capacity, grow moves it.
func (a *slab[T]) begin() []T { return a.free }

// end cuts the finished list off. An empty list is nil.
func (a *slab[T]) end(list []T) []T {
	a.free = list[len(list):]
	if len(list) == 0 {
		return nil
	}
	return list[:len(list):len(list)]
}

// one hands out a single zero item.
func (a *slab[T]) one() *T {
	if cap(a.free) == 0 {
		a.free = a.grow(a.free)
	}
	list := a.free[:1]
	a.free = list[1:]
	return &list[0]
}

// feltInto reads a felt.
func (d *decoder) feltInto(f *felt.Felt) {
	text, at := d.s.Ahead()
	if n := felt.Scan(f, text, at); n > 0 { // as of nearly all
		d.s.Pass(n)
		return
	}
	d.slowFelt(f)
}

// slowFelt is feltInto for all that can stand there.
func (d *decoder) slowFelt(f *felt.Felt) {
	start := d.s.Offset()
	raw := d.s.Quoted()
	if err := felt.ParseInto(f, raw); err != nil && !d.bad() {
		d.oddFelt(f, start, raw, err)
	}
}

// oddFelt reads a felt again whose text is not plain hex: it may be escaped.
func (d *decoder) oddFelt(f *felt.Felt, start int, raw []byte, err error) {
	if bytes.IndexByte(raw, '\\') >= 0 {
		raw = d.s.Requote(start)
		err = felt.ParseInto(f, raw)
	}
	if err != nil && !d.bad() {
		d.s.Fail(fmt.Errorf("felt %.70q: %w", raw, err))
	}
}

// feltList reads an array of felts; an empty one is nil.
func (d *decoder) feltList() []felt.Felt {
	list := d.felts.begin()
	for ok := d.s.OpenArray(); ok; ok = d.s.NextElement() {
		if len(list) == cap(list) {
			list = d.felts.grow(list)
		}
		list = list[:len(list)+1]
		d.feltInto(&list[len(list)-1])
		if d.bad() {
			d.withinIndex(len(list) - 1)
			return nil
		}
	}
	return d.felts.end(list)
}

// text copies a string.
func (d *decoder) text() string {
	return strings.ToValidUTF8(string(d.s.String()), "\uFFFD")
}

// hexUint64 reads a 64-bit number in hex.
func (d *decoder) hexUint64() uint64 {
	d.number = felt.Felt{}
	d.feltInto(&d.number)
	n, ok := d.number.Uint64()
	if !ok {
		d.s.Fail(errors.New("number does not fit 64 bits"))
	}
	return n
}

// word256 reads a hex number of up to 32 bytes that need not be a felt.
func (d *decoder) word256(out *[32]byte) {
	raw := d.s.String()
	if d.bad() {
		return
	}
	if len(raw) < 3 || raw[0] != '0' || raw[1]|0x20 != 'x' || len(raw) > 66 {
		d.s.Fail(fmt.Errorf("%.70q: %w", raw, felt.ErrSyntax))
		return
	}
	*out = [32]byte{}
	digits := raw[2:]
	for i, c := range digits {
		var n byte
		switch {
		case c >= '0' && c <= '9':
			n = c - '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			n = c | 0x20 - 'a' + 10
		default:
			d.s.Fail(fmt.Errorf("%.70q: %w", raw, felt.ErrSyntax))
			return
		}
		place := len(digits) - 1 - i
		out[31-place/2] |= n << (4 * (place % 2))
	}
}

// oneOf reads a string that must be one of a few words.
func oneOf[T any](d *decoder, words map[string]T) (v T) {
	raw := d.s.String()
	v, ok := words[string(raw)]
	if !ok && !d.bad() {
		d.s.Fail(fmt.Errorf("unknown value %.40q", raw))
	}
	return v
}
