package session_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"chainexplorer/internal/account"
	"chainexplorer/internal/session"
)

// role is what somebody is in the workspace, "" for nobody.
func (b *bench) role(t *testing.T, name string) session.Role {
	t.Helper()
	list, _, err := b.other.Members(t.Context(), b.space.ID, 500)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range list {
		if m.Name == name {
			return m.Role
		}
	}
	return ""
}

// id is who has a name in the workspace.
func (b *bench) id(t *testing.T, name string) string {
	t.Helper()
	list, _, err := b.Members(t.Context(), b.space.ID, 500)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range list {
		if m.Name == name {
			return m.PersonID
		}
	}
	t.Fatalf("%s is no member", name)
	return ""
}

// keeper is somebody who owns a workspace, so that others can go.
func (b *bench) keeper(t *testing.T, workspaceID string) {
	t.Helper()
	s, err := b.Open(t.Context(), "root", workspaceID)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.SetRole(t.Context(), s.PersonID, workspaceID, session.Owner, "operator"); err != nil {
		t.Fatal(err)
	}
}

func (b *bench) invite(t *testing.T, name, actor string) session.Opened {
	t.Helper()
	link, err := b.Invite(t.Context(), name, b.space.ID, actor)
	if err != nil {
		t.Fatal(err)
	}
	s, err := b.other.Redeem(t.Context(), link.Token, "")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// testRoles: the first member owns the workspace, the others do not until an owner says
// so, and there is always one.
func testRoles(t *testing.T, b *bench) {
	ada, bob := b.signIn(t, "ada", ""), b.signIn(t, "bob", "")
	if ada.Role != session.Owner || bob.Role != session.Ordinary {
		t.Fatalf("%s and %s", ada.Role, bob.Role)
	}
	set := func(who session.Opened, role session.Role, actor session.Opened) error {
		return b.SetRole(t.Context(), who.PersonID, b.space.ID, role, actor.PersonID)
	}
	for what, err := range map[string]error{
		"a member makes itself an owner": set(bob, session.Owner, bob),
		"a member takes the role away":   set(ada, session.Ordinary, bob),
		"a member removes the owner":     b.Leave(t.Context(), ada.PersonID, b.space.ID, bob.PersonID),
		"a stranger invites":             func() error { _, err := b.Invite(t.Context(), "x", b.space.ID, "usr_none"); return err }(),
		"a member invites":               func() error { _, err := b.Invite(t.Context(), "x", b.space.ID, bob.PersonID); return err }(),
		"a member signs somebody out":    func() error { _, err := b.EndIn(t.Context(), ada.PersonID, b.space.ID, bob.PersonID); return err }(),
	} {
		if !errors.Is(err, session.ErrNotOwner) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for what, err := range map[string]error{
		"the last owner steps back": set(ada, session.Ordinary, ada),
		"the last owner leaves":     b.Leave(t.Context(), ada.PersonID, b.space.ID, ada.PersonID),
	} {
		if !errors.Is(err, session.ErrLastOwner) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := b.SetRole(t.Context(), "usr_none", b.space.ID, session.Owner, ada.PersonID); !errors.Is(err, session.ErrPersonNotFound) {
		t.Error(err)
	}
	if err := set(bob, session.Owner, ada); err != nil {
		t.Fatal(err)
	}
	if who, err := b.other.Authenticate(t.Context(), bob.Token); err != nil || who.Role != session.Owner {
		t.Errorf("bob's session says %s, %v", who.Role, err)
	}
	// An owner who has not come yet is none to those who go, and one to the operator.
	link, err := b.Invite(t.Context(), "ghost", b.space.ID, ada.PersonID)
	if err != nil {
		t.Fatal(err)
	}
	ghost := b.id(t, "ghost")
	for _, role := range []error{set(bob, session.Ordinary, ada), b.SetRole(t.Context(), ghost, b.space.ID, session.Owner, ada.PersonID)} {
		if role != nil {
			t.Fatal(role)
		}
	}
	for what, err := range map[string]error{
		"the last owner who came steps back": set(ada, session.Ordinary, ada),
		"the last owner who came leaves":     b.Leave(t.Context(), ada.PersonID, b.space.ID, ada.PersonID),
	} {
		if !errors.Is(err, session.ErrLastOwner) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := set(ada, session.Ordinary, session.Opened{Who: session.Who{PersonID: "operator"}}); err != nil {
		t.Error("the operator takes the role:", err)
	}
	if _, err := b.Redeem(t.Context(), link.Token, ""); err != nil {
		t.Fatal(err)
	}
	for _, who := range []session.Opened{ada, bob} {
		if err := b.SetRole(t.Context(), who.PersonID, b.space.ID, session.Owner, ghost); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Leave(t.Context(), ghost, b.space.ID, ghost); err != nil {
		t.Fatal(err)
	}
	// Two owners who take the role from one another: one is left.
	var all sync.WaitGroup
	for i, pair := range [][2]session.Opened{{ada, bob}, {bob, ada}} {
		all.Go(func() {
			r := []*session.Repository{b.Repository, b.other}[i]
			err := r.SetRole(t.Context(), pair[0].PersonID, b.space.ID, session.Ordinary, pair[1].PersonID)
			if err != nil && !errors.Is(err, session.ErrNotOwner) && !errors.Is(err, session.ErrLastOwner) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if a, c := b.role(t, "ada"), b.role(t, "bob"); a == c {
		t.Errorf("both are %s", a)
	}
	// The operator removes either, and not the last one.
	b.keeper(t, b.space.ID)
	for _, who := range []session.Opened{ada, bob} {
		if err := b.Leave(t.Context(), who.PersonID, b.space.ID, "operator"); err != nil {
			t.Error(err)
		}
	}
	root := b.signIn(t, "root", "")
	if err := b.Leave(t.Context(), root.PersonID, b.space.ID, "operator"); !errors.Is(err, session.ErrLastOwner) {
		t.Error("the operator removes the last owner:", err)
	}
	if err := b.SetRole(t.Context(), root.PersonID, b.space.ID, session.Ordinary, "operator"); !errors.Is(err, session.ErrLastOwner) || b.role(t, "root") != session.Owner {
		t.Error("the operator takes the role from the last owner:", err)
	}
	if _, err := session.ParseRole("king"); err == nil {
		t.Error("there are kings")
	}
}

// testInvite: an invitation is for somebody new, good once and for three days, and says
// in the list that they have not come.
func testInvite(t *testing.T, b *bench) {
	ada := b.signIn(t, "ada", "")
	first, err := b.Invite(t.Context(), "bob", b.space.ID, ada.PersonID)
	if err != nil || first.Person != "bob" || first.Workspace != "acme" {
		t.Fatal(first, err)
	}
	b.advance(session.InviteTime - time.Second)
	again, err := b.Invite(t.Context(), "bob", b.space.ID, ada.PersonID)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Redeem(t.Context(), first.Token, ""); !errors.Is(err, session.ErrInvalid) {
		t.Error("the link from before is still good:", err)
	}
	list, _, err := b.Members(t.Context(), b.space.ID, 10)
	if err != nil || len(list) != 2 || list[1].JoinedAt != nil || list[0].JoinedAt == nil || list[1].Sessions != 0 || list[1].SeenAt != nil {
		t.Errorf("%+v, %v", list, err)
	}
	b.advance(session.InviteTime - time.Second)
	bob, err := b.other.Redeem(t.Context(), again.Token, "")
	if err != nil || bob.Role != session.Ordinary {
		t.Fatal(bob.Role, err)
	}
	list, _, err = b.Members(t.Context(), b.space.ID, 10)
	if err != nil || list[1].JoinedAt == nil || list[1].Sessions != 1 || list[1].SeenAt == nil {
		t.Errorf("%+v, %v", list, err)
	}
	if _, err := b.Invite(t.Context(), "bob", b.space.ID, ada.PersonID); !errors.Is(err, session.ErrAlreadyMember) {
		t.Error("a link for a member:", err)
	}
	late, err := b.Invite(t.Context(), "late", b.space.ID, ada.PersonID)
	if err != nil {
		t.Fatal(err)
	}
	b.advance(session.InviteTime)
	if _, err := b.Redeem(t.Context(), late.Token, ""); !errors.Is(err, session.ErrInvalid) {
		t.Error("after three days:", err)
	}
	other, err := account.NewRepository(b.db, account.Options{}).CreateWorkspace(t.Context(), "other", account.Free)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Open(t.Context(), "carol", other.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Invite(t.Context(), "x", other.ID, ada.PersonID); !errors.Is(err, session.ErrNotOwner) {
		t.Error("an invitation to another workspace:", err)
	}
	if err := b.Leave(t.Context(), bob.PersonID, b.space.ID, ada.PersonID); err != nil {
		t.Fatal(err)
	}
	b.wants(t, bob.Token, session.ErrInvalid)
	if back := b.invite(t, "bob", ada.PersonID); back.PersonID != bob.PersonID {
		t.Error("bob came back as somebody else")
	}
}

// testCrowd: owners bring no more people than a workspace may have.
func testCrowd(t *testing.T, b *bench) {
	ada := b.signIn(t, "ada", "")
	for i := range session.MaxMembers - 1 {
		if _, err := b.Invite(t.Context(), fmt.Sprint("guest ", i), b.space.ID, ada.PersonID); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.Invite(t.Context(), "one more", b.space.ID, ada.PersonID); !errors.Is(err, session.ErrTooManyMembers) {
		t.Error(err)
	}
	if _, err := b.Invite(t.Context(), "guest 7", b.space.ID, ada.PersonID); err != nil {
		t.Error("who was invited is not one more:", err)
	}
}

// testOwnSessions: people see and end their sessions, and nobody else's.
func testOwnSessions(t *testing.T, b *bench) {
	ada := b.signIn(t, "ada", "")
	b.advance(time.Second)
	second, bob := b.signIn(t, "ada", ""), b.signIn(t, "bob", "")
	list, err := b.other.Sessions(t.Context(), ada.PersonID)
	if err != nil || len(list) != 2 || list[0].ID != second.SessionID || list[1].ID != ada.SessionID || list[0].Workspace != "acme" {
		t.Fatalf("%+v, %v", list, err)
	}
	if err := b.EndOwn(t.Context(), ada.PersonID, bob.SessionID); !errors.Is(err, session.ErrInvalid) {
		t.Error("ada ended bob's:", err)
	}
	if err := b.EndOwn(t.Context(), ada.PersonID, second.SessionID); err != nil {
		t.Error(err)
	}
	b.wants(t, second.Token, session.ErrInvalid)
	b.wants(t, ada.Token, nil)
	third := b.signIn(t, "ada", "")
	link, err := b.NewLink(t.Context(), "ada", b.space.ID)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := b.EndOthers(t.Context(), ada.PersonID, ada.SessionID); n != 1 || err != nil {
		t.Error(n, err)
	}
	b.wants(t, third.Token, session.ErrInvalid)
	b.wants(t, ada.Token, nil)
	if _, err := b.Redeem(t.Context(), link.Token, ""); !errors.Is(err, session.ErrInvalid) {
		t.Error("a link outlived it:", err)
	}
	if n, err := b.EndIn(t.Context(), bob.PersonID, b.space.ID, ada.PersonID); n != 1 || err != nil {
		t.Error(n, err)
	}
	b.wants(t, bob.Token, session.ErrInvalid)
	b.advance(session.Idle)
	if list, err := b.Sessions(t.Context(), ada.PersonID); err != nil || len(list) != 0 {
		t.Errorf("left alone: %+v, %v", list, err)
	}
	log, err := b.db.AuditLog(t.Context(), 50)
	if err != nil {
		t.Fatal(err)
	}
	var seen []string
	for _, e := range log {
		seen = append(seen, e.Actor+" "+e.Action+" "+e.Subject)
	}
	for _, want := range []string{ada.PersonID + " session.end " + second.SessionID, ada.PersonID + " session.end_others", ada.PersonID + " session.end_in " + bob.PersonID} {
		if !strings.Contains(strings.Join(seen, "\n"), want) {
			t.Errorf("the audit log has %q, not %q", seen, want)
		}
	}
}

// testGuests: an owner gives names away, and none of them stands for anybody elsewhere:
// neither for whom a provider vouches for, nor for whom the operator brings.
func testGuests(t *testing.T, b *bench) {
	eve := b.signIn(t, "eve", "")
	other, err := account.NewRepository(b.db, account.Options{}).CreateWorkspace(t.Context(), "other", account.Free)
	if err != nil {
		t.Fatal(err)
	}
	const gina = "gina@example.org"
	link, err := b.Invite(t.Context(), gina, b.space.ID, eve.PersonID)
	if err != nil {
		t.Fatal(err)
	}
	admit := func() (session.Opened, error) {
		return b.Admit(t.Context(), session.Identity{Issuer: "https://issuer.example", Subject: "g", Email: gina}, map[string]string{"example.org": "other"}, "")
	}
	real, err := admit()
	if err != nil || real.Workspace != "other" {
		t.Fatalf("by a provider she comes to %q, %v", real.Workspace, err)
	}
	guest, err := b.other.Redeem(t.Context(), link.Token, "")
	if err != nil || guest.PersonID == real.PersonID || guest.Workspace != "acme" {
		t.Fatalf("the link is for %+v, %v", guest.Who, err)
	}
	if n, err := b.EndOthers(t.Context(), guest.PersonID, guest.SessionID); n != 0 || err != nil {
		t.Error("the guest ended sessions of the other:", n, err)
	}
	b.wants(t, real.Token, nil)
	if list, err := b.Sessions(t.Context(), guest.PersonID); err != nil || len(list) != 1 {
		t.Error("the guest sees", list, err)
	}
	// Nor does an invitation tell who is known, or get in the way of another.
	if _, err := b.Invite(t.Context(), "hans@example.org", b.space.ID, eve.PersonID); err != nil {
		t.Error(err)
	}
	if brought, err := b.Open(t.Context(), "hans@example.org", other.ID); err != nil || brought.Workspace != "other" {
		t.Error(brought.Who, err)
	}
	// Where she is taken out, an invitation to another workspace does not bring her back.
	b.keeper(t, other.ID)
	if err := b.Leave(t.Context(), real.PersonID, other.ID, "operator"); err != nil {
		t.Fatal(err)
	}
	if _, err := admit(); !errors.Is(err, session.ErrNotAdmitted) {
		t.Error("who was taken out is let in:", err)
	}
	// The operator's words are about the guest in the guest's workspace.
	again, err := b.Open(t.Context(), gina, b.space.ID)
	if err != nil || again.PersonID != guest.PersonID {
		t.Error("in acme there are two:", err)
	}
	if id, err := b.MemberByName(t.Context(), gina, b.space.ID); err != nil || id != guest.PersonID {
		t.Error(id, err)
	}
	if _, err := b.MemberByName(t.Context(), gina, other.ID); !errors.Is(err, session.ErrPersonNotFound) {
		t.Error(err)
	}
	if ids, err := b.PeopleByName(t.Context(), gina); err != nil || len(ids) != 2 || ids[0] != real.PersonID || ids[1] != guest.PersonID {
		t.Error(ids, err)
	}
}

// testSpelling: nobody is there twice because somebody wrote their name with a capital letter, so that who is taken out
// is out.
func testSpelling(t *testing.T, b *bench) {
	b.keeper(t, b.space.ID)
	var invalid *account.InvalidError
	owner := b.id(t, "root")
	if _, err := b.NewLink(t.Context(), "Ada@Acme.example", b.space.ID); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"ada@acme.example", "ADA@acme.example", "ROOT"} {
		if _, err := b.NewLink(t.Context(), name, b.space.ID); !errors.As(err, &invalid) {
			t.Errorf("a link for %s: %v", name, err)
		}
		if _, err := b.Open(t.Context(), name, b.space.ID); !errors.As(err, &invalid) {
			t.Errorf("a session of %s: %v", name, err)
		}
		if _, err := b.Invite(t.Context(), name, b.space.ID, owner); !errors.As(err, &invalid) {
			t.Errorf("an invitation of %s: %v", name, err)
		}
		if b.role(t, name) != "" {
			t.Errorf("%s is a member all the same", name)
		}
	}
	// Elsewhere a guest may be called so, and who is known everywhere may not.
	second, err := account.NewRepository(b.db, account.Options{}).CreateWorkspace(t.Context(), "second", account.Free)
	if err != nil {
		t.Fatal(err)
	}
	b.keeper(t, second.ID)
	if _, err := b.Invite(t.Context(), "ada@acme.example", second.ID, "operator"); err != nil {
		t.Error("a guest of another workspace:", err)
	}
	if _, err := b.NewLink(t.Context(), "Root", second.ID); !errors.As(err, &invalid) {
		t.Error("a link elsewhere:", err)
	}
	// A provider writes addresses in small letters, and means whom the operator added.
	s, err := b.Admit(t.Context(), session.Identity{Issuer: "https://issuer.example", Subject: "u1", Email: "ada@ACME.example"}, map[string]string{"acme.example": "acme"}, "")
	if err != nil || s.PersonID != b.id(t, "Ada@Acme.example") {
		t.Errorf("%+v, %v", s.Who, err)
	}
	if _, err := b.Admit(t.Context(), session.Identity{Issuer: "https://issuer.example", Subject: "u2", Email: "Bob@acme.example"}, map[string]string{"acme.example": "acme"}, ""); err != nil {
		t.Error("a newcomer:", err)
	}
	if _, err := b.Invite(t.Context(), "Eve@Acme.example", b.space.ID, owner); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Admit(t.Context(), session.Identity{Issuer: "https://issuer.example", Subject: "u3", Email: "eve@acme.example"}, map[string]string{"acme.example": "acme"}, ""); !errors.Is(err, session.ErrNotAdmitted) {
		t.Error("who has a guest's address in other letters:", err)
	}
	// A letter beyond those of ASCII does not make the others count, nor does one that has another small form elsewhere.
	for name, capitals := range map[string]string{"Émile@acme.example": "ÉMILE@acme.example", "irene": "IRENE"} {
		if _, err := b.NewLink(t.Context(), name, b.space.ID); err != nil {
			t.Fatal(err)
		}
		if _, err := b.NewLink(t.Context(), capitals, b.space.ID); !errors.As(err, &invalid) {
			t.Errorf("a link for %s: %v", capitals, err)
		}
	}
	// Letters that only some take for capitals of others are letters of their own.
	for _, name := range []string{"kim", "\u212aim"} {
		if _, err := b.NewLink(t.Context(), name, b.space.ID); err != nil {
			t.Error(err)
		}
	}
}
