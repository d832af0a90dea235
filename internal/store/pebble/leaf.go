package pebble

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"sync"

	"chainexplorer/internal/store"
)

// Most rows are those of series: lists of what a contract, an account or a pair of them
// has in a block. They are small, and come to all places of the key space, so that each is
// merged again and again as the store grows, which costs by the row and not by the byte.
// A large commit whose rows are settled writes neighbours of a series as one leaf, which
// makes one key of eight rows, and of fifty of those of busy pairs.
//
//	key    that of the last row, and a byte 0
//	value  per row: number less that of the row before (of the first: number of the last
//	       row less its own), length of the value, value (varints)
//
// A series is committed in the order of its numbers, hence leaves of it do not overlap,
// with each other or with single rows: the first key from where a row would be on is that
// row or the leaf that it is in. Rows in leaves cannot be changed. The number below which
// rows are settled is kept with the last commit's: changes of series below it are refused,
// and from there on there are single rows alone.
const (
	leafMark = 0
	// leafBytes is how large a leaf becomes, about: a page of rows has it all read.
	leafBytes = 1 << 10
)

// leafLengths are the lengths of leaves' keys by the ids of their tables, 0 for a table
// without any.
type leafLengths [256]int

func leafLengthsOf(tables []*store.Table) (l leafLengths) {
	for _, t := range tables {
		if t.Series {
			l[t.ID] = 1 + t.PartitionLen + t.SortLen + 1
		}
	}
	return l
}

// isLeaf says whether a key that is stored is a leaf's.
func (l *leafLengths) isLeaf(key []byte) bool { return l[key[0]] == len(key) }

// numberIn is the number in a key of a series, or what a bound has of one. It is false for
// a key that has none.
func (l *leafLengths) numberIn(key []byte) (n uint64, some bool) {
	name := l[key[0]] - 1 - store.NumberBytes
	if name < 0 || len(key) <= name {
		return 0, false
	}
	var b [store.NumberBytes]byte
	copy(b[:], key[name:])
	return binary.BigEndian.Uint64(b[:]), true
}

// inLeaf says whether a row may be in a leaf, or a bound between rows of one.
func (e *engine) inLeaf(key []byte) bool {
	n, some := e.leaves.numberIn(key)
	return some && n < e.settled.Load()
}

func errSettled(key []byte) error {
	return fmt.Errorf("%w: a change at %x of table %d, where rows are settled", store.ErrInvalid, key[1:], key[0])
}

// checkCuts says whether cuts leave leaves whole. The caller holds the writer's token.
func (e *engine) checkCuts(cuts []span) error {
	for i := range cuts {
		for _, end := range [][]byte{cuts[i].from, cuts[i].to} {
			if e.inLeaf(end) {
				return errSettled(end)
			}
		}
	}
	return nil
}

// leafWriter joins settled rows of a series that come one behind the other.
type leafWriter struct {
	lengths *leafLengths
	since   uint64 // numbers below it were settled before
	settled uint64 // numbers below it are from now on
	set     func(key, value []byte) error

	// What is held, if rows are.
	rows  int
	name  []byte // of the series: what its keys begin with
	first uint64
	last  uint64
	key   []byte // the last row's
	value []byte // the first row's
	buf   []byte // of the leaf: rows behind room for the first number

	leafKey []byte
}

// put writes a row, or holds it back. It keeps the slices until it is flushed.
func (w *leafWriter) put(key, value []byte) error {
	n, some := w.lengths.numberIn(key)
	switch {
	case some && n < w.since:
		return errSettled(key)
	case !some || n >= w.settled:
		if err := w.flush(); err != nil {
			return err
		}
		return w.set(key, value)
	}
	name := key[:len(key)-store.NumberBytes]
	if w.rows > 0 && (len(w.buf)+len(value) > leafBytes || !bytes.Equal(w.name, name)) {
		if err := w.flush(); err != nil {
			return err
		}
	}
	if w.rows == 0 {
		w.name, w.first, w.value = name, n, value
		w.buf = append(w.buf[:0], make([]byte, binary.MaxVarintLen64)...)
	} else {
		w.buf = binary.AppendUvarint(w.buf, n-w.last)
	}
	w.buf = append(binary.AppendUvarint(w.buf, uint64(len(value))), value...)
	w.key, w.last = key, n
	w.rows++
	return nil
}

// gone writes that a row goes.
func (w *leafWriter) gone(key []byte, remove func(key []byte) error) error {
	if n, some := w.lengths.numberIn(key); some && n < w.since {
		return errSettled(key)
	}
	if err := w.flush(); err != nil {
		return err
	}
	return remove(key)
}

// flush writes what is held: a row alone as it is.
func (w *leafWriter) flush() error {
	rows := w.rows
	w.rows = 0
	switch rows {
	case 0:
		return nil
	case 1:
		return w.set(w.key, w.value)
	}
	var first [binary.MaxVarintLen64]byte
	n := binary.PutUvarint(first[:], w.last-w.first)
	from := binary.MaxVarintLen64 - n
	copy(w.buf[from:], first[:n])
	w.leafKey = append(append(w.leafKey[:0], w.key...), leafMark)
	return w.set(w.leafKey, w.buf[from:])
}

// leaf is one that was read.
type leaf struct {
	key  []byte // of one of its rows at a time
	rows []leafRow
}

type leafRow struct {
	number uint64
	value  []byte // of the memory that was read
}

var leafPool = sync.Pool{New: func() any { return &leaf{} }}

func (l *leaf) giveBack() {
	clear(l.rows)
	l.rows = l.rows[:0]
	leafPool.Put(l)
}

// read takes a leaf apart, and looks at its memory from then on.
func (l *leaf) read(key, value []byte) error {
	l.rows = l.rows[:0]
	l.key = append(l.key[:0], key[:len(key)-1]...)
	last := binary.BigEndian.Uint64(l.key[len(l.key)-store.NumberBytes:])
	var number uint64
	for len(value) > 0 {
		gap, n := binary.Uvarint(value)
		if n <= 0 {
			return errLeaf(key)
		}
		value = value[n:]
		size, n := binary.Uvarint(value)
		if n <= 0 || size > uint64(len(value)-n) {
			return errLeaf(key)
		}
		switch {
		case len(l.rows) == 0 && gap <= last:
			number = last - gap
		case len(l.rows) > 0 && gap > 0 && gap <= last-number:
			number += gap
		default:
			return errLeaf(key)
		}
		end := n + int(size)
		l.rows = append(l.rows, leafRow{number, value[n:end:end]})
		value = value[end:]
	}
	if len(l.rows) == 0 || number != last {
		return errLeaf(key)
	}
	return nil
}

func errLeaf(key []byte) error {
	return fmt.Errorf("%w: the leaf %x of table %d", store.ErrDamaged, key[1:], key[0])
}

// keyOf is the key of a row, until the next is asked for.
func (l *leaf) keyOf(i int) []byte {
	binary.BigEndian.PutUint64(l.key[len(l.key)-store.NumberBytes:], l.rows[i].number)
	return l.key
}

// find is the value of the row with a number.
func (l *leaf) find(number uint64) (value []byte, found bool) {
	i, found := slices.BinarySearchFunc(l.rows, number, func(r leafRow, n uint64) int { return cmp.Compare(r.number, n) })
	if !found {
		return nil, false
	}
	return l.rows[i].value, true
}
