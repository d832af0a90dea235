package node

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// hanging lets requests through until on is set, and then hangs the next n of them.
func hanging(f *fakeNode, n int) {
	f.set(func(f *fakeNode) {
		left := n
		f.fault = func(_ int, _ http.ResponseWriter, r *http.Request, _ []byte) bool {
			f.mu.Lock()
			hang := left > 0
			left--
			f.mu.Unlock()
			if hang {
				<-r.Context().Done()
			}
			return hang
		}
	})
}

func warmUp(t *testing.T, p *Pool, times int) {
	t.Helper()
	for range times {
		if _, err := p.BlockWithUpdate(t.Context(), 7); err != nil {
			t.Fatal(err)
		}
	}
}

func TestHungRequestIsAskedAgain(t *testing.T) {
	bubble(t, func(t *testing.T, pn *pipeNet) {
		a := newNode(t, pn, "a", 200)
		p := open(t, pn, nil, a)
		warmUp(t, p, 30)
		hanging(a, 2) // and the second try hangs as well
		took := elapsed(func() { warmUp(t, p, 1) })
		if took == 0 || took > time.Second {
			t.Errorf("a hung answer took %s", took)
		}
		if !p.Statuses()[0].Healthy {
			t.Error("one hung answer made the node unhealthy")
		}
	})
}

func TestHungRequestGoesToAnotherNode(t *testing.T) {
	bubble(t, func(t *testing.T, pn *pipeNet) {
		a, b := newNode(t, pn, "a", 200), newNode(t, pn, "b", 190)
		p := open(t, pn, nil, a, b)
		for range 30 {
			if _, node, err := p.BlockHeader(t.Context(), Latest); err != nil || node != "http://a" {
				t.Fatalf("%s, %v", node, err)
			}
		}
		hanging(a, 1000)
		var node string
		took := elapsed(func() {
			var err error
			if _, node, err = p.BlockHeader(t.Context(), Latest); err != nil {
				t.Fatal(err)
			}
		})
		if node != "http://b" || took > time.Second {
			t.Errorf("%s after %s", node, took)
		}
		// A node that always hangs is not asked first for ever.
		for range 2 {
			if _, _, err := p.BlockHeader(t.Context(), Latest); err != nil {
				t.Fatal(err)
			}
		}
		if took := elapsed(func() { _, node, _ = p.BlockHeader(t.Context(), Latest) }); took != 0 || node != "http://b" {
			t.Errorf("%s after %s", node, took)
		}
	})
}

// A pool that is slow as a whole is not given twice the work.
func TestHedgesAreAShare(t *testing.T) {
	bubble(t, func(t *testing.T, pn *pipeNet) {
		a := newNode(t, pn, "a", 200)
		p := open(t, pn, nil, a)
		warmUp(t, p, 200) // more than enough for all that may come together
		a.set(func(f *fakeNode) {
			f.fault = func(int, http.ResponseWriter, *http.Request, []byte) bool { time.Sleep(time.Second); return false }
		})
		before := len(a.requests())
		warmUp(t, p, 7) // the usual time is not known to be longer yet
		first := len(a.requests()) - before
		if first <= 7 || first > 7*(1+maxHedges) {
			t.Errorf("%d requests for 7 slow answers", first)
		}
		before = len(a.requests())
		warmUp(t, p, 200)
		if n := len(a.requests()) - before; n > 200+hedgeBurst+200*hedgeShare/100 {
			t.Errorf("%d requests for 200 slow answers", n)
		}
	})
}

func TestWritesAreNeverHedged(t *testing.T) {
	bubble(t, func(t *testing.T, pn *pipeNet) {
		a, b := newNode(t, pn, "a", 200), newNode(t, pn, "b", 200)
		p := open(t, pn, nil, a, b)
		warmUp(t, p, 30)
		sent := len(a.requests()) + len(b.requests())
		hanging(a, 1000)
		hanging(b, 1000)
		if _, err := p.Call(t.Context(), "starknet_addInvokeTransaction", []any{1}); err == nil {
			t.Error("no error")
		}
		if n := len(a.requests()) + len(b.requests()) - sent; n != 1 {
			t.Errorf("a write was sent %d times", n)
		}
	})
}

// A node that hangs from the start, before it is known how long answers take, does
// not cost the whole timeout: not of one request, nor of many at once.
func TestNodeThatHangsFromTheStart(t *testing.T) {
	for _, many := range []int{1, 32} {
		bubble(t, func(t *testing.T, pn *pipeNet) {
			a, b := newNode(t, pn, "a", 200), newNode(t, pn, "b", 200)
			hanging(a, 1000)
			p := open(t, pn, nil, a, b)
			took := elapsed(func() {
				var wg sync.WaitGroup
				for i := range many {
					wg.Go(func() {
						raw, err := p.BlockWithUpdate(t.Context(), uint64(i))
						if err != nil || raw.Node != "http://b" {
							t.Errorf("%s, %v", raw.Node, err)
						}
					})
				}
				wg.Wait()
			})
			if took > 2*time.Second {
				t.Errorf("%d requests took %s", many, took)
			}
		})
	}
}

// hangingOn hangs every request for blocks, and answers all else.
func hangingOn(f *fakeNode, method string) {
	f.set(func(f *fakeNode) {
		f.fault = func(_ int, _ http.ResponseWriter, r *http.Request, body []byte) bool {
			hang := strings.Contains(string(body), method)
			if hang {
				<-r.Context().Done()
			}
			return hang
		}
	})
}

// A node that answers heads and headers but hangs on blocks holds nothing up for
// long, is asked last for blocks alone, and is not called healthy.
func TestNodeThatHangsOnBlocksAlone(t *testing.T) {
	bubble(t, func(t *testing.T, pn *pipeNet) {
		a, b := newNode(t, pn, "a", 200), newNode(t, pn, "b", 200)
		hangingOn(a, "starknet_getBlockWithReceipts")
		p := open(t, pn, nil, a, b)
		// Sixty blocks, four at once and in order, with good answers of both between.
		took := elapsed(func() {
			for at := uint64(0); at < 60; at += 4 {
				var wg sync.WaitGroup
				for i := range uint64(4) {
					wg.Go(func() {
						raw, err := p.BlockWithUpdate(t.Context(), at+i)
						if err != nil || raw.Node != "http://b" {
							t.Errorf("block %d: %s, %v", at+i, raw.Node, err)
						}
						raw.Release()
					})
				}
				wg.Wait()
				p.HashesAt(t.Context(), at)
				if _, _, err := p.BlockHeader(t.Context(), BlockNumber(at), OnNode("http://a")); err != nil {
					t.Fatal(err)
				}
				for _, n := range p.nodes {
					if err := p.probe(t.Context(), n); err != nil {
						t.Fatal(err)
					}
				}
			}
		})
		if took > 3*time.Second {
			t.Errorf("60 blocks took %s", took)
		}
		if s := p.Statuses(); s[0].Healthy || !s[1].Healthy {
			t.Errorf("healthy: %v and %v", s[0].Healthy, s[1].Healthy)
		}
		none := make([]bool, 2)
		header := BlockNumber(7).op("header")
		header.calls = func(*node) []call { return []call{{method: "starknet_getBlockWithTxHashes"}} }
		if n := p.pick(header, none, none); n.name != "http://a" {
			t.Errorf("headers are asked of %s first", n.name)
		}
		// Hours later it is tried again now and then, and costs no timeout.
		for range 20 {
			time.Sleep(10 * time.Minute)
			if took := elapsed(func() { warmUp(t, p, 8) }); took > 3*time.Second {
				t.Errorf("8 blocks took %s", took)
			}
		}
		if p.Statuses()[0].Healthy {
			t.Error("a node that never gave a block is healthy")
		}
		// And is taken back when it answers.
		a.set(func(f *fakeNode) { f.fault = nil })
		b.set(func(f *fakeNode) {
			f.fault = func(int, http.ResponseWriter, *http.Request, []byte) bool { panic(http.ErrAbortHandler) }
		})
		warmUp(t, p, 1)
		if !p.Statuses()[0].Healthy {
			t.Error("it answers blocks again, and is not healthy")
		}
	})
}

// Many requests that hang again and again are all given to the other node: there is
// no end of second questions while it has room.
func TestHungRequestsNeverRunOutOfSecondQuestions(t *testing.T) {
	bubble(t, func(t *testing.T, pn *pipeNet) {
		a, b := newNode(t, pn, "a", 200), newNode(t, pn, "b", 200)
		p := open(t, pn, nil, a, b)
		p.hedges.spent = 100 * hedgeBurst
		hangingOn(a, "starknet_getBlockWithReceipts")
		took := elapsed(func() {
			for range 5 {
				warmUp(t, p, 1)
			}
		})
		if took > 4*time.Second {
			t.Errorf("five blocks took %s", took)
		}
	})
}
