package session

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"strings"

	"chainexplorer/internal/control"
)

// A token is a prefix that tells what it is for and 32 random bytes in base64url.
const (
	sessionPrefix = "ses."
	linkPrefix    = "lnk."
	tokenSize     = 4 + 43
)

func newToken(r io.Reader, prefix string) (string, error) {
	var b [32]byte
	if _, err := io.ReadFull(r, b[:]); err != nil {
		return "", fmt.Errorf("randomness: %w", err)
	}
	return prefix + base64.RawURLEncoding.EncodeToString(b[:]), nil
}

func newID(r io.Reader, prefix string) (string, error) {
	var b [10]byte
	if _, err := io.ReadFull(r, b[:]); err != nil {
		return "", fmt.Errorf("randomness: %w", err)
	}
	return prefix + hex.EncodeToString(b[:]), nil
}

// wellFormed keeps what cannot be a token from the database.
func wellFormed(token, prefix string) bool {
	if len(token) != tokenSize || !strings.HasPrefix(token, prefix) {
		return false
	}
	_, err := base64.RawURLEncoding.Strict().DecodeString(token[len(prefix):])
	return err == nil
}

// digester stands for tokens wherever they are kept, with a key that is not that of
// the digests of API keys.
type digester struct{ key [sha256.Size]byte }

func newDigester(secret control.Secret) digester {
	mac := hmac.New(sha256.New, secret[:])
	mac.Write([]byte("sessions"))
	return digester{[sha256.Size]byte(mac.Sum(nil))}
}

func (d *digester) of(text string) string {
	mac := hmac.New(sha256.New, d.key[:])
	mac.Write([]byte(text))
	return hex.EncodeToString(mac.Sum(nil))
}

// FormToken is what forms of a session's pages carry, so that no page of somebody else
// can send them. It is the same for the whole session, and of no use in another.
func (r *Repository) FormToken(sessionID string) string { return r.digest.of("form " + sessionID) }

// ChecksForm says whether a form was made for the session.
func (r *Repository) ChecksForm(sessionID, token string) bool {
	return hmac.Equal([]byte(token), []byte(r.FormToken(sessionID)))
}

// Derive is what somebody who tries to sign in is given for a purpose. It follows from
// a secret that their browser keeps, and nobody else can make it.
func (r *Repository) Derive(purpose, secret string) string {
	return r.digest.of("attempt " + purpose + " " + secret)
}
