// Package record is the codec of row values: compact binary records that start
// with a version byte.
//
// Numbers are unsigned varints, texts and byte strings have a varint length in
// front. A felt takes one tag byte and, when it is new to the record, its bytes
// without leading zeros:
//
//	tag 0x00..0x20  literal: that many bytes follow, most significant first
//	tag 0x21..0xff  reference to entry tag-0x21 of the record's dictionary
//
// Every literal of at least minShared bytes joins the dictionary, until it has
// dictSize entries. Addresses and selectors repeat inside a transaction, so
// that a reference replaces about half of its 32-byte felts. The dictionary is
// rebuilt while reading and never leaves the record.
//
// The same values always encode to the same bytes: digests rely on it.
package record

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"chainexplorer/internal/felt"
)

const (
	firstRef  = felt.Size + 1
	dictSize  = 256 - firstRef
	minShared = 6
	fewShared = 32 // for how many entries a decoder takes memory at first

	slots = 512 // of the encoder's hash table: a power of two above 2*dictSize
)

// Encoder appends one record at a time. The zero value is ready for Reset.
type Encoder struct {
	buf  []byte
	dict []felt.Felt
	// table finds dictionary entries: slot -> index+1. It is cleared by
	// walking the dictionary, which is cheaper than clearing 512 slots.
	table [slots]uint8
	used  []uint16
}

// Reset starts a record of the given version, reusing the memory: the bytes of
// the record before are overwritten.
func (e *Encoder) Reset(version byte) {
	for _, s := range e.used {
		e.table[s] = 0
	}
	e.used = e.used[:0]
	e.dict = e.dict[:0]
	e.buf = append(e.buf[:0], version)
}

// Bytes is the record so far, valid until the next Reset.
func (e *Encoder) Bytes() []byte { return e.buf }

// Uint appends a number.
func (e *Encoder) Uint(n uint64) { e.buf = binary.AppendUvarint(e.buf, n) }

// Byte appends one byte as it is.
func (e *Encoder) Byte(b byte) { e.buf = append(e.buf, b) }

// Raw appends bytes without a length; the reader knows how many there are.
func (e *Encoder) Raw(b []byte) { e.buf = append(e.buf, b...) }

// Blob appends a length and bytes.
func (e *Encoder) Blob(b []byte) {
	e.Uint(uint64(len(b)))
	e.buf = append(e.buf, b...)
}

// Text appends a length and a text.
func (e *Encoder) Text(s string) {
	e.Uint(uint64(len(s)))
	e.buf = append(e.buf, s...)
}

// Felt appends a felt.
func (e *Encoder) Felt(f *felt.Felt) {
	lit := f.Trimmed()
	if len(lit) < minShared {
		e.literal(lit)
		return
	}
	slot := binary.LittleEndian.Uint64(f[24:]) ^ binary.LittleEndian.Uint64(f[16:])>>7
	slot = (slot * 0x9e3779b97f4a7c15) >> (64 - 9)
	for {
		i := e.table[slot]
		if i == 0 {
			break
		}
		if e.dict[i-1].Is(f) {
			e.buf = append(e.buf, firstRef+i-1)
			return
		}
		slot = (slot + 1) % slots
	}
	if len(e.dict) < dictSize {
		e.dict = append(e.dict, *f)
		e.table[slot] = uint8(len(e.dict))
		e.used = append(e.used, uint16(slot))
	}
	e.literal(lit)
}

// literal appends the bytes of a felt behind their number.
func (e *Encoder) literal(lit []byte) {
	n := len(e.buf)
	if cap(e.buf)-n < 1+felt.Size {
		e.buf = slices.Grow(e.buf, 1+felt.Size)
	}
	e.buf = e.buf[:n+1+len(lit)]
	e.buf[n] = byte(len(lit))
	copy(e.buf[n+1:], lit)
}

// Felts appends a length and felts.
func (e *Encoder) Felts(fs []felt.Felt) {
	e.Uint(uint64(len(fs)))
	for i := range fs {
		e.Felt(&fs[i])
	}
}

// ErrCorrupt says that bytes are not a record of the expected form.
var ErrCorrupt = errors.New("corrupt record")

// Decoder reads one record. The first fault is kept: after it every read
// returns zero values, and Finish reports it. Hostile lengths cost nothing,
// because a list must have at least one byte per element.
type Decoder struct {
	buf   []byte
	pos   int
	err   error
	dict  []uint32 // where in buf the shared literals are
	arena []felt.Felt
	taken int // felts of lists, since memory was taken back
}

// NewDecoder starts to read b, which must be of the given version. The decoder
// keeps no reference to b in what it returns.
func NewDecoder(b []byte, version byte) *Decoder {
	d := &Decoder{}
	d.Reset(b, version)
	return d
}

// Reset starts another record and forgets everything of the one before, but
// goes on with its memory: a page of records is read with one decoder.
func (d *Decoder) Reset(b []byte, version byte) {
	*d = Decoder{buf: b, dict: d.dict[:0], arena: d.arena, taken: d.taken}
	if v := d.Byte(); d.err == nil && v != version {
		d.fail("version %d, want %d", v, version)
	}
}

// Recycle takes back the memory of all lists of felts that were read, and lets go of the
// record: what was read is not looked at any more.
func (d *Decoder) Recycle() { *d = Decoder{dict: d.dict[:0], arena: d.arena[:0]} }

// RecycleAll is Recycle for whoever goes on to read about as much again: there is room for
// all of it then.
func (d *Decoder) RecycleAll() {
	if n := d.taken; n > cap(d.arena) {
		d.arena = make([]felt.Felt, 0, n+n/8)
	}
	d.Recycle()
}

// RecycleUpTo is RecycleAll, unless more felts were read than it is to keep room for.
func (d *Decoder) RecycleUpTo(felts int) {
	if d.taken > felts {
		*d = Decoder{}
		return
	}
	d.RecycleAll()
}

func (d *Decoder) fail(format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf("%w at byte %d: %s", ErrCorrupt, d.pos, fmt.Sprintf(format, args...))
	}
	d.pos = len(d.buf)
}

// Err returns the first fault so far, for readers that stop early.
func (d *Decoder) Err() error { return d.err }

// Finish returns the first fault, or one when bytes are left over.
func (d *Decoder) Finish() error {
	if d.err == nil && d.pos != len(d.buf) {
		d.fail("%d bytes left over", len(d.buf)-d.pos)
	}
	return d.err
}

// Byte reads one byte.
func (d *Decoder) Byte() byte {
	if d.pos >= len(d.buf) {
		d.fail("record ends early")
		return 0
	}
	d.pos++
	return d.buf[d.pos-1]
}

// Uint reads a number.
func (d *Decoder) Uint() uint64 {
	n, size := binary.Uvarint(d.buf[d.pos:])
	if size <= 0 {
		d.fail("bad number")
		return 0
	}
	d.pos += size
	return n
}

// Len reads the length of a list whose elements take at least min bytes each.
func (d *Decoder) Len(min int) int {
	n := d.Uint()
	if n > uint64((len(d.buf)-d.pos)/min) {
		d.fail("list of %d does not fit", n)
		return 0
	}
	return int(n)
}

// Raw fills dst.
func (d *Decoder) Raw(dst []byte) {
	if len(d.buf)-d.pos < len(dst) {
		d.fail("record ends early")
		return
	}
	d.pos += copy(dst, d.buf[d.pos:])
}

// Skip passes n bytes.
func (d *Decoder) Skip(n int) {
	if len(d.buf)-d.pos < n {
		d.fail("record ends early")
		return
	}
	d.pos += n
}

// Blob reads a byte string into memory of its own; an empty one is nil.
func (d *Decoder) Blob() []byte {
	n := d.Len(1)
	if n == 0 {
		return nil
	}
	b := append([]byte(nil), d.buf[d.pos:d.pos+n]...)
	d.pos += n
	return b
}

// AppendBlob reads a byte string behind dst, for readers of many.
func (d *Decoder) AppendBlob(dst []byte) []byte {
	n := d.Len(1)
	dst = append(dst, d.buf[d.pos:d.pos+n]...)
	d.pos += n
	return dst
}

// Text reads a text.
func (d *Decoder) Text() string {
	n := d.Len(1)
	d.pos += n
	return string(d.buf[d.pos-n : d.pos])
}

// Felt reads a felt.
func (d *Decoder) Felt() (f felt.Felt) {
	d.felt(&f)
	return f
}

// FeltTo is Felt to where it stays, for readers of many.
func (d *Decoder) FeltTo(f *felt.Felt) { d.felt(f) }

// felt reads a felt to where it stays; after a fault that is zero.
func (d *Decoder) felt(f *felt.Felt) {
	at := d.skipFelt()
	if d.err != nil {
		*f = felt.Felt{}
		return
	}
	n := int(d.buf[at])
	if err := f.SetBytes(d.buf[at+1 : at+1+n]); err != nil {
		*f = felt.Felt{}
		d.fail("%v", err)
	}
}

// SkipFelt passes a felt.
func (d *Decoder) SkipFelt() { d.skipFelt() }

// skipFelt passes a felt and returns where its literal is. Later references to
// it can still be read.
func (d *Decoder) skipFelt() (at int) {
	at = d.pos
	if at >= len(d.buf) {
		d.fail("record ends early")
		return at
	}
	tag := d.buf[at]
	d.pos++
	if tag >= firstRef {
		i := int(tag) - firstRef
		if i >= len(d.dict) {
			d.fail("reference to entry %d of %d", i, len(d.dict))
			return at
		}
		return int(d.dict[i])
	}
	n := int(tag)
	if len(d.buf)-d.pos < n {
		d.fail("record ends early")
		return at
	}
	d.pos += n
	if n >= minShared {
		d.share(at)
	}
	return at
}

// share lets later felts refer to the literal at a place.
func (d *Decoder) share(at int) {
	if len(d.dict) == dictSize {
		return
	}
	if d.dict == nil { // most records have more than a few
		d.dict = make([]uint32, 0, fewShared)
	}
	d.dict = append(d.dict, uint32(at))
}

// SkipFelts passes a list of felts.
func (d *Decoder) SkipFelts() { d.PassFelts(d.Len(1)) }

// PassFelts passes so many felts. It is skipFelt for all that are as they should be, and leaves
// the first that is not to it.
func (d *Decoder) PassFelts(n int) {
	buf, pos := d.buf, d.pos
	for ; n > 0 && pos < len(buf); n-- {
		tag := int(buf[pos])
		if tag >= firstRef {
			if tag-firstRef >= len(d.dict) {
				break
			}
			pos++
			continue
		}
		end := pos + 1 + tag
		if end > len(buf) {
			break
		}
		if tag >= minShared {
			d.share(pos)
		}
		pos = end
	}
	d.pos = pos
	for ; n > 0 && d.err == nil; n-- {
		d.skipFelt()
	}
}

// Felts reads a list of felts; an empty one is nil.
func (d *Decoder) Felts() []felt.Felt {
	n := d.Len(1)
	if n == 0 {
		return nil
	}
	out := d.take(n)
	for i := range out {
		d.felt(&out[i])
	}
	return out
}

// AppendFelts reads a list of felts behind dst, for readers of many that keep none.
func (d *Decoder) AppendFelts(dst []felt.Felt) []felt.Felt {
	for range d.Len(1) {
		dst = append(dst, felt.Felt{})
		d.felt(&dst[len(dst)-1])
	}
	return dst
}

// The blocks that lists are cut from are small for one record, and grow for many.
const firstBlock, largestBlock = 64, 1024

// take cuts a list from a block shared by the record's lists.
func (d *Decoder) take(n int) []felt.Felt {
	if cap(d.arena)-len(d.arena) < n {
		d.arena = make([]felt.Felt, 0, max(n, min(max(2*cap(d.arena), firstBlock), largestBlock)))
	}
	d.taken += n
	lo := len(d.arena)
	d.arena = d.arena[:lo+n]
	return d.arena[lo : lo+n : lo+n]
}
