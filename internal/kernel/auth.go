package kernel

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"chainexplorer/internal/account"
)

const (
	HeaderKey      = "X-Service-Api-Key"
	HeaderKeyShort = "X-Api-Key"
	// realm is fixed by the contract.
	realm = `Bearer realm="service"`
)

// Caller is who sends a request.
type Caller struct {
	account.Principal
	// Session says that it is somebody who is signed in, and no key.
	Session bool
}

// presentedKey takes the key out of the headers.
func presentedKey(h http.Header) (string, *Error) {
	long, short := h[HeaderKey], h[HeaderKeyShort]
	if len(long)+len(short) > 1 {
		return "", Fail(CodeConflictingKeys, "The API key was sent more than once. Send it in %s or in %s, once.", HeaderKey, HeaderKeyShort)
	}
	if len(long)+len(short) == 1 && (holdsKey(h["Authorization"]) || holdsKey(h["Cookie"])) {
		return "", Fail(CodeConflictingKeys, "An API key was also sent in Authorization or in a cookie. Send one key, in %s alone.", HeaderKey)
	}
	if len(long)+len(short) == 0 {
		return "", Fail(CodeUnauthorized, "An API key is needed in the header %s.", HeaderKey)
	}
	key := ""
	if len(long) > 0 {
		key = long[0]
	} else {
		key = short[0]
	}
	if key == "" || strings.ContainsAny(key, " \t\"'`,;") {
		return "", Fail(CodeMalformedKey, "The header holds more, or less, than a key. Send the key's text alone.")
	}
	return key, nil
}

func holdsKey(values []string) bool { return slices.ContainsFunc(values, account.HoldsKey) }

// keyInQuery refuses a request with a key in its query, whatever the parameter is
// called and whether or not the key is good: addresses end up in histories, in
// referrers and in the logs of proxies.
func keyInQuery(w http.ResponseWriter, r *http.Request) *Error {
	query := r.URL.RawQuery
	if query == "" {
		return nil
	}
	if !account.HoldsKey(query) {
		if !strings.Contains(query, "%") {
			return nil
		}
		plain, err := url.QueryUnescape(query)
		if err != nil || !account.HoldsKey(plain) {
			return nil // what cannot be read is refused where it is read
		}
	}
	w.Header().Set("Referrer-Policy", "no-referrer")
	return Fail(CodeInvalidRequest, "There is an API key in the query. Keys are taken in the header %s alone; replace this one, since others may have seen the address.", HeaderKey)
}

// visitor pays for a credential that is not known in memory before anybody is asked
// about it, so that guessing is slow and costs us little. It is an account.Guard.
type visitor struct {
	clients *clients
	address netip.Addr
	paid    bool
	refused *Error          // why it could not pay
	leave   func(good bool) // the address's turn, where it has it
}

// Stranger is called for a credential that was not accepted before. An address that
// cannot pay any more has what would have to be looked up looked at in its turn.
func (v *visitor) Stranger(ctx context.Context, lookup bool) error {
	e := v.clients.spend(v.address, FailureCost)
	if v.paid = e == nil; v.paid {
		return nil
	}
	if lookup {
		v.leave, _ = v.clients.doubts.enter(ctx, group(v.address))
	}
	if v.leave == nil {
		return e
	}
	v.refused = e
	return nil
}

// looked settles what became of it. A credential that is no good is refused as it would
// have been without a look, where the address could not pay for one.
func (v *visitor) looked(good, bad bool) *Error {
	if v.leave != nil {
		v.leave(!bad)
	}
	switch {
	case good && v.paid:
		v.clients.refund(v.address, FailureCost)
	case bad:
		return v.refused
	}
	return nil
}

// authenticate finds out who asks.
func (s *Server) authenticate(x *exchange, r *http.Request) *Error {
	fault := oneOrigin(r.Header)
	if fault == nil {
		fault = keyInQuery(x, r)
	}
	key := ""
	if fault == nil {
		key, fault = presentedKey(r.Header)
	}
	if fault != nil {
		return s.stranger(x, fault)
	}
	x.visitor = visitor{clients: s.clients, address: x.client}
	p, err := s.keys.AuthenticateGuarded(r.Context(), key, &x.visitor)
	var refused *Error
	if errors.As(err, &refused) {
		return refused
	}
	bad := errors.Is(err, account.ErrMalformed) || errors.Is(err, account.ErrUnknown)
	refused = x.visitor.looked(err == nil, bad)
	switch {
	case err == nil:
		x.who.Principal = p
		if p.Configured { // whose answers are for the operator's own pages
			s.restrict(x, r)
		}
		return nil
	case refused != nil:
		return refused
	case bad:
		return Fail(CodeUnauthorized, "The API key is not valid.")
	default:
		return RetryLater(1, err, "Keys cannot be checked right now; try again.")
	}
}

// authorise checks that the caller may use the route, from the page that it is on. A
// request without an origin comes from no page, or from one of our own.
func (s *Server) authorise(c *Caller, route *Route, h http.Header) *Error {
	for _, origin := range h["Origin"] {
		if c.Configured && !slices.Contains(s.Origins, origin) {
			return Fail(CodeForbidden, "A key of the operator's settings may be used by pages of the configured origins alone.")
		}
		if !c.Origins.Allows(origin) {
			return Fail(CodeForbidden, "The key may not be used by pages of this origin.")
		}
	}
	if !c.Scopes.Has(route.Scope) {
		return Fail(CodeForbidden, "The key lacks the scope %q that this route needs.", route.ScopeName())
	}
	return nil
}

// Challenge sets WWW-Authenticate as the contract spells it.
func Challenge(h http.Header, e *Error, route *Route) {
	switch e.Code {
	case CodeUnauthorized:
		told := realm + `, error="invalid_token"`
		if route != nil && route.Metadata != "" {
			told += fmt.Sprintf(`, resource_metadata="%s"`, route.Metadata)
		}
		h.Set("WWW-Authenticate", told)
	case CodeForbidden:
		scope := ""
		if route != nil {
			scope = route.ScopeName()
		}
		h.Set("WWW-Authenticate", fmt.Sprintf(`%s, error="insufficient_scope", scope="%s"`, realm, scope))
	}
}
