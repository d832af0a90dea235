package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"chainexplorer/internal/kernel"
)

// greedy measures how long a quiet key waits beside a greedy one: the median time of
// its requests, as a ratio to that without the other.
func (s *service) greedy(o options) error {
	srv := httptest.NewUnstartedServer(s.anew)
	srv.Listener = kernel.NewListener(srv.Listener, kernel.WireOptions{})
	srv.Start()
	defer srv.Close()
	address := srv.Listener.Addr().String()
	path := fmt.Sprintf("/v1/%s/block/%d", chainID, s.blocks-10)
	fmt.Printf("\n%-40s %14s %14s %7s\n", "a quiet key beside", "alone p50", "beside p50", "ratio")
	for _, c := range []struct {
		name  string
		conns int
		text  string
		again bool // each connection asks again and again
	}{
		{"560 connections with one byte of a body", 560, fmt.Sprintf("POST /v1/%s/address/summaries HTTP/1.1\r\nHost: b\r\nX-Service-Api-Key: %s\r\nContent-Length: 90\r\n\r\n{", chainID, s.key), false},
		{"8 connections that ask without pause", 8, fmt.Sprintf("GET %s HTTP/1.1\r\nHost: b\r\nX-Service-Api-Key: %s\r\n\r\n", path, s.key), true},
		{"8 connections that read /docs/api", 8, "GET /docs/api HTTP/1.1\r\nHost: %d.example\r\n\r\n", true},
	} {
		var alone, beside []float64
		for range o.rounds {
			a, err := quiet(address, path, s.quietKey, o.round)
			if err != nil {
				return err
			}
			ctx, stop := context.WithCancel(context.Background())
			var all sync.WaitGroup
			for i := range c.conns {
				all.Go(func() { pester(ctx, address, c.text, i, c.again) })
			}
			b, err := quiet(address, path, s.quietKey, o.round)
			stop()
			all.Wait()
			if err != nil {
				return err
			}
			alone, beside = append(alone, a), append(beside, b)
		}
		a, b := median(alone), median(beside)
		fmt.Printf("%-40s %12.2fms %12.2fms %7.2f\n", c.name, a, b, b/a)
	}
	return nil
}

// pester sends a request, or many, and reads whatever comes, until it is told to stop.
func pester(ctx context.Context, address, text string, from int, again bool) {
	for i := from; ctx.Err() == nil; i += 1000 {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			return
		}
		end := context.AfterFunc(ctx, func() { conn.Close() }) //nolint:errcheck // it ends the reads
		r := bufio.NewReaderSize(conn, 64<<10)
		for ; ctx.Err() == nil; i += 1000 {
			if _, err := conn.Write([]byte(strings.ReplaceAll(text, "%d", strconv.Itoa(i)))); err != nil {
				break
			}
			if !again {
				<-ctx.Done()
			}
			if readAnswer(r) != nil {
				break // refused: begin anew
			}
		}
		end()
		conn.Close() //nolint:errcheck // nothing is written any more
	}
}

// quiet asks one request after the other and returns the median time in milliseconds.
func quiet(address, path, key string, d time.Duration) (float64, error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return 0, err
	}
	defer conn.Close() //nolint:errcheck // nothing is written any more
	r := bufio.NewReaderSize(conn, 64<<10)
	request := fmt.Appendf(nil, "GET %s HTTP/1.1\r\nHost: b\r\nX-Service-Api-Key: %s\r\n\r\n", path, key)
	var times []float64
	for end := time.Now().Add(d); time.Now().Before(end); {
		start := time.Now()
		if _, err := conn.Write(request); err != nil {
			return 0, err
		}
		if err := readAnswer(r); err != nil {
			return 0, err
		}
		times = append(times, float64(time.Since(start).Microseconds())/1000)
	}
	if len(times) == 0 {
		return 0, errors.New("no request was answered")
	}
	slices.Sort(times)
	return times[len(times)/2], nil
}
