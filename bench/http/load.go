package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"runtime/pprof"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"chainexplorer/bench/spent"
	"chainexplorer/internal/edge"
	"chainexplorer/internal/kernel"
)

// serve listens on loopback.
func serve(h http.Handler) (address string, stop func()) {
	srv := httptest.NewServer(h)
	return srv.Listener.Addr().String(), srv.Close
}

// front is serve as the program does it: its own listeners bound connections, and answer what net/http would
// refuse by itself.
func front(h http.Handler) (address string, stop func()) {
	srv := httptest.NewUnstartedServer(h)
	wire := kernel.WireOptions{}
	bound := edge.Bound(kernel.NewListener(srv.Listener, wire), edge.Options{Name: "bench", Refusal: wire.Refused})
	bound.Attach(srv.Config)
	srv.Listener = bound
	srv.Start()
	return bound.Addr().String(), srv.Close
}

// serveAs serves with a label by which a CPU profile tells the sides apart:
// goroutines have the labels of those that begin them.
func serveAs(side string, h http.Handler, serve func(http.Handler) (string, func())) (address string, stop func()) {
	pprof.Do(context.Background(), pprof.Labels("side", side), func(context.Context) { address, stop = serve(h) })
	return address, stop
}

// loaded is what a load came to: requests per second, and microseconds of processor time for
// each, the client's included. Neighbours on the same cores change the first more than the second.
type loaded struct{ rate, micros float64 }

type loads []loaded

func (l loads) rate() float64   { return l.median(func(x loaded) float64 { return x.rate }) }
func (l loads) micros() float64 { return l.median(func(x loaded) float64 { return x.micros }) }

func (l loads) median(of func(loaded) float64) float64 {
	list := make([]float64, len(l))
	for i, x := range l {
		list[i] = of(x)
	}
	return median(list)
}

// against is the median of the ratios of rounds that followed each other.
func (l loads) against(other loads) float64 {
	ratios := make([]float64, len(l))
	for i := range l {
		ratios[i] = l[i].rate / other[i].rate
	}
	return median(ratios)
}

// load keeps conns connections busy for a while.
func load(address string, paths []string, key string, conns int, d time.Duration) (loaded, error) {
	requests := make([][]byte, len(paths))
	for i, path := range paths {
		requests[i] = fmt.Appendf(nil, "GET %s HTTP/1.1\r\nHost: bench\r\nX-Service-Api-Key: %s\r\n\r\n", path, key)
	}
	var done atomic.Int64
	var wg sync.WaitGroup
	errs := make([]error, conns)
	start, before := time.Now(), spent.CPU()
	for i := range conns {
		wg.Go(func() {
			n, err := drive(address, requests, i, start.Add(d))
			done.Add(n)
			errs[i] = err
		})
	}
	wg.Wait()
	n := float64(done.Load())
	return loaded{n / time.Since(start).Seconds(), float64((spent.CPU() - before).Microseconds()) / n}, errors.Join(errs...)
}

// drive sends requests over one connection until the deadline.
func drive(address string, requests [][]byte, from int, deadline time.Time) (n int64, err error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return 0, err
	}
	defer conn.Close() //nolint:errcheck // nothing is written any more
	r := bufio.NewReaderSize(conn, 64<<10)
	for i := from * 7; time.Now().Before(deadline); i++ {
		if _, err := conn.Write(requests[i%len(requests)]); err != nil {
			return n, err
		}
		if err := readAnswer(r); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

var lengthHeader = []byte("Content-Length: ")

// readAnswer reads the head for status and length, and passes over the body.
func readAnswer(r *bufio.Reader) error {
	line, err := r.ReadSlice('\n')
	if err != nil {
		return err
	}
	if !bytes.HasPrefix(line, []byte("HTTP/1.1 200")) {
		return fmt.Errorf("answer %q", line)
	}
	length := -1
	for len(line) > 2 {
		if line, err = r.ReadSlice('\n'); err != nil {
			return err
		}
		if text, ok := bytes.CutPrefix(line, lengthHeader); ok {
			if length, err = strconv.Atoi(string(bytes.TrimSpace(text))); err != nil {
				return err
			}
		}
	}
	if length < 0 {
		return errors.New("an answer without a length")
	}
	_, err = r.Discard(length)
	return err
}

// sink is a response writer for measuring a handler without a connection.
type sink struct {
	header http.Header
	status int
	body   []byte
}

func (s *sink) Header() http.Header { return s.header }

func (s *sink) WriteHeader(status int) { s.status = status }

func (s *sink) Write(b []byte) (int, error) {
	if s.status == 0 {
		s.status = http.StatusOK
	}
	s.body = append(s.body, b...)
	return len(b), nil
}

func request(path, key string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.Header.Set("X-Service-Api-Key", key)
	return r
}

// lone is what a request takes a handler without a connection: microseconds of processor time,
// and pieces and kilobytes of memory.
type lone struct{ micros, allocs, kilobytes float64 }

// alone measures a handler without net/http's own part, and with nobody else at work in the
// process. Memory that is collected while it runs is part of its time.
func alone(h http.Handler, paths []string, key string, n int) lone {
	requests := make([]*http.Request, len(paths))
	for i, path := range paths {
		requests[i] = request(path, key)
	}
	w := &discard{header: http.Header{}}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	had := spent.CPU()
	for i := range n {
		clear(w.header)
		h.ServeHTTP(w, requests[i%len(requests)])
	}
	took := spent.CPU() - had
	runtime.ReadMemStats(&after)
	each := 1 / float64(n)
	return lone{float64(took.Nanoseconds()) / 1000 * each, float64(after.Mallocs-before.Mallocs) * each, float64(after.TotalAlloc-before.TotalAlloc) / 1024 * each}
}

// aloneTurns are so many that some are over before a neighbour on the same cores, or the collector, comes
// in between.
const aloneTurns = 200

// aloneOnly prints what workloads take without a connection: the least of many turns, as neighbours
// on the same cores only add to it. That tells two versions of a program apart.
func (s *service) aloneOnly(o options, title string, list []workload) error {
	fmt.Printf("\n%-34s %8s %9s %7s %9s\n", title, "bytes", "alone µs", "allocs", "KB")
	for _, c := range list {
		_, _, size, err := s.bare(c)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		var least lone
		for i := range aloneTurns {
			if turn := alone(c.server, c.paths, s.key, max(o.alone/aloneTurns, 1)); i == 0 || turn.micros < least.micros {
				least = turn
			}
		}
		fmt.Printf("%-34s %8d %9.1f %7.0f %9.1f\n", c.name, size, least.micros, least.allocs, least.kilobytes)
	}
	return nil
}

// discard is a response writer that costs nothing.
type discard struct{ header http.Header }

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) WriteHeader(int)             {}
func (d *discard) Write(b []byte) (int, error) { return io.Discard.Write(b) }
