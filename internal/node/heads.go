package node

import (
	"context"
	"sync"
	"time"
)

// tail tells followers of new heads. Its lock is never taken under a node's.
type tail struct {
	mu        sync.Mutex
	followers map[chan Head]struct{}
	last      Head
	have      bool
	started   bool
	closed    bool
}

func (t *tail) followed() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.followers) > 0
}

func (t *tail) leave(ch chan Head) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, ok := t.followers[ch]; ok {
		delete(t.followers, ch)
		close(ch)
	}
}

// shut lets nobody in any more; closeAll also sends everyone home.
func (t *tail) shut() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
}

func (t *tail) closeAll() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for ch := range t.followers {
		delete(t.followers, ch)
		close(ch)
	}
}

// Heads follows the tip of the chain: each value is the newest head known,
// sent when that changes, goes back, or a node reports a reorganisation. A
// slow receiver finds only the newest value. Heads come by WebSocket from the
// nodes that have one and by polling from the others, and from all while no
// connection stands. The channel is closed when ctx ends or the pool closes.
func (p *Pool) Heads(ctx context.Context) <-chan Head {
	ch := make(chan Head, 1)
	t := &p.tail
	t.mu.Lock()
	if t.closed {
		t.mu.Unlock()
		close(ch)
		return ch
	}
	if t.followers == nil {
		t.followers = map[chan Head]struct{}{}
	}
	t.followers[ch] = struct{}{}
	if h, ok := p.bestHead(time.Now()); ok {
		t.last, t.have = h, true
		ch <- h
	}
	if !t.started {
		t.started = true
		for _, n := range p.nodes {
			if n.addr.ws != "" {
				p.work.Go(func() { p.follow(n) })
			}
		}
	}
	t.mu.Unlock()
	context.AfterFunc(ctx, func() { t.leave(ch) })
	for _, n := range p.nodes {
		n.wakeUp()
	}
	return ch
}

// announce tells the followers the best head if it changed, or in any case.
func (p *Pool) announce(always bool) {
	t := &p.tail
	t.mu.Lock()
	defer t.mu.Unlock()
	h, ok := p.bestHead(time.Now())
	if !ok || (!always && t.have && h.Number == t.last.Number && h.Hash == t.last.Hash) {
		return
	}
	t.last, t.have = h, true
	for ch := range t.followers {
		offer(ch, h)
	}
}

// offer replaces whatever waits in ch. Only the holder of the tail's lock
// sends, so this ends: others can only make room.
func offer(ch chan Head, h Head) {
	for {
		select {
		case ch <- h:
			return
		default:
		}
		select {
		case <-ch:
		default:
		}
	}
}
