package main

import (
	"database/sql"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"chainexplorer/internal/control"
	"chainexplorer/internal/simnode"
	"net/http/httptest"

	_ "modernc.org/sqlite"
)

// TestAdminAudit: every change is in the log, and the first entry that somebody
// tampered with is named, while a service has the database open.
func TestAdminAudit(t *testing.T) {
	db := t.TempDir() + "/control.db"
	succeed(t, db, "workspace", "create", "acme")
	id := publicID.FindString(succeed(t, db, "key", "create", "--workspace", "acme"))
	runningService(t, db)
	succeed(t, db, "key", "revoke", id)
	out := succeed(t, db, "audit", "list")
	if lines := strings.Split(strings.TrimSpace(out), "\n"); len(lines) != 4 || !strings.HasPrefix(lines[1], "3 ") || !strings.Contains(lines[1], "key.revoke") ||
		!strings.Contains(lines[2], "key.create") || !strings.Contains(lines[3], "workspace.create") || keyText.MatchString(out) {
		t.Errorf("listed\n%s", out)
	}
	var list struct {
		Items     []control.AuditLink
		Truncated bool
	}
	if err := json.Unmarshal([]byte(succeed(t, db, "audit", "list", "--limit", "2", "--json")), &list); err != nil {
		t.Fatal(err)
	}
	if len(list.Items) != 2 || !list.Truncated || list.Items[0].Sequence != 3 || list.Items[0].PreviousHash != list.Items[1].Hash || list.Items[0].Subject != id {
		t.Errorf("%+v", list)
	}
	head := control.AuditHead{Sequence: 3, Hash: list.Items[0].Hash}.String()
	if out := succeed(t, db, "audit", "verify"); !strings.Contains(out, head) || !strings.Contains(out, "intact") {
		t.Errorf("printed\n%s", out)
	}
	succeed(t, db, "workspace", "create", "other")
	succeed(t, db, "audit", "verify", "--head", head) // the log has gone on since

	raw, err := sql.Open("sqlite", db)
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close() //nolint:errcheck // a test's
	if _, err := raw.Exec(`DELETE FROM audit WHERE seq = 4`); err == nil || !strings.Contains(err.Error(), "append-only") {
		t.Errorf("an entry was deleted: %v", err)
	}
	if _, err := raw.Exec(`DROP TRIGGER audit_no_update`); err != nil {
		t.Fatal(err)
	}
	// A log without its triggers is whole, and yet not well.
	if stdout, stderr, code := output(t, "admin", "audit", "verify", "--control", db); code != exitFailure || !strings.Contains(stdout, "intact") ||
		!strings.Contains(stderr, "missing") || !strings.Contains(stderr, "audit_no_update") || strings.Contains(stderr, "audit_next_only") {
		t.Errorf("verify without a trigger ended with %d:\n%s%s", code, stdout, stderr)
	}
	// Nor is one with a trigger of the same name that lets everything pass.
	if _, err := raw.Exec(`CREATE TRIGGER audit_no_update BEFORE UPDATE ON audit BEGIN SELECT 'RAISE(ABORT'; END`); err != nil {
		t.Fatal(err)
	}
	if stdout, stderr, code := output(t, "admin", "audit", "verify", "--control", db); code != exitFailure || !strings.Contains(stdout, "changed triggers") ||
		!strings.Contains(stderr, "not what this program made: audit_no_update") || strings.Contains(stderr, "missing") {
		t.Errorf("verify with another trigger ended with %d:\n%s%s", code, stdout, stderr)
	}
	if _, err := raw.Exec(`UPDATE audit SET detail = 'nothing' WHERE seq = 2`); err != nil {
		t.Fatal(err)
	}
	stdout, stderr, code := output(t, "admin", "audit", "verify", "--control", db, "--json")
	var r control.AuditReport
	if err := json.Unmarshal([]byte(stdout), &r); err != nil || code != exitFailure || r.Intact || r.Broken.Sequence != 2 || r.Broken.Kind != "changed" ||
		!strings.Contains(stderr, "broken at entry 2") {
		t.Errorf("verify ended with %d:\n%s%s", code, stdout, stderr)
	}
	for _, args := range [][]string{{"list", "--limit=0"}, {"list", "--limit=1001"}, {"verify", "--head=12"}} {
		if _, stderr, code := output(t, append([]string{"admin", "audit", "--control", db}, args...)...); code != exitUsage {
			t.Errorf("%v ended with %d: %s", args, code, stderr)
		}
	}
}

// TestAdminFindsTheControlDatabase: whatever names it for the service names it here.
func TestAdminFindsTheControlDatabase(t *testing.T) {
	data := t.TempDir()
	lists := func(how string, args ...string) {
		t.Helper()
		stdout, stderr, code := output(t, append([]string{"admin", "workspace", "list"}, args...)...)
		if code != 0 || !strings.Contains(stdout, "acme") {
			t.Errorf("%s ended with %d:\n%s%s", how, code, stdout, stderr)
		}
	}
	if _, stderr, code := output(t, "admin", "workspace", "create", "acme", "--data", data); code != 0 {
		t.Fatal(stderr)
	}
	if _, err := os.Stat(filepath.Join(data, "control.db")); err != nil {
		t.Error(err)
	}
	lists("--data", "--data", data)
	lists("--control before --data", "--data", t.TempDir(), "--control", filepath.Join(data, "control.db"))
	file := filepath.Join(t.TempDir(), "settings.yaml")
	if err := os.WriteFile(file, []byte("data: "+data+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	lists("a config file", "--config", file)
	t.Setenv("CHAINEXPLORER_DATA", data)
	lists("the environment")
	if stdout, stderr, code := output(t, "admin", "audit", "verify", "--json"); code != 0 || !strings.Contains(stdout, `"entries": 1`) {
		t.Errorf("audit by the environment ended with %d:\n%s%s", code, stdout, stderr)
	}
	t.Setenv("CHAINEXPLORER_DATA", "")
	t.Setenv("CHAINEXPLORER_STORE", "postgres://nobody@127.0.0.1:1/db")
	if _, stderr, code := output(t, "admin", "key", "list"); code != exitFailure || !strings.Contains(stderr, "127.0.0.1") {
		t.Errorf("--store from the environment ended with %d: %s", code, stderr)
	}
}

// TestEveryAdminCommandHasJSON looks at the command line itself.
func TestEveryAdminCommandHasJSON(t *testing.T) {
	parser, err := kong.New(newCommands(), kong.Exit(func(int) {}))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, leaf := range parser.Model.Leaves(true) {
		if !strings.HasPrefix(leaf.Path(), "admin ") {
			continue
		}
		n++
		found := false
		for _, f := range leaf.Flags {
			found = found || f.Name == "json" && f.Target.Kind() == reflect.Bool
		}
		if !found {
			t.Errorf("%s has no --json", leaf.Path())
		}
	}
	if n < 15 {
		t.Errorf("only %d commands", n)
	}
}

// TestAdminJSON reads what the commands about indexes and backups print.
func TestAdminJSON(t *testing.T) {
	srv := httptest.NewServer(simnode.NewNode(simnode.New(simnode.Config{Seed: 9, Blocks: 6, TxPerBlock: 2, RealHashes: true}), simnode.NodeConfig{}))
	defer srv.Close()
	dir := t.TempDir()
	data := filepath.Join(dir, "data")
	if _, stderr, code := outputOf(t, program(t, "index", "--node", srv.URL, "--data", filepath.Join(data, "SN_SEPOLIA"), "--verify", "off", "--to", "5", "--no-jobs")); code != 0 {
		t.Fatal(stderr)
	}
	if _, stderr, code := output(t, "admin", "workspace", "create", "acme", "--data", data); code != 0 {
		t.Fatal(stderr)
	}
	read := func(to any, args ...string) {
		t.Helper()
		stdout, stderr, code := output(t, append(append([]string{"admin"}, args...), "--json")...)
		if err := json.Unmarshal([]byte(stdout), to); err != nil || code != 0 {
			t.Fatalf("%v ended with %d, %v:\n%s%s", args, code, err, stdout, stderr)
		}
	}
	var checked fsckView
	read(&checked, "fsck", "--data", data)
	if len(checked.Indexes) != 1 || checked.Control == nil || !checked.Control.Clean {
		t.Fatalf("fsck: %+v", checked)
	}
	found := checked.Indexes[0]
	if found.State != "clean" || found.Chain != "SN_SEPOLIA" || found.Blocks != 6 || found.Head == nil || *found.Head != 5 || found.Digest == "" {
		t.Errorf("fsck: %+v", found)
	}
	var verified verifyView
	read(&verified, "verify", "--data", filepath.Join(data, "SN_SEPOLIA"), "--node", srv.URL)
	if verified.Blocks != 6 || verified.Verified != 6 || len(verified.Runs) != 1 || verified.Runs[0].Last != 5 {
		t.Errorf("verify: %+v", verified)
	}
	var copied struct {
		Chain, Digest string
		Equal         bool
	}
	read(&copied, "copy", "--from", "pebble:"+filepath.Join(data, "SN_SEPOLIA"), "--to", "pebble:"+filepath.Join(dir, "copied"))
	if copied.Chain != "SN_SEPOLIA" || copied.Digest != found.Digest || !copied.Equal {
		t.Errorf("copy: %+v", copied)
	}
	folder, restored := filepath.Join(dir, "backup"), filepath.Join(dir, "restored")
	for _, args := range [][]string{{"backup", "--data", data, "--to", folder}, {"restore", "--from", folder, "--data", restored}} {
		var m taken
		read(&m, args...)
		if len(m.Chains) != 1 || m.Chains[0].Digest != found.Digest || m.Audit == nil || !m.Audit.Intact || m.Audit.Entries != 1 || !filepath.IsAbs(m.Folder) {
			t.Errorf("%s: %+v", args[0], m)
		}
	}
	var log control.AuditReport
	read(&log, "audit", "verify", "--data", restored)
	if !log.Intact || log.Entries != 1 {
		t.Errorf("the restored log: %+v", log)
	}
	var view map[string]string
	read(&view, "label", "add", "0x1", "One", "--chain", "SN_SEPOLIA", "--data", restored)
	read(&view, "label", "remove", "0x1", "--chain", "SN_SEPOLIA", "--data", restored)
	if view["address"] != "0x1" {
		t.Errorf("label remove: %v", view)
	}
}
