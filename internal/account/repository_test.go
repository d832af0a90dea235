package account

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"chainexplorer/internal/control"
	"chainexplorer/internal/control/controltest"
)

// clock stands still until a test moves it.
type clock struct{ micros atomic.Int64 }

func newClock() *clock {
	c := &clock{}
	c.micros.Store(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).UnixMicro())
	return c
}

func (c *clock) now() time.Time          { return time.UnixMicro(c.micros.Load()) }
func (c *clock) advance(d time.Duration) { c.micros.Add(d.Microseconds()) }

// bench is a repository on a real file.
type bench struct {
	*Repository
	clock *clock
	path  string
	db    *control.DB
}

func newBench(t testing.TB, at place) *bench {
	t.Helper()
	b := &bench{clock: newClock(), path: at(t)}
	b.db = openDB(t, b.path)
	b.Repository = NewRepository(b.db, Options{Now: b.clock.now})
	return b
}

// place makes room for a new control database.
type place func(testing.TB) string

// onFile is in a file, and onServer on a PostgreSQL server.
func onFile(t testing.TB) string { return controltest.File(t) }

func onServer(t testing.TB) string { return controltest.Server(t) }

func openDB(t testing.TB, path string) *control.DB {
	t.Helper()
	db, err := control.Open(t.Context(), control.Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() }) //nolint:errcheck // the test is over
	return db
}

func (b *bench) workspace(t testing.TB, name string, plan Plan) Workspace {
	t.Helper()
	w, err := b.CreateWorkspace(t.Context(), name, plan)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func (b *bench) key(t testing.TB, n NewKey) Issued {
	t.Helper()
	i, err := b.CreateKey(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

func (b *bench) list(t testing.TB, workspaceID string) []Key {
	t.Helper()
	list, more, err := b.ListKeys(t.Context(), workspaceID, 0)
	if err != nil || more {
		t.Fatal(err, more)
	}
	return list
}

func testWorkspaces(t *testing.T, at place) {
	b := newBench(t, at)
	second := b.workspace(t, "Zoë & co", Wallet)
	first := b.workspace(t, "acme", Free)
	if !strings.HasPrefix(first.ID, "ws_") || first.ID == second.ID {
		t.Errorf("ids %s and %s", first.ID, second.ID)
	}
	// Upper case sorts before lower case.
	list, more, err := b.ListWorkspaces(t.Context(), 0)
	if err != nil || more || !slices.Equal(list, []Workspace{second, first}) {
		t.Errorf("list %+v, %v, %v", list, more, err)
	}
	if list, more, err := b.ListWorkspaces(t.Context(), 1); err != nil || !more || len(list) != 1 {
		t.Errorf("list of one: %+v, %v, %v", list, more, err)
	}
	if w, err := b.WorkspaceByName(t.Context(), "acme"); err != nil || w != first {
		t.Errorf("by name: %+v, %v", w, err)
	}
	if _, err := b.WorkspaceByName(t.Context(), "ACME"); !errors.Is(err, ErrWorkspaceNotFound) {
		t.Errorf("unknown name: %v", err)
	}
	if _, err := b.CreateWorkspace(t.Context(), "acme", Growth); !errors.Is(err, ErrWorkspaceExists) {
		t.Errorf("taken name: %v", err)
	}
	for name, plan := range map[string]Plan{
		"": Free, " x": Free, "x ": Free, "a\nb": Free, "\xff": Free, strings.Repeat("é", 65): Free, "fine": "gold", "also": "",
	} {
		var invalid *InvalidError
		if _, err := b.CreateWorkspace(t.Context(), name, plan); !errors.As(err, &invalid) {
			t.Errorf("%q on plan %q: %v", name, plan, err)
		}
	}
	b.workspace(t, strings.Repeat("à", 64), Free)
}

func testKeys(t *testing.T, at place) {
	b := newBench(t, at)
	w, other := b.workspace(t, "acme", Free), b.workspace(t, "other", Business)
	first := b.key(t, NewKey{WorkspaceID: w.ID})
	b.clock.advance(time.Minute)
	second := b.key(t, NewKey{
		WorkspaceID: w.ID, Label: "ci", Environment: Test, Scopes: Read | Partner, Lifetime: time.Hour,
		Limits: Limits{LightPerMinute: 7, Burst: 1},
	})
	b.clock.advance(time.Minute)
	third := b.key(t, NewKey{WorkspaceID: other.ID})

	k := first.Key
	if !strings.HasPrefix(first.Plaintext, "svc_live_") || k.Scopes != DefaultScopes || k.Label != OperatorLabel || k.Status != Active ||
		k.ExpiresAt != nil || k.RevokedAt != nil || k.LastUsedAt != nil || k.Policy != Free.Policy() || k.Workspace != "acme" {
		t.Errorf("first key %+v", k)
	}
	if len(k.PublicID) != 20 || !strings.HasPrefix(k.PublicID, "key_") || strings.Trim(k.PublicID[4:], base36) != "" {
		t.Errorf("public id %s", k.PublicID)
	}
	if k.SecretHint != first.Plaintext[len(first.Plaintext)-4:] || k.MaskedKey != "svc_live_****"+k.SecretHint {
		t.Errorf("hint %s, masked %s", k.SecretHint, k.MaskedKey)
	}
	k = second.Key
	if !strings.HasPrefix(second.Plaintext, "svc_test_") || k.ExpiresAt.Sub(k.CreatedAt) != time.Hour ||
		k.Policy != (Policy{"free_custom", "Free (custom)", 7, 30, 10, 1, 5}) {
		t.Errorf("second key %+v", k)
	}
	same := func(got []Key, want ...Issued) {
		t.Helper()
		if len(got) != len(want) {
			t.Fatalf("%d keys, want %d", len(got), len(want))
		}
		for i := range got {
			if g, w := fmt.Sprintf("%+v", flat(got[i])), fmt.Sprintf("%+v", flat(want[i].Key)); g != w {
				t.Errorf("listed %s\nissued %s", g, w)
			}
		}
	}
	same(b.list(t, ""), third, second, first)
	same(b.list(t, w.ID), second, first)
	same(b.list(t, "ws_none"))
	if list, more, err := b.ListKeys(t.Context(), "", 2); err != nil || !more || len(list) != 2 {
		t.Errorf("two of three: %d, %v, %v", len(list), more, err)
	}
	// Reopened without a Close, as after a kill.
	again := &bench{Repository: NewRepository(openDB(t, b.path), Options{Now: b.clock.now})}
	same(again.list(t, ""), third, second, first)
}

// flat replaces pointers by what they point to.
func flat(k Key) any {
	value := func(t *time.Time) time.Time {
		if t == nil {
			return time.Time{}
		}
		return *t
	}
	times := [3]time.Time{value(k.LastUsedAt), value(k.ExpiresAt), value(k.RevokedAt)}
	k.LastUsedAt, k.ExpiresAt, k.RevokedAt = nil, nil, nil
	return struct {
		Key
		times [3]time.Time
	}{k, times}
}

func testKeyMistakes(t *testing.T, at place) {
	b := newBench(t, at)
	w := b.workspace(t, "acme", Free)
	for name, n := range map[string]NewKey{
		"label":       {WorkspaceID: w.ID, Label: "a\tb"},
		"environment": {WorkspaceID: w.ID, Environment: "prod"},
		"scope":       {WorkspaceID: w.ID, Scopes: 128},
		"lifetime":    {WorkspaceID: w.ID, Lifetime: -1},
		"limits":      {WorkspaceID: w.ID, Limits: Limits{Burst: -1}},
	} {
		var invalid *InvalidError
		if _, err := b.CreateKey(t.Context(), n); !errors.As(err, &invalid) || invalid.Field != name {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := b.CreateKey(t.Context(), NewKey{WorkspaceID: "ws_none"}); !errors.Is(err, ErrWorkspaceNotFound) {
		t.Errorf("unknown workspace: %v", err)
	}
	if _, _, err := b.RevokeKey(t.Context(), "key_none"); !errors.Is(err, ErrKeyNotFound) {
		t.Errorf("revoke unknown: %v", err)
	}
	if _, _, err := b.Rotate(t.Context(), "key_none"); !errors.Is(err, ErrKeyNotFound) {
		t.Errorf("rotate unknown: %v", err)
	}
}

func testKeysPerPlan(t *testing.T, at place) {
	b := newBench(t, at)
	w := b.workspace(t, "acme", Free)
	var last Issued
	for range Free.Policy().MaxActiveKeys - 1 {
		last = b.key(t, NewKey{WorkspaceID: w.ID})
	}
	b.key(t, NewKey{WorkspaceID: w.ID, Lifetime: time.Minute})
	full := func() bool {
		_, err := b.CreateKey(t.Context(), NewKey{WorkspaceID: w.ID})
		if err != nil && !errors.Is(err, ErrTooManyKeys) {
			t.Fatal(err)
		}
		return err != nil
	}
	if !full() {
		t.Error("one key too many was issued")
	}
	if _, _, err := b.Rotate(t.Context(), last.Key.PublicID); err != nil {
		t.Errorf("rotation in a full workspace: %v", err)
	}
	b.clock.advance(time.Minute) // one expires
	if full() {
		t.Error("an expired key counts")
	}
	if !full() {
		t.Error("one key too many was issued")
	}
}

func testRevokeTwice(t *testing.T, at place) {
	b := newBench(t, at)
	id := b.key(t, NewKey{WorkspaceID: b.workspace(t, "acme", Free).ID}).Key.PublicID
	when := b.clock.now()
	for i := range 2 {
		k, already, err := b.RevokeKey(t.Context(), id)
		if err != nil || already != (i == 1) || k.Status != Revoked || !k.RevokedAt.Equal(when) {
			t.Errorf("%+v, %v, %v", k, already, err)
		}
		b.clock.advance(time.Hour)
	}
	if k := b.list(t, "")[0]; k.Status != Revoked || !k.RevokedAt.Equal(when) {
		t.Errorf("listed %+v", k)
	}
}

func testRotate(t *testing.T, at place) {
	b := newBench(t, at)
	w := b.workspace(t, "acme", Free)
	old := b.key(t, NewKey{WorkspaceID: w.ID, Label: "ci", Environment: Test, Scopes: Read, Lifetime: time.Hour, Limits: Limits{Burst: 3}})
	b.clock.advance(10 * time.Minute)
	now, gone, err := b.Rotate(t.Context(), old.Key.PublicID)
	if err != nil {
		t.Fatal(err)
	}
	if gone.PublicID != old.Key.PublicID || gone.Status != Revoked {
		t.Errorf("old key %+v", gone)
	}
	k := now.Key
	if now.Plaintext == old.Plaintext || k.PublicID == old.Key.PublicID || k.Label != "ci" || k.Environment != Test || k.Scopes != Read|Verify ||
		k.Policy.Burst != 3 || k.ExpiresAt.Sub(b.clock.now()) != time.Hour {
		t.Errorf("new key %+v", k)
	}
	if _, _, err := b.Rotate(t.Context(), old.Key.PublicID); !errors.Is(err, ErrKeyRevoked) {
		t.Errorf("rotated a revoked key: %v", err)
	}
	if list := b.list(t, w.ID); len(list) != 2 {
		t.Errorf("%d keys", len(list))
	}
}

func testAuditLog(t *testing.T, at place) {
	b := newBench(t, at)
	w := b.workspace(t, "acme", Free)
	b.clock.advance(time.Second)
	one := b.key(t, NewKey{WorkspaceID: w.ID, Scopes: Read})
	b.clock.advance(time.Second)
	if _, _, err := b.RevokeKey(t.Context(), one.Key.PublicID); err != nil {
		t.Fatal(err)
	}
	if _, _, err := b.RevokeKey(t.Context(), one.Key.PublicID); err != nil { // changes nothing
		t.Fatal(err)
	}
	b.CreateKey(t.Context(), NewKey{WorkspaceID: "none"}) //nolint:errcheck // fails, which is the point
	log, err := b.db.AuditLog(t.Context(), 10)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range log {
		got = append(got, e.Actor+" "+e.Action+" "+e.Subject+" "+e.Detail)
	}
	want := []string{
		"operator key.revoke " + one.Key.PublicID + " ",
		"operator key.create " + one.Key.PublicID + " workspace " + w.ID + ", live, scopes read verify",
		"operator workspace.create " + w.ID + " acme, plan free, kind ordinary",
	}
	if !slices.Equal(got, want) {
		t.Errorf("log\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestOnlyDigestsOnDisk looks for the keys in every byte that was written.
func TestOnlyDigestsOnDisk(t *testing.T) {
	b := newBench(t, onFile)
	w := b.workspace(t, "acme", Free)
	one := b.key(t, NewKey{WorkspaceID: w.ID, Label: "findme"})
	two, _, err := b.Rotate(t.Context(), one.Key.PublicID)
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(b.path + "*")
	if err != nil {
		t.Fatal(err)
	}
	var all []byte
	for _, name := range files {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, content...)
	}
	if !bytes.Contains(all, []byte("findme")) {
		t.Fatal("the files do not hold what was written: the test proves nothing")
	}
	for _, key := range []string{one.Plaintext, two.Plaintext} {
		random := key[prefixSize : keySize-checkSize]
		for i := 0; i+8 <= len(random); i++ {
			if bytes.Contains(all, []byte(random[i:i+8])) {
				t.Fatalf("part %d of a key is on disk", i)
			}
		}
	}
}

func testConcurrentChanges(t *testing.T, at place) {
	b := newBench(t, at)
	w := b.workspace(t, "acme", Enterprise)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 5 {
				i, err := b.CreateKey(t.Context(), NewKey{WorkspaceID: w.ID})
				if err != nil {
					t.Error(err)
					return
				}
				if _, _, err := b.RevokeKey(t.Context(), i.Key.PublicID); err != nil {
					t.Error(err)
				}
				if _, _, err := b.ListKeys(t.Context(), w.ID, 10); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	list := b.list(t, w.ID)
	for _, k := range list {
		if k.Status != Revoked {
			t.Errorf("%s is %s", k.PublicID, k.Status)
		}
	}
	if len(list) != 40 {
		t.Errorf("%d keys", len(list))
	}
}
