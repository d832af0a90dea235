package api

import "chainexplorer/internal/explorer/chain"

// RowTier says how settled the block of a row is, and what makes it so.
type RowTier struct {
	SourceTier      string  `json:"sourceTier" enum:"head,finalized" doc:"finalized up to finalizedBlockNumber of the status, and above it only where L1 has accepted the block."`
	SourceTierBasis *string `json:"sourceTierBasis" enum:"l1_acceptance,finality_depth" doc:"What finalized rests on: L1 has accepted the block, or it is only deep enough below the head, where a fork is rare. Null for head."`
}

// tierOf is the tier of an indexed block. Whoever needs more than depth waits for
// the basis to become L1.
func tierOf(c *Chain, state *chain.State, number uint64) RowTier {
	switch state.Finality(number, c.Depth) {
	case chain.AcceptedL1:
		return RowTier{"finalized", some("l1_acceptance")}
	case chain.Finalized:
		return RowTier{"finalized", some("finality_depth")}
	}
	return RowTier{SourceTier: "head"}
}
