package node

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
)

const addInvoke = "starknet_addInvokeTransaction"

// Whatever happens to a write, it is sent once; and what is known of its
// delivery is said.
func TestWriteIsNeverRetried(t *testing.T) {
	turned := map[string]bool{"status 401": true, "status 404": true, "rate limited": true, "redirect": true}
	answered := map[string]bool{"internal error": true, "limit": true}
	for name, f := range nodeFaults {
		for _, method := range []string{addInvoke, "devnet_mint"} {
			t.Run(name+"/"+method, func(t *testing.T) {
				bubble(t, func(t *testing.T, pn *pipeNet) {
					a, b, c := newNode(t, pn, "a", 20), newNode(t, pn, "b", 20), newNode(t, pn, "c", 20)
					a.fault = f
					p := open(t, pn, func(c *Config) { c.MaxResponseBytes = 64 << 10 }, a, b)
					_, err := p.Call(t.Context(), method, []any{map[string]any{}})
					if len(a.requests()) != 1 || len(b.requests()) != 0 || len(c.requests()) != 0 {
						t.Fatalf("sent %d, %d and %d times", len(a.requests()), len(b.requests()), len(c.requests()))
					}
					var unknown *DeliveryUnknownError
					var rpc *RPCError
					switch {
					case err == nil:
						t.Fatal("no error")
					case answered[name]:
						if !errors.As(err, &rpc) || errors.As(err, &unknown) {
							t.Fatal(err)
						}
					case errors.As(err, &unknown) == turned[name]:
						t.Fatal(err)
					}
				})
			})
		}
	}
}

func TestWrite(t *testing.T) {
	bubble(t, func(t *testing.T, pn *pipeNet) {
		a, b := newNode(t, pn, "a", 10), newNode(t, pn, "b", 20)
		p := open(t, pn, nil, a, b)
		got, err := p.Call(t.Context(), addInvoke, []any{map[string]any{}})
		if err != nil || got.Node != "http://b" || string(got.Result) != `{"transaction_hash":"0x1"}` {
			t.Fatalf("%+v, %v", got, err)
		}
		b.set(func(f *fakeNode) { f.answer = func(c wireCall) string { return no(c, 59) } })
		_, err = p.Call(t.Context(), addInvoke, []any{map[string]any{}})
		var rpc *RPCError
		if !errors.As(err, &rpc) || rpc.Code != 59 || b.count(addInvoke) != 2 || a.count(addInvoke) != 0 {
			t.Fatal(err)
		}
	})
}

func TestWriteToDeadNodeIsNotDelivered(t *testing.T) {
	bubble(t, func(t *testing.T, pn *pipeNet) {
		a, b := newNode(t, pn, "a", 20), newNode(t, pn, "b", 10)
		p := open(t, pn, func(c *Config) { c.HTTP.Transport.(*http.Transport).DisableKeepAlives = true }, a, b)
		a.stop()
		_, err := p.Call(t.Context(), addInvoke, []any{map[string]any{}})
		var unknown *DeliveryUnknownError
		if err == nil || errors.As(err, &unknown) || b.count(addInvoke) != 0 {
			t.Fatal(err)
		}
	})
}

func TestCancelledWriteIsUnknown(t *testing.T) {
	bubble(t, func(t *testing.T, pn *pipeNet) {
		a := newNode(t, pn, "a", 20)
		a.fault = hangs
		p := open(t, pn, nil, a)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { _, err := p.Call(ctx, addInvoke, []any{}); done <- err }()
		synctest.Wait()
		cancel()
		var unknown *DeliveryUnknownError
		if err := <-done; !errors.As(err, &unknown) || !errors.Is(err, context.Canceled) || unknown.Method != addInvoke {
			t.Fatal(err)
		}
	})
}
