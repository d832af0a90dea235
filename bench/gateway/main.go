// Command gateway measures what the JSON-RPC gateway costs and what it saves: calls per
// second and time per call through the whole of it, against the node itself and against
// a plain reverse proxy in front of the same node, in one run on the same cores.
//
// All three listen on loopback in one process and take turns in short rounds, so that
// they share cores and neighbours. The client is in the process too and as lean as can
// be: prepared requests over kept connections, reading no more of an answer than its
// length. Beside the rates it prints the ratio of the CPU that a call takes: what the
// ratio of the rates would be if nobody else used the cores.
package main

import (
	"flag"
	"fmt"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"time"

	"chainexplorer/bench/gateway/service"
	"chainexplorer/internal/simnode"
)

type settings struct {
	conns, rounds int
	round         time.Duration
	delay         time.Duration
	events        int
	only          string
	profile       string
}

func main() {
	var s settings
	flag.IntVar(&s.conns, "conns", 16, "connections at a time")
	flag.DurationVar(&s.round, "round", 250*time.Millisecond, "length of a round")
	flag.IntVar(&s.rounds, "rounds", 12, "rounds of each, taking turns")
	flag.DurationVar(&s.delay, "delay", 5*time.Millisecond, "how long the node takes for what can be kept")
	flag.IntVar(&s.events, "events", 10_000, "blocks of the chain that events of a rare key are searched in; 0 for no search")
	flag.StringVar(&s.only, "only", "", "measure only what has this in its name")
	flag.StringVar(&s.profile, "cpuprofile", "", "write a CPU profile of the rounds of the gateway to this file")
	flag.Parse()
	if err := run(&s); err != nil {
		fmt.Fprintln(os.Stderr, "bench/gateway:", err)
		os.Exit(1)
	}
}

// blocks of the chain; those below the mark of L1 can be kept.
const blocks, l1Lag = 600, 300

func run(s *settings) error {
	fmt.Printf("%s, GOMAXPROCS %d, %d connections, %d rounds of %s, median; times with one connection\n\n", runtime.Version(), runtime.GOMAXPROCS(0), s.conns, s.rounds, s.round)
	b, err := open(service.Options{Chain: simnode.Config{Seed: 7, Blocks: blocks, TxPerBlock: 20, L1Lag: l1Lag}, Classes: true})
	if err != nil {
		return err
	}
	defer b.close()
	fmt.Println("by a node, each time:")
	heading()
	for _, c := range b.passed() {
		if err := b.measure(s, c); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	b.Delay.Store(int64(s.delay))
	fmt.Printf("\nkept, or from the index, while the node takes %s:\n", s.delay)
	heading()
	for _, c := range b.known() {
		if err := b.measure(s, c); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	if s.events == 0 || !strings.Contains("getEvents", s.only) {
		return nil
	}
	return searchEvents(s)
}

// searchEvents is on a longer chain.
func searchEvents(s *settings) error {
	b, err := open(service.Options{Chain: simnode.Config{Seed: 5, Blocks: s.events, TxPerBlock: 4}})
	if err != nil {
		return err
	}
	defer b.close()
	c, err := b.rareEvents()
	if err != nil {
		return err
	}
	fmt.Printf("\nevents of a rare key in %d blocks, by the scan of the node and from the index:\n", s.events)
	heading()
	return b.measure(s, c)
}

// bench is the service and the proxy that it is held against.
type bench struct {
	*service.Service
	proxy string
	stop  func()
}

func open(o service.Options) (*bench, error) {
	s, err := service.New(o)
	if err != nil {
		return nil, err
	}
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: s.Node})
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 256 // the default of two would have it connect anew all the time
	transport.DisableCompression = true
	proxy.Transport = transport
	b := &bench{Service: s}
	if b.proxy, b.stop, err = service.Listen(proxy); err != nil {
		s.Close()
		return nil, err
	}
	return b, nil
}

func (b *bench) close() {
	b.stop()
	b.Close()
}

// peer is one of the three that are asked.
type peer struct {
	requests [][]byte
	address  string
	rates    []float64
	costs    []float64 // CPU of a call, client and node included, in microseconds
	times    []time.Duration
}

func heading() {
	fmt.Printf("%-30s %7s %8s %8s %9s %8s %10s %20s %20s %12s\n", "call", "bytes", "node/s", "proxy/s", "gateway/s", "of proxy", "by CPU", "proxy adds, p50/p99", "gateway adds", "objects")
}

func (b *bench) measure(s *settings, c workload) error {
	if !strings.Contains(c.name, s.only) {
		return nil
	}
	direct := &peer{address: b.Node, requests: posts("/", "", c.bodies)}
	proxy := &peer{address: b.proxy, requests: posts("/", "", c.bodies)}
	ours := &peer{address: b.Gateway, requests: posts(b.Path, b.Key, c.bodies)}
	size, err := same(direct, ours)
	if err != nil {
		return err
	}
	var ratios, cheaper []float64
	for i := range s.rounds + 1 {
		for _, p := range []*peer{direct, proxy, ours} {
			stop := func() {}
			if p == ours && i == 1 && s.profile != "" {
				if stop, err = profile(s.profile + "." + strings.Fields(c.name)[0]); err != nil {
					return err
				}
			}
			rate, cost, err := load(p.address, p.requests, s.conns, s.round)
			stop()
			if err != nil {
				return err
			}
			times, err := latency(p.address, p.requests, s.round/4)
			if err != nil {
				return err
			}
			if i > 0 { // the first one warms up
				p.rates, p.costs, p.times = append(p.rates, rate), append(p.costs, cost), append(p.times, times...)
			}
		}
		if i > 0 {
			ratios = append(ratios, ours.rates[i-1]/proxy.rates[i-1])
			cheaper = append(cheaper, proxy.costs[i-1]/ours.costs[i-1])
		}
	}
	objects := map[*peer]float64{}
	for _, p := range []*peer{proxy, ours} {
		if objects[p], err = allocations(p); err != nil {
			return err
		}
	}
	adds := func(p *peer) string {
		return fmt.Sprintf("%.2f/%.2f ms", percentile(p.times, 50)-percentile(direct.times, 50), percentile(p.times, 99)-percentile(direct.times, 99))
	}
	fmt.Printf("%-30s %7d %8.0f %8.0f %9.0f %8.2f %10.2f %20s %20s %12s\n", c.name, size, median(direct.rates), median(proxy.rates), median(ours.rates), median(ratios), median(cheaper), adds(proxy), adds(ours), fmt.Sprintf("%.0f/%.0f", objects[proxy], objects[ours]))
	return nil
}

func profile(path string) (stop func(), err error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, err
	}
	return func() {
		pprof.StopCPUProfile()
		f.Close() //nolint:errcheck // a profile that is cut off shows
	}, nil
}

func median(list []float64) float64 {
	sorted := slices.Sorted(slices.Values(list))
	return sorted[len(sorted)/2]
}

// percentile is in milliseconds.
func percentile(list []time.Duration, p int) float64 {
	slices.Sort(list)
	return float64(list[(len(list)-1)*p/100].Microseconds()) / 1000
}
