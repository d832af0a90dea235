package postings

// Builder gathers the lists of one block while it is projected: all their places
// in one piece of memory, each list a chain through it. Which list is whose the
// subject knows, which finds lists by its own keys. The zero Builder is empty.
type Builder struct{ links []link }

// link is a place and the number of the next one of its list: one more than its
// index, and zero at the end.
type link struct {
	Spot
	next int32
}

// List is a list of a Builder; the zero List is empty.
type List struct{ first, last int32 }

// Empty reports whether nothing was added to the list.
func (l List) Empty() bool { return l.first == 0 }

// keep bounds the places whose memory a Builder keeps after a huge block.
const keep = 1 << 16

// Reset empties the builder, and the lists that were built are void. It keeps the
// memory for the next block, unless the block was huge: then it reports false, and
// whoever keeps keys beside it should let go of theirs, too.
func (b *Builder) Reset() (kept bool) {
	if cap(b.links) > keep {
		b.links = nil
		return false
	}
	b.links = b.links[:0]
	return true
}

// Add adds a place to a list, in the order of the block. A place that the list
// ends with already only gets the tag as well: an event that names an address
// twice is in its list once.
func (b *Builder) Add(l *List, s Spot) {
	n := int32(len(b.links)) + 1
	if l.first == 0 {
		l.first = n
	} else {
		last := &b.links[l.last-1]
		if last.Tx == s.Tx && last.Log == s.Log {
			last.Tag |= s.Tag
			return
		}
		last.next = n
	}
	l.last = n
	b.links = append(b.links, link{Spot: s})
}

// Append writes the places of a list, which is not empty.
func (b *Builder) Append(dst []byte, f Form, l List) []byte {
	last := start
	for n := l.first; n != 0; {
		at := &b.links[n-1]
		dst = f.append(dst, last, at.Spot)
		last, n = at.Spot, at.next
	}
	return dst
}
