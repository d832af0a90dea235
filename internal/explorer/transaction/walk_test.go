package transaction

import (
	"context"
	"reflect"
	"testing"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
)

// TestWalkEvents walks over stretches, empty ones included, with every budget, and goes on
// where the budget ended it.
func TestWalkEvents(t *testing.T) {
	c := simulated(t, 60)
	blocks := map[uint64]*starknet.Block{}
	type visited struct {
		explorer.Position
		events []starknet.Event
	}
	const last = 2*4096 + 5
	var want []visited
	for i, n := range []uint64{0, 1, 4095, 4096, 4097, 4096 + 15, 4096 + 16, 6000, last, last + 1} {
		b := c.BlockAt(uint64(40 + i))
		blocks[n] = b
		for j := range b.Transactions {
			if n > 0 && n <= last { // the walk starts behind block 0
				want = append(want, visited{explorer.Position{Block: n, Index: uint32(j)}, b.Receipts[j].Events})
			}
		}
	}
	e := load(t, blocks)
	view(t, e, func(ctx context.Context, r store.Reader) {
		for budget := 1; budget <= len(want)+12*stretchCost; budget += 3 {
			var got []visited
			from := explorer.Position{Block: 1}
			for walks := 0; ; walks++ {
				if walks > 300 {
					t.Fatalf("budget %d: the walk does not end", budget)
				}
				rows := 0
				at, done, err := WalkEvents(ctx, r, from, last, budget, func(p explorer.Position, events []Emitted) bool {
					v := visited{Position: p}
					for _, e := range events {
						v.events = append(v.events, e.Event)
						if tx := blocks[p.Block].Transactions[p.Index]; e.TxHash != tx.Hash || e.TxType != tx.Type || e.BlockHash != blocks[p.Block].Hash {
							t.Fatalf("event of transaction %d of block %d: %+v", p.Index, p.Block, e)
						}
					}
					got = append(got, v)
					rows++
					return true
				})
				if err != nil {
					t.Fatal(err)
				}
				if rows > budget {
					t.Fatalf("%d rows with budget %d", rows, budget)
				}
				if done {
					break
				}
				from = explorer.Position{Block: at.Block, Index: at.Tx + 1}
				if at.Tx == explorer.BehindAll {
					from = explorer.Position{Block: at.Block + 1}
				}
			}
			if len(got) != len(want) {
				t.Fatalf("budget %d: %d transactions, want %d", budget, len(got), len(want))
			}
			for i := range got {
				if got[i].Position != want[i].Position || len(got[i].events) != len(want[i].events) ||
					len(want[i].events) > 0 && !reflect.DeepEqual(normal(got[i].events), normal(want[i].events)) {
					t.Fatalf("budget %d: transaction %d is %+v, want %+v", budget, i, got[i], want[i])
				}
			}
		}
		at, done, err := WalkEvents(ctx, r, explorer.Position{Block: 1}, last, 1000, func(p explorer.Position, _ []Emitted) bool { return p.Block < 4095 })
		if err != nil || done || at != (explorer.Place{Block: 4095, Log: explorer.BehindAll}) {
			t.Errorf("a walk that was stopped ended at %+v, done %v, error %v", at, done, err)
		}
	})
}

// normal makes empty lists alike.
func normal(events []starknet.Event) (out []starknet.Event) {
	for _, e := range events {
		if len(e.Keys) == 0 {
			e.Keys = nil
		}
		if len(e.Data) == 0 {
			e.Data = nil
		}
		out = append(out, e)
	}
	return out
}
