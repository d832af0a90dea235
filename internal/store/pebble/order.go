package pebble

import (
	"bytes"
	"slices"

	"chainexplorer/internal/store"
)

// inKeyOrder returns the changes sorted by key, and changes of one key in the order in
// which they were made. Pebble's memtable takes sorted keys several times faster: each
// finds its place next to the one before.
//
// Keys are compared eight bytes at a time, all of them at the same place of the
// key: looking a key up costs more than comparing two numbers. Most keys that
// begin alike are one list's rows of neighbouring blocks, and in order already.
//
// They are put apart by table first: what is sorted then is small enough to stay near the
// processor, and the memory beside it is that of the largest table alone.
func inKeyOrder(c *store.Changes, memory *sorting) []store.Change {
	n := c.Len()
	memory.list = slices.Grow(memory.list[:0], n)[:n]
	var ends [256]int // of the changes of a table, by its id
	list := c.List()
	for i := range list {
		ends[list[i].ID]++
	}
	at, most := 0, 0
	for id, n := range ends {
		ends[id], at, most = at, at+n, max(most, n)
	}
	for i := range list {
		to := &ends[list[i].ID]
		memory.list[*to] = list[i]
		*to++
	}
	memory.spare = slices.Grow(memory.spare[:0], most)[:most]
	from := 0
	for _, end := range ends {
		if end-from > 1 {
			sortWords(memory.list[from:end], memory.spare)
			sortEqual(c, memory.list[from:end], memory.spare, 8)
		}
		from = end
	}
	return memory.list
}

// sorting is memory for the sorted changes of a commit.
type sorting struct{ list, spare []store.Change }

// deepest is from where on keys are compared as a whole. It ends what zeros
// behind a key's end could make endless.
const deepest = 96

// sortEqual sorts changes that are sorted by the bytes before from, and have words of
// those last eight. spare is no shorter than list.
func sortEqual(c *store.Changes, list, spare []store.Change, from int) {
	for len(list) > 0 {
		n := 1
		for n < len(list) && list[n].Word == list[0].Word {
			n++
		}
		if n > 1 && !inOrder(c, list[:n]) {
			sortFrom(c, list[:n], spare[:n], from)
		}
		list, spare = list[n:], spare[n:]
	}
}

// sortFrom sorts changes whose keys agree in the bytes before from.
func sortFrom(c *store.Changes, list, spare []store.Change, from int) {
	if from >= deepest {
		slices.SortStableFunc(list, func(a, b store.Change) int { return bytes.Compare(c.Key(&a), c.Key(&b)) })
		return
	}
	for i := range list {
		list[i].Word = c.KeyWord(&list[i], from)
	}
	sortWords(list, spare)
	sortEqual(c, list, spare, from+8)
}

// fewChanges are sorted by comparing them, and so few by inserting each.
const (
	fewChanges = 96
	insertable = 12
)

// sortWords sorts by word, and leaves changes of one word in their order.
func sortWords(list, spare []store.Change) {
	if len(list) < fewChanges {
		mergeWords(list, spare)
		return
	}
	// A sort byte by byte, the last byte first, guesses no branch.
	from, to := list, spare[:len(list)]
	for shift := 0; shift < 64; shift += 8 {
		var starts [256]int
		for i := range from {
			starts[byte(from[i].Word>>shift)]++
		}
		if starts[byte(from[0].Word>>shift)] == len(from) {
			continue // they agree in this byte
		}
		sum := 0
		for b, n := range starts {
			starts[b] = sum
			sum += n
		}
		for i := range from {
			b := byte(from[i].Word >> shift)
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
func mergeWords(list, spare []store.Change) {
	if len(list) <= insertable {
		for i := 1; i < len(list); i++ {
			for j := i; j > 0 && list[j].Word < list[j-1].Word; j-- {
				list[j], list[j-1] = list[j-1], list[j]
			}
		}
		return
	}
	half := len(list) / 2
	mergeWords(list[:half], spare)
	mergeWords(list[half:], spare)
	if list[half-1].Word <= list[half].Word {
		return
	}
	a, b, at := spare[:copy(spare, list[:half])], list[half:], 0
	for len(a) > 0 && len(b) > 0 {
		if b[0].Word < a[0].Word {
			list[at], b = b[0], b[1:]
		} else {
			list[at], a = a[0], a[1:]
		}
		at++
	}
	copy(list[at:], a)
}

// inOrder says whether the keys ascend.
func inOrder(c *store.Changes, list []store.Change) bool {
	last := c.Key(&list[0])
	for i := 1; i < len(list); i++ {
		key := c.Key(&list[i])
		if bytes.Compare(last, key) > 0 {
			return false
		}
		last = key
	}
	return true
}

// lastChanges leaves the last change of each row: blocks that share a batch change
// the same balances and counters again and again. Changes of one key have the same word:
// they were never told apart.
func lastChanges(c *store.Changes, list []store.Change) []store.Change {
	kept := list[:0]
	for i := range list {
		if i+1 < len(list) && list[i+1].Word == list[i].Word && bytes.Equal(c.Key(&list[i]), c.Key(&list[i+1])) {
			continue
		}
		kept = append(kept, list[i])
	}
	return kept
}
