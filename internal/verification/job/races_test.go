package job

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// crowd calls fn from several goroutines, half of them on each repository.
func (b *bench) crowd(n int, fn func(i int, r *Repo)) {
	var wg sync.WaitGroup
	for i := range n {
		r := b.Repo
		if i%2 == 1 {
			r = b.other
		}
		wg.Go(func() { fn(i, r) })
	}
	wg.Wait()
}

// testCreatesAtOnce: one active job, five a day and one job for a key hold however many
// ask at once, in two processes.
func testCreatesAtOnce(t *testing.T, at place) {
	b := newBench(t, at, 2, Standard)
	_, p := tree(t, 1, 10)
	for range Standard.PerDay + 1 {
		var made atomic.Int32
		b.crowd(8, func(i int, r *Repo) {
			j, created, err := r.Create(t.Context(), b.request(0, fmt.Sprintf("%s %d", t.Name(), i), p))
			switch {
			case err == nil && created:
				made.Add(1)
				if _, err := r.Cancel(t.Context(), "key_1", b.workspaces[0], Chain, j.ID); err != nil {
					t.Error(err)
				}
			case err != nil && !errors.Is(err, ErrActive) && !errors.Is(err, ErrDaily):
				t.Error(err)
			}
		})
	}
	if n := b.count(t, `SELECT COUNT(*) FROM verification_job`); n != Standard.PerDay {
		t.Errorf("%d jobs were created on a day", n)
	}
	ids := sync.Map{}
	var made atomic.Int32
	b.crowd(8, func(_ int, r *Repo) {
		j, created, err := r.Create(t.Context(), b.request(1, "same", p))
		if err != nil {
			t.Error(err)
			return
		}
		if created {
			made.Add(1)
		}
		ids.Store(j.ID, true)
	})
	n := 0
	ids.Range(func(any, any) bool { n++; return true })
	if made.Load() != 1 || n != 1 {
		t.Errorf("one request became %d jobs, %d ids", made.Load(), n)
	}
}

// testUploadsAtOnce: the same bytes from many at once are one source, and all are told so.
func testUploadsAtOnce(t *testing.T, at place) {
	b := newBench(t, at, 1, Standard)
	data, p := tree(t, 1, chunkBytes)
	j := b.create(t, 0, "k", p)
	b.crowd(6, func(_ int, r *Repo) {
		if now, err := r.Upload(t.Context(), "key_1", j, data, nil); err != nil || now.State != Queued {
			t.Errorf("%+v, %v", now, err)
		}
	})
	if n := b.count(t, `SELECT COUNT(*) FROM verification_upload`); n != 1 {
		t.Errorf("%d uploads are kept", n)
	}
	if got := b.events(t, j.ID); len(got) != 3 {
		t.Errorf("the audit log says %v", got)
	}
}

// testClaimsAtOnce: no job is given to two workers.
func testClaimsAtOnce(t *testing.T, at place) {
	const jobs = 4
	b := newBench(t, at, jobs, Standard)
	for i := range jobs {
		b.queue(t, i, "k")
	}
	var taken sync.Map
	var n atomic.Int32
	b.crowd(6, func(i int, r *Repo) {
		for {
			w, err := r.Claim(t.Context(), Chain, fmt.Sprint(i), time.Minute)
			if err != nil || w == nil {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if _, twice := taken.LoadOrStore(w.ID, true); twice {
				t.Errorf("%s was given twice", w.ID)
			}
			n.Add(1)
		}
	})
	if n.Load() != jobs {
		t.Errorf("%d of %d jobs were taken", n.Load(), jobs)
	}
}

// testCancelAgainstAdmit: one of the two wins, and there is a receipt exactly when it is
// the worker.
func testCancelAgainstAdmit(t *testing.T, at place) {
	rounds := 30
	if raced {
		rounds = 8
	}
	l := Standard
	l.PerDay = rounds
	b := newBench(t, at, 1, l)
	won := map[State]int{}
	for i := range rounds {
		j := b.queue(t, 0, fmt.Sprint(i))
		w := b.claim(t)
		if err := b.Compare(t.Context(), w); err != nil {
			t.Fatal(err)
		}
		signed := b.signed(t, w)
		var admitted error
		var seen State
		b.crowd(2, func(k int, r *Repo) {
			if k == 0 {
				admitted = r.Admit(t.Context(), w, signed, nil)
				return
			}
			now, err := r.Cancel(t.Context(), "key_1", b.workspaces[0], Chain, j.ID)
			if err != nil {
				t.Error(err)
				return
			}
			seen = now.State
		})
		end := b.state(t, j.ID)
		won[end]++
		_, err := b.Receipt(t.Context(), b.workspaces[0], Chain, j.ID)
		if end != seen || (end == Succeeded) != (admitted == nil) || (end == Succeeded) != (err == nil) || end != Succeeded && !Lost(admitted) {
			t.Fatalf("ended %s, the owner saw %s, admitted: %v, receipt: %v", end, seen, admitted, err)
		}
	}
	t.Logf("%v", won)
}
