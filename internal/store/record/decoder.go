package record

import (
	"encoding/binary"
	"errors"
	"fmt"

	"chainexplorer/internal/felt"
)

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

// Uint reads a number. Most are small.
func (d *Decoder) Uint() uint64 {
	if p := d.pos; p < len(d.buf) && d.buf[p] < 0x80 {
		d.pos = p + 1
		return uint64(d.buf[p])
	}
	return d.uint()
}

func (d *Decoder) uint() uint64 {
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
	n, left := d.Uint(), len(d.buf)-d.pos
	if n > uint64(left) || int(n)*min > left {
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
	d.literalTo(at, f)
}

// literalTo reads the literal at a place, which is there as a whole.
func (d *Decoder) literalTo(at int, f *felt.Felt) {
	n := int(d.buf[at])
	end := at + 1 + n
	if n <= 8 && end >= 8 { // most others have all their bytes
		word := binary.BigEndian.Uint64(d.buf[end-8:]) & (1<<(8*n) - 1)
		*f = felt.Felt{}
		binary.BigEndian.PutUint64(f[felt.Size-8:], word)
		return
	}
	if err := f.SetBytes(d.buf[at+1 : end]); err != nil {
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
	buf, pos, dict := d.buf, d.pos, d.dict
	for ; n > 0 && pos < len(buf); n-- {
		tag := int(buf[pos])
		if tag >= firstRef {
			if tag-firstRef >= len(dict) {
				break
			}
			pos++
			continue
		}
		end := pos + 1 + tag
		if end > len(buf) {
			break
		}
		if tag >= minShared && len(dict) < dictSize {
			dict = append(dict, uint32(pos))
		}
		pos = end
	}
	d.pos, d.dict = pos, dict
	for ; n > 0 && d.err == nil; n-- {
		d.skipFelt()
	}
}

// PassRows passes so many rows, each of which is a felt and so many lists of felts. It is SkipFelt and
// SkipFelts for all that are short and as they should be, and leaves the others to them.
func (d *Decoder) PassRows(rows, lists int) {
	for ; rows > 0 && d.err == nil; rows-- {
		if d.passRow(lists) {
			continue
		}
		d.SkipFelt()
		for range lists {
			d.SkipFelts()
		}
	}
}

// passRow passes a row, or nothing.
func (d *Decoder) passRow(lists int) bool {
	buf, pos, dict := d.buf, d.pos, d.dict
	for felts := 1; ; lists-- {
		for ; felts > 0; felts-- {
			if pos >= len(buf) {
				return false
			}
			tag := int(buf[pos])
			if tag >= firstRef {
				if tag-firstRef >= len(dict) {
					return false
				}
				pos++
				continue
			}
			if tag >= minShared && len(dict) < dictSize {
				dict = append(dict, uint32(pos))
			}
			pos += 1 + tag
		}
		if lists == 0 {
			break
		}
		if pos >= len(buf) || buf[pos] >= 0x80 {
			return false
		}
		felts = int(buf[pos])
		pos++
	}
	if pos > len(buf) {
		return false
	}
	d.pos, d.dict = pos, dict
	return true
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

// Places reads where the felts of a list are, behind dst, for readers that look at few of them: see FeltAt
// and NumberAt, which are good for as long as the record is.
func (d *Decoder) Places(dst []uint32) []uint32 {
	n := d.Len(1)
	buf, pos, dict := d.buf, d.pos, d.dict
	for ; n > 0 && pos < len(buf); n-- { // as PassFelts does
		tag := int(buf[pos])
		if tag >= firstRef {
			if tag-firstRef >= len(dict) {
				break
			}
			dst = append(dst, dict[tag-firstRef])
			pos++
			continue
		}
		end := pos + 1 + tag
		if end > len(buf) {
			break
		}
		if tag >= minShared && len(dict) < dictSize {
			dict = append(dict, uint32(pos))
		}
		dst = append(dst, uint32(pos))
		pos = end
	}
	d.pos, d.dict = pos, dict
	for ; n > 0 && d.err == nil; n-- {
		dst = append(dst, uint32(d.skipFelt()))
	}
	if d.err != nil {
		return dst[:0]
	}
	return dst
}

// FeltAt is the felt at a place.
func (d *Decoder) FeltAt(place uint32) (f felt.Felt) {
	d.literalTo(int(place), &f)
	return f
}

// NumberAt is the felt at a place as a number, and whether it fits.
func (d *Decoder) NumberAt(place uint32) (uint64, bool) {
	if n := int(d.buf[place]); n == 1 { // most are small
		return uint64(d.buf[place+1]), true
	}
	f := d.FeltAt(place)
	return f.Uint64()
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
