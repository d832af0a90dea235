package api

import (
	"context"

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
