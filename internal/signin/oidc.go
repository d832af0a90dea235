package signin

import (
	"context"
	"crypto/hmac"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"chainexplorer/internal/kernel"
	"chainexplorer/internal/session"
)

// Where people leave for a provider, and come back.
const (
	ProviderPath = "/login/oidc"
	CallbackPath = "/login/oidc/callback"
)

// What follows from the secret of an attempt: all of it anew for each.
const (
	statePurpose    = "oidc state"
	noncePurpose    = "oidc nonce"
	verifierPurpose = "oidc verifier"
)

// leave sends somebody to the provider.
func (d *Desk) leave(w http.ResponseWriter, r *http.Request) {
	done, err := d.provider.enter()
	if err != nil {
		d.away(w, r, err)
		return
	}
	defer done()
	known, err := d.provider.look(r.Context())
	if err != nil {
		d.away(w, r, err)
		return
	}
	secret := d.begin(w, r)
	to := known.AuthCodeURL(d.state(secret, d.after(r.URL.Query().Get(nextField)), d.Now()), oauth2.SetAuthURLParam("nonce", d.people.Derive(noncePurpose, secret)),
		oauth2.S256ChallengeOption(d.people.Derive(verifierPurpose, secret)))
	seeOther(w, to)
}

// state says where to go after the sign-in and when it began, and nobody else can make it.
func (d *Desk) state(secret, next string, at time.Time) string {
	said := base64.RawURLEncoding.EncodeToString([]byte(next)) + "." + strconv.FormatInt(at.Unix(), 36)
	return said + "." + d.people.Derive(statePurpose, said+" "+secret)
}

// resumes reads a state that was made for the browser's attempt, and lately: not by a clock
// that was ahead, whose states would outlast what is remembered of those that are spent.
func (d *Desk) resumes(r *http.Request, state string) (secret, next string, ok bool) {
	at := strings.LastIndexByte(state, '.')
	secret = d.attempted(r)
	if secret == "" || at < 0 || !hmac.Equal([]byte(state[at+1:]), []byte(d.people.Derive(statePurpose, state[:at]+" "+secret))) {
		return "", "", false
	}
	where, when, _ := strings.Cut(state[:at], ".")
	text, err := base64.RawURLEncoding.DecodeString(where)
	began, notNumber := strconv.ParseInt(when, 36, 64)
	if err != nil || notNumber != nil || d.Now().Sub(time.Unix(began, 0)).Abs() > attemptTime {
		return "", "", false
	}
	return secret, string(text), true
}

// comeBack signs in who comes back from the provider.
func (d *Desk) comeBack(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	secret, next, ok := d.resumes(r, query.Get("state"))
	var spent error
	if ok = ok && len(query["state"]) == 1 && len(query["code"]) <= 1; ok {
		spent = d.people.Spend(r.Context(), secret)
	}
	switch {
	case !ok || errors.Is(spent, session.ErrInvalid):
		d.Refuse(w, r, http.StatusForbidden, "This sign-in cannot be finished", "It was not begun in this browser, took longer than ten minutes, was finished before, or another one was begun meanwhile. Begin again.")
		return
	case spent != nil:
		d.unavailable(w, r, spent)
		return
	}
	d.put(w, r, d.attemptName(r), "", time.Time{}, http.SameSiteLaxMode) // whatever comes of it, it is over
	done, err := d.provider.enter()
	if err != nil {
		d.away(w, r, err)
		return
	}
	defer done()
	known, err := d.provider.look(r.Context())
	if err != nil {
		d.away(w, r, err)
		return
	}
	code := query.Get("code")
	switch iss := query.Get("iss"); {
	case iss != "" && iss != d.provider.Issuer, iss == "" && known.namesItself:
		d.doubt(w, r, errors.New("the answer is another provider's"))
		return
	case query.Get("error") != "" || code == "" || len(code) > maxCode:
		d.Refuse(w, r, http.StatusForbidden, "You were not signed in", "The provider did not say who you are. Begin again, or ask whoever runs this service.")
		return
	}
	id, err := d.provider.redeem(r.Context(), code, d.people.Derive(verifierPurpose, secret), d.people.Derive(noncePurpose, secret))
	var refused *oauth2.RetrieveError
	switch {
	case errors.Is(err, errLies), errors.As(err, &refused) && refused.Response.StatusCode < http.StatusInternalServerError:
		d.doubt(w, r, err)
		return
	case err != nil:
		d.away(w, r, err)
		return
	}
	s, err := d.people.Admit(r.Context(), id, d.provider.Domains, d.SessionCookie(r))
	switch {
	case errors.Is(err, session.ErrNotAdmitted):
		d.Refuse(w, r, http.StatusForbidden, "You are not a member", "The provider knows you, and no workspace here does, or it does not say that your e-mail address is yours. Ask whoever runs this service to add you by your address.")
	case err != nil:
		d.unavailable(w, r, err)
	default:
		d.Admit(w, r, s, next)
	}
}

// away is when the provider could not be asked.
func (d *Desk) away(w http.ResponseWriter, r *http.Request, err error) {
	d.Log.Warn("sign-in", "request_id", kernel.RecordOf(w).ID, "err", describe(err))
	d.fail(w, r, kernel.RetryLater(2, err, "The provider that says who you are cannot be reached right now. Try again."))
}

// doubt is when it said what cannot be believed.
func (d *Desk) doubt(w http.ResponseWriter, r *http.Request, err error) {
	d.Log.Warn("sign-in", "request_id", kernel.RecordOf(w).ID, "err", describe(err))
	d.Refuse(w, r, http.StatusForbidden, "You were not signed in", "What the provider said could not be believed. Begin again; if it stays so, ask whoever runs this service.")
}

// describe says what went wrong, in few words, and nothing of what a provider answered or
// was asked: both may hold codes, tokens and people's addresses.
func describe(err error) string {
	var refused *oauth2.RetrieveError
	var at *url.Error
	switch {
	case errors.As(err, &refused) && refused.Response != nil:
		return "the provider refused the code: " + refused.Response.Status
	case errors.As(err, &at) && at.Timeout(), errors.Is(err, context.DeadlineExceeded):
		return "the provider did not answer in time"
	case errors.As(err, &at):
		return kernel.Clip("the provider cannot be reached: "+at.Err.Error(), 300)
	default:
		return kernel.Clip(err.Error(), 300)
	}
}
