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
