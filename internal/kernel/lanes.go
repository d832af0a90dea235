package kernel

import (
	"net/http"
	"slices"
	"strings"
)

// Open registers a handler for everyone, within what an address may ask. It is
// readable from any origin, unless credentials come along that nobody asked for.
func (s *Server) Open(pattern string, h http.HandlerFunc) {
	s.Unlimited(pattern, func(w http.ResponseWriter, r *http.Request) {
		if e := s.clients.spend(w.(*exchange).client, 1); e != nil { // the mux is only reached through ServeHTTP
			SendError(w, r, e, RecordOf(w).ID, nil)
			return
		}
		h(w, r)
	})
}

// Unlimited is open for those who watch over the process, and share an address
// with everybody else.
func (s *Server) Unlimited(pattern string, h http.HandlerFunc) {
	s.handle(pattern, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e := oneOrigin(r.Header)
		switch {
		case e != nil:
		case RecordOf(w).credentialed:
			s.cors(w, r)
		default:
			w.Header().Set("Access-Control-Allow-Origin", "*")
		}
		if e == nil {
			e = keyInQuery(w, r)
		}
		if e != nil {
			SendError(w, r, e, RecordOf(w).ID, nil)
			return
		}
		h(w, r)
	}))
}

// wantsPage tells a browser from a program: programs get JSON unless they ask for
// a page, and below the API always.
func wantsPage(r *http.Request) bool {
	return pageLike(r) && strings.Contains(r.Header.Get("Accept"), "text/html")
}

// pageLike says that a request may be one for a page: below the API everybody is a program.
func pageLike(r *http.Request) bool {
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) && !strings.HasPrefix(r.URL.Path, "/v1/") && !strings.HasPrefix(r.URL.Path, "/api/")
}

// Starting answers until a Server can: the process lives, and is not ready. A
// service may have to wait for its node, or for an indexer to begin. Pages of other
// origins can read that, as they can all else: origins are those of the strict lane.
// refuse, if there is one, refuses requests that are answered in another form, and says
// whether this is one.
func Starting(origins []string, refuse func(w http.ResponseWriter, r *http.Request, e *Error, requestID string) bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/healthz":
			SendPlain(w, http.StatusOK, map[string]string{"status": "ok"})
		case "/readyz":
			w.Header().Set("Retry-After", "2")
			SendPlain(w, http.StatusServiceUnavailable, map[string]any{"status": "not_ready", "chains": map[string]string{}})
		default:
			id, strict := requestID(r.Header), credentialed(r.Header) || announcesMore(r.Header) || ofSessions(r)
			w.Header().Set(HeaderRequestID, id)
			w.Header()["X-Content-Type-Options"] = nosniff
			if wanted := r.Header.Get("Access-Control-Request-Method"); r.Method == http.MethodOptions && slices.Contains(routedMethods, wanted) {
				// Which paths there are is not known yet: whatever is sent is told that we are
				// starting, and none of this is to be remembered.
				w.Header().Set("Vary", varyPreflight)
				if len(r.Header["Origin"]) == 1 {
					permit(w.Header(), origins, r.Header, strict, wanted, "0")
				}
				w.WriteHeader(http.StatusNoContent)
				return
			}
			lane(w.Header(), origins, r.Header, strict)
			e := RetryLater(5, nil, "The service is starting.")
			if refuse == nil || !refuse(w, r, e, id) {
				SendError(w, r, e, id, nil)
			}
		}
	})
}

// Stopping answers /readyz when the process is about to end.
func Stopping() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "2")
		SendPlain(w, http.StatusServiceUnavailable, map[string]any{"status": "stopping", "chains": map[string]string{}})
	})
}
