package api

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"net/http"
	"strings"

	"chainexplorer/internal/account"
)

const headerRequestID = "X-Request-Id"

// maxRequestID bounds what a caller may choose.
const maxRequestID = 128

var requestIDEncoding = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

// requestID returns the caller's own id when it is well-formed, so that both
// sides' logs can be joined, and a new one otherwise.
func requestID(h http.Header) string {
	if ids := h[headerRequestID]; len(ids) == 1 && validRequestID(ids[0]) {
		return ids[0]
	}
	var b [15]byte
	rand.Read(b[:]) //nolint:errcheck // never fails
	return "svc-" + requestIDEncoding.EncodeToString(b[:])
}

// validRequestID allows letters, digits and . _ : - , so that an id can go into
// a header and a log as it is. What looks like a key of ours, sent in the wrong
// header, must not.
func validRequestID(s string) bool {
	if len(s) == 0 || len(s) > maxRequestID || account.HoldsKey(s) {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune("._:-", rune(c)) {
			return false
		}
	}
	return true
}

type requestKey struct{}

// request is what the kernel knows of the request that a context belongs to.
type request struct {
	id    string
	route *Route
	// credentialed says that the request came with what the open lane of CORS
	// excludes, as it was before internal headers were taken out.
	credentialed bool
	// caller is who asks; nil on routes without a key.
	caller *caller
	// budget is what the caller has left.
	budget verdict
	// settled and immutable are set by a handler whose answer will hardly, or
	// never, change: the first gets a validator, the second is also kept.
	settled, immutable bool
	// indexed says that the answer follows from the request and one view of the
	// index alone: it holds until the next block.
	indexed bool
	// cursor says that the query has one, and cursorRead that the handler looked at it.
	cursor, cursorRead bool
	// seen counts answers of the route; nil beside the table.
	seen *routeMetrics
	// failure is why the handler did not answer.
	failure *Error
}

func withRequest(ctx context.Context, r *request) context.Context {
	return context.WithValue(ctx, requestKey{}, r)
}

// requestOf returns the kernel's record; outside a request it is an empty one.
func requestOf(ctx context.Context) *request {
	if r, ok := ctx.Value(requestKey{}).(*request); ok {
		return r
	}
	return &request{}
}
