package standing_test

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"chainexplorer/internal/account"
	"chainexplorer/internal/control"
	"chainexplorer/internal/control/controltest"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/store/postgres/pgtest"
	"chainexplorer/internal/verification/job"
	"chainexplorer/internal/verification/keyring"
	"chainexplorer/internal/verification/logproof"
	"chainexplorer/internal/verification/receipt"
	"chainexplorer/internal/verification/revocation"
	"chainexplorer/internal/verification/standing"
	"chainexplorer/internal/verification/standing/standingtest"
	"chainexplorer/internal/verification/withdrawal"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// world is a control database with receipts, a key folder, and what counts.
type world struct {
	standingtest.Maker
	*standing.Receipts
	ring *keyring.Ring
	logs bytes.Buffer
	now  time.Time
	db   *control.DB
}

func newWorld(t *testing.T, path string) *world {
	t.Helper()
	w := &world{now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	now := func() time.Time { return w.now }
	db, err := control.Open(t.Context(), control.Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() }) //nolint:errcheck // the test is over
	space, err := account.NewRepository(db, account.Options{}).CreateWorkspace(t.Context(), "acme", account.Free)
	if err != nil {
		t.Fatal(err)
	}
	w.db, w.ring = db, &keyring.Ring{Dir: t.TempDir(), Now: now}
	made, err := w.ring.Create(keyring.New{ID: "first"}, "")
	if err != nil {
		t.Fatal(err)
	}
	limits := job.Standard
	limits.PerDay = 1000
	w.Maker = standingtest.Maker{Jobs: job.New(db, job.Options{Now: now, Limits: limits}), Workspace: space.ID, Key: made, Now: now}
	w.Receipts = standing.New(standing.Options{Jobs: w.Maker.Jobs, Chain: job.Chain, Trust: made.Trust, Revoked: revocation.New(db, now), Withdrawn: withdrawal.New(db, now), Now: now, Logger: slog.New(slog.NewTextHandler(&w.logs, nil))})
	return w
}

// told refreshes and lists how many receipts count of each class.
func (w *world) told(t *testing.T) string {
	t.Helper()
	w.Refresh(t.Context())
	var list []string
	for i := range uint64(10) {
		if n := len(w.Known().Classes[felt.FromUint64(i)]); n > 0 {
			list = append(list, fmt.Sprintf("%d:%d", i, n))
		}
	}
	return strings.Join(list, " ")
}

func TestOnFile(t *testing.T) { testCounting(t, controltest.File(t)) }

func TestOnPostgres(t *testing.T) {
	if raced {
		t.Skip("the goroutines of a shorter test: run without the race detector")
	}
	testCounting(t, controltest.Server(t))
}

// testCounting: receipts count as soon as they are there, in whatever order they come, and
// as long as their key does.
func testCounting(t *testing.T, path string) {
	w := newWorld(t, path)
	want := func(what, list string) {
		t.Helper()
		before := w.Known().Version
		was := fmt.Sprint(w.Known().Classes)
		if got := w.told(t); got != list {
			t.Fatalf("%s: %q counts, want %q\n%s", what, got, list, w.logs.String())
		}
		if changed := fmt.Sprint(w.Known().Classes) != was; changed != (w.Known().Version > before) {
			t.Errorf("%s: changed %t, from version %d to %d", what, changed, before, w.Known().Version)
		}
		again := w.Known()
		if w.told(t); w.Known() != again {
			t.Errorf("%s: another version, and nothing happened", what)
		}
	}
	class := felt.FromUint64
	want("nothing", "")
	first := w.Receipt(t, class(1), 7, class(70))
	want("one", "1:1")
	p := w.Known().Classes[class(1)][0]
	entry, err := logproof.Entry(first)
	if err != nil {
		t.Fatal(err)
	}
	if p.Digest != fmt.Sprintf("sha256:%x", entry) || !p.Issued.Equal(w.now) || p.Declared.Number != 7 || p.Declared.Hash != class(70) {
		t.Errorf("it proves %+v", p)
	}

	// The second number is signed after the third.
	late := w.Compare(t, class(2))
	other := w.Maker
	space, err := account.NewRepository(w.db, account.Options{}).CreateWorkspace(t.Context(), "other", account.Free)
	if err != nil {
		t.Fatal(err)
	}
	other.Workspace = space.ID
	other.Receipt(t, class(3), 8, class(80))
	want("the third", "1:1 3:1")
	w.Admit(t, late, 8, class(80))
	want("the second behind it", "1:1 2:1 3:1")
	w.now = w.now.Add(time.Minute)
	w.Receipt(t, class(1), 7, class(70))
	want("another of the first class", "1:2 2:1 3:1")
	if list := w.Known().Classes[class(1)]; list[0] != p {
		t.Errorf("the first of several is %+v", list[0])
	}

	// A key that the document does not name yet.
	document, err := os.ReadFile(w.Key.Trust)
	if err != nil {
		t.Fatal(err)
	}
	if w.Key, err = w.ring.Rotate(keyring.New{ID: "second"}, time.Hour); err != nil {
		t.Fatal(err)
	}
	rotated, err := os.ReadFile(w.Key.Trust)
	if err != nil {
		t.Fatal(err)
	}
	write := func(text []byte) {
		t.Helper()
		if err := os.WriteFile(w.Key.Trust, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(document)
	w.Receipt(t, class(4), 9, class(90))
	w.Receipt(t, class(1), 7, class(70))
	want("a key that is not trusted yet", "1:2 2:1 3:1")
	write(rotated)
	want("and then is", "1:3 2:1 3:1 4:1")

	// Somebody else's key under the id of one that is trusted.
	ours := w.Key
	if w.Key, err = (&keyring.Ring{Dir: t.TempDir(), Now: w.ring.Now}).Create(keyring.New{ID: "second"}, ""); err != nil {
		t.Fatal(err)
	}
	w.Receipt(t, class(5), 9, class(90))
	w.Key = ours
	want("a forged one", "1:3 2:1 3:1 4:1")

	// Whoever writes the document badly has nothing told, and the log tells once.
	write(rotated[:len(rotated)/2])
	want("half a document", "")
	if n := strings.Count(w.logs.String(), "no class is called verified"); n != 1 {
		t.Errorf("told %d times:\n%s", n, w.logs.String())
	}
	if err := os.Remove(w.Key.Trust); err != nil {
		t.Fatal(err)
	}
	want("no document", "")
	write(rotated)
	want("the document again", "1:3 2:1 3:1 4:1")

	// The first key is revoked: whatever it signed is void, before and after.
	if _, err := w.ring.Revoke("first"); err != nil {
		t.Fatal(err)
	}
	want("revoked", "1:1 4:1")
	// The database is of no concern for what was read before.
	if err := w.db.Close(); err != nil {
		t.Fatal(err)
	}
	want("without the database", "1:1 4:1")
	if _, err := w.ring.Revoke("second"); err != nil {
		t.Fatal(err)
	}
	want("all revoked, without the database", "")
}

// TestValidity: a key vouches for what it signed while it was valid, and nobody for the
// future until it comes.
func TestValidity(t *testing.T) {
	w := newWorld(t, filepath.Join(t.TempDir(), "control.db"))
	now := w.Maker.Now
	w.Maker.Now = func() time.Time { return now().Add(time.Hour) }
	w.Receipt(t, felt.FromUint64(1), 1, felt.FromUint64(1))
	w.Maker.Now = now
	if got := w.told(t); got != "" {
		t.Errorf("from the future: %q", got)
	}
	w.now = w.now.Add(time.Hour)
	if got := w.told(t); got != "1:1" {
		t.Errorf("when it is time: %q", got)
	}
	if _, err := w.ring.Rotate(keyring.New{ID: "second"}, time.Minute); err != nil {
		t.Fatal(err)
	}
	w.now = w.now.Add(time.Hour)
	w.Receipt(t, felt.FromUint64(2), 1, felt.FromUint64(1)) // by the key that has expired
	if got := w.told(t); got != "1:1" {
		t.Errorf("after the key expired: %q", got)
	}
}

// TestMany: more receipts than one refresh takes in are there after a few, each once.
func TestMany(t *testing.T) {
	if raced {
		t.Skip("sequential and long: run without the race detector")
	}
	const n = 1700 // more than the numbers that are looked at at once
	w := newWorld(t, filepath.Join(t.TempDir(), "control.db"))
	late := w.Compare(t, felt.FromUint64(1)) // number 1
	private, err := keyring.ReadPrivate(w.Key.Path)
	if err != nil {
		t.Fatal(err)
	}
	e := receipt.Evidence{ChainID: job.Chain, ClassHash: "0x2", Verification: receipt.VerifiedExact, SourceArchiveDigest: late.Package.UploadDigest, ToolchainPolicyID: receipt.ToolchainPolicy,
		CandidateDigest: late.Package.UploadDigest, Declaration: receipt.Declaration{BlockHash: "0x1", TransactionHash: "0x2", CompiledClassHash: "0x3"},
		ProofScope: receipt.ProofScope, NotProofOf: receipt.NotProofOf, IssuedAt: w.now.Format(time.RFC3339)}
	err = w.db.Update(t.Context(), func(tx *sql.Tx) error {
		for i := range uint64(n) {
			e.ReceiptID, e.JobID = 2+i, fmt.Sprintf("vrf_%024d", i)
			signed, err := receipt.Sign(e, w.Key.Key.ID, private)
			if err != nil {
				return err
			}
			text, err := json.Marshal(signed)
			if err != nil {
				return err
			}
			if _, err := tx.Exec(`INSERT INTO verification_job (id, workspace_id, chain_id, idempotency_key, package, package_digest, state, active, upload_bytes, upload_expires_at, created_at, updated_at)
				SELECT $1, workspace_id, chain_id, $1, package, package_digest, 'succeeded', 0, 0, 0, 0, 0 FROM verification_job WHERE id = $2`, e.JobID, late.ID); err != nil {
				return err
			}
			if _, err := tx.Exec(`INSERT INTO verification_receipt (receipt_id, job_id, chain_id, class_hash, document, created_at) VALUES ($1, $2, $3, '0x2', $4, 0)`, 2+i, e.JobID, job.Chain, string(text)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	count := func() int { return len(w.Known().Classes[felt.FromUint64(2)]) }
	w.Refresh(t.Context())
	if first := count(); first == 0 || first == n {
		t.Errorf("one refresh took in %d", first)
	}
	for range n { // a slow machine takes in a page at a time
		if w.Refresh(t.Context()); count() == n {
			break
		}
	}
	if all := count(); all != n {
		t.Fatalf("%d of %d count", all, n)
	}
	if w.logs.Len() > 0 {
		t.Errorf("trouble: %s", w.logs.String())
	}
}
