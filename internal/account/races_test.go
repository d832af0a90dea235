package account

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
)

// testRotateAgainstUse: while a key is in use it is rotated, again and again. Once
// Rotate has returned, its process lets the old key in no more and the new one at
// once, however many ask about both.
func testRotateAgainstUse(t *testing.T, at place) { raceChange(t, at, true) }

// testRevokeAgainstUse is the same of a key that ends.
func testRevokeAgainstUse(t *testing.T, at place) { raceChange(t, at, false) }

func raceChange(t *testing.T, at place, rotate bool) {
	b := newBench(t, at)
	w := b.workspace(t, "acme", Enterprise)
	auth := NewAuthenticator(b.Repository, nil)
	key := b.key(t, NewKey{WorkspaceID: w.ID})
	for range 5 {
		var wg sync.WaitGroup
		var over atomic.Bool
		asked := make(chan struct{}, 4)
		for range cap(asked) {
			wg.Go(func() {
				for first := true; ; first = false {
					after := over.Load() // before the question: what began after the change
					_, err := auth.Authenticate(t.Context(), key.Plaintext)
					if first {
						asked <- struct{}{}
					}
					switch {
					case err != nil && !errors.Is(err, ErrUnknown):
						t.Errorf("neither let in nor refused: %v", err)
						return
					case after && err == nil:
						t.Error("a key was let in after it had ended")
						return
					case after:
						return
					}
				}
			})
		}
		for range cap(asked) {
			<-asked // all are at it
		}
		next := key
		var err error
		if rotate {
			next, _, err = b.Rotate(t.Context(), key.Key.PublicID)
		} else {
			_, _, err = b.RevokeKey(t.Context(), key.Key.PublicID)
		}
		over.Store(true)
		wg.Wait()
		if err != nil {
			t.Fatal(err)
		}
		if !rotate {
			next = b.key(t, NewKey{WorkspaceID: w.ID})
		}
		if _, err := auth.Authenticate(t.Context(), next.Plaintext); err != nil {
			t.Fatalf("the new key: %v", err)
		}
		key = next
	}
}

// testTwoCreatesAtOnce: two processes that both find room for one more key do not
// both fill it.
func testTwoCreatesAtOnce(t *testing.T, at place) {
	b := newBench(t, at)
	w := b.workspace(t, "acme", Free)
	other := NewRepository(openDB(t, b.path), Options{Now: b.clock.now})
	most := Free.Policy().MaxActiveKeys
	for range most - 1 {
		b.key(t, NewKey{WorkspaceID: w.ID})
	}
	var wg sync.WaitGroup
	var made, refused atomic.Int32
	for _, r := range []*Repository{b.Repository, other, b.Repository, other} {
		wg.Go(func() {
			switch _, err := r.CreateKey(t.Context(), NewKey{WorkspaceID: w.ID}); {
			case err == nil:
				made.Add(1)
			case errors.Is(err, ErrTooManyKeys):
				refused.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if made.Load() != 1 || refused.Load() != 3 || len(b.list(t, w.ID)) != most {
		t.Errorf("%d made, %d refused, %d keys", made.Load(), refused.Load(), len(b.list(t, w.ID)))
	}
}
