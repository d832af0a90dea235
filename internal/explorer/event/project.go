package event

import (
	"sync"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/postings"
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
			p.event(&events[j].From, events[j].Keys, postings.Spot{Tx: uint32(i), Log: uint32(j)})
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
	places postings.Builder
	lists  []building
	values map[[1 + felt.Size]byte]int32
	pairs  map[uint64]int32 // number of the emitter's list << 32 | number of topic0's
	buf    []byte
}

// building is a list of the block.
type building struct {
	key [1 + felt.Size]byte
	postings.List
	// emitter and topic0 are the numbers of the two lists that a pair's list
	// belongs to; emitter is -1 for others.
	emitter, topic0 int32
}

func (p *projector) reset() {
	if !p.places.Reset() {
		*p = projector{values: map[[1 + felt.Size]byte]int32{}, pairs: map[uint64]int32{}}
	}
	p.lists = p.lists[:0]
	clear(p.values)
	clear(p.pairs)
}

func (p *projector) event(from *felt.Felt, keys []felt.Felt, s postings.Spot) {
	emitter := p.value(kindEmitter, from, s)
	for k := range keys[:min(len(keys), Positions)] {
		n := p.value(byte(k), &keys[k], s)
		if k == 0 {
			p.pair(emitter, n, s)
		}
	}
}

func (p *projector) value(kind byte, f *felt.Felt, s postings.Spot) int32 {
	var key [1 + felt.Size]byte
	key[0] = kind
	copy(key[1:], f[:])
	n, there := p.values[key]
	if !there {
		n = int32(len(p.lists))
		p.values[key] = n
		p.lists = append(p.lists, building{key: key, emitter: -1})
	}
	p.places.Add(&p.lists[n].List, s)
	return n
}

func (p *projector) pair(emitter, topic0 int32, s postings.Spot) {
	key := uint64(emitter)<<32 | uint64(topic0)
	n, there := p.pairs[key]
	if !there {
		n = int32(len(p.lists))
		p.pairs[key] = n
		p.lists = append(p.lists, building{emitter: emitter, topic0: topic0})
	}
	p.places.Add(&p.lists[n].List, s)
}

func (p *projector) write(number uint64, rows *explorer.Rows) {
	sort := explorer.BlockKey(number)
	var pair [2 * felt.Size]byte
	for i := range p.lists {
		l := &p.lists[i]
		p.buf = p.places.Append(append(p.buf[:0], rowVersion), postings.Plain, l.List)
		if l.emitter < 0 {
			rows.Put(Lists, l.key[:], sort, p.buf)
			continue
		}
		copy(pair[:felt.Size], p.lists[l.emitter].key[1:])
		copy(pair[felt.Size:], p.lists[l.topic0].key[1:])
		rows.Put(Pairs, pair[:], sort, p.buf)
	}
}
