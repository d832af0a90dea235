package pebble

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"

	"chainexplorer/internal/store"
)

// place is where a change stands in its batch, with eight bytes of its key on
// disk, which decide most comparisons without a look at the change.
type place struct {
	word  uint64
	index int
}

// inKeyOrder returns the places of the changes sorted by key, and changes of
// one key in the order in which they were made. Pebble's memtable takes sorted
// keys several times faster: each finds its place next to the one before. The
// keys have passed the schema's check, so those of one table have partitions
// of one length.
//
// Keys are compared eight bytes at a time, all of them at the same place of the
// key: looking a change up costs more than comparing two numbers. Most keys that
// begin alike are one list's rows of neighbouring blocks, and in order already.
func inKeyOrder(ops []store.Op) []place {
	places := make([]place, len(ops))
	for i := range places {
		places[i].index = i
	}
	sortFrom(ops, places, make([]place, len(ops)), 0)
	return places
}

// deepest is from where on keys are compared as a whole. It ends what zeros
// behind a key's end could make endless.
const deepest = 96

// sortFrom sorts the places of keys that agree in the bytes before from. spare
// is as long as places.
func sortFrom(ops []store.Op, places, spare []place, from int) {
	if from >= deepest {
		slices.SortFunc(places, func(a, b place) int {
			if c := compareKeys(&ops[a.index].Key, &ops[b.index].Key); c != 0 {
				return c
			}
			return cmp.Compare(a.index, b.index)
		})
		return
	}
	for i := range places {
		places[i].word = keyWord(&ops[places[i].index].Key, from)
	}
	sortWords(places, spare)
	for len(places) > 0 {
		n := 1
		for n < len(places) && places[n].word == places[0].word {
			n++
		}
		if n > 1 && !inOrder(ops, places[:n]) {
			sortFrom(ops, places[:n], spare[:n], from+8)
		}
		places = places[n:]
	}
}

// fewPlaces are sorted by comparing them.
const fewPlaces = 128

// sortWords sorts by word and, in it, by index. The indexes ascend: a sort byte
// by byte, the last byte first, keeps them so, and guesses no branch.
func sortWords(places, spare []place) {
	if len(places) < fewPlaces {
		slices.SortFunc(places, func(a, b place) int {
			if a.word != b.word {
				return cmp.Compare(a.word, b.word)
			}
			return cmp.Compare(a.index, b.index)
		})
		return
	}
	from, to := places, spare[:len(places)]
	for shift := 0; shift < 64; shift += 8 {
		var starts [256]int
		for i := range from {
			starts[byte(from[i].word>>shift)]++
		}
		if starts[byte(from[0].word>>shift)] == len(from) {
			continue // they agree in this byte
		}
		sum := 0
		for b, n := range starts {
			starts[b] = sum
			sum += n
		}
		for i := range from {
			b := byte(from[i].word >> shift)
			to[starts[b]] = from[i]
			starts[b]++
		}
		from, to = to, from
	}
	if &from[0] != &places[0] {
		copy(places, from)
	}
}

// inOrder says whether the keys ascend.
func inOrder(ops []store.Op, places []place) bool {
	for i := 1; i < len(places); i++ {
		if compareKeys(&ops[places[i-1].index].Key, &ops[places[i].index].Key) > 0 {
			return false
		}
	}
	return true
}

// compareKeys orders keys that begin with the same table.
func compareKeys(a, b *store.Key) int {
	if c := bytes.Compare(a.Partition, b.Partition); c != 0 {
		return c
	}
	return bytes.Compare(a.Sort, b.Sort)
}

// keyWord is eight bytes of a key, zeros behind its end.
func keyWord(k *store.Key, from int) uint64 {
	var b [8]byte
	n := 0
	if from == 0 {
		b[0] = k.Table.ID
		n = 1
	} else {
		from--
	}
	if from < len(k.Partition) {
		n += copy(b[n:], k.Partition[from:])
		from = len(k.Partition)
	}
	if from -= len(k.Partition); from < len(k.Sort) && n < len(b) {
		copy(b[n:], k.Sort[from:])
	}
	return binary.BigEndian.Uint64(b[:])
}

// sameKey compares keys. Equal ones have the same word, too: they were never
// told apart.
func sameKey(a, b *store.Key) bool {
	return a.Table.ID == b.Table.ID && bytes.Equal(a.Sort, b.Sort) && bytes.Equal(a.Partition, b.Partition)
}
