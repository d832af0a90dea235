package signer_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"chainexplorer/internal/verification/keyring"
	"chainexplorer/internal/verification/receipt"
	"chainexplorer/internal/verification/signer"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// bench is a key folder with a clock that is moved by hand.
type bench struct {
	t    *testing.T
	at   time.Time
	ring *keyring.Ring
	keys []string
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{t: t, at: start}
	b.ring = &keyring.Ring{Dir: filepath.Join(t.TempDir(), "keys"), Now: b.now}
	m, err := b.ring.Create(keyring.New{ID: "a"}, "log.example/receipts")
	if err != nil {
		t.Fatal(err)
	}
	b.keys = []string{m.Path}
	return b
}

func (b *bench) now() time.Time { return b.at }

func (b *bench) journal() string { return filepath.Join(b.ring.Dir, signer.JournalFile) }

func (b *bench) open() *signer.Signer {
	b.t.Helper()
	s, err := signer.Open(signer.Options{Keys: b.keys, Now: b.now})
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { s.Close() }) //nolint:errcheck // a second time, perhaps
	return s
}

func (b *bench) evidence(id uint64) receipt.Evidence {
	return receipt.Evidence{
		JobID: "vrf_" + strings.Repeat("a", 24), ChainID: "SN_MAIN", ClassHash: "0xabc", ReceiptID: id, Verification: receipt.VerifiedExact,
		SourceArchiveDigest: "sha256:" + strings.Repeat("1a", 32), ToolchainPolicyID: receipt.ToolchainPolicy, CandidateDigest: "sha256:" + strings.Repeat("2b", 32),
		Declaration: receipt.Declaration{BlockNumber: 5, BlockHash: "0x1", TransactionHash: "0x2", CompiledClassHash: "0x3"},
		ProofScope:  receipt.ProofScope, NotProofOf: receipt.NotProofOf, IssuedAt: b.at.Format(time.RFC3339),
	}
}

// believed holds a receipt against the trust document.
func (b *bench) believed(r *receipt.Receipt) error {
	b.t.Helper()
	trust, err := keyring.ReadTrust(filepath.Join(b.ring.Dir, keyring.TrustFile))
	if err != nil {
		b.t.Fatal(err)
	}
	return trust.Verify(r, b.at)
}

func code(err error) signer.Code {
	var refused *signer.Refused
	if errors.As(err, &refused) {
		return refused.Code
	}
	return ""
}

func TestSign(t *testing.T) {
	b := newBench(t)
	s, e := b.open(), b.evidence(1)
	first, err := s.Sign(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.believed(first); err != nil {
		t.Error(err)
	}
	// The same again, also much later and by a new process.
	b.at = b.at.Add(time.Hour)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Sign(t.Context(), b.evidence(9)); err == nil {
		t.Error("a signer that was closed signs")
	}
	s = b.open()
	if again, err := s.Sign(t.Context(), e); err != nil || again.Signature != first.Signature || again.KeyID != first.KeyID {
		t.Errorf("the second time: %+v (%v)", again, err)
	}
	other := e
	other.ClassHash = "0xabd"
	if _, err := s.Sign(t.Context(), other); code(err) != signer.Reused {
		t.Errorf("other evidence under the same number: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Sign(ctx, b.evidence(2)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestSignRefuses(t *testing.T) {
	b := newBench(t)
	s := b.open()
	before, err := os.ReadFile(b.journal())
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func(*receipt.Evidence)
		want   signer.Code
	}{
		"another chain":        {func(e *receipt.Evidence) { e.ChainID = "SN_SEPOLIA" }, signer.WrongChain},
		"no chain":             {func(e *receipt.Evidence) { e.ChainID = "SN_OTHER" }, signer.Malformed},
		"too early":            {func(e *receipt.Evidence) { e.IssuedAt = b.at.Add(-6 * time.Minute).Format(time.RFC3339) }, signer.WrongTime},
		"too late":             {func(e *receipt.Evidence) { e.IssuedAt = b.at.Add(6 * time.Minute).Format(time.RFC3339) }, signer.WrongTime},
		"no time":              {func(e *receipt.Evidence) { e.IssuedAt = "now" }, signer.Malformed},
		"before its key":       {func(e *receipt.Evidence) { e.IssuedAt = b.at.Add(-time.Minute).Format(time.RFC3339) }, signer.NoValidKey},
		"no number":            {func(e *receipt.Evidence) { e.ReceiptID = 0 }, signer.Malformed},
		"a padded class":       {func(e *receipt.Evidence) { e.ClassHash = "0x0abc" }, signer.Malformed},
		"no class":             {func(e *receipt.Evidence) { e.ClassHash = "0x0" }, signer.Malformed},
		"another policy":       {func(e *receipt.Evidence) { e.ToolchainPolicyID = "service-exact-v24" }, signer.Malformed},
		"another scope":        {func(e *receipt.Evidence) { e.ProofScope = "all" }, signer.Malformed},
		"another result":       {func(e *receipt.Evidence) { e.Verification = "verified_external" }, signer.Malformed},
		"proof of more":        {func(e *receipt.Evidence) { e.NotProofOf = e.NotProofOf[1:] }, signer.Malformed},
		"no source":            {func(e *receipt.Evidence) { e.SourceArchiveDigest = "" }, signer.Malformed},
		"a bad candidate":      {func(e *receipt.Evidence) { e.CandidateDigest = "sha256:1" }, signer.Malformed},
		"a bad job":            {func(e *receipt.Evidence) { e.JobID = "job" }, signer.Malformed},
		"no declaration":       {func(e *receipt.Evidence) { e.Declaration = receipt.Declaration{} }, signer.Malformed},
		"a bad text (UTF-8)":   {func(e *receipt.Evidence) { e.JobID = "\xff" }, signer.Malformed},
		"a number too large":   {func(e *receipt.Evidence) { e.ReceiptID = 1 << 53 }, signer.Malformed},
		"a block's number, so": {func(e *receipt.Evidence) { e.Declaration.BlockNumber = 1 << 60 }, signer.Malformed},
	} {
		e := b.evidence(1)
		c.change(&e)
		if _, err := s.Sign(t.Context(), e); code(err) != c.want {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	if after, err := os.ReadFile(b.journal()); err != nil || string(after) != string(before) {
		t.Errorf("the journal changed: %q (%v)", after, err)
	}
	if _, err := s.Sign(t.Context(), b.evidence(1)); err != nil {
		t.Errorf("the number was used up: %v", err)
	}
}

func TestRotationAndRevocation(t *testing.T) {
	b := newBench(t)
	next, err := b.ring.Rotate(keyring.New{ID: "b", StartsIn: time.Hour}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	old := b.open()
	keyOf := func(s *signer.Signer, id uint64) string {
		t.Helper()
		r, err := s.Sign(t.Context(), b.evidence(id))
		if err != nil {
			return string(code(err))
		}
		if err := b.believed(r); err != nil {
			t.Error(err)
		}
		return r.KeyID
	}
	if got := keyOf(old, 1); got != "a" || old.Ready(t.Context()) != nil {
		t.Errorf("before: %s", got)
	}
	b.at = start.Add(time.Hour + time.Minute) // both are valid, and this one knows the old one
	if got := keyOf(old, 2); got != "a" {
		t.Errorf("in the overlap: %s", got)
	}
	old.Close() //nolint:errcheck // opened again
	b.keys = append(b.keys, next.Path)
	both := b.open()
	if got := keyOf(both, 3); got != "b" {
		t.Errorf("with both keys: %s", got)
	}
	// What was issued a moment before the next key became valid is signed with the one before,
	// which is valid for a while longer: the next one would not be believed.
	b.at = start.Add(time.Hour)
	late := b.evidence(30)
	late.IssuedAt = b.at.Add(-time.Second).Format(time.RFC3339)
	if r, err := both.Sign(t.Context(), late); err != nil || r.KeyID != "a" || b.believed(r) != nil {
		t.Errorf("issued before the rotation, signed after it: %+v (%v)", r, err)
	}
	both.Close() //nolint:errcheck // as above
	b.keys = b.keys[:1]
	b.at = start.Add(2 * time.Hour)
	old = b.open()
	if got := keyOf(old, 4); got != string(signer.NoValidKey) || code(old.Ready(t.Context())) != signer.NoValidKey {
		t.Errorf("an old key after its end: %s", got)
	}
	old.Close() //nolint:errcheck // as above
	b.keys = []string{b.keys[0], next.Path}
	both = b.open()
	r, err := both.Sign(t.Context(), b.evidence(5))
	if err != nil {
		t.Fatal(err)
	}
	older, err := os.ReadFile(filepath.Join(b.ring.Dir, keyring.TrustFile))
	if err != nil {
		t.Fatal(err)
	}
	// A running signer learns of a revocation with the next call.
	if _, err := b.ring.Revoke("b"); err != nil {
		t.Fatal(err)
	}
	if got := keyOf(both, 6); got != string(signer.NoValidKey) {
		t.Errorf("a revoked key: %s", got)
	}
	var refusal *receipt.Refusal
	if err := b.believed(r); !errors.As(err, &refusal) || refusal.Failure != receipt.KeyRevoked {
		t.Errorf("a receipt of the revoked key: %v", err)
	}
	// An older document that is put back changes nothing of that, nor does a restart.
	if err := os.WriteFile(filepath.Join(b.ring.Dir, keyring.TrustFile), older, 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got := keyOf(both, 7); got != string(signer.NoValidKey) || code(both.Ready(t.Context())) != signer.NoValidKey {
			t.Errorf("a revoked key with an older document: %s", got)
		}
		both.Close() //nolint:errcheck // opened again
		both = b.open()
	}
}

func TestOpenRefuses(t *testing.T) {
	b := newBench(t)
	s := b.open()
	if _, err := signer.Open(signer.Options{Keys: b.keys}); err == nil || !strings.Contains(err.Error(), "another signer") {
		t.Errorf("two signers on one journal: %v", err)
	}
	s.Close() //nolint:errcheck // opened again
	if _, err := signer.Open(signer.Options{}); err == nil {
		t.Error("no key")
	}
	if err := os.Chmod(b.keys[0], 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := signer.Open(signer.Options{Keys: b.keys}); err == nil || !strings.Contains(err.Error(), "by others") {
		t.Errorf("a key that all can read: %v", err)
	}
	if err := errors.Join(os.Chmod(b.keys[0], 0o600), os.Chmod(filepath.Join(b.ring.Dir, keyring.LogKeyFile), 0o640)); err != nil {
		t.Fatal(err)
	}
	if _, err := signer.Open(signer.Options{Keys: b.keys}); err == nil || !strings.Contains(err.Error(), "by others") {
		t.Errorf("a log key that others can read: %v", err)
	}
}
