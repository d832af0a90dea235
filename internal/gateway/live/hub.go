package live

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"chainexplorer/internal/backoff"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
)

// sub is one subscription. What a block of the chain has for it is put into its
// session's queue by whoever holds the hub's lock.
type sub struct {
	session *session
	id      string
	want    *want
	push    string // the method of its notifications
	hub     *hub

	// The hub's lock guards what follows.
	next   uint64 // the block that it gets next
	ahead  bool   // next is there, though the hub has not got so far
	held   bool   // it is counted
	begun  bool   // its client knows its id: it may get something
	live   bool   // it gets blocks as they are published
	gone   bool
	older  trail // what a replay gave that is older than the hub's trail
	cancel context.CancelFunc
	early  uint64 // the next of what the block being built has for it
	since  uint64 // what early was at the start
}

// hub follows the chain for all subscriptions of a version.
type hub struct {
	srv     *Server
	version starknet.SpecVersion
	log     *slog.Logger
	ctx     context.Context
	stop    context.CancelFunc
	wake    chan struct{} // holds one: there is a head to look at
	ready   chan struct{} // closed when the first head is known
	flight  singleflight.Group
	slots   chan struct{} // reads for replays at once
	retry   backoff.Policy

	shorter time.Time // since when the chain seems to be; only of follow

	uses int // subscriptions, and who is about to make one; guarded by the server's lock

	mu      sync.Mutex
	told    head // the newest that was told of
	trail   trail
	changed chan struct{} // closed at every change of the trail
	subs    map[*sub]struct{}
	full    int // subscriptions that need receipts
	facts   int // subscriptions that need proof facts
	cache   cache
	early   early
	status  statuses
}

type head struct {
	number uint64
	hash   felt.Felt // zero: not told
	any    bool
}

// replayReads is how many reads for replays a hub makes at once.
const replayReads = 8

// acquire gives the hub of a version, which goes on at least until it is released.
func (s *Server) acquire(v starknet.SpecVersion) *hub {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.hubs[v]
	if h == nil {
		h = &hub{
			srv: s, version: v, log: s.log.With("version", v.String()), wake: make(chan struct{}, 1), ready: make(chan struct{}),
			slots: make(chan struct{}, replayReads), changed: make(chan struct{}), subs: map[*sub]struct{}{},
			retry: backoff.Policy{Min: 100 * time.Millisecond, Max: 5 * time.Second},
		}
		h.cache.most = s.limits.CacheBytes
		h.early.wake, h.status.wake = make(chan struct{}, 1), make(chan struct{}, 1)
		h.ctx, h.stop = context.WithCancel(s.ctx)
		s.hubs[v] = h
		if !s.closed {
			s.work.Go(h.listen)
			s.work.Go(h.follow)
			s.work.Go(h.lookEarly)
			s.work.Go(h.lookStatuses)
		} else {
			h.stop()
		}
	}
	h.uses++
	return h
}

// releaseHub lets a hub go when nobody has used it for a while: making one takes reads
// that a client who connects again and again should not cause.
func (s *Server) releaseHub(h *hub) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if h.uses--; h.uses == 0 && !s.closed {
		time.AfterFunc(s.limits.Linger, func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			if h.uses == 0 && s.hubs[h.version] == h {
				delete(s.hubs, h.version)
				h.stop()
			}
		})
	}
}

// unfollowed takes the head of a hub that has ended out of the metrics, unless another
// one of the version has begun.
func (s *Server) unfollowed(h *hub) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := s.hubs[h.version]; now == nil || now == h {
		s.metrics.unfollowed(h.version.String())
	}
}

// hold counts a subscription in, from when on blocks are fetched with what it needs.
// It is false when its session has ended.
func (h *hub) hold(b *sub) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if b.gone {
		return false
	}
	b.held = true
	h.subs[b] = struct{}{}
	h.count(b.want, 1)
	h.srv.metrics.subscription(b.want.method(), 1)
	return true
}

// count keeps what is needed of blocks. The lock must be held.
func (h *hub) count(w *want, by int) {
	switch {
	case w.kind == transactionStatus:
		return
	case w.detail() >= withReceipts:
		h.full += by
	}
	if w.detail() == withProofFacts {
		h.facts += by
	}
	if w.early {
		h.early.wanted += by
		poke(h.early.wake)
	}
}

// need is how much of a block the subscriptions want. The lock must be held.
func (h *hub) need() detail {
	switch {
	case h.facts > 0:
		return withProofFacts
	case h.full > 0:
		return withReceipts
	}
	return headerOnly
}

// leave ends a subscription. After that it gets nothing more.
func (b *sub) leave() {
	h := b.hub
	h.mu.Lock()
	if b.gone {
		h.mu.Unlock()
		return
	}
	b.gone = true
	if b.held {
		delete(h.subs, b)
		h.count(b.want, -1)
		h.status.forget(b)
		h.srv.metrics.subscription(b.want.method(), -1)
	}
	if b.cancel != nil {
		b.cancel()
	}
	h.mu.Unlock()
	h.srv.releaseHub(h)
}

// poke wakes whoever waits on a channel that holds one.
func poke(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}

// moved wakes who waits for the trail to change. The lock must be held.
func (h *hub) moved() {
	close(h.changed)
	h.changed = make(chan struct{})
}

// publish gives a block to the subscriptions that have all before it. It is false when
// one of them needs more of the block than was fetched.
func (h *hub) publish(b *block) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if b.detail < h.need() {
		return false
	}
	h.trail.push(b.hash, h.srv.limits.Remember)
	h.cache.put(b)
	for s := range h.subs {
		if s.live && s.next == b.number {
			h.give(s, b)
		}
	}
	h.early.settle(b)
	h.moved()
	poke(h.status.wake)
	h.status.heads++
	h.srv.metrics.published(h.version.String(), b.number)
	return true
}

// give puts what a subscription has of a block into its client's queue. The lock must
// be held.
func (h *hub) give(s *sub, b *block) {
	s.next = b.number + 1
	s.ahead = false
	var results [][]byte
	switch {
	case s.want.kind == pendingTransactions:
		results = h.pending(s, b)
	case s.want.accepted:
		results = b.pick(s.want)
	}
	s.notify(s.push, results)
}

// notify queues notifications.
func (s *sub) notify(method string, results [][]byte) {
	if len(results) == 0 {
		return
	}
	size := 0
	for _, r := range results {
		size += len(r) + perNotification
	}
	s.session.send(item{method: method, id: s.id, results: results, size: size})
}

// takeBack tells of blocks that the chain does not have any more, from a number on.
func (h *hub) takeBack(from uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.trail.empty() || from >= h.trail.next() {
		return
	}
	last := h.trail.next() - 1
	notice := reorgNotice(&h.trail, from)
	h.trail.cut(from)
	h.cache.cut(from)
	h.early.reset()
	h.status.reorgs++
	for s := range h.subs {
		// Statuses have no block; one that is not true any more is told anew.
		if s.want.kind != transactionStatus && s.begun && from < s.next {
			s.next, s.ahead = from, false
			s.notify("starknet_subscriptionReorg", [][]byte{notice})
		}
	}
	h.moved()
	poke(h.status.wake)
	h.srv.metrics.reorg(h.version.String())
	h.log.Info("the chain forked", "from", from, "to", last)
}
