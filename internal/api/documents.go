package api

import "net/http"

// documents serves what needs no key: the contract, the pages that explain it,
// and the health checks.
func (s *Server) documents() {
	s.open("GET /healthz", s.healthz)
	s.open("GET /readyz", s.readyz)
}

// open registers a handler for everyone, readable from any origin.
func (s *Server) open(pattern string, h http.HandlerFunc) {
	s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		h(w, r)
	})
}
