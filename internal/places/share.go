package places

import (
	"context"
	"sync"
	"time"

	"chainexplorer/internal/control"
)

// Share is what this process holds of the places of one kind.
type Share struct {
	book  *Book
	kind  string
	limit int
	lasts time.Duration // of a grant, to others

	mu     sync.Mutex // guards what follows
	owners map[string]*holding
	round  int // of renewals
}

// holding is what is held of an owner's places. All but asking is guarded by the
// share's mu.
type holding struct {
	asking  chan struct{} // holds a token while somebody asks
	waiting int           // who is about to ask: it must not be forgotten
	held    int           // places
	ends    time.Time     // until when they may be taken
	used    int           // places that are taken
	peak    int           // the most that were, since the last renewal
	denied  int           // who got none since then
	need    int           // how many could have been used before that, less as time goes by
	shut    time.Time     // until when nobody asks, since there was none
	others  int           // processes, when last asked
	short   int           // of places, the others together
	quiet   int           // renewals without use
	round   int           // in which it was renewed
}

// Enter takes a place for an owner, who must leave it. It says no when all are taken.
func (s *Share) Enter(ctx context.Context, owner string) bool {
	h, in, settled := s.enter(owner)
	if settled {
		return in
	}
	defer s.done(h)
	select {
	case h.asking <- struct{}{}:
		defer func() { <-h.asking }()
	case <-ctx.Done(): // the client is gone
		return false
	}
	if in, settled := s.try(h); settled { // somebody else asked meanwhile
		return in
	}
	start := s.book.now()
	s.mu.Lock()
	need := min(max(h.used+h.denied+h.waiting, h.need), s.limit)
	most := s.most(h, need)
	if most <= h.used && start.Before(h.ends) { // the others are short: it is for them
		defer s.mu.Unlock()
		return h.take(most)
	}
	a := s.ask(owner, h, most, need)
	s.mu.Unlock()
	grants, err := s.book.ask(ctx, []control.PlaceAsk{a})
	if err == nil {
		s.receive(h, grants[0], most, start)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		return h.take(s.limit)
	}
	if !h.take(h.held) {
		h.shut = s.book.now().Add(shutTime)
		return false
	}
	return true
}

// ask is the question for what h may hold at most. What is taken it has to keep.
func (s *Share) ask(owner string, h *holding, most, need int) control.PlaceAsk {
	return control.PlaceAsk{Kind: s.kind, Owner: owner, Want: min(max(most, h.used), s.limit), Need: need, Limit: s.limit, Lasts: s.lasts}
}

// most is what h may hold, when it needs so many.
func (s *Share) most(h *holding, need int) int {
	if h.short == 0 {
		return min(max(2*need, s.limit/parts, 1), s.limit)
	}
	// Who has more than the even part makes room for the others.
	even := max(s.limit/(h.others+1), 1)
	return min(need, max(even, h.held-h.short))
}

// Leave gives a place back.
func (s *Share) Leave(owner string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if h := s.owners[owner]; h != nil {
		h.used--
	}
}

// enter takes a place of those at hand. Where that is not settled h waits to ask.
func (s *Share) enter(owner string) (h *holding, in, settled bool) {
	now := s.book.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if h = s.owners[owner]; h == nil {
		h = &holding{asking: make(chan struct{}, 1)}
		s.owners[owner] = h
	}
	if in, settled = s.attempt(h, now); !settled {
		h.waiting++
	}
	return h, in, settled
}

func (s *Share) try(h *holding) (in, settled bool) {
	now := s.book.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.attempt(h, now)
}

func (s *Share) done(h *holding) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h.waiting--
}

func (s *Share) attempt(h *holding, now time.Time) (in, settled bool) {
	switch {
	case now.Before(h.ends) && h.used < h.held:
		return h.take(h.held), true
	case now.Before(h.shut):
		return h.take(0), true
	case s.book.isAway(now):
		return h.take(s.limit), true
	}
	return false, false
}

// take takes one of so many places.
func (h *holding) take(of int) bool {
	if h.used >= of {
		h.denied++
		return false
	}
	h.used++
	h.peak = max(h.peak, h.used)
	return true
}

// receive notes what was granted, of which no more is used than was meant. It ends by the
// time before the question.
func (s *Share) receive(h *holding, g control.PlaceGrant, most int, start time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h.held, h.others, h.short, h.ends = min(g.Places, most), g.Others, g.Short, start.Add(term)
	if h.used < h.held {
		h.shut = time.Time{}
	}
}

// renew asks once more for everything that is held, or is needed.
func (s *Share) renew(ctx context.Context) {
	s.mu.Lock()
	s.round++
	s.mu.Unlock()
	for more := true; more && !s.book.isAway(s.book.now()); {
		var asks []control.PlaceAsk
		var of []*holding
		var mosts []int
		asks, of, mosts, more = s.plan()
		if len(asks) == 0 {
			return
		}
		start := s.book.now()
		grants, err := s.book.ask(ctx, asks)
		for i, h := range of {
			if err == nil {
				s.receive(h, grants[i], mosts[i], start)
			}
			<-h.asking
		}
	}
}

// plan says what to ask for, holding the tokens of those asked about, and forgets who
// was quiet. There is more when it had no room for all: those were not planned yet.
func (s *Share) plan() (asks []control.PlaceAsk, of []*holding, mosts []int, more bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for owner, h := range s.owners {
		if len(asks) == batch {
			return asks, of, mosts, true
		}
		if h.round == s.round {
			continue
		}
		h.round = s.round
		select {
		case h.asking <- struct{}{}:
		default:
			continue // a request asks
		}
		most, need := s.next(h)
		if most == 0 && h.held == 0 && h.used == 0 {
			if h.quiet > quietRounds && h.waiting == 0 {
				delete(s.owners, owner)
			}
			<-h.asking
			continue
		}
		h.held = min(h.held, most) // given up before it is said
		asks, of, mosts = append(asks, s.ask(owner, h, most, need)), append(of, h), append(mosts, most)
	}
	return asks, of, mosts, false
}

// next reckons what to hold from the use since the last renewal.
func (s *Share) next(h *holding) (most, need int) {
	need = min(max(h.peak+h.denied, h.need/2), s.limit)
	h.need, h.peak, h.denied = need, h.used, 0
	if h.quiet++; need > 0 {
		h.quiet = 0
	}
	if h.quiet > quietRounds {
		return 0, 0
	}
	return s.most(h, need), need
}
