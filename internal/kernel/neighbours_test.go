package kernel_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"

	"chainexplorer/internal/account"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/servertest"
)

// TestNeighboursOfAKey: somebody who fails at the same address until nothing is left of
// what it may ask does not lock out a key that was never used before, while they go on
// trying; and what they try is refused as before.
func TestNeighboursOfAKey(t *testing.T) {
	servertest.Watched(t)
	w := newWorld(t, 5, func(o *options) { o.AnonymousPerMinute = 120 }) // 30 at once: three failures
	fresh, late := w.NewKey(account.DefaultScopes), w.NewKey(account.DefaultScopes)
	var unknown []string // of the right form
	for range 8 {
		unknown = append(unknown, w.RevokedKey())
	}
	for _, key := range unknown[:3] {
		servertest.Expect(t, w.Do(http.MethodGet, statusPath, key), 401, kernel.CodeUnauthorized, nil)
	}
	for _, key := range []string{mistyped(w.Key), unknown[0], unknown[3], ""} {
		limited(t, w.Do(http.MethodGet, statusPath, key), kernel.ReasonClientAddress)
	}
	servertest.Expect(t, w.Do(http.MethodGet, statusPath, fresh), 200, "", nil)
	// While the neighbour keeps the queue busy, a good key has its turn.
	var all sync.WaitGroup
	for _, key := range unknown[4:] {
		all.Go(func() {
			if r := w.Do(http.MethodGet, statusPath, key); r.StatusCode != http.StatusTooManyRequests || r.Header.Get("Retry-After") == "" {
				t.Errorf("a neighbour: %d %s", r.StatusCode, r.Body)
			}
		})
	}
	servertest.Expect(t, w.Do(http.MethodGet, statusPath, late), 200, "", nil)
	all.Wait()
	for _, key := range []string{fresh, late} { // known from now on
		servertest.Expect(t, w.Do(http.MethodGet, statusPath, key), 200, "", nil)
	}
}

// TestQueueOfDoubt: of what an address sends beyond its means only so many wait; the
// others are refused at once, and what waited is looked at one by one.
func TestQueueOfDoubt(t *testing.T) {
	servertest.Watched(t)
	w := newWorld(t, 5, func(o *options) { o.AnonymousPerMinute = 4 }) // no failure is paid for
	w.Do(http.MethodGet, "/robots.txt", "")
	var all sync.WaitGroup
	for i := range 40 {
		key := unissued(t, i)
		all.Go(func() {
			if r := w.Do(http.MethodGet, statusPath, key); r.StatusCode != http.StatusTooManyRequests {
				t.Errorf("%d: %d %s", i, r.StatusCode, r.Body)
			}
		})
	}
	all.Wait()
	servertest.Expect(t, w.Do(http.MethodGet, statusPath, w.Key), 200, "", nil)
}

// unissued is a key of the right form that nobody has.
func unissued(t *testing.T, n int) string {
	t.Helper()
	key, _, err := account.NewConfigured(repeat(fmt.Sprintf("%02d", n)), "none", account.Read)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// repeat is a source of bytes that are no surprise.
type repeat string

func (r repeat) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = r[i%len(r)]
	}
	return len(b), nil
}
