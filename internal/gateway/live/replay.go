package live

import (
	"context"
	"strconv"
)

// start lets a subscription have what it asked for, now that its client knows its id.
// What it has missed since its first block it is given at the pace of its client.
func (h *hub) start(s *sub) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s.gone {
		return
	}
	s.begun = true
	if s.want.kind == transactionStatus {
		h.status.begin(s)
		return
	}
	s.early = h.early.first
	s.since = s.early
	if s.want.early {
		h.tellEarly(s)
	}
	if next := h.trail.next(); s.next > next && !s.ahead {
		s.next = next // the chain has become shorter meanwhile
	}
	if h.catchUp(s) {
		return
	}
	ctx, cancel := context.WithCancel(h.ctx)
	s.cancel = cancel
	s.session.spawn(func() {
		defer cancel()
		h.replay(ctx, s)
	})
}

// catchUp gives what is at hand, and says whether that was all: the subscription is
// live then. The lock must be held.
func (h *hub) catchUp(s *sub) bool {
	if s.next+1 == h.trail.next() {
		hash, _ := h.trail.at(s.next)
		if b := h.cache.get(s.next, s.want.detail()); b != nil && b.hash == hash && s.older.empty() {
			h.give(s, b)
		}
	}
	if s.next < h.trail.next() {
		return false
	}
	h.trail.prepend(s.older, h.srv.limits.Remember)
	s.older = trail{}
	s.live = true
	return true
}

// replay gives a subscription the blocks up to where the hub is and lets it go live
// there. Whatever happens to the chain meanwhile, it gets what one gets that was live
// all the time: blocks that the hub has published are given only with the hash that it
// published, under its lock, and older ones only if each follows the last.
func (h *hub) replay(ctx context.Context, s *sub) {
	failures := 0
	for {
		h.mu.Lock()
		if s.gone || h.catchUp(s) {
			h.mu.Unlock()
			return
		}
		number, changed := s.next, h.changed
		h.mu.Unlock()
		if s.session.queue.wait(ctx) != nil {
			return
		}
		b, err := h.load(ctx, number, s.want.detail())
		if err == nil {
			err = h.linked(ctx, s, b)
		}
		if err == nil {
			err = h.step(ctx, s, number, b)
		}
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			failures = 0
			continue
		}
		failures++
		wait, done := context.WithTimeout(ctx, h.retry.After(failures))
		select {
		case <-changed: // most likely what was in the way is gone
		case <-wait.Done():
		}
		done()
	}
}

// linked checks the first block of a replay that is older than the hub's trail, which
// nothing else vouches for, against the one before it.
func (h *hub) linked(ctx context.Context, s *sub, b *block) error {
	h.mu.Lock()
	needless := b.number == 0 || b.number > h.trail.first || !s.older.empty()
	h.mu.Unlock()
	if needless {
		return nil
	}
	before, err := h.load(ctx, b.number-1, headerOnly)
	if err == nil && before.hash != b.parent {
		h.mu.Lock()
		h.cache.cut(before.number)
		h.mu.Unlock()
		err = errUnlinked
	}
	return err
}

// step gives a replay its next block, if that is the one.
func (h *hub) step(ctx context.Context, s *sub, number uint64, b *block) error {
	h.mu.Lock()
	if s.gone || s.next != number {
		h.mu.Unlock()
		return nil // a fork has put it back
	}
	if hash, known := h.trail.at(number); known && hash != b.hash {
		h.cache.cut(number)
		h.mu.Unlock()
		poke(h.wake) // one of both is not the chain any more
		return errStale
	}
	if before, known := h.trail.at(number - 1); known && before != b.parent {
		h.cache.cut(number)
		h.mu.Unlock()
		return errUnlinked
	}
	if !s.older.follows(b.parent) {
		h.cache.cut(number)
		h.mu.Unlock()
		return h.turnBack(ctx, s)
	}
	h.give(s, b)
	switch {
	case number < h.trail.first:
		if s.older.empty() {
			s.older.first = number
		}
		s.older.push(b.hash, 2*maxBlocksBack)
	case !s.older.empty():
		// From here on the hub notices forks for it, as deep as it has been given.
		h.trail.prepend(s.older, h.srv.limits.Remember)
		s.older = trail{}
	}
	h.mu.Unlock()
	return nil
}

// turnBack deals with a fork below the hub's trail, which only the replay has seen.
func (h *hub) turnBack(ctx context.Context, s *sub) error {
	h.mu.Lock()
	t := s.older
	h.mu.Unlock()
	from, err := t.fork(h.onChain)
	if err != nil {
		return err
	}
	if from == t.next() {
		return errUnlinked
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if s.gone || ctx.Err() != nil {
		return nil
	}
	notice := reorgNotice(&s.older, from)
	s.older.cut(from)
	if s.older.empty() {
		s.older.first = from
	}
	s.next = from
	h.cache.cut(from)
	s.notify("starknet_subscriptionReorg", [][]byte{notice})
	return nil
}

// reorgNotice is the range of blocks from a number to the end of a trail.
func reorgNotice(t *trail, from uint64) []byte {
	from = max(from, t.first)
	last := t.next() - 1
	start, _ := t.at(from)
	end, _ := t.at(last)
	b := append(start.AppendHex([]byte(`{"starting_block_hash":"`)), `","starting_block_number":`...)
	b = append(strconv.AppendUint(b, from, 10), `,"ending_block_hash":"`...)
	b = append(end.AppendHex(b), `","ending_block_number":`...)
	return append(strconv.AppendUint(b, last, 10), '}')
}

// load gives a block from the cache, or reads it once for all who ask at the same time.
func (h *hub) load(ctx context.Context, number uint64, d detail) (*block, error) {
	h.mu.Lock()
	b := h.cache.get(number, d)
	h.mu.Unlock()
	if b != nil {
		return b, nil
	}
	key := strconv.FormatUint(number, 10) + "/" + strconv.Itoa(int(d))
	shared := h.flight.DoChan(key, func() (any, error) {
		select {
		case h.slots <- struct{}{}:
		case <-h.ctx.Done():
			return nil, h.ctx.Err()
		}
		defer func() { <-h.slots }()
		b, err := h.read(h.ctx, number, d)
		if err != nil {
			return nil, err
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		if hash, known := h.trail.at(number); !known || hash == b.hash {
			h.cache.put(b)
		}
		return b, nil
	})
	select {
	case r := <-shared:
		if r.Err != nil {
			return nil, r.Err
		}
		return r.Val.(*block), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// cache keeps blocks that were given lately, for those who come a little later.
type cache struct {
	most   int // bytes
	size   int
	blocks map[uint64]*block
	order  []uint64 // oldest first; may hold numbers that are gone
}

// perByte is how much a block takes for a byte of its text, with all that is made of it.
const perByte = 3

func (c *cache) get(number uint64, d detail) *block {
	if b := c.blocks[number]; b != nil && b.detail >= d {
		return b
	}
	return nil
}

func (c *cache) put(b *block) {
	if old := c.blocks[b.number]; old != nil {
		if old.hash == b.hash && old.detail >= b.detail {
			return
		}
		c.drop(b.number)
	}
	if c.blocks == nil {
		c.blocks = map[uint64]*block{}
	}
	c.blocks[b.number] = b
	c.order = append(c.order, b.number)
	c.size += perByte * b.size
	for (c.size > c.most || len(c.order) > maxCached) && len(c.order) > 1 {
		c.drop(c.order[0])
	}
}

// maxCached bounds the blocks that are kept, however small they are.
const maxCached = 2048

func (c *cache) drop(number uint64) {
	b := c.blocks[number]
	if b == nil {
		return
	}
	c.size -= perByte * b.size
	delete(c.blocks, number)
	for i, n := range c.order {
		if n == number {
			c.order = append(c.order[:i:i], c.order[i+1:]...)
			break
		}
	}
}

// cut forgets the blocks from a number on.
func (c *cache) cut(from uint64) {
	for number := range c.blocks {
		if number >= from {
			c.drop(number)
		}
	}
}
