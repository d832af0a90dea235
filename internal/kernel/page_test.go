package kernel_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"chainexplorer/internal/account"
	"chainexplorer/internal/kernel"
)

type listed struct {
	chainPath
	Limit kernel.Limit `query:"rowLimit"`
}

type posted struct {
	chainPath
	Body struct {
		Limit kernel.BodyLimit `json:"limit,omitempty"`
	}
}

func pagedRoute(id, method string, page kernel.Page) kernel.Route {
	r := kernel.Route{ID: id, Method: method, Path: "/v1/{chain}/" + id, Family: "Test", Summary: "Test.", Description: "Rows: {page}.",
		Class: kernel.Light, Scope: account.Read, Tier: kernel.TierOfficial, Certification: kernel.Experimental, Audience: kernel.External,
		Depends: kernel.OnSetup, Page: page}
	if method == http.MethodPost {
		r.MaxBody = 100
	}
	return r
}

func sized(n int) (*counted, error) {
	out := &counted{}
	out.Body.Count = n
	return out, nil
}

// TestPagesAreThoseOfTheRoute: what a route says of its pages is what a request gets,
// in the query and in a body, and what the description tells.
func TestPagesAreThoseOfTheRoute(t *testing.T) {
	s := serve(t)
	kernel.Register(s.k, pagedRoute("short", http.MethodGet, kernel.Page{Usual: 3, Most: 7}), func(_ context.Context, in *listed) (*counted, error) {
		if in.Limit.Most() != 7 {
			t.Errorf("at most %d", in.Limit.Most())
		}
		return sized(in.Limit.Size())
	})
	kernel.Register(s.k, pagedRoute("long", http.MethodGet, kernel.Page{Usual: 30, Most: 1070}), func(_ context.Context, in *listed) (*counted, error) { return sized(in.Limit.Size()) })
	kernel.Register(s.k, pagedRoute("body", http.MethodPost, kernel.Page{Usual: 4, Most: 9}), func(_ context.Context, in *posted) (*counted, error) { return sized(in.Body.Limit.Size()) })
	for _, tt := range []struct {
		method, target, body string
		want                 int
	}{
		{http.MethodGet, "short", "", 3},
		{http.MethodGet, "short?rowLimit=5", "", 5},
		{http.MethodGet, "short?rowLimit=8", "", 7},
		{http.MethodGet, "short?rowLimit=0", "", 1},
		{http.MethodGet, "short?rowLimit=-99999999999999999999", "", 1},
		{http.MethodGet, "long", "", 30},
		{http.MethodGet, "long?rowLimit=5000", "", 1070},
		{http.MethodPost, "body", "{}", 4},
		{http.MethodPost, "body", `{"limit":6}`, 6},
		{http.MethodPost, "body", `{"limit":100}`, 9},
		{http.MethodPost, "body", `{"limit":-1}`, 1},
		{http.MethodPost, "body", `{"limit":null}`, 4},
	} {
		r := httptest.NewRequest(tt.method, "/v1/X/"+tt.target, strings.NewReader(tt.body))
		r.Header.Set(kernel.HeaderKey, s.key)
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		s.k.ServeHTTP(w, r)
		if want := fmt.Sprintf(`{"count":%d}`, tt.want); w.Code != http.StatusOK || strings.TrimSpace(w.Body.String()) != want {
			t.Errorf("%s %s %s: %d %s, want %s", tt.method, tt.target, tt.body, w.Code, w.Body, want)
		}
	}
	want := map[string][2]string{"short": {"rowLimit", "Rows: 1 to 7, 3 by default."}, "long": {"rowLimit", "Rows: 1 to 1,070, 30 by default."}, "body": {"limit", "Rows: 1 to 9, 4 by default."}}
	for _, r := range s.k.Entries() {
		if got := [2]string{r.PageParameter(), r.Description}; got != want[r.ID] || s.k.OperationOf(r).Description != r.Description {
			t.Errorf("%s: %q, and %q in the document", r.ID, got, s.k.OperationOf(r).Description)
		}
	}
}

// TestListsSayTheirPages: a list without sizes, and sizes without a list, are
// mistakes in the program.
func TestListsSayTheirPages(t *testing.T) {
	refused := func(what string, register func(*kernel.Server)) {
		s := serve(t)
		defer func() {
			if p := recover(); p == nil || !strings.Contains(fmt.Sprint(p), "wrong") {
				t.Errorf("%s is registered: %v", what, p)
			}
		}()
		register(s.k)
	}
	list := func(p kernel.Page) func(*kernel.Server) {
		return func(k *kernel.Server) {
			kernel.Register(k, pagedRoute("wrong", http.MethodGet, p), func(context.Context, *listed) (*counted, error) { return sized(0) })
		}
	}
	refused("a list without a page", list(kernel.Page{}))
	refused("a list whose page exceeds its maximum", list(kernel.Page{Usual: 8, Most: 7}))
	refused("a body without a page", func(k *kernel.Server) {
		kernel.Register(k, pagedRoute("wrong", http.MethodPost, kernel.Page{}), func(context.Context, *posted) (*counted, error) { return sized(0) })
	})
	refused("a page without a list", func(k *kernel.Server) {
		kernel.Register(k, pagedRoute("wrong", http.MethodGet, kernel.Page{Usual: 1, Most: 2}), func(context.Context, *chainPath) (*counted, error) { return sized(0) })
	})
	refused("two page sizes", func(k *kernel.Server) {
		kernel.Register(k, pagedRoute("wrong", http.MethodGet, kernel.Page{Usual: 1, Most: 2}), func(context.Context, *struct {
			listed
			Other kernel.Limit `query:"otherLimit"`
		}) (*counted, error) {
			return sized(0)
		})
	})
}
