package live_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
	"github.com/prometheus/client_golang/prometheus"

	"chainexplorer/internal/gateway/live"
	"chainexplorer/internal/gateway/method"
	"chainexplorer/internal/gateway/wire"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/starknet"
)

var small = simnode.Config{Blocks: 10, TxPerBlock: 1}

func TestRefusals(t *testing.T) {
	many := `["` + strings.Repeat(`0x1","`, 1024) + `0x2"]`
	keys := `[` + strings.Repeat(`[],`, 16) + `[]]`
	for _, version := range versions {
		w := newWorld(t, setup{version: version, chain: simnode.Config{Blocks: 1100, TxPerBlock: -1}})
		c := w.connect()
		orphan := w.chain.BlockAt(1099).Hash.String()
		w.chain.Fork(2)
		known := func(since, until starknet.SpecVersion, code int) int {
			if version < since || version > until {
				return -32601
			}
			return code
		}
		for _, tt := range []struct {
			method, params string
			code           int
		}{
			{"subscribeNewHeads", `[{"block_number":75}]`, 0},
			{"subscribeNewHeads", `[{"block_number":74}]`, 68},
			{"subscribeNewHeads", `[{"block_number":1100}]`, 24},
			{"subscribeNewHeads", `[{"block_hash":"0x123"}]`, 24},
			{"subscribeNewHeads", `[{"block_hash":"` + orphan + `"}]`, 24},
			{"subscribeNewHeads", `[{"block_hash":"` + w.chain.BlockAt(3).Hash.String() + `"}]`, 68},
			{"subscribeNewHeads", `["pending"]`, -32602},
			{"subscribeNewHeads", `["pre_confirmed"]`, -32602},
			{"subscribeNewHeads", `["l1_accepted"]`, -32602},
			{"subscribeNewHeads", `[{"block_number":-1}]`, -32602},
			{"subscribeNewHeads", `[{"block_number":1,"block_hash":"0x1"}]`, -32602},
			{"subscribeNewHeads", `[{}]`, -32602},
			{"subscribeNewHeads", `["latest",1]`, -32602},
			{"subscribeNewHeads", `{"block":"latest"}`, -32602},
			{"subscribeEvents", `{"block_id":{"block_number":70}}`, 68},
			{"subscribeEvents", `{"block_id":{"block_number":7000}}`, 24},
			{"subscribeEvents", `{"from_address":"x"}`, -32602},
			{"subscribeEvents", `{"keys":` + keys + `}`, 34},
			{"subscribeEvents", `{"keys":[` + many + `]}`, 34},
			{"subscribeEvents", `{"keys":"0x1"}`, -32602},
			{"subscribeEvents", `{"from_address":` + many + `}`, map[bool]int{true: 67, false: -32602}[version == starknet.V010]},
			{"subscribeEvents", `{"from_address":["0x1","0x2"]}`, map[bool]int{true: 0, false: -32602}[version == starknet.V010]},
			{"subscribeEvents", `{"finality_status":"ACCEPTED_ON_L1"}`, -32602},
			{"subscribeEvents", `{"finality_status":"PRE_CONFIRMED"}`, map[bool]int{true: 0, false: -32602}[version > starknet.V08]},
			{"subscribeTransactionStatus", `[]`, -32602},
			{"subscribeTransactionStatus", `["abc"]`, -32602},
			{"subscribeNewTransactions", `{"finality_status":["RECEIVED"]}`, known(starknet.V09, starknet.V010, -32602)},
			{"subscribeNewTransactions", `{"finality_status":["ACCEPTED_ON_L2","CANDIDATE"]}`, known(starknet.V09, starknet.V010, -32602)},
			{"subscribeNewTransactions", `{"finality_status":["PRE_CONFIRMED"]}`, known(starknet.V09, starknet.V010, 0)},
			{"subscribeNewTransactions", `{"sender_address":` + many + `}`, known(starknet.V09, starknet.V010, 67)},
			{"subscribeNewTransactions", `{"tags":["MORE"]}`, known(starknet.V09, starknet.V010, -32602)},
			{"subscribeNewTransactionReceipts", `{"finality_status":["CANDIDATE"]}`, known(starknet.V09, starknet.V010, -32602)},
			{"subscribeNewTransactionReceipts", `{"sender_address":` + many + `}`, known(starknet.V09, starknet.V010, 67)},
			{"subscribePendingTransactions", `{"sender_address":` + many + `}`, known(starknet.V08, starknet.V08, 67)},
			{"subscribePendingTransactions", `{"transaction_details":1}`, known(starknet.V08, starknet.V08, -32602)},
			{"unsubscribe", `["77"]`, 66},
			{"unsubscribe", `[77]`, 66},
			{"unsubscribe", `[]`, -32602},
		} {
			m := c.call(tt.method, tt.params)
			code := 0
			if m.Error != nil {
				code = m.Error.Code
			}
			if code != tt.code {
				t.Errorf("%s: %s %.100s: %d, want %d", version, tt.method, tt.params, code, tt.code)
			}
			if m.Error != nil && (m.Error.Message == "" || code < 0 != (len(m.Error.Data) > 0)) {
				t.Errorf("%s: error %+v", tt.method, m.Error)
			}
			if m.Error != nil && code < 0 && !strings.Contains(string(m.Error.Data), `"httpStatus":200`) { // as over HTTP
				t.Errorf("%s: %s %.100s: error data %s", version, tt.method, tt.params, m.Error.Data)
			}
		}
	}
}

// One message may hold ordinary calls and subscriptions; ids come back as they were,
// the answer comes before what it leads to, and numbers end subscriptions as well.
func TestMessages(t *testing.T) {
	var charged []string
	w := newWorld(t, setup{chain: small, client: func(c *live.Client) {
		c.Charge = func(_ context.Context, m *method.Method) *wire.Error {
			if charged = append(charged, m.Name); len(charged) > 3 {
				return &wire.Error{Code: wire.CodeRateLimited, Name: wire.RateLimited, Message: "enough", RetryAfter: 7}
			}
			return nil
		}
		c.RequestID = func() string { return "req-9" }
	}})
	c := w.connect()
	c.write(`[{"jsonrpc":"2.0","id":"a\u0062","method":"starknet_blockNumber"},
		{"jsonrpc":"2.0","id":1.50,"method":"starknet_subscribeNewHeads","params":[{"block_number":8}]},
		{"jsonrpc":"2.0","method":"starknet_subscribeNewHeads"},
		{"jsonrpc":"2.0","id":3,"method":"nothing"}, 5,
		{"jsonrpc":"2.0","id":null,"method":"starknet_subscribeTransactionStatus","params":["0x1"]}]`)
	if m := c.answer("1.50"); string(m.Result) != `"1"` {
		t.Errorf("subscription: %s %+v", m.Result, m.Error)
	}
	if m := c.answer(`"a\u0062"`); string(m.Result) != "9" {
		t.Errorf("call: %+v", m)
	}
	if m := c.answer("3"); m.Error == nil || m.Error.Code != -32601 {
		t.Errorf("unknown method: %+v", m)
	}
	c.wait("two heads", func() bool { return len(c.notes["1"]) == 2 })
	c.mu.Lock()
	if at := slices.Index(c.order, `answer "1"`); at < 0 || slices.Index(c.order, "note 1") < at {
		t.Errorf("order %v", c.order)
	}
	c.mu.Unlock()
	if m := c.call("unsubscribe", `{"subscription_id":1}`); string(m.Result) != "true" {
		t.Errorf("unsubscribe by number: %+v", m)
	}
	if m := c.call("subscribeNewHeads", `[]`); m.Error == nil || m.Error.Code != -32010 || !strings.Contains(string(m.Error.Data), `"requestId":"req-9"`) {
		t.Errorf("more than was paid for: %+v", m)
	}
	if want := []string{"starknet_subscribeNewHeads", "starknet_subscribeTransactionStatus", "starknet_unsubscribe", "starknet_subscribeNewHeads"}; !slices.Equal(charged, want) {
		t.Errorf("charged for %v", charged)
	}
	c.write(`{"jsonrpc":`)
	c.wait("answer to what is not JSON", func() bool { m, ok := c.answers["null"]; return ok && m.Error != nil && m.Error.Code == -32700 })
}

func TestTooManySubscriptions(t *testing.T) {
	w := newWorld(t, setup{chain: small, limits: live.Limits{Subscriptions: 2, Watched: 1}})
	c := w.connect()
	c.subscribe("subscribeTransactionStatus", `["0x1"]`)
	if m := c.call("subscribeTransactionStatus", `["0x2"]`); m.Error == nil || m.Error.Code != -32005 || !strings.Contains(string(m.Error.Data), "local_saturation") {
		t.Errorf("too many transactions: %+v", m)
	}
	c.subscribe("subscribeTransactionStatus", `["0x1"]`)
	if m := c.call("subscribeNewHeads", `[]`); m.Error == nil || m.Error.Code != -32005 || !strings.Contains(string(m.Error.Data), "local_saturation") {
		t.Errorf("too many subscriptions: %+v", m)
	}
	c.call("unsubscribe", `["1"]`)
	c.subscribe("subscribeNewHeads", `[]`)
	c.write(`"` + strings.Repeat("x", 1<<20) + `"`)
	if code, _ := c.closed(); code != websocket.StatusMessageTooBig {
		t.Errorf("a large message: %d", code)
	}
}

// bubble runs a test on a clock of its own.
func bubble(t *testing.T, s setup, f func(t *testing.T, w *world)) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, s)
		w.patience = 3 * time.Hour // nobody waits
		f(t, w)
	})
}

func TestRevokedKeyIsCut(t *testing.T) {
	bubble(t, setup{chain: small}, func(t *testing.T, w *world) {
		c := w.connect()
		id := c.subscribe("subscribeNewHeads", `[]`)
		time.Sleep(10 * time.Second)
		revoked := func() error { return errors.New("revoked") }
		w.admit.Store(&revoked)
		began := time.Now()
		code, reason := c.closed()
		if code != live.CloseUnauthorized || reason == "" || time.Since(began) > time.Second {
			t.Errorf("closed with %d %q after %v", code, reason, time.Since(began))
		}
		w.chain.Extend(1)
		synctest.Wait()
		if len(c.got(id)) != 1 {
			t.Error("a head after the key was revoked")
		}
	})
}

func TestIdleAndLifetime(t *testing.T) {
	bubble(t, setup{chain: small, limits: live.Limits{Lifetime: time.Hour}}, func(t *testing.T, w *world) {
		began := time.Now()
		idle, asking, busy := w.connect(), w.connect(), w.connect()
		busy.subscribe("subscribeNewHeads", `[]`)
		time.Sleep(4 * time.Minute)
		asking.call("blockNumber", "[]")
		if code, reason := idle.closed(); code != websocket.StatusNormalClosure || !strings.Contains(reason, "idle") || time.Since(began).Round(time.Minute) != 5*time.Minute {
			t.Errorf("idle: %d %q after %v", code, reason, time.Since(began))
		}
		if asking.closed(); time.Since(began).Round(time.Minute) != 9*time.Minute {
			t.Errorf("the one that asked was closed after %v", time.Since(began))
		}
		if code, reason := busy.closed(); code != websocket.StatusNormalClosure || !strings.Contains(reason, "lifetime") || time.Since(began).Round(time.Minute) != time.Hour {
			t.Errorf("lifetime: %d %q after %v", code, reason, time.Since(began))
		}
	})
}

func TestShutdown(t *testing.T) {
	bubble(t, setup{chain: small}, func(t *testing.T, w *world) {
		c := w.connect()
		c.subscribe("subscribeNewHeads", `[]`)
		w.server.Close()
		if code, _ := c.closed(); code != websocket.StatusGoingAway {
			t.Errorf("closed with %d", code)
		}
		if w.server.Sessions() != 0 {
			t.Error("sessions are left")
		}
		if code, _ := w.connect().closed(); code != websocket.StatusGoingAway {
			t.Errorf("a late client: %d", code)
		}
	})
}

// A client that reads nothing is cut off when it does not take a message or answer a
// ping in time, or when too much waits for it, and nobody else notices.
func TestSlowConsumer(t *testing.T) {
	t.Run("queue", func(t *testing.T) {
		bubble(t, setup{chain: small, limits: live.Limits{QueueItems: 5, WriteTimeout: time.Hour}}, func(t *testing.T, w *world) {
			slow, quick := w.dial(w.front, false), w.connect()
			slow.write(`{"jsonrpc":"2.0","id":1,"method":"starknet_subscribeNewHeads"}`)
			id := quick.subscribe("subscribeNewHeads", `[]`)
			synctest.Wait() // the first answer is being written
			began := time.Now()
			for n := range 8 {
				w.chain.Extend(1)
				synctest.Wait()
				if got := len(quick.got(id)); got != n+2 {
					t.Fatalf("the other has %d heads after %d blocks", got, n+1)
				}
			}
			if time.Since(began) != 0 {
				t.Errorf("the other waited %v", time.Since(began))
			}
			time.Sleep(3 * time.Second)
			if n := w.server.Sessions(); n != 1 {
				t.Errorf("%d sessions: the slow one was not cut", n)
			}
		})
	})
	t.Run("told why", func(t *testing.T) {
		bubble(t, setup{chain: small, limits: live.Limits{QueueItems: 5, WriteTimeout: time.Hour}}, func(t *testing.T, w *world) {
			slow := w.dial(w.front, false)
			slow.write(`{"jsonrpc":"2.0","id":1,"method":"starknet_subscribeNewHeads"}`)
			synctest.Wait()
			for range 8 {
				w.chain.Extend(1)
				synctest.Wait()
			}
			go slow.read() // too late
			if code, reason := slow.closed(); code != live.CloseTooSlow || !strings.Contains(reason, "slow") {
				t.Errorf("closed with %d %q", code, reason)
			}
		})
	})
	t.Run("bytes", func(t *testing.T) {
		bubble(t, setup{chain: simnode.Config{Blocks: 10}, limits: live.Limits{QueueBytes: 1000, WriteTimeout: time.Hour}}, func(t *testing.T, w *world) {
			slow := w.dial(w.front, false)
			slow.write(`{"jsonrpc":"2.0","id":1,"method":"starknet_subscribeEvents"}`)
			synctest.Wait()
			w.chain.Extend(1)
			synctest.Wait()
			w.chain.Extend(1)
			time.Sleep(3 * time.Second)
			if n := w.server.Sessions(); n != 0 {
				t.Errorf("%d sessions: the slow one was not cut", n)
			}
		})
	})
	t.Run("write", func(t *testing.T) {
		bubble(t, setup{chain: small}, func(t *testing.T, w *world) {
			w.dial(w.front, false).write(`{"jsonrpc":"2.0","id":1,"method":"starknet_blockNumber"}`)
			time.Sleep(9 * time.Second)
			if n := w.server.Sessions(); n != 1 {
				t.Errorf("%d sessions", n)
			}
			time.Sleep(4 * time.Second)
			if n := w.server.Sessions(); n != 0 {
				t.Errorf("%d sessions: the one that does not read was not cut", n)
			}
		})
	})
	t.Run("ping", func(t *testing.T) {
		bubble(t, setup{chain: small}, func(t *testing.T, w *world) {
			w.dial(w.front, false)
			there := w.connect()
			time.Sleep(4 * time.Minute)
			if n := w.server.Sessions(); n != 1 {
				t.Errorf("%d sessions", n)
			}
			there.call("blockNumber", "[]")
		})
	})
}

// A block of any size reaches a client that reads, whatever the bound.
func TestOneBlockIsNeverTooMuch(t *testing.T) {
	w := newWorld(t, setup{chain: simnode.Config{Blocks: 10, TxPerBlock: 20}, limits: live.Limits{QueueBytes: 1, QueueItems: 1}})
	c := w.connect()
	id := c.subscribe("subscribeEvents", `[]`)
	w.settledEvents(c, id, 9)
	for n := uint64(10); n < 14; n++ {
		w.chain.Extend(1)
		w.settledEvents(c, id, n)
	}
}

// settledEvents waits for the events of the blocks from 9 to a number.
func (w *world) settledEvents(c *client, id string, number uint64) {
	w.t.Helper()
	want := len(w.chain.Events(simnode.EventFilter{From: 9, To: number}))
	c.wait(fmt.Sprintf("%d events", want), func() bool { return len(c.notes[id]) == want })
}

// Calls beyond a session's share are not read until one is answered, and none is lost.
func TestFloodOfCalls(t *testing.T) {
	gate := make(chan struct{})
	var running, most atomicMax
	w := newWorld(t, setup{chain: small, limits: live.Limits{Calls: 3}, client: func(c *live.Client) {
		answer := c.Answer
		c.Answer = func(ctx context.Context, body []byte) ([]byte, func()) {
			most.reach(running.add(1))
			defer running.add(-1)
			select {
			case <-gate:
			case <-ctx.Done():
			}
			return answer(ctx, body)
		}
	}})
	c := w.connect()
	go func() {
		for i := range 50 {
			text := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"starknet_blockNumber"}`, i)
			if c.conn.Write(context.Background(), websocket.MessageText, []byte(text)) != nil {
				return
			}
		}
	}()
	until(t, "three calls at work", func() bool { return running.load() == 3 })
	close(gate)
	c.wait("all answers", func() bool { return len(c.answers) == 50 })
	if got := most.load(); got != 3 {
		t.Errorf("%d calls at once", got)
	}
}

// What a client asked for is not worked on when its session is over, even while it does
// not take the close frame.
func TestCallsEndWithTheSession(t *testing.T) {
	ended := make(chan time.Time, 1)
	begun := make(chan struct{})
	bubble(t, setup{chain: small, client: func(c *live.Client) {
		c.Answer = func(ctx context.Context, _ []byte) ([]byte, func()) {
			close(begun)
			<-ctx.Done()
			ended <- time.Now()
			return nil, nil
		}
	}}, func(t *testing.T, w *world) {
		ended, begun = make(chan time.Time, 1), make(chan struct{})
		w.dial(w.front, false).write(`{"jsonrpc":"2.0","id":1,"method":"starknet_call"}`)
		<-begun
		revoked := func() error { return errors.New("revoked") }
		w.admit.Store(&revoked)
		began := time.Now()
		if d := (<-ended).Sub(began); d > 500*time.Millisecond {
			t.Errorf("the call went on for %v", d)
		}
	})
}

// A server that nobody subscribes to asks nothing, and stops asking when they leave.
func TestHubsComeAndGo(t *testing.T) {
	reg := prometheus.NewRegistry()
	// heads is how many versions the metrics know the head of, and the sum of them.
	heads := func() (n int, sum float64) {
		all, err := reg.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range all {
			for _, m := range f.GetMetric() {
				if f.GetName() == "chainexplorer_rpc_ws_feed_head" {
					n, sum = n+1, sum+m.GetGauge().GetValue()
				}
			}
		}
		return n, sum
	}
	bubble(t, setup{chain: small, metrics: live.NewMetrics(reg)}, func(t *testing.T, w *world) {
		c := w.connect()
		c.call("blockNumber", "[]")
		w.chain.Extend(1)
		synctest.Wait()
		if n := w.fetches.Load(); n != 0 {
			t.Errorf("%d reads without a subscription", n)
		}
		id := c.subscribe("subscribeNewHeads", `[]`)
		w.chain.Extend(1)
		synctest.Wait()
		if n, sum := heads(); n != 1 || sum != 11 {
			t.Errorf("metrics of %d versions, heads %v", n, sum)
		}
		c.call("unsubscribe", `["`+id+`"]`)
		time.Sleep(time.Minute)
		if n, sum := heads(); n != 0 {
			t.Errorf("a head that nobody follows: %v", sum)
		}
		before := w.fetches.Load()
		w.chain.Extend(5)
		synctest.Wait()
		if n := w.fetches.Load(); n != before {
			t.Errorf("%d reads after the last subscription", n-before)
		}
		id = c.subscribe("subscribeNewHeads", `[]`)
		w.chain.Extend(1)
		synctest.Wait()
		if got := numbers(c.got(id)); !slices.Equal(got, []int{16, 17}) {
			t.Errorf("heads %v", got)
		}
	})
}

// Without a chain to read a subscription is refused in time, and it comes to life when
// there is one.
func TestNoChain(t *testing.T) {
	bubble(t, setup{chain: small}, func(t *testing.T, w *world) {
		down := func(context.Context, string, string) (json.RawMessage, int, error, bool) {
			return nil, 0, errors.New("down"), true
		}
		w.trouble.Store(&down)
		c := w.connect()
		began := time.Now()
		if m := c.call("subscribeNewHeads", `[]`); m.Error == nil || m.Error.Code != -32005 || !strings.Contains(string(m.Error.Data), "upstream_unavailable") {
			t.Errorf("subscribed to nothing: %+v", m)
		}
		if d := time.Since(began); d != 10*time.Second {
			t.Errorf("refused after %v", d)
		}
		if n := w.fetches.Load(); n > 60 {
			t.Errorf("%d reads in ten seconds", n)
		}
		w.trouble.Store(nil)
		if got := len(c.got(c.subscribe("subscribeNewHeads", `[]`))); got > 1 {
			t.Errorf("%d heads", got)
		}
	})
}
