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

// Tables lists the subject's tables.
func (Subject) Tables() []*store.Table { return []*store.Table{Addresses, Pairs} }

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
				p.party(&t.From, &t.Token, spot{uint32(i), uint32(j), Both})
				continue
			}
			p.party(&t.From, &t.Token, spot{uint32(i), uint32(j), Out})
			p.party(&t.To, &t.Token, spot{uint32(i), uint32(j), In})
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
	numbers map[partyToken]int32
	decoded []Transfer
	buf     []byte
}

// partyToken names a list; the token is not set for an address's own.
type partyToken struct {
	address, token felt.Felt
	pair           bool
}

// building is a list of the block: a chain through spots.
type building struct {
	partyToken
	first, end int32
}

type link struct {
	spot
	next int32
}

func newProjector() *projector { return &projector{numbers: map[partyToken]int32{}} }

// keepSpots bounds the memory that a projector keeps after a huge block.
const keepSpots = 1 << 16

func (p *projector) reset() {
	if cap(p.spots) > keepSpots {
		*p = *newProjector()
	}
	p.lists, p.spots = p.lists[:0], p.spots[:0]
	clear(p.numbers)
}

func (p *projector) party(address, token *felt.Felt, s spot) {
	p.add(partyToken{address: *address}, s)
	p.add(partyToken{*address, *token, true}, s)
}

func (p *projector) add(name partyToken, s spot) {
	at := int32(len(p.spots))
	p.spots = append(p.spots, link{s, -1})
	n, there := p.numbers[name]
	if !there {
		p.numbers[name] = int32(len(p.lists))
		p.lists = append(p.lists, building{name, at, at})
		return
	}
	l := &p.lists[n]
	p.spots[l.end].next, l.end = at, at
}

func (p *projector) write(number uint64, rows *explorer.Rows) {
	block := explorer.BlockKey(number)
	var pair [felt.Size + 8]byte
	copy(pair[felt.Size:], block)
	for i := range p.lists {
		l := &p.lists[i]
		p.buf = append(p.buf[:0], rowVersion)
		var last spot
		for at := l.first; at >= 0; at = p.spots[at].next {
			p.buf = appendSpot(p.buf, last, p.spots[at].spot, at == l.first)
			last = p.spots[at].spot
		}
		if !l.pair {
			rows.Put(Addresses, l.address[:], block, p.buf)
			continue
		}
		copy(pair[:], l.token[:])
		rows.Put(Pairs, l.address[:], pair[:], p.buf)
	}
}
