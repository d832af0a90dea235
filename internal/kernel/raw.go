package kernel

import (
	"context"
	"io"
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
)

// Raw serves requests whose wire format is not the kernel's, such as JSON-RPC. The
// kernel finds out who asks and within which lane; the handler reads, limits and
// answers by the parts below, so that keys, budgets and bounds are the same as on
// every other route.
type Raw struct {
	// Route says what the kernel has to know: its id for metrics and logs, and the
	// scope that every request needs.
	Route Route
	// Operation describes the route in the documents, at the method and path of Route;
	// nil leaves it out of them, and of the table.
	Operation *huma.Operation
	// Patterns are a method and a path each, such as "POST /v1/{chain}/rpc". They are
	// served as they stand.
	Patterns []string
	// Credentials may add a key that was sent in another way than by header. It is
	// called first of all, with a request that is the kernel's own.
	Credentials func(r *http.Request)
	// Refuse answers for the kernel, in the wire format of the route.
	Refuse func(w http.ResponseWriter, r *http.Request, e *Error)
	Serve  http.HandlerFunc
	// Restricted keeps the route to pages of the listed origins.
	Restricted bool
}

// HandleRaw registers a raw route.
func (s *Server) HandleRaw(raw Raw) {
	route := &raw.Route
	route.classHeader = []string{string(route.Class)}
	if raw.Operation != nil {
		s.describe(route, raw.Operation)
	}
	seen := s.metrics.of(route.ID)
	for _, pattern := range raw.Patterns {
		s.routes[pattern] = route
		s.guarded[pattern] = raw.Restricted
		s.handle(pattern, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			x := w.(*exchange) // the mux is only reached through ServeHTTP
			req := &x.record
			req.Route, req.seen = route, seen
			route.head(w.Header())
			s.cors(w, r)
			if raw.Restricted {
				s.restrict(w, r)
			}
			if raw.Credentials != nil {
				r.Header = r.Header.Clone()
				raw.Credentials(r)
			}
			e := s.authenticate(x, r)
			if e == nil {
				req.Caller = &x.who
				if e = s.authorise(&x.who, route, r.Header); e != nil {
					e = s.charged(r.Context(), x, e)
				}
			}
			if e != nil {
				if e.Cause != nil {
					s.Log.Warn("request refused", "request_id", req.ID, "err", e.Cause)
				}
				raw.Refuse(w, r, e)
				return
			}
			raw.Serve(w, r.WithContext(WithRequest(r.Context(), req)))
		}))
	}
}

// describe puts a raw route into the table and the document.
func (s *Server) describe(r *Route, op *huma.Operation) {
	described := r.operation()
	described.RequestBody, described.Responses, described.Parameters = op.RequestBody, op.Responses, op.Parameters
	s.table = append(s.table, r)
	s.huma.OpenAPI().AddOperation(&described)
	s.amend(r)
}

// charged is a refusal of what a key may not do. It costs as it does on every other
// route, and where nothing is left that is what the caller is told.
func (s *Server) charged(ctx context.Context, x *exchange, refused *Error) *Error {
	class := x.record.Route.Class
	v, e := s.Spend(ctx, &x.who, class, 1)
	x.record.Budget = v
	TellBudget(x.Header(), v, class)
	if e != nil {
		return e
	}
	return refused
}

// Work does what a raw route is asked for, as the kernel has it done on every other: in one
// of the places of requests at work, in their time, and with failures in its own words.
func (s *Server) Work(r *http.Request, do func(ctx context.Context) error) *Error {
	req := RequestOf(r.Context())
	if e := s.flight.Enter(r.Context(), req.Caller, "at work"); e != nil {
		return e
	}
	defer s.flight.Leave(req.Caller)
	ctx, cancel := context.WithTimeout(r.Context(), s.timeout)
	defer cancel()
	err := do(ctx)
	if err == nil {
		return nil
	}
	e := s.asError(err)
	if e.Cause != nil {
		s.Log.Error("request failed", "request_id", req.ID, "operation", req.Route.ID, "code", string(e.Code), "err", e.Cause)
	}
	return e
}

// TellBudget sets the headers of a verdict about a class.
func TellBudget(h http.Header, v Verdict, class Class) {
	values := []string{string(class), strconv.Itoa(v.Limit), strconv.Itoa(v.Remaining), policies[class]}
	for i, name := range []string{HeaderRouteClass, HeaderLimit, HeaderRemaining, HeaderPolicy} {
		h[name] = values[i : i+1 : i+1]
	}
}

// ReadBody reads a body of at most so many bytes in time, compressed or not, while
// not too many others are being read. watch sees the bytes as they arrive, and its
// error, when that is an *Error, ends the reading at once.
func (s *Server) ReadBody(w http.ResponseWriter, r *http.Request, most int64, watch io.Writer) ([]byte, *Error) {
	x := w.(*exchange) // a raw route is only reached through ServeHTTP
	if e := s.bodies.Enter(r.Context(), x.record.Caller, "whose bodies are being read"); e != nil {
		return nil, leaveBody(x, e)
	}
	defer s.bodies.Leave(x.record.Caller)
	text, e := s.readBody(x, r, most, watch)
	if e != nil {
		return nil, leaveBody(x, e)
	}
	return text, nil
}

// Reauthenticate says whether a key that was accepted still is, by what is known no
// longer than every request is believed for.
func (s *Server) Reauthenticate(ctx context.Context, h http.Header) error {
	key, fault := presentedKey(h)
	if fault != nil {
		return fault
	}
	_, err := s.keys.Authenticate(ctx, key)
	return err
}
