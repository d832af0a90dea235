// Command addresses measures pages of addresses: the busiest address of a chain
// and one that has just enough for a page, on the newest page and on the oldest.
//
//	go run ./bench/addresses
//
// A page costs the same wherever it lies and whosever it is: the results are
// printed as ratios to the quiet address, in one run.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"time"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/address"
	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/contract"
	"chainexplorer/internal/explorer/places"
	"chainexplorer/internal/explorer/transaction"
	"chainexplorer/internal/explorer/transfer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble"
)

const pageSize = 25

func main() {
	blocks := flag.Int("blocks", 3000, "blocks of the chain")
	tx := flag.Int("tx", 30, "transactions a block")
	pages := flag.Int("pages", 2000, "pages to read of each kind")
	dir := flag.String("dir", "", "where to put the store; default: the system's temporary directory")
	flag.Parse()
	if err := run(context.Background(), *blocks, *tx, *pages, *dir); err != nil {
		fmt.Fprintln(os.Stderr, "addresses:", err)
		os.Exit(1)
	}
}

var subjects = []explorer.Subject{block.Subject{}, transaction.Subject{}, contract.Subject{}, transfer.Subject{}, address.Subject{}}

func run(ctx context.Context, blocks, tx, pages int, dir string) (err error) {
	if dir, err = os.MkdirTemp(dir, "bench-addresses-"); err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a left-over in the temporary directory
	var tables []*store.Table
	for _, s := range subjects {
		tables = append(tables, s.Tables()...)
	}
	engine, err := pebble.Open(pebble.Options{Dir: dir, Tables: tables})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, engine.Close()) }()
	seen, err := fill(ctx, engine, simnode.Config{Seed: 1, Blocks: blocks, TxPerBlock: tx, ChainID: felt.MustShortString("SN_SEPOLIA")})
	if err != nil {
		return err
	}
	return engine.View(ctx, func(r store.Reader) error { return measure(ctx, r, seen, uint64(blocks-1), pages) })
}

// fill projects a chain and returns its addresses.
func fill(ctx context.Context, engine pebble.Engine, cfg simnode.Config) (seen []felt.Felt, err error) {
	lease, err := engine.Acquire(ctx, store.Writer, "bench", time.Hour)
	if err != nil {
		return nil, err
	}
	known := map[felt.Felt]bool{}
	err = simnode.Generate(cfg, func(b *starknet.Block, su *starknet.StateUpdate) error {
		x, rows := explorer.NewBlock(b, su), &explorer.Rows{}
		err := engine.View(ctx, func(r store.Reader) error {
			for _, s := range subjects {
				if err := s.Project(x, rows); err != nil {
					return err
				}
				f, ok := s.(explorer.Follower)
				if !ok {
					continue
				}
				plan := f.Plan(x)
				for _, k := range plan.Keys {
					if k.Table != address.TotalRows {
						continue
					}
					if a := felt.Felt(k.Partition); !known[a] {
						known[a] = true
						seen = append(seen, a)
					}
				}
				if err := explorer.Follow(ctx, []explorer.Plan{plan}, r.GetMany, rows); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		batch := &store.Batch{Epoch: lease.Epoch}
		for _, op := range rows.Ops() {
			batch.Put(op.Key, op.Value)
		}
		return engine.Commit(ctx, batch)
	})
	return seen, err
}

// choose finds the busiest address and one with hardly more than a page of both.
func choose(ctx context.Context, r store.Reader, seen []felt.Felt) (busy, quiet felt.Felt, of map[felt.Felt]*address.Totals, err error) {
	of = map[felt.Felt]*address.Totals{}
	for part := range slices.Chunk(seen, 1000) {
		list, err := address.TotalsOf(ctx, r, part)
		if err != nil {
			return busy, quiet, nil, err
		}
		for i, t := range list {
			of[part[i]] = t
		}
	}
	small := ^uint64(0)
	for _, a := range seen {
		t := of[a]
		if of[busy] == nil || min(t.Parts, t.Transfers) > min(of[busy].Parts, of[busy].Transfers) {
			busy = a
		}
		if t.Parts > pageSize && t.Transfers > pageSize && t.Activity() < small {
			quiet, small = a, t.Activity()
		}
	}
	if small == ^uint64(0) {
		return busy, quiet, nil, errors.New("no address has a page of both: make a longer chain")
	}
	return busy, quiet, of, nil
}

func measure(ctx context.Context, r store.Reader, seen []felt.Felt, head uint64, pages int) error {
	busy, quiet, of, err := choose(ctx, r, seen)
	if err != nil {
		return err
	}
	fmt.Printf("%d addresses; the busiest has a part in %d of its %d transactions and %d transfers, the quiet one in %d of %d and %d\n\n", len(seen),
		of[busy].Parts, of[busy].Transactions, of[busy].Transfers, of[quiet].Parts, of[quiet].Transactions, of[quiet].Transfers)
	var partsTook []float64
	for _, kind := range []struct {
		name string
		read func(a felt.Felt, before uint64) (int, error)
	}{
		{"parts", func(a felt.Felt, before uint64) (int, error) { return parts(ctx, r, a, before) }},
		{"transactions", func(a felt.Felt, before uint64) (int, error) { return transactions(ctx, r, a, before) }},
		{"transfers", func(a felt.Felt, before uint64) (int, error) { return transfers(ctx, r, a, before) }},
		{"totals", func(a felt.Felt, _ uint64) (int, error) {
			_, err := address.TotalsOf(ctx, r, []felt.Felt{a})
			return pageSize, err
		}},
	} {
		var base float64
		alone := partsTook
		partsTook = nil
		for n, c := range []struct {
			name   string
			who    felt.Felt
			before uint64
		}{{"quiet, newest page", quiet, head}, {"busiest, newest page", busy, head}, {"busiest, a page in the middle", busy, (of[busy].First + of[busy].Latest) / 2}} {
			took, items, err := best(pages, func() (int, error) { return kind.read(c.who, c.before) })
			if err != nil {
				return fmt.Errorf("%s, %s: %w", kind.name, c.name, err)
			}
			per := took.Seconds() * 1e6 / float64(pages)
			if base == 0 {
				base = per
			}
			fmt.Printf("%-14s%-32s%8.1f µs a page of %d   %.2f of the quiet one", kind.name, c.name, per, items, per/base)
			switch kind.name {
			case "parts":
				partsTook = append(partsTook, per)
			case "transactions":
				fmt.Printf("   %.2f of its parts alone", per/alone[n])
			}
			fmt.Println()
		}
	}
	return nil
}

// best is the fastest of three rounds, after one that warms up.
func best(pages int, read func() (int, error)) (took time.Duration, items int, err error) {
	for round := range 4 {
		start := time.Now()
		for range pages {
			if items, err = read(); err != nil {
				return 0, 0, err
			}
		}
		if d := time.Since(start); round > 0 && (took == 0 || d < took) {
			took = d
		}
	}
	return took, items, nil
}

// transactions reads a page of both lists, of an address's parts and of its transfers.
func transactions(ctx context.Context, r store.Reader, a felt.Felt, before uint64) (int, error) {
	page, err := address.ListTransactions(ctx, r, address.TxQuery{Address: a, After: &explorer.Position{Block: before + 1}, Limit: pageSize})
	if err != nil {
		return 0, err
	}
	positions := make([]explorer.Position, len(page.Transactions))
	for i := range page.Transactions {
		positions[i] = page.Transactions[i].Position
	}
	_, err = transaction.GetMany(ctx, r, positions)
	return len(positions), err
}

// parts reads a page of the first list alone.
func parts(ctx context.Context, r store.Reader, a felt.Felt, before uint64) (int, error) {
	hits, _, err := places.Page(ctx, r, places.Query{Lists: []places.List{address.List(&a)}, Before: explorer.EndOf(before), Limit: pageSize})
	if err != nil {
		return 0, err
	}
	positions := make([]explorer.Position, len(hits))
	for i, h := range hits {
		positions[i] = explorer.Position{Block: h.Block, Index: h.Tx}
	}
	_, err = transaction.GetMany(ctx, r, positions)
	return len(positions), err
}

func transfers(ctx context.Context, r store.Reader, a felt.Felt, before uint64) (int, error) {
	page, err := transfer.ListByAddress(ctx, r, a, transfer.Query{To: before, Limit: pageSize})
	return len(page.Transfers), err
}
