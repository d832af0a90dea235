package transaction

import (
	"context"
	"fmt"
	"math"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/record"
)

// storedChunk is how much memory StoredOf takes at a time.
const storedChunk = 64 << 10

// StoredOf returns the values of the transactions' rows of blocks, which are of one stretch:
// for each from first to last, in the order of its transactions. One scan.
func StoredOf(ctx context.Context, r store.Reader, first, last uint64) ([][][]byte, error) {
	out := make([][][]byte, last-first+1)
	rng := blockRange(first, 0, math.MaxInt32)
	rng.To = blockRange(last, 0, 1).To
	var chunk []byte
	for row, err := range r.Scan(ctx, rng) {
		if err != nil {
			return nil, fmt.Errorf("read transactions of blocks %d to %d: %w", first, last, err)
		}
		p, ok := explorer.ParsePosition(row.Sort)
		if !ok {
			return nil, fmt.Errorf("transaction row with a key of %d bytes", len(row.Sort))
		}
		rows := &out[p.Block-first]
		if int(p.Index) != len(*rows) {
			return nil, fmt.Errorf("transaction %d of block %d is missing", len(*rows), p.Block)
		}
		if cap(chunk)-len(chunk) < len(row.Value) {
			chunk = make([]byte, 0, max(len(row.Value), storedChunk))
		}
		from := len(chunk)
		chunk = append(chunk, row.Value...)
		*rows = append(*rows, chunk[from:len(chunk):len(chunk)])
	}
	return out, nil
}

// Memory is where the transactions of one block after the other are read.
type Memory struct {
	d            record.Decoder
	transactions []starknet.Transaction
	receipts     []starknet.Receipt
}

// Read reads what StoredOf returned of a block. It is there until the next one is read.
func (m *Memory) Read(number uint64, stored [][]byte) ([]starknet.Transaction, []starknet.Receipt, error) {
	m.d.RecycleAll()
	m.transactions, m.receipts = m.transactions[:0], m.receipts[:0]
	for i, b := range stored {
		rec := Record{Position: explorer.Position{Block: number, Index: uint32(i)}}
		if err := rec.read(&m.d, b, nil); err != nil {
			return nil, nil, err
		}
		m.transactions, m.receipts = append(m.transactions, rec.Transaction), append(m.receipts, rec.Receipt)
	}
	return m.transactions, m.receipts, nil
}
