// Command pool measures the routes of privacy pools over two histories that have the
// same blocks at the same times, one with few events of the pool and one with many:
// neither the time of a request nor the rows that it reads may grow with the number of
// events.
//
//	go run ./bench/pool
//
// Each history is a simulated chain that is indexed, and read by the job that keeps the
// ledger. Requests go through the whole kernel on loopback, one after the other, in turn
// to the one and to the other, so that what else the machine does disturbs both.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"time"
)

func main() {
	few := flag.Int("few", 10_000, "pool events of the one history, about")
	many := flag.Int("many", 1_000_000, "pool events of the other, about")
	blocks := flag.Int("blocks", 2880, "blocks of both")
	pace := flag.Duration("pace", 15*time.Minute, "from block to block, of both")
	requests := flag.Int("requests", 500, "requests per route and history")
	dir := flag.String("dir", "", "where to put the stores; default: the system's temporary directory")
	flag.Parse()
	if err := run(context.Background(), os.Stdout, options{dir: *dir, events: [2]int{*few, *many}, blocks: *blocks, pace: *pace, requests: *requests}); err != nil {
		fmt.Fprintf(os.Stderr, "pool: %v\n", err)
		os.Exit(1)
	}
}

// options are what is measured.
type options struct {
	dir      string
	events   [2]int // of the two histories
	blocks   int
	pace     time.Duration
	requests int
}

// figures are what a route costs over one of the histories.
type figures struct {
	took []time.Duration
	rows int // the most that one request read
	size int // of the answer
}

func (f *figures) quantile(percent int) time.Duration { return f.took[len(f.took)*percent/100] }

func run(ctx context.Context, out io.Writer, o options) error {
	var both [2]*service
	for i, events := range o.events {
		s, err := newService(ctx, out, o, events)
		if err != nil {
			return err
		}
		defer s.close()
		both[i] = s
	}
	fmt.Fprintf(out, "\n%-42s %18s %18d %7s %7s %13s %15s\n", "route", fmt.Sprintf("p50/p99 ms, %d", o.events[0]), o.events[1], "p50 x", "p99 x", "rows read", "bytes")
	for _, q := range questions() {
		paths := [2]string{}
		for i, s := range both {
			var err error
			if paths[i], err = q.path(s); err != nil {
				return fmt.Errorf("%s: %w", q.name, err)
			}
		}
		f, err := measure(both, paths, o.requests)
		if err != nil {
			return fmt.Errorf("%s: %w", q.name, err)
		}
		fmt.Fprintf(out, "%-42s %9.2f/%8.2f %9.2f/%8.2f %7.2f %7.2f %6d %6d %7d %7d\n", q.name, ms(f[0].quantile(50)), ms(f[0].quantile(99)), ms(f[1].quantile(50)), ms(f[1].quantile(99)),
			ratio(f, 50), ratio(f, 99), f[0].rows, f[1].rows, f[0].size, f[1].size)
	}
	return nil
}

func ratio(f [2]figures, percent int) float64 {
	return float64(f[1].quantile(percent)) / float64(f[0].quantile(percent))
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// measure asks both services in turn.
func measure(both [2]*service, paths [2]string, requests int) (out [2]figures, err error) {
	for n := range requests + requests/10 {
		for i, s := range both {
			s.read.rows.Store(0)
			start := time.Now()
			body, err := s.get(paths[i])
			if err != nil {
				return out, err
			}
			if took := time.Since(start); n >= requests/10 { // the first warm caches up
				out[i].took = append(out[i].took, took)
			}
			out[i].rows, out[i].size = max(out[i].rows, int(s.read.rows.Load())), len(body)
		}
	}
	for i := range out {
		slices.Sort(out[i].took)
	}
	return out, nil
}
