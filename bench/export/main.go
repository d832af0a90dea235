// Command export measures an export to Parquet against the same rows as CSV, and against a
// bare scan of the index that decodes them and writes nothing: rows a second, bytes a row,
// and the most memory that the process takes.
//
//	go run ./bench/export -blocks 3000
package main

import (
	"bufio"
	"context"
	"encoding/csv"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"strconv"
	"strings"
	"time"

	"chainexplorer/bench/spent"
	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/catalog"
	"chainexplorer/internal/explorer/transaction"
	"chainexplorer/internal/export"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/index"
	"chainexplorer/internal/index/simsource"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble"
)

type settings struct {
	blocks, tx, parallel int
	events               float64
	dir, cpu, heap       string
}

func main() {
	o := settings{}
	flag.IntVar(&o.blocks, "blocks", 3000, "blocks to export")
	flag.IntVar(&o.tx, "tx", 50, "transactions a block")
	flag.IntVar(&o.parallel, "parallel", 2, "ranges at once")
	flag.Float64Var(&o.events, "events", 5.78, "events a transaction")
	flag.StringVar(&o.dir, "dir", "", "where to put index and files; default: the system's temporary directory")
	flag.StringVar(&o.cpu, "cpuprofile", "", "write a CPU profile of exporting everything to this file")
	flag.StringVar(&o.heap, "heapprofile", "", "write a heap profile of the same")
	flag.Parse()
	if err := run(context.Background(), o); err != nil {
		fmt.Fprintln(os.Stderr, "export:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o settings) error {
	dir, err := os.MkdirTemp(o.dir, "bench-export-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // temporary
	if err := fill(ctx, filepath.Join(dir, "index"), o); err != nil {
		return err
	}
	e, err := pebble.Open(pebble.Options{Dir: filepath.Join(dir, "index"), Tables: catalog.Tables(), ReadOnly: true, CacheBytes: 32 << 20})
	if err != nil {
		return err
	}
	defer e.Close() //nolint:errcheck // opened for reading
	debug.FreeOSMemory()
	last := uint64(o.blocks - 1)

	var events int64
	scanned, err := measure(func() error {
		events = 0
		return walk(ctx, e, last, func(rec *transaction.Record) error {
			events += int64(len(rec.Receipt.Events))
			return nil
		})
	})
	if err != nil {
		return err
	}
	text := filepath.Join(dir, "events.csv")
	written, err := measure(func() error { return writeCSV(ctx, e, last, text) })
	if err != nil {
		return err
	}
	info, err := os.Stat(text)
	if err != nil {
		return err
	}
	options := func(name string, families ...string) export.Options {
		return export.Options{Index: e, Dir: filepath.Join(dir, name), Families: families, BlocksPerFile: 1000, Depth: 1, Latest: true, Parallel: 1, Program: "bench"}
	}
	var some *export.Report
	parquet, err := measure(func() (err error) {
		some, err = export.Run(ctx, options("events", "events"))
		return err
	})
	if err != nil {
		return err
	}
	fmt.Printf("%d events of %d blocks, %d cores, one range at a time\n", events, o.blocks, runtime.GOMAXPROCS(0))
	line := func(name string, s span, bytes int64) {
		n := float64(events)
		fmt.Printf("%-8s %8.0f rows/s, %5.2f µs of CPU a row, %6.1f bytes a row, %.2f of the scan's rate\n",
			name, n/s.clock.Seconds(), s.cpu.Seconds()*1e6/n, float64(bytes)/n, scanned.clock.Seconds()/s.clock.Seconds())
	}
	line("scan", scanned, 0)
	line("CSV", written, info.Size())
	line("Parquet", parquet, some.Manifest.Families[0].Bytes)
	fmt.Printf("Parquet/CSV %.2f of the time, %.3f of the bytes\n", parquet.clock.Seconds()/written.clock.Seconds(),
		float64(some.Manifest.Families[0].Bytes)/float64(info.Size()))
	return everything(ctx, o, options("all"), last)
}

// everything exports all families.
func everything(ctx context.Context, o settings, all export.Options, last uint64) error {
	debug.FreeOSMemory()
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		return fmt.Errorf("forget the peak of memory: %w", err)
	}
	before := resident("VmRSS")
	if o.cpu != "" {
		f, err := os.Create(o.cpu)
		if err != nil {
			return err
		}
		defer f.Close() //nolint:errcheck // a profile for a person
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
	}
	all.Parallel = o.parallel
	if o.heap != "" {
		runtime.MemProfileRate = 64 << 10
		half := last / 2
		all.Progress = func(p export.Progress) {
			if p.Blocks < half || half == 0 {
				return
			}
			half = 0
			f, err := os.Create(o.heap)
			if err == nil {
				pprof.Lookup("heap").WriteTo(f, 0) //nolint:errcheck // a profile for a person
				f.Close()                          //nolint:errcheck // as above
			}
		}
	}
	var r *export.Report
	s, err := measure(func() (err error) {
		r, err = export.Run(ctx, all)
		return err
	})
	pprof.StopCPUProfile()
	if err != nil {
		return err
	}
	var rows, bytes int64
	for _, f := range r.Manifest.Families {
		rows, bytes = rows+f.Rows, bytes+f.Bytes
		fmt.Printf("  %-12s %8d rows, %6.1f bytes a row\n", f.Name, f.Rows, float64(f.Bytes)/float64(f.Rows))
	}
	fmt.Printf("all families, %d ranges at once: %.1f blocks/s, %.0f rows/s, %.1f bytes a row; memory %s before, at most %s\n", o.parallel,
		float64(last+1)/s.clock.Seconds(), float64(rows)/s.clock.Seconds(), float64(bytes)/float64(rows), before, resident("VmHWM"))
	return nil
}

// fill indexes a simulated chain.
func fill(ctx context.Context, dir string, o settings) error {
	c := simnode.New(simnode.Config{Seed: 1, Blocks: o.blocks, TxPerBlock: o.tx, EventsPerTx: o.events, Compact: true})
	e, err := pebble.Open(pebble.Options{Dir: dir, Tables: catalog.Tables()})
	if err != nil {
		return err
	}
	defer e.Close() //nolint:errcheck // closed again below
	x, err := index.New(index.Options{Store: e, Source: simsource.Source{Chain: c}, Verify: index.VerifyOff})
	if err != nil {
		return err
	}
	if err := x.RunTo(ctx, uint64(o.blocks-1)); err != nil {
		return err
	}
	return e.Close()
}

// walk decodes all transactions, in views of the size that an export has.
func walk(ctx context.Context, e store.Engine, last uint64, visit func(*transaction.Record) error) error {
	from := explorer.Position{}
	for done := false; !done; {
		err := e.View(ctx, func(r explorer.Reader) error {
			var failed error
			at, all, err := transaction.Walk(ctx, r, from, last, 1000, func(rec *transaction.Record) bool {
				failed = visit(rec)
				return failed == nil
			})
			if failed != nil {
				return failed
			}
			done = all
			if from = (explorer.Position{Block: at.Block, Index: at.Tx + 1}); at.Tx == explorer.BehindAll {
				from = explorer.Position{Block: at.Block + 1}
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// writeCSV writes the columns of the family events, lists with spaces between their values.
func writeCSV(ctx context.Context, e store.Engine, last uint64, name string) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // synced below
	buffered := bufio.NewWriterSize(f, 64<<10)
	w := csv.NewWriter(buffered)
	join := func(list []felt.Felt) string {
		var b strings.Builder
		for i := range list {
			if i > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(list[i].String())
		}
		return b.String()
	}
	err = walk(ctx, e, last, func(rec *transaction.Record) error {
		number, hash, at := strconv.FormatUint(rec.Block, 10), rec.BlockHash.String(), time.Unix(int64(rec.BlockTime), 0).UTC().Format(time.RFC3339)
		place, tx, kind := strconv.Itoa(int(rec.Index)), rec.Hash.String(), rec.Type.String()
		for i := range rec.Receipt.Events {
			ev := &rec.Receipt.Events[i]
			if err := w.Write([]string{number, hash, at, place, tx, kind, strconv.Itoa(i), ev.From.String(), join(ev.Keys), join(ev.Data)}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if w.Flush(); w.Error() != nil {
		return w.Error()
	}
	if err := buffered.Flush(); err != nil {
		return err
	}
	return f.Sync()
}

// span is how long something took.
type span struct{ clock, cpu time.Duration }

func measure(work func() error) (span, error) {
	clock, cpu := time.Now(), spent.CPU()
	err := work()
	return span{time.Since(clock), spent.CPU() - cpu}, err
}

// resident is a line of the process's status, in MiB.
func resident(name string) string {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return "unknown"
	}
	_, rest, _ := strings.Cut(string(text), name+":")
	line, _, _ := strings.Cut(rest, " kB")
	kib, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		return "unknown"
	}
	return fmt.Sprintf("%d MiB", kib>>10)
}
