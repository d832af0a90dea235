package job

import (
	"errors"
	"testing"
	"time"
)

// testClockAhead: a claim, and the word of a worker that it is there, do not last longer because
// the clock was a day ahead when they were written down; and one that is there keeps its job.
func testClockAhead(t *testing.T, at place) {
	b := newBench(t, at, 1, Standard)
	b.queue(t, 0, "ahead")
	b.clock.advance(24 * time.Hour)
	b.ready(t)
	gone := b.claim(t)
	b.clock.advance(-24 * time.Hour)
	var away *UnavailableError
	if err := b.Available(t.Context(), Chain); !errors.As(err, &away) {
		t.Errorf("a worker that is heard of tomorrow is there: %v", err)
	}
	recover := func(want int) {
		t.Helper()
		if n, err := b.other.Recover(t.Context(), Chain, time.Minute); err != nil || n != want {
			t.Fatalf("taken from %d workers, want %d: %v", n, want, err)
		}
	}
	recover(0)
	b.clock.advance(30 * time.Second)
	if err := b.Beat(t.Context(), gone, time.Minute); err != nil {
		t.Fatalf("a worker that is there: %v", err)
	}
	b.clock.advance(59 * time.Second)
	recover(0)
	b.clock.advance(time.Second)
	recover(1)
	b.clock.advance(24 * time.Hour)
	b.claim(t)
	b.clock.advance(-24 * time.Hour)
	recover(0)
	b.clock.advance(time.Minute)
	recover(1)
}

// testKeptByClockAhead: no source is kept, no upload waited for and no day's budget used up
// for longer because the clock was a month ahead when they were written down.
func testKeptByClockAhead(t *testing.T, at place) {
	const month = 30 * 24 * time.Hour
	limits := Standard
	limits.PerDay = 1
	b := newBench(t, at, 3, limits)
	b.clock.advance(month)
	b.ready(t)
	_, p := tree(t, 1, 10)
	waits := b.create(t, 0, "waits", p)
	source := b.queue(t, 1, "source")
	over := b.create(t, 2, "over", p)
	if _, err := b.Cancel(t.Context(), "key_1", b.workspaces[2], Chain, over.ID); err != nil {
		t.Fatal(err)
	}
	b.clock.advance(-month)
	b.ready(t)
	b.create(t, 2, "today", p)
	tidy := func(want Tidied) {
		t.Helper()
		if done, err := b.Tidy(t.Context()); err != nil || done != want {
			t.Fatalf("tidied %+v, %v, want %+v", done, err, want)
		}
	}
	tidy(Tidied{})
	j, err := b.View(t.Context(), b.workspaces[1], Chain, source.ID)
	if err != nil || !j.SourceDeletesAt.Equal(b.clock.Now().Add(24*time.Hour)) {
		t.Errorf("a source that is kept for a day from %s on: %+v, %v", b.clock.Now(), j, err)
	}
	b.clock.advance(Standard.UploadWindow)
	tidy(Tidied{Expired: 2})
	if j, err := b.View(t.Context(), b.workspaces[0], Chain, waits.ID); err != nil || j.State != Expired {
		t.Errorf("%+v, %v", j, err)
	}
	b.clock.advance(24 * time.Hour)
	tidy(Tidied{Deleted: 1})
}
