package account

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"chainexplorer/internal/control"
)

func (b *bench) code(t testing.TB, n NewCode) (Code, string) {
	t.Helper()
	c, text, err := b.CreateCode(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	return c, text
}

func (b *bench) redeemed(t testing.TB, w Workspace, text string) error {
	t.Helper()
	_, err := b.RedeemCode(By(t.Context(), "usr_"+w.Name), w.ID, text)
	return err
}

func testCodeLife(t *testing.T, at place) {
	b := newBench(t, at)
	w := b.workspace(t, "acme", Free)
	c, text := b.code(t, NewCode{Plan: Growth, Kind: WalletKind, Note: "fair", Lifetime: time.Hour})
	if len(text) != 23 || strings.Count(text, "-") != 3 || !strings.HasSuffix(text, c.Hint) || c.Status != CodeActive || c.Uses != 1 || c.ExpiresAt == nil {
		t.Errorf("%s: %+v", text, c)
	}
	// However people spell it.
	spelled := " " + strings.ToLower(strings.ReplaceAll(text, "-", " "))
	got, err := b.RedeemCode(By(t.Context(), "usr_ada"), w.ID, spelled)
	if err != nil || got.Plan != Growth || got.Kind != WalletKind {
		t.Fatalf("%+v, %v", got, err)
	}
	if stored, err := b.WorkspaceByName(t.Context(), "acme"); err != nil || stored != got {
		t.Errorf("stored %+v, %v", stored, err)
	}
	if err := b.redeemed(t, w, text); !errors.Is(err, ErrCodeInvalid) {
		t.Errorf("once more: %v", err)
	}
	if err := b.redeemed(t, b.workspace(t, "other", Free), text); !errors.Is(err, ErrCodeInvalid) {
		t.Errorf("by another: %v", err)
	}
	list, more, err := b.ListCodes(t.Context(), 0)
	if err != nil || more || len(list) != 1 || list[0].Status != CodeUsed || list[0].Used != 1 || list[0].Note != "fair" {
		t.Errorf("%+v, %v", list, err)
	}
	log, err := b.db.AuditLog(t.Context(), 10)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(log, func(e control.AuditLink) bool { return e.Action == "code.redeem" })
	if i < 0 || log[i].Actor != "usr_ada" || log[i].Subject != w.ID || log[i].Detail != "code "+c.ID+", plan growth, kind wallet, before plan free, kind ordinary" {
		t.Errorf("%+v", log)
	}
	for _, e := range log {
		if strings.Contains(e.Detail, text[:5]) {
			t.Errorf("the audit log holds a code: %+v", e)
		}
	}
}

// testCodesThatAreNoGood: all of them are refused alike.
func testCodesThatAreNoGood(t *testing.T, at place) {
	b := newBench(t, at)
	w := b.workspace(t, "acme", Free)
	expired, expiredText := b.code(t, NewCode{Plan: Growth, Lifetime: time.Hour})
	revoked, revokedText := b.code(t, NewCode{Plan: Growth})
	if _, already, err := b.RevokeCode(t.Context(), revoked.ID); err != nil || already {
		t.Fatal(already, err)
	}
	if c, already, err := b.RevokeCode(t.Context(), revoked.ID); err != nil || !already || c.Status != CodeRevoked {
		t.Errorf("%+v, %t, %v", c, already, err)
	}
	if _, _, err := b.RevokeCode(t.Context(), "cod_none"); !errors.Is(err, ErrCodeNotFound) {
		t.Error(err)
	}
	b.clock.advance(time.Hour)
	for _, text := range []string{expiredText, revokedText, "00000-00000-00000-00000", "", "short", strings.Repeat("0", 100), "Ü0000-00000-00000-00000"} {
		if err := b.redeemed(t, w, text); !errors.Is(err, ErrCodeInvalid) {
			t.Errorf("%q: %v", text, err)
		}
	}
	list, _, err := b.ListCodes(t.Context(), 0)
	if err != nil || len(list) != 2 {
		t.Fatal(list, err)
	}
	for _, c := range list {
		if want := map[string]CodeStatus{expired.ID: CodeExpired, revoked.ID: CodeRevoked}[c.ID]; c.Status != want || c.Used != 0 {
			t.Errorf("%+v", c)
		}
	}
	for _, n := range []NewCode{{}, {Plan: "gold"}, {Plan: Free, Kind: InternalKind}, {Plan: Free, Kind: Ordinary}, {Plan: Free, Uses: -1}, {Plan: Free, Uses: MaxCodeUses + 1}, {Plan: Free, Lifetime: -1}, {Plan: Free, Note: "\n"}} {
		var invalid *InvalidError
		if _, _, err := b.CreateCode(t.Context(), n); !errors.As(err, &invalid) {
			t.Errorf("%+v: %v", n, err)
		}
	}
}

// testCodeGivesNothing: a code that would be wasted is kept, and an operator's own
// workspace redeems none.
func testCodeGivesNothing(t *testing.T, at place) {
	b := newBench(t, at)
	w := b.workspace(t, "acme", Business)
	_, text := b.code(t, NewCode{Plan: Growth})
	if err := b.redeemed(t, w, text); !errors.Is(err, ErrCodeGivesNothing) {
		t.Error(err)
	}
	own, err := b.CreateWorkspaceOf(t.Context(), "own", Free, InternalKind)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.redeemed(t, own, text); !errors.Is(err, ErrInternalWorkspace) {
		t.Error(err)
	}
	if err := b.redeemed(t, b.workspace(t, "small", Free), text); err != nil {
		t.Error(err)
	}
	_, text = b.code(t, NewCode{Plan: Free, Kind: PartnerKind})
	if err := b.redeemed(t, w, text); err != nil {
		t.Errorf("a kind is something: %v", err)
	}
}

// testCodeTakesNothing: by a code nobody loses a plan or a kind. What cannot be had
// beside what a workspace has leaves the code as it is.
func testCodeTakesNothing(t *testing.T, at place) {
	b := newBench(t, at)
	for i, c := range []struct {
		plan Plan
		kind Kind
		code NewCode
		want error
		has  Plan
		is   Kind
	}{
		{Enterprise, Ordinary, NewCode{Plan: Free, Kind: WalletKind}, nil, Enterprise, WalletKind},
		{Enterprise, Ordinary, NewCode{Plan: Developer, Kind: PartnerKind}, nil, Enterprise, PartnerKind},
		{Free, Ordinary, NewCode{Plan: Growth, Kind: PartnerKind}, nil, Growth, PartnerKind},
		{Enterprise, Ordinary, NewCode{Plan: Wallet}, ErrCodeTakesAway, Enterprise, Ordinary},
		{Growth, PartnerKind, NewCode{Plan: Business, Kind: WalletKind}, ErrCodeTakesAway, Growth, PartnerKind},
		{Free, PartnerKind, NewCode{Plan: Growth}, nil, Growth, PartnerKind},
	} {
		w, err := b.CreateWorkspaceOf(t.Context(), fmt.Sprint("space", i), c.plan, c.kind)
		if err != nil {
			t.Fatal(err)
		}
		code, text := b.code(t, c.code)
		if err := b.redeemed(t, w, text); !errors.Is(err, c.want) {
			t.Errorf("%d: %v, want %v", i, err, c.want)
		}
		now, err := b.WorkspaceByID(t.Context(), w.ID)
		if err != nil || now.Plan != c.has || now.Kind != c.is {
			t.Errorf("%d: %s, %s, %v", i, now.Plan, now.Kind, err)
		}
		list, _, err := b.ListCodes(t.Context(), 100)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range list {
			if used := l.Used > 0; l.ID == code.ID && used != (c.want == nil) {
				t.Errorf("%d: the code is used up: %v", i, used)
			}
		}
	}
}

// testCodesAtOnce: a code is used as often as it may be, however many try.
func testCodesAtOnce(t *testing.T, at place) {
	b := newBench(t, at)
	const uses, tries = 3, 8
	_, text := b.code(t, NewCode{Plan: Growth, Uses: uses})
	var spaces []Workspace
	for i := range tries {
		spaces = append(spaces, b.workspace(t, "w"+string(rune('a'+i)), Free))
	}
	other := NewRepository(openDB(t, b.path), Options{Now: b.clock.now})
	var done atomic.Int32
	var all sync.WaitGroup
	for i, w := range spaces {
		r := []*Repository{b.Repository, other}[i%2]
		all.Go(func() {
			switch _, err := r.RedeemCode(By(t.Context(), "usr_"+w.Name), w.ID, text); {
			case err == nil:
				done.Add(1)
			case !errors.Is(err, ErrCodeInvalid):
				t.Error(err)
			}
		})
	}
	all.Wait()
	if done.Load() != uses {
		t.Errorf("%d redeemed a code for %d", done.Load(), uses)
	}
}

// testGuessingCodes: who tries many is stopped, by every process, and nobody else is.
func testGuessingCodes(t *testing.T, at place) {
	b := newBench(t, at)
	other := NewRepository(openDB(t, b.path), Options{Now: b.clock.now})
	w := b.workspace(t, "acme", Free)
	_, text := b.code(t, NewCode{Plan: Growth, Uses: 2})
	try := func(r *Repository, who, text string) error {
		_, err := r.RedeemCode(By(t.Context(), who), w.ID, text)
		return err
	}
	for i := range mostTries {
		if err := try([]*Repository{b.Repository, other}[i%2], "usr_eve", "00000-00000-00000-00000"); !errors.Is(err, ErrCodeInvalid) {
			t.Fatal(err)
		}
		b.clock.advance(time.Second)
	}
	for _, r := range []*Repository{b.Repository, other} {
		var tries *TriesError
		if err := try(r, "usr_eve", text); !errors.As(err, &tries) || tries.Wait != triesWindow-mostTries*time.Second {
			t.Errorf("%v", err)
		}
	}
	if err := try(other, "usr_ada", text); err != nil {
		t.Errorf("somebody else: %v", err)
	}
	b.clock.advance(triesWindow)
	if err := try(other, "usr_eve", "00000-00000-00000-00000"); !errors.Is(err, ErrCodeInvalid) {
		t.Errorf("an hour later: %v", err)
	}
	// What was tried while the clock was ahead keeps nobody out for that long.
	b.clock.advance(5 * 24 * time.Hour)
	for range mostTries {
		if err := try(other, "usr_eve", "00000-00000-00000-00000"); !errors.Is(err, ErrCodeInvalid) {
			t.Fatal(err)
		}
	}
	b.clock.advance(-5 * 24 * time.Hour)
	if err := try(other, "usr_eve", "00000-00000-00000-00000"); !errors.Is(err, ErrCodeInvalid) {
		t.Errorf("after the clock was put right: %v", err)
	}
	var kept int
	if err := b.db.Reader().QueryRowContext(t.Context(), `SELECT COUNT(*) FROM code_failure`).Scan(&kept); err != nil || kept != 1 {
		t.Errorf("%d tries are kept, %v", kept, err)
	}
}

// testPlanFollowsAtOnce: keys have the limits of the plan that a code gave.
func testPlanFollowsAtOnce(t *testing.T, at place) {
	b := newBench(t, at)
	w := b.workspace(t, "acme", Free)
	k := b.key(t, NewKey{WorkspaceID: w.ID})
	auth := NewAuthenticator(b.Repository, nil)
	if p, err := auth.Authenticate(t.Context(), k.Plaintext); err != nil || p.Plan != Free || p.Kind != Ordinary || p.WideRanges() {
		t.Fatal(p, err)
	}
	_, text := b.code(t, NewCode{Plan: Growth, Kind: WalletKind})
	if err := b.redeemed(t, w, text); err != nil {
		t.Fatal(err)
	}
	if p, err := auth.Authenticate(t.Context(), k.Plaintext); err != nil || p.Plan != Growth || p.Policy != Growth.Policy() || !p.WideRanges() {
		t.Errorf("%+v, %v", p, err)
	}
	if _, err := b.ChangeWorkspace(t.Context(), "acme", Business, Ordinary); err != nil {
		t.Fatal(err)
	}
	if p, err := auth.Authenticate(t.Context(), k.Plaintext); err != nil || p.Plan != Business || p.WideRanges() {
		t.Errorf("%+v, %v", p, err)
	}
}

// testKinds: what members may issue for themselves follows from the kind.
func testKinds(t *testing.T, at place) {
	b := newBench(t, at)
	for kind, want := range map[Kind]Scopes{Ordinary: DefaultScopes, WalletKind: DefaultScopes, PartnerKind: DefaultScopes | Partner, InternalKind: 0} {
		w, err := b.CreateWorkspaceOf(t.Context(), "space "+string(kind), Free, kind)
		if err != nil {
			t.Fatal(err)
		}
		for round := range 2 { // the second rotates
			issued, old, err := b.RotateDefault(t.Context(), w.ID)
			if want == 0 {
				if !errors.Is(err, ErrInternalWorkspace) {
					t.Errorf("%s: %v", kind, err)
				}
				continue
			}
			if err != nil || issued.Key.Scopes != want || len(old) != round {
				t.Errorf("%s: %+v, replaced %d, %v", kind, issued.Key, len(old), err)
			}
		}
	}
	if w, err := b.ChangeWorkspace(t.Context(), "space ordinary", "", PartnerKind); err != nil || w.Kind != PartnerKind || w.Plan != Free {
		t.Errorf("%+v, %v", w, err)
	}
	var invalid *InvalidError
	for _, err := range []error{second(b.ChangeWorkspace(t.Context(), "space ordinary", "gold", "")), second(b.ChangeWorkspace(t.Context(), "space ordinary", "", "alien")), second(b.CreateWorkspaceOf(t.Context(), "x", Free, "alien"))} {
		if !errors.As(err, &invalid) {
			t.Error(err)
		}
	}
	if err := second(b.ChangeWorkspace(t.Context(), "nobody", Free, "")); !errors.Is(err, ErrWorkspaceNotFound) {
		t.Error(err)
	}
}

func second[T any](_ T, err error) error { return err }
