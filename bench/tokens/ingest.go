package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"chainexplorer/bench/spent"
	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/catalog"
	"chainexplorer/internal/explorer/transfer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/index"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store/pebble"
)

// memory is a source that holds a chain as a node would print it.
type memory struct {
	cfg       simnode.Config
	raw       []index.Raw
	hashes    []felt.Felt
	transfers int
}

func generate(s settings) (*memory, error) {
	m := &memory{cfg: simnode.Config{Seed: 1, Blocks: s.blocks, TxPerBlock: s.tx, EventsPerTx: s.events, ChainID: felt.MustShortString("SN_SEPOLIA")}}
	err := simnode.Generate(m.cfg, func(b *starknet.Block, su *starknet.StateUpdate) error {
		b.Status = starknet.AcceptedOnL1 // a chain that is caught up with: no undo records
		m.raw = append(m.raw, index.Raw{
			Block:       starknet.AppendBlock(nil, b, starknet.V010),
			StateUpdate: starknet.AppendStateUpdate(nil, su, starknet.V010),
			Node:        "memory",
		})
		m.hashes = append(m.hashes, b.Hash)
		for i := range b.Receipts {
			m.transfers += len(transfer.Of(b.Receipts[i].Events))
		}
		return nil
	})
	return m, err
}

func (m *memory) ChainID(context.Context) (felt.Felt, error) { return m.cfg.ChainID, nil }

func (m *memory) Head(context.Context) (index.BlockRef, error) {
	n := len(m.hashes) - 1
	return index.BlockRef{Number: uint64(n), Hash: m.hashes[n]}, nil
}

func (m *memory) L1Accepted(ctx context.Context) (index.BlockRef, error) { return m.Head(ctx) }

func (m *memory) Fetch(_ context.Context, n uint64) (index.Raw, error) {
	if n >= uint64(len(m.raw)) {
		return index.Raw{}, index.ErrNotFound
	}
	return m.raw[n], nil
}

func (m *memory) HashAt(_ context.Context, n uint64) (felt.Felt, error) {
	if n >= uint64(len(m.hashes)) {
		return felt.Felt{}, index.ErrNotFound
	}
	return m.hashes[n], nil
}

func (m *memory) Class(context.Context, uint64, felt.Felt) ([]byte, string, error) {
	return nil, "", index.ErrNotFound
}

func (m *memory) Heads(context.Context) <-chan struct{} { return nil }

// ingest indexes the same blocks without and with the token subjects.
func ingest(ctx context.Context, s settings) error {
	m, err := generate(s)
	if err != nil {
		return err
	}
	fmt.Printf("ingest: %d blocks, %.0f transfers a block, %d cores\n", s.blocks, float64(m.transfers)/float64(s.blocks), runtime.GOMAXPROCS(0))
	all := catalog.Subjects()
	only := func(names ...string) []explorer.Subject {
		return slices.DeleteFunc(slices.Clone(all), func(x explorer.Subject) bool { return slices.Contains(names, x.Name()) })
	}
	var base, baseWork time.Duration
	var baseDisk int64
	for _, c := range []struct {
		name     string
		subjects []explorer.Subject
	}{{"without tokens", only("transfer", "token")}, {"with transfer lists", only("token")}, {"with lists, balances and totals", all}} {
		took, work, disk, err := indexAll(ctx, m, c.subjects, s.dir)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		fmt.Printf("  %-32s %6.0f blocks/s %9.0f transfers/s", c.name, float64(s.blocks)/took.Seconds(), float64(m.transfers)/took.Seconds())
		if base == 0 {
			base, baseWork, baseDisk = took, work, disk
			fmt.Println()
			continue
		}
		each := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 / float64(m.transfers) }
		fmt.Printf("   %.2f times as long, %.2f times the work; a transfer takes %.1f µs, %.1f µs of CPU and %.0f bytes on disk\n",
			float64(took)/float64(base), float64(work)/float64(baseWork), each(took-base), each(work-baseWork), float64(disk-baseDisk)/float64(m.transfers))
	}
	return nil
}

// indexAll returns the time, the CPU time, which others on the machine disturb
// less, and the size after a full compaction, which is part of neither.
func indexAll(ctx context.Context, m *memory, subjects []explorer.Subject, dir string) (took, work time.Duration, disk int64, err error) {
	tmp, err := os.MkdirTemp(dir, "bench-tokens-")
	if err != nil {
		return 0, 0, 0, err
	}
	defer os.RemoveAll(tmp) //nolint:errcheck // temporary
	runtime.GC()
	engine, err := pebble.Open(pebble.Options{Dir: filepath.Join(tmp, "store"), Tables: catalog.Tables()})
	if err != nil {
		return 0, 0, 0, err
	}
	defer engine.Close() //nolint:errcheck // closed already, unless something failed
	x, err := index.New(index.Options{Store: engine, Source: m, Subjects: subjects, Verify: index.VerifyOff, UndoBlocks: 1, NoClasses: true})
	if err != nil {
		return 0, 0, 0, err
	}
	start, before := time.Now(), spent.CPU()
	if err := x.RunTo(ctx, uint64(len(m.raw)-1)); err != nil {
		return 0, 0, 0, err
	}
	took, work = time.Since(start), spent.CPU()-before
	if err := engine.Compact(ctx); err != nil {
		return 0, 0, 0, err
	}
	if err := engine.Close(); err != nil { // which also removes old files
		return 0, 0, 0, err
	}
	disk, err = tableBytes(tmp)
	return took, work, disk, err
}

// tableBytes is the size of the store without its write-ahead logs.
func tableBytes(dir string) (n int64, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // an obsolete file that was just removed
		}
		if err != nil || d.IsDir() || filepath.Ext(path) == ".log" {
			return err
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil {
			n += info.Size()
		}
		return err
	})
	return n, err
}
