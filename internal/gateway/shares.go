package gateway

import (
	"context"
	"sync"
)

// shares let no key have more than a part of the places at the nodes, however slow
// what it asks for is. Its other calls wait for their turn, in nobody's way; how many
// may wait is bounded by the seats.
type shares struct {
	each int

	mu sync.Mutex // guards by and what is in it
	by map[string]*share
}

type share struct {
	places chan struct{}
	users  int // inside or waiting
}

func newShares(each int) *shares { return &shares{each: each, by: map[string]*share{}} }

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
	select {
	case own.places <- struct{}{}:
		return func() { <-own.places; forget() }, nil
	case <-ctx.Done():
		forget()
		return nil, context.Cause(ctx)
	}
}
