// Package standingtest makes receipts for tests as jobs do, without a build: a job goes
// through all its states, and what it ends with is signed by a real key.
package standingtest

import (
	"fmt"
	"testing"
	"time"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/verification/job"
	"chainexplorer/internal/verification/keyring"
	"chainexplorer/internal/verification/receipt"
	"chainexplorer/internal/verification/sample"
)

// Maker makes receipts in a control database.
type Maker struct {
	Jobs      *job.Repo
	Workspace string
	Key       keyring.Made
	Now       func() time.Time

	made int
}

// Create makes a job about a class that waits for its source.
func (m *Maker) Create(t testing.TB, class felt.Felt) *job.Job {
	t.Helper()
	_, p, err := sample.Archive()
	if err != nil {
		t.Fatal(err)
	}
	p.SelectedClassHash = class.String()
	m.made++
	if err := m.Jobs.Announce(t.Context(), job.Chain, "w", ""); err != nil {
		t.Fatal(err)
	}
	j, _, err := m.Jobs.Create(t.Context(), job.Request{Actor: "key", WorkspaceID: m.Workspace, Chain: job.Chain, IdempotencyKey: fmt.Sprintf("%s-%d", m.Key.Key.ID, m.made), Package: p})
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// Compare brings a new job about a class to where only its receipt is missing.
func (m *Maker) Compare(t testing.TB, class felt.Felt) *job.Work {
	t.Helper()
	data, _, err := sample.Archive()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Jobs.Upload(t.Context(), "key", m.Create(t, class), data, nil); err != nil {
		t.Fatal(err)
	}
	w, err := m.Jobs.Claim(t.Context(), job.Chain, "w", time.Minute)
	if err != nil || w == nil {
		t.Fatalf("claim: %v, %v", w, err)
	}
	if err := m.Jobs.Compare(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	return w
}

// Admit ends a job with a receipt that names a block as that of the declaration.
func (m *Maker) Admit(t testing.TB, w *job.Work, number uint64, hash felt.Felt) *receipt.Receipt {
	t.Helper()
	private, err := keyring.ReadPrivate(m.Key.Path)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := receipt.Sign(receipt.Evidence{
		JobID: w.ID, ChainID: w.Chain, ClassHash: w.Package.SelectedClassHash, ReceiptID: w.ReceiptID, Verification: receipt.VerifiedExact,
		SourceArchiveDigest: w.Package.UploadDigest, ToolchainPolicyID: receipt.ToolchainPolicy, CandidateDigest: w.Package.UploadDigest,
		Declaration: receipt.Declaration{BlockNumber: number, BlockHash: hash.String(), TransactionHash: "0x2", CompiledClassHash: "0x3"},
		ProofScope:  receipt.ProofScope, NotProofOf: receipt.NotProofOf, IssuedAt: m.Now().UTC().Format(time.RFC3339),
	}, m.Key.Key.ID, private)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Jobs.Admit(t.Context(), w, signed, nil); err != nil {
		t.Fatal(err)
	}
	return signed
}

// Receipt makes one of a class.
func (m *Maker) Receipt(t testing.TB, class felt.Felt, number uint64, hash felt.Felt) *receipt.Receipt {
	t.Helper()
	return m.Admit(t, m.Compare(t, class), number, hash)
}
