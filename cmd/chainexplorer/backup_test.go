package main

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"chainexplorer/internal/explorer/catalog"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble"
)

var folderLine = regexp.MustCompile(`(?m)^folder +(.+)$`)

// untilHead waits for a block to be served.
func (r *running) untilHead(key string, head uint64) {
	r.t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		var status struct{ LatestIndexedBlockNumber *uint64 }
		if err := json.Unmarshal(r.get("/v1/SN_SEPOLIA/status", key, http.StatusOK), &status); err != nil {
			r.t.Fatal(err)
		}
		if n := status.LatestIndexedBlockNumber; n != nil && *n >= head {
			return
		}
		if time.Now().After(end) {
			r.t.Fatalf("block %d was never served: %+v", head, status)
		}
	}
}

// TestBackup takes backups of the running service while it indexes. What is
// restored is sound, has the keys, and goes on to the same digest.
func TestBackup(t *testing.T) {
	t.Parallel() // it waits for processes
	chain := simnode.New(simnode.Config{Seed: 51, Blocks: 60, L1Lag: 20})
	srv := httptest.NewServer(simnode.NewNode(chain, simnode.NodeConfig{}))
	defer srv.Close()
	dir := t.TempDir()
	data, backups := filepath.Join(dir, "data"), filepath.Join(dir, "backups")
	r := startServe(t, "--node", srv.URL, "--data", data, "--metrics", "127.0.0.1:0", "--backup-dir", backups)
	control := filepath.Join(data, "control.db")
	succeed(t, control, "workspace", "create", "acme", "--plan", "enterprise")
	key := keyText.FindString(succeed(t, control, "key", "create", "--workspace", "acme"))
	head, _ := chain.Head()
	r.untilHead(key, head)

	type outcome struct {
		stdout, stderr string
		code           int
	}
	taken := make(chan outcome, 3)
	go func() {
		defer close(taken)
		for range cap(taken) {
			stdout, stderr, code := output(t, "admin", "backup", "--operator", r.operator, "--operator-token-file", filepath.Join(backups, tokenName))
			taken <- outcome{stdout, stderr, code}
		}
	}()
	var folders []string
	for i := 0; len(folders) < cap(taken); i++ { // blocks and forks all the time
		if chain.Extend(2); i%4 == 3 {
			chain.Fork(3)
			chain.Extend(4)
		}
		head, _ := chain.Head()
		r.untilHead(key, head-4)
		select {
		case o := <-taken:
			m := folderLine.FindStringSubmatch(o.stdout)
			if o.code != 0 || m == nil || !digestLine.MatchString(o.stdout) {
				t.Fatalf("backup ended with %d:\n%s%s", o.code, o.stdout, o.stderr)
			}
			folders = append(folders, m[1])
		default:
		}
	}
	shown := onTerminal(t, program(t, "admin", "backup", "--operator", r.operator, "--operator-token-file", filepath.Join(backups, tokenName)))
	if !strings.Contains(shown, "backing up") || !strings.Contains(shown, "100.0%") || !strings.Contains(shown, "2 of 2 databases") {
		t.Errorf("the backup shows %q", shown)
	}
	for _, c := range []struct {
		name, want string
		args       []string
	}{
		{"in use", "in use by another process", []string{"admin", "backup", "--data", data, "--to", filepath.Join(dir, "x")}},
		{"both ways", "--operator URL", []string{"admin", "backup", "--operator", r.operator, "--data", data, "--to", filepath.Join(dir, "x")}},
		{"neither", "--operator URL", []string{"admin", "backup"}},
		{"not empty", "the directory is not empty", []string{"admin", "restore", "--from", folders[0], "--data", data}},
		{"no backup", "is not a finished backup", []string{"admin", "restore", "--from", data, "--data", filepath.Join(dir, "x")}},
		{"no listener", "needs --metrics", []string{"serve", "--node", srv.URL, "--data", data, "--backup-dir", backups}},
		{"inside the store", "must not be inside", []string{"index", "--node", srv.URL, "--data", filepath.Join(dir, "i"), "--metrics", "127.0.0.1:0", "--backup-dir", filepath.Join(dir, "i", "b")}},
	} {
		if stdout, stderr, code := output(t, c.args...); code == 0 || !strings.Contains(stderr, c.want) {
			t.Errorf("%s ended with %d:\n%s%s", c.name, code, stdout, stderr)
		}
	}
	for i, folder := range folders { // also of a moment in the middle
		restored := filepath.Join(dir, "restored", filepath.Base(folder))
		stdout, stderr, code := output(t, "admin", "restore", "--from", folder, "--data", restored)
		m := digestLine.FindStringSubmatch(stdout)
		if code != 0 || m == nil {
			t.Fatalf("restore ended with %d:\n%s%s", code, stdout, stderr)
		}
		if got := fsckClean(t, filepath.Join(restored, "SN_SEPOLIA")); got != m[1] {
			t.Errorf("backup %d has digest %s and was said to have %s", i, got, m[1])
		}
	}
	chain.Extend(5)
	head, _ = chain.Head()
	r.untilHead(key, head)
	r.stop()
	restored := filepath.Join(dir, "restored", filepath.Base(folders[0]))
	again := startServe(t, "--node", srv.URL, "--data", restored)
	again.untilHead(key, head)
	again.stop()
	want := fsckClean(t, filepath.Join(data, "SN_SEPOLIA"))
	if got := fsckClean(t, filepath.Join(restored, "SN_SEPOLIA")); got != want {
		t.Errorf("the restored index went on to digest %s, the original to %s", got, want)
	}

	// And with the service stopped.
	folder := filepath.Join(dir, "cold")
	stdout, stderr, code := output(t, "admin", "backup", "--data", data, "--to", folder)
	if code != 0 || !strings.Contains(stdout, want) {
		t.Fatalf("backup ended with %d:\n%s%s", code, stdout, stderr)
	}
	if stdout, _, code := output(t, "admin", "backup", "--data", data, "--to", folder); code == 0 {
		t.Errorf("a backup was written over:\n%s", stdout)
	}
	// A backup that was damaged or mixed up is refused, and leaves nothing behind.
	manifest := filepath.Join(folder, "backup.json")
	text, err := os.ReadFile(manifest)
	if err != nil {
		t.Fatal(err)
	}
	target := filepath.Join(dir, "mixed")
	if err := os.WriteFile(manifest, []byte(strings.Replace(string(text), want, strings.Repeat("0", 64), 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, stderr, code := output(t, "admin", "restore", "--from", folder, "--data", target); code != exitFailure || !strings.Contains(stderr, "its manifest says") {
		t.Errorf("restore ended with %d:\n%s", code, stderr)
	}
	if left, err := os.ReadDir(target); err != nil || len(left) > 0 {
		t.Errorf("a failed restore left %v (%v)", left, err)
	}
}

// TestHalfRestored: what a restore that was killed left is not taken for an index or a data
// directory, and nothing is put into it.
func TestHalfRestored(t *testing.T) {
	data := t.TempDir()
	if err := os.WriteFile(filepath.Join(data, "restore.unfinished"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"serve", "--chain", "SN_SEPOLIA=http://127.0.0.1:1", "--data", data, "--listen", "127.0.0.1:0"},
		{"index", "--node", "http://127.0.0.1:1", "--data", filepath.Join(data, "SN_SEPOLIA")},
	} {
		if _, stderr, code := output(t, args...); code != exitUsage || !strings.Contains(stderr, "a restore that did not end") {
			t.Errorf("%s ended with %d:\n%s", args[0], code, stderr)
		}
	}
	if left, err := os.ReadDir(data); err != nil || len(left) != 1 {
		t.Errorf("the directory holds %v (%v)", left, err)
	}
}

// TestBackupSteps: who accepts lines gets one for every step and the outcome last,
// be it a failure; who does not gets the outcome alone.
func TestBackupSteps(t *testing.T) {
	dir := t.TempDir()
	b := newBackups(dir, slog.New(slog.DiscardHandler))
	e, err := pebble.Open(pebble.Options{Dir: filepath.Join(t.TempDir(), "store"), Tables: catalog.Tables()})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close() //nolint:errcheck // the test is over
	b.add("SN_MAIN", e)
	b.open(nil)
	ask := func(accept string) string {
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/backup", nil)
		r.Header.Set("Accept", accept)
		b.ServeHTTP(w, r)
		return w.Body.String()
	}
	steps := strings.Split(strings.TrimSpace(ask(backupStream)), "\n")
	if len(steps) != 3 || steps[0] != `{"done":0,"total":1}` || steps[1] != `{"done":1,"total":1}` || !strings.Contains(steps[2], `"folder":"`+dir) {
		t.Errorf("steps %q", steps)
	}
	if got := ask("*/*"); !strings.HasPrefix(got, `{"folder":"`) {
		t.Errorf("answer %q", got)
	}
	b.stores["SN_OTHER"] = failing{e}
	lines := httptest.NewServer(b)
	defer lines.Close()
	if _, stderr, code := output(t, "admin", "backup", "--operator", lines.URL); code != exitFailure || !strings.Contains(stderr, "the running process: ") || !strings.Contains(stderr, "no room") {
		t.Errorf("a backup that failed ended with %d:\n%s", code, stderr)
	}
	short := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(`{"done":0,"total":1}`)) })) //nolint:errcheck // seen below
	defer short.Close()
	if _, stderr, code := output(t, "admin", "backup", "--operator", short.URL); code != exitFailure || !strings.Contains(stderr, "ended before the backup was complete") {
		t.Errorf("a backup that was cut off ended with %d:\n%s", code, stderr)
	}
}

// failing is a store of which no copy can be made.
type failing struct{ store.Engine }

func (failing) Checkpoint(context.Context, string) error { return errors.New("no room") }
