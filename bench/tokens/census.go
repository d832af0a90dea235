package main

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"time"

	"chainexplorer/internal/contractcall"
	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/catalog"
	rows "chainexplorer/internal/explorer/census"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/explorer/token"
	"chainexplorer/internal/explorer/transfer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/job/census"
	"chainexplorer/internal/registry"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble"
)

// mintsPerBlock is how many holders a block of the census's chain adds.
const mintsPerBlock = 500

// fewHolders is the small token that the large one is compared with.
const fewHolders = 10_000

// holderCensus builds a generation of a small and of a large token, and reads the
// same balances once without doing anything with them: the rate that a census
// cannot exceed.
func holderCensus(ctx context.Context, s settings) error {
	fmt.Println("census: one generation from an empty census to its publication, samples and all")
	for _, n := range []int{fewHolders, s.holders} {
		if err := measureCensus(ctx, s.dir, n); err != nil {
			return err
		}
	}
	return nil
}

func measureCensus(ctx context.Context, dir string, holders int) error {
	tmp, err := os.MkdirTemp(dir, "bench-census-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp) //nolint:errcheck // temporary
	engine, err := pebble.Open(pebble.Options{Dir: filepath.Join(tmp, "store"), Tables: catalog.Tables(), CacheBytes: 32 << 20})
	if err != nil {
		return err
	}
	defer engine.Close() //nolint:errcheck // measured already
	lease, err := engine.Acquire(ctx, store.Writer, "bench", time.Hour)
	if err != nil {
		return err
	}
	head, err := mint(ctx, engine, lease, holders)
	if err != nil {
		return err
	}
	final := head - chain.DefaultDepth
	begin, streamed := time.Now(), 0
	err = engine.View(ctx, func(r store.Reader) error {
		for _, err := range token.Holders(ctx, r, coin, final, nil) {
			if err != nil {
				return err
			}
			streamed++
		}
		return nil
	})
	if err != nil {
		return err
	}
	stream := time.Since(begin)

	known, err := registry.New(registry.Entries{Tokens: []registry.Token{{Address: coin, Symbol: "COIN", Name: "Coin", Census: registry.Census{Qualified: true, Reason: "bench"}}}})
	if err != nil {
		return err
	}
	job := census.New(census.Job{Store: engine, Node: oracle{engine}, Registry: known})
	commits := 0
	commit := func(ctx context.Context, b *store.Batch) error {
		commits++
		b.Epoch = lease.Epoch
		return engine.Commit(ctx, b)
	}
	peak, stop := watchHeap()
	begin = time.Now()
	for more := true; more; {
		if more, err = job.Step(ctx, commit); err != nil {
			return err
		}
	}
	took := time.Since(begin)
	stop()
	var g *rows.Generation
	err = engine.View(ctx, func(r store.Reader) (err error) {
		g, err = rows.Newest(ctx, r, coin)
		return err
	})
	if err != nil {
		return err
	}
	if g.Verdict != rows.Certified || g.Holders != uint64(streamed) {
		return fmt.Errorf("generation is %d %s with %d of %d holders", g.Verdict, g.Reason, g.Holders, streamed)
	}
	fmt.Printf("  %9d holders   %8s   %8.0f holders/s   %.1f times as long as reading the balances   %5d commits   heap at most %4.0f MiB above the start\n",
		g.Holders, took.Round(time.Millisecond), float64(g.Holders)/took.Seconds(), took.Seconds()/stream.Seconds(), commits, float64(peak.Load())/(1<<20))
	return nil
}

// mint fills a store with blocks that mint to new holders, and a tail in which
// some of them change: those need a look into their history.
func mint(ctx context.Context, engine store.Engine, lease store.Lease, holders int) (head uint64, err error) {
	total := map[string][]byte{} // the few rows that every block changes
	batch := &store.Batch{Epoch: lease.Epoch}
	blocks := uint64((holders+mintsPerBlock-1)/mintsPerBlock) + chain.DefaultDepth
	made := 0
	for n := range blocks {
		b := &explorer.Block{}
		b.Number, b.Hash, b.Timestamp = n, felt.FromUint64(n+1), n
		if n > 0 {
			b.ParentHash = felt.FromUint64(n)
		}
		var r starknet.Receipt
		for i := range mintsPerBlock {
			to := holder(made)
			if made < holders {
				made++
			} else if i < 20 {
				to = holder(int(n)*7919 + i)
			} else {
				break
			}
			r.Events = append(r.Events, starknet.Event{From: coin, Keys: []felt.Felt{transfer.SelectorTransfer},
				Data: []felt.Felt{felt.Zero, to, felt.FromUint64(1 + uint64(made)*2654435761%1_000_003), felt.Zero}})
		}
		b.Receipts = []starknet.Receipt{r}
		rows := &explorer.Rows{}
		for _, s := range []explorer.Subject{block.Subject{}, token.Subject{}} {
			if err := s.Project(b, rows); err != nil {
				return 0, err
			}
			f, ok := s.(explorer.Follower)
			if !ok {
				continue
			}
			plan := f.Plan(b)
			earlier, err := rowsBefore(ctx, engine, plan.Keys, total)
			if err != nil {
				return 0, err
			}
			if err := plan.Follow(earlier, rows); err != nil {
				return 0, err
			}
		}
		for _, op := range rows.Ops() {
			batch.Put(op.Key, op.Value)
			if op.Table == token.TotalRows || op.Table == block.Blocks {
				total[op.Table.Name+string(op.Partition)+string(op.Sort)] = op.Value
			}
		}
		if batch.Bytes() > 8<<20 || n+chain.DefaultDepth >= blocks {
			if err := engine.Commit(ctx, batch); err != nil {
				return 0, err
			}
			batch = &store.Batch{Epoch: lease.Epoch}
		}
		head = n
	}
	batch.Put(chain.FormatKey, chain.Format{Layout: chain.Layout, ChainID: felt.FromUint64(1)}.Encode())
	batch.Put(chain.HeadKey, chain.Head{Number: head, Hash: felt.FromUint64(head + 1)}.Encode())
	return head, engine.Commit(ctx, batch)
}

// holder makes addresses that are spread like real ones.
func holder(n int) felt.Felt { return felt.Keccak([]byte(fmt.Sprint("holder ", n))) }

// rowsBefore is what a follower asks for: from memory, or from the store where
// the tail changes balances that are there.
func rowsBefore(ctx context.Context, engine store.Engine, keys []store.Key, kept map[string][]byte) (out [][]byte, err error) {
	err = engine.View(ctx, func(r store.Reader) (err error) {
		out, err = r.GetMany(ctx, keys)
		return err
	})
	for i, k := range keys {
		if v := kept[k.Table.Name+string(k.Partition)+string(k.Sort)]; v != nil {
			out[i] = v
		}
	}
	return out, err
}

// oracle answers as the contract would, from the histories of the index.
type oracle struct{ engine store.Engine }

func (o oracle) CallAt(ctx context.Context, at contractcall.Block, calls []contractcall.Call) ([]contractcall.Result, error) {
	out := make([]contractcall.Result, len(calls))
	err := o.engine.View(ctx, func(r store.Reader) error {
		var supply *big.Int
		for i, c := range calls {
			n := new(big.Int)
			switch {
			case len(c.Calldata) == 1:
				b, err := token.BalanceAt(ctx, r, coin, c.Calldata[0], at.Number)
				if err != nil {
					return err
				}
				n = b.Amount.Big()
			case supply == nil:
				supply = new(big.Int)
				for h, err := range token.Holders(ctx, r, coin, at.Number, nil) {
					if err != nil {
						return err
					}
					supply.Add(supply, h.Amount.Big())
				}
				n = supply
			default:
				n = supply
			}
			if n.BitLen() > 128 {
				return errors.New("more than this bench mints")
			}
			low, err := felt.FromBig(n)
			if err != nil {
				return err
			}
			out[i] = contractcall.Result{Values: []felt.Felt{low, felt.Zero}}
		}
		return nil
	})
	return out, err
}

// watchHeap looks at the heap until it is stopped, and keeps how far it rose.
func watchHeap() (peak *atomic.Uint64, stop func()) {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	base := m.HeapAlloc
	peak, done, ended := new(atomic.Uint64), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				runtime.ReadMemStats(&m)
				if m.HeapAlloc > base && m.HeapAlloc-base > peak.Load() {
					peak.Store(m.HeapAlloc - base)
				}
			case <-done:
				return
			}
		}
	}()
	return peak, func() { close(done); <-ended }
}
