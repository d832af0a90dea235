// Command pool measures the routes of privacy pools over a short and over a long
// history of the same kind, in one run: the time of a request must not grow with the
// number of events.
//
//	go run ./bench/pool
//
// Each history is a simulated chain that is indexed, and read by the job that keeps the
// ledger; requests go through the whole kernel, one after the other, on loopback.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"time"

	"chainexplorer/internal/simnode/contracts"
)

// routes are what is asked for, below the chain's path of the pools.
func routes(from, to time.Time) []string {
	hour := func(t time.Time) string { return t.UTC().Truncate(time.Hour).Format(time.RFC3339) }
	return []string{
		"tvl", "tvl/series?from=" + hour(to.Add(-30*time.Hour)) + "&to=" + hour(to), "tvl/series?from=" + hour(from) + "&to=" + hour(to), "status", "metric-buckets?limit=90",
		"metrics/series?range=all&granularity=day&token=" + contracts.STRK.String(), "metrics/series?range=all&granularity=hour&token=" + contracts.STRK.String(), "analytics", "dashboard",
	}
}

// times are the p50 and p99 of a route.
type times struct{ p50, p99 time.Duration }

func main() {
	few := flag.Int("few", 10_000, "pool events of the short history")
	many := flag.Int("many", 1_000_000, "pool events of the long one")
	requests := flag.Int("requests", 1000, "requests per route")
	dir := flag.String("dir", "", "where to put the stores; default: the system's temporary directory")
	flag.Parse()
	var names []string
	results := map[string][2]times{}
	for i, events := range []int{*few, *many} {
		err := measure(context.Background(), *dir, events, *requests, func(route int, name string, t times) {
			key := fmt.Sprint(route)
			if i == 0 {
				names = append(names, name)
			}
			r := results[key]
			r[i] = t
			results[key] = r
		})
		if err != nil {
			fmt.Fprintf(os.Stderr, "pool: %v\n", err)
			os.Exit(1)
		}
	}
	fmt.Printf("\n%-44s %20s %20s %7s\n", "route", fmt.Sprintf("p50/p99 at %d", *few), fmt.Sprintf("at %d", *many), "growth")
	for i, name := range names {
		r := results[fmt.Sprint(i)]
		fmt.Printf("%-44.44s %9.2f/%7.2f ms %9.2f/%7.2f ms %7.2f\n", name, ms(r[0].p50), ms(r[0].p99), ms(r[1].p50), ms(r[1].p99), float64(r[1].p50)/float64(r[0].p50))
	}
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// measure makes a history and asks every route again and again.
func measure(ctx context.Context, dir string, events, requests int, show func(route int, name string, t times)) error {
	s, err := newService(ctx, dir, events)
	if err != nil {
		return err
	}
	defer s.close()
	for i, route := range routes(s.from, s.to) {
		var took []time.Duration
		for n := range requests + requests/10 {
			start := time.Now()
			if err := s.get(route); err != nil {
				return err
			}
			if n >= requests/10 { // the first warm caches up
				took = append(took, time.Since(start))
			}
		}
		slices.Sort(took)
		show(i, route, times{took[len(took)/2], took[len(took)*99/100]})
	}
	return nil
}

// get asks one request and reads the answer.
func (s *service) get(route string) error {
	req, err := http.NewRequest(http.MethodGet, s.url+"/v1/"+chainID+"/privacy-pool/"+route, nil)
	if err != nil {
		return err
	}
	req.Header.Set("X-Service-Api-Key", s.key)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close() //nolint:errcheck // read to its end
	body, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %d %s", route, res.StatusCode, body)
	}
	return err
}
