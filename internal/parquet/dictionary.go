package parquet

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
)

// seed is of this process: what it decides is only where an entry lies in memory.
var seed = maphash.MakeSeed()

// dictionary numbers the different values of a column, by when each came first. It is a
// table of hashes with open addresses, over the values as the dictionary page has them, so
// that it allocates nothing but when it grows.
type dictionary struct {
	prefixed bool   // values have their length before them
	values   []byte // the page
	entries  []entry
	places   []uint32 // 1 + the number of an entry, 0 where there is none; a power of two
	last     uint32   // what was found last
}

type entry struct {
	hash       uint32
	start, end uint32 // in the values, without the length
	page       uint32 // where it was last seen
}

const fewestPlaces = 64

func (d *dictionary) reset() {
	d.values, d.entries, d.last = d.values[:0], d.entries[:0], 0
	clear(d.places)
}

func (d *dictionary) value(i uint32) []byte {
	e := &d.entries[i]
	return d.values[e.start:e.end]
}

// number finds a value, or adds it.
func (d *dictionary) number(v []byte) uint32 {
	if len(d.entries) > 0 && bytes.Equal(d.value(d.last), v) {
		return d.last // rows of one block or transaction follow one another
	}
	if len(d.places) < 2*(len(d.entries)+1) {
		d.grow()
	}
	hash := uint32(maphash.Bytes(seed, v))
	at := hash & uint32(len(d.places)-1)
	for ; d.places[at] != 0; at = (at + 1) & uint32(len(d.places)-1) {
		i := d.places[at] - 1
		if d.entries[i].hash == hash && bytes.Equal(d.value(i), v) {
			d.last = i
			return i
		}
	}
	if d.prefixed {
		d.values = binary.LittleEndian.AppendUint32(d.values, uint32(len(v)))
	}
	start := len(d.values)
	d.values = append(d.values, v...)
	d.last = uint32(len(d.entries))
	d.entries = append(d.entries, entry{hash: hash, start: uint32(start), end: uint32(len(d.values))})
	d.places[at] = d.last + 1
	return d.last
}

// grow makes more places. At most half of them are taken.
func (d *dictionary) grow() {
	d.places = make([]uint32, max(fewestPlaces, 2*len(d.places)))
	for i := range d.entries {
		at := d.entries[i].hash & uint32(len(d.places)-1)
		for d.places[at] != 0 {
			at = (at + 1) & uint32(len(d.places)-1)
		}
		d.places[at] = uint32(i) + 1
	}
}
