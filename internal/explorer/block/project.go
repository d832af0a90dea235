package block

import (
	"fmt"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/record"
)

// Subject projects blocks. It follows the chain: totals build on the parent's.
type Subject struct{}

var _ explorer.Follower = Subject{}

// Name is the subject's name.
func (Subject) Name() string { return "block" }

// Tables lists the subject's tables.
func (Subject) Tables() []*store.Table { return []*store.Table{Blocks, Hashes, Times, States} }

// Project writes the rows that need no other block.
func (Subject) Project(b *explorer.Block, rows *explorer.Rows) error {
	span, number := explorer.Span(b.Number), explorer.BlockKey(b.Number)
	rows.Put(Hashes, b.Hash[:], nil, number)
	rows.Put(Times, nil, timeSort(b.Timestamp, b.Number), nil)
	var e record.Encoder
	if state := encodeState(&e, &b.State); state != nil {
		rows.Put(States, span, number, state)
	}
	return nil
}

// Recalled lists the table whose rows are asked for again.
func (Subject) Recalled() []*store.Table { return []*store.Table{Blocks} }

// Plan asks for the parent.
func (Subject) Plan(b *explorer.Block) explorer.Plan {
	var keys []store.Key
	if b.Number > 0 {
		keys = []store.Key{Key(b.Number - 1)}
	}
	return explorer.Plan{Keys: keys, Follow: func(earlier [][]byte, rows *explorer.Rows) error {
		return follow(b, earlier, rows)
	}}
}

// follow writes the block's own row.
func follow(b *explorer.Block, earlier [][]byte, rows *explorer.Rows) error {
	s := Summary{Header: b.Header}
	if b.Number > 0 {
		if earlier[0] == nil {
			return fmt.Errorf("block %d: the row of its parent is missing", b.Number)
		}
		parent, err := decodeSummary(b.Number-1, earlier[0])
		if err != nil {
			return err
		}
		s.TotalTransactions, s.TotalEvents = parent.TotalTransactions, parent.TotalEvents
	}
	s.Transactions = uint64(len(b.Transactions))
	for i := range b.Receipts {
		r := &b.Receipts[i]
		s.Events += uint64(len(r.Events))
		s.Messages += uint64(len(r.MessagesSent))
		if r.Execution == starknet.Reverted {
			s.Reverted++
		}
	}
	s.StateDiffLength = b.StateDiffLength
	s.TotalTransactions += s.Transactions
	s.TotalEvents += s.Events
	var e record.Encoder
	rows.Put(Blocks, explorer.Span(b.Number), explorer.BlockKey(b.Number), encodeSummary(&e, &s))
	return nil
}
