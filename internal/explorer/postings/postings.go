// Package postings writes and reads the rows of lists of logs, for the subjects that
// keep a list of every value they can be asked for. It holds the codec of a row and
// the builder that gathers the lists of a block; how far a list is read, and in
// which chunks, is the matter of the subject that keeps it.
//
// Rows and keys. A list is a range of a subject's table. It has one row for every
// block in which it has something, and its sort key ends in the block's number, so
// that a list is read as a range of blocks in either order. The row holds, behind
// what the subject puts in front (a version, and of a pair of an address and a
// token the balance), for every place in order one number when it is of the same
// transaction as the place before it and two when not:
//
//	same transaction   (log - log before - 1) << (1 + bits) | 1 << bits | tag
//	next transaction   (tx - tx before - 1) << (1 + bits) | tag, log
//
// where the transaction before the first is -1, and bits is the Form's: how much a
// list says of a place besides where it is. Numbers are varints in their shortest
// form, so that every list of places has exactly one row, and Decode refuses all
// others.
//
// Cost. Most places take one or two bytes. Reading or writing one is some ten
// nanoseconds and no allocation; a Builder keeps 16 bytes for each place of the
// block while the block is projected, in one piece of memory that the next block
// takes over. A row is read whole: it is bounded by the events of one block.
//
// The lists of package places look alike and are not these: there the second
// number of a place is no index that grows within a transaction but any number,
// such as a set of parts, so that it is written whole beside every step, and a
// transaction comes with a step of zero.
package postings

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"iter"
	"math"
	"slices"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/store/record"
)

// Spot is the place of a log in its block, and what a list says of it.
type Spot struct {
	Tx  uint32 // the transaction's index in its block
	Log uint32 // the log's index in its transaction
	Tag uint8  // zero in a Plain list
}

// MaxIndex is the largest Tx and Log: an index behind all of them exists.
const MaxIndex = explorer.BehindAll - 1

// start is what is in front of the first place of a row: one up from its
// transaction is zero.
var start = Spot{Tx: math.MaxUint32}

// Before reports whether s comes first in the block.
func (s Spot) Before(t Spot) bool { return s.Tx < t.Tx || s.Tx == t.Tx && s.Log < t.Log }

// Compare orders places as the block does, whatever their tags.
func Compare(s, t Spot) int {
	if c := cmp.Compare(s.Tx, t.Tx); c != 0 {
		return c
	}
	return cmp.Compare(s.Log, t.Log)
}

// Union sorts the places of several lists and makes one of those that are the
// same, with the tags of all. It works in place.
func Union(spots []Spot) []Spot {
	slices.SortFunc(spots, Compare)
	out := spots[:0]
	for _, s := range spots {
		if n := len(out); n > 0 && Compare(out[n-1], s) == 0 {
			out[n-1].Tag |= s.Tag
			continue
		}
		out = append(out, s)
	}
	return out
}

// Form is how many bits of tag the places of a list have. A tag is a set: where
// there are bits, one at least is set.
type Form uint8

// The forms.
const (
	Plain  Form = 0
	Tagged Form = 2
)

// append writes a place behind another of the same list, or start.
func (f Form) append(b []byte, last, s Spot) []byte {
	if s.Tx == last.Tx {
		return binary.AppendUvarint(b, uint64(s.Log-last.Log-1)<<(1+f)|1<<f|uint64(s.Tag))
	}
	b = binary.AppendUvarint(b, uint64(s.Tx-last.Tx-1)<<(1+f)|uint64(s.Tag))
	return binary.AppendUvarint(b, uint64(s.Log))
}

// Encode appends places. They ascend, are at most MaxIndex and have tags of the
// form.
func (f Form) Encode(b []byte, spots ...Spot) []byte {
	last := start
	for _, s := range spots {
		b = f.append(b, last, s)
		last = s
	}
	return b
}

// cut takes the place behind another off the front of b.
func (f Form) cut(b []byte, last Spot) (s Spot, rest []byte, ok bool) {
	n, rest, ok := Number(b)
	s.Tag = uint8(n & (1<<f - 1))
	if !ok || f != Plain && s.Tag == 0 {
		return s, nil, false
	}
	step := n >> (1 + f) // at most 63 bits: the sums below do not overflow
	if n&(1<<f) != 0 {
		log := uint64(last.Log) + 1 + step
		if last == start || log > MaxIndex {
			return s, nil, false
		}
		s.Tx, s.Log = last.Tx, uint32(log)
		return s, rest, true
	}
	tx := uint64(last.Tx+1) + step // which is zero at the start
	log, rest, ok := Number(rest)
	if !ok || tx > MaxIndex || log > MaxIndex {
		return s, nil, false
	}
	s.Tx, s.Log = uint32(tx), uint32(log)
	return s, rest, true
}

// Decode appends the places that Encode wrote. It accepts nothing else: they
// ascend, and there is at least one. Other bytes are a record.ErrCorrupt.
func (f Form) Decode(dst []Spot, b []byte) ([]Spot, error) {
	if len(b) == 0 {
		return dst, errEmpty
	}
	last, ok := start, false
	for len(b) > 0 {
		if last, b, ok = f.cut(b, last); !ok {
			return dst, errBad
		}
		dst = append(dst, last)
	}
	return dst, nil
}

// All goes through the places that Encode wrote, and keeps none. What Decode does
// not accept ends in an error, behind the places in front of it.
func (f Form) All(b []byte) iter.Seq2[Spot, error] {
	return func(yield func(Spot, error) bool) {
		if len(b) == 0 {
			yield(Spot{}, errEmpty)
			return
		}
		rest := b
		for last, ok := start, false; len(rest) > 0; {
			if last, rest, ok = f.cut(rest, last); !ok {
				yield(Spot{}, errBad)
				return
			}
			if !yield(last, nil) {
				return
			}
		}
	}
}

var (
	errEmpty = fmt.Errorf("%w: list without a place", record.ErrCorrupt)
	errBad   = fmt.Errorf("%w: list with a bad place", record.ErrCorrupt)
)

// Number takes a varint in its shortest form off the front of b.
func Number(b []byte) (n uint64, rest []byte, ok bool) {
	if len(b) > 0 && b[0] < 0x80 { // as nearly all are
		return uint64(b[0]), b[1:], true
	}
	return long(b)
}

func long(b []byte) (n uint64, rest []byte, ok bool) {
	n, size := binary.Uvarint(b)
	if size <= 0 || size > 1 && b[size-1] == 0 {
		return 0, nil, false
	}
	return n, b[size:], true
}
