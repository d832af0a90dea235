package node

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

type fault = func(nth int, w http.ResponseWriter, r *http.Request, body []byte) bool

func status(code int, header ...string) fault {
	return func(_ int, w http.ResponseWriter, _ *http.Request, _ []byte) bool {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(code)
		return true
	}
}

func text(body string) fault {
	return func(_ int, w http.ResponseWriter, _ *http.Request, _ []byte) bool {
		io.WriteString(w, body) //nolint:errcheck // a test server
		return true
	}
}

func truncated(_ int, w http.ResponseWriter, _ *http.Request, _ []byte) bool {
	w.Header().Set("Content-Length", "100")
	io.WriteString(w, `{"jsonrpc":"2.0","id":1,`) //nolint:errcheck // a test server
	panic(http.ErrAbortHandler)
}

func hangs(_ int, _ http.ResponseWriter, r *http.Request, _ []byte) bool {
	<-r.Context().Done()
	return true
}

func first(times int, f fault) fault {
	return func(nth int, w http.ResponseWriter, r *http.Request, body []byte) bool {
		return nth <= times && f(nth, w, r, body)
	}
}

// nodeFaults is every way a node can fail to answer a read.
var nodeFaults = map[string]fault{
	"status 500":      status(500),
	"status 502":      status(502),
	"status 401":      status(401),
	"status 404":      status(404),
	"rate limited":    status(429),
	"redirect":        status(308, "Location", "http://c/rpc"),
	"truncated":       truncated,
	"hangs":           hangs,
	"empty":           text(""),
	"not JSON":        text("<html>"),
	"cut JSON":        text(`{"jsonrpc":"2.0","id":1,"result":{"a":`),
	"other id":        text(`{"jsonrpc":"2.0","id":2,"result":1}`),
	"text id":         text(`{"jsonrpc":"2.0","id":"1","result":1}`),
	"no id":           text(`{"jsonrpc":"2.0","result":1}`),
	"array":           text(`[{"jsonrpc":"2.0","id":1,"result":1}]`),
	"neither":         text(`{"jsonrpc":"2.0","id":1}`),
	"both":            text(`{"jsonrpc":"2.0","id":1,"result":1,"error":{"code":24}}`),
	"error sans code": text(`{"jsonrpc":"2.0","id":1,"error":{}}`),
	"internal error":  text(`{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"x"}}`),
	"limit":           text(`{"jsonrpc":"2.0","id":1,"error":{"code":-32005,"message":"x"}}`),
	"too large":       text(`{"jsonrpc":"2.0","id":1,"result":"` + strings.Repeat("x", 70000) + `"}`),
	"large, announced": func(_ int, w http.ResponseWriter, _ *http.Request, _ []byte) bool {
		w.Header().Set("Content-Length", "70000")
		return true
	},
	"odd encoding": func(_ int, w http.ResponseWriter, _ *http.Request, _ []byte) bool {
		w.Header().Set("Content-Encoding", "br")
		return true
	},
	"gzip of nothing": func(_ int, w http.ResponseWriter, _ *http.Request, _ []byte) bool {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		for range 30_000 {
			z.Flush() //nolint:errcheck // a test server
		}
		io.WriteString(z, `{"jsonrpc":"2.0","id":1,"result":1}`) //nolint:errcheck // as above
		z.Close()
		return true
	},
	"gzip bomb": func(_ int, w http.ResponseWriter, _ *http.Request, _ []byte) bool {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		io.WriteString(z, strings.Repeat(" ", 1<<20)) //nolint:errcheck // a test server
		z.Close()
		return true
	},
}

func TestReadFailsOver(t *testing.T) {
	for name, f := range nodeFaults {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, pn *pipeNet) {
				a, b := newNode(t, pn, "a", 20), newNode(t, pn, "b", 20)
				a.fault = f
				p := open(t, pn, func(c *Config) { c.MaxResponseBytes = 64 << 10 }, a, b)
				got, err := p.Call(t.Context(), "starknet_blockNumber", nil)
				if err != nil || string(got.Result) != "20" || got.Node != "http://b" {
					t.Fatalf("got %s from %s, %v", got.Result, got.Node, err)
				}
				if n := len(a.requests()); n != 1 {
					t.Errorf("failing node was asked %d times", n)
				}
			})
		})
	}
}

func TestReadFailsWhenEveryNodeFails(t *testing.T) {
	for name, f := range nodeFaults {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, pn *pipeNet) {
				a := newNode(t, pn, "a", 20)
				a.fault = f
				p := open(t, pn, func(c *Config) { c.MaxResponseBytes = 64 << 10; c.MaxAttempts = 3 }, a)
				_, err := p.Call(t.Context(), "starknet_blockNumber", nil)
				var ne *NodeError
				if !errors.As(err, &ne) || ne.Node != "http://a" || IsNotFound(err) {
					t.Fatalf("error %v", err)
				}
				want := 3
				if ne.permanent {
					want = 1
				}
				if name == "hangs" {
					want *= 1 + maxHedges // each time beside itself, too
				}
				if n := len(a.requests()); n != want {
					t.Errorf("asked %d times, want %d", n, want)
				}
			})
		})
	}
}

func TestRetryWaitsGrowAndAreBounded(t *testing.T) {
	bubble(t, func(t *testing.T, pn *pipeNet) {
		a := newNode(t, pn, "a", 20)
		a.fault = first(4, status(500))
		p := open(t, pn, func(c *Config) {
			c.BackoffBase, c.BackoffMax = 100*time.Millisecond, 300*time.Millisecond
			c.Rand = func() float64 { return 0.5 }
		}, a)
		var err error
		took := elapsed(func() { _, err = p.Call(t.Context(), "starknet_blockNumber", nil) })
		// 75 + 150 + 225 + 225: three quarters of 100, 200, 300, 300.
		if err != nil || took != 675*time.Millisecond {
			t.Fatalf("took %s, %v", took, err)
		}
	})
}

func TestRetryAfter(t *testing.T) {
	for name, tc := range map[string]struct {
		code  int
		value func(now time.Time) string
		want  time.Duration
	}{
		"seconds":           {429, func(time.Time) string { return "7" }, 7 * time.Second},
		"date":              {503, func(now time.Time) string { return now.Add(9 * time.Second).UTC().Format(http.TimeFormat) }, 9 * time.Second},
		"past date":         {503, func(now time.Time) string { return now.Add(-time.Hour).UTC().Format(http.TimeFormat) }, 50 * time.Millisecond},
		"too long":          {429, func(time.Time) string { return "86400" }, 30 * time.Second},
		"absurd":            {429, func(time.Time) string { return "99999999999999999999999" }, 30 * time.Second},
		"nonsense":          {429, func(time.Time) string { return "soon" }, 50 * time.Millisecond},
		"503 without":       {503, func(time.Time) string { return "" }, 50 * time.Millisecond},
		"negative":          {429, func(time.Time) string { return "-5" }, 50 * time.Millisecond},
		"429 and no header": {429, func(time.Time) string { return "" }, 50 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, pn *pipeNet) {
				a := newNode(t, pn, "a", 20)
				p := open(t, pn, func(c *Config) { c.MaxRetryAfter = 30 * time.Second }, a)
				a.set(func(f *fakeNode) { f.fault = first(1, status(tc.code, "Retry-After", tc.value(time.Now()))) })
				var err error
				took := elapsed(func() { _, err = p.Call(t.Context(), "starknet_blockNumber", nil) })
				if err != nil || took != tc.want {
					t.Fatalf("took %s, want %s, %v", took, tc.want, err)
				}
			})
		})
	}
}

// A resting node is left alone by everyone, probes included, while others serve.
func TestRestingNodeIsLeftAlone(t *testing.T) {
	bubble(t, func(t *testing.T, pn *pipeNet) {
		a, b := newNode(t, pn, "a", 20), newNode(t, pn, "b", 20)
		a.fault = first(1, status(429, "Retry-After", "20"))
		p := open(t, pn, nil, a, b)
		for range 3 {
			if _, err := p.Call(t.Context(), "starknet_blockNumber", nil); err != nil {
				t.Fatal(err)
			}
		}
		probes := a.count("starknet_blockHashAndNumber")
		time.Sleep(19 * time.Second)
		if n := a.count("starknet_blockHashAndNumber"); len(a.requests()) != 1 || n != probes {
			t.Fatalf("%d requests and %d probes while resting", len(a.requests())-1, n-probes)
		}
		time.Sleep(6 * time.Second)
		if got, err := p.Call(t.Context(), "starknet_blockNumber", nil); err != nil || got.Node != "http://a" {
			t.Fatalf("after the rest: %s, %v", got.Node, err)
		}
	})
}

func TestDeadlineEndsReadEarly(t *testing.T) {
	bubble(t, func(t *testing.T, pn *pipeNet) {
		a := newNode(t, pn, "a", 20)
		a.fault = status(429, "Retry-After", "50")
		p := open(t, pn, nil, a)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		var err error
		took := elapsed(func() { _, err = p.Call(ctx, "starknet_blockNumber", nil) })
		if !errors.Is(err, context.DeadlineExceeded) || took != 0 {
			t.Fatalf("a wait that cannot end in time took %s: %v", took, err)
		}
	})
}

func TestCancelEndsRead(t *testing.T) {
	bubble(t, func(t *testing.T, pn *pipeNet) {
		a := newNode(t, pn, "a", 20)
		a.fault = hangs
		p := open(t, pn, nil, a)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { _, err := p.Call(ctx, "starknet_blockNumber", nil); done <- err }()
		synctest.Wait()
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		if s := p.Statuses()[0]; !s.Healthy {
			t.Error("the caller's end was held against the node")
		}
	})
}

func TestHighestHeadIsPreferred(t *testing.T) {
	bubble(t, func(t *testing.T, pn *pipeNet) {
		a, b, c := newNode(t, pn, "a", 18), newNode(t, pn, "b", 20), newNode(t, pn, "c", 20)
		p := open(t, pn, nil, a, b, c)
		got, err := p.Call(t.Context(), "starknet_call", []any{})
		if err != nil || got.Node != "http://b" {
			t.Fatalf("%s, %v", got.Node, err)
		}
		a.set(func(f *fakeNode) { f.head = 30 })
		time.Sleep(6 * time.Second) // one look at the heads
		if got, err = p.Call(t.Context(), "starknet_call", []any{}); err != nil || got.Node != "http://a" {
			t.Fatalf("%s, %v", got.Node, err)
		}
		if h, err := p.Head(t.Context()); err != nil || h.Number != 30 || h.Node != "http://a" || h.Hash.String() != a.blockHash(30) {
			t.Fatalf("head %+v, %v", h, err)
		}
	})
}

// Old blocks are the same everywhere, so that their load is spread.
func TestOldBlocksAreSpread(t *testing.T) {
	bubble(t, func(t *testing.T, pn *pipeNet) {
		a, b := newNode(t, pn, "a", 1000), newNode(t, pn, "b", 1001)
		gate := make(chan struct{})
		wait := func(int, http.ResponseWriter, *http.Request, []byte) bool { <-gate; return false }
		a.fault, b.fault = wait, wait
		p := open(t, pn, nil, a, b)
		done := make(chan error)
		for i := range 6 {
			go func() { _, err := p.BlockWithUpdate(t.Context(), uint64(i)); done <- err }()
			synctest.Wait()
		}
		close(gate)
		for range 6 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		if len(a.requests()) != 3 || len(b.requests()) != 3 {
			t.Errorf("%d and %d requests", len(a.requests()), len(b.requests()))
		}
	})
}

func TestInFlightIsBounded(t *testing.T) {
	bubble(t, func(t *testing.T, pn *pipeNet) {
		a := newNode(t, pn, "a", 20)
		gate := make(chan struct{})
		a.fault = func(int, http.ResponseWriter, *http.Request, []byte) bool { <-gate; return false }
		p := open(t, pn, func(c *Config) { c.MaxInFlight = 2 }, a)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		for range 2 {
			go func() { _, err := p.Call(t.Context(), "starknet_blockNumber", nil); done <- err }()
		}
		synctest.Wait()
		for range 3 {
			go func() { _, err := p.Call(ctx, "starknet_blockNumber", nil); done <- err }()
		}
		synctest.Wait()
		if n := len(a.requests()); n != 2 {
			t.Fatalf("%d in flight", n)
		}
		cancel()
		for range 3 {
			if err := <-done; !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		}
		close(gate)
		for range 2 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	})
}

// A failing node is asked last, and one good probe lets it back in.
func TestFailingNodeIsLastUntilItAnswers(t *testing.T) {
	bubble(t, func(t *testing.T, pn *pipeNet) {
		a, b := newNode(t, pn, "a", 20), newNode(t, pn, "b", 19)
		p := open(t, pn, nil, a, b)
		a.stop()
		time.Sleep(6 * time.Second)
		if s := p.Statuses()[0]; s.Healthy {
			t.Fatal("a dead node is healthy")
		}
		got, err := p.Call(t.Context(), "starknet_call", []any{})
		if err != nil || got.Node != "http://b" {
			t.Fatalf("%s, %v", got.Node, err)
		}
		a.start()
		time.Sleep(6 * time.Second)
		if got, err = p.Call(t.Context(), "starknet_call", []any{}); err != nil || got.Node != "http://a" {
			t.Fatalf("%s, %v", got.Node, err)
		}
		a.stop()
		b.stop()
		if _, err = p.Call(t.Context(), "starknet_call", []any{}); !errors.Is(err, ErrNoNode) {
			t.Fatal(err)
		}
	})
}

// Half open: probes succeed but calls fail; one failed call is then enough.
func TestHalfOpenNode(t *testing.T) {
	bubble(t, func(t *testing.T, pn *pipeNet) {
		a, b := newNode(t, pn, "a", 20), newNode(t, pn, "b", 19)
		a.fault = status(500)
		p := open(t, pn, nil, a, b)
		ask := func(n int) {
			for range n {
				if _, err := p.Call(t.Context(), "starknet_getBlockWithTxHashes", map[string]any{"block_id": map[string]any{"block_number": 3}}); err != nil {
					t.Fatal(err)
				}
			}
		}
		ask(5)
		if n := len(a.requests()); n != unhealthyAfter {
			t.Fatalf("asked %d times before it was the last choice", n)
		}
		time.Sleep(6 * time.Second)
		ask(5)
		if n := len(a.requests()); n != unhealthyAfter+1 {
			t.Fatalf("asked %d times after a good probe", n-unhealthyAfter)
		}
	})
}

func TestGzipIsRead(t *testing.T) {
	bubble(t, func(t *testing.T, pn *pipeNet) {
		a := newNode(t, pn, "a", 20)
		want := `"` + strings.Repeat("x", 100000) + `"`
		a.fault = func(_ int, w http.ResponseWriter, r *http.Request, _ []byte) bool {
			if r.Header.Get("Accept-Encoding") != "gzip" {
				t.Errorf("asked for %q", r.Header.Get("Accept-Encoding"))
			}
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			fmt.Fprintf(z, `{"jsonrpc":"2.0","id":1,"result":%s}`, want)
			z.Close()
			return true
		}
		p := open(t, pn, nil, a)
		got, err := p.Call(t.Context(), "starknet_call", []any{})
		if err != nil || string(got.Result) != want {
			t.Fatalf("%d bytes, %v", len(got.Result), err)
		}
	})
}

func TestErrorsOfTheSpecificationAreAnswers(t *testing.T) {
	for _, code := range []int{20, 21, 24, 27, 28, 29, 31, 32, 33, 34, 40, 41, 42, 10000, CodeInvalidParams, CodeMethodNotFound} {
		for _, httpStatus := range []int{200, 400} {
			t.Run(fmt.Sprint(code, "/", httpStatus), func(t *testing.T) {
				bubble(t, func(t *testing.T, pn *pipeNet) {
					a := newNode(t, pn, "a", 20)
					a.fault = func(_ int, w http.ResponseWriter, _ *http.Request, _ []byte) bool {
						w.WriteHeader(httpStatus)
						fmt.Fprintf(w, `{"jsonrpc":"2.0","id":1,"error":{"code":%d,"message":"m","data":{"x":1}}}`, code)
						return true
					}
					p := open(t, pn, nil, a)
					_, err := p.Call(t.Context(), "starknet_call", []any{})
					var rpc *RPCError
					if !errors.As(err, &rpc) || rpc.Code != code || string(rpc.Data) != `{"x":1}` || len(a.requests()) != 1 {
						t.Fatalf("%d requests, %v", len(a.requests()), err)
					}
				})
			})
		}
	}
}

// Nodes of different versions know different methods.
func TestUnknownMethodIsAskedElsewhere(t *testing.T) {
	bubble(t, func(t *testing.T, pn *pipeNet) {
		a, b := newNode(t, pn, "a", 20), newNode(t, pn, "b", 19)
		p := open(t, pn, nil, a, b)
		b.set(func(f *fakeNode) {
			f.answer = func(c wireCall) string { return map[bool]string{true: ok(c, "true")}[c.Method == "starknet_syncing"] }
		})
		if got, err := p.Call(t.Context(), "starknet_syncing", nil); err != nil || got.Node != "http://b" {
			t.Fatalf("%s, %v", got.Node, err)
		}
		_, err := p.Call(t.Context(), "starknet_traceTransaction", []any{"0x1"})
		var rpc *RPCError
		if !errors.As(err, &rpc) || rpc.Code != CodeMethodNotFound || a.count("starknet_traceTransaction") != 1 || b.count("starknet_traceTransaction") != 1 {
			t.Fatal(err)
		}
	})
}
