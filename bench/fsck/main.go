// Command fsck measures a check of a whole index: blocks are indexed into a store on disk
// and then checked, and what a block costs to check is printed as a ratio to what it cost
// to index.
//
//	go run ./bench/fsck -blocks 5000
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"chainexplorer/bench/memory"
	"chainexplorer/bench/spent"
	"chainexplorer/internal/explorer/catalog"
	"chainexplorer/internal/index"
	"chainexplorer/internal/index/fsck"
	"chainexplorer/internal/store/pebble"
)

func main() {
	blocks := flag.Int("blocks", 5000, "blocks to index and check")
	tx := flag.Int("tx", 50, "transactions a block")
	events := flag.Float64("events", 5.78, "events a transaction")
	dir := flag.String("dir", "", "where to put the stores; default: the system's temporary directory")
	flag.Parse()
	if err := run(context.Background(), *blocks, *tx, *events, *dir); err != nil {
		fmt.Fprintln(os.Stderr, "fsck:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, blocks, tx int, events float64, dir string) error {
	tmp, err := os.MkdirTemp(dir, "bench-fsck-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp) //nolint:errcheck // temporary
	source, err := memory.Generate(blocks, tx, events, false, nil)
	if err != nil {
		return err
	}
	open := func(name string) (pebble.Engine, error) {
		return pebble.Open(pebble.Options{Dir: filepath.Join(tmp, name), Tables: catalog.Tables()})
	}
	engine, err := open("index")
	if err != nil {
		return err
	}
	defer engine.Close() //nolint:errcheck // temporary
	scratch, err := open("scratch")
	if err != nil {
		return err
	}
	defer scratch.Close() //nolint:errcheck // temporary

	x, err := index.New(index.Options{Store: engine, Source: source, Verify: index.VerifyOff, UndoBlocks: 1})
	if err != nil {
		return err
	}
	indexing, err := timed(func() error { return x.RunTo(ctx, uint64(blocks-1)) })
	if err != nil {
		return err
	}
	var report *fsck.Report
	checking, err := timed(func() (err error) {
		report, err = fsck.Check(ctx, fsck.Options{Store: engine, Scratch: scratch})
		return err
	})
	if err != nil {
		return err
	}
	if !report.Clean() {
		return fmt.Errorf("the index is not sound: %s", report.Problems[0])
	}
	fmt.Printf("%-10s %10s %16s\n", "", "blocks/s", "CPU ms a block")
	for _, l := range []struct {
		what string
		cost
	}{{"index", indexing}, {"check", checking}} {
		fmt.Printf("%-10s %10.0f %16.2f\n", l.what, float64(blocks)/l.clock.Seconds(), l.worked.Seconds()*1e3/float64(blocks))
	}
	fmt.Printf("to check a block takes %.2f of the time of indexing it, and %.2f of the CPU\n",
		checking.clock.Seconds()/indexing.clock.Seconds(), checking.worked.Seconds()/indexing.worked.Seconds())
	return nil
}

// cost is what something took, by the clock and of processors.
type cost struct{ clock, worked time.Duration }

func timed(work func() error) (cost, error) {
	began, before := time.Now(), spent.CPU()
	err := work()
	return cost{time.Since(began), spent.CPU() - before}, err
}
