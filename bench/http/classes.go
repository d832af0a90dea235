package main

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"

	"chainexplorer/internal/kernel"
	"chainexplorer/internal/simnode/contracts"
)

// asked is a request of a mix.
type asked struct{ path, body string }

// bytes are the request as it goes over a connection.
func (a asked) bytes(key string) []byte {
	if a.body == "" {
		return fmt.Appendf(nil, "GET %s HTTP/1.1\r\nHost: bench\r\nX-Service-Api-Key: %s\r\n\r\n", a.path, key)
	}
	return fmt.Appendf(nil, "POST %s HTTP/1.1\r\nHost: bench\r\nX-Service-Api-Key: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		a.path, key, len(a.body), a.body)
}

// mix are reads of all kinds, each under several addresses.
func (s *service) mix() (out []asked) {
	get := func(format string, args ...any) {
		out = append(out, asked{path: "/v1/" + chainID + fmt.Sprintf(format, args...)})
	}
	account, token := s.busiest(), contracts.STRK
	var hashes, addresses []string
	for i := range uint64(16) {
		n := 20 + i*(s.blocks-40)/16
		b := s.chain.BlockAt(n)
		get("/block/%d", n)
		for j := range min(2, len(b.Transactions)) {
			hash, sender := b.Transactions[j].Hash, b.Transactions[j].Sender
			get("/tx/%s", hash)
			get("/address/%s", sender)
			get("/address/%s/transactions?limit=25", sender)
			hashes, addresses = append(hashes, hash.String()), append(addresses, sender.String())
		}
		get("/contract/%s/events?limit=25&from_block=%d", token, n)
		get("/token/%s/transfers?limit=25&from_block=%d", token, n)
	}
	get("/blocks?limit=25")
	get("/txs?limit=25")
	get("/status")
	get("/token/%s", token)
	get("/messages?limit=25")
	get("/address/%s/activity?limit=25", account)
	get("/address/%s/transfers?limit=25", account)
	for _, b := range []struct {
		path, name string
		list       []string
	}{{"address/summaries", "addresses", addresses}, {"address/intelligence", "addresses", addresses}, {"tx/previews", "hashes", hashes}} {
		out = append(out, asked{"/v1/" + chainID + "/" + b.path, `{"` + b.name + `":["` + strings.Join(b.list, `","`) + `"]}`})
	}
	return out
}

// classes measures how long requests take by route class, of many clients at a time who ask one
// request after the other, with answers kept and without.
func (s *service) classes(o options) error {
	by := map[string][]asked{}
	for _, a := range s.mix() {
		r := request(a.path, s.key)
		if a.body != "" {
			r = httptest.NewRequest(http.MethodPost, a.path, strings.NewReader(a.body))
			r.Header.Set(kernel.HeaderKey, s.key)
			r.Header.Set("Content-Type", kernel.JSONType)
		}
		w := &sink{header: http.Header{}}
		if s.server.ServeHTTP(w, r); w.status != http.StatusOK {
			return fmt.Errorf("%s: status %d: %s", a.path, w.status, w.body)
		}
		class := w.header.Get(kernel.HeaderRouteClass)
		by[class] = append(by[class], a)
	}
	fmt.Printf("\n%-40s %9s %10s %9s %9s\n", fmt.Sprintf("classes: %d clients", o.clients), "requests", "req/s", "p50, ms", "p99, ms")
	for _, c := range []struct {
		name   string
		server http.Handler
	}{{"kept", s.server}, {"made anew", s.anew}} {
		address, stop := serve(c.server)
		for _, class := range []kernel.Class{kernel.Light, kernel.Heavy, kernel.Batch} {
			took, rate, err := hold(address, by[string(class)], s.key, o)
			if err != nil {
				stop()
				return fmt.Errorf("%s, %s: %w", class, c.name, err)
			}
			fmt.Printf("%-40s %9d %10.0f %9.2f %9.2f\n", string(class)+", "+c.name, len(took), rate, percentile(took, 50), percentile(took, 99))
		}
		stop()
	}
	return nil
}

// percentile is a time of a sorted list, in milliseconds.
func percentile(sorted []time.Duration, of int) float64 {
	return sorted[(len(sorted)-1)*of/100].Seconds() * 1000
}

// hold keeps clients asking for as long as all rounds take, and returns how long the answers
// took, sorted, and how many there were a second. The first part of it warms up.
func hold(address string, mix []asked, key string, o options) (took []time.Duration, rate float64, err error) {
	requests := make([][]byte, len(mix))
	for i, a := range mix {
		requests[i] = a.bytes(key)
	}
	start := time.Now()
	from := start.Add(o.round)
	until := from.Add(time.Duration(o.rounds) * o.round)
	times, errs := make([][]time.Duration, o.clients), make([]error, o.clients)
	var all sync.WaitGroup
	for i := range o.clients {
		all.Go(func() { times[i], errs[i] = clock(address, requests, i, from, until) })
	}
	all.Wait()
	took = slices.Concat(times...)
	slices.Sort(took)
	if err = errors.Join(errs...); err == nil && len(took) == 0 {
		err = errors.New("no request was answered")
	}
	return took, float64(len(took)) / time.Since(from).Seconds(), err
}

// clock is drive with the times of the requests that began after from.
func clock(address string, requests [][]byte, first int, from, until time.Time) (took []time.Duration, err error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	defer conn.Close() //nolint:errcheck // nothing is written any more
	r := bufio.NewReaderSize(conn, 64<<10)
	for i, start := first*7, time.Now(); start.Before(until); i++ {
		if _, err := conn.Write(requests[i%len(requests)]); err != nil {
			return nil, err
		}
		if err := readAnswer(r); err != nil {
			return nil, err
		}
		end := time.Now()
		if !start.Before(from) {
			took = append(took, end.Sub(start))
		}
		start = end
	}
	return took, nil
}
