package standing

import (
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"chainexplorer/internal/explorer/proof"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/verification/receipt"
)

// benchTrust has one key, of which there is the private part.
func benchTrust() (*receipt.Trust, ed25519.PrivateKey) {
	private := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	return &receipt.Trust{Keys: []receipt.Key{{ID: "k", PublicKey: private.Public().(ed25519.PublicKey)}}}, private
}

// BenchmarkRead is what a receipt costs once.
func BenchmarkRead(b *testing.B) {
	trust, private := benchTrust()
	const digest = "sha256:0000000000000000000000000000000000000000000000000000000000000000"
	signed, err := receipt.Sign(receipt.Evidence{JobID: "vrf_aaaaaaaaaaaaaaaaaaaaaaaa", ChainID: "SN_MAIN", ClassHash: "0x1", ReceiptID: 1, Verification: receipt.VerifiedExact,
		SourceArchiveDigest: digest, ToolchainPolicyID: receipt.ToolchainPolicy, CandidateDigest: digest,
		Declaration: receipt.Declaration{BlockNumber: 1, BlockHash: "0x1", TransactionHash: "0x2", CompiledClassHash: "0x3"},
		ProofScope:  receipt.ProofScope, NotProofOf: receipt.NotProofOf, IssuedAt: "2026-03-01T12:00:00Z"}, "k", private)
	if err != nil {
		b.Fatal(err)
	}
	text, err := json.Marshal(signed)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		c, err := parse(1, "SN_MAIN", text)
		if err != nil {
			b.Fatal(err)
		}
		if c.attribute(trust); c.key == nil {
			b.Fatal("it is not signed")
		}
	}
}

// BenchmarkJudge is what a change of the trust document costs.
func BenchmarkJudge(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			trust, _ := benchTrust()
			s := New(Options{})
			s.trust = trust
			for i := range n {
				s.claims = append(s.claims, claim{number: uint64(i), class: felt.FromUint64(uint64(i)), keyID: "k", key: trust.Keys[0].PublicKey,
					Proof: proof.Proof{Digest: "sha256:0000000000000000000000000000000000000000000000000000000000000000", Issued: time.Unix(1, 0).UTC()}})
			}
			for b.Loop() {
				s.judged = false
				if s.judge(); len(s.Known().Classes) != n {
					b.Fatal("they do not count")
				}
			}
			b.ReportMetric(float64(n), "receipts")
		})
	}
}
