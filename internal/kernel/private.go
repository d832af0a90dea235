package kernel

import (
	"io"
	"net/http"
	"net/url"

	"chainexplorer/internal/account"
)

// The lane of pages for one person's eyes. No page of another origin can read them,
// nobody keeps a copy, and their forms are small.

// maxForm is the largest form in bytes.
const maxForm = 8 << 10

// Private serves a pattern of the lane. Like Open it draws on what an address may ask,
// unless somebody is signed in there: they have a pace of their own, see Pace.
func (s *Server) Private(pattern string, h http.HandlerFunc) {
	s.guarded[pattern] = true
	s.handle(pattern, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Cache-Control"] = cacheNever
		w.Header().Set("Cross-Origin-Resource-Policy", "same-origin")
		e := oneOrigin(r.Header)
		if e == nil {
			e = s.payPage(w.(*exchange), r) // the mux is only reached through ServeHTTP
		}
		if e == nil {
			e = keyInQuery(w, r)
		}
		switch {
		case e != nil && s.tell != nil && e.Code == CodeRateLimited:
			s.tell(w, r, e)
		case e != nil:
			SendError(w, r, e, RecordOf(w).ID, nil)
		default:
			h(w, r)
		}
	}))
}

// payPage takes a page out of what an address may ask. Where that is used up a good session
// is let in, though it was not seen lately: a neighbour must not lock people out.
func (s *Server) payPage(x *exchange, r *http.Request) *Error {
	token := s.SessionCookie(r)
	if s.known.has(token, s.Now()) {
		return nil
	}
	e := s.clients.spend(x.client, 1)
	if e != nil && token != "" && s.sessions != nil {
		_, e = s.checkSession(x, r, token)
	}
	return e
}

// Pace holds somebody who is signed in to the pace of the lane of sessions, and lets the
// access record name them.
func (s *Server) Pace(w http.ResponseWriter, r *http.Request, p account.Principal) *Error {
	x := w.(*exchange) // as in Private
	x.who = Caller{Principal: p, Session: true}
	x.record.Caller = &x.who
	v, e := s.Spend(r.Context(), &x.who, Light, 1)
	x.record.Budget = v
	return e
}

// Form reads the form that a request of the lane brings along. Its bounds in size, time
// and number are those of all bodies; whoever is not signed in shares the places of
// their address.
func (s *Server) Form(w http.ResponseWriter, r *http.Request) (url.Values, *Error) {
	x := w.(*exchange) // as in Private
	who := x.record.Caller
	if who == nil {
		who = &Caller{Principal: account.Principal{KeyID: "form " + x.client.String(), WorkspaceID: "forms"}}
	}
	if e := s.bodies.Enter(r.Context(), who, "whose bodies are being read"); e != nil {
		return nil, leaveBody(x, e)
	}
	defer s.bodies.Leave(who)
	text, e := s.readBody(x, r, maxForm, io.Discard)
	if e != nil {
		return nil, leaveBody(x, e)
	}
	form, err := url.ParseQuery(string(text))
	if err != nil {
		return nil, Fail(CodeInvalidRequest, "body: it is not a form.")
	}
	return form, nil
}
