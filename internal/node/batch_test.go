package node

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
)

var threeReads = []Request{
	{"starknet_blockNumber", nil},
	{"starknet_getTransactionByHash", []any{"0x1"}},
	{"starknet_chainId", nil},
}

func checkThree(t *testing.T, got []Response, err error) {
	t.Helper()
	if err != nil || len(got) != 3 {
		t.Fatalf("%d responses, %v", len(got), err)
	}
	if string(got[0].Result) != "20" || got[1].Err == nil || got[1].Err.Code != 29 || got[1].Result != nil ||
		string(got[2].Result) != `"`+testChain+`"` {
		t.Fatalf("%+v", got)
	}
}

func TestBatchIsOneRequestMatchedById(t *testing.T) {
	bubble(t, func(t *testing.T, pn *pipeNet) {
		a := newNode(t, pn, "a", 20)
		p := open(t, pn, nil, a)
		before := a.count("starknet_chainId")
		got, err := p.Batch(t.Context(), threeReads)
		checkThree(t, got, err)
		if a.count("starknet_chainId")-before != 1 || a.count("starknet_blockNumber") != 1 {
			t.Error("calls were repeated")
		}
		if got, err := p.Batch(t.Context(), nil); err != nil || len(got) != 0 {
			t.Errorf("empty batch: %v, %v", got, err)
		}
	})
}

func TestBatchRefusedFallsBackToSingleCalls(t *testing.T) {
	for name, refusal := range map[string]fault{
		"error object": text(`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no batches"}}`),
		"error object, status": func(_ int, w http.ResponseWriter, _ *http.Request, _ []byte) bool {
			w.WriteHeader(400)
			io.WriteString(w, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}`)
			return true
		},
		"status 413": status(413),
		"status 405": status(405),
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, pn *pipeNet) {
				a := newNode(t, pn, "a", 20)
				batches := 0
				a.fault = func(nth int, w http.ResponseWriter, r *http.Request, body []byte) bool {
					if body[0] != '[' {
						return false
					}
					batches++
					return refusal(nth, w, r, body)
				}
				p := open(t, pn, nil, a)
				for range 2 {
					raw, err := p.BlockWithUpdate(t.Context(), 7)
					if err != nil || !strings.Contains(string(raw.StateUpdate), "getStateUpdate") {
						t.Fatalf("%s, %v", raw.StateUpdate, err)
					}
				}
				if batches != 1 {
					t.Errorf("%d batches were tried", batches)
				}
			})
		})
	}
}

func TestBrokenBatchIsAskedElsewhere(t *testing.T) {
	answer := func(ids ...int) fault {
		var parts []string
		for _, id := range ids {
			parts = append(parts, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{}}`, id))
		}
		return text("[" + strings.Join(parts, ",") + "]")
	}
	for name, f := range map[string]fault{
		"missing":    answer(1),
		"empty":      answer(),
		"twice":      answer(1, 1),
		"unknown":    answer(1, 3),
		"zero":       answer(0, 1),
		"too many":   answer(1, 2, 2),
		"one result": text(`{"jsonrpc":"2.0","id":1,"result":{}}`),
		"overload":   text(`{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"busy"}}`),
		"not object": text(`[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":2,"result":null}]`),
		"half":       text(`[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"x"}}]`),
		"status 500": status(500),
		"cut":        truncated,
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, pn *pipeNet) {
				a, b := newNode(t, pn, "a", 20), newNode(t, pn, "b", 20)
				a.fault = f
				p := open(t, pn, nil, a, b)
				raw, err := p.BlockWithUpdate(t.Context(), 7)
				if err != nil || raw.Node != "http://b" || len(b.requests()) != 1 ||
					!strings.Contains(string(raw.Block), `"host":"b"`) || !strings.Contains(string(raw.StateUpdate), `"host":"b"`) {
					t.Fatalf("%+v, %v", raw, err)
				}
			})
		})
	}
}

func TestEveryAnswerOfABatchIsNeededOnce(t *testing.T) {
	one := `{"jsonrpc":"2.0","id":1,"result":1}`
	for name, body := range map[string]string{"missing": "[" + one + "]", "twice": "[" + one + "," + one + "]"} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, pn *pipeNet) {
				a, b := newNode(t, pn, "a", 20), newNode(t, pn, "b", 20)
				a.fault = text(body)
				p := open(t, pn, nil, a, b)
				got, err := p.Batch(t.Context(), []Request{{"starknet_call", nil}, {"starknet_blockNumber", nil}})
				if err != nil || got[0].Node != "http://b" || string(got[1].Result) != "20" {
					t.Fatalf("%+v, %v", got, err)
				}
			})
		})
	}
}

// Only what is still open is asked again.
func TestBatchKeepsSettledAnswers(t *testing.T) {
	bubble(t, func(t *testing.T, pn *pipeNet) {
		a, b := newNode(t, pn, "a", 20), newNode(t, pn, "b", 20)
		a.answer = func(c wireCall) string {
			if c.Method == "starknet_getTransactionByHash" {
				return no(c, CodeInternal)
			}
			return ""
		}
		p := open(t, pn, nil, a, b)
		got, err := p.Batch(t.Context(), threeReads)
		checkThree(t, got, err)
		if b.count("starknet_blockNumber") != 0 || got[0].Node != "http://a" || got[1].Node != "http://b" {
			t.Errorf("%+v", got)
		}
		got, err = p.Batch(t.Context(), threeReads, OneNode())
		checkThree(t, got, err)
		if got[0].Node != "http://b" || got[1].Node != "http://b" {
			t.Errorf("answers of several nodes: %+v", got)
		}
	})
}

func TestLongBatchIsSplit(t *testing.T) {
	bubble(t, func(t *testing.T, pn *pipeNet) {
		a := newNode(t, pn, "a", 20)
		a.answer = func(c wireCall) string {
			if c.Method == "starknet_getNonce" {
				return ok(c, string(c.Params))
			}
			return ""
		}
		p := open(t, pn, func(c *Config) { c.MaxBatch = 10 }, a)
		var reqs []Request
		for i := range 35 {
			reqs = append(reqs, Request{"starknet_getNonce", []int{i}})
		}
		got, err := p.Batch(t.Context(), reqs)
		if err != nil || len(got) != 35 || len(a.requests()) != 4 {
			t.Fatalf("%d responses in %d requests, %v", len(got), len(a.requests()), err)
		}
		for i, r := range got {
			if string(r.Result) != fmt.Sprintf("[%d]", i) {
				t.Errorf("%d: %s", i, r.Result)
			}
		}
		if _, err := p.Batch(t.Context(), reqs, OneNode()); err == nil {
			t.Error("a batch longer than one request was promised to come from one node")
		}
	})
}

func TestOnNodeAsksThatNodeAlone(t *testing.T) {
	bubble(t, func(t *testing.T, pn *pipeNet) {
		a, b := newNode(t, pn, "a", 20), newNode(t, pn, "b", 10)
		p := open(t, pn, func(c *Config) { c.MaxAttempts = 2 }, a, b)
		if got, err := p.Call(t.Context(), "starknet_call", []any{}, OnNode("http://b")); err != nil || got.Node != "http://b" {
			t.Fatalf("%s, %v", got.Node, err)
		}
		b.set(func(f *fakeNode) { f.fault = status(500) })
		if _, err := p.Call(t.Context(), "starknet_call", []any{}, OnNode("http://b")); !errors.Is(err, ErrNoNode) || len(a.requests()) != 0 {
			t.Fatal(err)
		}
	})
}

func TestBatchRefusesWhatIsNotARead(t *testing.T) {
	bubble(t, func(t *testing.T, pn *pipeNet) {
		a := newNode(t, pn, "a", 20)
		p := open(t, pn, nil, a)
		for _, m := range []string{"starknet_addInvokeTransaction", "devnet_mint", ""} {
			if _, err := p.Batch(t.Context(), []Request{{"starknet_chainId", nil}, {m, nil}}); !errors.Is(err, ErrNotARead) {
				t.Errorf("%q: %v", m, err)
			}
		}
		if _, err := p.Call(t.Context(), "starknet_call", 5); err == nil {
			t.Error("a number was taken as parameters")
		}
		if len(a.requests()) != 0 {
			t.Error("something was sent")
		}
	})
}

// A batch of two calls fails for one of them: the error names that one, and
// what the other was asked with is not held responsible.
func TestErrorNamesTheCallThatFailed(t *testing.T) {
	bubble(t, func(t *testing.T, pn *pipeNet) {
		a := newNode(t, pn, "a", 20)
		a.spec = "0.10.2"
		a.answer = func(c wireCall) string {
			if c.Method == "starknet_getStateUpdate" {
				return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"Invalid params","data":{"reason":"invalid length 1"}}}`, c.ID)
			}
			return ""
		}
		var log strings.Builder
		p := open(t, pn, func(c *Config) { c.Logger = slog.New(slog.NewTextHandler(&log, nil)) }, a)
		_, err := p.BlockWithUpdate(t.Context(), 7)
		if err == nil || !strings.Contains(err.Error(), "starknet_getStateUpdate: node answered error -32602: Invalid params") ||
			!strings.Contains(err.Error(), "invalid length 1") || strings.Contains(err.Error(), "starknet_getBlockWithReceipts") {
			t.Errorf("%v", err)
		}
		if strings.Contains(log.String(), "flags") {
			t.Errorf("the flags of another call were blamed: %s", log.String())
		}
		a.set(func(f *fakeNode) { f.answer = nil })
		if raw, err := p.BlockWithUpdate(t.Context(), 7); err != nil || !strings.Contains(string(raw.Block), `"params":2`) {
			t.Errorf("flags are not asked for any more: %s, %v", raw.Block, err)
		}
	})
}
