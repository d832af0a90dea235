package kernel

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strings"
)

// A cursor is opaque to clients: base64url of
//
//	version (1) │ position (n) │ HMAC-SHA-256 of version, scope and position, cut to 16
//
// where the scope names the operation, the chain, and the query without its
// page parameters. So a cursor works only where it came from, and a changed one
// is noticed. Cursors do not expire by themselves.
const (
	cursorVersion = 1
	cursorMAC     = 16
	MaxCursor     = 512
)

// Cursors makes and reads cursors with a secret that all processes share.
type Cursors struct{ secret []byte }

// NewCursors takes the secret.
func NewCursors(secret []byte) *Cursors { return &Cursors{secret: slices.Clone(secret)} }

func (c *Cursors) mac(scope string, position []byte) []byte {
	h := hmac.New(sha256.New, c.secret)
	h.Write([]byte{cursorVersion})                           //nolint:errcheck // a hash never fails
	h.Write([]byte{byte(len(scope) >> 8), byte(len(scope))}) //nolint:errcheck // as above
	h.Write([]byte(scope))                                   //nolint:errcheck // as above
	h.Write(position)                                        //nolint:errcheck // as above
	return h.Sum(nil)[:cursorMAC]
}

// Seal makes a cursor.
func (c *Cursors) Seal(scope string, position []byte) string {
	b := append([]byte{cursorVersion}, position...)
	return base64.RawURLEncoding.EncodeToString(append(b, c.mac(scope, position)...))
}

// notOurs refuses a cursor that the query did not make.
func notOurs() *Error {
	return Fail(CodeInvalidCursor, "The cursor is not one that this query returned. Start again without a cursor.")
}

// OpenCursor reads a cursor of the request at hand.
func (s *Server) OpenCursor(ctx context.Context, scope, cursor string) ([]byte, *Error) {
	RequestOf(ctx).cursorRead = true
	return s.cursors.Open(scope, cursor)
}

// Open returns the position of a cursor that Seal made for this scope.
func (c *Cursors) Open(scope, cursor string) ([]byte, *Error) {
	bad := notOurs()
	if len(cursor) > MaxCursor || strings.ContainsAny(cursor, "\r\n") { // which the decoder would pass over
		return nil, bad
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	if err != nil || len(b) < 1+cursorMAC || b[0] != cursorVersion {
		return nil, bad
	}
	position, mac := b[1:len(b)-cursorMAC], b[len(b)-cursorMAC:]
	if !hmac.Equal(mac, c.mac(scope, position)) {
		return nil, bad
	}
	return position, nil
}
