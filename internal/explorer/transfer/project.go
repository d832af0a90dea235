package transfer

import (
	"sync"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/numbering"
	"chainexplorer/internal/explorer/postings"
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
			p.add(&t.From, Out.At(uint32(i), uint32(j)))
			p.add(&t.To, In.At(uint32(i), uint32(j))) // of one to oneself the other side of the same place
		}
	}
	p.write(b.Number, rows)
	return nil
}

// projectors keeps the memory of projections, which run many at a time.
var projectors = sync.Pool{New: func() any { return &projector{} }}

// projector gathers the lists of one block.
type projector struct {
	places    postings.Builder
	addresses numbering.Table
	lists     []postings.List // of addresses
	decoded   []Transfer
	buf       []byte
}

func (p *projector) reset() {
	if !p.places.Reset() {
		*p = projector{}
	}
	p.addresses.Reset()
	p.lists = p.lists[:0]
}

func (p *projector) add(address *felt.Felt, s postings.Spot) {
	n, fresh := p.addresses.Number(address, 0)
	if fresh {
		p.lists = append(p.lists, postings.List{})
	}
	p.places.Add(&p.lists[n], s)
}

func (p *projector) write(number uint64, rows *explorer.Rows) {
	block := explorer.BlockKey(number)
	for i, l := range p.lists {
		p.buf = p.places.Append(append(p.buf[:0], rowVersion), form, l)
		address, _ := p.addresses.At(int32(i))
		rows.Put(Addresses, address[:], block, p.buf)
	}
}
