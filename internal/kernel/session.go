package kernel

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"chainexplorer/internal/account"
)

// The lane of signed-in people. They prove who they are by the token of a session: in
// the header Authorization or, where nothing is changed, in a cookie. A cookie travels
// with requests that the person knows nothing of, so that it must not change anything.
// An API key is nobody there. Only pages of this service, and of the origins that the
// operator names, are answered.

// Cookies of sessions. The first needs TLS: its prefix keeps other hosts and paths from
// setting it.
const (
	SecureCookie = "__Host-chainexplorer_session"
	PlainCookie  = "chainexplorer_session"
)

// Paces of signed-in people; those of keys are for the API.
var sessionPace = pace{perMinute: 120, burst: 30}

// ErrNoSession says that a token is not one of a session, or no longer.
var ErrNoSession = errors.New("kernel: not a valid session")

// Sessions tells who is signed in: PublicID is the person and KeyID the session. It
// returns ErrNoSession for what is not a valid token.
type Sessions func(ctx context.Context, token string) (account.Principal, error)

// SignsIn says whether people can sign in here.
func (s *Server) SignsIn() bool { return s.sessions != nil }

// Secure says whether a request came over TLS, as far as the operator says so: by the
// address of the service, or by a proxy that is trusted.
func (s *Server) Secure(r *http.Request) bool {
	if r.TLS != nil || strings.HasPrefix(s.BaseURL, "https://") {
		return true
	}
	return r.Header.Get("X-Forwarded-Proto") == "https" && s.clients.fromProxy(r)
}

// CookieName is that of the session's cookie for requests such as this one.
func (s *Server) CookieName(r *http.Request) string {
	if s.Secure(r) {
		return SecureCookie
	}
	return PlainCookie
}

// SessionCookie is the token that a browser sent, "" when there is none, or more than
// one: then it cannot be told which is ours.
func (s *Server) SessionCookie(r *http.Request) string {
	if list := r.CookiesNamed(s.CookieName(r)); len(list) == 1 {
		return list[0].Value
	}
	return ""
}

// OwnOrigin says whether a request comes from a page of this service. One without an
// Origin comes from no other page, unless the browser says so.
func (s *Server) OwnOrigin(r *http.Request) bool {
	if site := r.Header.Get("Sec-Fetch-Site"); site == "cross-site" || site == "same-site" {
		return false
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return true
	}
	if s.BaseURL != "" {
		if own, err := url.Parse(s.BaseURL); err == nil && origin == own.Scheme+"://"+own.Host {
			return true
		}
	}
	scheme := "http://"
	if s.Secure(r) {
		scheme = "https://"
	}
	return origin == scheme+r.Host
}

// admitSession finds out who is signed in, and limits them.
func (s *Server) admitSession(x *exchange, r *http.Request) *Error {
	p, e := s.signedIn(x, r)
	if e != nil {
		return e
	}
	x.who = Caller{Principal: p, Session: true}
	x.record.Caller = &x.who
	return s.limit(r.Context(), x.Header(), &x.who, &x.record)
}

func (s *Server) signedIn(x *exchange, r *http.Request) (none account.Principal, _ *Error) {
	if e := oneOrigin(r.Header); e != nil {
		return none, s.stranger(x, e)
	}
	if origin := r.Header.Get("Origin"); origin != "" && !slices.Contains(s.Origins, origin) && !s.OwnOrigin(r) {
		return none, s.stranger(x, Fail(CodeForbidden, "Pages of this origin may not use a session here."))
	}
	if e := keyInQuery(x, r); e != nil {
		return none, s.stranger(x, e)
	}
	changes := r.Method != http.MethodGet && r.Method != http.MethodHead
	token, bearer, e := bearerToken(r.Header)
	switch {
	case e != nil:
		return none, s.stranger(x, e)
	case bearer:
	case changes && s.SessionCookie(r) != "":
		return none, s.stranger(x, Fail(CodeForbidden, "A cookie changes nothing: send the session's token in the header Authorization: Bearer."))
	case !changes:
		token = s.SessionCookie(r)
	}
	if token == "" {
		what := "A session is needed: its token in the header Authorization: Bearer."
		if len(r.Header[HeaderKey])+len(r.Header[HeaderKeyShort]) > 0 {
			what = "An API key is not valid here. " + what
		}
		return none, s.stranger(x, Fail(CodeUnauthorized, "%s", what))
	}
	return s.checkSession(x, r, token)
}

// checkSession asks whose session a token is of. The address pays for one that was not
// good lately, see visitor.
func (s *Server) checkSession(x *exchange, r *http.Request, token string) (none account.Principal, _ *Error) {
	x.visitor = visitor{clients: s.clients, address: x.client}
	if !s.known.has(token, s.Now()) {
		var refused *Error
		if err := x.visitor.Stranger(r.Context(), len(token) == sessionTokenSize); errors.As(err, &refused) {
			return none, refused
		}
	}
	p, err := s.sessions(r.Context(), token)
	bad := errors.Is(err, ErrNoSession)
	refused := x.visitor.looked(err == nil, bad)
	switch {
	case err == nil:
		s.SessionSeen(token, true)
		return p, nil
	case bad:
		s.SessionSeen(token, false)
		if refused != nil {
			return none, refused
		}
		return none, Fail(CodeUnauthorized, "The session is not valid.")
	default:
		return none, RetryLater(1, err, "Sessions cannot be checked right now; try again.")
	}
}

// sessionTokenSize is how long a session's token is: nothing else is worth a look.
const sessionTokenSize = 47

// stranger makes an address pay for what is refused before a token was looked at.
func (s *Server) stranger(x *exchange, e *Error) *Error {
	if over := s.clients.spend(x.client, 1); over != nil {
		return over
	}
	return e
}

// bearerToken takes the token out of the headers, if there is one.
func bearerToken(h http.Header) (token string, there bool, _ *Error) {
	list := h["Authorization"]
	if len(list) == 0 {
		return "", false, nil
	}
	scheme, token, _ := strings.Cut(list[0], " ")
	if len(list) > 1 || !strings.EqualFold(scheme, "Bearer") || token == "" || strings.ContainsAny(token, " \t,") {
		return "", true, Fail(CodeUnauthorized, "The header Authorization does not hold a session's token alone. Send: Authorization: Bearer <token>.")
	}
	return token, true, nil
}

// sessionPath says whether a path is one of the lane, under any method.
func (s *Server) sessionPath(r *http.Request) bool {
	return s.sessions != nil && ofSessions(r)
}

// ofSessions says whether a path is one for people who are signed in, where anybody can be.
func ofSessions(r *http.Request) bool {
	return strings.HasPrefix(strings.TrimPrefix(r.URL.Path, "/api"), "/v1/me/")
}

// sessionSecurity is how the document says that a route is of the lane.
func sessionSecurity(method string) []map[string][]string {
	list := []map[string][]string{{"sessionBearer": {}}}
	if method == http.MethodGet {
		list = append(list, map[string][]string{"sessionCookie": {}})
	}
	return list
}
