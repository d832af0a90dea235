package pebble

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"sync"

	"chainexplorer/internal/store"
	"chainexplorer/internal/store/names"
)

// packed holds rows of series until they are committed. Nine of ten rows of a chain that is
// being caught up with are such, and most of a row is the name of its series, which is what
// its key begins with: it is held once, and behind it numbers and values as leaves have
// them. So a commit holds two to three times as many blocks, which leaves more rows
// together and has fewer of them to merge; and what is left to sort is names.
//
// Rows of a series come in the order of their numbers.
type packed struct {
	list  []packedSeries
	names names.Table // of those
	// pieces hold names and chunks of rows. One that is longer than the others takes as many
	// places of the list as it has bytes for, of which only the first is there.
	pieces [][]byte
	used   int // bytes of pieces, from the first on

	hashes []uint32 // of the rows that are being added
	sum    byte     // of memory that was looked at
}

// packedSeries is where the rows of one are.
type packedSeries struct {
	last        uint64 // number
	word        uint64 // the first eight bytes of the name
	name        uint32 // place
	first, tail uint32 // places of chunks
	length      uint16 // of the name
}

// A chunk is the place of the next one, how long it is, how much of it is taken, and rows:
// the number less that of the row before, length of the value, value (varints).
const (
	chunkSize  = 4
	chunkTaken = 8
	chunkRows  = 12

	leastChunk = 20
	mostChunk  = 1 << 10

	packedBits  = 16
	packedBytes = 1 << packedBits
)

var packedPieces = sync.Pool{New: func() any { return new([packedBytes]byte) }}

// held is about how much memory it takes, without what is reserved.
func (p *packed) held() int {
	const each = 32 // of the list
	return p.used + each*len(p.list) + p.names.Bytes()
}

// giveBack gives its memory to others.
func (p *packed) giveBack() {
	for _, b := range p.pieces {
		if len(b) == packedBytes {
			packedPieces.Put((*[packedBytes]byte)(b))
		}
	}
	*p = packed{}
}

func (p *packed) at(place uint32) []byte {
	return p.pieces[place>>packedBits][place&(packedBytes-1):]
}

// take returns the place of so many bytes.
func (p *packed) take(size int) uint32 {
	if left := packedBytes - p.used&(packedBytes-1); left < size && left < packedBytes {
		p.used += left
	}
	place := uint32(p.used)
	if p.used>>packedBits == len(p.pieces) {
		if size > packedBytes {
			p.pieces = append(p.pieces, make([]byte, size))
			p.pieces = append(p.pieces, make([][]byte, (size-1)>>packedBits)...)
			p.used = len(p.pieces) << packedBits
			return place
		}
		p.pieces = append(p.pieces, packedPieces.Get().(*[packedBytes]byte)[:])
	}
	p.used += size
	return place
}

// add takes the rows of series out of a list.
func (p *packed) add(c *store.Changes, lengths *leafLengths) error {
	list := c.List()
	p.hashes = p.hashes[:0]
	for i := range list {
		if lengths[list[i].ID] > 0 {
			key := c.Key(&list[i])
			p.hashes = append(p.hashes, hashOf(key[:len(key)-store.NumberBytes]))
		}
	}
	p.touch()
	next := 0
	for i := range list {
		if lengths[list[i].ID] > 0 {
			if err := p.put(c, &list[i], p.hashes[next]); err != nil {
				return err
			}
			next++
		}
	}
	return nil
}

// touch looks at the memory of the series that are added to, of all of them at once: see
// store.Changes.Touch.
func (p *packed) touch() {
	var sum byte
	for _, hash := range p.hashes {
		if at := p.names.Likely(hash); at >= 0 {
			g := &p.list[at]
			sum += p.at(g.name)[0] + p.at(g.tail)[chunkTaken]
		}
	}
	p.sum = sum
}

func (p *packed) put(c *store.Changes, ch *store.Change, hash uint32) error {
	key, value := c.Key(ch), c.Value(ch)
	name := key[:len(key)-store.NumberBytes]
	number := binary.BigEndian.Uint64(key[len(name):])
	g, fresh := p.seriesOf(hash, name)
	gap := number
	if !fresh {
		gap = number - g.last
	}
	switch {
	case ch.Delete:
		return fmt.Errorf("%w: a stream has a row of table %q that goes", store.ErrInvalid, c.Table(ch).Name)
	case !fresh && number <= g.last:
		return fmt.Errorf("%w: a stream has number %d of a series of table %q behind %d", store.ErrInvalid, number, c.Table(ch).Name, g.last)
	}
	g.last = number
	var buf [2 * binary.MaxVarintLen64]byte
	head := binary.AppendUvarint(binary.AppendUvarint(buf[:0], gap), uint64(len(value)))
	to := p.roomFor(g, len(head)+len(value))
	copy(to[copy(to, head):], value)
	return nil
}

// roomFor takes so many bytes of the last chunk of a series, or of a new one.
func (p *packed) roomFor(g *packedSeries, size int) []byte {
	var chunk []byte
	var length, taken int
	if g.first != g.name { // it has one
		chunk = p.at(g.tail)
		length, taken = int(binary.LittleEndian.Uint32(chunk[chunkSize:])), int(binary.LittleEndian.Uint32(chunk[chunkTaken:]))
	}
	if chunk == nil || length-taken < size {
		length = max(min(2*length, mostChunk), leastChunk, size)
		place := p.take(chunkRows + length)
		if chunk == nil {
			g.first = place
		} else {
			binary.LittleEndian.PutUint32(chunk, place)
		}
		chunk, taken, g.tail = p.at(place), 0, place
		binary.LittleEndian.PutUint32(chunk, 0)
		binary.LittleEndian.PutUint32(chunk[chunkSize:], uint32(length))
	}
	binary.LittleEndian.PutUint32(chunk[chunkTaken:], uint32(taken+size))
	return chunk[chunkRows+taken:][:size]
}

// seriesOf is the series of a name.
func (p *packed) seriesOf(hash uint32, name []byte) (g *packedSeries, fresh bool) {
	if at := p.names.Find(hash, func(at int) bool { return bytes.Equal(p.nameOf(&p.list[at]), name) }); at >= 0 {
		return &p.list[at], false
	}
	p.names.Add(hash, len(p.list))
	place := p.take(len(name))
	copy(p.at(place), name)
	p.list = append(p.list, packedSeries{word: wordOf(name, 0), name: place, first: place, tail: place, length: uint16(len(name))})
	return &p.list[len(p.list)-1], true
}

func (p *packed) nameOf(g *packedSeries) []byte { return p.at(g.name)[:g.length] }

func (p *packed) of(at *place) []byte { return p.nameOf(&p.list[at.at]) }

// inOrder returns the places of the series, sorted by name.
func (p *packed) inOrder() []place {
	places := make([]place, len(p.list))
	for i := range p.list {
		places[i] = place{word: p.list[i].word, at: uint32(i)}
	}
	spare := make([]place, len(places))
	sortWords(places, spare)
	sortEqual(p, places, spare, 8)
	return places
}

// each hands the rows of a series to fn, with keys that stay as they are until the row after
// the next.
func (p *packed) each(g *packedSeries, keys *[2][]byte, fn func(key, value []byte) error) error {
	name := p.nameOf(g)
	for i := range keys {
		keys[i] = append(append(keys[i][:0], name...), make([]byte, store.NumberBytes)...)
	}
	var number uint64
	for n, place := 0, g.first; ; {
		chunk := p.at(place)
		rows := chunk[chunkRows:][:binary.LittleEndian.Uint32(chunk[chunkTaken:])]
		for len(rows) > 0 {
			gap, a := binary.Uvarint(rows)
			size, b := binary.Uvarint(rows[a:])
			end := a + b + int(size)
			number += gap
			key := keys[n%2]
			binary.BigEndian.PutUint64(key[len(name):], number)
			if err := fn(key, rows[a+b:end:end]); err != nil {
				return err
			}
			rows, n = rows[end:], n+1
		}
		if place = binary.LittleEndian.Uint32(chunk); place == 0 {
			return nil
		}
	}
}

// touchRows looks at the memory of series, of all of them at once.
func (p *packed) touchRows(places []place) {
	var sum byte
	for i := range places {
		g := &p.list[places[i].at]
		sum += p.at(g.name)[0] + p.at(g.first)[chunkTaken]
	}
	p.sum = sum
}

// seriesWriter writes series into a table, in front of rows of tables with greater ids.
type seriesWriter struct {
	p      *packed
	places []place // that are left
	leaves *leafWriter
	keys   [2][]byte
}

// before writes the series of tables whose ids are lower.
func (w *seriesWriter) before(id int) error {
	for i := 0; len(w.places) > 0; i++ {
		g := &w.p.list[w.places[0].at]
		if int(w.p.at(g.name)[0]) >= id {
			return nil
		}
		if i%together == 0 {
			w.p.touchRows(w.places[:min(together, len(w.places))])
		}
		w.places = w.places[1:]
		if err := w.p.each(g, &w.keys, w.leaves.put); err != nil {
			return err
		}
		// It has slices of keys that become those of the next series.
		if err := w.leaves.flush(); err != nil {
			return err
		}
	}
	return nil
}
