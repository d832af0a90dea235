package verification

import (
	"context"
	"crypto/ed25519"
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"chainexplorer/internal/account"
	"chainexplorer/internal/control"
	"chainexplorer/internal/store/postgres/pgtest"
	"chainexplorer/internal/verification/job"
	"chainexplorer/internal/verification/receipt"
	"chainexplorer/internal/verification/sample"
)

// databases are the two kinds of a control database.
var databases = []struct {
	name string
	at   func(testing.TB) string
}{
	{"sqlite", func(t testing.TB) string { return filepath.Join(t.TempDir(), "control.db") }},
	{"postgres", func(t testing.TB) string { return pgtest.New(t, pgtest.Options{Durable: true}).URL() }},
}

// desk is a control database with jobs, and workspaces that may create any number.
func desk(b *testing.B, path string, workspaces int) (*control.DB, *account.Repository, *job.Repo, []account.Workspace) {
	b.Helper()
	db, err := control.Open(b.Context(), control.Options{Path: path})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { db.Close() }) //nolint:errcheck // a benchmark
	accounts := account.NewRepository(db, account.Options{})
	var spaces []account.Workspace
	for i := range workspaces {
		w, err := accounts.CreateWorkspace(b.Context(), fmt.Sprintf("w%d", i), account.Enterprise)
		if err != nil {
			b.Fatal(err)
		}
		spaces = append(spaces, w)
	}
	limits := job.Standard
	limits.PerDay, limits.WorkerSilent = 1<<30, 24*time.Hour
	jobs := job.New(db, job.Options{Limits: limits})
	if err := jobs.Announce(b.Context(), job.Chain, "w", ""); err != nil {
		b.Fatal(err)
	}
	return db, accounts, jobs, spaces
}

var signingKey = ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))

// BenchmarkQueue is what a job costs the control database from its creation to its receipt: create, upload,
// claim, compare and admit, which are seven transactions, each on disk and in the audit log. In turn with it, one
// transaction that changes one row; "of-transaction" is the whole against that one. Times are medians.
func BenchmarkQueue(b *testing.B) {
	data, p, err := sample.Archive()
	if err != nil {
		b.Fatal(err)
	}
	for _, kind := range databases {
		b.Run(kind.name, func(b *testing.B) {
			db, _, jobs, spaces := desk(b, kind.at(b), 1)
			var whole, bare []time.Duration
			n := 0
			for b.Loop() {
				n++
				start := time.Now()
				work := func(ctx context.Context) error {
					j, _, err := jobs.Create(ctx, job.Request{Actor: "key", WorkspaceID: spaces[0].ID, Chain: job.Chain, IdempotencyKey: fmt.Sprint(n), Package: p})
					if err != nil {
						return err
					}
					if _, err := jobs.Upload(ctx, "key", j, data, nil); err != nil {
						return err
					}
					w, err := jobs.Claim(ctx, job.Chain, "w", time.Minute)
					if err != nil {
						return err
					}
					if err := jobs.Compare(ctx, w); err != nil {
						return err
					}
					signed, err := receipt.Sign(receipt.Evidence{JobID: w.ID, ChainID: w.Chain, ClassHash: p.SelectedClassHash, ReceiptID: w.ReceiptID, Verification: receipt.VerifiedExact,
						SourceArchiveDigest: p.UploadDigest, ToolchainPolicyID: receipt.ToolchainPolicy, CandidateDigest: p.UploadDigest,
						Declaration: receipt.Declaration{BlockNumber: 7, BlockHash: "0x1", TransactionHash: "0x2", CompiledClassHash: "0x3"},
						ProofScope:  receipt.ProofScope, NotProofOf: receipt.NotProofOf, IssuedAt: "2026-01-01T00:00:00Z"}, "k", signingKey)
					if err != nil {
						return err
					}
					return jobs.Admit(ctx, w, signed, nil)
				}
				if err := work(b.Context()); err != nil {
					b.Fatal(err)
				}
				whole = append(whole, time.Since(start))
				start = time.Now()
				err := db.Update(b.Context(), func(tx *sql.Tx) error {
					_, err := tx.ExecContext(b.Context(), `UPDATE verification_worker SET seen_at = seen_at + 1 WHERE chain_id = $1`, job.Chain)
					return err
				})
				if err != nil {
					b.Fatal(err)
				}
				bare = append(bare, time.Since(start))
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(micros(whole)/1e3, "job-ms")
			b.ReportMetric(micros(bare)/1e3, "transaction-ms")
			b.ReportMetric(micros(whole)/micros(bare), "of-transaction")
		})
	}
}
