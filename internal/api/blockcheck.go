package api

import (
	"context"
	"time"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/audit"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/kernel"
)

// BlockVerification is what is known of a block's data being what its hash covers.
type BlockVerification struct {
	Status     string   `json:"status" enum:"verified,unverified,not_checked,unknown" doc:"verified: the block's hash was recomputed from its data and agrees. unverified: it could be shown neither to agree nor to differ, for the reason given. not_checked: it was not recomputed. unknown: the index does not say."`
	Reason     *string  `json:"reason" doc:"Why the block is unverified."`
	Covered    []string `json:"covered" doc:"Parts of the block that its hash proves; empty unless verified."`
	NotCovered []string `json:"notCovered" doc:"Parts that the hash says nothing about: the node's word. Empty unless verified."`
}

// verificationOf tells what is recorded of a block.
func verificationOf(ctx context.Context, r explorer.Reader, number uint64) (BlockVerification, error) {
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
	Status                 string          `json:"status" enum:"current,stale,disputed,mismatch,damaged" doc:"current: it found nothing and looked within the hour. stale: it has not looked for longer. disputed: a node contradicts the index and another agrees with it. mismatch: something contradicts the index. damaged: a part of the index cannot be read."`
	CoveredFromBlock       uint64          `json:"coveredFromBlock" doc:"The first block that it ever looked at."`
	CoveredThroughBlock    uint64          `json:"coveredThroughBlock" doc:"The last block that it ever looked at."`
	NextBlockNumber        uint64          `json:"nextBlockNumber" doc:"The block that it looks at next; those before it were looked at in this pass."`
	CompletedPasses        uint64          `json:"completedPasses" doc:"How often it came to the finalized block."`
	VerifiedBlocks         uint64          `json:"verifiedBlocks" doc:"Recomputed blocks that agree with their hashes, of all passes together."`
	UnprovedBlocks         uint64          `json:"unprovedBlocks" doc:"Blocks that could not be held against their hashes, of all passes together."`
	SamplesChecked         AuditedSamples  `json:"samplesChecked" doc:"Samples that agree with a node at their block, of all passes together."`
	UnansweredSamples      uint64          `json:"unansweredSamples" doc:"Samples that no node could tell of."`
	UnqualifiedDifferences uint64          `json:"unqualifiedDifferences" doc:"Balances that differ of tokens whose transfers nobody found to tell all: no mismatch, because the index does not claim them."`
	Mismatches             uint64          `json:"mismatches" doc:"How often something contradicted the index."`
	LastMismatch           *AuditMismatch  `json:"lastMismatch" doc:"The lowest block at which something contradicts the index, those that are disputed aside; null when nothing is known to. Nothing is repaired."`
	Findings               []AuditMismatch `json:"findings" doc:"All blocks at which something contradicts the index as far as is known, disputed ones too: the lowest 64."`
	FindingsOmitted        uint64          `json:"findingsOmitted" doc:"How often this pass found more than findings has room for."`
	ObservedAt             string          `json:"observedAt" format:"date-time" doc:"When it last looked at a block."`
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
	Standing    string `json:"standing" enum:"false,one_node,disputed,damaged" doc:"How sure it is. false: the block's hash proves it, or two nodes say so and none agrees with the index. one_node: the word of one node, and there was no other to ask. disputed: another node agrees with the index. damaged: what is stored cannot be read."`
	Reason      string `json:"reason" doc:"In what it differs."`
}

// auditStale is how long an audit counts as one that goes on.
const auditStale = time.Hour

// auditOf tells what the auditor found, and calls an index degraded that is known
// to be contradicted.
func auditOf(ctx context.Context, r explorer.Reader, now time.Time, out *Status) error {
	s, some, err := audit.Read(ctx, r)
	if explorer.Damaged(err) {
		return nil // the auditor says so and begins anew: nothing is known of before
	}
	if err != nil || !some {
		return err
	}
	a := &Audit{Status: "current", CoveredThroughBlock: s.Through, NextBlockNumber: s.Next, CompletedPasses: s.Passes,
		VerifiedBlocks: s.Checked[audit.Blocks], UnprovedBlocks: s.Unproved,
		SamplesChecked:    AuditedSamples{s.Checked[audit.Balances], s.Checked[audit.ClassHashes], s.Checked[audit.Nonces], s.Checked[audit.Classes]},
		UnansweredSamples: s.Unanswered, UnqualifiedDifferences: s.Unqualified, Mismatches: s.Mismatches, ObservedAt: kernel.TimestampISO(s.At)}
	if now.Unix()-int64(s.At) > int64(auditStale.Seconds()) {
		a.Status = "stale"
	}
	a.Findings, a.FindingsOmitted = make([]AuditMismatch, len(s.Findings)), s.Omitted
	for i, f := range s.Findings {
		a.Findings[i] = AuditMismatch{f.Block, f.Kind.String(), f.Standing.String(), f.Reason}
	}
	if worst, found := s.Worst(); found {
		a.Status = auditWords[worst.Standing]
		if worst.Counts() {
			code, reason := ReasonAudit, auditReason(&worst)
			a.LastMismatch = &AuditMismatch{worst.Block, worst.Kind.String(), worst.Standing.String(), worst.Reason}
			if out.Indexing.Status != "degraded" {
				out.Indexing = Indexing{Status: "degraded", ReasonCode: &code, Reason: &reason}
			}
		}
	}
	out.Verification.Audit = a
	return nil
}

// ReasonAudit is why an index is degraded that the auditor found to be contradicted.
const ReasonAudit = "audit"

var auditWords = map[audit.Standing]string{audit.Proved: "mismatch", audit.OneWord: "mismatch", audit.Disputed: "disputed", audit.Damaged: "damaged"}

// auditReason says also whose word it is.
func auditReason(f *audit.Finding) string {
	if f.Standing == audit.OneWord {
		return f.Reason + " (the word of one node; no other could be asked)"
	}
	return f.Reason
}
