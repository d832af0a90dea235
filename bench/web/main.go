// Command web measures the explorer's pages: how long one takes against the call of the
// API behind it, in one run on the same cores, and how many bytes its first view is.
//
// Both go through the whole kernel, in this process and without a connection, in turn. The
// page names its call itself, by the link to the same as JSON; all its calls are those of
// its "as JSON" view, which tell the facts that it shows, and the batch that tells what its
// sentences are made of.
package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"flag"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"time"
)

func main() {
	rounds := flag.Int("rounds", 40, "rounds, in which each address is asked once")
	addresses := flag.Int("addresses", 32, "addresses of each kind of page")
	profile := flag.String("cpuprofile", "", "file for a CPU profile")
	flag.Parse()
	if err := profiled(*profile, func() error { return run(*rounds, *addresses) }); err != nil {
		fmt.Fprintln(os.Stderr, "bench/web:", err)
		os.Exit(1)
	}
}

// profiled writes a profile of what it runs, if a file is named.
func profiled(file string, run func() error) error {
	if file == "" {
		return run()
	}
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return err
	}
	err = run()
	pprof.StopCPUProfile()
	return errors.Join(err, f.Close())
}

func run(rounds, addresses int) error {
	s, err := newService()
	if err != nil {
		return err
	}
	defer s.close()
	fmt.Printf("%s, GOMAXPROCS %d, %d addresses, %d rounds, medians; sizes with gzip\n\n", runtime.Version(), runtime.GOMAXPROCS(0), addresses, rounds)
	fmt.Printf("%-12s %-6s %10s %10s %7s %10s %7s %9s %9s %11s\n", "page", "", "page µs", "call µs", "ratio", "calls µs", "ratio", "pages/s", "HTML", "first view")
	for _, k := range s.kinds(addresses) {
		for _, server := range []struct {
			name    string
			handler http.Handler
		}{{"anew", s.anew}, {"kept", s.kept}} {
			m, err := s.measure(server.handler, k, rounds)
			if err != nil {
				return fmt.Errorf("%s: %w", k.name, err)
			}
			fmt.Printf("%-12s %-6s %10.0f %10.0f %7.2f %10.0f %7.2f %9.0f %9d %11d\n", k.name, server.name, m.page, m.call, m.page/m.call, m.calls, m.page/m.calls, 1e6/m.page, m.html, m.view)
		}
	}
	return nil
}

// measured are times in microseconds, and bytes.
type measured struct {
	page, call, calls float64
	html, view        int
}

var (
	jsonLink = regexp.MustCompile(`<link rel="alternate" type="application/json" href="([^"]*)"`)
	asJSON   = regexp.MustCompile(`<a href="([^"]*)" rel="nofollow">as JSON`)
	callLine = regexp.MustCompile(`<h2[^>]*>GET (/v1/[^<]*)</h2>`)
	loaded   = regexp.MustCompile(`<(?:link rel="stylesheet" href|script src)="([^"]*)"`)
)

// turn is what is asked at a time, and where its times are kept.
type turn struct {
	times *[]float64
	paths []string
	batch string // a body for the previews, asked last; "" for none
	key   string
}

// measure lets a page, the call behind it and all of its calls take turns.
func (s *service) measure(h http.Handler, k kind, rounds int) (m measured, err error) {
	paths := k.paths
	type address struct {
		page  string
		call  string
		calls []string
	}
	var all []address
	for _, path := range paths {
		body, err := get(h, path, "")
		if err != nil {
			return m, err
		}
		a := address{page: path}
		if a.call = found(jsonLink, body); a.call == "" {
			return m, fmt.Errorf("%s names no call", path)
		}
		if at := found(asJSON, body); at != "" {
			shown, err := get(h, at, "")
			if err != nil {
				return m, err
			}
			for _, c := range callLine.FindAllSubmatch(shown, -1) {
				a.calls = append(a.calls, html.UnescapeString(string(c[1])))
			}
		}
		if len(a.calls) == 0 {
			a.calls = []string{a.call}
		}
		all = append(all, a)
		view := zipped(body)
		m.html += view / len(paths)
		for _, l := range loaded.FindAllSubmatch(body, -1) {
			file, err := get(h, html.UnescapeString(string(l[1])), "")
			if err != nil {
				return m, err
			}
			view += zipped(file)
		}
		m.view = max(m.view, view)
	}
	var page, call, calls []float64
	for round := range rounds {
		for i, a := range all {
			turns := []turn{{&page, []string{a.page}, "", ""}, {&call, []string{a.call}, "", s.key}, {&calls, a.calls, k.batches[a.page], s.key}}
			for j := range turns { // none always follows the same other
				one := turns[(i+round+j)%len(turns)]
				begin := time.Now()
				for _, path := range one.paths {
					if _, err := get(h, path, one.key); err != nil {
						return m, err
					}
				}
				if one.batch != "" {
					if err := post(h, "/v1/"+chainID+"/tx/previews", one.batch, one.key); err != nil {
						return m, err
					}
				}
				*one.times = append(*one.times, float64(time.Since(begin).Nanoseconds())/1000)
			}
		}
	}
	m.page, m.call, m.calls = median(page), median(call), median(calls)
	return m, nil
}

func get(h http.Handler, path, key string) ([]byte, error) {
	return answer(h, httptest.NewRequestWithContext(context.Background(), http.MethodGet, path, nil), key)
}

func post(h http.Handler, path, body, key string) error {
	r := httptest.NewRequestWithContext(context.Background(), http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	_, err := answer(h, r, key)
	return err
}

func answer(h http.Handler, r *http.Request, key string) ([]byte, error) {
	if key != "" {
		r.Header.Set("X-Service-Api-Key", key)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code != http.StatusOK {
		return nil, fmt.Errorf("%s %s: status %d: %.300s", r.Method, r.URL, w.Code, w.Body)
	}
	return w.Body.Bytes(), nil
}

func found(r *regexp.Regexp, text []byte) string {
	if m := r.FindSubmatch(text); m != nil {
		return html.UnescapeString(string(m[1]))
	}
	return ""
}

func zipped(body []byte) int {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write(body) //nolint:errcheck // into memory
	z.Close()     //nolint:errcheck // into memory
	return b.Len()
}

func median(list []float64) float64 {
	slices.Sort(list)
	return list[len(list)/2]
}
