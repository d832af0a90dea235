// Command http measures what the HTTP kernel costs: requests per second of
// block/{n} and tx/{hash} through the whole of it, against a bare net/http
// handler that writes the same bytes, in one run on the same cores.
//
// Both are served by net/http on loopback. The client is in the same process and
// as lean as can be: it sends prepared requests over kept connections and reads
// no more of an answer than its length, so that it hides little of the difference.
package main

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strconv"
	"time"
)

func main() {
	conns := flag.Int("conns", 16, "connections at a time")
	round := flag.Duration("round", 250*time.Millisecond, "length of a round")
	rounds := flag.Int("rounds", 20, "rounds of each, taking turns")
	flag.Parse()
	if err := run(*conns, *round, *rounds); err != nil {
		fmt.Fprintln(os.Stderr, "bench/http:", err)
		os.Exit(1)
	}
}

func run(conns int, round time.Duration, rounds int) error {
	s, err := newService()
	if err != nil {
		return err
	}
	defer s.close()
	fmt.Printf("%s, GOMAXPROCS %d, %d connections, %d rounds of %s, median\n\n", runtime.Version(), runtime.GOMAXPROCS(0), conns, rounds, round)
	fmt.Printf("%-22s %9s %12s %12s %7s %15s %15s\n", "answer", "bytes", "bare req/s", "kernel req/s", "ratio", "allocs (kernel)", "allocs (bare)")
	for _, c := range s.cases() {
		if err := s.measure(c, conns, round, rounds); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	if err := s.recording(conns, round, rounds); err != nil {
		return fmt.Errorf("recording: %w", err)
	}
	if err := s.feed(conns, round, rounds); err != nil {
		return fmt.Errorf("feed: %w", err)
	}
	if err := s.authentication(round, rounds); err != nil {
		return fmt.Errorf("authentication: %w", err)
	}
	return s.greedy(round, rounds)
}

// measure lets the two take turns, so that both meet the same machine.
func (s *service) measure(c workload, conns int, round time.Duration, rounds int) error {
	bare, size, err := s.bare(c)
	if err != nil {
		return err
	}
	kernelURL, stopKernel := serve(c.server)
	defer stopKernel()
	bareURL, stopBare := serve(bare)
	defer stopBare()
	var ratios, kernelRates, bareRates []float64
	for i := range rounds + 1 {
		b, err := load(bareURL, c.paths, s.key, conns, round)
		if err != nil {
			return err
		}
		k, err := load(kernelURL, c.paths, s.key, conns, round)
		if err != nil {
			return err
		}
		if i == 0 {
			continue // the first one warms up
		}
		kernelRates, bareRates, ratios = append(kernelRates, k), append(bareRates, b), append(ratios, k/b)
	}
	fmt.Printf("%-22s %9d %12.0f %12.0f %7.2f %15.0f %15.0f\n", c.name, size, median(bareRates), median(kernelRates), median(ratios),
		allocations(c.server, c.paths, s.key), allocations(bare, c.paths, s.key))
	return nil
}

func median(list []float64) float64 {
	slices.Sort(list)
	return list[len(list)/2]
}

// bare knows the bytes of every answer and does nothing but write them.
func (s *service) bare(c workload) (http.Handler, int, error) {
	bodies, total := map[string][]byte{}, 0
	for _, path := range c.paths {
		w := &sink{header: http.Header{}}
		c.server.ServeHTTP(w, request(path, s.key))
		if w.status != http.StatusOK {
			return nil, 0, fmt.Errorf("GET %s: status %d: %s", path, w.status, w.body)
		}
		bodies[path] = w.body
		total += len(w.body)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := bodies[r.URL.Path]
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		w.Write(body) //nolint:errcheck // the client went away
	}), total / len(c.paths), nil
}
