package event_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/catalog"
	"chainexplorer/internal/explorer/event"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/index"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble/pebbletest"
)

// node is the simulated chain as a source of blocks.
type node struct{ *simnode.Chain }

var _ index.Source = node{}

func (n node) ChainID(context.Context) (felt.Felt, error) { return n.Config().ChainID, nil }

func (n node) ref(number uint64, ok bool) (index.BlockRef, error) {
	if !ok {
		return index.BlockRef{}, index.ErrNotFound
	}
	return index.BlockRef{Number: number, Hash: n.BlockAt(number).Hash}, nil
}

func (n node) Head(context.Context) (index.BlockRef, error) { return n.ref(n.Chain.Head()) }

func (n node) L1Accepted(context.Context) (index.BlockRef, error) { return n.ref(n.L1Head()) }

func (n node) Fetch(_ context.Context, number uint64) (index.Raw, error) {
	b := n.BlockAt(number)
	if b == nil {
		return index.Raw{}, index.ErrNotFound
	}
	return index.Raw{
		Block:       starknet.AppendBlock(nil, b, starknet.V010),
		StateUpdate: starknet.AppendStateUpdate(nil, n.StateUpdateAt(number), starknet.V010),
		Node:        "test",
	}, nil
}

// Class has none: event lists do not need them.
func (n node) Class(context.Context, uint64, felt.Felt) ([]byte, string, error) {
	return nil, "", index.ErrNotFound
}

func (n node) HashAt(_ context.Context, number uint64) (felt.Felt, error) {
	if b := n.BlockAt(number); b != nil {
		return b.Hash, nil
	}
	return felt.Felt{}, index.ErrNotFound
}

func (n node) Heads(context.Context) <-chan struct{} { return nil }

// follow brings an index up to the chain's head.
func follow(t *testing.T, e store.Engine, c *simnode.Chain) {
	t.Helper()
	head, _ := c.Head()
	x, err := index.New(index.Options{Store: e, Source: node{c}, Verify: index.VerifyOff, ForkPatience: time.Nanosecond, AllowForkBelowL1: new(uint64)})
	if err != nil {
		t.Fatal(err)
	}
	if err := x.RunTo(t.Context(), head); err != nil {
		t.Fatal(err)
	}
}

func blocksOf(c *simnode.Chain) (out truth) {
	head, _ := c.Head()
	for n := range head + 1 {
		out = append(out, c.BlockAt(n))
	}
	return out
}

// ground is the simulated chain's own answer.
func ground(c *simnode.Chain, q *event.Query) int {
	return len(c.Events(simnode.EventFilter{From: q.From, To: q.To, Addresses: q.Emitters, Keys: q.Keys[:]}))
}

// TestSimulatedChain searches a chain that was indexed from a node.
func TestSimulatedChain(t *testing.T) {
	c := simnode.New(simnode.Config{Seed: 8, Blocks: 250})
	e := pebbletest.Open(t, catalog.Tables())
	follow(t, e, c)
	blocks := blocksOf(c)
	rng := rand.New(rand.NewPCG(9, 9))
	view(t, e, func(ctx context.Context, r store.Reader) {
		for range some(600) {
			q := randomQuery(rng, blocks)
			got, _, err := walk(ctx, r, q)
			if err == nil {
				err = compare(got, blocks.search(&q))
			}
			if err != nil {
				t.Fatalf("%+v: %v", q, err)
			}
			if n := ground(c, &q); n != len(got) {
				t.Fatalf("%+v: %d events, the chain has %d", q, len(got), n)
			}
		}
	})
}

// session is a client that pages while the chain changes.
type session struct {
	event.Query
	next *explorer.Place
	hash felt.Felt
	got  []event.Hit
}

// TestPagingAcrossForks lets clients page while blocks come and go. A
// continuation is refused exactly when its block is gone; otherwise the page
// is what the chain holds now behind the place, nothing repeated and nothing
// left out.
func TestPagingAcrossForks(t *testing.T) {
	c := simnode.New(simnode.Config{Seed: 10, Blocks: 40})
	e := pebbletest.Open(t, catalog.Tables())
	follow(t, e, c)
	rng := rand.New(rand.NewPCG(3, 1))
	sessions := make([]*session, 12)
	var refused, resumed, finished int
	for range some(120) {
		if rng.IntN(3) == 0 {
			c.Fork(1 + rng.IntN(12))
		}
		c.Extend(1 + rng.IntN(2))
		follow(t, e, c)
		blocks := blocksOf(c)
		for i, s := range sessions {
			if s == nil {
				s = &session{Query: randomQuery(rng, blocks)}
				s.From, s.To, s.Limit = uint64(max(0, len(blocks)-15)), math.MaxUint64, 1+rng.IntN(50)
				sessions[i] = s
			}
			view(t, e, func(ctx context.Context, r store.Reader) {
				s.After = nil
				if s.next != nil {
					s.After = s.next
					_, err := block.Ref{Number: s.next.Block, Hash: s.hash}.Get(ctx, r)
					gone := s.next.Block >= uint64(len(blocks)) || blocks[s.next.Block].Hash != s.hash
					if errors.Is(err, block.ErrGone) != gone || err != nil && !gone {
						t.Fatalf("resume at %+v: %v; the block is gone: %v", *s.next, err, gone)
					}
					if gone {
						refused++
						sessions[i] = nil
						return
					}
					resumed++
				}
				if s.step(ctx, t, r, blocks) {
					finished++
					sessions[i] = nil
				}
			})
		}
	}
	t.Logf("%d pages resumed, %d refused, %d searches finished", resumed, refused, finished)
	if !raced && (refused < 10 || resumed < 100 || finished < 30) {
		t.Error("too quiet to prove anything")
	}
}

// step reads a page and compares it with the chain as it is now.
func (s *session) step(ctx context.Context, t *testing.T, r store.Reader, blocks truth) (done bool) {
	page, err := event.Search(ctx, r, s.Query)
	if err != nil {
		t.Fatalf("%+v: %v", s.Query, err)
	}
	var want []event.Hit
	for _, h := range blocks.search(&s.Query) {
		behind := s.After == nil || forward(s.Order, *s.After, h.Place)
		covered := page.Done || !forward(s.Order, *page.Next, h.Place)
		if behind && covered {
			want = append(want, h)
		}
	}
	if err := compare(page.Events, want); err != nil {
		t.Fatalf("%+v: %v", s.Query, err)
	}
	s.got = append(s.got, page.Events...)
	seen := map[felt.Felt]map[uint32]bool{}
	for _, h := range s.got {
		if seen[h.TxHash] == nil {
			seen[h.TxHash] = map[uint32]bool{}
		}
		if seen[h.TxHash][h.Log] {
			t.Fatalf("%+v: event %d of %s came twice", s.Query, h.Log, h.TxHash)
		}
		seen[h.TxHash][h.Log] = true
	}
	if !page.Done {
		s.next, s.hash = page.Next, page.NextHash
		return false
	}
	if s.Order == event.Asc { // nothing that was handed out has gone since
		if err := compare(s.got, blocks.search(&s.Query)); err != nil {
			t.Fatalf("all pages of %+v: %v", s.Query, err)
		}
	}
	return true
}

func TestPlaceNeedsItsBlock(t *testing.T) {
	c := handmade(11, 5)
	e := load(t, c)
	view(t, e, func(ctx context.Context, r store.Reader) {
		known := block.Ref{Number: 3, Hash: c[3].Hash}
		if b, err := known.Get(ctx, r); err != nil || b.Ref() != known {
			t.Errorf("known block: %v, %v", b, err)
		}
		if holds, err := known.Holds(ctx, r); err != nil || !holds {
			t.Errorf("known block: %v, %v", holds, err)
		}
		for name, number := range map[string]uint64{"another block": 2, "no block": 5} {
			ref := block.Ref{Number: number, Hash: c[3].Hash}
			if _, err := ref.Get(ctx, r); !errors.Is(err, block.ErrGone) {
				t.Errorf("%s: %v", name, err)
			}
			if holds, err := ref.Holds(ctx, r); err != nil || holds {
				t.Errorf("%s: %v, %v", name, holds, err)
			}
		}
		b, err := block.GetMany(ctx, r, []uint64{4, 0})
		if err != nil || b[0].Hash != c[4].Hash || b[1].Number != 0 {
			t.Errorf("blocks %v, %v", b, err)
		}
		if _, err := block.GetMany(ctx, r, []uint64{1, 5}); !errors.Is(err, block.ErrNotFound) {
			t.Errorf("missing block: %v", err)
		}
	})
}
