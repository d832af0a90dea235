package kernel

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"chainexplorer/internal/account"
)

// Class is the budget that a route draws on: X-Service-Route-Class.
type Class string

// The route classes.
const (
	Light Class = "light"
	Heavy Class = "heavy"
	Batch Class = "batch"
)

// Certification is how far a route's contract can be relied on.
type Certification string

// The certification states.
const (
	Certified    Certification = "certified"
	Beta         Certification = "beta"
	Experimental Certification = "experimental"
	// Unsupported is no contract with clients: a route that serves a page of ours.
	Unsupported Certification = "unsupported"
)

// Tier is the access tier that a route belongs to.
type Tier string

// The access tiers.
const (
	TierOfficial Tier = "official_public"
	TierUtility  Tier = "advanced_utilities"
	TierPartner  Tier = "partner"
)

// Audience says who a route is for.
type Audience string

// The audiences.
const (
	External Audience = "external"
	Operator Audience = "operator"
)

// Route is one entry of the table. Everything that the kernel does with a
// request, and everything that the documents say of it, follows from here.
type Route struct {
	ID          string // operation id
	Method      string
	Path        string // below the host, such as /v1/{chain}/status
	Family      string // heading in the reference
	Summary     string
	Description string

	Class         Class
	Scope         account.Scopes
	Tier          Tier
	Certification Certification
	Audience      Audience
	// Session routes are for people who are signed in, and for no key.
	Session bool
	// Depends is what the answers follow from; see there.
	Depends Depends
	// Page are the sizes of a list's pages. A Limit of the request takes them, and
	// {page} in the Description stands for them.
	Page Page
	// Statuses are the failures that the route can answer with, besides those
	// that every route can, and every route with a body.
	Statuses []int
	// Example is a query without which a request would be refused, for the documents.
	Example string
	// ExampleStatus is how the example in the documents ends, unless with 200.
	ExampleStatus int
	// ExampleBody is the body of the example, of a route that takes one.
	ExampleBody func(Examples) string
	// ExampleCurl are options of curl that the example needs besides its body.
	ExampleCurl string
	// Retired is for an operation that is gone. It answers 410 with what took its place,
	// whatever the query: who comes with parameters of old is to learn of it too.
	Retired bool
	// Deprecated is for an operation that still works, and that nobody should begin to use.
	Deprecated bool
	// Shown routes are for keys of partners, and people see the beginning of what they
	// answer on pages: the first page of a list, and no cursor.
	Shown bool
	// Dated routes have weak validators and times of last modification: see Request.ModifiedAt.
	Dated bool
	// Metadata is where the document is that says how the route is protected (RFC 9728), which
	// a 401 names; "" for routes that have none.
	Metadata string
	// Headers are sent with every answer of the route.
	Headers map[string]string
	// Tells are headers that answers may have besides, with values that follow from the
	// request; the route sends them by itself.
	Tells []string
	// MaxBody is the largest request body in bytes; 0 for none.
	MaxBody int64
	// Verbatim bodies reach the handler as they came: it reads them more strictly than
	// the kernel would.
	Verbatim bool

	// classHeader and policyHeader are the values of the headers of these names.
	classHeader, policyHeader []string
	// query are the query parameters, by name, and queryNames their names in order.
	query      map[string]queryParameter
	queryNames []string
	// pageParameter is the parameter, or field of the body, with the page size.
	pageParameter string
}

// queryParameter is what the kernel has to know of a parameter.
type queryParameter struct {
	list     bool // may be repeated
	integer  bool
	required bool
	doc      string
}

// ScopeName is what WWW-Authenticate and the documents call the scope.
func (r *Route) ScopeName() string {
	if r.Session {
		return "session"
	}
	return r.Scope.String()
}

// head sets the headers that all answers of the route have.
func (r *Route) head(h http.Header) {
	h[HeaderRouteClass] = r.classHeader
	for name, value := range r.Headers {
		h.Set(name, value)
	}
}

// commonStatuses are failures that any keyed route can answer with.
var commonStatuses = []int{http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden,
	http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusServiceUnavailable}

// bodyStatuses are failures that any route with a body can answer with.
var bodyStatuses = []int{http.StatusRequestTimeout, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType}

// Register adds a route with its typed handler to the table. It is compiled for every pair of
// types: what need not be is in register.
func Register[I, O any](s *Server, r Route, handle func(ctx context.Context, in *I) (*O, error)) {
	s.register(&r, reflect.TypeFor[I](), reflect.TypeFor[O](), func(ctx context.Context, in any) (any, error) {
		out, err := handle(ctx, in.(*I))
		if out == nil {
			return nil, err
		}
		return out, err
	})
}

func (s *Server) register(route *Route, input, output reflect.Type, handle func(ctx context.Context, in any) (any, error)) {
	if route.Depends == 0 {
		panic(fmt.Sprintf("kernel: route %s does not say what its answers depend on", route.ID))
	}
	route.setPage(input)
	route.classHeader = []string{string(route.Class)}
	route.policyHeader = []string{policies[route.Class]}
	op := route.operation()
	in, out := s.describeInput(&op, input), s.describeOutput(&op, output)
	if (in.body != nil || in.raw != nil) && route.MaxBody == 0 {
		panic(fmt.Sprintf("kernel: route %s takes a body, and says not how large a one", route.ID))
	}
	s.huma.OpenAPI().AddOperation(&op)
	s.table = append(s.table, route)
	s.amend(route)
	handler := func(ctx context.Context, w http.ResponseWriter, r *http.Request) {
		req := RequestOf(ctx)
		v := reflect.New(input)
		var answer any
		if req.failure = s.read(in, r, req, v.Elem()); req.failure == nil {
			var err error
			answer, err = handle(ctx, v.Interface())
			if err == nil && req.cursor && !req.cursorRead {
				// A list that is empty whatever the page has no cursors: this is none of its.
				err = notOurs()
			}
			if err != nil {
				req.failure = s.asError(err)
			}
		}
		switch {
		case req.failure != nil:
			w.WriteHeader(Codes[req.failure.Code].Status)
		case req.inside:
			req.made = answer
		default:
			if err := out.write(w, reflect.ValueOf(answer).Elem()); err != nil {
				panic(fmt.Errorf("encode an answer of %s: %w", route.ID, err))
			}
			if req.lent != nil {
				req.lent.Return()
			}
		}
	}
	s.asked[route.ID] = entry{route, handler}
	h := s.keyed(route, handler)
	for _, prefix := range []string{"", "/api"} {
		pattern := route.Method + " " + prefix + route.Path
		s.handle(pattern, h)
		s.routes[pattern] = route
	}
}

// operation is what the document says of a route before its inputs and answers.
func (r *Route) operation() huma.Operation {
	security := []map[string][]string{{"apiKey": {}}, {"apiKeyShort": {}}}
	if r.Session {
		security = sessionSecurity(r.Method)
	}
	op := huma.Operation{
		OperationID: r.ID,
		Method:      r.Method,
		Path:        r.Path,
		Tags:        []string{r.Family},
		Summary:     r.Summary,
		Description: r.Description,
		Errors:      append(append([]int{}, commonStatuses...), r.Statuses...),
		Security:    security,
		Extensions: map[string]any{
			"x-service-certification":    string(r.Certification),
			"x-service-key-tier":         string(r.Tier),
			"x-service-audience":         string(r.Audience),
			"x-service-scope":            r.ScopeName(),
			"x-service-rate-limit-class": string(r.Class),
		},
	}
	if r.MaxBody > 0 {
		op.Errors = append(op.Errors, bodyStatuses...)
	}
	if r.Retired {
		op.DefaultStatus = http.StatusGone
	}
	op.Deprecated = r.Retired || r.Deprecated
	return op
}

// amend makes the document say what the kernel does where Huma would not, and
// learns from it which parameters are lists.
func (s *Server) amend(r *Route) {
	op := s.OperationOf(r)
	if !slices.Contains(r.Statuses, http.StatusUnprocessableEntity) {
		delete(op.Responses, strconv.Itoa(http.StatusUnprocessableEntity)) // what does not validate is 400 here
	}
	r.query = map[string]queryParameter{}
	for _, p := range op.Parameters {
		if p.In != "query" {
			continue
		}
		q := queryParameter{required: p.Required, doc: p.Description}
		if p.Schema != nil {
			q.list, q.integer = p.Schema.Type == huma.TypeArray, p.Schema.Type == huma.TypeInteger
		}
		r.query[p.Name] = q
		r.queryNames = append(r.queryNames, p.Name)
	}
}

// checkQuery refuses what Huma would pass over: a query that does not parse, the
// second value of a parameter that takes one, and a parameter without a value: a
// filter whose value got lost must not become no filter. An empty cursor is that
// of the first page, as clients send it that keep one variable. It returns the
// query with whole numbers spelled as such.
func (r *Route) checkQuery(raw string, req *Request) (string, *Error) {
	if raw == "" || r.Retired {
		return "", nil
	}
	query, err := url.ParseQuery(raw)
	req.query = query
	if err != nil {
		return raw, Fail(CodeInvalidRequest, "query: it is not well-formed.")
	}
	changed := false
	for name, values := range query {
		p, known := r.query[name]
		isCursor := name == "cursor" || name == "instanceCursor"
		switch {
		case !known && len(r.query) == 0:
			return raw, Fail(CodeInvalidRequest, "query.%s: there is no such parameter; this route has none.", Clip(name, 40))
		case !known:
			return raw, Fail(CodeInvalidRequest, "query.%s: there is no such parameter; this route has %s.", Clip(name, 40), Listed(r.queryNames))
		case len(values) > 1 && !p.list:
			return raw, Fail(CodeInvalidRequest, "query.%s: it can be given once.", name)
		case slices.Contains(values, "") && p.required:
			return raw, Fail(CodeInvalidRequest, "query.%s: it has no value, and one is needed: %s", name, p.doc)
		case slices.Contains(values, "") && !isCursor:
			return raw, Fail(CodeInvalidRequest, "query.%s: it has no value. Leave it out instead.", name)
		case !isCursor && slices.ContainsFunc(values, func(v string) bool { return !isText(v) }):
			return raw, Fail(CodeInvalidRequest, "query.%s: it has bytes that are no text.", name)
		case p.integer:
			n, ok := clampedInteger(values[0])
			if !ok {
				return raw, Fail(CodeInvalidRequest, "query.%s: %q is not a whole number.", name, Clip(values[0], 40))
			}
			if n != values[0] {
				values[0], changed = n, true
			}
		}
		req.cursor = req.cursor || isCursor && values[0] != ""
	}
	if changed {
		raw = query.Encode()
	}
	return raw, nil
}

// isText says that a database stores s as it is: PostgreSQL takes neither a zero byte nor
// what is not UTF-8, and would answer that it failed.
func isText(s string) bool { return utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 }

// clampedInteger spells a whole number as one of 64 bits, the nearest there is.
func clampedInteger(text string) (string, bool) {
	whole, ok := wholeNumber(text)
	if !ok {
		whole = text // such as 007
	}
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return "", false
	}
	return strconv.FormatInt(n, 10), true // of what is out of range ParseInt returns the nearest
}

// OpenAPIPath is where integrators already look for the document.
const OpenAPIPath = "/service-openapi.yaml"

// Examples are things that exist on the default chain, so that the requests in
// the documents can be pasted and answered. While the index has none they are
// shell variables.
type Examples struct {
	Chain     string
	Tx        string
	Block     string
	Timestamp string
	Message   string
	Class     string
}
