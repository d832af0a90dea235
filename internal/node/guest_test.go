package node

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// A crowd of callers waits for its own places, and not for long; the index does not
// wait for them.
func TestForwardHasItsOwnPlaces(t *testing.T) {
	bubble(t, func(t *testing.T, pn *pipeNet) {
		a := newNode(t, pn, "a", 20)
		nonces(a)
		p := open(t, pn, func(c *Config) {
			c.MaxInFlight, c.GuestsInFlight = 1, 2
			c.HTTP.Transport.(*http.Transport).MaxConnsPerHost = 0
		}, a)
		a.set(func(f *fakeNode) {
			f.fault = func(_ int, _ http.ResponseWriter, r *http.Request, body []byte) bool {
				if strings.Contains(string(body), getNonce) {
					<-r.Context().Done()
					return true
				}
				return false
			}
		})
		p.guestHedges.spent = 100 * hedgeBurst // no second requests
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 2)
		for range 2 {
			go func() {
				_, err := p.Forward(ctx, Ask{Method: getNonce})
				done <- err
			}()
		}
		synctest.Wait()
		took := elapsed(func() {
			if _, err := forward(t, p, Ask{}); !errors.Is(err, ErrBusy) {
				t.Error(err)
			}
		})
		if took != time.Second {
			t.Errorf("waited %s", took)
		}
		if took := elapsed(func() {
			if _, err := p.Call(t.Context(), "starknet_blockNumber", nil); err != nil {
				t.Error(err)
			}
		}); took != 0 {
			t.Errorf("the index waited %s", took)
		}
		if s := p.Statuses(); !s[0].Healthy {
			t.Error("callers made a node unhealthy")
		}
		cancel()
		for range 2 {
			if err := <-done; !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		}
	})
}

// Answers take from the callers' memory until they are released.
func TestForwardHasItsOwnMemory(t *testing.T) {
	if Raced {
		t.Skip("sequential and long: run without the race detector")
	}
	bubble(t, func(t *testing.T, pn *pipeNet) {
		a := newNode(t, pn, "a", 20)
		long := `"` + strings.Repeat("x", 20<<20) + `"`
		a.set(func(f *fakeNode) {
			f.answer = func(c wireCall) string {
				if c.Method == "starknet_getClass" {
					return ok(c, long)
				}
				return ""
			}
		})
		p := open(t, pn, func(c *Config) { c.GuestBudget = NewBudget(64 << 20) }, a)
		p.guestHedges.spent = 100 * hedgeBurst
		ask := Ask{Method: "starknet_getClass", Limit: 24 << 20, Timeout: 2 * time.Second}
		held, err := p.Forward(t.Context(), ask)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := forward(t, p, ask); !errors.Is(err, ErrBusy) {
			t.Errorf("two answers had room for one: %v", err)
		}
		if _, err := p.Call(t.Context(), "starknet_getClass", nil); err != nil {
			t.Errorf("the index waited for callers: %v", err)
		}
		held.Release()
		held.Release()
		for range 5 {
			if _, err := forward(t, p, ask); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestForwardStopsReadingAtTheLimit(t *testing.T) {
	bubble(t, func(t *testing.T, pn *pipeNet) {
		a := newNode(t, pn, "a", 20)
		var wrote atomic.Int64
		a.fault = func(_ int, w http.ResponseWriter, _ *http.Request, _ []byte) bool {
			io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":"`) //nolint:errcheck // a test server
			piece := []byte(strings.Repeat("x", 32<<10))
			for {
				n, err := w.Write(piece)
				if wrote.Add(int64(n)); err != nil {
					return true
				}
			}
		}
		p := open(t, pn, nil, a)
		if _, err := forward(t, p, Ask{Limit: 256 << 10}); !errors.Is(err, ErrTooLarge) {
			t.Error(err)
		}
		synctest.Wait()
		if n := wrote.Load(); n > 512<<10 {
			t.Errorf("%d bytes were taken", n)
		}
		if s := p.Statuses(); !s[0].Healthy {
			t.Error("an answer that is too long made the node unhealthy")
		}
	})
}

func TestForwardToOneNode(t *testing.T) {
	bubble(t, func(t *testing.T, pn *pipeNet) {
		a, b := newNode(t, pn, "a", 20), newNode(t, pn, "b", 10)
		nonces(a, b)
		p := open(t, pn, nil, a, b)
		if told, err := forward(t, p, Ask{Node: "http://b"}); err != nil || told.Node != "http://b" {
			t.Errorf("%s, %v", told.Node, err)
		}
		b.fault = status(500)
		if _, err := forward(t, p, Ask{Node: "http://b"}); err == nil || len(a.requests()) != 0 {
			t.Errorf("%v", err)
		}
		p.Blame("http://b", errors.New("lied"))
		if _, err := forward(t, p, Ask{Node: "http://b"}); !errors.Is(err, ErrNoneHealthy) {
			t.Errorf("%v", err)
		}
		if _, err := forward(t, p, Ask{Node: "http://c"}); err == nil {
			t.Error("no error")
		}
	})
}

// A node that lets its answer drip holds nobody longer than the call allows.
func TestForwardDoesNotWaitForDrops(t *testing.T) {
	bubble(t, func(t *testing.T, pn *pipeNet) {
		a := newNode(t, pn, "a", 20)
		a.fault = func(_ int, w http.ResponseWriter, r *http.Request, _ []byte) bool {
			io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":"`) //nolint:errcheck // a test server
			for r.Context().Err() == nil {
				time.Sleep(100 * time.Millisecond)
				io.WriteString(w, "x")   //nolint:errcheck // see above
				w.(http.Flusher).Flush() //nolint:forcetypeassert // see above
			}
			return true
		}
		p := open(t, pn, nil, a)
		took := elapsed(func() {
			if told, err := forward(t, p, Ask{Timeout: 5 * time.Second}); err == nil {
				t.Errorf("%s", told.Result)
			}
		})
		if took != 5*time.Second {
			t.Errorf("took %s", took)
		}
		time.Sleep(time.Second) // the node notices that nobody listens
	})
}

func TestForwardIsCounted(t *testing.T) {
	bubble(t, func(t *testing.T, pn *pipeNet) {
		a := newNode(t, pn, "a", 20)
		nonces(a)
		reg := prometheus.NewRegistry()
		p := open(t, pn, func(c *Config) { c.Metrics = NewMetrics(reg) }, a)
		if _, err := forward(t, p, Ask{}); err != nil {
			t.Fatal(err)
		}
		if _, err := forward(t, p, Ask{Spec: SpecVersion{0, 8, 0}}); err == nil {
			t.Fatal("no error")
		}
		a.stop()
		time.Sleep(10 * time.Second)
		for range 2 {
			if _, err := forward(t, p, Ask{}); err == nil {
				t.Fatal("no error")
			}
		}
		families, err := reg.Gather()
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]float64{}
		for _, f := range families {
			for _, m := range f.GetMetric() {
				key := f.GetName()
				for _, l := range m.GetLabel() {
					key += " " + l.GetValue()
				}
				got[key] = m.GetCounter().GetValue()
			}
		}
		for key, want := range map[string]float64{
			"chainexplorer_node_requests_total " + getNonce + " http://a ok": 1,
			"chainexplorer_node_unasked_total version":                       1,
			"chainexplorer_node_unasked_total unhealthy":                     2,
		} {
			if got[key] != want {
				t.Errorf("%s: counted %v, want %v", key, got[key], want)
			}
		}
	})
}
