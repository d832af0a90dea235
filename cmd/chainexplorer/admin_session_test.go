package main

import (
	"encoding/json"
	"strings"
	"testing"

	"chainexplorer/internal/control"
	"chainexplorer/internal/session"
)

func TestAdminSessions(t *testing.T) {
	path := t.TempDir() + "/control.db"
	succeed(t, path, "workspace", "create", "acme")
	out := succeed(t, path, "session", "create", "--workspace", "acme", "--user", "ada")
	_, rest, _ := strings.Cut(out, "token      ")
	token, _, _ := strings.Cut(rest, "\n")
	var second struct{ SessionToken, User, Workspace string }
	if err := json.Unmarshal([]byte(succeed(t, path, "session", "create", "--workspace", "acme", "--user", "ada", "--json")), &second); err != nil {
		t.Fatal(err)
	}
	db, err := control.Open(t.Context(), control.Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // temporary
	people := session.NewRepository(db, session.Options{})
	for _, token := range []string{token, second.SessionToken} {
		if who, err := people.Authenticate(t.Context(), token); err != nil || who.Person != "ada" || who.Workspace != "acme" {
			t.Errorf("%+v, %v", who, err)
		}
	}
	if out := succeed(t, path, "session", "revoke", "--user", "ada"); out != "2 sessions of ada ended\n" {
		t.Errorf("printed %s", out)
	}
	for _, token := range []string{token, second.SessionToken} {
		if _, err := people.Authenticate(t.Context(), token); err == nil {
			t.Error("a session outlived its end")
		}
	}
	for _, args := range [][]string{{"session", "create", "--workspace", "none"}, {"session", "revoke", "--user", "bob"}} {
		if _, stderr, code := output(t, append(append([]string{"admin"}, args...), "--control", path)...); code == 0 || !strings.Contains(stderr, "there is no such") {
			t.Errorf("%v ended with %d: %s", args, code, stderr)
		}
	}
}
