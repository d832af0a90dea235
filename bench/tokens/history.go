package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/token"
	"chainexplorer/internal/explorer/transfer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble"
)

var (
	coin  = felt.Selector("coin")
	short = felt.Selector("short history")
	long  = felt.Selector("long history")
)

const (
	shortChanges = 10
	others       = 20 // holders beside the two in every block
	reads        = 20_000
)

// history reads balances at random blocks of a short and of a long history.
func history(ctx context.Context, s settings) error {
	tmp, err := os.MkdirTemp(s.dir, "bench-tokens-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp) //nolint:errcheck // temporary
	tables := token.Subject{}.Tables()
	engine, err := pebble.Open(pebble.Options{Dir: filepath.Join(tmp, "store"), Tables: tables})
	if err != nil {
		return err
	}
	defer engine.Close() //nolint:errcheck // measured already
	if err := fill(ctx, engine, s.changes); err != nil {
		return err
	}
	if err := engine.Compact(ctx); err != nil {
		return err
	}
	fmt.Printf("history: one token, %d blocks, %d balances changed in each\n", s.changes, others+1)
	var base time.Duration
	for _, c := range []struct {
		name   string
		holder felt.Felt
	}{{fmt.Sprintf("%d changes", shortChanges), short}, {fmt.Sprintf("%d changes", s.changes), long}} {
		best := time.Duration(0)
		for range 3 {
			took, err := readMany(ctx, engine, c.holder, s.changes)
			if err != nil {
				return err
			}
			if best == 0 || took < best {
				best = took
			}
		}
		if base == 0 {
			base = best
		}
		fmt.Printf("  balance at a block, %-16s %6.1f µs   %.2f of the short history's\n", c.name, float64(best.Nanoseconds())/1000/reads, float64(best)/float64(base))
	}
	return nil
}

// fill projects blocks of transfers to many holders.
func fill(ctx context.Context, engine store.Engine, blocks int) error {
	lease, err := engine.Acquire(ctx, store.Writer, "bench", time.Hour)
	if err != nil {
		return err
	}
	now := map[string][]byte{}
	batch := &store.Batch{Epoch: lease.Epoch}
	for n := range blocks {
		b := &explorer.Block{}
		b.Number = uint64(n)
		var r starknet.Receipt
		send := func(to felt.Felt) {
			r.Events = append(r.Events, starknet.Event{From: coin, Keys: []felt.Felt{transfer.SelectorTransfer}, Data: []felt.Felt{felt.Zero, to, felt.FromUint64(uint64(n)), felt.Zero}})
		}
		send(long)
		if n%(max(1, blocks/shortChanges)) == 0 {
			send(short)
		}
		for i := range others {
			send(felt.Selector(fmt.Sprint("holder ", (n*others+i)%5000)))
		}
		b.Receipts = []starknet.Receipt{r}
		plan := token.Subject{}.Plan(b)
		earlier := make([][]byte, len(plan.Keys))
		for i, k := range plan.Keys {
			earlier[i] = now[string(k.Partition)+string(k.Sort)]
		}
		rows := &explorer.Rows{}
		if err := plan.Follow(earlier, rows); err != nil {
			return err
		}
		for _, op := range rows.Ops() {
			batch.Put(op.Key, op.Value)
			if op.Table != transfer.Pairs {
				now[string(op.Partition)+string(op.Sort)] = op.Value
			}
		}
		if batch.Bytes() > 8<<20 || n == blocks-1 {
			if err := engine.Commit(ctx, batch); err != nil {
				return err
			}
			batch = &store.Batch{Epoch: lease.Epoch}
		}
	}
	return nil
}

func readMany(ctx context.Context, engine store.Engine, holder felt.Felt, blocks int) (time.Duration, error) {
	rng := rand.New(rand.NewPCG(1, 1))
	start := time.Now()
	err := engine.View(ctx, func(r store.Reader) error {
		for range reads {
			at := rng.Uint64N(uint64(blocks))
			b, err := token.BalanceAt(ctx, r, coin, holder, at)
			if err != nil {
				return err
			}
			if b.Block > at || !b.Received {
				return fmt.Errorf("balance at block %d is of block %d", at, b.Block)
			}
		}
		return nil
	})
	return time.Since(start), err
}
