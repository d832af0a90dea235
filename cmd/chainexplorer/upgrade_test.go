package main

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"chainexplorer/internal/control"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/store"
)

// TestUpgradeThatCannotBe: a version that cannot read the index leaves the control database to the version before, which
// would not start any more with a newer one.
func TestUpgradeThatCannotBe(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	e := emptyIndex(t, data, "SN_MAIN")
	lease, err := e.Acquire(t.Context(), store.Writer, "test", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	b := &store.Batch{}
	b.Put(chain.FormatKey, chain.Format{Layout: chain.Layout - 1, ChainID: felt.MustShortString("SN_MAIN")}.Encode())
	b.Under(lease)
	if err := e.Commit(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(data, "control.db")
	db, err := control.Open(t.Context(), control.Options{Path: file})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	raw, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close() //nolint:errcheck // a test's
	version := func() (n int) {
		t.Helper()
		if err := raw.QueryRow(`SELECT MAX(version_id) FROM schema_migration`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	newest := version()
	for _, s := range []string{`DROP TABLE receipt_key_revocation`, `DELETE FROM schema_migration WHERE version_id = (SELECT MAX(version_id) FROM schema_migration)`} {
		if _, err := raw.Exec(s); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"--node", "http://127.0.0.1:1"}, {"--chain", "SN_MAIN=http://127.0.0.1:1"}} {
		_, text, code := output(t, append([]string{"serve", "--data", data, "--listen", "127.0.0.1:0"}, args...)...)
		if code != 1 || !strings.Contains(text, "is left as it is") || !strings.Contains(text, "index again into an empty directory") || !strings.Contains(text, filepath.Join(data, "SN_MAIN")) {
			t.Errorf("%v: exit code %d: %s", args, code, text)
		}
		if n := version(); n != newest-1 {
			t.Errorf("%v: the control database has version %d, it had %d", args, n, newest-1)
		}
	}
}
