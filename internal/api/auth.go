package api

import (
	"errors"
	"fmt"
	"net/http"
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

// authenticate finds out who asks.
func (s *Server) authenticate(r *http.Request, who *caller) *Error {
	key, fault := presentedKey(r.Header)
	if fault != nil {
		return fault
	}
	p, err := s.keys.Authenticate(r.Context(), key)
	switch {
	case err == nil:
		who.Principal = p
		return nil
	case errors.Is(err, account.ErrMalformed):
		return fail(CodeMalformedKey, "The header does not hold a key. Send the key's text alone.")
	case errors.Is(err, account.ErrUnknown):
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
