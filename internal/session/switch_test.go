package session_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"chainexplorer/internal/account"
	"chainexplorer/internal/session"
)

// testSwitch: of two who switch by one session one gets there, and the log says so. A
// session that is over, or somebody whom an owner let in, gets nowhere.
func testSwitch(t *testing.T, b *bench) {
	second, err := account.NewRepository(b.db, account.Options{}).CreateWorkspace(t.Context(), "second", account.Free)
	if err != nil {
		t.Fatal(err)
	}
	ada := b.signIn(t, "ada", "")
	if _, err := b.Switch(t.Context(), ada.Token, second.ID); !errors.Is(err, account.ErrWorkspaceNotFound) {
		t.Error("to a workspace of others:", err)
	}
	guest := b.invite(t, "guest", ada.PersonID)
	for _, name := range []string{"ada", "guest"} {
		if _, err := b.Open(t.Context(), name, second.ID); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.Switch(t.Context(), guest.Token, second.ID); !errors.Is(err, account.ErrWorkspaceNotFound) {
		t.Error("by an invitation:", err)
	}
	b.wants(t, guest.Token, nil)
	b.wants(t, ada.Token, nil)
	b.advance(time.Hour)
	var all sync.WaitGroup
	var won atomic.Pointer[session.Opened]
	for _, r := range []*session.Repository{b.Repository, b.other} {
		all.Go(func() {
			switch s, err := r.Switch(t.Context(), ada.Token, second.ID); {
			case err == nil && !won.CompareAndSwap(nil, &s):
				t.Error("one session became two")
			case err != nil && !errors.Is(err, session.ErrInvalid):
				t.Error(err)
			}
		})
	}
	all.Wait()
	s := won.Load()
	if s == nil || s.Workspace != "second" || !s.Vouched || !s.ExpiresAt.Equal(ada.ExpiresAt) {
		t.Fatalf("%+v; the first one ends at %s", s, ada.ExpiresAt)
	}
	b.wants(t, ada.Token, session.ErrInvalid)
	b.wants(t, s.Token, nil)
	if list, more, err := b.other.Memberships(t.Context(), s.Who, 10); err != nil || more || len(list) != 1 || list[0].WorkspaceID != b.space.ID || list[0].Role != session.Owner {
		t.Errorf("%+v, %v", list, err)
	}
	log, err := b.db.AuditLog(t.Context(), 2)
	if err != nil {
		t.Fatal(err)
	}
	var seen []string
	for _, e := range log {
		seen = append(seen, strings.Join([]string{e.Actor, e.Action, e.Subject, e.Detail}, " "))
	}
	want := []string{ada.PersonID + " session.open " + s.SessionID + " workspace " + second.ID + ", by switch", ada.PersonID + " session.end " + ada.SessionID + " "}
	if !slices.Equal(seen, want) {
		t.Errorf("the audit log has %q, not %q", seen, want)
	}
	b.advance(session.Idle)
	if _, err := b.Switch(t.Context(), s.Token, b.space.ID); !errors.Is(err, session.ErrInvalid) {
		t.Error("by a session that is over:", err)
	}
}
