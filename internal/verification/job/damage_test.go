package job

import (
	"database/sql"
	"errors"
	"strings"
	"testing"
	"time"
)

// testDamagedRows: a package that is not the one that was written is found when it is read,
// also where it is still a package. Nobody builds it, its owner is told, and neither the list
// of jobs nor those that wait behind it, nor what is due, stops for it.
func testDamagedRows(t *testing.T, at place) {
	for name, text := range map[string]string{
		"no package":    `REPLACE(package, '"', '!')`,
		"another class": `REPLACE(package, '0x', '0x1')`,
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, at, 3, Standard)
			_, p := tree(t, 9, 10)
			first, waiting, early := b.queue(t, 0, "first"), b.queue(t, 1, "waiting"), b.create(t, 2, "early", p)
			damage := func(id string) {
				t.Helper()
				if err := b.db.Update(t.Context(), func(tx *sql.Tx) error {
					_, err := tx.Exec(`UPDATE verification_job SET package = `+text+` WHERE id = $1`, id)
					return err
				}); err != nil {
					t.Fatal(err)
				}
			}
			damage(first.ID)
			damage(early.ID)
			var damaged *DamageError
			if _, err := b.View(t.Context(), b.workspaces[0], Chain, first.ID); !errors.As(err, &damaged) || !strings.Contains(err.Error(), first.ID) {
				t.Errorf("seen as %v", err)
			}
			list, err := b.List(t.Context(), "", 10)
			if err != nil || len(list) != 3 {
				t.Fatalf("listed %v, %v", list, err)
			}
			for _, j := range list {
				if want := j.ID != waiting.ID; (j.Damage != nil) != want || (j.Package == nil) != want {
					t.Errorf("listed %+v", j)
				}
			}
			if w := b.claim(t); w.ID != waiting.ID {
				t.Errorf("claimed %s", w.ID)
			}
			if w, err := b.Claim(t.Context(), Chain, "w1", time.Minute); w != nil || err != nil {
				t.Errorf("claimed %v, %v", w, err)
			}
			if list, err := b.List(t.Context(), Failed, 10); err != nil || len(list) != 1 || list[0].ID != first.ID || list[0].Failure.Code != DispatchFailed || !list[0].Failure.Retryable {
				t.Errorf("ended %+v, %v", list, err)
			}
			b.clock.advance(25 * time.Hour)
			if done, err := b.Tidy(t.Context()); err != nil || done.Expired != 1 || done.Deleted != 2 {
				t.Errorf("tidied %+v, %v", done, err)
			}
			b.ready(t)
			b.create(t, 0, "again", p)
		})
	}
}

// testDamagedMeanwhile: what is damaged while it is built is not admitted, and ends.
func testDamagedMeanwhile(t *testing.T, at place) {
	b := newBench(t, at, 1, Standard)
	j := b.queue(t, 0, "k")
	w := b.claim(t)
	if err := b.Compare(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	if err := b.db.Update(t.Context(), func(tx *sql.Tx) error {
		_, err := tx.Exec(`UPDATE verification_job SET package_digest = REPLACE(package_digest, 'sha256:', 'sha256;') WHERE id = $1`, j.ID)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	var damaged *DamageError
	if err := b.Admit(t.Context(), w, b.signed(t, w), nil); !errors.As(err, &damaged) {
		t.Errorf("admitted: %v", err)
	}
	b.clock.advance(2 * time.Minute)
	if n, err := b.Recover(t.Context(), Chain, time.Minute); n != 1 || err != nil {
		t.Errorf("recovered %d, %v", n, err)
	}
	b.ready(t)
	if w, err := b.Claim(t.Context(), Chain, "w1", time.Minute); w != nil || err != nil {
		t.Errorf("claimed %v, %v", w, err)
	}
	if list, err := b.List(t.Context(), Failed, 10); err != nil || len(list) != 1 {
		t.Errorf("ended %v, %v", list, err)
	}
}

// TestUnreadableRow: a row of which nothing but its id can be read is listed by that, and
// is passed over by whoever works. PostgreSQL keeps values of other kinds out of its columns.
func TestUnreadableRow(t *testing.T) {
	b := newBench(t, onFile, 2, Standard)
	first, waiting := b.queue(t, 0, "first"), b.queue(t, 1, "waiting")
	if err := b.db.Update(t.Context(), func(tx *sql.Tx) error {
		_, err := tx.Exec(`UPDATE verification_job SET attempts = 'many' WHERE id = $1`, first.ID)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if list, err := b.List(t.Context(), "", 10); err != nil || len(list) != 2 || (list[0].Damage == nil) == (list[1].Damage == nil) {
		t.Errorf("listed %v, %v", list, err)
	}
	if w := b.claim(t); w.ID != waiting.ID {
		t.Errorf("claimed %s", w.ID)
	}
	b.clock.advance(25 * time.Hour)
	if done, err := b.Tidy(t.Context()); err == nil || !strings.Contains(err.Error(), first.ID) || done.Deleted != 1 {
		t.Errorf("tidied %+v, %v", done, err)
	}
}
