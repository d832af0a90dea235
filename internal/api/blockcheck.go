package api

import (
	"context"

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
// after the other, and begins again at the end.
type Audit struct {
	NextBlockNumber  uint64  `json:"nextBlockNumber" doc:"The block that it recomputes next; those before it were recomputed in this pass."`
	CompletedPasses  uint64  `json:"completedPasses" doc:"How often it came to the finalized block."`
	VerifiedBlocks   uint64  `json:"verifiedBlocks" doc:"Recomputed blocks that agree with their hashes, of all passes together."`
	UnprovedBlocks   uint64  `json:"unprovedBlocks" doc:"Blocks that could not be held against their hashes, of all passes together."`
	Mismatches       uint64  `json:"mismatches" doc:"How often a block of the index contradicted its hash."`
	FalseBlockNumber *uint64 `json:"falseBlockNumber" doc:"A block of the index that contradicts its hash; null when none is known. Nothing is repaired."`
	ObservedAt       string  `json:"observedAt" format:"date-time" doc:"When it last recomputed a block."`
}

// auditOf tells what the auditor found, and calls an index degraded of which it
// knows a false block.
func auditOf(ctx context.Context, r store.Reader, out *Status) error {
	s, some, err := audit.Read(ctx, r)
	if err != nil || !some {
		return err
	}
	a := &Audit{NextBlockNumber: s.Next, CompletedPasses: s.Passes, VerifiedBlocks: s.Verified, UnprovedBlocks: s.Unproved,
		Mismatches: s.Mismatches, ObservedAt: timestampISO(s.At)}
	if s.False {
		a.FalseBlockNumber = &s.Block
		code := "audit"
		if out.Indexing.Status != "degraded" {
			out.Indexing = Indexing{Status: "degraded", ReasonCode: &code, Reason: &s.Reason}
		}
	}
	out.Verification.Audit = a
	return nil
}
