package pebble

import (
	"bytes"
	"encoding/binary"
	"slices"

	"chainexplorer/internal/store"
)

// inKeyOrder returns the last change of each row, sorted by key: blocks that share a batch
// change the same balances and counters again and again. Pebble's memtable takes sorted
// keys several times faster: each finds its place next to the one before.
//
// Most rows of a large commit are those of series, in the order of their numbers. What is
// sorted of them is one place for each series: see gather.
//
// Keys are compared eight bytes at a time, all of them at the same place of the
// key: looking a key up costs more than comparing two numbers.
//
// They are put apart by table first: what is sorted then is small enough to stay near the
// processor, and the memory beside it is that of the largest table alone.
func inKeyOrder(c *store.Changes, memory *sorting) []store.Change {
	gathered := c.Len() >= manyChanges && memory.gather(c)
	if !gathered {
		memory.each(c)
	}
	var ends [256]int // of the places of a table, by its id
	for i := range memory.found {
		ends[memory.found[i].id()]++
	}
	at, most := 0, 0
	for id, n := range ends {
		ends[id], at, most = at, at+n, max(most, n)
	}
	memory.places = slices.Grow(memory.places[:0], len(memory.found))[:len(memory.found)]
	for i := range memory.found {
		to := &ends[memory.found[i].id()]
		memory.places[*to] = memory.found[i]
		*to++
	}
	k, spare, from := keys{c, c.List()}, memory.found[:most], 0
	for _, end := range ends {
		if end-from > 1 {
			sortWords(memory.places[from:end], spare)
			sortEqual(k, memory.places[from:end], spare, 8)
		}
		from = end
	}
	places := k.lastOf(memory.places)
	if gathered {
		return memory.spread(k.list, places)
	}
	memory.list = slices.Grow(memory.list[:0], len(places))[:len(places)]
	for i := range places {
		memory.list[i] = k.list[places[i].at]
	}
	return memory.list
}

// place is where a change stands in the list of all, or the first of a gathering.
type place struct {
	word uint64 // eight bytes of its key, the first ones to begin with
	at   uint32
	of   uint32 // the gathering
}

// id is that of its table, as long as its word is the first of the key.
func (p *place) id() byte { return byte(p.word >> 56) }

// sorting is memory for sorting the changes of a commit.
type sorting struct {
	list          []store.Change // the result
	found, places []place        // as they came, then spare, and as they are sorted
	gathering
}

// each finds a place for every change.
func (m *sorting) each(c *store.Changes) {
	list := c.List()
	m.found = slices.Grow(m.found[:0], len(list))[:len(list)]
	for i := range list {
		m.found[i] = place{word: list[i].Word, at: uint32(i)}
	}
}

// keys looks up the keys of places.
type keys struct {
	c    *store.Changes
	list []store.Change
}

func (k keys) of(p *place) []byte { return k.c.Key(&k.list[p.at]) }

// keyed is what has the keys of places.
type keyed interface{ of(p *place) []byte }

// wordOf is eight bytes of a key, zeros behind its end.
func wordOf(key []byte, from int) uint64 {
	if len(key) >= from+8 {
		return binary.BigEndian.Uint64(key[from:])
	}
	var b [8]byte
	copy(b[:], key[min(from, len(key)):])
	return binary.BigEndian.Uint64(b[:])
}

// deepest is from where on keys are compared as a whole. It ends what zeros
// behind a key's end could make endless.
const deepest = 96

// sortEqual sorts places that are sorted by the bytes before from, and have words of
// those last eight. spare is no shorter than list.
func sortEqual[K keyed](k K, list, spare []place, from int) {
	for len(list) > 0 {
		n := 1
		for n < len(list) && list[n].word == list[0].word {
			n++
		}
		if n > 1 && !inOrder(k, list[:n]) {
			sortFrom(k, list[:n], spare[:n], from)
		}
		list, spare = list[n:], spare[n:]
	}
}

// sortFrom sorts places whose keys agree in the bytes before from.
func sortFrom[K keyed](k K, list, spare []place, from int) {
	if from >= deepest {
		slices.SortStableFunc(list, func(a, b place) int { return bytes.Compare(k.of(&a), k.of(&b)) })
		return
	}
	for i := range list {
		list[i].word = wordOf(k.of(&list[i]), from)
	}
	sortWords(list, spare)
	sortEqual(k, list, spare, from+8)
}

// fewChanges are sorted by comparing them, and so few by inserting each.
const (
	fewChanges = 96
	insertable = 12
)

// sortWords sorts by word, and leaves places of one word in their order.
func sortWords(list, spare []place) {
	if len(list) < fewChanges {
		mergeWords(list, spare)
		return
	}
	// A sort byte by byte, the last byte first, guesses no branch.
	from, to := list, spare[:len(list)]
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
	if &from[0] != &list[0] {
		copy(list, from)
	}
}

// mergeWords is sortWords for few.
func mergeWords(list, spare []place) {
	if len(list) <= insertable {
		for i := 1; i < len(list); i++ {
			for j := i; j > 0 && list[j].word < list[j-1].word; j-- {
				list[j], list[j-1] = list[j-1], list[j]
			}
		}
		return
	}
	half := len(list) / 2
	mergeWords(list[:half], spare)
	mergeWords(list[half:], spare)
	if list[half-1].word <= list[half].word {
		return
	}
	a, b, at := spare[:copy(spare, list[:half])], list[half:], 0
	for len(a) > 0 && len(b) > 0 {
		if b[0].word < a[0].word {
			list[at], b = b[0], b[1:]
		} else {
			list[at], a = a[0], a[1:]
		}
		at++
	}
	copy(list[at:], a)
}

// inOrder says whether the keys ascend.
func inOrder[K keyed](k K, list []place) bool {
	last := k.of(&list[0])
	for i := 1; i < len(list); i++ {
		key := k.of(&list[i])
		if bytes.Compare(last, key) > 0 {
			return false
		}
		last = key
	}
	return true
}

// lastOf leaves the last place of each row. Places of one key have the same word: they were
// never told apart.
func (k keys) lastOf(list []place) []place {
	kept := list[:0]
	for i := range list {
		if i+1 < len(list) && list[i+1].word == list[i].word && bytes.Equal(k.of(&list[i]), k.of(&list[i+1])) {
			continue
		}
		kept = append(kept, list[i])
	}
	return kept
}
