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
	"maps"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

func main() {
	o := options{}
	flag.IntVar(&o.conns, "conns", 16, "connections at a time")
	flag.IntVar(&o.clients, "clients", 64, "clients at a time, of the times by route class")
	flag.DurationVar(&o.round, "round", 250*time.Millisecond, "length of a round")
	flag.IntVar(&o.rounds, "rounds", 20, "rounds of each, taking turns")
	flag.IntVar(&o.blocks, "blocks", 400, "blocks of the chain")
	flag.StringVar(&o.only, "only", "", "measure what has this in its name, such as block, tx, anew, pages, classes, usage, feed, keys or greedy")
	flag.IntVar(&o.alone, "alone", 0, "only what so many requests of each take the handler, without a connection")
	flag.StringVar(&o.profile, "cpuprofile", "", "write a CPU profile of the rounds to this file")
	flag.StringVar(&o.memory, "memprofile", "", "write which places took memory in the rounds to this file, every piece")
	flag.Parse()
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "bench/http:", err)
		os.Exit(1)
	}
}

// options are those of a run.
type options struct {
	conns, clients, rounds, blocks int
	round                          time.Duration
	alone                          int
	only, profile, memory          string
}

func (o options) wants(name string) bool { return strings.Contains(name, o.only) }

func run(o options) error {
	s, err := newService(o.blocks)
	if err != nil {
		return err
	}
	defer s.close()
	fmt.Printf("%s, GOMAXPROCS %d, %d connections, %d rounds of %s, median\n", runtime.Version(), runtime.GOMAXPROCS(0), o.conns, o.rounds, o.round)
	return remembered(o.memory, func() error { return profiled(o.profile, func() error { return s.parts(o) }) })
}

// parts measures one thing after the other.
func (s *service) parts(o options) error {
	if err := s.against(o, "answer", s.cases()); err != nil {
		return err
	}
	if err := s.against(o, "pages of 100, made anew", s.hundreds()); err != nil {
		return err
	}
	if o.alone > 0 {
		return nil
	}
	for _, part := range []struct {
		name    string
		measure func(options) error
	}{
		{"classes", s.classes}, {"usage", s.recording}, {"feed", s.feed}, {"keys", s.authentication}, {"greedy", s.greedy},
	} {
		if !o.wants(part.name) {
			continue
		}
		if err := part.measure(o); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
	}
	return nil
}

// against prints a table of workloads against bare handlers.
func (s *service) against(o options, title string, list []workload) error {
	list = slices.DeleteFunc(list, func(c workload) bool { return !o.wants(c.name) })
	if len(list) == 0 {
		return nil
	}
	if o.alone > 0 {
		return s.aloneOnly(o, title, list)
	}
	fmt.Printf("\n%-34s %8s %10s %10s %6s %7s %9s %9s %9s %7s %7s\n", title, "bytes", "bare req/s", "ours req/s", "ratio", "dressed", "bare µs", "ours µs", "alone µs", "allocs", "bare's")
	for _, c := range list {
		if err := s.measure(c, o); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	return nil
}

// measure lets the two take turns, so that both meet the same machine.
func (s *service) measure(c workload, o options) error {
	bare, dressed, size, err := s.bare(c)
	if err != nil {
		return err
	}
	sides := []struct {
		name    string
		handler http.Handler
		serve   func(http.Handler) (string, func())
	}{{"bare", bare, serve}, {"ours", c.server, front}, {"dressed", dressed, serve}}
	addresses, took := make([]string, len(sides)), make([]loads, len(sides))
	for i, side := range sides {
		address, stop := serveAs(side.name, side.handler, side.serve)
		defer stop()
		addresses[i] = address
	}
	for round := range o.rounds + 1 {
		for i, address := range addresses {
			l, err := load(address, c.paths, s.key, o.conns, o.round)
			if err != nil {
				return err
			}
			if round > 0 { // the first one warms up
				took[i] = append(took[i], l)
			}
		}
	}
	theirs, ours, withHeaders := took[0], took[1], took[2]
	mine, others := alone(c.server, c.paths, s.key, 2000), alone(bare, c.paths, s.key, 2000)
	fmt.Printf("%-34s %8d %10.0f %10.0f %6.2f %7.2f %9.1f %9.1f %9.1f %7.0f %7.0f\n", c.name, size, theirs.rate(), ours.rate(), ours.against(theirs), withHeaders.against(theirs),
		theirs.micros(), ours.micros(), mine.micros, mine.allocs, others.allocs)
	return nil
}

func median(list []float64) float64 {
	slices.Sort(list)
	return list[len(list)/2]
}

// bare knows the bytes of every answer and does nothing but write them; dressed writes the
// headers of our answers as well, which is as near to bare as a handler of net/http can come
// that sends them.
func (s *service) bare(c workload) (bare, dressed http.Handler, size int, err error) {
	answers, total := map[string]*sink{}, 0
	for _, path := range c.paths {
		w := &sink{header: http.Header{}}
		c.server.ServeHTTP(w, request(path, s.key))
		if w.status != http.StatusOK {
			return nil, nil, 0, fmt.Errorf("GET %s: status %d: %s", path, w.status, w.body)
		}
		answers[path] = w
		total += len(w.body)
	}
	bare = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := answers[r.URL.RequestURI()].body
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		w.Write(body) //nolint:errcheck // the client went away
	})
	dressed = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := answers[r.URL.RequestURI()]
		maps.Copy(w.Header(), answer.header)
		w.Write(answer.body) //nolint:errcheck // the client went away
	})
	return bare, dressed, total / len(c.paths), nil
}
