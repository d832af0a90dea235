package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"reflect"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"chainexplorer/bench/spent"
)

// posts are whole requests, as they go over the wire.
func posts(path, key string, bodies []string) [][]byte {
	out := make([][]byte, len(bodies))
	for i, body := range bodies {
		out[i] = fmt.Appendf(nil, "POST %s HTTP/1.1\r\nHost: bench\r\nContent-Type: application/json\r\nContent-Length: %d\r\n", path, len(body))
		if key != "" {
			out[i] = fmt.Appendf(out[i], "X-Service-Api-Key: %s\r\n", key)
		}
		out[i] = fmt.Appendf(out[i], "\r\n%s", body)
	}
	return out
}

// load keeps conns connections busy for a while and returns calls per second, and the
// CPU that the process spent on each, in microseconds.
func load(address string, requests [][]byte, conns int, d time.Duration) (rate, cost float64, err error) {
	var done atomic.Int64
	var wg sync.WaitGroup
	errs := make([]error, conns)
	before, start := spent.CPU(), time.Now()
	for i := range conns {
		wg.Go(func() {
			c, err := dial(address)
			if err != nil {
				errs[i] = err
				return
			}
			defer c.Close() //nolint:errcheck // nothing is written any more
			// Places far apart, so that no two ask for the same at once.
			for at := i * len(requests) / conns; time.Since(start) < d; at++ {
				if errs[i] = c.ask(requests[at%len(requests)]); errs[i] != nil {
					return
				}
				done.Add(1)
			}
		})
	}
	wg.Wait()
	calls := float64(done.Load())
	return calls / time.Since(start).Seconds(), float64((spent.CPU() - before).Microseconds()) / calls, errors.Join(errs...)
}

// latency asks one call after the other and returns how long each took.
func latency(address string, requests [][]byte, d time.Duration) (times []time.Duration, err error) {
	c, err := dial(address)
	if err != nil {
		return nil, err
	}
	defer c.Close() //nolint:errcheck // nothing is written any more
	begin := time.Now()
	for i := 0; time.Since(begin) < d; i++ {
		start := time.Now()
		if err := c.ask(requests[i%len(requests)]); err != nil {
			return nil, err
		}
		times = append(times, time.Since(start))
	}
	return times, nil
}

// client is one connection.
type client struct {
	net.Conn
	r *bufio.Reader
}

func dial(address string) (*client, error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	return &client{conn, bufio.NewReaderSize(conn, 64<<10)}, nil
}

func (c *client) ask(request []byte) error {
	if _, err := c.Write(request); err != nil {
		return err
	}
	return c.read(io.Discard)
}

var (
	lengthHeader  = []byte("Content-Length: ")
	chunkedHeader = []byte("Transfer-Encoding: chunked")
)

// read reads the head for status and length, and passes the body on.
func (c *client) read(to io.Writer) error {
	line, err := c.r.ReadSlice('\n')
	if err != nil {
		return err
	}
	if !bytes.HasPrefix(line, []byte("HTTP/1.1 200")) {
		return fmt.Errorf("answer %q", line)
	}
	length, chunked := -1, false
	for len(line) > 2 {
		if line, err = c.r.ReadSlice('\n'); err != nil {
			return err
		}
		if text, ok := bytes.CutPrefix(line, lengthHeader); ok {
			if length, err = strconv.Atoi(string(bytes.TrimSpace(text))); err != nil {
				return err
			}
		}
		chunked = chunked || bytes.HasPrefix(line, chunkedHeader)
	}
	switch {
	case chunked:
		return c.readChunks(to)
	case length < 0:
		return errors.New("an answer without a length")
	}
	return c.pass(to, length)
}

func (c *client) pass(to io.Writer, length int) error {
	if to == io.Discard {
		_, err := c.r.Discard(length)
		return err
	}
	_, err := io.CopyN(to, c.r, int64(length))
	return err
}

func (c *client) readChunks(to io.Writer) error {
	for {
		line, err := c.r.ReadSlice('\n')
		if err != nil {
			return err
		}
		size, err := strconv.ParseInt(string(bytes.TrimSpace(line)), 16, 32)
		if err != nil {
			return err
		}
		if size > 0 {
			err = c.pass(to, int(size))
		}
		if err == nil {
			_, err = c.r.Discard(2)
		}
		if err != nil || size == 0 {
			return err
		}
	}
}

// same holds that both give results to every request, and the same ones, and returns
// the mean size of an answer.
func same(a, b *peer) (size int, err error) {
	ca, err := dial(a.address)
	if err != nil {
		return 0, err
	}
	defer ca.Close() //nolint:errcheck // nothing is written any more
	cb, err := dial(b.address)
	if err != nil {
		return 0, err
	}
	defer cb.Close() //nolint:errcheck // nothing is written any more
	for i := range a.requests {
		x, sa, err := ca.result(a.requests[i])
		if err != nil {
			return 0, err
		}
		y, sb, err := cb.result(b.requests[i])
		if err != nil {
			return 0, err
		}
		if !reflect.DeepEqual(x, y) {
			return 0, fmt.Errorf("the gateway and the node differ: %.300s and %.300s", sb, sa)
		}
		size += len(sb)
	}
	return size / len(a.requests), nil
}

// result is what an answer tells; an answer without a result is an error.
func (c *client) result(request []byte) (value any, text []byte, err error) {
	if _, err := c.Write(request); err != nil {
		return nil, nil, err
	}
	var b bytes.Buffer
	if err := c.read(&b); err != nil {
		return nil, nil, err
	}
	if err := json.Unmarshal(b.Bytes(), &value); err != nil {
		return nil, nil, err
	}
	answers, batch := value.([]any)
	if !batch {
		answers = []any{value}
	}
	for _, a := range answers {
		if m, ok := a.(map[string]any); !ok || m["result"] == nil {
			return nil, nil, fmt.Errorf("no result in %.300s", b.Bytes())
		}
	}
	return value, b.Bytes(), nil
}

// allocations is how many objects the process makes for a call: the node's are among
// them, and the client makes next to none.
func allocations(p *peer) (float64, error) {
	c, err := dial(p.address)
	if err != nil {
		return 0, err
	}
	defer c.Close() //nolint:errcheck // nothing is written any more
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	const calls = 300
	for i := range calls {
		if err := c.ask(p.requests[i%len(p.requests)]); err != nil {
			return 0, err
		}
	}
	runtime.ReadMemStats(&after)
	return float64(after.Mallocs-before.Mallocs) / calls, nil
}
