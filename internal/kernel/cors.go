package kernel

import (
	"net/http"
	"slices"
	"strings"
)

// Two lanes for browsers. In the open lane a page of any origin may call with a
// key in a header; the answer is readable by everyone who can send the request,
// and no credentials of the browser take part. A request, or a preflight for
// one, that carries the browser's or somebody else's credentials leaves that
// lane and is held against a list of origins.

const (
	preflightSeconds = "600"
	varyPreflight    = "Origin, Access-Control-Request-Method, Access-Control-Request-Headers"
)

var (
	// OpenHeaders may be sent from any origin.
	OpenHeaders = []string{"x-service-api-key", "x-api-key", "x-request-id", "content-type", "accept", "if-none-match", "if-modified-since", "idempotency-key", "last-event-id"}
	// ExposedHeaders may be read by a page.
	ExposedHeaders = strings.Join([]string{HeaderRequestID, HeaderRouteClass, HeaderRPCClass, HeaderLimit, HeaderRemaining,
		HeaderPolicy, "Retry-After", "ETag", "Last-Modified", HeaderStability, "WWW-Authenticate", HeaderQueryClass, HeaderCostUnits}, ", ")
)

// credentialed reports whether a request carries what the open lane excludes.
func credentialed(h http.Header) bool {
	if len(h["Authorization"]) > 0 || len(h["Cookie"]) > 0 {
		return true
	}
	for name := range h {
		if internalHeader(name) {
			return true
		}
	}
	return false
}

// internalHeader tells the headers that only our own parts may send, in the
// canonical form in which net/http hands over every name. They are never
// believed from outside: stripInternal removes them.
func internalHeader(name string) bool {
	return strings.HasPrefix(name, "X-Service-Internal-") || name == "X-Internal-Key"
}

func stripInternal(h http.Header) {
	for name := range h {
		if internalHeader(name) {
			delete(h, name)
		}
	}
}

// oneOrigin refuses a request with two origins: which one counts would be for every
// reader to guess.
func oneOrigin(h http.Header) *Error {
	if len(h["Origin"]) > 1 {
		return Fail(CodeInvalidRequest, "The header Origin was sent more than once.")
	}
	return nil
}

// cors sets the headers of the lane that a request belongs to.
func (s *Server) cors(w http.ResponseWriter, r *http.Request) {
	lane(w.Header(), s.Origins, r.Header, RecordOf(w).credentialed || announcesMore(r.Header) || s.sessionPath(r))
}

// restrict takes an answer out of the open lane.
func (s *Server) restrict(w http.ResponseWriter, r *http.Request) {
	w.Header().Del("Access-Control-Allow-Origin")
	w.Header().Del("Access-Control-Expose-Headers")
	lane(w.Header(), s.Origins, r.Header, true)
}

// restricted says whether a path is for pages of the listed origins alone, under a method
// or, where it has no such method, under all that it has.
func (s *Server) restricted(r *http.Request, method string, methods []string) bool {
	if slices.Contains(methods, method) {
		methods = []string{method}
	}
	for _, m := range methods {
		_, pattern := s.mux.Handler(&http.Request{Method: m, Host: r.Host, URL: r.URL, RequestURI: r.URL.Path})
		if !s.guarded[pattern] {
			return false
		}
	}
	return len(methods) > 0
}

// lane sets the headers of the open lane or, for a request with other credentials,
// of the strict one.
func lane(h http.Header, origins []string, asked http.Header, strict bool) {
	h["Vary"] = varyOrigin
	origin := asked.Get("Origin")
	switch {
	case origin == "", len(asked["Origin"]) > 1:
	case !strict:
		h.Set("Access-Control-Allow-Origin", "*")
		h.Set("Access-Control-Expose-Headers", ExposedHeaders)
	case slices.Contains(origins, origin):
		h.Set("Access-Control-Allow-Origin", origin)
		h.Set("Access-Control-Allow-Credentials", "true")
		h.Set("Access-Control-Expose-Headers", ExposedHeaders)
	}
}

// announcesMore says whether a preflight asks for headers that the open lane does
// not have.
func announcesMore(h http.Header) bool {
	for name := range strings.SplitSeq(strings.Join(h["Access-Control-Request-Headers"], ","), ",") {
		if name = strings.ToLower(strings.TrimSpace(name)); name != "" && !slices.Contains(OpenHeaders, name) {
			return true
		}
	}
	return false
}

// preflight answers OPTIONS for a path with these methods.
func (s *Server) preflight(w http.ResponseWriter, r *http.Request, methods []string) {
	h := w.Header()
	allow := strings.Join(append(slices.Clone(methods), http.MethodOptions), ", ")
	h.Set("Allow", allow)
	origin, wanted := r.Header.Get("Origin"), r.Header.Get("Access-Control-Request-Method")
	strict := s.restricted(r, wanted, methods) || w.(*exchange).who.Configured // the mux is only reached through ServeHTTP
	if origin == "" || wanted == "" {                                          // an ordinary OPTIONS
		s.cors(w, r)
		if strict {
			s.restrict(w, r)
		}
		w.WriteHeader(http.StatusNoContent)
		return
	}
	h.Set("Vary", varyPreflight)
	if slices.Contains(methods, wanted) { // without a permission the browser refuses by itself
		permit(h, s.Origins, r.Header, strict || RecordOf(w).credentialed || announcesMore(r.Header) || s.sessionPath(r), allow, preflightSeconds)
	}
	w.WriteHeader(http.StatusNoContent)
}

// permit lets a browser send what a preflight announces: from any origin in the open
// lane, from the listed ones in the strict one. It may remember that for so many seconds.
func permit(h http.Header, origins []string, asked http.Header, strict bool, allow, seconds string) {
	origin, headers := "*", OpenHeaders
	if strict {
		if origin = asked.Get("Origin"); !slices.Contains(origins, origin) {
			return
		}
		h.Set("Access-Control-Allow-Credentials", "true")
		headers = append(slices.Clone(OpenHeaders), "authorization", "mcp-protocol-version", "mcp-method", "mcp-name")
	}
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Allow-Methods", allow)
	h.Set("Access-Control-Allow-Headers", strings.Join(headers, ", "))
	h.Set("Access-Control-Max-Age", seconds)
}
