package kernel

import (
	"fmt"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
)

// anyPath is the pattern of what the table does not have.
const anyPath = "/"

// routedMethods are those that routes can have.
var routedMethods = []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}

// handle serves a pattern: a method and a path.
func (s *Server) handle(pattern string, h http.Handler) {
	method, at, ok := strings.Cut(pattern, " ")
	if !ok {
		panic(fmt.Sprintf("kernel: pattern %q without a method", pattern))
	}
	s.mux.Handle(pattern, h)
	s.methods[at] = append(s.methods[at], method)
}

// shutGaps keeps a path to its own methods. The mux would give a method that the path
// does not have to a wider pattern that has it: a GET of /tx/previews, which takes POST,
// to /tx/{tx_hash}. It is called once, when all patterns are there.
func (s *Server) shutGaps() {
	for at, served := range s.methods {
		if slices.Contains(served, http.MethodGet) {
			served = append(served, http.MethodHead)
		}
		for _, method := range routedMethods {
			if slices.Contains(served, method) || method == http.MethodHead { // which GET stands for
				continue
			}
			if s.wider(method, at) {
				pattern := method + " " + at
				s.mux.HandleFunc(pattern, s.unmatched)
				s.shut[pattern] = true
			}
		}
	}
}

// wider says whether a method of a path would be answered by the pattern of another,
// whatever stands in its variable segments.
func (s *Server) wider(method, at string) bool {
	segments := strings.Split(at, "/")
	for i, segment := range segments {
		switch {
		case segment == "{$}":
			segments[i] = ""
		case strings.HasPrefix(segment, "{"):
			segments[i] = "\x01" // no literal of a pattern
		}
	}
	_, pattern := s.mux.Handler(&http.Request{Method: method, URL: &url.URL{Path: strings.Join(segments, "/")}})
	return pattern != anyPath && !s.shut[pattern]
}

// methodsFor lists the methods under which a path would match.
func (s *Server) methodsFor(r *http.Request, at *url.URL) (methods []string) {
	if path.Clean(at.Path) != at.Path || at.Path == "*" {
		return nil
	}
	probe := &http.Request{Host: r.Host, URL: at, RequestURI: at.Path}
	for _, m := range routedMethods {
		probe.Method = m
		if _, pattern := s.mux.Handler(probe); pattern != anyPath && !s.shut[pattern] {
			methods = append(methods, m)
		}
	}
	slices.Sort(methods)
	return methods
}

// tellClass names the class of a path that was asked in a way that it is not served, and
// whether it is still to change: those of the method which a preflight announces, or else
// of the first one that it has. What is no path of a route has neither.
func (s *Server) tellClass(h http.Header, r *http.Request, methods []string) {
	if len(methods) == 0 {
		return
	}
	method := r.Header.Get("Access-Control-Request-Method")
	if !slices.Contains(methods, method) {
		method = methods[0]
	}
	_, pattern := s.mux.Handler(&http.Request{Method: method, Host: r.Host, URL: r.URL, RequestURI: r.URL.Path})
	route := s.routes[pattern]
	if route == nil {
		return
	}
	h[HeaderRouteClass] = route.classHeader
	if stability := route.Headers[HeaderStability]; stability != "" {
		h.Set(HeaderStability, stability)
	}
}
