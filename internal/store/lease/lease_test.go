package lease_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"chainexplorer/internal/store"
	"chainexplorer/internal/store/lease"
)

const ttl = 15 * time.Second

// renewer answers renewals one after the other, the last answer for good.
type renewer struct {
	answers []func(context.Context) error
	asked   int
}

func (r *renewer) Renew(ctx context.Context, held store.Lease, _ time.Duration) (store.Lease, error) {
	answer := r.answers[min(r.asked, len(r.answers)-1)]
	r.asked++
	held.Epoch++
	return held, answer(ctx)
}

func fine(context.Context) error { return nil }

func with(err error) func(context.Context) error { return func(context.Context) error { return err } }

// hangs answers when nobody waits any more.
func hangs(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

// TestKeep: a lease is kept as long as the store confirms it within its time, and
// given up at once when it is another's, or when that time is over.
func TestKeep(t *testing.T) {
	away := errors.New("no way through")
	for _, tt := range []struct {
		name    string
		answers []func(context.Context) error
		lost    time.Duration // 0 when it is kept
		is      error
	}{
		{"confirmed", []func(context.Context) error{fine}, 0, nil},
		{"one failure", []func(context.Context) error{with(away), fine}, 0, nil},
		{"two failures", []func(context.Context) error{fine, with(away), with(away), fine}, 0, nil},
		{"another's", []func(context.Context) error{fine, with(store.ErrFenced)}, 2 * ttl / 3, lease.ErrLost},
		{"closed", []func(context.Context) error{with(store.ErrClosed)}, ttl / 3, store.ErrClosed},
		{"stopped", []func(context.Context) error{with(store.ErrStopped)}, ttl / 3, store.ErrStopped},
		{"never again", []func(context.Context) error{fine, with(away)}, ttl/3 + ttl, lease.ErrLost},
		{"hangs", []func(context.Context) error{fine, hangs}, ttl/3 + ttl, lease.ErrLost},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				begin, ended := time.Now(), make(chan time.Duration, 1)
				go func() {
					lease.Keep(ctx, &renewer{answers: tt.answers}, store.Lease{}, ttl, slog.New(slog.DiscardHandler), cancel)
					ended <- time.Since(begin)
				}()
				time.Sleep(10 * ttl)
				synctest.Wait()
				if tt.lost == 0 {
					if ctx.Err() != nil {
						t.Fatalf("given up: %v", context.Cause(ctx))
					}
					cancel(nil)
					synctest.Wait()
					if got := <-ended; got != 10*ttl {
						t.Errorf("it ended after %v", got)
					}
					return
				}
				if !errors.Is(context.Cause(ctx), tt.is) {
					t.Fatalf("ended with %v, want %v", context.Cause(ctx), tt.is)
				}
				if got := <-ended; got != tt.lost {
					t.Errorf("given up after %v, want %v", got, tt.lost)
				}
			})
		})
	}
}
