package session_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"chainexplorer/internal/account"
	"chainexplorer/internal/control"
	"chainexplorer/internal/control/controltest"
	"chainexplorer/internal/session"
	"chainexplorer/internal/store/postgres/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// bench is a repository with a clock that stands still until a test moves it, on a
// database on which another process works, too.
type bench struct {
	*session.Repository
	other *session.Repository
	space account.Workspace
	db    *control.DB
	at    atomic.Int64
}

func (b *bench) advance(d time.Duration) { b.at.Add(d.Microseconds()) }

func newBench(t *testing.T, path string) *bench {
	t.Helper()
	b := &bench{}
	b.at.Store(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).UnixMicro())
	now := func() time.Time { return time.UnixMicro(b.at.Load()) }
	open := func() *control.DB {
		db, err := control.Open(t.Context(), control.Options{Path: path})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { db.Close() }) //nolint:errcheck // temporary
		return db
	}
	b.db = open()
	b.Repository, b.other = session.NewRepository(b.db, session.Options{Now: now}), session.NewRepository(open(), session.Options{Now: now})
	var err error
	if b.space, err = account.NewRepository(b.db, account.Options{Now: now}).CreateWorkspace(t.Context(), "acme", account.Free); err != nil {
		t.Fatal(err)
	}
	return b
}

// both are the tests that hold for both kinds of control database.
var both = map[string]func(*testing.T, *bench){
	"SignIn": testSignIn, "Fixation": testFixation, "ReplayAfterLogout": testReplayAfterLogout, "Expiry": testExpiry,
	"LinkExpires": testLinkExpires, "OneWinner": testOneWinner, "EndAll": testEndAll, "Leave": testLeave, "Bounds": testBounds,
	"Roles": testRoles, "Invite": testInvite, "Guests": testGuests, "Crowd": testCrowd, "OwnSessions": testOwnSessions, "Switch": testSwitch,
	"NothingInPlain": testNothingInPlain, "Forms": testForms, "ClockAhead": testClockAhead, "Admit": testAdmit, "Mistakes": testMistakes, "Spelling": testSpelling,
}

func TestOnFile(t *testing.T) {
	for name, run := range both {
		t.Run(name, func(t *testing.T) { run(t, newBench(t, controltest.File(t))) })
	}
}

func TestOnPostgres(t *testing.T) {
	for name, run := range both {
		t.Run(name, func(t *testing.T) { run(t, newBench(t, controltest.Server(t))) })
	}
}

// TestSpellingByLocale: what a database takes for capitals of letters by its locale, as a
// Turkish one does with I, does not let anybody in twice.
func TestSpellingByLocale(t *testing.T) { testSpelling(t, newBench(t, pgtest.Localized(t, "tr-TR"))) }

func (b *bench) signIn(t *testing.T, name, had string) session.Opened {
	t.Helper()
	link, err := b.NewLink(t.Context(), name, b.space.ID)
	if err != nil {
		t.Fatal(err)
	}
	s, err := b.Redeem(t.Context(), link.Token, had)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// wants asks both processes.
func (b *bench) wants(t *testing.T, token string, want error) {
	t.Helper()
	for i, r := range []*session.Repository{b.Repository, b.other} {
		if _, err := r.Authenticate(t.Context(), token); !errors.Is(err, want) {
			t.Errorf("process %d: %v, want %v", i, err, want)
		}
	}
}

func testSignIn(t *testing.T, b *bench) {
	link, err := b.NewLink(t.Context(), "ada", b.space.ID)
	if err != nil || link.Workspace != "acme" || link.Person != "ada" {
		t.Fatal(link, err)
	}
	s, err := b.other.Redeem(t.Context(), link.Token, "")
	if err != nil {
		t.Fatal(err)
	}
	who, err := b.Authenticate(t.Context(), s.Token)
	if err != nil || who != s.Who || who.Person != "ada" || who.Workspace != "acme" || who.Plan != account.Free || who.WorkspaceID != b.space.ID {
		t.Errorf("%+v, %v, want %+v", who, err, s.Who)
	}
	if _, err := b.Redeem(t.Context(), link.Token, ""); !errors.Is(err, session.ErrInvalid) {
		t.Error("a link was good twice:", err)
	}
	for _, token := range []string{"", "ses.", link.Token, s.Token[:len(s.Token)-1], s.Token + "A", strings.Repeat("x", 47), "ses." + strings.Repeat("A", 43), s.SessionID} {
		b.wants(t, token, session.ErrInvalid)
	}
	list, more, err := b.Members(t.Context(), b.space.ID, 10)
	if err != nil || more || len(list) != 1 || list[0].Name != "ada" || list[0].PersonID != who.PersonID {
		t.Error(list, more, err)
	}
	again := b.signIn(t, "ada", "")
	if again.PersonID != who.PersonID {
		t.Error("the same name is another person")
	}
	log, err := b.db.AuditLog(t.Context(), 20)
	if err != nil {
		t.Fatal(err)
	}
	var seen []string
	for _, e := range log {
		seen = append(seen, e.Actor+" "+e.Action)
	}
	for _, want := range []string{"operator user.create", "operator member.add", "operator login.link", who.PersonID + " session.open"} {
		if !strings.Contains(strings.Join(seen, "\n"), want) {
			t.Errorf("the audit log has %q, not %q", seen, want)
		}
	}
}

// testFixation: whoever knows the token that a browser had knows nothing of the
// session after a sign-in.
func testFixation(t *testing.T, b *bench) {
	planted := b.signIn(t, "mallory", "")
	s := b.signIn(t, "ada", planted.Token)
	if s.Token == planted.Token {
		t.Error("the token stayed the same")
	}
	b.wants(t, planted.Token, session.ErrInvalid)
	b.wants(t, s.Token, nil)
	made := "ses." + strings.Repeat("B", 42) + "A" // never given out
	s = b.signIn(t, "ada", made)
	if s.Token == made {
		t.Error("a token of the browser's own making was taken")
	}
	b.wants(t, made, session.ErrInvalid)
}

func testReplayAfterLogout(t *testing.T, b *bench) {
	s, stays := b.signIn(t, "ada", ""), b.signIn(t, "ada", "")
	if err := b.other.End(t.Context(), s.Token); err != nil {
		t.Fatal(err)
	}
	b.wants(t, s.Token, session.ErrInvalid)
	b.wants(t, stays.Token, nil)
	for _, token := range []string{s.Token, "", "nonsense"} {
		if err := b.End(t.Context(), token); err != nil {
			t.Errorf("%q: %v", token, err)
		}
	}
}

func testExpiry(t *testing.T, b *bench) {
	s := b.signIn(t, "ada", "")
	b.advance(session.Idle - time.Microsecond)
	b.wants(t, s.Token, nil) // which notes its use
	b.advance(session.Idle - time.Microsecond)
	b.wants(t, s.Token, nil)
	b.advance(session.Idle)
	b.wants(t, s.Token, session.ErrInvalid)

	s = b.signIn(t, "ada", "")
	for spent := time.Duration(0); spent < session.Lifetime-session.Idle/2; spent += session.Idle / 2 {
		b.wants(t, s.Token, nil)
		b.advance(session.Idle / 2)
	}
	b.advance(session.Idle/2 - time.Microsecond)
	b.wants(t, s.Token, nil)
	b.advance(time.Microsecond)
	b.wants(t, s.Token, session.ErrInvalid)
}

func testLinkExpires(t *testing.T, b *bench) {
	link, err := b.NewLink(t.Context(), "ada", b.space.ID)
	if err != nil {
		t.Fatal(err)
	}
	b.advance(session.LinkTime)
	if _, err := b.Redeem(t.Context(), link.Token, ""); !errors.Is(err, session.ErrInvalid) {
		t.Error(err)
	}
}

// testClockAhead: what was made while the clock was ahead does not last that much longer
// when the clock is right again.
func testClockAhead(t *testing.T, b *bench) {
	owner := b.signIn(t, "owner", "")
	used := b.signIn(t, "ada", "")
	const days = 5 * 24 * time.Hour
	b.advance(session.Idle - time.Hour)
	b.wants(t, used.Token, nil) // which notes a use that is yet to come
	b.advance(-session.Idle + time.Hour)
	b.wants(t, used.Token, session.ErrInvalid)
	if _, err := b.Switch(t.Context(), used.Token, b.space.ID); !errors.Is(err, session.ErrInvalid) {
		t.Error("a session that was used later is switched:", err)
	}
	b.advance(days)
	made := b.signIn(t, "bob", "")
	link, err := b.NewLink(t.Context(), "cyn", b.space.ID)
	if err != nil {
		t.Fatal(err)
	}
	b.advance(-days)
	b.wants(t, made.Token, session.ErrInvalid)
	for what, err := range map[string]error{
		"switch": func() error { _, err := b.Switch(t.Context(), made.Token, b.space.ID); return err }(),
		"look":   func() error { _, err := b.Look(t.Context(), link.Token); return err }(),
		"redeem": func() error { _, err := b.Redeem(t.Context(), link.Token, ""); return err }(),
	} {
		if !errors.Is(err, session.ErrInvalid) {
			t.Errorf("%s: %v", what, err)
		}
	}
	// Invitations last longer, and clocks of processes differ a little.
	invited, err := b.Invite(t.Context(), "dan", b.space.ID, owner.PersonID)
	if err != nil {
		t.Fatal(err)
	}
	b.advance(-time.Minute)
	for what, err := range map[string]error{
		"look":         func() error { _, err := b.Look(t.Context(), invited.Token); return err }(),
		"authenticate": func() error { _, err := b.Authenticate(t.Context(), owner.Token); return err }(),
		"redeem":       func() error { _, err := b.Redeem(t.Context(), invited.Token, ""); return err }(),
	} {
		if err != nil {
			t.Errorf("a minute before: %s: %v", what, err)
		}
	}
}

// testOneWinner: of many who use a link at once, one is let in.
func testOneWinner(t *testing.T, b *bench) {
	link, err := b.NewLink(t.Context(), "ada", b.space.ID)
	if err != nil {
		t.Fatal(err)
	}
	var in atomic.Int32
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			r := []*session.Repository{b.Repository, b.other}[i%2]
			switch _, err := r.Redeem(t.Context(), link.Token, ""); {
			case err == nil:
				in.Add(1)
			case !errors.Is(err, session.ErrInvalid):
				t.Error(err)
			}
		})
	}
	all.Wait()
	if in.Load() != 1 {
		t.Errorf("%d were let in", in.Load())
	}
}

func testEndAll(t *testing.T, b *bench) {
	one, two, other := b.signIn(t, "ada", ""), b.signIn(t, "ada", ""), b.signIn(t, "bob", "")
	link, err := b.NewLink(t.Context(), "ada", b.space.ID)
	if err != nil {
		t.Fatal(err)
	}
	ids, err := b.PeopleByName(t.Context(), "ada")
	if err != nil || len(ids) != 1 || ids[0] != one.PersonID {
		t.Fatal(ids, err)
	}
	if n, err := b.EndAll(t.Context(), ids[0], "operator"); n != 2 || err != nil {
		t.Error(n, err)
	}
	b.wants(t, one.Token, session.ErrInvalid)
	b.wants(t, two.Token, session.ErrInvalid)
	b.wants(t, other.Token, nil)
	if _, err := b.Redeem(t.Context(), link.Token, ""); !errors.Is(err, session.ErrInvalid) {
		t.Error("a link outlived it:", err)
	}
}

func testLeave(t *testing.T, b *bench) {
	s := b.signIn(t, "ada", "")
	b.keeper(t, b.space.ID)
	if err := b.Leave(t.Context(), s.PersonID, b.space.ID, "operator"); err != nil {
		t.Fatal(err)
	}
	b.wants(t, s.Token, session.ErrInvalid)
	if err := b.Leave(t.Context(), s.PersonID, b.space.ID, "operator"); !errors.Is(err, session.ErrPersonNotFound) {
		t.Error(err)
	}
}

// testBounds: the oldest of too many sessions ends.
func testBounds(t *testing.T, b *bench) {
	first := b.signIn(t, "ada", "")
	var second session.Opened
	for i := range 20 {
		b.advance(time.Second)
		if s := b.signIn(t, "ada", ""); i == 0 {
			second = s
		}
	}
	b.wants(t, first.Token, session.ErrInvalid)
	b.wants(t, second.Token, nil)
}

// testNothingInPlain reads every text of the tables.
func testNothingInPlain(t *testing.T, b *bench) {
	s := b.signIn(t, "ada", "")
	link, err := b.NewLink(t.Context(), "ada", b.space.ID)
	if err != nil {
		t.Fatal(err)
	}
	var text string
	for table, columns := range map[string]string{"session": "id || digest || person_id", "login_link": "digest || person_id", "audit": "subject || detail || actor"} {
		rows, err := b.db.Reader().QueryContext(t.Context(), fmt.Sprintf("SELECT %s FROM %s", columns, table))
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			var row string
			if err := rows.Scan(&row); err != nil {
				t.Fatal(err)
			}
			text += row + "\n"
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			t.Fatal(err)
		}
	}
	for _, token := range []string{s.Token, link.Token} {
		if strings.Contains(text, token[4:]) {
			t.Error("a token is stored")
		}
	}
}

func testForms(t *testing.T, b *bench) {
	one, two := b.signIn(t, "ada", ""), b.signIn(t, "ada", "")
	form := b.FormToken(one.SessionID)
	if !b.other.ChecksForm(one.SessionID, form) || b.ChecksForm(two.SessionID, form) || b.ChecksForm(one.SessionID, "") {
		t.Error("a form is good for its session alone")
	}
}

func testMistakes(t *testing.T, b *bench) {
	if _, err := b.NewLink(t.Context(), "ada", "ws_none"); !errors.Is(err, account.ErrWorkspaceNotFound) {
		t.Error(err)
	}
	if _, err := b.Open(t.Context(), "ada", "ws_none"); !errors.Is(err, account.ErrWorkspaceNotFound) {
		t.Error(err)
	}
	var invalid *account.InvalidError
	for _, name := range []string{"", " ada", "a\nb", strings.Repeat("x", 129), "\xff"} {
		if _, err := b.NewLink(t.Context(), name, b.space.ID); !errors.As(err, &invalid) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if _, err := b.PeopleByName(t.Context(), "nobody"); !errors.Is(err, session.ErrPersonNotFound) {
		t.Error(err)
	}
	s, err := b.Open(t.Context(), "ada", b.space.ID)
	if err != nil {
		t.Fatal(err)
	}
	b.wants(t, s.Token, nil)
}

// testAdmit: who a provider vouches for is let in where somebody added them, or their
// domain, and is known by the provider's id from then on.
func testAdmit(t *testing.T, b *bench) {
	domains := map[string]string{"acme.example": "acme", "lost.example": "none"}
	admit := func(subject, email string, want error) session.Opened {
		t.Helper()
		s, err := b.Admit(t.Context(), session.Identity{Issuer: "https://issuer.example", Subject: subject, Email: email}, domains, "")
		if !errors.Is(err, want) {
			t.Fatalf("%s, %s: %v, want %v", subject, email, err, want)
		}
		return s
	}
	for _, email := range []string{"", "ada@other.example", "@acme.example", "acme.example", "ada@acme.example.evil.example", "ada@sub.acme.example", " ada@acme.example"} {
		admit("u0", email, session.ErrNotAdmitted)
	}
	for _, subject := range []string{"", "u\x00", "u\n1", strings.Repeat("u", 256)} {
		admit(subject, "ada@acme.example", session.ErrNotAdmitted)
	}
	admit("u0", "ada@lost.example", account.ErrWorkspaceNotFound)
	ada := admit("u1", "Ada@ACME.example", nil)
	if ada.Person != "ada@acme.example" || ada.Workspace != "acme" {
		t.Errorf("%+v", ada.Who)
	}
	if again := admit("u1", "", nil); again.PersonID != ada.PersonID {
		t.Error("she is somebody else")
	}
	admit("u2", "ada@acme.example", session.ErrNotAdmitted)
	// Letters that only become one of an address when they are written small make another.
	if _, err := b.NewLink(t.Context(), "kim@other.example", b.space.ID); err != nil {
		t.Fatal(err)
	}
	for _, email := range []string{"\u212aim@other.example", "k\u0130m@other.example", "x@acme.e\u212aample", "kim@other.examp\u013ae"} {
		admit("u3", email, session.ErrNotAdmitted)
	}
	if kim := admit("u3", "KIM@Other.Example", nil); kim.Person != "kim@other.example" {
		t.Errorf("%+v", kim.Who)
	}
	// To another provider the same id is somebody else.
	if _, err := b.Admit(t.Context(), session.Identity{Issuer: "https://other.example", Subject: "u1"}, domains, ""); !errors.Is(err, session.ErrNotAdmitted) {
		t.Error(err)
	}
	// The session is of the workspace where she was last, and ends the one that the browser had.
	second, err := account.NewRepository(b.db, account.Options{}).CreateWorkspace(t.Context(), "second", account.Free)
	if err != nil {
		t.Fatal(err)
	}
	b.advance(time.Second)
	if _, err := b.Open(t.Context(), "ada@acme.example", second.ID); err != nil {
		t.Fatal(err)
	}
	b.advance(time.Second)
	last, err := b.Admit(t.Context(), session.Identity{Issuer: "https://issuer.example", Subject: "u1"}, nil, ada.Token)
	if err != nil || last.Workspace != "second" {
		t.Errorf("%+v, %v", last.Who, err)
	}
	b.wants(t, ada.Token, session.ErrInvalid)
	for _, id := range []string{b.space.ID, second.ID} {
		b.keeper(t, id)
		if err := b.Leave(t.Context(), ada.PersonID, id, "operator"); err != nil {
			t.Fatal(err)
		}
	}
	admit("u1", "ada@acme.example", session.ErrNotAdmitted)
}
