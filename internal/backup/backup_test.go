package backup_test

import (
	"database/sql"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"chainexplorer/internal/backup"
	"chainexplorer/internal/control"
	"chainexplorer/internal/explorer/catalog"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble"
)

var quiet = slog.New(slog.DiscardHandler)

// source is a data directory with one empty store, in use.
func source(t *testing.T) backup.Source {
	t.Helper()
	dir := t.TempDir()
	e, err := pebble.Open(pebble.Options{Dir: filepath.Join(dir, "SN_MAIN"), Tables: catalog.Tables(), Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() }) //nolint:errcheck // a test's
	db, err := control.Open(t.Context(), control.Options{Path: filepath.Join(dir, "control.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() }) //nolint:errcheck // a test's
	return backup.Source{Stores: map[string]store.Engine{"SN_MAIN": e}, Control: db, Program: "v1", Logger: quiet,
		Now: func() time.Time { return time.Date(2026, 3, 1, 4, 0, 0, 0, time.UTC) }}
}

func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return strings.Join(list, " ")
}

func TestTakeAndRestore(t *testing.T) {
	dir := t.TempDir()
	folder, target := filepath.Join(dir, "backup"), filepath.Join(dir, "data")
	s := source(t)
	m, err := backup.Take(t.Context(), s, folder)
	if err != nil {
		t.Fatal(err)
	}
	if got := names(t, folder); got != "SN_MAIN backup.json control.db" || names(t, dir) != "backup" {
		t.Errorf("the backup holds %s, beside it %s", got, names(t, dir))
	}
	if read, err := backup.Read(folder); err != nil || len(m.Chains) != 1 || read.Chains[0] != m.Chains[0] || !read.Taken.Equal(s.Now()) || !read.Control || m.Chains[0].Blocks {
		t.Errorf("%+v, %v; taken %+v", read, err, m)
	}
	for range 2 { // what is restored is not the backup itself
		var done, total uint64
		if _, err := backup.Restore(t.Context(), folder, target, quiet, func(d, of uint64) {
			if d < done || d > of || total != 0 && of != total {
				t.Errorf("%d of %d bytes after %d of %d", d, of, done, total)
			}
			if !backup.Unfinished(target) {
				t.Error("who is killed now leaves a directory that looks complete")
			}
			done, total = d, of
		}); err != nil {
			t.Fatal(err)
		}
		if got := names(t, target); !strings.HasPrefix(got, "SN_MAIN control.db") || backup.Unfinished(target) {
			t.Errorf("restored %s", got)
		}
		if _, err := backup.Restore(t.Context(), folder, target, quiet, nil); !errors.Is(err, backup.ErrNotEmpty) {
			t.Errorf("restored twice: %v", err)
		}
		if err := os.RemoveAll(target); err != nil {
			t.Fatal(err)
		}
	}
	for _, broken := range []string{"control.db", "SN_MAIN"} { // a part is missing
		if err := os.Rename(filepath.Join(folder, broken), filepath.Join(dir, "away")); err != nil {
			t.Fatal(err)
		}
		if _, err := backup.Restore(t.Context(), folder, target, quiet, nil); err == nil {
			t.Errorf("restored without %s", broken)
		}
		if got := names(t, target); got != "" {
			t.Errorf("a failed restore left %s", got)
		}
		if err := os.Rename(filepath.Join(dir, "away"), filepath.Join(folder, broken)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestTakeFails: nothing is left of a backup that failed, and none is written over.
func TestTakeFails(t *testing.T) {
	dir := t.TempDir()
	folder := filepath.Join(dir, "backup")
	s := source(t)
	if err := s.Control.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := backup.Take(t.Context(), s, folder); err == nil {
		t.Error("taken although the control database cannot be read")
	}
	if got := names(t, dir); got != "" {
		t.Errorf("it left %s", got)
	}
	s.Control = nil
	if _, err := backup.Take(t.Context(), s, folder); err != nil {
		t.Fatal(err)
	}
	if _, err := backup.Take(t.Context(), s, folder); err == nil || !strings.Contains(err.Error(), "exists already") {
		t.Errorf("written over: %v", err)
	}
}

func TestReadRefuses(t *testing.T) {
	for text, want := range map[string]string{
		`{`:            "unexpected end",
		`{"layout":2}`: "layout 2",
		`{"layout":1,"chains":[{"name":"../x"}]}`: "names a chain",
		`{"layout":1,"chains":[{"name":"/etc"}]}`: "names a chain",
		`{"layout":1,"chains":[{"name":""}]}`:     "names a chain",
		`{"layout":1,"chains":[{"name":"."}]}`:    "names a chain",
		`{"layout":1,"chains":[{"name":"a\\b"}]}`: "names a chain",
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "backup.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := backup.Read(dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := backup.Read(t.TempDir()); err == nil || !strings.Contains(err.Error(), "not a finished backup") {
		t.Errorf("an empty folder: %v", err)
	}
}

// TestAuditOfABackup: the head of the audit log is in the manifest, what is restored
// still verifies, and a log that was changed in the backup is refused.
func TestAuditOfABackup(t *testing.T) {
	dir := t.TempDir()
	folder := filepath.Join(dir, "backup")
	s := source(t)
	note := func() {
		t.Helper()
		if err := s.Control.Update(t.Context(), func(tx *sql.Tx) error {
			return s.Control.Audit(t.Context(), tx, control.AuditEntry{At: s.Now(), Actor: "operator", Action: "x", Subject: "y"})
		}); err != nil {
			t.Fatal(err)
		}
	}
	note()
	note()
	m, err := backup.Take(t.Context(), s, folder)
	if err != nil {
		t.Fatal(err)
	}
	note()
	now, err := s.Control.VerifyAudit(t.Context(), nil)
	if err != nil || m.Audit == nil || !m.Audit.Intact || m.Audit.Entries != 2 || now.Entries != 3 {
		t.Fatalf("%+v, %v", m.Audit, err)
	}
	if r, err := s.Control.VerifyAudit(t.Context(), &m.Audit.Head); err != nil || !r.Intact {
		t.Errorf("the log no longer holds the backup's head: %+v, %v", r.Broken, err)
	}
	target := filepath.Join(dir, "data")
	if _, err := backup.Restore(t.Context(), folder, target, quiet, nil); err != nil {
		t.Fatal(err)
	}
	db, err := control.Open(t.Context(), control.Options{Path: filepath.Join(target, "control.db"), MustExist: true})
	if err != nil {
		t.Fatal(err)
	}
	r, err := db.VerifyAudit(t.Context(), &m.Audit.Head)
	if err := errors.Join(err, db.Close()); err != nil || !r.Intact || r.Head != m.Audit.Head {
		t.Errorf("restored: %+v, %v", r, err)
	}
	raw, err := sql.Open("sqlite", filepath.Join(folder, "control.db"))
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range []string{`DROP TRIGGER audit_no_delete`, `DELETE FROM audit WHERE seq = 2`} {
		if _, err := raw.Exec(q); err != nil {
			t.Fatal(err)
		}
	}
	if err := raw.Close(); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"changed or damaged", "its manifest says"} { // also in one from before files were listed
		if _, err := backup.Restore(t.Context(), folder, filepath.Join(dir, "other"), quiet, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("a changed backup was restored: %v", err)
		}
		unlist(t, folder)
	}
}
