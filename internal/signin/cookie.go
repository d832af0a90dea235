package signin

import (
	"crypto/hmac"
	"crypto/rand"
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"time"

	"chainexplorer/internal/kernel"
	"chainexplorer/internal/session"
)

// setCookie gives a browser the token of a session, or takes it back: "".
//
// SameSite is Lax and not Strict, so that who follows a link to a page of theirs, or
// comes back from a provider, is signed in there. It need not be more: no request
// changes anything by the cookie alone.
func (d *Desk) setCookie(w http.ResponseWriter, r *http.Request, token string, until time.Time) {
	d.put(w, r, d.CookieName(r), token, until, http.SameSiteLaxMode)
}

func (d *Desk) put(w http.ResponseWriter, r *http.Request, name, value string, until time.Time, site http.SameSite) {
	c := &http.Cookie{Name: name, Value: value, Path: "/", HttpOnly: true, Secure: d.Secure(r), SameSite: site, MaxAge: -1}
	if value != "" {
		c.MaxAge = max(int(until.Sub(d.Now())/time.Second), 1)
	}
	http.SetCookie(w, c)
}

// An attempt is what ties the steps of a sign-in to one browser: a secret in a cookie,
// and what follows from it in the form or the address of the next step. A step that
// somebody else made the browser take has neither.
const (
	secureAttempt = "__Host-chainexplorer_login"
	plainAttempt  = "chainexplorer_login"
	attemptTime   = session.LinkTime
	secretSize    = 43 // 32 bytes in base64url
)

func (d *Desk) attemptName(r *http.Request) string {
	if d.CookieName(r) == kernel.SecureCookie {
		return secureAttempt
	}
	return plainAttempt
}

// attempt is the secret that a browser has, or a new one, which it is given.
func (d *Desk) attempt(w http.ResponseWriter, r *http.Request) string {
	secret := d.attempted(r)
	if secret == "" {
		return d.begin(w, r)
	}
	d.put(w, r, d.attemptName(r), secret, d.Now().Add(attemptTime), http.SameSiteLaxMode)
	return secret
}

// begin gives a browser a new secret, whatever it had.
func (d *Desk) begin(w http.ResponseWriter, r *http.Request) string {
	var b [32]byte
	rand.Read(b[:]) //nolint:errcheck // never fails
	secret := base64.RawURLEncoding.EncodeToString(b[:])
	d.put(w, r, d.attemptName(r), secret, d.Now().Add(attemptTime), http.SameSiteLaxMode)
	return secret
}

// attempted is the secret that a browser sent, "" when there is none.
func (d *Desk) attempted(r *http.Request) string {
	if list := r.CookiesNamed(d.attemptName(r)); len(list) == 1 && len(list[0].Value) == secretSize {
		return list[0].Value
	}
	return ""
}

// continues says whether a step is the one that was made for the browser's attempt.
func (d *Desk) continues(r *http.Request, purpose, proof string) bool {
	secret := d.attempted(r)
	return secret != "" && hmac.Equal([]byte(proof), []byte(d.people.Derive(purpose, secret)))
}

// Admit hands out a session, which takes the place of the attempt, and leads on.
func (d *Desk) Admit(w http.ResponseWriter, r *http.Request, s session.Opened, next string) {
	d.put(w, r, d.attemptName(r), "", time.Time{}, http.SameSiteLaxMode)
	d.setCookie(w, r, s.Token, s.ExpiresAt)
	seeOther(w, d.after(next))
}

// nextField names where to go after a sign-in.
const nextField = "next"

// after is where to go: a page of ours, whatever the address asks for.
func (d *Desk) after(next string) string {
	if local(next) {
		return next
	}
	return d.home
}

// local says whether an address is a path of this service. Browsers take a backslash
// for a slash, and two of them at the beginning for another host; they also drop
// tabs and newlines before they look.
func local(next string) bool {
	if len(next) > 1024 || !strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") {
		return false
	}
	for _, c := range next {
		if c <= ' ' || c == '\\' || c == 0x7f {
			return false
		}
	}
	at, err := url.Parse(next)
	return err == nil && at.Scheme == "" && at.Host == "" && at.User == nil && strings.HasPrefix(at.Path, "/") && !strings.HasPrefix(at.Path, "//") && !strings.Contains(at.Path, `\`)
}

// seeOther leads a browser on. The address is one of ours, which local or this package
// vouches for.
func seeOther(w http.ResponseWriter, to string) {
	kernel.Lead(w, http.StatusSeeOther, to)
}
