package kernel

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"strings"

	"chainexplorer/internal/account"
)

// A page shows what routes answer. It asks them in this process: the request passes the
// same checks, the same handler makes the answer, and what would be encoded as JSON is
// handed over as it is. So a number on a page is that of the API, by construction.

// Asked is a request that a page made.
type Asked struct {
	Route *Route
	// URI is how a client of the API would ask the same.
	URI string
	// Answer is a pointer to the body that would be encoded.
	Answer any
}

// entry is how a route of the table is asked.
type entry struct {
	route  *Route
	handle handler
}

// handler is an http.HandlerFunc that is told its context, and does not look at that of the request: to put one
// there takes a request of its own.
type handler func(context.Context, http.ResponseWriter, *http.Request)

// Ask puts a request to a route in this process, for whoever looks at the page whose
// context this is. path are the values of the path's variables, in the order in which
// they stand there. What the page may be kept for follows from all that it asked. It panics
// where the route is not for everybody: see Route.Open.
func (s *Server) Ask(ctx context.Context, id string, query url.Values, path ...string) (any, error) {
	to, ok := s.asked[id]
	if !ok {
		panic(fmt.Sprintf("kernel: there is no route %q to ask", id))
	}
	if !to.route.Open() && (!to.route.showable() || query.Has("cursor")) {
		panic(fmt.Sprintf("kernel: a page asks %q, which is not for everybody", id))
	}
	page := RequestOf(ctx)
	req := &Request{ID: page.ID, Route: to.route, Caller: page.Caller, inside: true}
	at := &url.URL{RawQuery: query.Encode()}
	r := &http.Request{Method: to.route.Method, URL: at, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{}, Body: http.NoBody}
	at.Path = fillPath(to.route.Path, path, r.SetPathValue)
	checked, e := to.route.checkQuery(at.RawQuery, req)
	if e != nil {
		return nil, e
	}
	at.RawQuery = checked
	to.handle(WithRequest(ctx, req), nowhere{}, r)
	if req.failure != nil {
		page.doubted = true // what failed may succeed
		return nil, req.failure
	}
	page.asked = append(page.asked, Asked{to.route, at.RequestURI(), bodyOf(req.made)})
	page.mutable = page.mutable || !req.immutable
	if !req.keepable() {
		page.passing = page.passing || req.Route.ofIndex()
		page.doubted = page.doubted || !req.Route.ofIndex()
	}
	return page.asked[len(page.asked)-1].Answer, nil
}

// Open says that what the route answers is for whoever asks: any key of any plan reads it.
// Only such routes may stand behind pages that are seen without a key. Others are for
// partners, for one workspace, for people who are signed in, or change something.
func (r *Route) Open() bool {
	return r.Method == http.MethodGet && r.Scope == account.Read && r.Tier == TierOfficial && r.Audience == External && !r.Session
}

// showable says that people may see the beginning of what the route answers to partners.
func (r *Route) showable() bool {
	return r.Shown && r.Method == http.MethodGet && r.Scope == account.Partner && r.Tier == TierPartner && r.Audience == External && !r.Session
}

// Asked are the requests that the page made, in order.
func (r *Request) Asked() []Asked { return r.asked }

// fillPath puts values in the place of a path's variables, and tells each to set.
func fillPath(pattern string, values []string, set func(name, value string)) string {
	segments := strings.Split(pattern, "/")
	for i, segment := range segments {
		name, variable := strings.CutPrefix(segment, "{")
		if !variable {
			continue
		}
		if len(values) == 0 {
			panic(fmt.Sprintf("kernel: %s is asked without its %s", pattern, segment))
		}
		set(strings.TrimSuffix(name, "}"), values[0])
		segments[i], values = values[0], values[1:]
	}
	if len(values) > 0 {
		panic(fmt.Sprintf("kernel: %s is asked with %q too many", pattern, values))
	}
	return strings.Join(segments, "/")
}

// bodyOf is a pointer to the field that Huma encodes.
func bodyOf(out any) any {
	return reflect.ValueOf(out).Elem().FieldByName("Body").Addr().Interface()
}

// nowhere takes the status of an answer that is handed over in this process.
type nowhere struct{}

func (nowhere) Header() http.Header         { return http.Header{} }
func (nowhere) WriteHeader(int)             {}
func (nowhere) Write(b []byte) (int, error) { return len(b), nil }
