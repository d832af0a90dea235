package event

import (
	"sync"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/numbering"
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
var projectors = sync.Pool{New: func() any { return &projector{} }}

// projector gathers the lists of one block.
type projector struct {
	places postings.Builder
	// names has for each list the value and its kind, and for one of a pair topic0 and, from
	// firstPair on, the number of the emitter's list.
	names numbering.Table
	lists []postings.List
	buf   []byte
}

const firstPair = kindEmitter + 1

func (p *projector) reset() {
	if !p.places.Reset() {
		*p = projector{}
	}
	p.names.Reset()
	p.lists = p.lists[:0]
}

func (p *projector) event(from *felt.Felt, keys []felt.Felt, s postings.Spot) {
	emitter := p.add(from, kindEmitter, s)
	for k := range keys[:min(len(keys), Positions)] {
		p.add(&keys[k], uint32(k), s)
		if k == 0 {
			p.add(&keys[k], firstPair+uint32(emitter), s)
		}
	}
}

func (p *projector) add(f *felt.Felt, kind uint32, s postings.Spot) int32 {
	n, fresh := p.names.Number(f, kind)
	if fresh {
		p.lists = append(p.lists, postings.List{})
	}
	p.places.Add(&p.lists[n], s)
	return n
}

func (p *projector) write(number uint64, rows *explorer.Rows) {
	sort := explorer.BlockKey(number)
	var key [1 + felt.Size]byte
	var pair [2 * felt.Size]byte
	for i, l := range p.lists {
		p.buf = p.places.Append(append(p.buf[:0], rowVersion), postings.Plain, l)
		f, kind := p.names.At(int32(i))
		if kind < firstPair {
			key[0] = byte(kind)
			copy(key[1:], f[:])
			rows.Put(Lists, key[:], sort, p.buf)
			continue
		}
		emitter, _ := p.names.At(int32(kind - firstPair))
		copy(pair[:felt.Size], emitter[:])
		copy(pair[felt.Size:], f[:])
		rows.Put(Pairs, pair[:], sort, p.buf)
	}
}
