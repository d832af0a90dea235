package servertest

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"chainexplorer/internal/account"
	"chainexplorer/internal/kernel"
)

// TestBody is the request body of a test route, and testAnswer the answer.
type TestBody struct {
	Body struct {
		Items []string `json:"items"`
	}
}

type testAnswer struct {
	Body struct {
		Count int `json:"count"`
	}
}

// AddRead adds a route without input to the table, behind the whole kernel.
func AddRead(s *kernel.Server, r kernel.Route, handle func(context.Context) error) {
	kernel.Register(s, r, func(ctx context.Context, _ *struct{}) (*testAnswer, error) { return &testAnswer{}, handle(ctx) })
}

// AddWrite adds a route with a body to the table.
func AddWrite(s *kernel.Server, r kernel.Route, handle func(context.Context, *TestBody) error) {
	kernel.Register(s, r, func(ctx context.Context, in *TestBody) (*testAnswer, error) { return &testAnswer{}, handle(ctx, in) })
}

// Hooked is a world with routes that misbehave.
type Hooked struct {
	*World
	Entered, Leave chan struct{}
}

// NewHooked is a World of its own with routes that panic, fail, are slow, wait to be
// let go, and take a body.
func NewHooked(t *testing.T, change ...func(*Options)) *Hooked {
	w := &Hooked{New(t, 5, change...), make(chan struct{}), make(chan struct{})}
	route := func(id, method string, maxBody int64) kernel.Route {
		return kernel.Route{ID: id, Method: method, Path: "/v1/test/" + id, Family: "Test", Summary: "Test.", Description: "Test.", Class: kernel.Light, Scope: account.Read,
			Tier: kernel.TierOfficial, Certification: kernel.Experimental, Audience: kernel.External, Depends: kernel.OnClock, MaxBody: maxBody}
	}
	AddRead(w.Server, route("panic", "GET", 0), func(context.Context) error { panic("the secret of the panic") })
	AddRead(w.Server, route("broken", "GET", 0), func(context.Context) error { return fmt.Errorf("the secret of the failure") })
	AddRead(w.Server, route("slow", "GET", 0), func(ctx context.Context) error {
		<-ctx.Done()
		return fmt.Errorf("query: %w", ctx.Err())
	})
	AddRead(w.Server, route("wait", "GET", 0), func(context.Context) error {
		w.Entered <- struct{}{}
		<-w.Leave
		return nil
	})
	AddWrite(w.Server, route("write", "POST", 100), func(context.Context, *TestBody) error { return nil })
	w.Contract = contractOf(t, w.Server)
	return w
}

// Post sends a body to the route that takes one.
func (w *Hooked) Post(contentType, body string) Reply {
	w.T.Helper()
	req, err := http.NewRequestWithContext(w.T.Context(), http.MethodPost, w.URL+"/v1/test/write", strings.NewReader(body))
	if err != nil {
		w.T.Fatal(err)
	}
	req.Header.Set("X-Service-Api-Key", w.Key)
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	return w.Send(req)
}
