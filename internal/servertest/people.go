package servertest

import (
	"strings"
	"sync"
	"testing"

	"chainexplorer/internal/account"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/session"
)

// SignedIn is a World with accounts, and a session of ada, who owns the workspace.
func SignedIn(t *testing.T, n int, change ...func(*Options)) (*World, session.Opened) {
	t.Helper()
	w := New(t, n, append([]func(*Options){func(o *Options) { o.Accounts = true }}, change...)...)
	return w, w.SignIn("ada", w.Space)
}

// SignIn gives somebody a session, whose token must not be logged.
func (w *World) SignIn(name string, space account.Workspace) session.Opened {
	w.T.Helper()
	s, err := w.People.Open(w.T.Context(), name, space.ID)
	if err != nil {
		w.T.Fatal(err)
	}
	w.Secret(s.Token)
	return s
}

var secrets sync.Mutex // guards Secrets of all Worlds, which may be copied

// Secret makes sure that the token of a session or a link is not logged.
func (w *World) Secret(token string) {
	secrets.Lock()
	defer secrets.Unlock()
	w.Secrets = append(w.Secrets, strings.Repeat("-", len("svc_live_"))+token[4:])
}

// Bearer is the header of a program that acts for somebody, and Cookie that of a browser.
func Bearer(s session.Opened) []string { return []string{"Authorization", "Bearer " + s.Token} }

// Cookie is the header of a browser where somebody is signed in.
func Cookie(s session.Opened) []string { return []string{"Cookie", kernel.PlainCookie + "=" + s.Token} }
