package control_test

import (
	"database/sql"
	"fmt"
	"strings"
	"sync"
	"testing"

	"chainexplorer/internal/control"
)

// behind works on a database past the program, with the triggers that guard the
// audit log out of the way.
func behind(t *testing.T, path string, statements ...string) {
	t.Helper()
	if !control.IsAddress(path) {
		drop := []string{}
		for _, name := range []string{"audit_no_update", "audit_no_delete", "audit_head_stays", "audit_head_grows", "audit_next_only", "audit_head_once"} {
			drop = append(drop, "DROP TRIGGER IF EXISTS "+name)
		}
		raw(t, path, append(drop, statements...)...)
		return
	}
	rawPostgres(t, path, append([]string{`set search_path to chainexplorer_control`,
		`alter table audit disable trigger all`, `alter table audit_head disable trigger all`}, statements...)...)
}

func verifyAudit(t *testing.T, db *control.DB, noted *control.AuditHead) control.AuditReport {
	t.Helper()
	r, err := db.VerifyAudit(t.Context(), noted)
	if err != nil {
		t.Fatal(err)
	}
	if r.Intact != (r.Broken == nil) {
		t.Errorf("report %+v", r)
	}
	return r
}

// testAuditChain: the first place where the log was tampered with is named.
func testAuditChain(t *testing.T, at place) {
	var noted control.AuditHead
	for _, c := range []struct {
		name     string
		tamper   []string
		sequence int64
		kind     string
		noted    bool
	}{
		{name: "nothing"},
		{name: "changed", tamper: []string{`UPDATE audit SET detail = 'x' WHERE seq = 3`, `UPDATE audit SET detail = 'x' WHERE seq = 5`}, sequence: 3, kind: control.AuditChanged},
		{name: "dated back", tamper: []string{`UPDATE audit SET at = at - 1 WHERE seq = 1`}, sequence: 1, kind: control.AuditChanged},
		{name: "moved between fields", tamper: []string{`UPDATE audit SET actor = 'ab', action = '' WHERE seq = 2`}, sequence: 2, kind: control.AuditChanged},
		{name: "removed", tamper: []string{`DELETE FROM audit WHERE seq = 4`}, sequence: 4, kind: control.AuditRemoved},
		{name: "first removed", tamper: []string{`DELETE FROM audit WHERE seq = 1`}, sequence: 1, kind: control.AuditRemoved},
		{name: "before the first", tamper: []string{`INSERT INTO audit (seq, at, actor, action, subject, detail, prev_hash, hash) SELECT -7, at, actor, action, subject, 'forged', prev_hash, 'x' FROM audit WHERE seq = 1`}, sequence: 1, kind: control.AuditAppended},
		{name: "reordered", tamper: []string{`UPDATE audit SET seq = 100 WHERE seq = 2`, `UPDATE audit SET seq = 2 WHERE seq = 3`, `UPDATE audit SET seq = 3 WHERE seq = 100`}, sequence: 2, kind: control.AuditChanged},
		{name: "truncated", tamper: []string{`DELETE FROM audit WHERE seq > 4`}, sequence: 5, kind: control.AuditTruncated},
		{name: "emptied", tamper: []string{`DELETE FROM audit`}, sequence: 1, kind: control.AuditTruncated},
		{name: "head gone", tamper: []string{`DELETE FROM audit_head`}, sequence: 1, kind: control.AuditTruncated},
		{name: "head set back", tamper: []string{`UPDATE audit_head SET seq = 4`}, sequence: 5, kind: control.AuditAppended},
		{name: "last replaced", tamper: []string{`UPDATE audit_head SET hash = 'x'`}, sequence: 6, kind: control.AuditReplaced},
		// Who cuts the log and sets the head back is found by a head that was noted.
		{name: "cut with the head", tamper: []string{`DELETE FROM audit WHERE seq > 4`,
			`UPDATE audit_head SET seq = 4, hash = (SELECT hash FROM audit WHERE seq = 4)`}},
		{name: "cut with the head, noted", tamper: []string{`DELETE FROM audit WHERE seq > 4`,
			`UPDATE audit_head SET seq = 4, hash = (SELECT hash FROM audit WHERE seq = 4)`}, sequence: 5, kind: control.AuditTruncated, noted: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := at.made(t)
			db := open(t, control.Options{Path: path})
			for i := range 6 {
				note(t, db, fmt.Sprint(i))
			}
			before := verifyAudit(t, db, nil)
			if !before.Intact || before.Entries != 6 || before.Head.Sequence != 6 || len(before.Head.Hash) != 64 || len(before.MissingGuards) != 0 {
				t.Fatalf("an untouched log: %+v", before)
			}
			behind(t, path, c.tamper...)
			var with *control.AuditHead
			if c.noted {
				with = &before.Head
			}
			r := verifyAudit(t, db, with)
			if c.kind == "" {
				if !r.Intact {
					t.Errorf("%+v", r.Broken)
				}
				if len(r.MissingGuards) < 6 { // behind took them away
					t.Errorf("missing are %v", r.MissingGuards)
				}
				return
			}
			if r.Intact || r.Broken.Sequence != c.sequence || r.Broken.Kind != c.kind || r.Head.Sequence > r.Broken.Sequence {
				t.Errorf("%+v, want %s at %d", r.Broken, c.kind, c.sequence)
			}
			noted = before.Head
		})
	}
	// A log that was written anew is whole, and is not the one whose head was noted.
	db := open(t, control.Options{Path: at.made(t)})
	for i := range 8 {
		note(t, db, fmt.Sprint("other ", i))
	}
	if r := verifyAudit(t, db, nil); !r.Intact {
		t.Errorf("%+v", r.Broken)
	}
	if r := verifyAudit(t, db, &noted); r.Intact || r.Broken.Kind != control.AuditRewritten || r.Broken.Sequence != 6 {
		t.Errorf("a log written anew: %+v", r.Broken)
	}
}

// testAuditIsAppendOnly: the database itself refuses to change an entry.
func testAuditIsAppendOnly(t *testing.T, at place) {
	path := at.made(t)
	db := open(t, control.Options{Path: path})
	note(t, db, "one")
	note(t, db, "two")
	statements := []string{
		`UPDATE audit SET detail = 'x'`, `DELETE FROM audit`, `DELETE FROM audit_head`,
		`UPDATE audit_head SET seq = 1`, `UPDATE audit_head SET hash = 'x'`,
		`INSERT INTO audit SELECT seq, at, actor, action, subject, 'x', prev_hash, hash FROM audit WHERE seq = 2`,
		`INSERT INTO audit SELECT 7, at, actor, action, subject, 'x', prev_hash, hash FROM audit WHERE seq = 2`,
		`INSERT INTO audit_head VALUES (1, 9, '')`,
	}
	if control.IsAddress(path) {
		statements = append(statements, `TRUNCATE audit`, `TRUNCATE audit_head`)
	} else { // which deletes rows past the triggers on deleting
		statements = append(statements, `REPLACE INTO audit_head VALUES (1, 1, 'x')`,
			`REPLACE INTO audit SELECT seq, at, actor, action, subject, 'x', prev_hash, hash FROM audit WHERE seq = 2`)
	}
	for _, s := range statements {
		err := db.Update(t.Context(), func(tx *sql.Tx) error { _, err := tx.Exec(s); return err })
		if err == nil || !strings.Contains(err.Error(), "append-only") {
			t.Errorf("%s: %v", s, err)
		}
	}
	if got := subjects(t, db); got != "two one" || !verifyAudit(t, db, nil).Intact {
		t.Errorf("the log holds %q", got)
	}
	// Who takes a guard of the receipts or of their log away is told of, too.
	if control.IsAddress(path) {
		rawPostgres(t, path, `set search_path to chainexplorer_control`, `alter table receipt_log_leaf disable trigger receipt_log_leaf_no_change`, `drop trigger verification_receipt_no_change on verification_receipt`)
	} else {
		raw(t, path, `DROP TRIGGER receipt_log_leaf_no_update`, `DROP TRIGGER verification_receipt_no_delete`)
	}
	if r := verifyAudit(t, db, nil); !r.Intact || len(r.MissingGuards) != 2 || !strings.HasPrefix(r.MissingGuards[0], "receipt_log_leaf_no_") || !strings.HasPrefix(r.MissingGuards[1], "verification_receipt_no_") {
		t.Errorf("missing are %v", r.MissingGuards)
	}
}

// testAuditByManyAtOnce: two processes write one chain.
func testAuditByManyAtOnce(t *testing.T, at place) {
	path := at.made(t)
	processes := []*control.DB{open(t, control.Options{Path: path}), open(t, control.Options{Path: path})}
	var wg sync.WaitGroup
	for _, db := range processes {
		for range 3 {
			wg.Go(func() {
				for range 5 {
					note(t, db, "x")
				}
			})
		}
	}
	wg.Wait()
	if r := verifyAudit(t, processes[0], nil); !r.Intact || r.Entries != 30 {
		t.Errorf("%+v, %+v", r, r.Broken)
	}
}

// testChainsTheOldLog: entries from before the log was a chain are in it afterwards,
// also when the process ended between the two steps.
func testChainsTheOldLog(t *testing.T, at place) {
	path := at.made(t)
	db := open(t, control.Options{Path: path})
	note(t, db, "first")
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	old := []string{`CREATE TABLE audit_before (id TEXT NOT NULL PRIMARY KEY, at BIGINT NOT NULL, actor TEXT NOT NULL,
		action TEXT NOT NULL, subject TEXT NOT NULL, detail TEXT NOT NULL)`}
	const entries = 2345 // more than two pages, several at one time
	values := []string{}
	for i := range entries {
		values = append(values, fmt.Sprintf(`('%06d', %d, 'operator', 'key.create', 's%d', '')`, i, i/3, i))
	}
	old = append(old, `INSERT INTO audit_before VALUES `+strings.Join(values, ","))
	behind(t, path, old...)
	db = open(t, control.Options{Path: path})
	r := verifyAudit(t, db, nil)
	if !r.Intact || r.Entries != entries+1 {
		t.Fatalf("%+v, %+v", r, r.Broken)
	}
	log, err := db.AuditLog(t.Context(), entries)
	if err != nil {
		t.Fatal(err)
	}
	for i, l := range log {
		if want := fmt.Sprint("s", entries-1-i); l.Subject != want || l.Sequence != int64(entries+1-i) {
			t.Fatalf("entry %d is %+v, want %s", i, l, want)
		}
	}
	note(t, db, "last")
	if r := verifyAudit(t, db, nil); !r.Intact || r.Entries != entries+2 {
		t.Errorf("%+v", r)
	}
}

func TestAuditHeadText(t *testing.T) {
	h := control.AuditHead{Sequence: 12, Hash: strings.Repeat("ab", 32)}
	if got, err := control.ParseAuditHead(h.String()); err != nil || got != h {
		t.Errorf("%v, %v", got, err)
	}
	for _, text := range []string{"", "12", "12:", ":ab", "0:" + h.Hash, "-1:" + h.Hash, "12:abcd", "x:" + h.Hash, "12:" + strings.Repeat("zz", 32)} {
		if _, err := control.ParseAuditHead(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}
