package control_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"chainexplorer/internal/control"
)

// testCopyTo: the copy is a database of its own with the same secrets, which
// nobody else can read.
func testCopyTo(t *testing.T, at place) {
	db := open(t, control.Options{Path: at.made(t)})
	copied := filepath.Join(t.TempDir(), "copy.db")
	if !db.IsFile() {
		if err := db.CopyTo(t.Context(), copied); !errors.Is(err, control.ErrNotFile) {
			t.Errorf("a copy of a server's database: %v", err)
		}
		return
	}
	note(t, db, "before")
	if err := db.CopyTo(t.Context(), copied); err != nil {
		t.Fatal(err)
	}
	note(t, db, "after")
	info, err := os.Stat(copied)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	other := open(t, control.Options{Path: copied, MustExist: true})
	if got := subjects(t, other); got != "before" || other.KeyDigestSecret() != db.KeyDigestSecret() {
		t.Errorf("the copy holds %q", got)
	}
	if err := db.CopyTo(t.Context(), copied); err == nil {
		t.Error("a copy was written over another file")
	}
}
