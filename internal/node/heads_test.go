package node

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

func withSockets(c *Config) {
	for i := range c.Nodes {
		c.Nodes[i].WebSocketURL = "ws" + c.Nodes[i].URL[len("http"):]
	}
}

func expectHead(t *testing.T, heads <-chan Head, number uint64, hash string) Head {
	t.Helper()
	synctest.Wait()
	select {
	case h, ok := <-heads:
		if !ok || h.Number != number || h.Hash.String() != hash {
			t.Fatalf("head %+v, want %d %s", h, number, hash)
		}
		return h
	default:
		t.Fatalf("no head, want %d", number)
		return Head{}
	}
}

func expectNone(t *testing.T, heads <-chan Head) {
	t.Helper()
	synctest.Wait()
	select {
	case h, ok := <-heads:
		t.Fatalf("unexpected head %+v (open %v)", h, ok)
	default:
	}
}

func TestHeadsByPolling(t *testing.T) {
	bubble(t, func(t *testing.T, pn *pipeNet) {
		a, b := newNode(t, pn, "a", 20), newNode(t, pn, "b", 19)
		p := open(t, pn, nil, a, b)
		ctx, cancel := context.WithCancel(t.Context())
		heads := p.Heads(ctx)
		expectHead(t, heads, 20, a.blockHash(20))
		expectNone(t, heads)
		b.set(func(f *fakeNode) { f.head = 21 })
		time.Sleep(time.Second)
		if h := expectHead(t, heads, 21, b.blockHash(21)); h.Node != "http://b" {
			t.Errorf("head from %s", h.Node)
		}
		time.Sleep(10 * time.Second)
		expectNone(t, heads)
		// A slow receiver finds the newest only.
		for i := range 5 {
			a.set(func(f *fakeNode) { f.head = 30 + uint64(i) })
			time.Sleep(2 * time.Second)
		}
		expectHead(t, heads, 34, a.blockHash(34))
		expectNone(t, heads)
		// Going back is a change, and so is another hash at the same height.
		for _, f := range []*fakeNode{a, b} {
			f.set(func(f *fakeNode) { f.head = 25 })
		}
		time.Sleep(2 * time.Second)
		expectHead(t, heads, 25, a.blockHash(25))
		a.set(func(f *fakeNode) { f.hash = 7 })
		time.Sleep(2 * time.Second)
		expectHead(t, heads, 25, a.blockHash(25))
		cancel()
		synctest.Wait()
		if _, open := <-heads; open {
			t.Error("channel is open after the end")
		}
	})
}

func TestHeadsBySubscription(t *testing.T) {
	bubble(t, func(t *testing.T, pn *pipeNet) {
		a := newNode(t, pn, "a", 20)
		p := open(t, pn, withSockets, a)
		heads := p.Heads(t.Context())
		conn := <-a.sockets
		expectHead(t, heads, 20, a.blockHash(20))
		if !p.Statuses()[0].Live {
			t.Fatal("not live")
		}
		for n := uint64(21); n < 24; n++ { // no time passes: nothing was polled
			a.set(func(f *fakeNode) { f.head = n })
			push(t, conn, "starknet_subscriptionNewHeads", a.headJSON(n))
			expectHead(t, heads, n, a.blockHash(n))
		}
		push(t, conn, "starknet_subscriptionSomethingNew", `{}`)
		expectNone(t, heads)

		// A reorganisation is told at once, and the new head asked for.
		a.set(func(f *fakeNode) { f.head, f.hash = 22, 100 })
		push(t, conn, "starknet_subscriptionReorg",
			`{"starting_block_hash":"0x1","starting_block_number":21,"ending_block_hash":"0x2","ending_block_number":23}`)
		expectHead(t, heads, 22, a.blockHash(22))
		expectNone(t, heads)

		// While it stands, the node is only looked at for its health.
		before := a.count("starknet_blockHashAndNumber")
		time.Sleep(50 * time.Second)
		if n := a.count("starknet_blockHashAndNumber") - before; n > 11 {
			t.Errorf("polled %d times in 50 s", n)
		}
	})
}

func TestReorgIsToldThoughTheHeadIsUnknown(t *testing.T) {
	bubble(t, func(t *testing.T, pn *pipeNet) {
		a := newNode(t, pn, "a", 20)
		p := open(t, pn, withSockets, a)
		heads := p.Heads(t.Context())
		conn := <-a.sockets
		expectHead(t, heads, 20, a.blockHash(20))
		a.set(func(f *fakeNode) {
			f.answer = func(c wireCall) string { return no(c, CodeInternal) }
		})
		push(t, conn, "starknet_subscriptionReorg", `{"starting_block_number":18,"ending_block_number":20}`)
		expectHead(t, heads, 17, "0x0")
	})
}

// Followers learn of a reorganisation even if another node is further.
func TestReorgOfALowerNodeIsTold(t *testing.T) {
	bubble(t, func(t *testing.T, pn *pipeNet) {
		a, b := newNode(t, pn, "a", 20), newNode(t, pn, "b", 30)
		p := open(t, pn, func(c *Config) { c.Nodes[0].WebSocketURL = "ws://a/ws" }, a, b)
		heads := p.Heads(t.Context())
		conn := <-a.sockets
		expectHead(t, heads, 30, b.blockHash(30))
		push(t, conn, "starknet_subscriptionReorg", `{"starting_block_number":18,"ending_block_number":20}`)
		expectHead(t, heads, 30, b.blockHash(30))
	})
}

// An answer that was under way while a newer head was pushed is old news.
func TestOvertakenPollIsDropped(t *testing.T) {
	bubble(t, func(t *testing.T, pn *pipeNet) {
		a := newNode(t, pn, "a", 20)
		p := open(t, pn, withSockets, a)
		heads := p.Heads(t.Context())
		conn := <-a.sockets
		expectHead(t, heads, 20, a.blockHash(20))
		hold := make(chan struct{})
		a.set(func(f *fakeNode) { f.hold = hold })
		time.Sleep(5 * time.Second)
		synctest.Wait() // a look at the head is under way, and held
		pushHead(t, conn, a, 21)
		expectHead(t, heads, 21, a.blockHash(21))
		close(hold)
		expectNone(t, heads)
	})
}

func TestSubscriptionDropsAndComesBack(t *testing.T) {
	bubble(t, func(t *testing.T, pn *pipeNet) {
		a := newNode(t, pn, "a", 20)
		p := open(t, pn, withSockets, a)
		heads := p.Heads(t.Context())
		conn := <-a.sockets
		expectHead(t, heads, 20, a.blockHash(20))

		a.set(func(f *fakeNode) { f.refuseWS = true })
		conn.CloseNow()
		synctest.Wait()
		if p.Statuses()[0].Live {
			t.Fatal("live without a connection")
		}
		for n := uint64(21); n < 26; n++ { // polling takes over
			a.set(func(f *fakeNode) { f.head = n })
			time.Sleep(time.Second)
			expectHead(t, heads, n, a.blockHash(n))
		}
		time.Sleep(time.Minute)
		a.set(func(f *fakeNode) {
			if f.wsRefused < 5 || f.wsRefused > 40 {
				t.Errorf("%d tries in a minute", f.wsRefused)
			}
			f.refuseWS = false
		})
		conn = <-a.sockets
		synctest.Wait()
		pushHead(t, conn, a, 26)
		expectHead(t, heads, 26, a.blockHash(26))
	})
}

func TestBrokenSubscriptionsEnd(t *testing.T) {
	for name, msg := range map[string]string{
		"not JSON":  `{`,
		"no number": `{"method":"starknet_subscriptionNewHeads","params":{"result":{"block_hash":"0x1"}}}`,
		"bad hash":  `{"method":"starknet_subscriptionNewHeads","params":{"result":{"block_hash":"zz","block_number":1}}}`,
		"bad reorg": `{"method":"starknet_subscriptionReorg","params":{"result":{}}}`,
		"refused":   `{"id":1,"error":{"code":-32601,"message":"no"}}`,
		"too long":  fmt.Sprintf(`{"method":"x","a":"%0*d"}`, maxMessageBytes, 0),
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, pn *pipeNet) {
				a := newNode(t, pn, "a", 20)
				p := open(t, pn, withSockets, a)
				heads := p.Heads(t.Context())
				conn := <-a.sockets
				expectHead(t, heads, 20, a.blockHash(20))
				conn.Write(t.Context(), 1, []byte(msg)) //nolint:errcheck // the reader may hang up in the middle
				<-a.sockets                             // it connected again
				expectNone(t, heads)
				if h, err := p.Head(t.Context()); err != nil || h.Number != 20 {
					t.Errorf("%+v, %v", h, err)
				}
			})
		})
	}
}

// A connection that is open but says nothing is not trusted for ever.
func TestSilentSubscriptionIsReplaced(t *testing.T) {
	bubble(t, func(t *testing.T, pn *pipeNet) {
		a := newNode(t, pn, "a", 20)
		p := open(t, pn, withSockets, a)
		heads := p.Heads(t.Context())
		<-a.sockets
		expectHead(t, heads, 20, a.blockHash(20))
		a.set(func(f *fakeNode) { f.head = 21 })
		time.Sleep(5 * time.Second) // the look at its health finds it meanwhile
		expectHead(t, heads, 21, a.blockHash(21))
		if took := elapsed(func() { <-a.sockets }); took > time.Minute {
			t.Errorf("connected again after %s", took)
		}
	})
}

func TestUnansweredPingEndsTheSubscription(t *testing.T) {
	bubble(t, func(t *testing.T, pn *pipeNet) {
		a := newNode(t, pn, "a", 20)
		a.deaf = true
		p := open(t, pn, func(c *Config) { withSockets(c); c.WebSocketIdle = time.Hour }, a)
		p.Heads(t.Context())
		<-a.sockets
		if took := elapsed(func() { <-a.sockets }); took > 31*time.Second {
			t.Errorf("connected again after %s", took)
		}
	})
}

func TestCloseEndsFollowers(t *testing.T) {
	bubble(t, func(t *testing.T, pn *pipeNet) {
		a := newNode(t, pn, "a", 20)
		p := open(t, pn, withSockets, a)
		heads, more := p.Heads(t.Context()), p.Heads(t.Context())
		<-a.sockets
		p.Close()
		for _, ch := range []<-chan Head{heads, more, p.Heads(t.Context())} {
			for range ch { //nolint:revive // until it is closed
			}
		}
		p.Close()
	})
}
