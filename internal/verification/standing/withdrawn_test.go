package standing_test

import (
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"chainexplorer/internal/control/controltest"
	"chainexplorer/internal/explorer/proof"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/verification/job"
	"chainexplorer/internal/verification/keyring"
	"chainexplorer/internal/verification/logproof"
	"chainexplorer/internal/verification/receipt"
	"chainexplorer/internal/verification/signer"
	"chainexplorer/internal/verification/standing"
	"chainexplorer/internal/verification/translog"
	"chainexplorer/internal/verification/withdrawal"
)

func TestWithdrawnOnFile(t *testing.T) { testWithdrawn(t, controltest.File(t)) }

// TestManyWithdrawn takes back more than one transaction does.
func TestManyWithdrawn(t *testing.T) {
	if raced {
		t.Skip("sequential and long: run without the race detector")
	}
	w := newWorld(t, controltest.File(t))
	const many = 105
	for range many {
		w.built(t, 5, "cairo-2.9.0")
	}
	w.built(t, 6, "cairo-2.9.1")
	done, err := withdrawal.New(w.db, w.Maker.Now).Withdraw(t.Context(), withdrawal.Selection{Toolchain: "cairo-2.9.0"}, "why")
	if err != nil || len(done) != many {
		t.Fatalf("%d withdrawn: %v", len(done), err)
	}
	if got := w.told(t); got != "6:1" {
		t.Errorf("%q counts", got)
	}
}

// TestWithdrawnAfterRestore: a control database that is given back from before a withdrawal
// gets the next ones at places that were passed already. Who runs on learns of them all the
// same, and what was withdrawn before stays so.
func TestWithdrawnAfterRestore(t *testing.T) {
	w := newWorld(t, controltest.File(t))
	var jobs []string
	for class := range uint64(4) {
		jobs = append(jobs, w.built(t, class+1, "").Evidence.JobID)
	}
	book := withdrawal.New(w.db, w.Maker.Now)
	take := func(i int) {
		t.Helper()
		if _, err := book.Withdraw(t.Context(), withdrawal.Selection{Jobs: jobs[i : i+1]}, "why"); err != nil {
			t.Fatal(err)
		}
	}
	run := func(queries ...string) {
		t.Helper()
		if err := w.db.Update(t.Context(), func(tx *sql.Tx) error {
			for _, q := range queries {
				if _, err := tx.Exec(q); err != nil {
					return fmt.Errorf("%s: %w", q, err)
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	run(`CREATE TABLE before AS SELECT * FROM receipt_log_hash`, `DROP TRIGGER receipt_withdrawal_no_delete`, `DROP TRIGGER receipt_log_leaf_no_delete`, `DROP TRIGGER receipt_log_hash_no_delete`)
	restore := func() {
		t.Helper()
		run(`DELETE FROM receipt_withdrawal`, `DELETE FROM receipt_log_leaf WHERE place >= 4`, `DELETE FROM receipt_log_hash`, `INSERT INTO receipt_log_hash SELECT * FROM before`, `UPDATE receipt_log_head SET size = 4`)
	}
	take(0)
	take(1)
	if got := w.told(t); got != "3:1 4:1" {
		t.Fatalf("%q counts", got)
	}
	restore()
	if got := w.told(t); got != "3:1 4:1" {
		t.Errorf("after going back %q counts", got)
	}
	take(2)
	if got := w.told(t); got != "4:1" {
		t.Errorf("withdrawn at a place that was passed: %q counts", got)
	}
	restore()
	w.now = w.now.Add(time.Second)
	take(3) // at the very place of the last that is known
	if got := w.told(t); got != "" {
		t.Errorf("withdrawn at the same place: %q counts", got)
	}
}

func TestWithdrawnOnPostgres(t *testing.T) {
	if raced {
		t.Skip("sequential and long: run without the race detector")
	}
	testWithdrawn(t, controltest.Server(t))
}

// built makes a receipt of a class that a compiler built.
func (w *world) built(t *testing.T, class uint64, toolchain string) *receipt.Receipt {
	t.Helper()
	work := w.Compare(t, felt.FromUint64(class))
	work.Toolchain = toolchain
	return w.Admit(t, work, class, felt.FromUint64(class))
}

// testWithdrawn: a receipt that was withdrawn counts no more, for good and in every process,
// and those beside it do. The log proves it.
func testWithdrawn(t *testing.T, path string) {
	w := newWorld(t, path)
	book := withdrawal.New(w.db, w.Maker.Now)
	w.built(t, 1, "cairo-2.8.0")
	second := w.built(t, 2, "cairo-2.9.0")
	third := w.built(t, 3, "cairo-2.9.0")
	fourth := w.built(t, 4, "") // of before it was noted
	if got := w.told(t); got != "1:1 2:1 3:1 4:1" {
		t.Fatalf("%q counts", got)
	}
	if _, err := book.Withdraw(t.Context(), withdrawal.Selection{Jobs: []string{fourth.Evidence.JobID, "vrf_none"}}, "why"); !errors.Is(err, withdrawal.ErrNone) {
		t.Fatalf("a job that is not there: %v", err)
	}
	if got := w.told(t); got != "1:1 2:1 3:1 4:1" {
		t.Fatalf("%q counts after a refusal", got)
	}
	if all, err := book.Toolchains(t.Context()); err != nil || fmt.Sprint(all) != "map[:1 cairo-2.8.0:1 cairo-2.9.0:2]" {
		t.Errorf("built by %v (%v)", all, err)
	}

	done, err := book.Withdraw(t.Context(), withdrawal.Selection{Jobs: []string{fourth.Evidence.JobID}, Toolchain: "cairo-2.9.0"}, "it miscompiles loops")
	if err != nil || len(done) != 3 {
		t.Fatalf("withdrawn %+v: %v", done, err)
	}
	if got := w.told(t); got != "1:1" {
		t.Errorf("%q counts", got)
	}
	takenBack(t, w.Known(), map[uint64]*receipt.Receipt{2: second, 3: third, 4: fourth}, w.now)
	if again, err := book.Withdraw(t.Context(), withdrawal.Selection{Toolchain: "cairo-2.9.0"}, "once more"); err != nil || len(again) != 0 {
		t.Errorf("withdrawn once more %+v: %v", again, err)
	}
	later := standing.New(standing.Options{Jobs: w.Maker.Jobs, Chain: job.Chain, Trust: w.Key.Trust, Withdrawn: book, Now: w.Maker.Now})
	if got := (&world{Receipts: later}).told(t); got != "1:1" {
		t.Errorf("after a restart %q counts", got)
	}
	takenBack(t, later.Known(), map[uint64]*receipt.Receipt{2: second, 3: third, 4: fourth}, w.now)
	w.built(t, 2, "cairo-2.9.1")
	if got := w.told(t); got != "1:1 2:1" {
		t.Errorf("verified anew: %q counts", got)
	}

	// Its owner sees why, and the receipt stays what it was.
	j, err := w.Maker.Jobs.View(t.Context(), w.Workspace, job.Chain, second.Evidence.JobID)
	if err != nil || j.State != job.Succeeded || j.Withdrawn == nil || !j.Withdrawn.Equal(w.now) || j.WithdrawnReason != "it miscompiles loops" {
		t.Errorf("the job is %+v (%v)", j, err)
	}
	if text, err := w.Maker.Jobs.Receipt(t.Context(), w.Workspace, job.Chain, second.Evidence.JobID); err != nil || !strings.Contains(string(text), second.Signature) {
		t.Errorf("the receipt is %s (%v)", text, err)
	}
	for _, q := range []string{`DELETE FROM receipt_withdrawal`, `UPDATE receipt_withdrawal SET receipt_id = 1`} {
		if _, err := w.db.Reader().Exec(q); err == nil {
			t.Errorf("%s: done", q)
		}
	}
	entries, err := w.db.AuditLog(t.Context(), 100)
	if err != nil {
		t.Fatal(err)
	}
	noted := 0
	for _, e := range entries {
		if e.Action == "receipt.withdraw" && strings.HasSuffix(e.Detail, "it miscompiles loops") {
			noted++
		}
	}
	if noted != 3 {
		t.Errorf("the audit log has %d", noted)
	}
	provesWithdrawal(t, w, second)
}

// takenBack: it is known of which classes receipts were withdrawn, of no others, and when.
func takenBack(t *testing.T, known *proof.Known, want map[uint64]*receipt.Receipt, at time.Time) {
	t.Helper()
	if len(known.Withdrawn) != len(want) {
		t.Errorf("receipts of %d classes were withdrawn, not %d", len(known.Withdrawn), len(want))
	}
	for class, r := range want {
		entry, err := logproof.Entry(r)
		if err != nil {
			t.Fatal(err)
		}
		if got := known.Withdrawn[felt.FromUint64(class)]; got.Count != 1 || !got.At.Equal(at) || got.Digest != logproof.Digest(entry) {
			t.Errorf("of class %d is known %+v", class, got)
		}
	}
}

// provesWithdrawal looks for a withdrawal in the log as the documents say it is computed.
func provesWithdrawal(t *testing.T, w *world, r *receipt.Receipt) {
	t.Helper()
	keys, err := (&keyring.Ring{Dir: t.TempDir(), Now: w.Maker.Now}).Create(keyring.New{ID: "other"}, "log.example/receipts")
	if err != nil {
		t.Fatal(err)
	}
	s, err := signer.Open(signer.Options{Keys: []string{keys.Path}, Now: w.Maker.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close() //nolint:errcheck // a test's
	public, _, err := keyring.ReadLogPublic(keys.LogPath)
	if err != nil {
		t.Fatal(err)
	}
	log := translog.New(w.db, public)
	if _, err := log.Publish(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	entry, err := logproof.Entry(r)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "service-receipt-withdrawal-v1 sha256:%x\n", entry))
	p, err := log.Prove(t.Context(), sum[:])
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.VerifyWithdrawal(r, public); err != nil {
		t.Error(err)
	}
	if _, err := p.Verify(r, public); err == nil {
		t.Error("a withdrawal passes for the receipt")
	}
	first, err := log.Prove(t.Context(), logproof.Withdrawal(entry[:31]))
	if !errors.Is(err, translog.ErrUnknown) {
		t.Errorf("another entry: %v, %v", first, err)
	}
}
