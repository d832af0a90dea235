package main

import (
	"encoding/json"
	"strings"
	"testing"

	"chainexplorer/internal/control"
	"chainexplorer/internal/session"
)

// TestAdminMembers: the operator lists, promotes and removes members, each change is in
// the audit log, and a workspace keeps an owner.
func TestAdminMembers(t *testing.T) {
	path := t.TempDir() + "/control.db"
	succeed(t, path, "workspace", "create", "acme")
	succeed(t, path, "workspace", "create", "other")
	var bob struct{ SessionToken string }
	succeed(t, path, "session", "create", "--workspace", "acme", "--user", "ada")
	if err := json.Unmarshal([]byte(succeed(t, path, "session", "create", "--workspace", "acme", "--user", "bob", "--json")), &bob); err != nil {
		t.Fatal(err)
	}
	succeed(t, path, "session", "create", "--workspace", "other", "--user", "carol")
	roles := func() string {
		t.Helper()
		var list struct {
			Items     []session.Member
			Truncated bool
		}
		if err := json.Unmarshal([]byte(succeed(t, path, "member", "list", "--workspace", "acme", "--json")), &list); err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, m := range list.Items {
			all = append(all, m.Name+" "+string(m.Role))
		}
		return strings.Join(all, ", ")
	}
	if got := roles(); got != "ada owner, bob member" {
		t.Fatal(got)
	}
	if out := succeed(t, path, "member", "list", "--workspace", "acme"); !strings.Contains(out, "ada") || !strings.Contains(out, "owner") || strings.Contains(out, "carol") {
		t.Errorf("printed\n%s", out)
	}
	before := succeed(t, path, "audit", "list")
	for _, c := range []struct {
		code int
		want string
		args []string
	}{
		{exitFailure, "needs an owner", []string{"remove", "--workspace", "acme", "--user", "ada"}},
		{exitFailure, "needs an owner", []string{"role", "--workspace", "acme", "--user", "ada", "--role", "member"}},
		{exitFailure, "needs an owner", []string{"remove", "--workspace", "other", "--user", "carol"}},
		{exitFailure, "no such member of acme", []string{"remove", "--workspace", "acme", "--user", "carol"}},
		{exitFailure, "no such member of acme", []string{"role", "--workspace", "acme", "--user", "nobody", "--role", "owner"}},
		{exitUsage, "none of owner, member", []string{"role", "--workspace", "acme", "--user", "bob", "--role", "king"}},
		{exitFailure, "admin workspace list", []string{"list", "--workspace", "none"}},
	} {
		if _, stderr, code := output(t, append(append([]string{"admin", "member"}, c.args...), "--control", path)...); code != c.code || !strings.Contains(stderr, c.want) {
			t.Errorf("%v ended with %d: %s", c.args, code, stderr)
		}
	}
	if after := succeed(t, path, "audit", "list"); after != before || roles() != "ada owner, bob member" {
		t.Errorf("what was refused changed something:\n%s", after)
	}
	if out := succeed(t, path, "member", "role", "--workspace", "acme", "--user", "bob", "--role", "owner"); out != "bob has the role owner in acme\n" || roles() != "ada owner, bob owner" {
		t.Errorf("printed %s", out)
	}
	succeed(t, path, "member", "role", "--workspace", "acme", "--user", "ada", "--role", "owner") // as she was
	if out := succeed(t, path, "member", "role", "--workspace", "acme", "--user", "bob", "--role", "member", "--json"); !strings.Contains(out, `"role": "member"`) {
		t.Errorf("printed %s", out)
	}
	if out := succeed(t, path, "member", "remove", "--workspace", "acme", "--user", "bob", "--json"); !strings.Contains(out, `"removed": true`) || roles() != "ada owner" {
		t.Errorf("printed %s", out)
	}
	db, err := control.Open(t.Context(), control.Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // temporary
	if _, err := session.NewRepository(db, session.Options{}).Authenticate(t.Context(), bob.SessionToken); err == nil {
		t.Error("bob is still signed in")
	}
	log := succeed(t, path, "audit", "list")
	if strings.Count(log, "member.role") != 3 || strings.Count(log, "member.remove") != 1 {
		t.Errorf("logged\n%s", log)
	}
	for line := range strings.SplitSeq(log, "\n") {
		if (strings.Contains(line, "member.role") || strings.Contains(line, "member.remove")) && !strings.Contains(line, "operator") {
			t.Errorf("who did %s?", line)
		}
	}
}
