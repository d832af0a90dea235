package node

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// claiming makes a node tell a head that is so much higher than what it has.
func claiming(f *fakeNode, more uint64) {
	f.set(func(f *fakeNode) {
		f.answer = func(c wireCall) string {
			if c.Method == "starknet_blockHashAndNumber" {
				return ok(c, f.headJSON(f.head+more))
			}
			return ""
		}
	})
}

// A head that a node cannot show counts for nothing, and the node goes into
// quarantine when it says so again and again.
func TestClaimedHeadIsNotBelieved(t *testing.T) {
	for name, more := range map[string]uint64{"a thousand more": 1000, "eleven more": 11} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, pn *pipeNet) {
				liar, honest := newNode(t, pn, "liar", 30), newNode(t, pn, "honest", 30)
				claiming(liar, more)
				p := open(t, pn, nil, liar, honest)
				for range 60 {
					if h, err := p.Head(t.Context()); err != nil || h.Number != 30 {
						t.Fatalf("head %+v, %v", h, err)
					}
					if h := p.Health(); h.Head.Number != 30 || h.Nodes[0].Head.Number > 30 {
						t.Fatalf("%+v", h)
					}
					// Whoever has all that there is may say that there is no more.
					if _, err := p.BlockWithUpdate(t.Context(), 31); !IsNotFound(err) {
						t.Fatal(err)
					}
					time.Sleep(time.Second)
				}
				s := p.Statuses()[0]
				if s.QuarantinedUntil.IsZero() || !strings.Contains(s.Quarantine, "head is block") || s.Usable() {
					t.Errorf("%+v", s)
				}
				if until := time.Until(s.QuarantinedUntil); until > time.Minute {
					t.Errorf("in quarantine for %s", until)
				}
				liar.set(func(f *fakeNode) { f.answer, f.head = nil, 31 })
				time.Sleep(3 * time.Minute)
				if h, err := p.Head(t.Context()); err != nil || h.Number != 31 || !p.Statuses()[0].Usable() {
					t.Errorf("a node that mended its ways: %+v, %v, %+v", h, err, p.Statuses()[0])
				}
			})
		})
	}
}

// What no chain can have is a false answer at once.
func TestImpossibleHeadIsRefusedAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T, pn *pipeNet) {
		liar, honest := newNode(t, pn, "liar", 30), newNode(t, pn, "honest", 30)
		liar.answer = func(c wireCall) string {
			if c.Method == "starknet_blockHashAndNumber" {
				return ok(c, `{"block_hash":"0x1","block_number":18446744073709551615}`)
			}
			return ""
		}
		p := open(t, pn, nil, liar, honest)
		if s := p.Statuses()[0]; s.Usable() || s.QuarantinedUntil.IsZero() || !s.HeardAt.IsZero() {
			t.Errorf("%+v", s)
		}
		if h, err := p.Head(t.Context()); err != nil || h.Number != 30 {
			t.Errorf("%+v, %v", h, err)
		}
	})
}

// A balancer in front of nodes that are a few blocks apart tells a head from one
// of them and denies its block from another: it keeps its head and its good name.
func TestBalancedNodesAreNotBlamed(t *testing.T) {
	bubble(t, func(t *testing.T, pn *pipeNet) {
		a, b := newNode(t, pn, "a", 30), newNode(t, pn, "b", 20)
		claiming(a, 8) // from the node that is ahead; all else from one that is behind
		p := open(t, pn, nil, a, b)
		for range 100 {
			if h, err := p.Head(t.Context()); err != nil || h.Number != 28 {
				t.Fatalf("%+v, %v", h, err)
			}
			time.Sleep(time.Second)
		}
		if s := p.Statuses()[0]; !s.Usable() || !s.QuarantinedUntil.IsZero() {
			t.Errorf("%+v", s)
		}
	})
}

// A head that goes back between two questions is a fork, and no lie.
func TestHeadThatSinksIsNoLie(t *testing.T) {
	bubble(t, func(t *testing.T, pn *pipeNet) {
		a, b := newNode(t, pn, "a", 90), newNode(t, pn, "b", 20)
		p := open(t, pn, nil, a, b)
		for round := range 40 {
			low := uint64(30 + round%2*50)
			sunk := false
			a.set(func(f *fakeNode) {
				f.head = 100 + uint64(round)
				f.answer = func(c wireCall) string {
					if c.Method == "starknet_getBlockTransactionCount" && !sunk {
						sunk, f.head = true, low
					}
					return ""
				}
			})
			time.Sleep(6 * time.Second)
			if h, err := p.Head(t.Context()); err != nil || h.Number != low {
				t.Fatalf("%+v, %v, want %d", h, err, low)
			}
		}
		if s := p.Statuses()[0]; !s.Usable() || !s.QuarantinedUntil.IsZero() {
			t.Errorf("%+v", s)
		}
	})
}

// A node that denies blocks that it shows goes into quarantine: at once far below
// its head, after a while near to it.
func TestDeniedBlocksAreFalseAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		from  uint64
		after time.Duration
	}{"far below": {5, 30 * time.Second}, "near": {58, 3 * time.Minute}} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, pn *pipeNet) {
				liar, honest := newNode(t, pn, "liar", 60), newNode(t, pn, "honest", 60)
				liar.set(func(f *fakeNode) {
					f.answer = func(w wireCall) string {
						if w.Method == "starknet_getBlockWithReceipts" || w.Method == "starknet_getStateUpdate" {
							return no(w, CodeBlockNotFound)
						}
						return ""
					}
				})
				p := open(t, pn, nil, liar, honest)
				begin := time.Now()
				for p.Statuses()[0].QuarantinedUntil.IsZero() {
					if time.Since(begin) > c.after {
						t.Fatal("it is believed")
					}
					if raw, err := p.BlockWithUpdate(t.Context(), c.from); err != nil || raw.Node != "http://honest" {
						t.Fatalf("%s, %v", raw.Node, err)
					}
					time.Sleep(2 * time.Second)
				}
				if name == "near" && time.Since(begin) < doubtTime {
					t.Errorf("blamed after %s", time.Since(begin))
				}
			})
		})
	}
}

// Some blocks that are missing for a moment are no reason.
func TestDenialsThatPassAreForgiven(t *testing.T) {
	bubble(t, func(t *testing.T, pn *pipeNet) {
		a := newNode(t, pn, "a", 60)
		p := open(t, pn, nil, a, newNode(t, pn, "b", 20))
		for range 50 {
			a.set(func(f *fakeNode) { f.fault = first(len(f.posts)+2, text(denial)) })
			if _, err := p.BlockWithUpdate(t.Context(), 58); err != nil {
				t.Fatal(err)
			}
			time.Sleep(5 * time.Second)
		}
		if s := p.Statuses()[0]; !s.QuarantinedUntil.IsZero() {
			t.Errorf("%+v", s)
		}
	})
}

const denial = `[{"jsonrpc":"2.0","id":1,"error":{"code":24,"message":"no"}},{"jsonrpc":"2.0","id":2,"error":{"code":24,"message":"no"}}]`

// A single node that cannot show its head has none.
func TestOnlyNodeMustShowItsHead(t *testing.T) {
	bubble(t, func(t *testing.T, pn *pipeNet) {
		a := newNode(t, pn, "a", 30)
		claiming(a, 1000)
		p := open(t, pn, nil, a)
		if _, err := p.Head(t.Context()); !errors.Is(err, errUnshown) {
			t.Errorf("%v", err)
		}
		time.Sleep(time.Minute)
		if s := p.Statuses()[0]; s.Quarantine == "" || !s.HeardAt.IsZero() {
			t.Errorf("%+v", s)
		}
	})
}

// A pushed head counts when the node has the block.
func TestPushedHeadMustBeShown(t *testing.T) {
	bubble(t, func(t *testing.T, pn *pipeNet) {
		a := newNode(t, pn, "a", 20)
		p := open(t, pn, withSockets, a)
		heads := p.Heads(t.Context())
		conn := <-a.sockets
		expectHead(t, heads, 20, a.blockHash(20))
		push(t, conn, "starknet_subscriptionNewHeads", a.headJSON(900))
		expectNone(t, heads)
		push(t, conn, "starknet_subscriptionNewHeads", a.headJSON(21)) // a little too early
		expectNone(t, heads)
		a.set(func(f *fakeNode) { f.head = 21 })
		time.Sleep(time.Second) // much sooner than the next look at its health
		expectHead(t, heads, 21, a.blockHash(21))
	})
}

// What is no count of transactions shows no block.
func TestCountThatIsNone(t *testing.T) {
	for _, count := range []string{"-1", "1.5", `"3"`, "null", "[]", "18446744073709551616"} {
		bubble(t, func(t *testing.T, pn *pipeNet) {
			a := newNode(t, pn, "a", 200)
			p := open(t, pn, nil, a)
			a.set(func(f *fakeNode) {
				f.head = 210
				f.answer = func(c wireCall) string {
					if c.Method == "starknet_getBlockTransactionCount" {
						return ok(c, count)
					}
					return ""
				}
			})
			if err := p.probe(t.Context(), p.nodes[0]); !errors.Is(err, ErrMalformed) {
				t.Errorf("%s: %v", count, err)
			}
			if h := p.Statuses()[0].Head; h.Number != 200 {
				t.Errorf("%s: head %d", count, h.Number)
			}
		})
	}
}
