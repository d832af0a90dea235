package control_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"chainexplorer/internal/control"
	"chainexplorer/internal/control/controltest"
	"chainexplorer/internal/store/postgres/pgtest"

	_ "modernc.org/sqlite"
)

func open(t *testing.T, o control.Options) *control.DB {
	t.Helper()
	db, err := control.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() }) //nolint:errcheck // some tests close it themselves
	return db
}

// raw opens the file behind the package's back.
func raw(t *testing.T, path string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // a test's
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// place has room for a new database. Where it is not about how databases are made, there
// is one that nobody used.
type place struct{ empty, made func(testing.TB) string }

// onFile is in a file, and onServer on a PostgreSQL server.
var (
	onFile   = place{empty: func(t testing.TB) string { return t.TempDir() + "/c.db" }, made: controltest.File}
	onServer = place{empty: pgtest.Database, made: controltest.Server}
)

func note(t *testing.T, db *control.DB, subject string) {
	t.Helper()
	err := db.Update(t.Context(), func(tx *sql.Tx) error {
		return db.Audit(t.Context(), tx, control.AuditEntry{At: time.Now(), Actor: "a", Action: "b", Subject: subject})
	})
	if err != nil {
		t.Fatal(err)
	}
}

func subjects(t *testing.T, db *control.DB) string {
	t.Helper()
	list, err := db.AuditLog(t.Context(), 1000)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range list {
		out = append(out, e.Subject)
	}
	return strings.Join(out, " ")
}

func TestOpenMakesAndFindsAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "odd name?%41#&;é.db")
	db := open(t, control.Options{Path: path})
	note(t, db, "kept")
	keys, cursors := db.KeyDigestSecret(), db.CursorSecret()
	if keys == (control.Secret{}) || keys == cursors {
		t.Error("the secrets are not two random ones")
	}
	for _, suffix := range []string{"", "-wal", "-shm", "-migrate"} {
		info, err := os.Stat(path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%q has mode %v", suffix, info.Mode())
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	again := open(t, control.Options{Path: path, MustExist: true})
	if again.KeyDigestSecret() != keys || again.CursorSecret() != cursors {
		t.Error("the secrets changed")
	}
	if got := subjects(t, again); got != "kept" {
		t.Errorf("found %q", got)
	}
}

// TestSurvivesAKill looks at the files as they are on disk while the database is
// open: what a killed process leaves.
func TestSurvivesAKill(t *testing.T) {
	dir, left := t.TempDir(), t.TempDir()
	db := open(t, control.Options{Path: dir + "/c.db"})
	for i := range 5 {
		note(t, db, fmt.Sprint(i))
	}
	unfinished := make(chan struct{})
	err := db.Update(t.Context(), func(tx *sql.Tx) error {
		defer close(unfinished)
		if err := db.Audit(t.Context(), tx, control.AuditEntry{Subject: "never"}); err != nil {
			return err
		}
		for _, name := range []string{"c.db", "c.db-wal"} {
			b, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(left, name), b, 0o600); err != nil {
				return err
			}
		}
		return errors.New("killed")
	})
	<-unfinished
	if err == nil || err.Error() != "killed" {
		t.Fatal(err)
	}
	found := open(t, control.Options{Path: left + "/c.db"})
	if got := subjects(t, found); got != "4 3 2 1 0" {
		t.Errorf("found %q", got)
	}
	if found.KeyDigestSecret() != db.KeyDigestSecret() {
		t.Error("the secret is another")
	}
	if got := subjects(t, db); got != "4 3 2 1 0" {
		t.Errorf("the update that failed left %q", got)
	}
}

func TestRefuses(t *testing.T) {
	dir := t.TempDir()
	newer := dir + "/newer.db"
	open(t, control.Options{Path: newer}).Close() //nolint:errcheck // checked below
	raw(t, newer, `INSERT INTO schema_migration (version_id, is_applied) VALUES (99, 1)`)

	lost := dir + "/lost.db"
	open(t, control.Options{Path: lost}).Close() //nolint:errcheck // checked below
	raw(t, lost, `DELETE FROM secret WHERE name = 'key_digest'`,
		`INSERT INTO workspace (id, name, plan, created_at) VALUES ('w', 'w', 'free', 0)`,
		`INSERT INTO api_key (id, public_id, workspace_id, digest, label, environment, scopes, secret_hint, created_at) VALUES ('a','b','w','d','l','live','read','h',0)`)

	damaged := dir + "/damaged.db"
	open(t, control.Options{Path: damaged}).Close() //nolint:errcheck // checked below
	raw(t, damaged, `UPDATE secret SET value = 'abc'`)

	other := dir + "/other.db"
	raw(t, other, `CREATE TABLE recipes (name TEXT)`)
	letter := dir + "/letter.txt"
	if err := os.WriteFile(letter, []byte(strings.Repeat("dear reader, ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		o    control.Options
		want string
	}{
		{"newer schema", control.Options{Path: newer}, "its schema has version 99 and this program knows versions up to 21: run the newer program that made it, or restore a backup"},
		{"lost secret", control.Options{Path: lost}, "missing although there are 1 API keys: restore a backup"},
		{"damaged secret", control.Options{Path: damaged}, "secret key_digest is damaged"},
		{"another program's", control.Options{Path: other}, "is a database of another program"},
		{"not a database", control.Options{Path: letter}, "is not a database"},
		{"directory", control.Options{Path: dir}, "is a directory"},
		{"no directory", control.Options{Path: dir + "/none/c.db"}, "no such file or directory"},
		{"must exist", control.Options{Path: dir + "/none.db", MustExist: true}, "there is no control database"},
		{"address", control.Options{Path: "mysql://localhost/db"}, "must be the path of a file"},
		{"nothing", control.Options{}, "no file is named"},
	} {
		t.Run(c.name, func(t *testing.T) {
			db, err := control.Open(t.Context(), c.o)
			if err == nil {
				db.Close() //nolint:errcheck // fails anyway
				t.Fatal("opened")
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %q lacks %q", err, c.want)
			}
		})
	}
	if _, err := os.Stat(dir + "/none.db"); !errors.Is(err, os.ErrNotExist) {
		t.Error("a database was made though it must exist")
	}
	// A refused database is left as it was.
	var tables int
	check, err := sql.Open("sqlite", other)
	if err != nil {
		t.Fatal(err)
	}
	defer check.Close() //nolint:errcheck // a test's
	if err := check.QueryRow(`SELECT COUNT(*) FROM sqlite_master`).Scan(&tables); err != nil || tables != 1 {
		t.Errorf("%d tables, %v", tables, err)
	}
}

func TestTightensTheMode(t *testing.T) {
	path := t.TempDir() + "/c.db"
	open(t, control.Options{Path: path}).Close() //nolint:errcheck // reopened next
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	open(t, control.Options{Path: path, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if !strings.Contains(log.String(), "others could read") {
		t.Errorf("logged %q", log.String())
	}
}

// testManyOpenAtOnce: of several that find no database one makes it, and all
// have the same secrets.
func testManyOpenAtOnce(t *testing.T, at place) {
	path := at.empty(t)
	var wg sync.WaitGroup
	secrets := make([]control.Secret, 6)
	for i := range secrets {
		wg.Go(func() {
			db, err := control.Open(t.Context(), control.Options{Path: path})
			if err != nil {
				t.Error(err)
				return
			}
			secrets[i] = db.KeyDigestSecret()
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, s := range secrets {
		if s != secrets[0] || s == (control.Secret{}) {
			t.Error("secrets differ")
		}
	}
}

// TestOneChangesTheSchemaAtATime: while another process is at it, Open waits, and
// touches nothing when its time is up.
func TestOneChangesTheSchemaAtATime(t *testing.T) {
	path := t.TempDir() + "/c.db"
	other, err := sql.Open("sqlite", path+"-migrate?_txlock=exclusive")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close() //nolint:errcheck // a test's
	busy, err := other.Begin()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if db, err := control.Open(ctx, control.Options{Path: path}); err == nil {
		db.Close() //nolint:errcheck // fails anyway
		t.Fatal("two changed the schema at once")
	} else if ctx.Err() == nil {
		t.Fatalf("it did not wait: %v", err)
	}
	if err := busy.Rollback(); err != nil {
		t.Fatal(err)
	}
	open(t, control.Options{Path: path})
}

func testReadersCannotWriteAndDoNotWait(t *testing.T, at place) {
	db := open(t, control.Options{Path: at.made(t)})
	note(t, db, "before")
	if _, err := db.Reader().ExecContext(t.Context(), `DELETE FROM audit`); err == nil {
		t.Error("a reader deleted rows")
	}
	err := db.Update(t.Context(), func(tx *sql.Tx) error {
		if err := db.Audit(t.Context(), tx, control.AuditEntry{Subject: "during"}); err != nil {
			return err
		}
		if got := subjects(t, db); got != "before" {
			t.Errorf("a reader saw %q during the update", got)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := subjects(t, db); got != "during before" {
		t.Errorf("found %q", got)
	}
}

// TestCommitsReachTheDisk: the settings that make an acknowledged change outlive a
// power cut, which no test can cause.
func TestCommitsReachTheDisk(t *testing.T) {
	db := open(t, control.Options{Path: t.TempDir() + "/c.db"})
	err := db.Update(t.Context(), func(tx *sql.Tx) error {
		var journal string
		var synchronous int
		if err := tx.QueryRow(`PRAGMA journal_mode`).Scan(&journal); err != nil {
			return err
		}
		if err := tx.QueryRow(`PRAGMA synchronous`).Scan(&synchronous); err != nil {
			return err
		}
		if journal != "wal" || synchronous != 2 {
			t.Errorf("journal %s, synchronous %d", journal, synchronous)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func testForeignKeysAndDuplicates(t *testing.T, at place) {
	db := open(t, control.Options{Path: at.made(t)})
	exec := func(query string) error {
		return db.Update(t.Context(), func(tx *sql.Tx) error { _, err := tx.Exec(query); return err })
	}
	err := exec(`INSERT INTO api_key (id, public_id, workspace_id, digest, label, environment, scopes, secret_hint, created_at) VALUES ('a','b','none','d','l','live','read','h',0)`)
	if err == nil || control.IsDuplicate(err) {
		t.Errorf("a key without a workspace: %v", err)
	}
	if err := exec(`INSERT INTO workspace (id, name, plan, created_at) VALUES ('w', 'name', 'free', 0)`); err != nil {
		t.Fatal(err)
	}
	for _, q := range []string{`INSERT INTO workspace (id, name, plan, created_at) VALUES ('v', 'name', 'free', 0)`, `INSERT INTO workspace (id, name, plan, created_at) VALUES ('w', 'other', 'free', 0)`} {
		if err := exec(q); !control.IsDuplicate(err) {
			t.Errorf("%s: %v", q, err)
		}
	}
}

// testContextCancels: waiting for the writer ends with the context, and so does a
// long statement.
func testContextCancels(t *testing.T, at place) {
	db := open(t, control.Options{Path: at.made(t)})
	err := db.Update(t.Context(), func(*sql.Tx) error {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := db.Update(ctx, func(*sql.Tx) error { return nil }); !errors.Is(err, context.Canceled) {
			t.Errorf("second writer: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	err = db.View(ctx, func(tx *sql.Tx) error {
		var n int
		return tx.QueryRowContext(ctx, `WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT COUNT(*) FROM c`).Scan(&n)
	})
	if err == nil || ctx.Err() == nil {
		t.Errorf("an endless query ended with %v", err)
	}
}

func TestSecretsDoNotPrint(t *testing.T) {
	s := control.Secret{1, 2, 3}
	for _, format := range []string{"%v", "%+v", "%#v", "%s"} {
		if got := fmt.Sprintf(format, s); got != "(secret)" {
			t.Errorf("%s prints %q", format, got)
		}
	}
	if got, err := json.Marshal(s); err != nil || string(got) != `"(secret)"` {
		t.Errorf("JSON %s, %v", got, err)
	}
}
