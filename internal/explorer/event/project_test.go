package event_test

import (
	"bytes"
	"testing"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/event"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/starknet"
)

// TestRowsPerListAndBlock pins the rows of a block with two events.
func TestRowsPerListAndBlock(t *testing.T) {
	b := &starknet.Block{}
	b.Number = 7
	e := starknet.Event{From: emitter(1)}
	for k := range event.Positions + 2 {
		e.Keys = append(e.Keys, value(k, 5))
	}
	plain := starknet.Event{From: emitter(1)}
	b.Transactions = make([]starknet.Transaction, 3)
	b.Receipts = make([]starknet.Receipt, 3)
	b.Receipts[2].Events = []starknet.Event{plain, e}
	rows := &explorer.Rows{}
	if err := (event.Subject{}).Project(explorer.NewBlock(b, &starknet.StateUpdate{}), rows); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, op := range rows.Ops() {
		if len(op.Partition) != op.Table.PartitionLen || !bytes.Equal(op.Sort, explorer.BlockKey(7)) || op.Delete {
			t.Errorf("row %+v", op)
		}
		key := op.Table.Name + string(op.Partition)
		if seen[key] {
			t.Errorf("two rows for one list: %x", key)
		}
		seen[key] = true
		want := []byte{1, 4, 1}
		if op.Partition[0] == event.Positions && op.Table == event.Lists {
			want = []byte{1, 4, 0, 1} // both events
		}
		if !bytes.Equal(op.Value, want) {
			t.Errorf("row of %x is %x, want %x", op.Partition, op.Value, want)
		}
	}
	if len(seen) != event.Positions+2 {
		t.Errorf("%d rows, want one for each position, the emitter and the pair", len(seen))
	}
}

// TestProjectionIsAFunction runs it twice and at the same time.
func TestProjectionIsAFunction(t *testing.T) {
	c := handmade(12, 60)
	sum := func() (out [][32]byte) {
		for _, b := range c {
			rows := &explorer.Rows{}
			if err := (event.Subject{}).Project(explorer.NewBlock(b, &starknet.StateUpdate{}), rows); err != nil {
				t.Error(err)
			}
			out = append(out, rows.Sum())
		}
		return out
	}
	sums := make(chan [][32]byte)
	for range 4 {
		go func() { sums <- sum() }()
	}
	want := sum()
	for range 4 {
		for i, got := range <-sums {
			if got != want[i] {
				t.Errorf("block %d has other rows", i)
			}
		}
	}
}

// BenchmarkProject is the cost on the write path, per block of 50 transactions
// and 290 events.
func BenchmarkProject(b *testing.B) {
	var blocks []*explorer.Block
	events := 0
	err := simnode.Generate(simnode.Config{Seed: 1, Blocks: 200, TxPerBlock: 50, EventsPerTx: 5.78},
		func(blk *starknet.Block, su *starknet.StateUpdate) error {
			if blk.Number >= 100 {
				blocks = append(blocks, explorer.NewBlock(blk, su))
				events += blk.EventCount()
			}
			return nil
		})
	if err != nil {
		b.Fatal(err)
	}
	rowCount, i := 0, 0
	b.ReportAllocs()
	for b.Loop() {
		rows := &explorer.Rows{}
		if err := (event.Subject{}).Project(blocks[i%len(blocks)], rows); err != nil {
			b.Fatal(err)
		}
		rowCount += len(rows.Ops())
		i++
	}
	perBlock := float64(events) / float64(len(blocks))
	b.ReportMetric(perBlock*float64(b.N)/b.Elapsed().Seconds(), "events/s")
	b.ReportMetric(float64(rowCount)/float64(b.N)/perBlock, "rows/event")
}
