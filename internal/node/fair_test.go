package node

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

const simulate = "starknet_simulateTransactions"

// only does something to requests for a method alone.
func only(method string, f fault) fault {
	return func(nth int, w http.ResponseWriter, r *http.Request, body []byte) bool {
		return strings.Contains(string(body), method) && f(nth, w, r, body)
	}
}

func dropped(int, http.ResponseWriter, *http.Request, []byte) bool { panic(http.ErrAbortHandler) }

// Whatever one caller's calls make of a node, others are served by it, and so is the
// index.
func TestCallersCannotTakeANodeFromOthers(t *testing.T) {
	for name, f := range map[string]fault{
		"dropped": dropped, "status 500": status(500), "truncated": truncated, "rubbish": text("<html>"),
		"status 429": status(429, "Retry-After", "3600"), "status 503": status(503, "Retry-After", "3600"),
	} {
		for count := range 2 {
			for _, method := range []string{simulate, addInvoke} {
				t.Run(fmt.Sprintf("%s/%d/%s", name, count+1, method), func(t *testing.T) {
					bubble(t, func(t *testing.T, pn *pipeNet) {
						var all []*fakeNode
						for _, host := range []string{"a", "b"}[:count+1] {
							all = append(all, newNode(t, pn, host, 20))
						}
						nonces(all...)
						for _, n := range all {
							n.fault = only(method, f)
						}
						p := open(t, pn, nil, all...)
						for range 40 {
							if _, err := forward(t, p, Ask{Method: method, Params: json.RawMessage(`[{}]`), Once: method == addInvoke}); err == nil {
								t.Fatal("no error")
							}
							if took := elapsed(func() {
								if _, err := forward(t, p, Ask{}); err != nil {
									t.Fatalf("another caller: %v", err)
								}
								if _, err := forward(t, p, Ask{Method: "starknet_addDeclareTransaction", Params: json.RawMessage(`[{}]`), Once: true}); err != nil {
									t.Fatalf("another caller's write: %v", err)
								}
								if _, err := p.Call(t.Context(), "starknet_blockNumber", nil); err != nil {
									t.Fatalf("the index: %v", err)
								}
							}); took != 0 {
								t.Fatalf("others waited %s", took)
							}
							for _, s := range p.Statuses() {
								if !s.Healthy {
									t.Fatalf("%s is not healthy", s.Node)
								}
							}
							time.Sleep(time.Second)
						}
					})
				})
			}
		}
	}
}

// A node that wants to be left alone with a kind of request is, for a time that callers
// cannot make long.
func TestForwardRestsAKind(t *testing.T) {
	bubble(t, func(t *testing.T, pn *pipeNet) {
		a := newNode(t, pn, "a", 20)
		a.fault = only(simulate, status(429, "Retry-After", "3600"))
		p := open(t, pn, nil, a)
		for range 3 {
			before := len(a.requests())
			for range 5 {
				_, err := forward(t, p, Ask{Method: simulate})
				if err == nil {
					t.Fatal("no error")
				}
			}
			if n := len(a.requests()) - before; n != 1 {
				t.Errorf("asked %d times", n)
			}
			if _, err := forward(t, p, Ask{Method: simulate}); !errors.Is(err, ErrNoneHealthy) || !strings.Contains(err.Error(), "not to be asked") {
				t.Error(err)
			}
			time.Sleep(guestRestMost)
		}
	})
}

// The index's own requests are kept from a node that asked for it, and so are callers'.
func TestForwardRespectsTheRestOfANode(t *testing.T) {
	bubble(t, func(t *testing.T, pn *pipeNet) {
		a := newNode(t, pn, "a", 20)
		nonces(a)
		a.fault = only("starknet_blockNumber", status(429, "Retry-After", "30"))
		p := open(t, pn, func(c *Config) { c.MaxAttempts = 1 }, a)
		if _, err := p.Call(t.Context(), "starknet_blockNumber", nil); err == nil {
			t.Fatal("no error")
		}
		if _, err := forward(t, p, Ask{}); !errors.Is(err, ErrNoneHealthy) {
			t.Error(err)
		}
		time.Sleep(31 * time.Second)
		if _, err := forward(t, p, Ask{}); err != nil {
			t.Error(err)
		}
	})
}

// A node that answers callers nothing sound is looked at, and not asked any more when
// it has nothing sound to say to us either.
func TestForwardHasANodeLookedAt(t *testing.T) {
	bubble(t, func(t *testing.T, pn *pipeNet) {
		a := newNode(t, pn, "a", 20)
		p := open(t, pn, func(c *Config) { c.HealthInterval = time.Hour }, a)
		a.set(func(f *fakeNode) { f.answer = func(wireCall) string { return "<html>" } })
		for range 2 { // two requests each
			if _, err := forward(t, p, Ask{}); err == nil || errors.Is(err, ErrNoneHealthy) {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		before := len(a.requests())
		if _, err := forward(t, p, Ask{}); !errors.Is(err, ErrNoneHealthy) || len(a.requests()) != before {
			t.Error(err)
		}
	})
}

// A read reaches a node that is slow once, and no read is sent more than twice.
func TestForwardDoesNotPileUp(t *testing.T) {
	slow := func(_ int, _ http.ResponseWriter, _ *http.Request, _ []byte) bool {
		time.Sleep(8 * time.Second)
		return false
	}
	var first atomic.Bool
	for name, c := range map[string]struct {
		fault fault
		nodes int
		want  int
		fails bool
	}{
		"slow":            {slow, 1, 1, false},
		"slow everywhere": {slow, 3, 2, false},
		"dropped, then slow": {func(nth int, w http.ResponseWriter, r *http.Request, b []byte) bool {
			return nth == 1 && dropped(nth, w, r, b) || slow(nth, w, r, b)
		}, 1, 2, false},
		"dropped, then slow elsewhere": {func(nth int, w http.ResponseWriter, r *http.Request, b []byte) bool {
			return first.CompareAndSwap(false, true) && dropped(nth, w, r, b) || slow(nth, w, r, b)
		}, 3, 2, false},
		"drops late": {func(nth int, w http.ResponseWriter, r *http.Request, b []byte) bool {
			slow(nth, w, r, b)
			return dropped(nth, w, r, b)
		}, 1, 2, true},
		"drops late, several": {func(nth int, w http.ResponseWriter, r *http.Request, b []byte) bool {
			slow(nth, w, r, b)
			return dropped(nth, w, r, b)
		}, 3, 2, true},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, pn *pipeNet) {
				var all []*fakeNode
				for _, host := range []string{"a", "b", "c"}[:c.nodes] {
					all = append(all, newNode(t, pn, host, 20))
				}
				nonces(all...)
				p := open(t, pn, nil, all...)
				for range 20 { // the usual time is known, and short
					if _, err := forward(t, p, Ask{}); err != nil {
						t.Fatal(err)
					}
				}
				for _, n := range all {
					n.set(func(f *fakeNode) { f.posts, f.fault = nil, c.fault })
				}
				if _, err := forward(t, p, Ask{Timeout: 20 * time.Second}); (err != nil) != c.fails {
					t.Error(err)
				}
				sent := 0
				for _, n := range all {
					if k := len(n.requests()); c.nodes > 1 && k > 1 {
						t.Errorf("%s was asked %d times", n.host, k)
					} else {
						sent += k
					}
				}
				if sent != c.want {
					t.Errorf("sent %d times, want %d", sent, c.want)
				}
				time.Sleep(10 * time.Second) // what was given up ends
			})
		})
	}
}

// Two requests are all, also when a node that is behind denies what another did not say.
func TestForwardDeniedIsAskedTwiceAtMost(t *testing.T) {
	bubble(t, func(t *testing.T, pn *pipeNet) {
		a, b := newNode(t, pn, "a", 10), newNode(t, pn, "b", 20)
		p := open(t, pn, func(c *Config) { c.HealthInterval = time.Hour }, a, b)
		b.fault = dropped
		a.set(func(f *fakeNode) { f.head = 20 })
		var unsettled *UnsettledError
		if _, err := forward(t, p, Ask{Method: "starknet_getTransactionByHash", Params: json.RawMessage(`["0x1"]`)}); !errors.As(err, &unsettled) {
			t.Error(err)
		}
		if n := len(a.requests()) + len(b.requests()); n != 2 {
			t.Errorf("sent %d times", n)
		}
	})
}

func TestForwardWantsUTF8(t *testing.T) {
	for name, answer := range map[string]string{
		"result":   "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"a\xff\"}",
		"cut":      "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":[\"\xe2\x82\"]}",
		"name":     "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"\xc0\x80\":1}}",
		"error":    "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":20,\"message\":\"\xff\"}}",
		"its data": "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":20,\"message\":\"x\",\"data\":\"\xed\xa0\x80\"}}",
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, pn *pipeNet) {
				a, b := newNode(t, pn, "a", 20), newNode(t, pn, "b", 20)
				nonces(a, b)
				p := open(t, pn, nil, a, b)
				a.fault = text(answer)
				if told, err := forward(t, p, Ask{}); err != nil || string(told.Result) != `"b"` {
					t.Errorf("%q %q, %v", told.Result, told.Error, err)
				}
				b.fault = a.fault
				if told, err := forward(t, p, Ask{}); !errors.Is(err, ErrMalformed) {
					t.Errorf("%q %q, %v", told.Result, told.Error, err)
				}
				var unknown *DeliveryUnknownError
				if told, err := forward(t, p, Ask{Method: addInvoke, Params: json.RawMessage(`[{}]`), Once: true}); !errors.As(err, &unknown) {
					t.Errorf("%q %q, %v", told.Result, told.Error, err)
				}
			})
		})
	}
}

// A result that cannot be true counts as no answer, and the same node is not asked for
// it again.
func TestForwardChecksResults(t *testing.T) {
	bubble(t, func(t *testing.T, pn *pipeNet) {
		a, b := newNode(t, pn, "a", 20), newNode(t, pn, "b", 20)
		nonces(a, b)
		p := open(t, pn, nil, a, b)
		errFalse := errors.New("false")
		not := func(hosts string) Ask {
			return Ask{Check: func(result []byte) error {
				if strings.Contains(hosts, strings.Trim(string(result), `"`)) {
					return errFalse
				}
				return nil
			}}
		}
		if told, err := forward(t, p, not("a")); err != nil || told.Node != "http://b" {
			t.Errorf("%s, %v", told.Node, err)
		}
		if told, err := forward(t, p, not("ab")); !errors.Is(err, errFalse) || !errors.Is(err, ErrMalformed) {
			t.Errorf("%s, %v", told.Result, err)
		}
		if len(a.requests()) != 2 || len(b.requests()) != 2 {
			t.Errorf("%d and %d requests", len(a.requests()), len(b.requests()))
		}
	})
}
