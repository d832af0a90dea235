package api

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

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
	// Statuses are the failures that the route can answer with, besides those
	// that every route can.
	Statuses []int
	// Example is a query without which a request would be refused, for the documents.
	Example string
	// ExampleStatus is how the example in the documents ends, unless with 200.
	ExampleStatus int
	// ExampleBody is the body of the example, of a route that takes one.
	ExampleBody func(examples) string
	// Headers are sent with every answer of the route.
	Headers map[string]string
	// MaxBody is the largest request body in bytes; 0 for none.
	MaxBody int64

	// classHeader and policyHeader are the values of the headers of these names.
	classHeader, policyHeader []string
	// lists are the query parameters that may be repeated.
	lists map[string]bool
}

// scopeName is what WWW-Authenticate and the documents call the scope.
func (r *Route) scopeName() string { return r.Scope.String() }

// commonStatuses are failures that any keyed route can answer with.
var commonStatuses = []int{http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden,
	http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusServiceUnavailable}

// register adds a route with its typed handler to the table.
func register[I, O any](s *Server, r Route, handle func(ctx context.Context, in *I) (*O, error)) {
	route := &r
	route.classHeader = []string{string(r.Class)}
	route.policyHeader = []string{fmt.Sprintf("%s;w=%d", r.Class, int(limitWindow.Seconds()))}
	op := huma.Operation{
		OperationID:                  r.ID,
		Method:                       r.Method,
		Path:                         r.Path,
		Tags:                         []string{r.Family},
		Summary:                      r.Summary,
		Description:                  r.Description,
		RejectUnknownQueryParameters: true,
		SkipValidateBody:             false,
		MaxBodyBytes:                 r.MaxBody,
		Errors:                       append(append([]int{}, commonStatuses...), r.Statuses...),
		Security:                     []map[string][]string{{"apiKey": {}}, {"apiKeyShort": {}}},
		Extensions: map[string]any{
			"x-service-certification":    string(r.Certification),
			"x-service-key-tier":         string(r.Tier),
			"x-service-audience":         string(r.Audience),
			"x-service-scope":            r.scopeName(),
			"x-service-rate-limit-class": string(r.Class),
			"x-service-evidence":         evidenceFor(r.ID),
		},
	}
	s.table = append(s.table, route)
	s.registering = route
	defer func() { s.registering = nil }()
	huma.Register(s.huma, op, func(ctx context.Context, in *I) (*O, error) {
		out, err := handle(ctx, in)
		if err != nil {
			req := requestOf(ctx)
			req.failure = asError(err)
			return nil, statusError{req.failure, req.id}
		}
		return out, nil
	})
	s.amend(route)
}

// amend makes the document say what the kernel does where Huma would not, and
// learns from it which parameters are lists.
func (s *Server) amend(r *Route) {
	op := s.operationOf(r)
	if !slices.Contains(r.Statuses, http.StatusUnprocessableEntity) {
		delete(op.Responses, strconv.Itoa(http.StatusUnprocessableEntity)) // what does not validate is 400 here
	}
	r.lists = map[string]bool{}
	for _, p := range op.Parameters {
		if p.In == "query" && p.Schema != nil && p.Schema.Type == huma.TypeArray {
			r.lists[p.Name] = true
		}
	}
}

// checkQuery refuses what Huma would pass over: a query that does not parse, the
// second value of a parameter that takes one, and a parameter without a value: a
// filter whose value got lost must not become no filter. An empty cursor is that
// of the first page, as clients send it that keep one variable.
func (r *Route) checkQuery(raw string) *Error {
	if raw == "" {
		return nil
	}
	query, err := url.ParseQuery(raw)
	if err != nil {
		return fail(CodeInvalidRequest, "The query of the address is not well-formed.")
	}
	for name, values := range query {
		if len(values) > 1 && !r.lists[name] {
			return fail(CodeInvalidRequest, "query.%s: it can be given once.", clip(name, 40))
		}
		if slices.Contains(values, "") && name != "cursor" && name != "instanceCursor" {
			return fail(CodeInvalidRequest, "query.%s: it has no value. Leave it out instead.", clip(name, 40))
		}
	}
	return nil
}

// HandleFunc takes the handlers that Huma registers, so that each of them runs
// behind the kernel, under both path shapes. It makes the server a humago.Mux.
func (s *Server) HandleFunc(pattern string, handler func(http.ResponseWriter, *http.Request)) {
	route := s.registering
	if route == nil {
		return // Huma's own documents; ours are served by documents.go
	}
	method, path, ok := strings.Cut(pattern, " ")
	if !ok {
		panic(fmt.Sprintf("api: pattern %q without a method", pattern))
	}
	h := s.keyed(route, http.HandlerFunc(handler))
	for _, prefix := range []string{"", "/api"} {
		s.mux.Handle(method+" "+prefix+path, h)
		s.methods[prefix+path] = append(s.methods[prefix+path], method)
	}
}

// statusError hands a failure through Huma: it is encoded as the envelope.
type statusError struct {
	fault     *Error
	requestID string
}

func (e statusError) Error() string { return e.fault.Error() }

// GetStatus is the HTTP status.
func (e statusError) GetStatus() int { return codes[e.fault.Code].Status }

// MarshalJSON writes the envelope, and nothing of the cause.
func (e statusError) MarshalJSON() ([]byte, error) { return envelopeJSON(e.fault, e.requestID), nil }
