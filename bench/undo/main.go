// Command undo measures a deep fork: blocks are indexed, a branch takes their
// place, and what it costs to undo them is printed as a ratio to what it cost to
// index them; then how long the whole of it took, until the branch is as high as
// what it replaced, and the most memory that the process took.
//
//	go run ./bench/undo -depth 2000
//
// With -pages the newest pages of lists are timed as well: before, when all blocks are
// undone and what was cut is still there, and when the store has merged it away. That
// takes its time between undoing and indexing, which the time of the whole is then not of.
//
// Both branches lie in a file, so that the memory is the index's own.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"strings"
	"time"

	"chainexplorer/bench/spent"
	"chainexplorer/internal/explorer/catalog"
	"chainexplorer/internal/index"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble"
	"chainexplorer/internal/store/postgres"
	"chainexplorer/internal/store/postgres/pgtest"
)

func main() {
	o := settings{}
	flag.IntVar(&o.base, "base", 200, "blocks that stay")
	flag.IntVar(&o.depth, "depth", 2000, "blocks to undo")
	flag.IntVar(&o.tx, "tx", 50, "transactions a block")
	flag.Float64Var(&o.events, "events", 5.78, "events a transaction")
	flag.StringVar(&o.dir, "dir", "", "where to put blocks and store; default: the system's temporary directory")
	flag.StringVar(&o.postgres, "postgres", "", "use PostgreSQL: the address of a database, or 'start' for a server of its own")
	flag.BoolVar(&o.pages, "pages", false, "also time pages before, when blocks are undone, and when the store has merged that")
	flag.StringVar(&o.profile, "cpuprofile", "", "write a CPU profile of undoing to this file")
	flag.Parse()
	if err := run(context.Background(), o); err != nil {
		fmt.Fprintln(os.Stderr, "undo:", err)
		os.Exit(1)
	}
}

type settings struct {
	base, depth, tx int
	events          float64
	dir, postgres   string
	profile         string
	pages           bool
}

func run(ctx context.Context, o settings) error {
	dir, err := os.MkdirTemp(o.dir, "bench-undo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // temporary
	if o.postgres == "" {
		pebble.LimitGarbage()
	}
	chain, err := record(filepath.Join(dir, "blocks"), o)
	if err != nil {
		return err
	}
	defer chain.file.Close() //nolint:errcheck // it is removed
	engine, stop, err := open(ctx, filepath.Join(dir, "store"), o.postgres)
	if err != nil {
		return err
	}
	defer stop()

	indexTo := func(block int, announce func(index.Announcement)) error {
		x, err := index.New(index.Options{Store: engine, Source: chain, Verify: index.VerifyOff, UndoBlocks: 1 << 40, Announce: announce})
		if err != nil {
			return err
		}
		return x.RunTo(ctx, uint64(block))
	}
	if err := indexTo(o.base-1, nil); err != nil {
		return err
	}
	var pages *lists
	if o.pages {
		if pages, err = sample(ctx, engine); err != nil {
			return err
		}
	}
	before := now()
	if err := indexTo(o.base+o.depth-1, nil); err != nil {
		return err
	}
	indexed := now().since(before)

	// What indexing left to the store to merge is no part of undoing.
	settled := awaitQuiet()
	var high, low, merged paged
	var merging span
	if o.pages {
		if err := pages.grown(ctx); err != nil {
			return err
		}
		if high, err = pages.read(ctx); err != nil {
			return err
		}
	}
	debug.FreeOSMemory()
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		return fmt.Errorf("forget the peak of memory: %w", err)
	}
	resident := status("VmRSS")
	chain.forked = true
	if o.profile != "" {
		f, err := os.Create(o.profile)
		if err != nil {
			return err
		}
		defer f.Close() //nolint:errcheck // a profile for a person
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
	}
	var began, ended, healed moment
	var peak, peakHealed int
	var failed error
	steps := 0
	found := now()
	err = indexTo(o.base+o.depth, func(a index.Announcement) {
		if a.Fork == nil {
			if healed.clock.IsZero() && a.Head.Number >= uint64(o.base+o.depth-1) {
				healed, peakHealed = now(), status("VmHWM")
			}
			return
		}
		if steps == 0 {
			began = chain.asked // nothing is asked for while blocks are undone
		}
		steps++
		ended, peak = now(), status("VmHWM")
		if a.Head.Number == uint64(o.base-1) {
			pprof.StopCPUProfile()
			if o.pages {
				var err error
				if low, err = pages.read(ctx); err == nil {
					merging = awaitQuiet()
					merged, err = pages.read(ctx)
				}
				failed = err
			}
		}
	})
	if err != nil {
		return err
	}
	if failed != nil {
		return failed
	}
	if steps == 0 {
		return errors.New("nothing was undone")
	}
	undone := ended.since(began)
	n := float64(o.depth)
	fmt.Printf("%d blocks of %d transactions, %d cores\n", o.depth, o.tx, runtime.GOMAXPROCS(0))
	fmt.Printf("index them   %6.1f s, %5.2f ms of CPU a block\n", indexed.clock.Seconds(), indexed.cpu.Seconds()*1e3/n)
	fmt.Printf("undo them    %6.1f s, %5.2f ms of CPU a block, in %d commits\n", undone.clock.Seconds(), undone.cpu.Seconds()*1e3/n, steps)
	fmt.Printf("undo/index   %6.2f of the time, %.2f of the CPU\n", undone.clock.Seconds()/indexed.clock.Seconds(), undone.cpu.Seconds()/indexed.cpu.Seconds())
	whole := healed.since(found)
	fmt.Printf("merge before %6.1f s, %5.2f ms of CPU a block, which indexing left behind\n", settled.clock.Seconds(), settled.cpu.Seconds()*1e3/n)
	fmt.Printf("whole fork   %6.1f s from the start of the run that finds it to the same height, %.2f ms of CPU a block\n", whole.clock.Seconds(), whole.cpu.Seconds()*1e3/n)
	fmt.Printf("memory       %d MiB before, at most %d while undoing, %d in the whole\n", resident>>10, peak>>10, peakHealed>>10)
	if o.pages {
		high.print("before", high)
		low.print("when all are undone", high)
		merged.print("when that is merged", high)
		fmt.Printf("merge after  %6.1f s, %5.2f ms of CPU a block\n", merging.clock.Seconds(), merging.cpu.Seconds()*1e3/n)
	}
	return nil
}

// awaitQuiet waits until the process hardly works any more, and returns what that took.
func awaitQuiet() span {
	const look, idle, most = 100 * time.Millisecond, 2 * time.Millisecond, 2 * time.Minute
	began := now()
	for quiet := 0; quiet < 5 && time.Since(began.clock) < most; {
		before := now()
		time.Sleep(look)
		if now().since(before).cpu < idle {
			quiet++
		} else {
			quiet = 0
		}
	}
	return now().since(began)
}

func open(ctx context.Context, dir, address string) (_ store.Engine, stop func(), err error) {
	if address == "" {
		engine, err := pebble.Open(pebble.Options{Dir: dir, Tables: catalog.Tables()})
		if err != nil {
			return nil, nil, err
		}
		return engine, func() { engine.Close() }, nil //nolint:errcheck // temporary
	}
	stop = func() {}
	if address == "start" {
		server, err := pgtest.Start(ctx, pgtest.Options{Durable: true, Settings: map[string]string{"shared_buffers": "512MB"}})
		if err != nil {
			return nil, nil, err
		}
		address, stop = server.URL(), func() { server.Stop() } //nolint:errcheck // temporary
	}
	po := postgres.Options{URL: address, Schema: "bench_undo", Tables: catalog.Tables()}
	if err := postgres.Drop(ctx, po); err != nil {
		stop()
		return nil, nil, err
	}
	engine, err := postgres.Open(ctx, po)
	if err != nil {
		stop()
		return nil, nil, err
	}
	stopServer := stop
	return engine, func() {
		if err := errors.Join(engine.Close(), postgres.Drop(ctx, po)); err != nil {
			fmt.Println(err)
		}
		stopServer()
	}, nil
}

// moment is a time by the clock and by what this process used of all cores.
type moment struct {
	clock time.Time
	cpu   time.Duration
}

type span struct{ clock, cpu time.Duration }

func now() moment { return moment{time.Now(), spent.CPU()} }

func (m moment) since(before moment) span {
	return span{m.clock.Sub(before.clock), m.cpu - before.cpu}
}

// status is a line of what the kernel says of this process, in KiB, and 0 where there
// is none.
func status(name string) (kib int) {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(b)) {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			fmt.Sscan(value, &kib) //nolint:errcheck // 0 says it
			return kib
		}
	}
	return 0
}
