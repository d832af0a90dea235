package api

import (
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"strings"

	"chainexplorer/internal/account"
)

const (
	headerKey      = "X-Service-Api-Key"
	headerKeyShort = "X-Api-Key"
	// realm is fixed by the contract.
	realm = `Bearer realm="service"`
)

// caller is who sends a request.
type caller struct {
	account.Principal
}

// presentedKey takes the key out of the headers.
func presentedKey(h http.Header) (string, *Error) {
	long, short := h[headerKey], h[headerKeyShort]
	if len(long)+len(short) > 1 {
		return "", fail(CodeConflictingKeys, "The API key was sent more than once. Send it in %s or in %s, once.", headerKey, headerKeyShort)
	}
	if len(long)+len(short) == 0 {
		return "", fail(CodeUnauthorized, "An API key is needed in the header %s.", headerKey)
	}
	key := ""
	if len(long) > 0 {
		key = long[0]
	} else {
		key = short[0]
	}
	if key == "" || strings.ContainsAny(key, " \t\"'`,;") {
		return "", fail(CodeMalformedKey, "The header holds more, or less, than a key. Send the key's text alone.")
	}
	return key, nil
}

// visitor pays for a key that is not known in memory before anybody is asked about
// it, so that guessing keys is slow and costs us little. It is an account.Guard.
type visitor struct {
	clients *clients
	address netip.Addr
	paid    bool
}

// Stranger is called for a key that was not accepted before.
func (v *visitor) Stranger() error {
	if e := v.clients.spend(v.address, failureCost); e != nil {
		return e
	}
	v.paid = true
	return nil
}

// authenticate finds out who asks.
func (s *Server) authenticate(x *exchange, r *http.Request) *Error {
	key, fault := presentedKey(r.Header)
	if fault != nil {
		if e := s.clients.spend(x.client, 1); e != nil {
			return e
		}
		return fault
	}
	x.visitor = visitor{clients: s.clients, address: x.client}
	p, err := s.keys.AuthenticateGuarded(r.Context(), key, &x.visitor)
	var refused *Error
	switch {
	case err == nil:
		x.who.Principal = p
		if x.visitor.paid {
			s.clients.refund(x.client, failureCost)
		}
		return nil
	case errors.As(err, &refused):
		return refused
	case errors.Is(err, account.ErrMalformed), errors.Is(err, account.ErrUnknown):
		return fail(CodeUnauthorized, "The API key is not valid.")
	default:
		return retryLater(1, err, "Keys cannot be checked right now; try again.")
	}
}

// authorise checks that the caller may use the route.
func authorise(c *caller, route *Route) *Error {
	if !c.Scopes.Has(route.Scope) {
		return fail(CodeForbidden, "The key lacks the scope %q that this route needs.", route.scopeName())
	}
	return nil
}

// challenge sets WWW-Authenticate as the contract spells it.
func challenge(h http.Header, e *Error, route *Route) {
	switch e.Code {
	case CodeUnauthorized:
		h.Set("WWW-Authenticate", realm+`, error="invalid_token"`)
	case CodeForbidden:
		scope := ""
		if route != nil {
			scope = route.scopeName()
		}
		h.Set("WWW-Authenticate", fmt.Sprintf(`%s, error="insufficient_scope", scope="%s"`, realm, scope))
	}
}
