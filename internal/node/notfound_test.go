package node

import (
	"errors"
	"net/http"
	"testing"
	"time"
)

func TestLaggingNotFoundNeverWins(t *testing.T) {
	bubble(t, func(t *testing.T, pn *pipeNet) {
		lag, best := newNode(t, pn, "lag", 10), newNode(t, pn, "best", 20)
		best.fault = first(2, status(500))
		p := open(t, pn, nil, lag, best)
		raw, err := p.BlockWithUpdate(t.Context(), 15)
		if err != nil || raw.Node != "http://best" {
			t.Fatalf("%s, %v", raw.Node, err)
		}
		if len(lag.requests()) == 0 {
			t.Fatal("the lagging node was not asked, so that the test shows nothing")
		}
	})
}

func TestNotFoundIsUnsettledWithoutTheBestNode(t *testing.T) {
	for name, ask := range map[string]func(p *Pool, t *testing.T) error{
		"block": func(p *Pool, t *testing.T) error { _, err := p.BlockWithUpdate(t.Context(), 15); return err },
		"transaction": func(p *Pool, t *testing.T) error {
			_, err := p.Call(t.Context(), "starknet_getTransactionByHash", []any{"0x1"})
			return err
		},
		"batch": func(p *Pool, t *testing.T) error {
			_, err := p.Batch(t.Context(), []Request{{"starknet_blockNumber", nil}, {"starknet_getTransactionByHash", []any{"0x1"}}})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, pn *pipeNet) {
				lag, best := newNode(t, pn, "lag", 10), newNode(t, pn, "best", 20)
				best.fault = func(_ int, w http.ResponseWriter, _ *http.Request, body []byte) bool {
					w.WriteHeader(500)
					return true
				}
				p := open(t, pn, nil, lag, best)
				err := ask(p, t)
				var doubt *UnsettledError
				if !errors.As(err, &doubt) || doubt.Node != "http://lag" || doubt.NodeHead != 10 || doubt.BestHead != 20 {
					t.Fatal(err)
				}
				var ne *NodeError
				if IsNotFound(err) || !errors.As(err, &ne) || ne.Node != "http://best" {
					t.Fatal(err)
				}
			})
		})
	}
}

// A head that nobody has confirmed for long does not hold answers up for ever.
func TestDeadNodesHeadExpires(t *testing.T) {
	bubble(t, func(t *testing.T, pn *pipeNet) {
		lag, best := newNode(t, pn, "lag", 10), newNode(t, pn, "best", 20)
		p := open(t, pn, nil, lag, best)
		best.stop()
		_, err := p.Call(t.Context(), "starknet_getTransactionByHash", []any{"0x1"})
		if IsNotFound(err) || err == nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Minute)
		if _, err = p.Call(t.Context(), "starknet_getTransactionByHash", []any{"0x1"}); !IsNotFound(err) {
			t.Fatal(err)
		}
	})
}

func TestBestNodesNotFoundIsFinalAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T, pn *pipeNet) {
		lag, best := newNode(t, pn, "lag", 10), newNode(t, pn, "best", 20)
		p := open(t, pn, nil, lag, best)
		if _, err := p.Call(t.Context(), "starknet_getTransactionByHash", []any{"0x1"}); !IsNotFound(err) {
			t.Fatal(err)
		}
		if len(best.requests()) != 1 || len(lag.requests()) != 0 {
			t.Errorf("%d and %d requests", len(best.requests()), len(lag.requests()))
		}
	})
}

// A block above every head: all are asked, once, and believed.
func TestBlockAboveEveryHead(t *testing.T) {
	bubble(t, func(t *testing.T, pn *pipeNet) {
		a, b := newNode(t, pn, "a", 19), newNode(t, pn, "b", 20)
		p := open(t, pn, nil, a, b)
		var err error
		took := elapsed(func() { _, err = p.BlockWithUpdate(t.Context(), 21) })
		if !IsNotFound(err) || took != 0 || len(a.requests()) != 1 || len(b.requests()) != 1 {
			t.Fatalf("%s, %d and %d requests, %v", took, len(a.requests()), len(b.requests()), err)
		}
		// Heads are looked at every few seconds only: a node may be further.
		a.set(func(f *fakeNode) { f.head = 21 })
		if raw, err := p.BlockWithUpdate(t.Context(), 21); err != nil || raw.Node != "http://a" {
			t.Fatalf("%s, %v", raw.Node, err)
		}
	})
}

// Behind a balancer one address is several nodes: its head says 20, yet the
// node that answers does not have block 18 yet.
func TestNodeThatContradictsItsHeadIsAskedAgain(t *testing.T) {
	bubble(t, func(t *testing.T, pn *pipeNet) {
		a := newNode(t, pn, "a", 20)
		a.fault = first(2, text(`[{"jsonrpc":"2.0","id":1,"error":{"code":24,"message":"no"}},{"jsonrpc":"2.0","id":2,"error":{"code":24,"message":"no"}}]`))
		p := open(t, pn, nil, a)
		if _, err := p.BlockWithUpdate(t.Context(), 18); err != nil || len(a.requests()) != 3 {
			t.Fatalf("%d requests, %v", len(a.requests()), err)
		}
		a.set(func(f *fakeNode) {
			f.answer = func(c wireCall) string {
				if c.Method == "starknet_getBlockWithReceipts" || c.Method == "starknet_getStateUpdate" {
					return no(c, CodeBlockNotFound)
				}
				return ""
			}
		})
		_, err := p.BlockWithUpdate(t.Context(), 18) // pruned: never to be had
		var doubt *UnsettledError
		if !errors.As(err, &doubt) || IsNotFound(err) {
			t.Fatal(err)
		}
	})
}

// A head that went back makes "not found" true after all.
func TestHeadThatWentBackIsBelieved(t *testing.T) {
	bubble(t, func(t *testing.T, pn *pipeNet) {
		a := newNode(t, pn, "a", 20)
		p := open(t, pn, nil, a)
		a.set(func(f *fakeNode) { f.head = 15 })
		if _, err := p.BlockWithUpdate(t.Context(), 18); !IsNotFound(err) {
			t.Fatal(err)
		}
		if h, err := p.Head(t.Context()); err != nil || h.Number != 15 {
			t.Fatalf("%+v, %v", h, err)
		}
	})
}

// What a node has served shows how far it is, before its head is looked at.
func TestServedBlocksCountAsHeight(t *testing.T) {
	bubble(t, func(t *testing.T, pn *pipeNet) {
		a, b := newNode(t, pn, "a", 20), newNode(t, pn, "b", 20)
		p := open(t, pn, nil, a, b)
		b.set(func(f *fakeNode) { f.head = 22 })
		if raw, err := p.BlockWithUpdate(t.Context(), 22); err != nil || raw.Node != "http://b" {
			t.Fatalf("%s, %v", raw.Node, err)
		}
		if got, err := p.Call(t.Context(), "starknet_call", []any{}); err != nil || got.Node != "http://b" {
			t.Fatalf("%s, %v", got.Node, err)
		}
	})
}
