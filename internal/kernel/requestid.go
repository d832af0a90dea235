package kernel

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"net/http"
	"net/url"
	"strings"

	"chainexplorer/internal/account"
)

const HeaderRequestID = "X-Request-Id"

// MaxRequestID bounds what a caller may choose.
const MaxRequestID = 128

var requestIDEncoding = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

// requestID returns the caller's own id when it is well-formed, so that both
// sides' logs can be joined, and a new one otherwise.
func requestID(h http.Header) string {
	if ids := h[HeaderRequestID]; len(ids) == 1 && validRequestID(ids[0]) {
		return ids[0]
	}
	var b [15]byte
	rand.Read(b[:]) //nolint:errcheck // never fails
	id := [28]byte{'s', 'v', 'c', '-'}
	requestIDEncoding.Encode(id[4:], b[:])
	return string(id[:])
}

// validRequestID allows letters, digits and . _ : - , so that an id can go into
// a header and a log as it is. What looks like a key or a token of ours, sent in the
// wrong header, must not.
func validRequestID(s string) bool {
	if len(s) == 0 || len(s) > MaxRequestID || account.HoldsSecret(s) {
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

// Request is what the kernel knows of the request that a context belongs to.
type Request struct {
	ID    string
	Route *Route
	// credentialed says that the request came with what the open lane of CORS
	// excludes, as it was before internal headers were taken out.
	credentialed bool
	// Caller is who asks; nil on routes without a key.
	Caller *Caller
	// Budget is what the caller has left.
	Budget Verdict
	// settled and immutable are what Settle said, vouched and doubted what Vouch did.
	settled, immutable, vouched, doubted bool
	// indexed is what VouchIndex said.
	indexed bool
	// passing is of pages: something that they asked holds until the index is written to, and
	// no longer than a moment.
	passing bool
	// dated is what ModifiedAt or ModifiedWhenMade said.
	dated dated
	// query is what was asked for, with whole numbers spelled as such.
	query url.Values
	// cursor says that the query has one, and cursorRead that the handler looked at it.
	cursor, cursorRead bool
	// seen counts answers of the route; nil beside the table.
	seen *routeMetrics
	// itemized says that what the request holds is recorded one by one.
	itemized bool
	// failure is why the handler did not answer.
	failure *Error

	// lent is the memory of the answer; nil where nobody asks for it back.
	lent Lent

	// inside says that a page asks, in this process, and made is what it is handed.
	inside bool
	made   any
	// asked is what a page asked for, and mutable says that some of it can change.
	asked   []Asked
	mutable bool
}

// Lent is memory that an answer is made in.
type Lent interface {
	// Return takes it back. Nothing of the answer is looked at any more.
	Return()
}

// Lend says what takes back the memory of the answer once it is written. An answer that is handed
// over in this process keeps its memory, and so does one that is never written.
func (r *Request) Lend(m Lent) { r.lent = m }

func WithRequest(ctx context.Context, r *Request) context.Context {
	return context.WithValue(ctx, requestKey{}, r)
}

// RequestOf returns the kernel's record; outside a request it is an empty one.
func RequestOf(ctx context.Context) *Request {
	if r, ok := ctx.Value(requestKey{}).(*Request); ok {
		return r
	}
	return &Request{}
}
