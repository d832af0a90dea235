package standing_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"chainexplorer/internal/control/controltest"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/verification/job"
	"chainexplorer/internal/verification/keyring"
	"chainexplorer/internal/verification/revocation"
	"chainexplorer/internal/verification/standing"
)

func TestOlderDocumentOnFile(t *testing.T) { testOlderDocument(t, controltest.File(t)) }

func TestOlderDocumentOnPostgres(t *testing.T) {
	if raced {
		t.Skip("sequential and long: run without the race detector")
	}
	testOlderDocument(t, controltest.Server(t))
}

// testOlderDocument: a trust document from before a revocation that is put back makes the key good again for nobody: not
// for the process that saw the other one, nor for one that is started later or never saw it, nor under another id.
func testOlderDocument(t *testing.T, path string) {
	w := newWorld(t, path)
	class := felt.FromUint64
	w.Receipt(t, class(1), 7, class(70))
	first := w.Key
	var err error
	if w.Key, err = w.ring.Rotate(keyring.New{ID: "second"}, time.Hour); err != nil {
		t.Fatal(err)
	}
	w.Receipt(t, class(2), 8, class(80))
	older, err := os.ReadFile(first.Trust)
	if err != nil {
		t.Fatal(err)
	}
	if got := w.told(t); got != "1:1 2:1" {
		t.Fatalf("%q counts", got)
	}
	other := func(trust string) *world {
		return &world{Receipts: standing.New(standing.Options{Jobs: w.Maker.Jobs, Chain: job.Chain, Trust: trust, Revoked: revocation.New(w.db, nil), Now: w.Maker.Now})}
	}
	elsewhere := t.TempDir() + "/trust.json"
	if err := os.WriteFile(elsewhere, older, 0o600); err != nil {
		t.Fatal(err)
	}
	behind := other(elsewhere) // on a machine whose copy nobody changes
	if got := behind.told(t); got != "1:1 2:1" {
		t.Fatalf("elsewhere %q counts", got)
	}
	if _, err := w.ring.Revoke("first"); err != nil {
		t.Fatal(err)
	}
	if got := w.told(t); got != "2:1" {
		t.Fatalf("revoked: %q counts", got)
	}
	if got := behind.told(t); got != "2:1" {
		t.Errorf("where the copy of the document is older %q counts", got)
	}
	renamed := strings.ReplaceAll(string(older), `"first"`, `"third"`)
	for _, text := range []string{string(older), renamed} {
		if err := os.WriteFile(first.Trust, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if got := w.told(t); got != "2:1" {
				t.Errorf("with the older document %q counts", got)
			}
		}
		if got := other(first.Trust).told(t); got != "2:1" {
			t.Errorf("after a restart with the older document %q counts", got)
		}
	}
	for _, key := range []string{"first", "third"} {
		if n := strings.Count(w.logs.String(), key+" stays revoked"); n != 1 {
			t.Errorf("of %s the log tells %d times:\n%s", key, n, w.logs.String())
		}
	}
	entries, err := w.db.AuditLog(t.Context(), 100)
	if err != nil {
		t.Fatal(err)
	}
	noted := 0
	for _, e := range entries {
		if e.Action == "receipt_key.revoke" && e.Subject == "first" {
			noted++
		}
	}
	if noted != 1 {
		t.Errorf("the audit log has it %d times", noted)
	}
	if _, err := w.db.Reader().Exec(`DELETE FROM receipt_key_revocation`); err == nil {
		t.Error("a reader forgets a revocation")
	}
}
