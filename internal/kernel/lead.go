package kernel

import (
	"net/http"
	"net/url"
	"strings"
)

// Lead sends a browser on to an address of this service. What was asked for may be part of it, with bytes that no
// address has and net/http lets through in a query: those are written as numbers, so that whoever stands in between
// reads the header as the browser does.
func Lead(w http.ResponseWriter, status int, to string) {
	w.Header().Set("Location", address(to))
	w.WriteHeader(status)
}

const hexDigits = "0123456789ABCDEF"

// address writes everything as a number that is not of the characters of addresses.
func address(to string) string {
	var b strings.Builder
	for i := range len(to) {
		if c := to[i]; c > ' ' && c < 0x7f && !strings.ContainsRune("\"<>\\^`{|}", rune(c)) {
			b.WriteByte(c)
		} else {
			b.WriteByte('%')
			b.WriteByte(hexDigits[c>>4])
			b.WriteByte(hexDigits[c&15])
		}
	}
	return b.String()
}

// Slashed answers a path of ours with a slash too many. Pages redirect. A route of
// the API does not: whether a client sends its key, and its body, once more is
// for the client to say.
func (s *Server) Slashed(w http.ResponseWriter, r *http.Request, bare string) {
	docs := bare == "/docs" || strings.HasPrefix(bare, "/docs/")
	if (docs || wantsPage(r)) && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
		to := url.URL{Path: bare, RawQuery: r.URL.RawQuery}
		Lead(w, http.StatusPermanentRedirect, to.String())
		return
	}
	SendError(w, r, Fail(CodeUnsupportedRoute, "There is no such route in this API: it has no slash at its end. Ask for %s.", loggedPath(bare)), RecordOf(w).ID, nil)
}
