package transfer

import (
	"sync"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/store"
)

// Subject projects the transfers of addresses.
type Subject struct{}

var _ explorer.Subject = Subject{}

// Name is the subject's name.
func (Subject) Name() string { return "transfer" }

// Tables lists the subject's table.
func (Subject) Tables() []*store.Table { return []*store.Table{Addresses} }

// Project writes one row for every list that the block's transfers are in, in
// the order in which the lists first appear in the block.
func (Subject) Project(b *explorer.Block, rows *explorer.Rows) error {
	p := projectors.Get().(*projector)
	defer projectors.Put(p)
	p.reset()
	for i := range b.Receipts {
		events := b.Receipts[i].Events
		for j := range events {
			var layout Layout
			if p.decoded, layout = Append(p.decoded[:0], &events[j]); layout <= Malformed || len(p.decoded) == 0 {
				continue
			}
			t := &p.decoded[0] // the others have the same parties
			if t.From == t.To {
				p.add(&t.From, spot{uint32(i), uint32(j), Both})
				continue
			}
			p.add(&t.From, spot{uint32(i), uint32(j), Out})
			p.add(&t.To, spot{uint32(i), uint32(j), In})
		}
	}
	p.write(b.Number, rows)
	return nil
}

// projectors keeps the memory of projections, which run many at a time.
var projectors = sync.Pool{New: func() any { return newProjector() }}

// projector gathers the lists of one block. The map only finds a list's number
// and is never ranged over.
type projector struct {
	lists   []building
	spots   []link
	numbers map[felt.Felt]int32
	decoded []Transfer
	buf     []byte
}

// building is a list of the block: a chain through spots.
type building struct {
	address    felt.Felt
	first, end int32
}

type link struct {
	spot
	next int32
}

func newProjector() *projector { return &projector{numbers: map[felt.Felt]int32{}} }

// keepSpots bounds the memory that a projector keeps after a huge block.
const keepSpots = 1 << 16

func (p *projector) reset() {
	if cap(p.spots) > keepSpots {
		*p = *newProjector()
	}
	p.lists, p.spots = p.lists[:0], p.spots[:0]
	clear(p.numbers)
}

func (p *projector) add(address *felt.Felt, s spot) {
	at := int32(len(p.spots))
	p.spots = append(p.spots, link{s, -1})
	n, there := p.numbers[*address]
	if !there {
		p.numbers[*address] = int32(len(p.lists))
		p.lists = append(p.lists, building{*address, at, at})
		return
	}
	l := &p.lists[n]
	p.spots[l.end].next, l.end = at, at
}

func (p *projector) write(number uint64, rows *explorer.Rows) {
	block := explorer.BlockKey(number)
	for i := range p.lists {
		l := &p.lists[i]
		p.buf = append(p.buf[:0], rowVersion)
		var last spot
		for at := l.first; at >= 0; at = p.spots[at].next {
			p.buf = appendSpot(p.buf, last, p.spots[at].spot, at == l.first)
			last = p.spots[at].spot
		}
		rows.Put(Addresses, l.address[:], block, p.buf)
	}
}
