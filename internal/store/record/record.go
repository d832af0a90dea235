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
