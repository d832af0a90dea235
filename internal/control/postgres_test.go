package control_test

import (
	"context"
	"database/sql"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"chainexplorer/internal/control"
	"chainexplorer/internal/store/postgres/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// both are the tests that hold for both kinds of database.
var both = []struct {
	name string
	run  func(*testing.T, place)
}{
	{"FindsAgain", testFindsAgain},
	{"ManyOpenAtOnce", testManyOpenAtOnce},
	{"ReadersCannotWriteAndDoNotWait", testReadersCannotWriteAndDoNotWait},
	{"ForeignKeysAndDuplicates", testForeignKeysAndDuplicates},
	{"ContextCancels", testContextCancels},
	{"CopyTo", testCopyTo},
	{"AuditChain", testAuditChain},
	{"AuditIsAppendOnly", testAuditIsAppendOnly},
	{"AuditGuards", testAuditGuards},
	{"SwallowedAudit", testSwallowedAudit},
	{"AuditByManyAtOnce", testAuditByManyAtOnce},
	{"ChainsTheOldLog", testChainsTheOldLog},
}

func TestOnFile(t *testing.T) { runBoth(t, onFile) }

func TestOnPostgres(t *testing.T) {
	runBoth(t, onServer)
	t.Run("Refuses", testRefusesOnPostgres)
	t.Run("OneWriter", testOneWriter)
}

func runBoth(t *testing.T, at place) {
	for _, tt := range both {
		t.Run(tt.name, func(t *testing.T) { tt.run(t, at) })
	}
}

// rawPostgres works behind the package's back.
func rawPostgres(t *testing.T, url string, statements ...string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context()) //nolint:errcheck // a test's
	for _, s := range statements {
		if _, err := conn.Exec(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

func testFindsAgain(t *testing.T, at place) {
	path := at.empty(t)
	db := open(t, control.Options{Path: path})
	note(t, db, "kept")
	secret := db.KeyDigestSecret()
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	again := open(t, control.Options{Path: path, MustExist: true})
	if again.KeyDigestSecret() != secret || secret == (control.Secret{}) {
		t.Error("the secrets changed")
	}
	if got := subjects(t, again); got != "kept" {
		t.Errorf("found %q", got)
	}
}

func testRefusesOnPostgres(t *testing.T) {
	made := func(statements ...string) string {
		url := onServer.made(t)
		open(t, control.Options{Path: url}).Close() //nolint:errcheck // checked below
		rawPostgres(t, url, append([]string{`set search_path to chainexplorer_control`}, statements...)...)
		return url
	}
	other := onServer.empty(t)
	rawPostgres(t, other, `create schema chainexplorer_control`, `create table chainexplorer_control.recipes (name text)`)
	// Tables elsewhere in the database are nobody's business.
	beside := onServer.empty(t)
	rawPostgres(t, beside, `create table recipes (name text)`)
	open(t, control.Options{Path: beside})
	for _, c := range []struct {
		name string
		o    control.Options
		want string
	}{
		{"newer schema", control.Options{Path: made(`insert into schema_migration (version_id, is_applied) values (99, true)`)}, "its schema has version 99"},
		{"damaged secret", control.Options{Path: made(`update secret set value = 'abc'`)}, "secret key_digest is damaged"},
		{"lost secret", control.Options{Path: made(`delete from secret`, `insert into workspace (id, name, plan, created_at) values ('w', 'w', 'free', 0)`,
			`insert into api_key (id, public_id, workspace_id, digest, label, environment, scopes, secret_hint, created_at) values ('a','b','w','d','l','live','read','h',0)`)},
			"missing although there are 1 API keys"},
		{"another program's", control.Options{Path: other}, "tables of another program"},
		{"behind a pooler", control.Options{Path: pgtest.Pooler(t, onServer.empty(t))}, "a pooler in between ignores them"},
		{"must exist", control.Options{Path: onServer.empty(t), MustExist: true}, "there is no control database"},
		{"nobody listens", control.Options{Path: "postgres://u:hunter2@127.0.0.1:1/db"}, "127.0.0.1"},
		{"bad address", control.Options{Path: "postgres://u:hunter2@[::1/db"}, "its address cannot be read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			db, err := control.Open(t.Context(), c.o)
			if err == nil {
				db.Close() //nolint:errcheck // fails anyway
				t.Fatal("opened")
			}
			if !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("error %q lacks %q, or has the password", err, c.want)
			}
		})
	}
}

// testOneWriter: an update of one process waits for that of another.
func testOneWriter(t *testing.T) {
	path := onServer.made(t)
	one, two := open(t, control.Options{Path: path}), open(t, control.Options{Path: path})
	err := one.Update(t.Context(), func(*sql.Tx) error {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		err := two.Update(ctx, func(*sql.Tx) error {
			t.Error("two writers at once")
			return nil
		})
		if err == nil || ctx.Err() == nil {
			t.Errorf("the second writer did not wait: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	note(t, two, "after")
}

// TestBothKindsHaveTheSameMigrations: what one kind of database gets, the other gets too.
func TestBothKindsHaveTheSameMigrations(t *testing.T) {
	list := func(kind string) []string {
		files, err := fs.Glob(os.DirFS("migrations"), kind+"/*.sql")
		if err != nil || len(files) == 0 {
			t.Fatal(files, err)
		}
		for i, f := range files {
			files[i] = filepath.Base(f)
		}
		return files
	}
	if a, b := list("sqlite"), list("postgres"); !slices.Equal(a, b) {
		t.Errorf("migrations %v and %v", a, b)
	}
}
