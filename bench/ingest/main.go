// Command ingest measures the write path: the same blocks are decoded only,
// indexed without verification, and indexed with it, in one run, and the
// results are printed as ratios.
//
//	go run ./bench/ingest
//
// Blocks come from the simulated chain as JSON in memory, so that neither the
// network nor the node's own speed is measured. The store is on disk.
//
// Verification is hundreds of times slower than everything else, and so is
// making blocks that pass it. It is measured on the first blocks of the same
// chain, made once more with real hashes: the same transactions and events,
// the same number of bytes.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/catalog"
	"chainexplorer/internal/explorer/class"
	"chainexplorer/internal/explorer/contract"
	"chainexplorer/internal/explorer/event"
	"chainexplorer/internal/explorer/transaction"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/index"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/simnode/contracts"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble"
)

func main() {
	blocks := flag.Int("blocks", 6000, "blocks to index")
	tx := flag.Int("tx", 50, "transactions a block")
	events := flag.Float64("events", 5.78, "events a transaction")
	verifyBlocks := flag.Int("verify", 150, "how many (at least one) to index with verification")
	dir := flag.String("dir", "", "where to put the stores; default: the system's temporary directory")
	second := flag.String("postgres", "", "index into PostgreSQL as well: the address of a database, or 'start' for a server of its own")
	flag.StringVar(&only, "only", "", "index only the stages whose names have this text")
	profile := flag.String("cpuprofile", "", "write a CPU profile of the first indexing to this file")
	flag.Parse()
	profileFile = *profile
	if err := run(context.Background(), *blocks, *tx, *events, *verifyBlocks, *dir, *second); err != nil {
		fmt.Fprintln(os.Stderr, "ingest:", err)
		os.Exit(1)
	}
}

// memory is a source that holds a chain as the node would print it.
type memory struct {
	raw     []index.Raw
	hashes  []felt.Felt
	classes map[felt.Felt][]byte
	chainID felt.Felt
	length  int
	events  uint64
	txs     uint64
	bytes   uint64
}

func generate(blocks, tx int, events float64, real bool) (*memory, error) {
	m := &memory{chainID: felt.MustShortString("SN_SEPOLIA"), classes: map[felt.Felt][]byte{}}
	declared := 0
	cfg := simnode.Config{Seed: 1, Blocks: blocks, TxPerBlock: tx, EventsPerTx: events, RealHashes: real, ChainID: m.chainID}
	err := simnode.Generate(cfg, func(b *starknet.Block, su *starknet.StateUpdate) error {
		// A chain that is caught up with is accepted on L1: no undo records.
		b.Status = starknet.AcceptedOnL1
		raw := index.Raw{
			Block:       starknet.AppendBlock(nil, b, starknet.V010),
			StateUpdate: starknet.AppendStateUpdate(nil, su, starknet.V010),
			Node:        "memory",
		}
		m.raw = append(m.raw, raw)
		m.hashes = append(m.hashes, b.Hash)
		declared += len(su.Diff.Declared) + len(su.Diff.DeprecatedDeclared)
		m.events += uint64(b.EventCount())
		m.txs += uint64(len(b.Transactions))
		m.bytes += uint64(len(raw.Block) + len(raw.StateUpdate))
		return nil
	})
	m.length = len(m.raw)
	m.keep(contracts.Classes().All()...)
	for i := range declared { // no more than this of either kind
		m.keep(contracts.Variant(i), contracts.OldVariant(i))
	}
	return m, err
}

func (m *memory) keep(classes ...*contracts.Class) {
	for _, c := range classes {
		m.classes[c.Hash] = starknet.AppendClass(nil, &c.Class)
	}
}

func (m *memory) Class(_ context.Context, _ uint64, hash felt.Felt) ([]byte, string, error) {
	raw, ok := m.classes[hash]
	if !ok {
		return nil, "", index.ErrNotFound
	}
	return raw, "memory", nil
}

func (m *memory) ChainID(context.Context) (felt.Felt, error) { return m.chainID, nil }

func (m *memory) Head(context.Context) (index.BlockRef, error) { return m.ref(m.length - 1), nil }

func (m *memory) ref(n int) index.BlockRef {
	return index.BlockRef{Number: uint64(n), Hash: m.hashes[n]}
}

func (m *memory) Fetch(_ context.Context, n uint64) (index.Raw, error) {
	if n >= uint64(m.length) {
		return index.Raw{}, index.ErrNotFound
	}
	return m.raw[n], nil
}

func (m *memory) HashAt(_ context.Context, n uint64) (felt.Felt, error) {
	if n >= uint64(m.length) {
		return felt.Felt{}, index.ErrNotFound
	}
	return m.hashes[n], nil
}

func (m *memory) L1Accepted(context.Context) (index.BlockRef, error) { return m.ref(m.length - 1), nil }

func (m *memory) Heads(context.Context) <-chan struct{} { return nil }

func run(ctx context.Context, blocks, tx int, events float64, verifyBlocks int, dir, second string) error {
	start := time.Now()
	m, err := generate(blocks, tx, events, false)
	if err != nil {
		return err
	}
	verified, err := generate(verifyBlocks, tx, events, true)
	if err != nil {
		return err
	}
	fmt.Printf("%d blocks, %.1f transactions and %.1f events a block, %.0f KB of JSON a block, made in %.0fs; %d cores\n\n",
		m.length, float64(m.txs)/float64(m.length), float64(m.events)/float64(m.length),
		float64(m.bytes)/float64(m.length)/1000, time.Since(start).Seconds(), runtime.GOMAXPROCS(0))
	perBlock := float64(m.events) / float64(m.length)

	decode, err := decodeOnly(m)
	if err != nil {
		return err
	}
	show := func(what string, blocksPerSec float64, more string) {
		fmt.Printf("%-34s %8.0f blocks/s %10.0f events/s   %.2f of decoding%s\n",
			what, blocksPerSec, blocksPerSec*perBlock, blocksPerSec/decode, more)
	}
	show("decode only (limit)", decode, fmt.Sprintf("   %.0f MB/s", decode*float64(m.bytes)/float64(m.length)/1e6))
	pebbleStore := func() (*target, error) { return openPebble(dir) }
	if second != "" {
		return compareEngines(ctx, m, second, pebbleStore, show)
	}
	core := []explorer.Subject{block.Subject{}, transaction.Subject{}}
	lists := append(slices.Clip(core), event.Subject{}, contract.Subject{}, class.Subject{})
	for _, c := range []struct {
		name   string
		source *memory
		opts   index.Options
	}{
		{"index blocks and transactions", m, index.Options{Verify: index.VerifyOff, UndoBlocks: 1, NoClasses: true, Subjects: core}},
		{"with event lists and classes", m, index.Options{Verify: index.VerifyOff, UndoBlocks: 1, Subjects: lists}},
		{"index everything", m, index.Options{Verify: index.VerifyOff, UndoBlocks: 1}},
		{"the same with undo records", m, index.Options{Verify: index.VerifyOff, UndoBlocks: 1 << 40}},
		{"index everything, verified", verified, index.Options{Verify: index.VerifyAll, UndoBlocks: 1}},
	} {
		if !strings.Contains(c.name, only) {
			continue
		}
		rate, more, err := indexAll(ctx, c.source, c.opts, pebbleStore)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		show(c.name, rate, more)
	}
	return nil
}

// decodeOnly decodes every block on all cores, as the index does, and does
// nothing else. It takes the best of three passes.
func decodeOnly(m *memory) (blocksPerSec float64, err error) {
	for range 3 {
		var next atomic.Int64
		var g errgroup.Group
		start := time.Now()
		for range runtime.GOMAXPROCS(0) {
			g.Go(func() error {
				for {
					n := next.Add(1) - 1
					if n >= int64(m.length) {
						return nil
					}
					if _, err := starknet.DecodeBlock(m.raw[n].Block); err != nil {
						return err
					}
					if _, err := starknet.DecodeStateUpdate(m.raw[n].StateUpdate); err != nil {
						return err
					}
				}
			})
		}
		if err := g.Wait(); err != nil {
			return 0, err
		}
		blocksPerSec = max(blocksPerSec, float64(m.length)/time.Since(start).Seconds())
	}
	return blocksPerSec, nil
}

// only selects the stages whose names have it.
var only string

// profileFile is where the profile of the first indexing goes, if anywhere.
var profileFile string

func startProfile() (stop func(), err error) {
	if profileFile == "" {
		return func() {}, nil
	}
	f, err := os.Create(profileFile)
	profileFile = ""
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, err
	}
	return func() {
		pprof.StopCPUProfile()
		f.Close() //nolint:errcheck // a profile for a person
	}, nil
}

// target is a store to index into.
type target struct {
	store.Engine
	// size is what tables and logs take once it is compacted. It ends the store.
	size  func() (tables, logs int64, err error)
	close func()
}

func openPebble(dir string) (*target, error) {
	tmp, err := os.MkdirTemp(dir, "bench-ingest-")
	if err != nil {
		return nil, err
	}
	engine, err := pebble.Open(pebble.Options{Dir: filepath.Join(tmp, "store"), Tables: catalog.Tables()})
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(tmp))
	}
	return &target{
		Engine: engine,
		size: func() (int64, int64, error) {
			// Files that a compaction replaced are removed by and by, and all
			// of them before the store is closed.
			if err := engine.Close(); err != nil {
				return 0, 0, err
			}
			return diskSize(tmp)
		},
		close: func() {
			engine.Close()    //nolint:errcheck // measured already
			os.RemoveAll(tmp) //nolint:errcheck // temporary
		},
	}, nil
}

func indexAll(ctx context.Context, m *memory, o index.Options, open func() (*target, error)) (rate float64, more string, err error) {
	runtime.GC()
	engine, err := open()
	if err != nil {
		return 0, "", err
	}
	defer engine.close()
	o.Store, o.Source = engine.Engine, m
	x, err := index.New(o)
	if err != nil {
		return 0, "", err
	}
	stopProfile, err := startProfile()
	if err != nil {
		return 0, "", err
	}
	before, worked, blocks := allocated(), cpuTime(), m.length
	start := time.Now()
	if err := x.RunTo(ctx, uint64(blocks-1)); err != nil {
		return 0, "", err
	}
	rate = float64(blocks) / time.Since(start).Seconds()
	stopProfile()
	worked = cpuTime() - worked
	heap := float64(allocated()-before) / float64(blocks) / 1e3
	if err := engine.Compact(ctx); err != nil {
		return 0, "", err
	}
	tables, logs, err := engine.size()
	if err != nil {
		return 0, "", err
	}
	return rate, fmt.Sprintf("   %.0f bytes on disk an event and %d MB of logs, %.0f KB allocated and %.2f ms of CPU a block",
		float64(tables)/float64(m.events), logs/1e6, heap, float64(worked.Microseconds())/float64(blocks)/1e3), nil
}

// cpuTime is what this process has used of all cores: on a machine with other
// work it tells more than the clock does.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func allocated() uint64 {
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return s.TotalAlloc
}

// diskSize tells the tables from the write-ahead logs, which are kept for
// reuse and do not grow with the chain.
func diskSize(dir string) (tables, logs int64, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // an obsolete file that was just removed
		}
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if filepath.Ext(path) == ".log" {
			logs += info.Size()
		} else {
			tables += info.Size()
		}
		return nil
	})
	return tables, logs, err
}
