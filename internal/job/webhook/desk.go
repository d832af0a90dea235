package webhook

import (
	"container/heap"
	"context"
	"errors"
	"time"

	"chainexplorer/internal/feed"
	"chainexplorer/internal/webhook"
)

// begin gives subscriptions to goroutines, as many as may be.
func (d *desk) begin(ctx context.Context) {
	for len(d.looks) > 0 && d.looking < looksAtOnce {
		s := d.looks[0]
		d.looks = d.looks[1:]
		s.queued = false
		if s.gone || s.busy {
			continue
		}
		s.busy, s.sends = true, false
		d.looking++
		go func() {
			s.err = d.look(ctx, s)
			d.done <- s
		}()
	}
	d.beginSending(ctx)
}

// settle takes a subscription back and sees what it waits for.
func (d *desk) settle(s *sub) {
	s.busy = false
	if !s.sends {
		d.looking--
	} else {
		d.leave(s)
	}
	switch {
	case s.gone:
	case errors.Is(s.err, webhook.ErrNotFound): // deleted, paused or disabled
		d.forget(s)
	case s.err != nil: // of this one alone: others go on
		if !errors.Is(s.err, context.Canceled) {
			d.Logger.Warn("a webhook is tried again", "webhook", s.id, "err", s.err)
		}
		s.stale, s.notYet = true, time.Now().Add(troubleTime)
		d.troubled = append(d.troubled, s)
	case s.again.Swap(false) || s.stale:
		s.stale = true
		d.queue(s)
	case s.Message == nil && (s.more || s.seen != d.state.Load()):
		d.queue(s)
	case s.Message != nil:
		d.later(s)
	}
}

func (d *desk) queue(s *sub) {
	if !s.queued && !s.busy {
		s.queued = true
		d.looks = append(d.looks, s)
	}
}

// later has a message sent when it is time. A wait that is longer than any can be was
// written down by a clock that was ahead, and is over.
func (d *desk) later(s *sub) {
	if wait := s.Message.NextAt.Sub(d.Now()); wait > 0 && wait <= max(d.Retry.Max, retryMax) {
		heap.Push(&d.waiting, s)
	} else {
		d.due = append(d.due, s)
	}
}

func (d *desk) forget(s *sub) {
	s.gone = true
	if d.subs[s.id] == s {
		delete(d.subs, s.id)
	}
}

// refresh looks at the chain, and for changes by people.
func (d *desk) refresh(ctx context.Context) error {
	version, err := d.Webhooks.Version(ctx, d.Feed.Chain)
	if err != nil {
		return err
	}
	if version != d.version {
		if err := d.reload(ctx); err != nil {
			return err
		}
		d.version = version
	}
	now, err := d.Feed.State(ctx)
	if errors.Is(err, feed.ErrEmpty) {
		return nil
	} else if err != nil {
		return err
	}
	if last := d.state.Load(); last != nil && same(last, &now) {
		return nil
	}
	d.state.Store(&now)
	for _, s := range d.subs {
		if !s.busy && !s.stale && s.Message == nil {
			d.queue(s)
		}
	}
	return nil
}

// reload sees which subscriptions there are. Those that were changed are read again.
func (d *desk) reload(ctx context.Context) error {
	active, disabled, err := d.Webhooks.Revisions(ctx, d.Feed.Chain)
	if err != nil {
		return err
	}
	d.Metrics.subscriptions(len(active), disabled)
	d.tidy()
	for id, s := range d.subs {
		if _, still := active[id]; !still {
			d.forget(s) // a goroutine that has it finds out by itself
		}
	}
	for id, revision := range active {
		s := d.subs[id]
		switch {
		case s == nil:
			s = newSub(id, trust{})
			s.known = d.version < 0 // as others knew it who delivered before
			d.subs[id] = s
			d.queue(s)
		case s.busy:
			s.again.Store(true)
		case !s.stale && s.Revision != revision:
			// A new one in its place: the old may wait in a list.
			s.gone = true
			fresh := newSub(id, s.trust)
			d.subs[id] = fresh
			d.queue(fresh)
		}
	}
	return nil
}

// flush writes the places that moved over blocks without a match.
func (d *desk) flush(ctx context.Context, last bool) error {
	if last {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, 2*time.Second)
		defer cancel()
	}
	moved := map[feed.Place][]*webhook.Subscription{}
	var those []*sub
	for _, s := range d.subs {
		if s.dirty && !s.busy {
			moved[s.place] = append(moved[s.place], s.Subscription)
			those = append(those, s)
		}
	}
	for at, list := range moved {
		p, err := PositionOf(at)
		if err != nil {
			return err
		}
		if err := d.Webhooks.Idle(ctx, p, list); err != nil {
			return err
		}
	}
	for _, s := range those {
		s.dirty = false
	}
	return nil
}

// oldest is how long the oldest message has been under way.
func (d *desk) oldest(now time.Time) (age time.Duration) {
	for _, s := range d.subs {
		if !s.busy && s.Message != nil {
			age = max(age, now.Sub(s.Message.MadeAt))
		}
	}
	return age
}

// later is a heap by the time of the next attempt.
type later []*sub

func (l later) Len() int           { return len(l) }
func (l later) Less(i, j int) bool { return l[i].Message.NextAt.Before(l[j].Message.NextAt) }
func (l later) Swap(i, j int)      { l[i], l[j] = l[j], l[i] }

// Push is of the heap.
func (l *later) Push(x any) { *l = append(*l, x.(*sub)) }

// Pop is of the heap.
func (l *later) Pop() any {
	old := *l
	s := old[len(old)-1]
	*l = old[:len(old)-1]
	return s
}
