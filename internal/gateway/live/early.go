package live

import (
	"strconv"
	"time"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
)

const preConfirmed = "PRE_CONFIRMED"

// early is what is known of the block that is being built. Nodes tell of it only when
// they are asked, so it is asked for while somebody wants it. It is a log: each part
// has the transactions that were not there the time before.
type early struct {
	wake   chan struct{}
	wanted int    // subscriptions
	block  string // which it is: its number, or its parent in 0.8
	number uint64 // 0 in 0.8, where it is always the next block
	parts  []*block
	first  uint64 // number of the first part, counted since the hub started
	seen   map[seenTx]struct{}
	// told says, in 0.8, in which part a transaction was given, so that it is not
	// given again when it is in a block.
	told map[felt.Felt]uint64
}

type seenTx struct {
	hash  felt.Felt
	index int
}

// maxEarly bounds the transactions that are known of a block being built.
const maxEarly = 20_000

func (e *early) next() uint64 { return e.first + uint64(len(e.parts)) }

// clear forgets the block, as another is being built.
func (e *early) clear() {
	e.first, e.parts, e.seen, e.block, e.number = e.next(), nil, nil, "", 0
}

// reset also forgets what was given: after a fork everything may come again.
func (e *early) reset() {
	e.clear()
	e.told = nil
}

// settle takes note that a block is there. While the hub catches up that may be one
// below the block being built, which goes on: nothing of it is to be told again.
func (e *early) settle(b *block) {
	if b.number >= e.number {
		e.clear()
	}
	for i := range b.txs {
		delete(e.told, b.txs[i].hash)
	}
}

// lookEarly asks for the block being built, again and again, while somebody wants it.
func (h *hub) lookEarly() {
	tick := time.NewTicker(h.srv.limits.EarlyPoll)
	tick.Stop()
	defer tick.Stop()
	running := false
	for {
		select {
		case <-h.early.wake:
		case <-tick.C:
		case <-h.ctx.Done():
			return
		}
		h.mu.Lock()
		wanted := h.early.wanted > 0
		h.mu.Unlock()
		switch {
		case wanted && !running:
			tick.Reset(h.srv.limits.EarlyPoll)
		case !wanted && running:
			tick.Stop()
		}
		if running = wanted; !wanted {
			continue
		}
		select {
		case <-h.ready:
			h.askEarly()
		default: // nobody can be given anything yet
		}
	}
}

// askEarly reads the block being built and tells what is new. A failure is no more
// than a look that was missed: what it would have shown comes with the next, or with
// the block.
func (h *hub) askEarly() {
	h.mu.Lock()
	d := max(h.need(), withReceipts)
	h.mu.Unlock()
	tag := `"pre_confirmed"`
	if h.version == starknet.V08 {
		tag = `"pending"`
	}
	b, err := h.readBy(h.ctx, tag, nil, d)
	if err != nil || b.known.hash {
		return // some nodes give the newest block while none is being built
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	e := &h.early
	which := strconv.FormatUint(b.number, 10)
	if h.version == starknet.V08 {
		which = b.parent.String()
		if !b.known.parent || h.trail.empty() || !h.trail.follows(b.parent) {
			return // of another block than the one that comes next
		}
	} else if !b.known.number || b.number < h.trail.next() {
		return
	}
	if which != e.block {
		e.clear()
		e.block, e.number, e.seen = which, b.number, map[seenTx]struct{}{}
	}
	part := &block{version: b.version, detail: b.detail, number: b.number, status: preConfirmed, known: b.known, size: b.size}
	for i := range b.txs {
		key := seenTx{b.txs[i].hash, b.txs[i].index}
		if _, old := e.seen[key]; old || len(e.seen) >= maxEarly {
			continue
		}
		e.seen[key] = struct{}{}
		if h.version == starknet.V08 {
			if _, old := e.told[key.hash]; old {
				continue
			}
			if e.told == nil || len(e.told) >= maxEarly {
				e.told = map[felt.Felt]uint64{}
			}
			e.told[key.hash] = e.next()
		}
		part.txs = append(part.txs, b.txs[i])
	}
	if len(part.txs) == 0 {
		return
	}
	e.parts = append(e.parts, part)
	for s := range h.subs {
		if s.want.early && s.begun {
			h.tellEarly(s)
		}
	}
}

// tellEarly gives a subscription what it has not been given of the block being built.
// The lock must be held.
func (h *hub) tellEarly(s *sub) {
	e := &h.early
	for n := max(s.early, e.first); n < e.next(); n++ {
		s.notify(s.push, e.parts[n-e.first].pick(s.want))
	}
	s.early = e.next()
}

// pending is what a block has for a subscription of 0.8 that it was not given before:
// it gets every transaction once, as early as it is seen. The lock must be held.
func (h *hub) pending(s *sub, b *block) [][]byte {
	all := b.pick(s.want)
	if len(h.early.told) == 0 {
		return all
	}
	var out [][]byte
	i := 0
	for n := range b.txs {
		tx := &b.txs[n]
		if !s.want.hasSender(tx) {
			continue
		}
		if part, told := h.early.told[tx.hash]; !told || part < s.since {
			out = append(out, all[i])
		}
		i++
	}
	return out
}
