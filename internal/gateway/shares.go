package gateway

import (
	"context"
	"errors"
	"sync"
	"time"
)

// errShareTaken says that the key's other calls were at the nodes all the while.
var errShareTaken = errors.New("the key's share of the nodes is taken")

// shares let no key have more than a part of the places at the nodes, however slow
// what it asks for is. Its other calls wait for their turn, in nobody's way, and not for
// long: who waits in vain is told that it was for calls of the key itself. How many may
// wait is bounded by the seats.
type shares struct {
	each int
	wait time.Duration // at most, for a key's turn

	mu sync.Mutex // guards by and what is in it
	by map[string]*share
}

type share struct {
	places chan struct{}
	users  int // inside or waiting
}

func newShares(each int, wait time.Duration) *shares {
	return &shares{each: each, wait: wait, by: map[string]*share{}}
}

// enter waits for a place of the key. leave must be called unless there is an error.
func (s *shares) enter(ctx context.Context, key string) (leave func(), err error) {
	s.mu.Lock()
	own := s.by[key]
	if own == nil {
		own = &share{places: make(chan struct{}, s.each)}
		s.by[key] = own
	}
	own.users++
	s.mu.Unlock()
	forget := func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if own.users--; own.users == 0 {
			delete(s.by, key)
		}
	}
	leave = func() { <-own.places; forget() }
	select {
	case own.places <- struct{}{}:
		return leave, nil
	default:
	}
	late := time.NewTimer(s.wait)
	defer late.Stop()
	select {
	case own.places <- struct{}{}:
		return leave, nil
	case <-late.C:
		forget()
		return nil, errShareTaken
	case <-ctx.Done():
		forget()
		return nil, context.Cause(ctx)
	}
}
