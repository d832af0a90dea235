package node

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"
)

const getNonce = "starknet_getNonce"

// nonces makes nodes answer starknet_getNonce with their own name.
func nonces(nodes ...*fakeNode) {
	for _, f := range nodes {
		f.set(func(f *fakeNode) {
			f.answer = func(c wireCall) string {
				if c.Method == getNonce {
					return ok(c, `"`+f.host+`"`)
				}
				return ""
			}
		})
	}
}

func forward(t *testing.T, p *Pool, a Ask) (Told, error) {
	t.Helper()
	if a.Method == "" {
		a.Method = getNonce
	}
	told, err := p.Forward(t.Context(), a)
	told.Release()
	if err == nil && (told.Result == nil) == (told.Error == nil) {
		t.Errorf("result %s and error %s", told.Result, told.Error)
	}
	return told, err
}

func TestForwardChangesNoByte(t *testing.T) {
	bubble(t, func(t *testing.T, pn *pipeNet) {
		a := newNode(t, pn, "a", 20)
		p := open(t, pn, nil, a)
		const params = `{ "block_id" : {"block_number":1.50e1},"contract_address":"<&\u003c>","x":[1 , 2],"n":123456789012345678901234567890}`
		for _, c := range []struct{ result, failure string }{
			{result: `{ "a" : 1.0e0 ,"b":"\u003c<&>" }`}, {result: `null`}, {result: `"0x1"`},
			{failure: `{ "message":"<no>", "code": 20 ,"data":{"x":1.0},"more":[1 ,2]}`},
			{failure: `{"code":-32602,"message":"Invalid params","data":"<b>"}`},
		} {
			a.set(func(f *fakeNode) {
				f.answer = func(call wireCall) string {
					if call.Method != getNonce {
						return ""
					}
					if c.failure != "" {
						return `{"id":1,"error":` + c.failure + `}`
					}
					return `{"jsonrpc":"2.0","result":` + c.result + ` ,"id":1}`
				}
			})
			told, err := forward(t, p, Ask{Params: json.RawMessage(params)})
			if err != nil || string(told.Result) != c.result || string(told.Error) != c.failure || told.Node != "http://a" {
				t.Errorf("got %s, %s from %s, %v", told.Result, told.Error, told.Node, err)
			}
		}
		for _, sent := range a.requests() {
			if sent != `{"jsonrpc":"2.0","id":1,"method":"starknet_getNonce","params":`+params+`}` {
				t.Errorf("sent %s", sent)
			}
		}
		for _, bad := range []string{`1`, `"x"`, `[`, `[1],"x":2`, `{"a":}`} {
			if _, err := forward(t, p, Ask{Params: json.RawMessage(bad)}); err == nil {
				t.Errorf("parameters %s were sent", bad)
			}
		}
	})
}

func TestForwardFailsOver(t *testing.T) {
	for name, f := range nodeFaults {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, pn *pipeNet) {
				a, b := newNode(t, pn, "a", 20), newNode(t, pn, "b", 20)
				nonces(a, b)
				a.fault = f
				p := open(t, pn, nil, a, b)
				told, err := forward(t, p, Ask{Limit: 64 << 10, Timeout: 10 * time.Second})
				if n := len(a.requests()); n != 1 {
					t.Errorf("failing node was asked %d times", n)
				}
				// What is too long is so at every node.
				if strings.Contains(name, "large") || name == "gzip bomb" {
					if !errors.Is(err, ErrTooLarge) || len(b.requests()) != 0 {
						t.Fatalf("%s, %v", told.Result, err)
					}
					return
				}
				if err != nil || string(told.Result) != `"b"` || told.Node != "http://b" {
					t.Fatalf("got %s from %s, %v", told.Result, told.Node, err)
				}
			})
		})
	}
}

// Two requests are made at most, without pauses, and then the failure is final. A
// node's own error is passed on as it is if nobody does better.
func TestForwardGivesUpAfterTwo(t *testing.T) {
	for name, f := range nodeFaults {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, pn *pipeNet) {
				var all []*fakeNode
				for _, host := range []string{"a", "b", "c"} {
					all = append(all, newNode(t, pn, host, 20))
					all[len(all)-1].fault = f
				}
				p := open(t, pn, nil, all...)
				var told Told
				var err error
				took := elapsed(func() { told, err = forward(t, p, Ask{Limit: 64 << 10, Timeout: 10 * time.Second}) })
				if sent := len(all[0].requests()) + len(all[1].requests()) + len(all[2].requests()); sent > 2 {
					t.Errorf("sent %d times", sent)
				}
				switch name {
				case "internal error", "limit":
					if err != nil || !strings.HasSuffix(string(told.Error), `,"message":"x"}`) || told.Code == 0 {
						t.Errorf("%s, %v", told.Error, err)
					}
				case "hangs":
					if err == nil || took != 10*time.Second {
						t.Errorf("%v after %s", err, took)
					}
				default:
					if err == nil || took != 0 {
						t.Errorf("%v after %s", err, took)
					}
				}
			})
		})
	}
}

func TestForwardTriesTheOnlyNodeAgain(t *testing.T) {
	bubble(t, func(t *testing.T, pn *pipeNet) {
		a := newNode(t, pn, "a", 20)
		nonces(a)
		a.fault = first(1, truncated)
		p := open(t, pn, nil, a)
		if told, err := forward(t, p, Ask{}); err != nil || string(told.Result) != `"a"` {
			t.Errorf("%s, %v", told.Result, err)
		}
	})
}

func TestForwardAsksNodesOfTheVersion(t *testing.T) {
	bubble(t, func(t *testing.T, pn *pipeNet) {
		a, b := newNode(t, pn, "a", 20), newNode(t, pn, "b", 10)
		nonces(a, b)
		b.spec = "0.10.2"
		p := open(t, pn, nil, a, b)
		for _, c := range []struct {
			spec SpecVersion
			want string
		}{{SpecVersion{0, 10, 0}, "b"}, {SpecVersion{0, 9, 0}, "a"}, {SpecVersion{}, "a"}} {
			if told, err := forward(t, p, Ask{Spec: c.spec}); err != nil || told.Node != "http://"+c.want {
				t.Errorf("%s: %s, %v", c.spec, told.Node, err)
			}
		}
		if _, err := forward(t, p, Ask{Spec: SpecVersion{0, 8, 0}}); !errors.Is(err, ErrNoVersion) {
			t.Error(err)
		}
		// A failure does not move a call to another version.
		b.fault = status(500)
		if told, err := forward(t, p, Ask{Spec: SpecVersion{0, 10, 0}}); err == nil {
			t.Errorf("%s said %s", told.Node, told.Result)
		}
		if v := p.Versions(); len(v) != 2 || v[0] != (SpecVersion{0, 10, 2}) || v[1] != (SpecVersion{0, 9, 0}) {
			t.Error(v)
		}
		b.stop()
		time.Sleep(10 * time.Second)
		if v := p.Versions(); len(v) != 1 || v[0] != (SpecVersion{0, 9, 0}) {
			t.Error(v)
		}
		if _, err := forward(t, p, Ask{Spec: SpecVersion{0, 10, 0}}); !errors.Is(err, ErrNoneHealthy) {
			t.Error(err)
		}
	})
}

// Once no node can be reached, callers are told so without asking; the watcher finds out
// when one answers again.
func TestForwardCircuit(t *testing.T) {
	bubble(t, func(t *testing.T, pn *pipeNet) {
		a := newNode(t, pn, "a", 20)
		nonces(a)
		p := open(t, pn, nil, a)
		a.stop()
		for range 2 {
			if _, err := forward(t, p, Ask{}); err == nil || errors.Is(err, ErrNoneHealthy) {
				t.Fatal(err)
			}
		}
		for range 100 {
			if took := elapsed(func() {
				if _, err := forward(t, p, Ask{}); !errors.Is(err, ErrNoneHealthy) {
					t.Fatal(err)
				}
			}); took != 0 {
				t.Fatalf("took %s", took)
			}
		}
		a.start()
		time.Sleep(6 * time.Second)
		if told, err := forward(t, p, Ask{}); err != nil || string(told.Result) != `"a"` {
			t.Errorf("%s, %v", told.Result, err)
		}
	})
}

func at(n uint64) *uint64 { return &n }

func TestForwardLeavesNodesThatAreBehind(t *testing.T) {
	bubble(t, func(t *testing.T, pn *pipeNet) {
		a, b := newNode(t, pn, "a", 10), newNode(t, pn, "b", 20)
		p := open(t, pn, nil, a, b)
		block := func(n string) Ask {
			return Ask{Method: "starknet_getBlockWithTxHashes", Params: json.RawMessage(`{"block_id":{"block_number":` + n + `}}`)}
		}
		ask := block("15")
		ask.At = at(15)
		for range 20 {
			if told, err := forward(t, p, ask); err != nil || told.Node != "http://b" {
				t.Fatalf("%s, %v", told.Node, err)
			}
		}
		if n := len(a.requests()); n != 0 {
			t.Errorf("a node was asked %d times for a block that it does not have", n)
		}
		// Nobody has it: that is what the better node says, and final.
		ask = block("30")
		ask.At = at(30)
		if told, err := forward(t, p, ask); err != nil || told.Code != CodeBlockNotFound {
			t.Errorf("%s, %v", told.Error, err)
		}
		// "Not found" from a node that is behind settles nothing.
		b.fault = status(500)
		for _, ask := range []Ask{{Method: "starknet_getTransactionByHash", Params: json.RawMessage(`["0x1"]`)}, block("15")} {
			var unsettled *UnsettledError
			if told, err := forward(t, p, ask); !errors.As(err, &unsettled) || unsettled.Node != "http://a" || IsNotFound(err) {
				t.Errorf("%s: %s, %v", ask.Method, told.Error, err)
			}
		}
	})
}

// A node that has caught up meanwhile is believed, after it was asked again.
func TestForwardBelievesWhoCaughtUp(t *testing.T) {
	bubble(t, func(t *testing.T, pn *pipeNet) {
		a, b := newNode(t, pn, "a", 10), newNode(t, pn, "b", 20)
		a.spec = "0.10.2"
		p := open(t, pn, nil, a, b)
		ask := Ask{Method: "starknet_getTransactionByHash", Params: json.RawMessage(`["0x1"]`), Spec: SpecVersion{0, 10, 0}}
		var unsettled *UnsettledError
		if told, err := forward(t, p, ask); !errors.As(err, &unsettled) {
			t.Errorf("%s, %v", told.Error, err)
		}
		a.set(func(f *fakeNode) { f.head = 20 })
		if told, err := forward(t, p, ask); err != nil || told.Code != CodeTxNotFound || told.Node != "http://a" {
			t.Errorf("%s, %v", told.Error, err)
		}
	})
}

// A denial from a node that is behind does not win against one that takes longer.
func TestForwardHedgeWaitsForTheBetterAnswer(t *testing.T) {
	bubble(t, func(t *testing.T, pn *pipeNet) {
		a, b := newNode(t, pn, "a", 20), newNode(t, pn, "b", 15)
		a.set(func(f *fakeNode) {
			f.fault = func(int, http.ResponseWriter, *http.Request, []byte) bool { time.Sleep(3 * time.Second); return false }
			f.answer = func(c wireCall) string {
				if c.Method == "starknet_getTransactionByHash" {
					return ok(c, `{"from":"a"}`)
				}
				return ""
			}
		})
		p := open(t, pn, nil, a, b)
		told, err := forward(t, p, Ask{Method: "starknet_getTransactionByHash", Params: json.RawMessage(`["0x1"]`), Timeout: 10 * time.Second})
		if err != nil || string(told.Result) != `{"from":"a"}` || len(b.requests()) != 1 {
			t.Errorf("%s %s, %v; %d", told.Result, told.Error, err, len(b.requests()))
		}
	})
}

func TestForwardHedges(t *testing.T) {
	bubble(t, func(t *testing.T, pn *pipeNet) {
		a, b := newNode(t, pn, "a", 20), newNode(t, pn, "b", 20)
		nonces(a, b)
		p := open(t, pn, nil, a, b)
		for range 30 {
			if told, err := forward(t, p, Ask{}); err != nil || told.Node != "http://a" {
				t.Fatalf("%s, %v", told.Node, err)
			}
		}
		hanging(a, 1000)
		slow := 0
		for range 20 {
			took := elapsed(func() {
				if told, err := forward(t, p, Ask{}); err != nil || told.Node != "http://b" {
					t.Fatalf("%s, %v", told.Node, err)
				}
			})
			if took > hedgeFloor {
				t.Errorf("a call took %s", took)
			}
			if took > 0 {
				slow++
			}
		}
		// A node that hangs is not asked first for ever.
		if slow == 0 || slow > lostAfter {
			t.Errorf("%d calls waited for a node that hangs", slow)
		}
		// What callers ask says nothing of the node's health.
		if s := p.Statuses(); !s[0].Healthy {
			t.Error("callers made a node unhealthy")
		}
	})
}

// Callers cannot make a node look dead by asking what takes too long.
func TestForwardTimeoutsDoNotOpenTheCircuit(t *testing.T) {
	bubble(t, func(t *testing.T, pn *pipeNet) {
		a := newNode(t, pn, "a", 20)
		nonces(a)
		p := open(t, pn, nil, a)
		hanging(a, 12)
		for range 6 {
			if _, err := forward(t, p, Ask{Timeout: time.Second}); err == nil {
				t.Fatal("no error")
			}
		}
		if s := p.Statuses(); !s[0].Healthy {
			t.Error("callers made a node unhealthy")
		}
		a.set(func(f *fakeNode) { f.fault = nil })
		if _, err := forward(t, p, Ask{}); err != nil {
			t.Error(err)
		}
	})
}

// Whatever happens to a write that is passed on, it reaches one node, once.
func TestForwardWritesOnce(t *testing.T) {
	turned := map[string]bool{"status 401": true, "status 404": true, "rate limited": true, "redirect": true}
	answered := map[string]bool{"internal error": true, "limit": true}
	for name, f := range nodeFaults {
		for _, method := range []string{addInvoke, "devnet_mint"} {
			t.Run(name+"/"+method, func(t *testing.T) {
				bubble(t, func(t *testing.T, pn *pipeNet) {
					a, b := newNode(t, pn, "a", 20), newNode(t, pn, "b", 20)
					a.fault, b.fault = f, f
					p := open(t, pn, nil, a, b)
					told, err := forward(t, p, Ask{Method: method, Params: json.RawMessage(`[{}]`), Limit: 64 << 10, Once: method == addInvoke})
					if sent := len(a.requests()) + len(b.requests()); sent != 1 {
						t.Fatalf("sent %d times", sent)
					}
					var unknown *DeliveryUnknownError
					switch {
					case answered[name]:
						if err != nil || told.Code == 0 {
							t.Fatal(err)
						}
					case err == nil:
						t.Fatal("no error")
					case errors.As(err, &unknown) == turned[name]:
						t.Fatal(err)
					}
				})
			})
		}
	}
}

func TestForwardWriteNeedsAHealthyNode(t *testing.T) {
	bubble(t, func(t *testing.T, pn *pipeNet) {
		a := newNode(t, pn, "a", 20)
		p := open(t, pn, nil, a)
		told, err := forward(t, p, Ask{Method: addInvoke, Params: json.RawMessage(`[{}]`), Once: true})
		if err != nil || string(told.Result) != `{"transaction_hash":"0x1"}` {
			t.Fatalf("%s, %v", told.Result, err)
		}
		a.stop()
		time.Sleep(10 * time.Second)
		if _, err := forward(t, p, Ask{Method: addInvoke, Once: true}); !errors.Is(err, ErrNoneHealthy) {
			t.Error(err)
		}
	})
}
