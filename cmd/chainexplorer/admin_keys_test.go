package main

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"chainexplorer/internal/account"
	"chainexplorer/internal/control"
)

var (
	keyText  = regexp.MustCompile(`svc_(live|test)_[0-9A-Za-z]{38}`)
	publicID = regexp.MustCompile(`key_[0-9a-z]{16}`)
)

// succeed runs an admin command that must work.
func succeed(t *testing.T, db string, args ...string) string {
	t.Helper()
	return succeedBy(t, output, db, args...)
}

// succeedBy runs it in the test's process or in one of its own.
func succeedBy(t *testing.T, by func(*testing.T, ...string) (string, string, int), db string, args ...string) string {
	t.Helper()
	stdout, stderr, code := by(t, append(append([]string{"admin"}, args...), "--control", db)...)
	if code != 0 {
		t.Fatalf("%v ended with %d:\n%s%s", args, code, stdout, stderr)
	}
	if keyText.MatchString(stderr) {
		t.Errorf("%v logged a key", args)
	}
	return stdout
}

func TestAdminKeys(t *testing.T) {
	db := t.TempDir() + "/control.db"
	if out := succeed(t, db, "workspace", "create", "acme"); !strings.HasPrefix(out, "workspace acme made, plan free, kind ordinary, id ws_") {
		t.Errorf("printed %s", out)
	}
	succeed(t, db, "workspace", "create", "big one", "--plan", "enterprise")
	out := succeed(t, db, "workspace", "list")
	if lines := strings.Split(out, "\n"); len(lines) != 4 || !strings.HasPrefix(lines[1], "acme ") || !strings.HasPrefix(lines[2], "big one  enterprise ") {
		t.Errorf("printed\n%s", out)
	}

	out = succeedBy(t, output, db, "key", "create", "--workspace", "acme", "--label", "laptop")
	live, id := keyText.FindString(out), publicID.FindString(out)
	if live == "" || id == "" || strings.Count(out, live) != 1 || !strings.Contains(out, "read batch write verify\n") ||
		!strings.Contains(out, "not shown again") || !strings.Contains(out, "expires    never\n") {
		t.Errorf("printed\n%s", out)
	}
	var issued struct {
		PlaintextKey string
		Notice       string
		Workspace    string
		APIKey       struct {
			PublicID, Label, Environment, Status, MaskedKey string
			Scopes                                          []string
			ExpiresAt                                       *string
		}
	}
	out = succeed(t, db, "key", "create", "--workspace=big one", "--scope=read,trace", "--scope=prove", "--expires=720h", "--test", "--json")
	if err := json.Unmarshal([]byte(out), &issued); err != nil {
		t.Fatal(err)
	}
	k := issued.APIKey
	if !strings.HasPrefix(issued.PlaintextKey, "svc_test_") || !strings.Contains(issued.Notice, "not shown again") || issued.Workspace != "big one" ||
		strings.Join(k.Scopes, " ") != "read verify prove trace" || k.ExpiresAt == nil || k.Environment != "test" || k.Status != "active" {
		t.Errorf("printed %s", out)
	}

	all, mine := succeed(t, db, "key", "list"), succeed(t, db, "key", "list", "--workspace", "acme")
	if !strings.Contains(all, k.PublicID) || !strings.Contains(all, id) || strings.Contains(mine, k.PublicID) || !strings.Contains(mine, "laptop") {
		t.Errorf("listed\n%s\nand\n%s", all, mine)
	}
	if keyText.MatchString(all) {
		t.Errorf("the list shows a key:\n%s", all)
	}
	check := runningService(t, db)
	check(map[string]bool{live: true, issued.PlaintextKey: true})

	// Another process revokes the key while the service runs.
	if out := succeedBy(t, output, db, "key", "revoke", id); !strings.HasPrefix(out, "key "+id+" is revoked at ") {
		t.Errorf("printed %s", out)
	}
	if out := succeed(t, db, "key", "revoke", id); !strings.HasPrefix(out, "key "+id+" was already revoked at ") {
		t.Errorf("printed %s", out)
	}
	if out := succeed(t, db, "key", "list", "--workspace", "acme"); !strings.Contains(out, " revoked ") {
		t.Errorf("listed\n%s", out)
	}
	check(map[string]bool{live: false, issued.PlaintextKey: true})
	var list struct {
		Items     []struct{ PublicID, Workspace, Status string }
		Truncated bool
	}
	if err := json.Unmarshal([]byte(succeed(t, db, "key", "list", "--json")), &list); err != nil || len(list.Items) != 2 || list.Items[1].Workspace != "acme" || list.Items[1].Status != "revoked" {
		t.Errorf("%+v, %v", list, err)
	}
}

// runningService stays open, as a running service does, and returns a function that asks
// it about keys, two seconds after the time before.
func runningService(t *testing.T, path string) func(valid map[string]bool) {
	t.Helper()
	db, err := control.Open(t.Context(), control.Options{Path: path, MustExist: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() }) //nolint:errcheck // a test's
	now := time.Now()
	auth := account.NewAuthenticator(account.NewRepository(db, account.Options{Now: func() time.Time { return now }}), nil)
	return func(valid map[string]bool) {
		t.Helper()
		now = now.Add(2 * time.Second)
		for key, want := range valid {
			if _, err := auth.Authenticate(t.Context(), key); (err == nil) != want {
				t.Errorf("a key that is valid: %v gives %v", want, err)
			}
		}
	}
}

func TestAdminKeyMistakes(t *testing.T) {
	dir := t.TempDir()
	db := dir + "/control.db"
	succeed(t, db, "workspace", "create", "acme")
	key := keyText.FindString(succeed(t, db, "key", "create", "--workspace=acme"))
	for range account.Free.Policy().MaxActiveKeys - 1 {
		succeed(t, db, "key", "create", "--workspace=acme")
	}
	if err := os.WriteFile(dir+"/letter.txt", []byte(strings.Repeat("dear ", 200)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"no control", []string{"key", "list"}, exitUsage, "which control database?"},
		{"no database", []string{"key", "list", "--control", dir + "/none.db"}, exitFailure, "there is no control database at"},
		{"not a database", []string{"key", "list", "--control", dir + "/letter.txt"}, exitFailure, "is not a database"},
		{"no name", []string{"workspace", "create", "--control", db}, exitUsage, `expected "<name>"`},
		{"empty name", []string{"workspace", "create", "", "--control", db}, exitUsage, "name: it must not be empty"},
		{"taken name", []string{"workspace", "create", "acme", "--control", db}, exitFailure, "already a workspace of this name"},
		{"bad plan", []string{"workspace", "create", "x", "--plan=gold", "--control", db}, exitUsage, `--plan: "gold" is none of free, developer`},
		{"no workspace", []string{"key", "create", "--control", db}, exitUsage, "missing flags: --workspace=NAME"},
		{"unknown workspace", []string{"key", "create", "--workspace=acne", "--control", db}, exitFailure, `workspace "acne": there is no such workspace: see`},
		{"list of unknown workspace", []string{"key", "list", "--workspace=acne", "--control", db}, exitFailure, "there is no such workspace"},
		{"bad scope", []string{"key", "create", "--workspace=acme", "--scope=reed", "--control", db}, exitUsage, `--scope: "reed" is none of read`},
		{"empty scope", []string{"key", "create", "--workspace=acme", "--scope=", "--control", db}, exitUsage, "--scope: at least one is needed"},
		{"bad time", []string{"key", "create", "--workspace=acme", "--expires=30d", "--control", db}, exitUsage, "--expires"},
		{"time in the past", []string{"key", "create", "--workspace=acme", "--expires=-1h", "--control", db}, exitUsage, "longer than zero"},
		{"bad label", []string{"key", "create", "--workspace=acme", "--label=a\tb", "--control", db}, exitUsage, "label: it holds"},
		{"too many", []string{"key", "create", "--workspace=acme", "--control", db}, exitFailure, "as many active keys as its plan allows: 5 on plan free: revoke one first"},
		{"unknown key", []string{"key", "revoke", "key_0123456789abcdef", "--control", db}, exitFailure, "there is no such key: see 'chainexplorer admin key list'"},
		{"key for id", []string{"key", "revoke", key, "--control", db}, exitUsage, "give the key's id"},
	} {
		t.Run(c.name, func(t *testing.T) {
			stdout, stderr, code := output(t, append([]string{"admin"}, c.args...)...)
			if code != c.code || !strings.Contains(stderr, c.want) {
				t.Errorf("exit code %d, want %d, and %q:\n%s%s", code, c.code, c.want, stdout, stderr)
			}
			if keyText.MatchString(stdout + stderr) {
				t.Error("a key was printed")
			}
		})
	}
	if _, err := os.Stat(dir + "/none.db"); err == nil {
		t.Error("a wrong --control made a database")
	}
}
