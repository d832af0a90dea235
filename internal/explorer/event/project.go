package event

import (
	"sync"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/store"
)

// Subject projects events.
type Subject struct{}

var _ explorer.Subject = Subject{}

// Name is the subject's name.
func (Subject) Name() string { return "event" }

// Tables lists the subject's tables.
func (Subject) Tables() []*store.Table { return []*store.Table{Lists, Pairs} }

// Project writes one row for every list that the block's events are in. Rows
// come in the order in which their lists first appear in the block, which is a
// function of the block alone.
func (Subject) Project(b *explorer.Block, rows *explorer.Rows) error {
	p := projectors.Get().(*projector)
	defer projectors.Put(p)
	p.reset()
	for i := range b.Receipts {
		events := b.Receipts[i].Events
		for j := range events {
			p.event(&events[j].From, events[j].Keys, spot{uint32(i), uint32(j)})
		}
	}
	p.write(b.Number, rows)
	return nil
}

// projectors keeps the memory of projections, which run many at a time.
var projectors = sync.Pool{New: func() any {
	return &projector{values: map[[1 + felt.Size]byte]int32{}, pairs: map[uint64]int32{}}
}}

// projector gathers the lists of one block. The maps only find a list's number
// and are never ranged over; their hashes are seeded, so that nobody can choose
// keys that collide.
type projector struct {
	lists  []building
	spots  []link
	values map[[1 + felt.Size]byte]int32
	pairs  map[uint64]int32 // number of the emitter's list << 32 | number of topic0's
	buf    []byte
}

// building is a list of the block: a chain through spots.
type building struct {
	key        [1 + felt.Size]byte
	first, end int32
	// emitter and topic0 are the numbers of the two lists that a pair's list
	// belongs to; emitter is -1 for others.
	emitter, topic0 int32
}

type link struct {
	spot
	next int32
}

// keepSpots bounds the memory that a projector keeps after a huge block.
const keepSpots = 1 << 16

func (p *projector) reset() {
	if cap(p.spots) > keepSpots {
		*p = projector{values: map[[1 + felt.Size]byte]int32{}, pairs: map[uint64]int32{}}
	}
	p.lists, p.spots = p.lists[:0], p.spots[:0]
	clear(p.values)
	clear(p.pairs)
}

func (p *projector) event(from *felt.Felt, keys []felt.Felt, s spot) {
	emitter := p.value(kindEmitter, from, s)
	for k := range keys[:min(len(keys), Positions)] {
		n := p.value(byte(k), &keys[k], s)
		if k == 0 {
			p.pair(emitter, n, s)
		}
	}
}

func (p *projector) value(kind byte, f *felt.Felt, s spot) int32 {
	var key [1 + felt.Size]byte
	key[0] = kind
	copy(key[1:], f[:])
	n, there := p.values[key]
	if !there {
		n = int32(len(p.lists))
		p.values[key] = n
		p.lists = append(p.lists, building{key: key, first: -1, emitter: -1})
	}
	p.add(n, s)
	return n
}

func (p *projector) pair(emitter, topic0 int32, s spot) {
	key := uint64(emitter)<<32 | uint64(topic0)
	n, there := p.pairs[key]
	if !there {
		n = int32(len(p.lists))
		p.pairs[key] = n
		p.lists = append(p.lists, building{first: -1, emitter: emitter, topic0: topic0})
	}
	p.add(n, s)
}

func (p *projector) add(n int32, s spot) {
	at := int32(len(p.spots))
	p.spots = append(p.spots, link{s, -1})
	if l := &p.lists[n]; l.first < 0 {
		l.first, l.end = at, at
	} else {
		p.spots[l.end].next, l.end = at, at
	}
}

func (p *projector) write(number uint64, rows *explorer.Rows) {
	sort := explorer.BlockKey(number)
	var pair [2 * felt.Size]byte
	for i := range p.lists {
		l := &p.lists[i]
		p.buf = append(p.buf[:0], rowVersion)
		var last spot
		for at := l.first; at >= 0; at = p.spots[at].next {
			p.buf = appendSpot(p.buf, last, p.spots[at].spot, at == l.first)
			last = p.spots[at].spot
		}
		if l.emitter < 0 {
			rows.Put(Lists, l.key[:], sort, p.buf)
			continue
		}
		copy(pair[:felt.Size], p.lists[l.emitter].key[1:])
		copy(pair[felt.Size:], p.lists[l.topic0].key[1:])
		rows.Put(Pairs, pair[:], sort, p.buf)
	}
}
