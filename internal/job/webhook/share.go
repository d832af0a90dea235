package webhook

import (
	"context"
	"time"

	"chainexplorer/internal/webhook"
)

// A place is a request under way. Whoever makes a webhook says where to, and may make it for
// a receiver that never answers, so places are given by what a receiver has shown:
//
//   - a proven one, which took everything quickly for some time, may have any place;
//   - all others share half of them, and of one workspace only a few of these: the other half
//     is out of their reach, however many there are and however often they are made anew;
//   - those whose last attempt failed, or took long, have half of what their workspace has
//     for others, so that they do not keep its new ones waiting.
//
// Of those that are not proven the workspace with the fewest under way comes first, then the
// one that has waited longest: many workspaces delay each other, and none is left out.
type standing int

const (
	proven standing = iota
	fresh
	failing
)

// The usual times.
const (
	slowAnswer    = 3 * time.Second // after which a receiver counts as slow
	usualTrust    = time.Minute
	usualPatience = 5 * time.Second
	// knownFor is how long a delivery counts for whoever takes over and has seen nothing.
	knownFor = time.Hour
)

// trust is what a receiver has shown.
type trust struct {
	url   string    // whose
	known bool      // what the database tells counts, when it is first read
	slow  bool      // the last attempt failed, or took long
	took  bool      // the last attempt was taken, however long it took
	good  time.Time // since when everything was taken quickly; zero for not at all
}

// note adds an attempt.
func (t *trust) note(taken bool, begin, end time.Time) {
	t.took, t.slow = taken, !taken || end.Sub(begin) > slowAnswer
	if t.slow {
		t.good = time.Time{}
	} else if t.good.IsZero() {
		t.good = end
	}
}

// after is the trust in a subscription that was read.
func (t trust) after(w webhook.Work, j *Job) trust {
	m, delivered := w.Message, w.DeliveredAt
	switch {
	case m != nil && m.Attempts > 0:
		return trust{url: w.URL, slow: true}
	case t.known && delivered != nil && j.Now().Sub(*delivered) < knownFor:
		return trust{url: w.URL, took: true, good: j.Now().Add(-j.Trust)}
	case t.url != w.URL:
		return trust{url: w.URL}
	}
	return t
}

func (t *trust) standing(now time.Time, long time.Duration) standing {
	switch {
	case t.slow:
		return failing
	case t.good.IsZero() || now.Sub(t.good) < long:
		return fresh
	}
	return proven
}

// places are the requests under way.
type places struct {
	sending, unproven int
	of                map[string]*share
	turn              uint64
}

// share is what a workspace has of them.
type share struct {
	sending, unproven, failing int
	turn                       uint64 // when one that is not proven last had a place
}

func newPlaces() places { return places{of: map[string]*share{}} }

// beginSending gives places to those that are due, as long as there are any. Those that are
// not proven come first: they cannot have more than their half, and those that are proven do
// not keep a place for long.
func (d *desk) beginSending(ctx context.Context) {
	now, left := d.Now(), d.due[:0]
	for _, s := range d.due {
		if !s.gone && !s.busy && s.Message != nil {
			s.as = s.standing(now, d.Trust)
			left = append(left, s)
		}
	}
	clear(d.due[len(left):])
	d.due = left
	for s := d.nextUnproven(); s != nil; s = d.nextUnproven() {
		d.enter(ctx, s)
	}
	left = d.due[:0]
	for _, s := range d.due {
		switch {
		case s.busy:
		case s.as == proven && d.sending < d.Deliveries && d.shareOf(s).sending < max(1, d.Deliveries/4):
			d.enter(ctx, s)
		default:
			left = append(left, s)
		}
	}
	clear(d.due[len(left):])
	d.due = left
}

// nextUnproven is whose turn it is of those that are not proven; nil when none may begin.
func (d *desk) nextUnproven() (next *sub) {
	if d.sending >= d.Deliveries || d.unproven >= max(1, d.Deliveries/2) {
		return nil
	}
	few := max(1, d.Deliveries/16)
	var best share
	for _, s := range d.due {
		if s.busy || s.as == proven {
			continue
		}
		w := d.shareOf(s)
		if w.sending >= max(1, d.Deliveries/4) || w.unproven >= few || s.as == failing && w.failing >= max(1, few/2) {
			continue
		}
		if next == nil || w.unproven < best.unproven || w.unproven == best.unproven && w.turn < best.turn {
			next, best = s, *w
		}
	}
	return next
}

func (d *desk) shareOf(s *sub) *share {
	w := d.of[s.WorkspaceID]
	if w == nil {
		w = &share{}
		d.of[s.WorkspaceID] = w
	}
	return w
}

func (d *desk) enter(ctx context.Context, s *sub) {
	w := d.shareOf(s)
	s.busy, s.sends = true, true
	d.sending++
	w.sending++
	if s.as != proven {
		d.turn++
		d.unproven++
		w.unproven++
		w.turn = d.turn
	}
	if s.as == failing {
		w.failing++
	}
	go func() {
		s.err = d.send(ctx, s)
		d.done <- s
	}()
}

// longAgo is after how many turns of others it does not matter any more when a workspace had
// one.
const longAgo = 4096

// tidy forgets workspaces that have nothing under way, and had nothing for long.
func (p *places) tidy() {
	for id, w := range p.of {
		if w.sending == 0 && w.turn+longAgo < p.turn {
			delete(p.of, id)
		}
	}
}

// leave gives a place back.
func (d *desk) leave(s *sub) {
	w := d.shareOf(s)
	d.sending--
	w.sending--
	if s.as != proven {
		d.unproven--
		w.unproven--
	}
	if s.as == failing {
		w.failing--
	}
}
