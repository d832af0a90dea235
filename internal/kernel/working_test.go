package kernel_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"chainexplorer/internal/account"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/servertest"
)

// TestTimeOfHandlers: a handler's time ends for whoever waits, for whoever looks, and for contexts that are made of
// it; its context is over when it is done; and it ends with the request's own.
func TestTimeOfHandlers(t *testing.T) {
	const long = time.Minute
	for name, c := range map[string]struct {
		timeout, until time.Duration // what the service gives, and when the client leaves; 0: never
		handle         func(ctx context.Context) error
		want           error
	}{
		"waits": {timeout: 20 * time.Millisecond, want: context.DeadlineExceeded, handle: func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		}},
		"looks": {timeout: 20 * time.Millisecond, want: context.DeadlineExceeded, handle: func(ctx context.Context) error {
			for ctx.Err() == nil {
			}
			<-ctx.Done() // at once
			if cause := context.Cause(ctx); !errors.Is(cause, ctx.Err()) {
				t.Errorf("the cause is %v", cause)
			}
			return ctx.Err()
		}},
		"has others wait": {timeout: 20 * time.Millisecond, want: context.DeadlineExceeded, handle: func(ctx context.Context) error {
			child, cancel := context.WithCancel(ctx)
			defer cancel()
			<-child.Done()
			return child.Err()
		}},
		"is left": {timeout: long, until: 20 * time.Millisecond, want: context.Canceled, handle: func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		}},
		"is left and looks": {timeout: long, until: 20 * time.Millisecond, want: context.Canceled, handle: func(ctx context.Context) error {
			for ctx.Err() == nil {
			}
			return ctx.Err()
		}},
		"is in time": {timeout: long, handle: func(ctx context.Context) error {
			at, some := ctx.Deadline()
			if left := time.Until(at); !some || left <= 0 || left > long {
				t.Errorf("the deadline is in %s: %t", left, some)
			}
			return ctx.Err()
		}},
		"is in time, and others wait": {timeout: long, handle: func(ctx context.Context) error {
			child, cancel := context.WithCancel(ctx)
			defer cancel()
			select {
			case <-child.Done():
			default:
			}
			return child.Err()
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w := servertest.New(t, 2, func(o *servertest.Options) { o.Timeout = c.timeout })
			var at context.Context
			var got error
			kernel.Register(w.Server, kernel.Route{ID: "working", Method: http.MethodGet, Path: "/v1/test/working", Family: "Test", Summary: "Test.", Description: "Test.", Class: kernel.Light,
				Scope: account.Read, Tier: kernel.TierOfficial, Certification: kernel.Experimental, Audience: kernel.External, Depends: kernel.OnClock},
				func(ctx context.Context, _ *struct{}) (*struct{}, error) {
					if kernel.RequestOf(ctx).Route.ID != "working" {
						t.Error("the context is of another request")
					}
					at, got = ctx, c.handle(ctx)
					if kernel.RequestOf(ctx).Route.ID != "working" {
						t.Error("the context is of another request in the end")
					}
					return &struct{}{}, nil
				})
			r, err := http.NewRequest(http.MethodGet, "/v1/test/working", nil)
			if err != nil {
				t.Fatal(err)
			}
			r.RequestURI = r.URL.Path
			r.Header.Set(kernel.HeaderKey, w.Key)
			if c.until > 0 {
				ctx, leave := context.WithCancel(r.Context())
				defer leave()
				time.AfterFunc(c.until, leave)
				r = r.WithContext(ctx)
			}
			w.Server.ServeHTTP(httptest.NewRecorder(), r)
			if !errors.Is(got, c.want) || c.want == nil && got != nil {
				t.Errorf("the handler found %v, want %v", got, c.want)
			}
			if at == nil {
				t.Fatal("the handler was not called")
			}
			<-at.Done() // whoever still has it
			if at.Err() == nil {
				t.Error("the context outlives its handler")
			}
		})
	}
}
