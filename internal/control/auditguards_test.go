package control_test

import (
	"database/sql"
	"slices"
	"strings"
	"testing"
	"time"

	"chainexplorer/internal/control"
)

// testSwallowedAudit: what cannot be written into the log does not happen.
func testSwallowedAudit(t *testing.T, at place) {
	path := at.made(t)
	db := open(t, control.Options{Path: path})
	note(t, db, "one")
	if control.IsAddress(path) {
		rawPostgres(t, path, `set search_path to chainexplorer_control`, `CREATE FUNCTION swallow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END; $$`,
			`CREATE TRIGGER swallow BEFORE INSERT ON audit FOR EACH ROW EXECUTE FUNCTION swallow()`)
	} else {
		raw(t, path, `CREATE TRIGGER swallow BEFORE INSERT ON audit BEGIN SELECT RAISE(IGNORE); END`)
	}
	err := db.Update(t.Context(), func(tx *sql.Tx) error {
		return db.Audit(t.Context(), tx, control.AuditEntry{At: time.Unix(1, 0), Actor: "a", Action: "key.create", Subject: "s"})
	})
	if err == nil || !strings.Contains(err.Error(), "audit verify") {
		t.Errorf("an entry that was not written: %v", err)
	}
	if r := verifyAudit(t, db, nil); !r.Intact || r.Entries != 1 {
		t.Errorf("%+v", r)
	}
}

// testAuditGuards: a trigger that is there under its name and does something else is told
// from the one that this program made, however it came there.
func testAuditGuards(t *testing.T, at place) {
	const stays, next = "audit_head_stays", "audit_next_only"
	for _, c := range []struct {
		name             string
		sqlite, postgres []string
		missing, changed []string // postgres has further ones where its functions are shared
	}{
		{name: "nothing"},
		{name: "switched off or taken away",
			sqlite: []string{`DROP TRIGGER ` + stays}, postgres: []string{`ALTER TABLE audit_head DISABLE TRIGGER ` + stays}, missing: []string{stays}},
		{name: "another body",
			sqlite: []string{`DROP TRIGGER ` + next, `CREATE TRIGGER ` + next + ` BEFORE INSERT ON audit WHEN NEW.seq IS NOT (SELECT seq + 1 FROM audit_head WHERE one = 1)
				BEGIN SELECT 'RAISE(ABORT'; END`},
			postgres: []string{`CREATE OR REPLACE FUNCTION audit_takes_the_next() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END; $$`}, changed: []string{next}},
		{name: "another condition",
			sqlite: []string{`DROP TRIGGER ` + stays, `CREATE TRIGGER ` + stays + ` BEFORE DELETE ON audit_head WHEN OLD.seq < 0 BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END`},
			postgres: []string{`DROP TRIGGER ` + stays + ` ON audit_head`,
				`CREATE TRIGGER ` + stays + ` BEFORE DELETE ON audit_head FOR EACH ROW WHEN (OLD.seq < 0) EXECUTE FUNCTION audit_is_append_only()`}, changed: []string{stays}},
		{name: "another event",
			sqlite: []string{`DROP TRIGGER ` + stays, `CREATE TRIGGER ` + stays + ` BEFORE INSERT ON audit_head BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END`},
			postgres: []string{`DROP TRIGGER ` + stays + ` ON audit_head`,
				`CREATE TRIGGER ` + stays + ` BEFORE INSERT ON audit_head FOR EACH ROW EXECUTE FUNCTION audit_is_append_only()`}, changed: []string{stays}},
		{name: "made again as it was",
			sqlite: []string{`DROP TRIGGER ` + stays, `CREATE TRIGGER ` + stays + ` BEFORE DELETE ON audit_head
BEGIN
    SELECT RAISE(ABORT, 'the audit log is append-only');
END`},
			postgres: []string{`DROP TRIGGER ` + stays + ` ON audit_head`,
				`CREATE TRIGGER ` + stays + ` BEFORE DELETE ON audit_head FOR EACH ROW EXECUTE FUNCTION audit_is_append_only()`}},
		{name: "one more, which swallows entries",
			sqlite: []string{`CREATE TRIGGER swallow BEFORE INSERT ON audit WHEN NEW.action LIKE 'key.%' BEGIN SELECT RAISE(IGNORE); END`},
			postgres: []string{`CREATE FUNCTION swallow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END; $$`,
				`CREATE TRIGGER swallow BEFORE INSERT ON audit FOR EACH ROW WHEN (NEW.action LIKE 'key.%') EXECUTE FUNCTION swallow()`}, changed: []string{"swallow"}},
		{name: "a rule, which swallows them too",
			postgres: []string{`CREATE RULE swallow AS ON INSERT TO audit WHERE NEW.action LIKE 'key.%' DO INSTEAD NOTHING`}, changed: []string{"swallow"}},
		{name: "a function of the same name elsewhere",
			postgres: []string{`CREATE SCHEMA elsewhere`, `CREATE FUNCTION elsewhere.audit_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the audit log is append-only';
END;
$$`, `DROP TRIGGER ` + stays + ` ON audit_head`, `CREATE TRIGGER ` + stays + ` BEFORE DELETE ON audit_head FOR EACH ROW EXECUTE FUNCTION elsewhere.audit_is_append_only()`}, changed: []string{stays}},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			path := at.made(t)
			db := open(t, control.Options{Path: path})
			note(t, db, "one")
			if control.IsAddress(path) {
				rawPostgres(t, path, append([]string{`set search_path to chainexplorer_control`}, c.postgres...)...)
			} else if raw(t, path, c.sqlite...); c.sqlite == nil {
				c.changed = nil
			}
			r := verifyAudit(t, db, nil)
			if !r.Intact || !slices.Equal(r.MissingGuards, append([]string{}, c.missing...)) || !slices.Equal(r.ChangedGuards, append([]string{}, c.changed...)) {
				t.Errorf("missing %v, changed %v, want %v and %v", r.MissingGuards, r.ChangedGuards, c.missing, c.changed)
			}
		})
	}
}
