package places_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"chainexplorer/internal/control"
	"chainexplorer/internal/places"
)

// clock is one that a test sets.
type clock struct{ at atomic.Int64 }

func (c *clock) now() time.Time          { return time.Unix(0, c.at.Load()) }
func (c *clock) advance(d time.Duration) { c.at.Add(int64(d)) }

// ledger is a database in memory, which grants as the real one does: a test of package
// control compares them.
type ledger struct {
	clock *clock
	away  atomic.Bool
	asked atomic.Int64
	// meanwhile happens before an answer.
	meanwhile func()

	mu   sync.Mutex
	rows map[[3]string]row
}

type row struct {
	places, needed int
	until          time.Time
}

var errAway = errors.New("nobody answers")

func (l *ledger) AskPlaces(_ context.Context, process string, _ int64, asks []control.PlaceAsk) (out []control.PlaceGrant, _ error) {
	l.asked.Add(1)
	if l.away.Load() {
		return nil, errAway
	}
	if l.meanwhile != nil {
		l.meanwhile()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.clock.now()
	for _, a := range asks {
		var g control.PlaceGrant
		held := 0
		for id, r := range l.rows {
			if id[0] == a.Kind && id[1] == a.Owner && id[2] != process && now.Before(r.until) {
				held += r.places
				g.Others++
				g.Short += max(r.needed-r.places, 0)
			}
		}
		g.Places = max(min(a.Want, a.Limit-held), 0)
		id := [3]string{a.Kind, a.Owner, process}
		l.rows[id] = row{g.Places, a.Need, now.Add(a.Lasts)}
		if a.Want == 0 {
			delete(l.rows, id)
		}
		out = append(out, g)
	}
	return out, nil
}

func (l *ledger) LeavePlaces(_ context.Context, process string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id := range l.rows {
		if id[2] == process {
			delete(l.rows, id)
		}
	}
	return nil
}

const life = 10 * time.Second

// world has several processes, each with a share of the same places.
type world struct {
	clock  clock
	ledger ledger
	books  []*places.Book
	shares []*places.Share
}

func newWorld(processes, limit int) *world {
	w := &world{}
	w.ledger.clock, w.ledger.rows = &w.clock, map[[3]string]row{}
	for range processes {
		w.start(limit)
	}
	return w
}

func (w *world) start(limit int) {
	b := places.New(places.Options{Ledger: &w.ledger, Now: w.clock.now})
	w.books, w.shares = append(w.books, b), append(w.shares, b.Share("requests", limit, life))
}

// enter lets so many requests come, and says how many got a place.
func (w *world) enter(t *testing.T, process, requests int) (n int) {
	for range requests {
		if w.shares[process].Enter(t.Context(), "acme") {
			n++
		}
	}
	return n
}

func (w *world) leave(process, n int) {
	for range n {
		w.shares[process].Leave("acme")
	}
}

// second is a round of all processes.
func (w *world) second(t *testing.T) {
	w.clock.advance(time.Second)
	for _, b := range w.books {
		b.Renew(t.Context())
	}
}

// TestOneProcessHasAll: who is alone gets every place, no more, and asks once for each
// doubling.
func TestOneProcessHasAll(t *testing.T) {
	w := newWorld(1, 128)
	if n := w.enter(t, 0, 200); n != 128 {
		t.Errorf("%d of 128 places", n)
	}
	if n := w.ledger.asked.Load(); n > 6 {
		t.Errorf("the database was asked %d times", n)
	}
	w.leave(0, 128)
	w.second(t)
	asked := w.ledger.asked.Load()
	for range 20 { // it goes on as it did, and asks nobody
		if n := w.enter(t, 0, 128); n != 128 {
			t.Fatalf("%d places", n)
		}
		w.leave(0, 128)
	}
	if w.ledger.asked.Load() != asked {
		t.Error("requests wait for the database")
	}
}

// TestPlacesMoveByNeed: places that one does not use go to who needs them, and where both
// need all of them each gets half.
func TestPlacesMoveByNeed(t *testing.T) {
	w := newWorld(2, 128)
	if n := w.enter(t, 0, 200); n != 128 {
		t.Fatalf("%d places", n)
	}
	if n := w.enter(t, 1, 1); n != 0 {
		t.Error("there are more places than 128")
	}
	busy := []int{128, 0}
	serve := func(wants ...int) {
		for i := range busy { // a part of the requests ends, others come
			end := min(busy[i], 40)
			w.leave(i, end)
			busy[i] -= end
		}
		for i, want := range wants {
			busy[i] += w.enter(t, i, max(want-busy[i], 0))
		}
		if busy[0]+busy[1] > 128 {
			t.Fatalf("%v are at work", busy)
		}
	}
	settle := func(a, b, gotA, gotB int) {
		t.Helper()
		for range 12 {
			serve(a, b)
			t.Log(busy, w.ledger.rows)
			w.second(t)
		}
		serve(a, b)
		if busy[0] < gotA || busy[1] < gotB {
			t.Errorf("who would have %d and %d has %v, want %d and %d", a, b, busy, gotA, gotB)
		}
	}
	settle(200, 200, 64, 64)
	settle(200, 10, 118, 10)
	settle(10, 200, 10, 118)
	settle(200, 0, 128, 0)
}

// TestDeadProcess: what a process held that was killed comes back when its requests
// must have ended, and not before.
func TestDeadProcess(t *testing.T) {
	w := newWorld(2, 16)
	if n := w.enter(t, 0, 16); n != 16 {
		t.Fatalf("%d places", n)
	}
	w.books, w.shares = w.books[1:], w.shares[1:] // killed
	for range 14 {
		w.second(t)
		if n := w.enter(t, 0, 1); n != 0 {
			t.Fatal("its places are given to another while its requests may be at work")
		}
	}
	for range 3 {
		w.second(t)
	}
	if n := w.enter(t, 0, 20); n != 16 {
		t.Errorf("%d of 16 places", n)
	}
}

// TestGivesUpFirst: what a process is about to give back it does not use any more, and what
// is at work when it gives back stays its own.
func TestGivesUpFirst(t *testing.T) {
	w := newWorld(2, 16)
	w.leave(0, w.enter(t, 0, 16))
	for range 4 {
		w.second(t)
	}
	gone, leave := context.WithCancel(t.Context())
	leave() // it waits for no answer
	n := 0
	w.ledger.meanwhile = func() {
		for range 16 {
			if w.shares[0].Enter(gone, "acme") {
				n++
			}
		}
	}
	w.clock.advance(time.Second)
	w.books[0].Renew(t.Context())
	w.ledger.meanwhile = nil
	if n == 0 {
		t.Error("nobody got in while the answer was awaited")
	}
	if n += w.enter(t, 1, 16); n != 16 {
		t.Errorf("%d at work, the limit is 16", n)
	}
}

// TestQuietOwner: what nobody asks for is given back.
func TestQuietOwner(t *testing.T) {
	w := newWorld(1, 16)
	w.leave(0, w.enter(t, 0, 4))
	for range 40 {
		w.second(t)
	}
	asked := w.ledger.asked.Load()
	w.second(t)
	if more := w.ledger.asked.Load() - asked; len(w.ledger.rows) != 0 || more != 0 {
		t.Errorf("%d rows, %d questions", len(w.ledger.rows), more)
	}
}

// TestDatabaseAway: each process counts on its own while nobody answers, and shares again
// after that.
func TestDatabaseAway(t *testing.T) {
	w := newWorld(2, 8)
	w.ledger.away.Store(true)
	for i := range 2 {
		if n := w.enter(t, i, 20); n != 8 {
			t.Errorf("process %d has %d places", i, n)
		}
	}
	if n := w.ledger.asked.Load(); n != 2 {
		t.Errorf("%d questions", n)
	}
	w.ledger.away.Store(false)
	for i := range 2 {
		w.leave(i, 8)
	}
	w.clock.advance(2 * time.Second)
	if n := w.enter(t, 0, 20) + w.enter(t, 1, 20); n != 8 {
		t.Errorf("%d places", n)
	}
}

// TestClockSetBack: who counts on its own for a second does not go on so for a day because the clock was set back.
func TestClockSetBack(t *testing.T) {
	w := newWorld(2, 8)
	w.ledger.away.Store(true)
	for i := range 2 {
		w.leave(i, w.enter(t, i, 3))
	}
	w.ledger.away.Store(false)
	w.clock.advance(-24 * time.Hour)
	if n := w.enter(t, 0, 20) + w.enter(t, 1, 20); n != 8 {
		t.Errorf("%d places", n)
	}
}

// TestNeverMoreThanTheLimit: whatever processes do, and however late they renew, no more
// are at work than the limit says.
func TestNeverMoreThanTheLimit(t *testing.T) {
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 1))
		limit := 1 + r.IntN(20)
		w := newWorld(3, limit)
		work := make([][]time.Time, 3) // when requests have to end
		total := func() (n int) {
			for _, list := range work {
				n += len(list)
			}
			return n
		}
		most := 0
		for range 3000 {
			p := r.IntN(len(w.books))
			switch r.IntN(8) {
			case 0, 1, 2:
				for range r.IntN(limit + 1) {
					if w.shares[p].Enter(t.Context(), "acme") {
						work[p] = append(work[p], w.clock.now().Add(life))
					}
				}
			case 3, 4:
				for range r.IntN(len(work[p]) + 1) {
					work[p] = work[p][1:]
					w.shares[p].Leave("acme")
				}
			case 5:
				w.books[p].Renew(t.Context())
			case 6:
				w.clock.advance(time.Duration(r.IntN(2500)) * time.Millisecond)
				for i := range work {
					for len(work[i]) > 0 && !w.clock.now().Before(work[i][0]) {
						work[i] = work[i][1:]
						w.shares[i].Leave("acme")
					}
				}
			case 7:
				if r.IntN(20) == 0 { // killed, and another takes its place
					w.start(limit)
					w.books[p], w.shares[p], work[p] = w.books[len(w.books)-1], w.shares[len(w.shares)-1], nil
					w.books, w.shares = w.books[:3], w.shares[:3]
				}
			}
			if n := total(); n > limit {
				t.Fatalf("seed %d: %d at work, the limit is %d", seed, n, limit)
			}
			most = max(most, total())
		}
		if most < limit {
			t.Errorf("seed %d: at most %d of %d places were used", seed, most, limit)
		}
	}
}

// TestManyOwners are renewed in more than one statement, each once a round.
func TestManyOwners(t *testing.T) {
	w := newWorld(1, 8)
	const owners = 1200
	for i := range owners {
		w.shares[0].Enter(t.Context(), fmt.Sprint(i))
	}
	w.ledger.asked.Store(0)
	w.second(t)
	if n := w.ledger.asked.Load(); n != 3 {
		t.Errorf("%d statements", n)
	}
}

// TestAtOnce: many at once get exactly the limit, in two processes.
func TestAtOnce(t *testing.T) {
	w := newWorld(2, 50)
	var in atomic.Int64
	var all sync.WaitGroup
	for i := range 200 {
		all.Go(func() {
			if w.shares[i%2].Enter(t.Context(), "acme") {
				in.Add(1)
			}
			if i%50 == 0 {
				w.books[i%2].Renew(t.Context())
			}
		})
	}
	all.Wait()
	if in.Load() != 50 {
		t.Errorf("%d of 50 places", in.Load())
	}
}
