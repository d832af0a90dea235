package metadata_test

import (
	"context"
	"testing"
	"time"

	"chainexplorer/internal/explorer/token"
	"chainexplorer/internal/job/metadata"
	"chainexplorer/internal/store"
)

// TestClockAhead: pauses that a clock that was a year ahead wrote down end when it is right,
// and those that are as long as they can be do not.
func TestClockAhead(t *testing.T) {
	w := newIdle(t, 20)
	lease, err := w.engine.Acquire(t.Context(), store.Writer, "test", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	strk := w.chain.Tokens(19)[0].Address
	at := func(now time.Time, away bool) (calls int) {
		t.Helper()
		before := w.source.set(away)
		j := metadata.New(metadata.Job{Store: w.engine, Source: w.source, Batch: 2, Now: func() time.Time { return now }})
		err := j.CatchUp(t.Context(), func(ctx context.Context, b *store.Batch) error {
			b.Epoch = lease.Epoch
			return w.engine.Commit(ctx, b)
		})
		if err != nil {
			t.Fatal(err)
		}
		return w.source.set(away) - before
	}
	right := time.Unix(1_800_000_000, 0)
	if calls := at(right.Add(365*24*time.Hour), true); calls == 0 || w.of(strk).Known {
		t.Fatalf("%d calls while nobody answers", calls)
	}
	for calls := at(right, false); calls > 0; calls = at(right, false) { // a round that only rests ends early
	}
	if m := w.of(strk); !m.Known || m.Due > uint64(right.Add(24*time.Hour).Unix()) {
		t.Errorf("when the clock is right STRK is %+v", m)
	}
	w.view(func(ctx context.Context, r store.Reader) error {
		left, err := token.DueAfter(ctx, r, uint64(right.Add(24*time.Hour).Unix()), 10)
		if len(left) != 0 {
			t.Errorf("%d tokens still wait", len(left))
		}
		return err
	})
}
