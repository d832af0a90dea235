package pebble

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"math"
	"slices"

	"chainexplorer/internal/store"
	"chainexplorer/internal/store/names"
)

// A series is committed in the order of its numbers, so that its rows in a commit need not
// be sorted: they are put together by the name of the series, which is what their keys
// begin with, and stay in the order in which they were made. What is left to sort is one
// place for each series, and those of other rows.

// manyChanges are worth being put together.
const manyChanges = 4096

// gathering puts changes together: those of a series, and each other change by itself.
type gathering struct {
	of    []uint32 // the group of each change
	group []group
	names names.Table // of groups that are series

	hashes [together]uint32
	likely []store.Change
}

type group struct {
	number uint64 // of the last row
	// last is where that stands in the list of changes: it was looked at later than the others.
	// When all are sorted it is where the next one goes.
	last  uint32
	count uint32
}

var nameSeed = maphash.MakeSeed()

// hashOf is the hash of the name of a series.
func hashOf(name []byte) uint32 { return uint32(maphash.Bytes(nameSeed, name)) }

// gather finds one place for every series and one for every other change. It is false if
// rows of a series do not come in the order of their numbers, each once.
func (m *sorting) gather(c *store.Changes) bool {
	var series [256]bool
	for _, t := range c.Tables() {
		series[t.ID] = t.Series
	}
	k := keys{c, c.List()}
	m.of = slices.Grow(m.of[:0], len(k.list))[:len(k.list)]
	m.found, m.group = m.found[:0], m.group[:0]
	m.names.Reset()
	for from := 0; from < len(k.list); from += together {
		list := k.list[from:min(from+together, len(k.list))]
		hashes := m.lookUp(k, list, &series)
		for i := range list {
			ch, own := &list[i], group{last: uint32(from + i), count: 1}
			if series[ch.ID] {
				key := c.Key(ch)
				end := len(key) - store.NumberBytes
				own.number = binary.BigEndian.Uint64(key[end:])
				if of := m.groupOf(k, hashes[i], key[:end]); of < len(m.group) {
					g := &m.group[of]
					if own.number <= g.number {
						return false
					}
					g.number, g.last = own.number, own.last
					g.count++
					m.of[from+i] = uint32(of)
					continue
				}
			}
			m.of[from+i] = uint32(len(m.group))
			m.found = append(m.found, place{word: ch.Word, at: own.last, of: uint32(len(m.group))})
			m.group = append(m.group, own)
		}
	}
	return true
}

// lookUp returns the hashes of the names of changes. It looks at the memory of the rows that
// these names will be compared with, all at once: see store.Changes.Touch.
func (m *sorting) lookUp(k keys, list []store.Change, series *[256]bool) *[together]uint32 {
	m.likely = m.likely[:0]
	for i := range list {
		if ch := &list[i]; series[ch.ID] {
			key := k.c.Key(ch)
			hash := hashOf(key[:len(key)-store.NumberBytes])
			m.hashes[i] = hash
			if of := m.names.Likely(hash); of >= 0 {
				m.likely = append(m.likely, k.list[m.group[of].last])
			}
		}
	}
	k.c.Touch(m.likely)
	return &m.hashes
}

// groupOf is the group of the series of this name, and if there is none the next, which is
// of that name from then on.
func (g *gathering) groupOf(k keys, hash uint32, name []byte) int {
	of := g.names.Find(hash, func(of int) bool { return bytes.HasPrefix(k.c.Key(&k.list[g.group[of].last]), name) })
	if of < 0 {
		of = len(g.group)
		g.names.Add(hash, of)
	}
	return of
}

// spread puts the changes of groups whose places were kept in the order of those.
func (m *sorting) spread(list []store.Change, places []place) []store.Change {
	const none = math.MaxUint32
	for i := range m.group {
		m.group[i].last = none
	}
	n := uint32(0)
	for i := range places {
		g := &m.group[places[i].of]
		g.last = n
		n += g.count
	}
	m.list = slices.Grow(m.list[:0], int(n))[:n]
	for i := range list {
		if to := &m.group[m.of[i]].last; *to != none {
			m.list[*to] = list[i]
			*to++
		}
	}
	return m.list
}
