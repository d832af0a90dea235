package transaction

import (
	"sync"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/record"
)

// Subject projects transactions.
type Subject struct{}

var _ explorer.Subject = Subject{}

// Name is the subject's name.
func (Subject) Name() string { return "transaction" }

// Tables lists the subject's tables.
func (Subject) Tables() []*store.Table { return []*store.Table{Transactions, Hashes} }

// encoders keeps the memory of projections, which run many at a time.
var encoders = sync.Pool{New: func() any { return new(record.Encoder) }}

// Project writes two rows per transaction.
func (Subject) Project(b *explorer.Block, rows *explorer.Rows) error {
	e := encoders.Get().(*record.Encoder)
	defer encoders.Put(e)
	stretch := explorer.Stretch(b.Number)
	stamp := &Stamp{b.Hash, b.Timestamp}
	var pos [explorer.PositionSize]byte
	for i := range b.Transactions {
		t, r := &b.Transactions[i], &b.Receipts[i]
		p := explorer.Position{Block: b.Number, Index: uint32(i)}.Append(pos[:0])
		var value []byte
		if b.Stored != nil {
			value = b.Stored[i]
		} else {
			value = encode(e, stamp, t, r)
		}
		rows.Put(Transactions, stretch, p, value)
		rows.Put(Hashes, t.Hash[:], nil, p)
	}
	return nil
}
