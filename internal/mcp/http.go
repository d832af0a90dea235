package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"chainexplorer/client"
	"chainexplorer/internal/account"
	"chainexplorer/internal/kernel"
)

// maxMessage bounds a message, and messages how many are answered at once: of all, of a
// workspace, of a key.
const (
	maxMessage                                         = 64 << 10
	messagesAtOnce, messagesOfWorkspace, messagesOfKey = 64, 16, 8
)

// callersOwn keeps answers from being kept: they are for the key that asked.
const callersOwn = "private, no-store"

// paths are where messages are taken.
var paths = []string{"/mcp", "/api/mcp"}

// askedBy is the key of the request that a message came with, in its context.
type askedBy struct{}

// New serves the protocol over HTTP.
func New(s *kernel.Server, o Options) {
	server := NewServer(o, func(ctx context.Context, op *client.Operation, values url.Values) (json.RawMessage, error) {
		r, ok := ctx.Value(askedBy{}).(*http.Request)
		if !ok {
			return nil, fmt.Errorf("%s: nobody asks", op.ID)
		}
		return through(ctx, s, r, op, values)
	})
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server },
		&mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true, DisableLocalhostProtection: true}) // origins are the kernel's to judge
	seats := kernel.NewSeats(messagesAtOnce, messagesOfWorkspace, messagesOfKey)
	route := kernel.Route{ID: "mcp", Family: "MCP", Scope: account.Read, Class: kernel.Light, Tier: kernel.TierOfficial, Certification: kernel.Beta, Audience: kernel.External, Depends: kernel.OnCaller | kernel.OnClock}
	send := func(w http.ResponseWriter, r *http.Request, e *kernel.Error) {
		if r.ContentLength != 0 {
			kernel.LeaveBody(w)
		}
		asked := route
		asked.Metadata = s.Origin + "/.well-known/oauth-protected-resource" + r.URL.Path
		kernel.SendError(w, r, e, kernel.RecordOf(w).ID, &asked)
	}
	var patterns []string
	for _, p := range paths {
		patterns = append(patterns, http.MethodPost+" "+p)
	}
	s.HandleRaw(kernel.Raw{Route: route, Patterns: patterns, Restricted: true, Refuse: send, Serve: func(w http.ResponseWriter, r *http.Request) {
		who := kernel.RequestOf(r.Context()).Caller
		e := seats.Enter(r.Context(), who, "of agents")
		if e != nil {
			send(w, r, e)
			return
		}
		defer seats.Leave(who)
		v, e := s.Spend(r.Context(), who, route.Class, 1)
		kernel.TellBudget(w.Header(), v, route.Class)
		if e != nil {
			send(w, r, e)
			return
		}
		if origin := r.Header.Get("Origin"); origin != "" && !slices.Contains(s.Origins, origin) {
			send(w, r, kernel.Fail(kernel.CodeForbidden, "Pages of this origin may not ask: the operator lists those that may."))
			return
		}
		body, e := s.ReadBody(w, r, maxMessage, io.Discard)
		if e != nil {
			send(w, r, e)
			return
		}
		if text := bytes.TrimLeft(body, " \t\r\n"); len(text) > 0 && text[0] == '[' { // old clients may send hundreds of calls so, whose answers would be in memory together
			send(w, r, kernel.Fail(kernel.CodeInvalidRequest, "body: one message at a time."))
			return
		}
		w.Header().Set("Cache-Control", callersOwn)
		id := kernel.RecordOf(w).ID
		if answer, status := refused(body, id); answer != nil {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			w.Write(answer) //nolint:errcheck // the caller is gone then
			return
		}
		asked := r
		r = r.WithContext(context.WithValue(r.Context(), askedBy{}, asked))
		r.Body = io.NopCloser(bytes.NewReader(body))
		t := &told{ResponseWriter: w}
		handler.ServeHTTP(t, r)
		if e := t.failure(); e != nil {
			send(w, asked, e)
			return
		}
		t.send(id)
	}})
}

// through asks the service itself, as the one who asks.
func through(ctx context.Context, s http.Handler, asked *http.Request, o *client.Operation, values url.Values) (json.RawMessage, error) {
	path, query := o.Path, url.Values{}
	for _, p := range o.Parameters {
		given := values[p.Name]
		switch {
		case len(given) == 0:
		case p.In == "path":
			path = strings.Replace(path, "{"+p.Name+"}", url.PathEscape(given[0]), 1)
		default:
			query[p.Name] = given
		}
	}
	target := path
	if q := query.Encode(); q != "" {
		target += "?" + q
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.ID, err)
	}
	req.RemoteAddr, req.Host, req.RequestURI, req.TLS = asked.RemoteAddr, asked.Host, target, asked.TLS
	for _, name := range []string{kernel.HeaderKey, kernel.HeaderKeyShort, "X-Forwarded-For", "Forwarded"} {
		if v := asked.Header[name]; len(v) > 0 {
			req.Header[name] = v
		}
	}
	w := &answer{header: http.Header{}, status: http.StatusOK}
	s.ServeHTTP(w, req)
	if w.long {
		return nil, errTooLong
	}
	if w.status != http.StatusOK {
		e := &client.Error{}
		if json.Unmarshal(w.body.Bytes(), e) != nil {
			*e = client.Error{Message: http.StatusText(w.status)}
		}
		e.Operation, e.Status = o.ID, w.status
		if seconds, err := strconv.Atoi(w.header.Get("Retry-After")); err == nil {
			e.RetryAfter = time.Duration(seconds) * time.Second
		}
		return nil, e
	}
	return w.body.Bytes(), nil
}

// answer keeps what the service writes, up to a bound.
type answer struct {
	header http.Header
	status int
	body   bytes.Buffer
	long   bool
}

func (a *answer) Header() http.Header    { return a.header }
func (a *answer) WriteHeader(status int) { a.status = status }

func (a *answer) Write(p []byte) (int, error) {
	if a.body.Len()+len(p) > maxAnswer {
		a.long = true
		return 0, errTooLong
	}
	return a.body.Write(p)
}
