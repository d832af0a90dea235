package main

import (
	"context"
	"database/sql"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"

	"chainexplorer/internal/control"
	"chainexplorer/internal/explorer/catalog"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/postgres"
	"chainexplorer/internal/store/postgres/pgtest"
)

// layOut gives an index a layout, and closes it.
func layOut(t *testing.T, e store.Engine, name string, layout uint64) {
	t.Helper()
	lease, err := e.Acquire(t.Context(), store.Writer, "test", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	b := &store.Batch{}
	b.Put(chain.FormatKey, chain.Format{Layout: layout, ChainID: felt.MustShortString(name)}.Encode())
	b.Under(lease)
	if err := e.Commit(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

// olderControl makes a control database of the version before, and tells its version from then on.
func olderControl(t *testing.T, path, driver, schema string) (version func() int, older int) {
	t.Helper()
	db, err := control.Open(t.Context(), control.Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	raw, err := sql.Open(driver, path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { raw.Close() }) //nolint:errcheck // a test's
	version = func() (n int) {
		t.Helper()
		if err := raw.QueryRowContext(context.Background(), `SELECT MAX(version_id) FROM `+schema+`schema_migration`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	newest := version()
	for _, s := range []string{`DROP TABLE ` + schema + `receipt_withdrawal`, `DROP INDEX ` + schema + `verification_receipt_toolchain`,
		`ALTER TABLE ` + schema + `verification_receipt DROP COLUMN toolchain`,
		`DELETE FROM ` + schema + `schema_migration WHERE version_id = (SELECT MAX(version_id) FROM ` + schema + `schema_migration)`} {
		if _, err := raw.ExecContext(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	return version, newest - 1
}

// refusesUpgrade runs commands, all of which have to name the index and leave the control database as it is.
func refusesUpgrade(t *testing.T, version func() int, older int, index string, commands [][]string) {
	t.Helper()
	for _, args := range commands {
		_, text, code := output(t, args...)
		if code != 1 || !strings.Contains(text, "is left as it is") || !strings.Contains(text, "index again into an empty directory") || !strings.Contains(text, index) {
			t.Errorf("%v: exit code %d: %s", args, code, text)
		}
		if n := version(); n != older {
			t.Errorf("%v: the control database has version %d, it had %d", args, n, older)
		}
	}
}

// TestUpgradeThatCannotBe: a version that cannot read the index leaves the control database to the version before, which
// would not start any more with a newer one.
func TestUpgradeThatCannotBe(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	layOut(t, emptyIndex(t, data, "SN_MAIN"), "SN_MAIN", chain.Layout-1)
	file := filepath.Join(data, "control.db")
	version, older := olderControl(t, file, "sqlite", "")
	serve := []string{"serve", "--data", data, "--listen", "127.0.0.1:0"}
	refusesUpgrade(t, version, older, filepath.Join(data, "SN_MAIN"), [][]string{
		append(serve, "--node", "http://127.0.0.1:1"),
		append(serve, "--chain", "SN_MAIN=http://127.0.0.1:1"),
		{"admin", "workspace", "list", "--data", data},
		{"admin", "workspace", "create", "acme", "--control", file},
	})
}

// TestUpgradeThatCannotBeOnPostgres: the same where several chains share a database, and only a node tells which is meant.
func TestUpgradeThatCannotBeOnPostgres(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	for name, layout := range map[string]uint64{"SN_MAIN": chain.Layout, "SN_SEPOLIA": chain.Layout - 1} {
		schema, err := schemaOf(name)
		if err != nil {
			t.Fatal(err)
		}
		e, err := postgres.Open(t.Context(), postgres.Options{URL: url, Schema: schema, Tables: catalog.Tables()})
		if err != nil {
			t.Fatal(err)
		}
		layOut(t, e, name, layout)
	}
	version, older := olderControl(t, url, "pgx", "chainexplorer_control.")
	db, err := sql.Open("pgx", url)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // a test's
	// Nor does it have all tables that there are today.
	if _, err := db.ExecContext(t.Context(), `DELETE FROM chain_sn_sepolia._tables WHERE name = 'token_first'`); err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(simnode.NewNode(simnode.New(simnode.Config{Seed: 9, Blocks: 3}), simnode.NodeConfig{})) // of SN_SEPOLIA
	defer srv.Close()
	refusesUpgrade(t, version, older, "the index of ", [][]string{
		{"worker", "--store", url, "--node", srv.URL},
		{"serve", "--store", url, "--node", srv.URL, "--listen", "127.0.0.1:0"},
		{"api", "--store", url, "--chain", "SN_SEPOLIA", "--listen", "127.0.0.1:0"},
		{"admin", "workspace", "list", "--store", url},
		{"admin", "workspace", "list", "--control", url},
	})
}

// TestUpgradeUnderARunningProcess: a command of a newer version does not change the control database under a process of
// the version before, whose index nobody else can look at.
func TestUpgradeUnderARunningProcess(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	version, older := olderControl(t, filepath.Join(data, "control.db"), "sqlite", "")
	running := emptyIndex(t, data, "SN_MAIN")
	list := []string{"admin", "workspace", "list", "--data", data}
	if _, text, code := output(t, list...); code != 1 || !strings.Contains(text, "in use by another process") || !strings.Contains(text, "start the service with this version first") || version() != older {
		t.Errorf("exit code %d, version %d, it had %d: %s", code, version(), older, text)
	}
	if err := running.Close(); err != nil {
		t.Fatal(err)
	}
	_, text, code := output(t, "admin", "backup", "--data", data, "--to", filepath.Join(t.TempDir(), "new"))
	if code != 1 || !strings.Contains(text, "take the backup with the version that made it") || version() != older {
		t.Errorf("backup: exit code %d, version %d, it had %d: %s", code, version(), older, text)
	}
	if _, text, code := output(t, list...); code != 0 || version() != older+1 {
		t.Errorf("with the process stopped: exit code %d, version %d, it had %d: %s", code, version(), older, text)
	}
}
