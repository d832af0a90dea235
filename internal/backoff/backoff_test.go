package backoff_test

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"chainexplorer/internal/backoff"
)

func TestAfter(t *testing.T) {
	least := func() float64 { return 0 }
	most := func() float64 { return math.Nextafter(1, 0) }
	for _, tt := range []struct {
		failures int
		want     time.Duration // without chance
	}{
		{-1, 100 * time.Millisecond}, {0, 100 * time.Millisecond}, {1, 100 * time.Millisecond}, {2, 200 * time.Millisecond},
		{5, 1600 * time.Millisecond}, {10, 30 * time.Second}, {40, 30 * time.Second}, {math.MaxInt, 30 * time.Second},
	} {
		p := backoff.Policy{Min: 100 * time.Millisecond, Max: 30 * time.Second, Rand: least}
		if got := p.After(tt.failures); got != tt.want/2 {
			t.Errorf("after %d failures at least %v, want %v", tt.failures, got, tt.want/2)
		}
		p.Rand = most
		if got := p.After(tt.failures); got > tt.want || got < tt.want-time.Microsecond {
			t.Errorf("after %d failures at most %v, want %v", tt.failures, got, tt.want)
		}
	}
	long := backoff.Policy{Min: math.MaxInt64 / 2, Max: math.MaxInt64}
	if got := long.After(3); got < math.MaxInt64/2 {
		t.Errorf("a wait that overflows became %v", got)
	}
	if got := (backoff.Policy{}).After(7); got != 0 {
		t.Errorf("no policy waits %v", got)
	}
}

func TestWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		if err := backoff.Wait(t.Context(), time.Minute); err != nil || time.Since(begin) != time.Minute {
			t.Errorf("waited %v: %v", time.Since(begin), err)
		}
		why := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(why)
		begin = time.Now()
		if err := backoff.Wait(ctx, time.Minute); !errors.Is(err, why) || time.Since(begin) != 0 {
			t.Errorf("waited %v: %v", time.Since(begin), err)
		}
	})
}
