package live_test

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"chainexplorer/internal/gateway/live"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/starknet"
)

// unreliable makes reads fail in every way, by chance.
func (w *world) unreliable(seed uint64) {
	var mu sync.Mutex
	r := rand.New(rand.NewPCG(seed, 1))
	chance := func() (float64, int) {
		mu.Lock()
		defer mu.Unlock()
		return r.Float64(), r.IntN(1000)
	}
	f := func(ctx context.Context, method, params string) (json.RawMessage, int, error, bool) {
		p, n := chance()
		ask := func(params string) string {
			text := w.ask(ctx, []byte(`{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":`+params+`}`))
			var m message
			json.Unmarshal(text, &m) //nolint:errcheck // then it has no result
			return string(m.Result)
		}
		switch {
		case p < 0.1:
			return nil, 0, errors.New("connection reset"), true
		case p < 0.13:
			<-ctx.Done() // it hangs
			return nil, 0, ctx.Err(), true
		case p < 0.2:
			return nil, 24, nil, true // it lags
		case p < 0.25:
			return nil, -32603, nil, true
		case p < 0.3: // truncated
			text := ask(params)
			return json.RawMessage(text[:len(text)*n/1000]), 0, nil, true
		case p < 0.35: // another block
			return json.RawMessage(ask(`{"block_id":{"block_number":7}}`)), 0, nil, true
		case p < 0.4: // another parent
			return json.RawMessage(otherParent(ask(params))), 0, nil, true
		}
		return nil, 0, nil, false
	}
	w.trouble.Store(&f)
}

var parentHash = regexp.MustCompile(`"parent_hash":"0x[0-9a-f]+"`)

func otherParent(block string) string {
	return parentHash.ReplaceAllString(block, `"parent_hash":"0x1234"`)
}

// Whatever the reads do, a subscription gets what it should, once and in order.
func TestUnreliableReads(t *testing.T) {
	for _, version := range []starknet.SpecVersion{starknet.V08, starknet.V010} {
		t.Run(version.String(), func(t *testing.T) {
			config := simnode.Config{Seed: 3, Blocks: 60, TxPerBlock: 1, L1Lag: -1}
			bubble(t, setup{version: version, chain: config, limits: live.Limits{Shorter: 1}}, func(t *testing.T, w *world) {
				w.unreliable(uint64(version))
				mine, node := w.connect(), w.direct()
				asks := w.asks(version)
				for i := range asks {
					a := &asks[i]
					// A read of the start may fail; that is told, and asked again.
					for a.here == "" {
						if m := mine.call(a.method, a.params); m.Error == nil {
							a.here = strings.Trim(string(m.Result), `"`)
						} else if m.Error.Code != -32005 && m.Error.Code != 24 {
							t.Fatalf("%s: %+v", a.method, m.Error)
						}
					}
					a.there = node.subscribe(a.method, a.params)
					mine.wait("start of "+a.method, func() bool { return len(mine.notes[a.here]) >= a.first })
					node.wait("start of "+a.method, func() bool { return len(node.notes[a.there]) >= a.first })
				}
				for _, step := range []func(){
					func() { w.chain.Extend(4) }, func() { w.chain.Fork(3) }, func() { w.chain.Fork(30) },
					func() { w.chain.Truncate(2) }, func() { w.chain.Extend(3) }, func() { w.chain.Extend(1) },
				} {
					step()
					w.settled(mine, asks[0].here)
					for _, a := range asks {
						same(t, a.method+" "+a.params, mine, a.here, node, a.there)
					}
				}
			})
		})
	}
}

// When the nodes that were further are away, nothing is taken back; when a fork has
// others in their place, it is told at once.
func TestLaggingNodes(t *testing.T) {
	bubble(t, setup{chain: small}, func(t *testing.T, w *world) {
		c := w.connect()
		id := c.subscribe("subscribeNewHeads", `[{"block_number":7}]`)
		synctest.Wait()
		w.chain.Truncate(2) // to who reads it, a chain that lags
		time.Sleep(10 * time.Second)
		if got := numbers(c.got(id)); !slices.Equal(got, []int{7, 8, 9}) {
			t.Errorf("heads %v", got)
		}
		w.chain.Extend(1)
		time.Sleep(time.Second)
		if got := numbers(c.got(id)); !slices.Equal(got, []int{7, 8, 9, -8, 8}) {
			t.Errorf("heads %v after a fork", got)
		}
		w.chain.Truncate(3)
		time.Sleep(40 * time.Second)
		if got := numbers(c.got(id)); !slices.Equal(got, []int{7, 8, 9, -8, 8, -6}) {
			t.Errorf("heads %v when blocks stay away", got)
		}
		w.chain.Extend(2)
		time.Sleep(time.Second)
		if got := numbers(c.got(id)); !slices.Equal(got, []int{7, 8, 9, -8, 8, -6, 6, 7}) {
			t.Errorf("heads %v at the end", got)
		}
	})
}

// A client that comes back and names the block after its last has what one has that
// stayed, through blocks and forks that it has not seen.
func TestResume(t *testing.T) {
	for _, version := range versions {
		config := simnode.Config{Seed: 5, Blocks: 200, TxPerBlock: 1, L1Lag: -1}
		bubble(t, setup{version: version, chain: config}, func(t *testing.T, w *world) {
			stayed, left := w.connect(), w.connect()
			ids := map[string]string{"subscribeNewHeads": "", "subscribeEvents": ""}
			for method := range ids {
				ids[method] = stayed.subscribe(method, `{"block_id":{"block_number":100}}`)
			}
			w.chain.Extend(3)
			synctest.Wait()
			first := left.subscribe("subscribeEvents", `{"block_id":{"block_number":100}}`)
			heads := left.subscribe("subscribeNewHeads", `{"block_id":{"block_number":100}}`)
			synctest.Wait()
			left.conn.CloseNow() //nolint:errcheck
			w.chain.Extend(5)
			w.chain.Fork(3) // none that it has seen
			w.chain.Extend(2)
			synctest.Wait()
			again := w.connect()
			for method, before := range map[string]string{"subscribeEvents": first, "subscribeNewHeads": heads} {
				id := again.subscribe(method, `{"block_id":{"block_number":203}}`)
				synctest.Wait()
				w.chain.Extend(1)
				synctest.Wait()
				got := append(slices.Clone(left.got(before)), again.got(id)...)
				var want []note
				all := stayed.got(ids[method])
				for i, n := range all {
					// Forks took some of it back: what stayed without forks counts.
					if n.Method != "starknet_subscriptionReorg" && !takenBack(n, all[i+1:]) {
						want = append(want, n)
					}
				}
				if len(got) != len(want) || len(got) == 0 {
					t.Fatalf("%s: %s: %d notifications, the one that stayed got %d", version, method, len(got), len(want))
				}
				for i := range got {
					if !jsonEqual(got[i], want[i]) {
						t.Fatalf("%s: %s: notification %d is %.300v, the one that stayed got %.300v", version, method, i, got[i], want[i])
					}
				}
			}
		})
	}
}

func jsonEqual(a, b note) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return string(x) == string(y)
}

// takenBack says whether a later fork took back the block of a notification.
func takenBack(n note, later []note) bool {
	number := n.Result.(map[string]any)["block_number"].(float64)
	return slices.ContainsFunc(later, func(l note) bool {
		r := l.Result.(map[string]any)
		return l.Method == "starknet_subscriptionReorg" && r["starting_block_number"].(float64) <= number && number <= r["ending_block_number"].(float64)
	})
}

// A fork below all that the server knows, while a replay is on its way, is found by
// the replay itself.
func TestForkUnderAReplay(t *testing.T) {
	bubble(t, setup{chain: simnode.Config{Blocks: 300, TxPerBlock: -1}, limits: live.Limits{Backfill: 4}}, func(t *testing.T, w *world) {
		c := w.dial(w.front, false)
		c.write(`{"jsonrpc":"2.0","id":1,"method":"starknet_subscribeNewHeads","params":[{"block_number":100}]}`)
		read := func(n int) { // takes some messages and no more
			for range n {
				_, text, err := c.conn.Read(context.Background())
				if err != nil {
					t.Fatal(err)
				}
				if err := c.take(text); err != nil {
					t.Fatal(err)
				}
			}
		}
		read(51)
		synctest.Wait()
		w.chain.Fork(180) // of block 120 and all after it
		read(10)
		go c.read()
		w.chain.Extend(1)
		c.wait("the head", func() bool {
			list := numbers(c.notes["1"])
			return list[len(list)-1] == 300
		})
		got := numbers(c.got("1"))
		back := slices.IndexFunc(got, func(n int) bool { return n < 0 })
		if back < 50 || got[back] != -120 {
			t.Fatalf("the fork is told as %v", got[max(back, 0):][:3])
		}
		for i, n := range got[back+1:] {
			if n != 120+i {
				t.Fatalf("after the fork comes %v", got[back+1:])
			}
		}
		last := c.got("1")
		for _, n := range last[back+1:] {
			r := n.Result.(map[string]any)
			if b := w.chain.BlockAt(uint64(r["block_number"].(float64))); b.Hash.String() != r["block_hash"] {
				t.Fatalf("block %d is not the chain's", b.Number)
			}
		}
	})
}

// Many who come at the same time cost the nodes what one does.
func TestReadsAreShared(t *testing.T) {
	bubble(t, setup{chain: simnode.Config{Blocks: 100, TxPerBlock: 1}}, func(t *testing.T, w *world) {
		var clients []*client
		for range 20 {
			clients = append(clients, w.connect())
		}
		for _, c := range clients {
			c.subscribe("subscribeNewHeads", `[{"block_number":50}]`)
			c.subscribe("subscribeEvents", `{"block_id":{"block_number":90}}`)
		}
		synctest.Wait()
		start := w.fetches.Load()
		if start > 200 {
			t.Errorf("%d reads for one replay of 50 headers and one of 10 blocks", start)
		}
		w.chain.Extend(10)
		synctest.Wait()
		if n := w.fetches.Load() - start; n != 10 {
			t.Errorf("%d reads for 10 blocks", n)
		}
		for _, c := range clients {
			if got := len(c.got("1")); got != 60 {
				t.Errorf("%d heads", got)
			}
		}
	})
}

// A replay goes at the pace of its client, which is not too slow for that.
func TestReplayWaitsForItsClient(t *testing.T) {
	bubble(t, setup{chain: simnode.Config{Blocks: 300, TxPerBlock: -1}, limits: live.Limits{QueueItems: 4, WriteTimeout: time.Hour}}, func(t *testing.T, w *world) {
		c := w.dial(w.front, false)
		c.write(`{"jsonrpc":"2.0","id":1,"method":"starknet_subscribeNewHeads","params":[{"block_number":0}]}`)
		time.Sleep(10 * time.Second)
		go c.read()
		w.chain.Extend(1)
		c.wait("all heads", func() bool { return len(c.notes["1"]) == 301 })
		for i, n := range numbers(c.got("1")) {
			if n != i {
				t.Fatalf("head %d at place %d", n, i)
			}
		}
	})
}

// A client may know of a block before the server does.
func TestSubscribeAhead(t *testing.T) {
	bubble(t, setup{chain: small}, func(t *testing.T, w *world) {
		c := w.connect()
		first := c.subscribe("subscribeNewHeads", `[]`)
		w.deaf.Store(true)
		synctest.Wait()
		w.chain.Extend(3)
		ahead := c.subscribe("subscribeNewHeads", `[{"block_number":12}]`)
		if m := c.call("subscribeNewHeads", `[{"block_number":13}]`); m.Error == nil || m.Error.Code != 24 {
			t.Errorf("a block that nobody has: %+v", m)
		}
		synctest.Wait()
		w.deaf.Store(false)
		w.chain.Extend(1)
		synctest.Wait()
		if got := numbers(c.got(first)); !slices.Equal(got, []int{9, 10, 11, 12, 13}) {
			t.Errorf("heads %v", got)
		}
		if got := numbers(c.got(ahead)); !slices.Equal(got, []int{12, 13}) {
			t.Errorf("heads %v from 12 on", got)
		}
	})
}

// A block that names another parent while the one before it cannot be found is no
// evidence of a fork; it is asked for again, with patience.
func TestWrongParentIsNoFork(t *testing.T) {
	bubble(t, setup{chain: small}, func(t *testing.T, w *world) {
		c := w.connect()
		id := c.subscribe("subscribeNewHeads", `[]`)
		synctest.Wait()
		for _, lost := range []bool{true, false} {
			f := func(ctx context.Context, method, params string) (json.RawMessage, int, error, bool) {
				if strings.Contains(params, `:9}`) && lost {
					return nil, 24, nil, true
				}
				if !strings.Contains(params, `:10}`) {
					return nil, 0, nil, false
				}
				var m message
				text := w.ask(ctx, []byte(`{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":`+params+`}`))
				json.Unmarshal(text, &m) //nolint:errcheck // then it has no result
				return json.RawMessage(otherParent(string(m.Result))), 0, nil, true
			}
			w.trouble.Store(&f)
			if lost {
				w.chain.Extend(1)
			}
			before := w.fetches.Load()
			time.Sleep(time.Minute)
			if n := w.fetches.Load() - before; n > 100 {
				t.Errorf("%d reads in a minute", n)
			}
			if got := numbers(c.got(id)); !slices.Equal(got, []int{9}) {
				t.Errorf("heads %v", got)
			}
		}
		w.trouble.Store(nil)
		time.Sleep(10 * time.Second)
		if got := numbers(c.got(id)); !slices.Equal(got, []int{9, 10}) {
			t.Errorf("heads %v", got)
		}
	})
}

// Who subscribes to events while a header is on its way gets the events of its block.
func TestMoreIsWantedMeanwhile(t *testing.T) {
	bubble(t, setup{chain: simnode.Config{Blocks: 10, TxPerBlock: 4}}, func(t *testing.T, w *world) {
		c := w.connect()
		heads := c.subscribe("subscribeNewHeads", `[]`)
		synctest.Wait()
		gate := make(chan struct{})
		f := func(_ context.Context, method, params string) (json.RawMessage, int, error, bool) {
			if method == "starknet_getBlockWithTxHashes" && strings.Contains(params, `:10}`) {
				<-gate
			}
			return nil, 0, nil, false
		}
		w.trouble.Store(&f)
		w.chain.Extend(1)
		synctest.Wait()
		events := c.subscribe("subscribeEvents", `[]`)
		synctest.Wait()
		close(gate)
		w.settledEvents(c, events, 10)
		synctest.Wait() // the head may come behind the last event
		if got := numbers(c.got(heads)); !slices.Equal(got, []int{9, 10}) {
			t.Errorf("heads %v", got)
		}
	})
}

// A block of a branch that is gone is not given, though a node still has it.
func TestStaleBlock(t *testing.T) {
	bubble(t, setup{chain: simnode.Config{Blocks: 10, TxPerBlock: 4}}, func(t *testing.T, w *world) {
		c := w.connect()
		c.subscribe("subscribeNewHeads", `[]`)
		synctest.Wait()
		w.node.Faults().Set(simnode.Fault{Kind: simnode.FaultStale, Method: "starknet_getBlockWithReceipts"})
		w.chain.Fork(1)
		synctest.Wait()
		id := c.subscribe("subscribeEvents", `[]`)
		time.Sleep(time.Minute)
		if got := c.got(id); len(got) != 0 {
			t.Errorf("%d events of a block that is gone", len(got))
		}
		w.node.Faults().Clear()
		w.settledEvents(c, id, 9)
		for _, n := range c.got(id) {
			if hash := w.chain.BlockAt(9).Hash.String(); n.Result.(map[string]any)["block_hash"] != hash {
				t.Fatalf("an event of %v", n.Result)
			}
		}
	})
}
