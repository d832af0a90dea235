package main

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"chainexplorer/internal/account"
	"chainexplorer/internal/control"
)

var (
	codeText = regexp.MustCompile(`[0-9A-Z]{5}(-[0-9A-Z]{5}){3}`)
	codeID   = regexp.MustCompile(`cod_[0-9a-z]{16}`)
)

// TestAdminCodes makes codes, redeems one as a running service does, and revokes one.
func TestAdminCodes(t *testing.T) {
	db := t.TempDir() + "/control.db"
	succeed(t, db, "workspace", "create", "acme")
	out := succeed(t, db, "codes", "create", "--plan", "growth", "--kind", "partner", "--uses", "2", "--note", "fair", "--expires", "0s")
	text := codeText.FindString(out)
	if text == "" || !strings.Contains(out, "gives      plan growth, kind partner\n") || !strings.Contains(out, "expires    never\n") || !strings.Contains(out, "not shown again") {
		t.Fatalf("printed\n%s", out)
	}
	var made struct {
		Code    string
		Details account.Code
	}
	if err := json.Unmarshal([]byte(succeed(t, db, "codes", "create", "--plan=wallet", "--json")), &made); err != nil || !codeText.MatchString(made.Code) || made.Details.ExpiresAt == nil || made.Details.Uses != 1 {
		t.Errorf("%+v, %v", made, err)
	}
	open, err := control.Open(t.Context(), control.Options{Path: db, MustExist: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { open.Close() }) //nolint:errcheck // a test's
	repo := account.NewRepository(open, account.Options{})
	space, err := repo.WorkspaceByName(t.Context(), "acme")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := repo.RedeemCode(t.Context(), space.ID, text); err != nil {
		t.Fatal(err)
	}
	if out := succeed(t, db, "workspace", "list"); !strings.Contains(out, "acme  growth  partner  ") {
		t.Errorf("printed\n%s", out)
	}
	list := succeed(t, db, "codes", "list")
	if !strings.Contains(list, " 1 of 2 ") || !strings.Contains(list, "fair") || strings.Contains(list, text) || strings.Contains(list, made.Code) {
		t.Errorf("printed\n%s", list)
	}
	if out := succeed(t, db, "codes", "revoke", made.Details.ID); !strings.HasPrefix(out, "code "+made.Details.ID+" is revoked at ") {
		t.Errorf("printed %s", out)
	}
	if out := succeed(t, db, "codes", "revoke", made.Details.ID); !strings.HasPrefix(out, "code "+made.Details.ID+" was already revoked at ") {
		t.Errorf("printed %s", out)
	}
	var all struct{ Items []account.Code }
	if err := json.Unmarshal([]byte(succeed(t, db, "codes", "list", "--json")), &all); err != nil || len(all.Items) != 2 || all.Items[0].Status != account.CodeRevoked || all.Items[1].Status != account.CodeActive {
		t.Errorf("%+v, %v", all, err)
	}
	if !codeID.MatchString(all.Items[0].ID) {
		t.Errorf("%+v", all.Items[0])
	}
	for _, wrong := range [][]string{{"create", "--plan", "gold"}, {"create", "--plan", "free", "--kind", "internal"}, {"create", "--plan", "free", "--uses", "0"}, {"create", "--plan", "free", "--expires=-1s"}, {"revoke", text}} {
		stdout, stderr, code := output(t, append(append([]string{"admin", "codes"}, wrong...), "--control", db)...)
		if code != exitUsage || strings.Contains(stdout+stderr, text) {
			t.Errorf("%v ended with %d: %s%s", wrong, code, stdout, stderr)
		}
	}
	if _, stderr, code := output(t, "admin", "codes", "revoke", "cod_none", "--control", db); code != exitFailure || !strings.Contains(stderr, "admin codes list") {
		t.Errorf("%d: %s", code, stderr)
	}
}

// TestAdminKeyTerms: origins and limits of a key's own, and keys that are only configured.
func TestAdminKeyTerms(t *testing.T) {
	db := t.TempDir() + "/control.db"
	succeed(t, db, "workspace", "create", "acme")
	var issued struct {
		APIKey struct {
			AllowedOrigins  []string
			RateLimitPolicy account.Policy
		}
	}
	out := succeed(t, db, "key", "create", "--workspace=acme", "--origin=https://b.example", "--origin=https://a.example",
		"--light-per-minute=7", "--heavy-per-minute=6", "--batch-per-minute=5", "--burst=4", "--json")
	if err := json.Unmarshal([]byte(out), &issued); err != nil || strings.Join(issued.APIKey.AllowedOrigins, " ") != "https://a.example https://b.example" {
		t.Errorf("%v: %s", err, out)
	}
	if p := issued.APIKey.RateLimitPolicy; p.LightPerMinute != 7 || p.HeavyPerMinute != 6 || p.BatchPerMinute != 5 || p.Burst != 4 {
		t.Errorf("%+v", p)
	}
	if _, stderr, code := output(t, "admin", "key", "create", "--workspace=acme", "--origin=nonsense", "--control", db); code != exitUsage || !strings.Contains(stderr, "--origin") {
		t.Errorf("%d: %s", code, stderr)
	}
	out, _, code := output(t, "admin", "key", "internal", "billing", "--scope", "read,partner")
	key := keyText.FindString(out)
	if code != 0 || key == "" || !strings.Contains(out, "--internal-key billing:read,partner:") {
		t.Errorf("%d: %s", code, out)
	}
	for _, wrong := range [][]string{{"billing", "--scope=verify"}, {"Billing"}, {"billing", "--scope=fly"}} {
		if _, stderr, code := output(t, append([]string{"admin", "key", "internal"}, wrong...)...); code != exitUsage {
			t.Errorf("%v: %d: %s", wrong, code, stderr)
		}
	}
	if _, stderr, code := output(t, "serve", "--node=http://127.0.0.1:1", "--data", t.TempDir(), "--internal-key", "billing:read:"+key); code != exitUsage || strings.Contains(stderr, key[9:]) {
		t.Errorf("%d: %s", code, stderr)
	}
}

// TestAdminWorkspaceChange gives a workspace other terms, and says what is wrong.
func TestAdminWorkspaceChange(t *testing.T) {
	db := t.TempDir() + "/control.db"
	succeed(t, db, "workspace", "create", "acme", "--kind", "wallet")
	if out := succeed(t, db, "workspace", "change", "acme", "--plan", "business"); out != "workspace acme has plan business, kind wallet\n" {
		t.Errorf("printed %s", out)
	}
	var w account.Workspace
	if err := json.Unmarshal([]byte(succeed(t, db, "workspace", "change", "acme", "--kind=internal", "--json")), &w); err != nil || w.Kind != account.InternalKind || w.Plan != account.Business {
		t.Errorf("%+v, %v", w, err)
	}
	for _, wrong := range [][]string{{"change", "acme"}, {"change", "acme", "--plan", "gold"}, {"change", "acme", "--kind", "alien"}, {"create", "b", "--kind", "alien"}} {
		if _, stderr, code := output(t, append(append([]string{"admin", "workspace"}, wrong...), "--control", db)...); code != exitUsage {
			t.Errorf("%v ended with %d: %s", wrong, code, stderr)
		}
	}
	if out := succeed(t, db, "audit", "list"); !strings.Contains(out, "plan business, kind internal, before plan business, kind wallet") {
		t.Errorf("printed\n%s", out)
	}
}
