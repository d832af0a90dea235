package signin

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"chainexplorer/internal/session"
)

// linkPurpose is that of the form for one link: no other link can be confirmed by it.
func linkPurpose(token string) string { return "link " + token }

// LinkURL is the address of a link, of a service that is reached at base.
func LinkURL(base, token string) string {
	return strings.TrimSuffix(base, "/") + LinkPath + "?" + url.Values{"token": {token}}.Encode()
}

// showLink asks the person who followed a link to confirm it. Programs look at the links
// in messages, too; they must not use it up. It says who would be signed in: a link can
// be somebody else's, who wants to be mistaken for the person.
func (d *Desk) showLink(w http.ResponseWriter, r *http.Request) {
	link, err := d.people.Look(r.Context(), r.URL.Query().Get("token"))
	if errors.Is(err, session.ErrInvalid) {
		d.deadLink(w, r)
		return
	} else if err != nil {
		d.unavailable(w, r, err)
		return
	}
	d.show(w, r, http.StatusOK, "Sign in", "link", map[string]any{"Link": link, "Proof": d.people.Derive(linkPurpose(link.Token), d.attempt(w, r)), "Here": LinkPath})
}

// redeem signs in by a link.
func (d *Desk) redeem(w http.ResponseWriter, r *http.Request) {
	if !d.OwnOrigin(r) {
		d.foreign(w, r)
		return
	}
	form, e := d.Server.Form(w, r)
	if e != nil {
		d.fail(w, r, e)
		return
	}
	if !d.continues(r, linkPurpose(form.Get("token")), form.Get(FormField)) {
		d.Refuse(w, r, http.StatusForbidden, "This form cannot be used", "It was not made for this browser or this link, was open for too long, or the browser keeps no cookies. The link is still good: open it again.")
		return
	}
	s, err := d.people.Redeem(r.Context(), form.Get("token"), d.SessionCookie(r))
	switch {
	case errors.Is(err, session.ErrInvalid):
		d.deadLink(w, r)
	case err != nil:
		d.unavailable(w, r, err)
	default:
		d.Admit(w, r, s, "")
	}
}

func (d *Desk) deadLink(w http.ResponseWriter, r *http.Request) {
	d.Refuse(w, r, http.StatusNotFound, "This link is not good", "It was used already, was open for too long (a link to sign in is good for ten minutes, an invitation for three days), or was not copied whole. Ask for another.")
}
