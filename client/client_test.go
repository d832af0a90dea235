package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"chainexplorer/client"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/servertest"
)

// TestMain leaves the examples out unless there is a service: TestExamples runs them.
func TestMain(m *testing.M) {
	if os.Getenv(client.EnvBaseURL) == "" {
		if err := flag.Set("test.skip", "^Example"); err != nil {
			panic(err)
		}
	}
	os.Exit(servertest.Main(m.Run))
}

// TestExamples runs the examples against a service, as a reader would.
func TestExamples(t *testing.T) {
	w := servertest.Shared(t, 45)
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^Example", "-test.v") //nolint:gosec // ourselves
	cmd.Env = append(os.Environ(), client.EnvBaseURL+"="+w.URL, client.EnvAPIKey+"="+w.Key, client.EnvChain+"="+servertest.ChainID)
	out, err := cmd.CombinedOutput()
	if n := strings.Count(string(out), "--- PASS: Example"); err != nil || n < 4 {
		t.Errorf("%d examples ran: %v\n%s", n, err, out)
	}
}

func asError(err error, e **client.Error) bool { return errors.As(err, e) }

// document is what a service that serves everything says of itself.
func document(t *testing.T) []byte {
	t.Helper()
	return servertest.New(t, 2, servertest.Whole(t)).Do(http.MethodGet, "/service-openapi.json", "").Body
}

// TestCodes: what waiting helps against is what the table of failures says.
func TestCodes(t *testing.T) {
	for code, info := range kernel.Codes {
		want := strings.Contains(info.Cure, "as long as Retry-After says")
		if got := (&client.Error{Code: string(code)}).Retryable(); got != want {
			t.Errorf("%s (%d): retryable is %v; the cure is %q", code, info.Status, got, info.Cure)
		}
	}
}

// TestRetries holds what is tried again, and how often.
func TestRetries(t *testing.T) {
	envelope := func(code string) string { return `{"code":"` + code + `","message":"m","docSlug":"d","requestId":"r"}` }
	post := func(ctx context.Context, c *client.Chain) error {
		_, err := c.CreateVerificationJob(ctx, "0123456789abcdef", &client.VerificationPackage{})
		return err
	}
	keyless := func(ctx context.Context, c *client.Chain) error {
		_, err := c.CreateWebhook(ctx, "", &client.CreateInputBody{})
		return err
	}
	cancel := func(ctx context.Context, c *client.Chain) error {
		_, err := c.CancelVerificationJob(ctx, "vrf_1")
		return err
	}
	get := func(ctx context.Context, c *client.Chain) error {
		_, err := c.GetStatus(ctx)
		return err
	}
	rpc := func(ctx context.Context, c *client.Chain) error {
		_, err := c.CallRPC(ctx, json.RawMessage(`{}`))
		return err
	}
	const drop = 0 // the connection breaks
	for name, c := range map[string]struct {
		call   func(context.Context, *client.Chain) error
		status int
		after  string
		body   string
		times  int64 // how often the service is asked
		code   string
	}{
		"rate limited":               {get, 429, "1", envelope("rate_limited"), 2, ""},
		"busy":                       {get, 503, "1", envelope("service_unavailable"), 2, ""},
		"busy for long":              {get, 503, "3600", envelope("service_unavailable"), 1, "service_unavailable"},
		"wrong":                      {get, 400, "", envelope("invalid_request"), 1, "invalid_request"},
		"wrong in ourselves":         {get, 500, "", envelope("internal_error"), 1, "internal_error"},
		"missing":                    {get, 404, "", envelope("not_found"), 1, "not_found"},
		"a proxy":                    {get, 502, "", "<html>bad gateway</html>", 2, ""},
		"a broken connection":        {get, drop, "", "", 2, ""},
		"a key makes a post safe":    {post, drop, "", "", 2, ""},
		"a post that is not safe":    {cancel, drop, "", "", 1, ""},
		"a post without its key":     {keyless, drop, "", "", 1, ""},
		"refused before it happened": {cancel, 429, "1", envelope("rate_limited"), 2, ""},
		"a proxy and such a post":    {cancel, 502, "", "", 1, ""},
		"what may be a transaction":  {rpc, drop, "", "", 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked atomic.Int64
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if asked.Add(1) > 1 {
					w.Write([]byte(`{}`)) //nolint:errcheck // a test
					return
				}
				if c.status == drop {
					conn, _, err := http.NewResponseController(w).Hijack()
					if err == nil {
						conn.Close() //nolint:errcheck // that is it
					}
					return
				}
				if c.after != "" {
					w.Header().Set("Retry-After", c.after)
				}
				w.WriteHeader(c.status)
				w.Write([]byte(c.body)) //nolint:errcheck // a test
			}))
			defer srv.Close()
			cl, err := client.New(client.Options{BaseURL: srv.URL, HTTP: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}})
			if err != nil {
				t.Fatal(err)
			}
			err = c.call(t.Context(), cl.Chain("SN_MAIN"))
			if asked.Load() != c.times || (c.times == 1) != (err != nil) || client.Code(err) != c.code {
				t.Errorf("asked %d times, want %d: %v", asked.Load(), c.times, err)
			}
		})
	}
}

// TestPatienceEnds: attempts are counted, and a context ends the wait.
func TestPatienceEnds(t *testing.T) {
	var asked atomic.Int64
	after := atomic.Value{}
	after.Store("0")
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.Header().Set("Retry-After", after.Load().(string))
		w.WriteHeader(http.StatusServiceUnavailable)
		w.Write([]byte(`{"code":"service_unavailable"}`)) //nolint:errcheck // a test
	}))
	defer srv.Close()
	c, err := client.New(client.Options{BaseURL: srv.URL, Attempts: 2})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.ListChains(t.Context()); client.Code(err) != "service_unavailable" || asked.Load() != 2 {
		t.Errorf("asked %d times: %v", asked.Load(), err)
	}
	after.Store("30")
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	if _, err := c.ListChains(ctx); !errors.Is(err, context.DeadlineExceeded) || client.Code(err) != "service_unavailable" {
		t.Errorf("%v", err)
	}
}

// TestKeysStayHome: a key goes to the service alone, and a session's token only to /v1/me.
func TestKeysStayHome(t *testing.T) {
	heard := make(chan http.Header, 1)
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { heard <- r.Header }))
	defer elsewhere.Close()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/SN_MAIN/status" {
			http.Redirect(w, r, elsewhere.URL+"/", http.StatusTemporaryRedirect)
			return
		}
		key, session := r.Header.Get("X-Service-Api-Key"), r.Header.Get("Authorization")
		if me := strings.HasPrefix(r.URL.Path, "/v1/me/"); me && (key != "" || session != "Bearer token") || !me && (key != "svc_test_k" || session != "") {
			t.Errorf("%s: %q %q", r.URL.Path, key, session)
		}
		w.Write([]byte(`{}`)) //nolint:errcheck // a test
	}))
	defer srv.Close()
	c, err := client.New(client.Options{BaseURL: srv.URL, APIKey: "svc_test_k", Session: "token", Attempts: 1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Chain("SN_MAIN").GetStatus(t.Context()); err == nil {
		t.Error("a redirect is an answer")
	}
	select {
	case h := <-heard:
		t.Errorf("the key went elsewhere: %v", h)
	default:
	}
	if _, err := c.ListChains(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := c.GetMyUsage(t.Context()); err != nil {
		t.Error(err)
	}
	for _, o := range []client.Options{{BaseURL: "ftp://x"}, {BaseURL: "x"}, {BaseURL: "http://u:p@x"}, {BaseURL: "http://x?q=1"}, {}, {BaseURL: "http://x", APIKey: "a\nb"}} {
		if _, err := client.New(o); err == nil || strings.Contains(err.Error(), "a\nb") {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

// TestBounds: an answer that never ends is not read to its end, and a list that leads to
// itself ends.
func TestBounds(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/status") {
			w.Write([]byte(`{"chainId":"` + strings.Repeat("x", 1<<20) + `"}`)) //nolint:errcheck // a test
			return
		}
		w.Write([]byte(`{"items":[{"blockNumber":1}],"nextCursor":"same"}`)) //nolint:errcheck // a test
	}))
	defer srv.Close()
	c, err := client.New(client.Options{BaseURL: srv.URL, MaxAnswer: 1 << 10})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Chain("SN_MAIN").GetStatus(t.Context()); err == nil || !strings.Contains(err.Error(), "1024 bytes") {
		t.Error(err)
	}
	var last error
	n := 0
	for _, err := range c.Chain("SN_MAIN").ListBlocksAll(t.Context(), nil) {
		if last = err; err == nil {
			n++
		}
	}
	if n != 1 || last == nil {
		t.Errorf("%d items: %v", n, last)
	}
}

// TestNoInternalTypes: nobody who imports the client meets a type that they cannot name.
func TestNoInternalTypes(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		inside := map[string]bool{}
		for _, i := range f.Imports {
			path, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(path, "/internal/") || !strings.Contains(path, "chainexplorer") && strings.Contains(path, ".") {
				inside[path[strings.LastIndexByte(path, '/')+1:]] = true
			}
		}
		for _, d := range f.Decls {
			var seen ast.Node
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Name.IsExported() {
					seen = d.Type
				}
			case *ast.GenDecl:
				seen = d
			}
			if seen == nil {
				continue
			}
			ast.Inspect(seen, func(n ast.Node) bool {
				if s, ok := n.(*ast.SelectorExpr); ok {
					if x, ok := s.X.(*ast.Ident); ok && inside[x.Name] {
						t.Errorf("%s shows %s.%s", file, x.Name, s.Sel.Name)
					}
				}
				return true
			})
		}
	}
}

func canceled(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}
