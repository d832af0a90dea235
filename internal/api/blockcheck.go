package api

import (
	"context"
	"time"

	"chainexplorer/internal/explorer/audit"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/store"
)

// BlockVerification is what is known of a block's data being what its hash covers.
type BlockVerification struct {
	Status     string   `json:"status" enum:"verified,unverified,not_checked,unknown" doc:"verified: the block's hash was recomputed from its data and agrees. unverified: it could be shown neither to agree nor to differ, for the reason given. not_checked: it was not recomputed. unknown: the index does not say."`
	Reason     *string  `json:"reason" doc:"Why the block is unverified."`
	Covered    []string `json:"covered" doc:"Parts of the block that its hash proves; empty unless verified."`
	NotCovered []string `json:"notCovered" doc:"Parts that the hash says nothing about: the node's word. Empty unless verified."`
}

// verificationOf tells what is recorded of a block.
func verificationOf(ctx context.Context, r store.Reader, number uint64) (BlockVerification, error) {
	f, err := chain.FindingAt(ctx, r, number)
	if err != nil {
		return BlockVerification{}, err
	}
	out := BlockVerification{Status: f.Outcome.String(), Covered: []string{}, NotCovered: []string{}}
	switch f.Outcome {
	case chain.Verified:
		out.Covered, out.NotCovered = f.Rules.Covered(), f.Rules.Uncovered()
	case chain.Unverified:
		out.Reason = &f.Reason
	}
	return out, nil
}

// Audit is what the auditor has covered: it recomputes the finalized blocks one
// after the other, holds samples against a node, and begins again at the end.
type Audit struct {
	Status                 string         `json:"status" enum:"current,stale,mismatch" doc:"current: it found nothing and looked within the hour. stale: it has not looked for longer. mismatch: something contradicts the index."`
	CoveredFromBlock       uint64         `json:"coveredFromBlock" doc:"The first block that it ever looked at."`
	CoveredThroughBlock    uint64         `json:"coveredThroughBlock" doc:"The last block that it ever looked at."`
	NextBlockNumber        uint64         `json:"nextBlockNumber" doc:"The block that it looks at next; those before it were looked at in this pass."`
	CompletedPasses        uint64         `json:"completedPasses" doc:"How often it came to the finalized block."`
	VerifiedBlocks         uint64         `json:"verifiedBlocks" doc:"Recomputed blocks that agree with their hashes, of all passes together."`
	UnprovedBlocks         uint64         `json:"unprovedBlocks" doc:"Blocks that could not be held against their hashes, of all passes together."`
	SamplesChecked         AuditedSamples `json:"samplesChecked" doc:"Samples that agree with a node at their block, of all passes together."`
	UnansweredSamples      uint64         `json:"unansweredSamples" doc:"Samples that no node could tell of."`
	UnqualifiedDifferences uint64         `json:"unqualifiedDifferences" doc:"Balances that differ of tokens whose transfers nobody found to tell all: no mismatch, because the index does not claim them."`
	Mismatches             uint64         `json:"mismatches" doc:"How often something contradicted the index."`
	LastMismatch           *AuditMismatch `json:"lastMismatch" doc:"What contradicts the index; null when nothing is known to. Nothing is repaired."`
	ObservedAt             string         `json:"observedAt" format:"date-time" doc:"When it last looked at a block."`
}

// AuditedSamples counts samples by kind.
type AuditedSamples struct {
	Balances    uint64 `json:"balances" doc:"Balances, as the token's contract tells them."`
	ClassHashes uint64 `json:"classHashes" doc:"Classes that contracts had."`
	Nonces      uint64 `json:"nonces" doc:"Nonces that senders had."`
	Classes     uint64 `json:"classes" doc:"Declared classes that exist."`
}

// AuditMismatch is what contradicts the index.
type AuditMismatch struct {
	BlockNumber uint64 `json:"blockNumber" doc:"The block at which the index is contradicted."`
	Kind        string `json:"kind" enum:"block,balance,class_hash,nonce,class" doc:"What differs: the block from its hash, or a sample from what a node says."`
	Reason      string `json:"reason" doc:"In what it differs."`
}

// auditStale is how long an audit counts as one that goes on.
const auditStale = time.Hour

// auditOf tells what the auditor found, and calls an index degraded that is known
// to be contradicted.
func auditOf(ctx context.Context, r store.Reader, now time.Time, out *Status) error {
	s, some, err := audit.Read(ctx, r)
	if err != nil || !some {
		return err
	}
	a := &Audit{Status: "current", CoveredThroughBlock: s.Through, NextBlockNumber: s.Next, CompletedPasses: s.Passes,
		VerifiedBlocks: s.Checked[audit.Blocks], UnprovedBlocks: s.Unproved,
		SamplesChecked:    AuditedSamples{s.Checked[audit.Balances], s.Checked[audit.ClassHashes], s.Checked[audit.Nonces], s.Checked[audit.Classes]},
		UnansweredSamples: s.Unanswered, UnqualifiedDifferences: s.Unqualified, Mismatches: s.Mismatches, ObservedAt: timestampISO(s.At)}
	if now.Unix()-int64(s.At) > int64(auditStale.Seconds()) {
		a.Status = "stale"
	}
	if s.False {
		a.Status, a.LastMismatch = "mismatch", &AuditMismatch{s.Block, s.Kind.String(), s.Reason}
		code := "audit"
		if out.Indexing.Status != "degraded" {
			out.Indexing = Indexing{Status: "degraded", ReasonCode: &code, Reason: &s.Reason}
		}
	}
	out.Verification.Audit = a
	return nil
}
