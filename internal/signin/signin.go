// Package signin lets people sign in with a browser, and out again, and tells pages for
// whom they are.
//
// It guarantees that a sign-in makes a new session and ends the one that the browser
// had; that nobody is signed in, or out, by a page of somebody else; that a link in a
// message is used up by a person who confirms it, not by a program that only looks;
// and that nobody is led to another site afterwards.
package signin

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"chainexplorer/internal/kernel"
	"chainexplorer/internal/session"
)

// Where people sign in and out.
const (
	Path       = "/login"
	LinkPath   = "/login/link"
	LogoutPath = "/logout"
)

// workTime bounds what a request asks of the control database.
const workTime = 10 * time.Second

// Options are what signing in works on.
type Options struct {
	People *session.Repository
	// Home is where people are led who signed in.
	Home string
	// Provider says who people are; nil where links alone do.
	Provider *Provider
	// Chains are those that the head of every page leads to.
	Chains []string
}

// Desk is where people sign in.
type Desk struct {
	*kernel.Server
	people   *session.Repository
	home     string
	provider *provider // nil when there is none
	chains   []string
}

// New registers the routes.
func New(k *kernel.Server, o Options) *Desk {
	d := &Desk{Server: k, people: o.People, home: o.Home, chains: o.Chains}
	k.RefusePages(d.fail)
	d.private("GET "+Path, d.welcome)
	d.private("GET "+LinkPath, d.showLink)
	d.private("POST "+LinkPath, d.redeem)
	d.private("POST "+LogoutPath, d.logout)
	if o.Provider != nil {
		d.provider = newProvider(*o.Provider, k.Now)
		d.private("GET "+ProviderPath, d.leave)
		d.private("GET "+CallbackPath, d.comeBack)
	}
	return d
}

func (d *Desk) private(pattern string, h http.HandlerFunc) {
	d.Private(pattern, func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), workTime)
		defer cancel()
		h(w, r.WithContext(ctx))
	})
}

// Who tells who is signed in by the cookie of a request; session.ErrInvalid when nobody is.
// Any other error says that the database could not be asked.
func (d *Desk) Who(r *http.Request) (session.Who, error) {
	token := d.SessionCookie(r)
	if token == "" {
		return session.Who{}, session.ErrInvalid
	}
	who, err := d.people.Authenticate(r.Context(), token)
	if err == nil || errors.Is(err, session.ErrInvalid) {
		d.SessionSeen(token, err == nil)
	}
	return who, err
}

// Page serves a page for people who are signed in. Others are led to sign in, and back.
func (d *Desk) Page(pattern string, h func(http.ResponseWriter, *http.Request, session.Who)) {
	d.private(pattern, func(w http.ResponseWriter, r *http.Request) {
		who, err := d.Who(r)
		switch {
		case errors.Is(err, session.ErrInvalid):
			seeOther(w, Path+"?"+url.Values{nextField: {r.URL.RequestURI()}}.Encode())
		case err != nil:
			d.unavailable(w, r, err)
		default:
			if e := d.Pace(w, r, who.Principal()); e != nil {
				d.fail(w, r, e)
				return
			}
			h(w, r, who)
		}
	})
}

// Action serves a form of such a page: one that FormToken was put into, sent by a page of
// ours. Nothing else changes anything by a cookie.
func (d *Desk) Action(pattern string, h func(http.ResponseWriter, *http.Request, session.Who, url.Values)) {
	d.private(pattern, func(w http.ResponseWriter, r *http.Request) {
		nobody := func() {
			d.Refuse(w, r, http.StatusUnauthorized, "You are not signed in", "Nothing was changed. Sign in, and try again.")
		}
		if who, form, ok := d.own(w, r, nobody, "It was not made for the session that you have now. Nothing was changed: go back, reload the page, and try again."); ok {
			h(w, r, who, form)
		}
	})
}

// own reads a form of somebody's own page, or answers why it does not count: by nobody
// where they are not signed in, and with stale where it is of another session.
func (d *Desk) own(w http.ResponseWriter, r *http.Request, nobody func(), stale string) (who session.Who, form url.Values, ok bool) {
	if !d.OwnOrigin(r) {
		d.foreign(w, r)
		return who, nil, false
	}
	who, err := d.Who(r)
	switch {
	case errors.Is(err, session.ErrInvalid):
		nobody()
		return who, nil, false
	case err != nil:
		d.unavailable(w, r, err)
		return who, nil, false
	}
	e := d.Pace(w, r, who.Principal())
	if e == nil {
		form, e = d.Server.Form(w, r)
	}
	switch {
	case e != nil:
		d.fail(w, r, e)
	case !d.people.ChecksForm(who.SessionID, form.Get(FormField)):
		d.Refuse(w, r, http.StatusForbidden, "This form cannot be used", stale)
	default:
		return who, form, true
	}
	return who, nil, false
}

// FormField is the name of the hidden field that FormToken is sent in.
const FormField = "form"

// FormToken is what every form of a page for somebody carries in the field FormField.
func (d *Desk) FormToken(who session.Who) string { return d.people.FormToken(who.SessionID) }

// welcome shows how to sign in or, to those who are, how to sign out.
func (d *Desk) welcome(w http.ResponseWriter, r *http.Request) {
	who, err := d.Who(r)
	switch {
	case errors.Is(err, session.ErrInvalid):
		data := map[string]any{}
		if d.provider != nil {
			data["Provider"] = d.provider.name()
			data["Leave"] = ProviderPath + "?" + url.Values{nextField: {d.after(r.URL.Query().Get(nextField))}}.Encode()
		}
		d.show(w, r, http.StatusOK, "Sign in", "welcome", data)
	case err != nil:
		d.unavailable(w, r, err)
	default:
		if e := d.Pace(w, r, who.Principal()); e != nil {
			d.fail(w, r, e)
			return
		}
		d.show(w, r, http.StatusOK, "Signed in", "in", map[string]any{"Who": who, "Form": d.FormToken(who), "Home": d.home, "Here": Path})
	}
}

// logout ends this session, or all of the person. Who has none any more is signed out
// already, whoever asked for it.
func (d *Desk) logout(w http.ResponseWriter, r *http.Request) {
	out := func() {
		d.setCookie(w, r, "", time.Time{})
		seeOther(w, Path)
	}
	who, form, ok := d.own(w, r, out, "You are still signed in: reload the page, and try again.")
	if !ok {
		return
	}
	var err error
	if form.Get("all") != "" {
		_, err = d.people.EndAll(r.Context(), who.PersonID, who.PersonID)
	} else {
		err = d.people.End(r.Context(), d.SessionCookie(r))
	}
	if err != nil {
		d.unavailable(w, r, err)
		return
	}
	out()
}
