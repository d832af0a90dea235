package store

import "sync"

// Memory is a Reader whose view shares its state with other views, and keeps what was
// made of it for them: many requests read the same few rows between two commits.
type Memory interface {
	// Shelf is that of the view's state. It may be nil.
	Shelf() *Shelf
}

// shelved is how many things a shelf holds. A state lives until the next commit, mostly for
// seconds, so that few shelves are ever full: one that is begins anew, and whoever reads
// much once leaves it to what others ask for again.
const shelved = 4096

// Shelf keeps what was made of one state of a store. It is safe for concurrent use, and
// gone with its state.
type Shelf struct {
	mu     sync.RWMutex
	things map[any]any // guarded by mu
}

func (s *Shelf) get(key any) (any, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	thing, ok := s.things[key]
	return thing, ok
}

func (s *Shelf) put(key, thing any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.things == nil || len(s.things) >= shelved {
		s.things = map[any]any{}
	}
	s.things[key] = thing
}

// Recalled returns what Remember was given under a key for the state that r reads.
// Keys of different types never meet, so that a package's own type makes them its own.
func Recalled[K comparable, V any](r Reader, key K) (v V, ok bool) {
	if shelf := shelfOf(r); shelf != nil {
		if thing, found := shelf.get(key); found {
			v, ok = thing.(V)
		}
	}
	return v, ok
}

// Remember keeps something that was read of a state, a few kilobytes at most, for other views of it.
// Nobody may change it, or what it points to, from then on.
func Remember[K comparable, V any](r Reader, key K, v V) {
	if shelf := shelfOf(r); shelf != nil {
		shelf.put(key, v)
	}
}

func shelfOf(r Reader) *Shelf {
	if m, ok := r.(Memory); ok {
		return m.Shelf()
	}
	return nil
}
