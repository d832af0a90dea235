package main

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"chainexplorer/internal/control"
	"chainexplorer/internal/session"
)

// TestAdminLogin prints links that are good once, for the service that they name.
func TestAdminLogin(t *testing.T) {
	path := t.TempDir() + "/control.db"
	succeed(t, path, "workspace", "create", "acme")
	out := succeed(t, path, "login", "--workspace", "acme", "--user", "ada")
	_, rest, _ := strings.Cut(out, "link       ")
	first, _, _ := strings.Cut(rest, "\n")
	var second struct{ URL, User, Workspace string }
	if err := json.Unmarshal([]byte(succeed(t, path, "login", "--workspace", "acme", "--user", "bob", "--base-url", "https://api.example/", "--json")), &second); err != nil {
		t.Fatal(err)
	}
	if second.User != "bob" || second.Workspace != "acme" {
		t.Errorf("%+v", second)
	}
	db, err := control.Open(t.Context(), control.Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // temporary
	people := session.NewRepository(db, session.Options{})
	for at, want := range map[string][2]string{first: {"http://127.0.0.1:8080/login/link", "ada"}, second.URL: {"https://api.example/login/link", "bob"}} {
		base, query, _ := strings.Cut(at, "?")
		values, err := url.ParseQuery(query)
		if err != nil || base != want[0] {
			t.Fatalf("%s: %v", at, err)
		}
		s, err := people.Redeem(t.Context(), values.Get("token"), "")
		if err != nil || s.Person != want[1] || s.Workspace != "acme" {
			t.Errorf("%+v, %v", s.Who, err)
		}
	}
	for _, args := range [][]string{{"login", "--workspace", "none"}, {"login", "--workspace", "acme", "--base-url", "api.example"}, {"login", "--workspace", "acme", "--user", " "}} {
		if _, stderr, code := output(t, append(append([]string{"admin"}, args...), "--control", path)...); code == 0 {
			t.Errorf("%v ended with %d: %s", args, code, stderr)
		}
	}
}
