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
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"chainexplorer/bench/memory"
	"chainexplorer/bench/peer"
	"chainexplorer/bench/spent"
	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/catalog"
	"chainexplorer/internal/explorer/class"
	"chainexplorer/internal/explorer/contract"
	"chainexplorer/internal/explorer/event"
	"chainexplorer/internal/explorer/transaction"
	"chainexplorer/internal/index"
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
	flag.BoolVar(&overHTTP, "http", false, "with -postgres: fetch the blocks from a simulated node on loopback, on the same cores")
	flag.StringVar(&only, "only", "", "index only the stages whose names have this text")
	profile := flag.String("cpuprofile", "", "write a CPU profile of the first indexing to this file")
	program := flag.String("peer", "", "the program of a peer that stores the same blocks, built in bench/events/juno")
	curve := flag.Int("curve", 0, "instead, index so many blocks that another process makes, and print how the rate goes")
	flag.BoolVar(&grown, "grown", false, "with -curve: the chain has grown within its first line, so that what a block takes stays the same")
	made := flag.Int("make", 0, "write so many blocks to the standard output: what -curve starts")
	flag.Parse()
	profileFile = *profile
	ctx := context.Background()
	var err error
	switch {
	case *made > 0:
		err = makeBlocks(*made, *tx, *events)
	case *curve > 0:
		err = runCurve(ctx, *curve, *tx, *events, *dir)
	default:
		err = run(ctx, *blocks, *tx, *events, *verifyBlocks, *dir, *second, *program)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "ingest:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, blocks, tx int, events float64, verifyBlocks int, dir, second, program string) error {
	start := time.Now()
	var also func(*starknet.Block) error
	var rival *peer.Peer
	if program != "" {
		tmp, err := os.MkdirTemp(dir, "bench-ingest-peer-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(tmp) //nolint:errcheck // temporary
		if rival, err = peer.Start(ctx, program, tmp); err != nil {
			return err
		}
		defer rival.Stop()
		also = rival.Hold
	}
	m, err := memory.Generate(blocks, tx, events, false, also)
	if err != nil {
		return err
	}
	verified, err := memory.Generate(verifyBlocks, tx, events, true, nil)
	if err != nil {
		return err
	}
	fmt.Printf("%d blocks, %.1f transactions and %.1f events a block, %.0f KB of JSON a block, made in %.0fs; %d cores\n\n",
		m.Length, float64(m.Txs)/float64(m.Length), float64(m.Events)/float64(m.Length),
		float64(m.Bytes)/float64(m.Length)/1000, time.Since(start).Seconds(), runtime.GOMAXPROCS(0))
	perBlock := float64(m.Events) / float64(m.Length)

	decode, err := decodeOnly(m)
	if err != nil {
		return err
	}
	show := func(what string, blocksPerSec float64, more string) {
		fmt.Printf("%-34s %8.0f blocks/s %10.0f events/s   %.2f of decoding%s\n",
			what, blocksPerSec, blocksPerSec*perBlock, blocksPerSec/decode, ofPeer(blocksPerSec)+more)
	}
	show("decode only (limit)", decode, fmt.Sprintf("   %.0f MB/s", decode*float64(m.Bytes)/float64(m.Length)/1e6))
	if rival != nil {
		if err := showPeer(rival, m); err != nil {
			return err
		}
	}
	pebbleStore := func() (*target, error) { return openPebble(dir) }
	if second != "" {
		return compareEngines(ctx, m, chainOf(blocks, tx, events), second, pebbleStore, show)
	}
	core := []explorer.Subject{block.Subject{}, transaction.Subject{}}
	lists := append(slices.Clip(core), event.Subject{}, contract.Subject{}, class.Subject{})
	for _, c := range []struct {
		name   string
		source *memory.Source
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

// peerRate is what the peer stored of the same blocks in a second, if there is one.
var peerRate float64

func ofPeer(blocksPerSec float64) string {
	if peerRate == 0 {
		return ""
	}
	return fmt.Sprintf(", %.2f of the peer", blocksPerSec/peerRate)
}

// showPeer lets the peer store the blocks and prints what it took. They are handed to
// it as its own values: it decodes nothing.
func showPeer(p *peer.Peer, m *memory.Source) error {
	stored, err := p.Store()
	if err != nil {
		return err
	}
	blocks := float64(m.Length)
	peerRate = blocks / stored.Took.Seconds()
	fmt.Printf("%-34s %8.0f blocks/s %10.0f events/s   %.0f bytes on disk an event, %.2f ms of CPU a block\n", "the peer stores them",
		peerRate, float64(m.Events)/stored.Took.Seconds(), float64(stored.Bytes)/float64(m.Events), stored.CPU.Seconds()*1e3/blocks)
	return nil
}

// decodeOnly decodes every block on all cores, as the index does, and does
// nothing else. It takes the best of three passes.
func decodeOnly(m *memory.Source) (blocksPerSec float64, err error) {
	for range 3 {
		var next atomic.Int64
		var g errgroup.Group
		start := time.Now()
		for range runtime.GOMAXPROCS(0) {
			g.Go(func() error {
				for {
					n := next.Add(1) - 1
					if n >= int64(m.Length) {
						return nil
					}
					if _, err := starknet.DecodeBlock(m.Raw[n].Block); err != nil {
						return err
					}
					if _, err := starknet.DecodeStateUpdate(m.Raw[n].StateUpdate); err != nil {
						return err
					}
				}
			})
		}
		if err := g.Wait(); err != nil {
			return 0, err
		}
		blocksPerSec = max(blocksPerSec, float64(m.Length)/time.Since(start).Seconds())
	}
	return blocksPerSec, nil
}

// overHTTP says that blocks come from a node instead of from memory.
var overHTTP bool

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

func indexAll(ctx context.Context, m *memory.Source, o index.Options, open func() (*target, error)) (rate float64, more string, err error) {
	runtime.GC()
	engine, err := open()
	if err != nil {
		return 0, "", err
	}
	defer engine.close()
	if o.Store = engine.Engine; o.Source == nil {
		o.Source = m
	}
	x, err := index.New(o)
	if err != nil {
		return 0, "", err
	}
	stopProfile, err := startProfile()
	if err != nil {
		return 0, "", err
	}
	before, worked, blocks := allocated(), spent.CPU(), m.Length
	start := time.Now()
	if err := x.RunTo(ctx, uint64(blocks-1)); err != nil {
		return 0, "", err
	}
	rate = float64(blocks) / time.Since(start).Seconds()
	stopProfile()
	worked = spent.CPU() - worked
	heap := float64(allocated()-before) / float64(blocks) / 1e3
	if err := engine.Compact(ctx); err != nil {
		return 0, "", err
	}
	tables, logs, err := engine.size()
	if err != nil {
		return 0, "", err
	}
	return rate, fmt.Sprintf("   %.0f bytes on disk an event and %d MB of logs, %.0f KB allocated and %.2f ms of CPU a block",
		float64(tables)/float64(m.Events), logs/1e6, heap, float64(worked.Microseconds())/float64(blocks)/1e3), nil
}
