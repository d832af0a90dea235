// Package shelf keeps what is written for those who ask: one at a time, each once, and a
// bounded number of them.
package shelf

import "sync"

// Shelf keeps values by what they were written for. It can be used by many at once.
type Shelf[K comparable, V any] struct {
	most    int
	writing sync.Mutex // held while something is written

	mu   sync.Mutex // guards kept
	kept map[K]V
}

// New returns a shelf with room for so many.
func New[K comparable, V any](most int) *Shelf[K, V] {
	return &Shelf[K, V]{most: most, kept: map[K]V{}}
}

// Get returns what is kept for k, or writes it. What could not be written is not kept.
func (s *Shelf[K, V]) Get(k K, write func() (V, error)) (V, error) {
	if v, ok := s.find(k); ok {
		return v, nil
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	if v, ok := s.find(k); ok {
		return v, nil
	}
	v, err := write()
	if err != nil {
		return v, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.kept) >= s.most {
		clear(s.kept)
	}
	s.kept[k] = v
	return v, nil
}

// Len is how many are kept.
func (s *Shelf[K, V]) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.kept)
}

func (s *Shelf[K, V]) find(k K) (V, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, ok := s.kept[k]
	return v, ok
}
