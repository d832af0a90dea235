package api

import "chainexplorer/internal/explorer/chain"

// StatusAgreement is how far nodes agree with the index.
type StatusAgreement struct {
	Quorum            uint64          `json:"quorum" doc:"How many nodes must have a block before it is called finalized."`
	AgreedBlockNumber *uint64         `json:"agreedBlockNumber" doc:"Newest block that so many nodes had; null while there is none."`
	ObservedAt        *string         `json:"observedAt" format:"date-time" doc:"When the nodes were last asked; null before that."`
	Tiers             []TierAgreement `json:"tiers" doc:"What they said of the newest block of each tier."`
}

// TierAgreement is what nodes say of one block.
type TierAgreement struct {
	Tier        string `json:"tier" enum:"head,finalized,accepted_l1" doc:"Finality tier; head is the newest indexed block."`
	BlockNumber uint64 `json:"blockNumber" doc:"Newest block of the tier when the nodes were asked."`
	Agreeing    uint64 `json:"agreeing" doc:"Nodes that have the indexed block."`
	Differing   uint64 `json:"differing" doc:"Nodes that have another block."`
	Configured  uint64 `json:"configured" doc:"Nodes in all; those that lag or do not answer neither agree nor differ."`
}

var agreementTiers = map[chain.Finality]string{chain.AcceptedL2: "head", chain.Finalized: "finalized", chain.AcceptedL1: "accepted_l1"}

// agreementOf is nil while no quorum is wanted.
func agreementOf(state *chain.State) *StatusAgreement {
	next, all := state.AgreedNext()
	if all {
		return nil
	}
	out := &StatusAgreement{Quorum: state.Agreed.Quorum, Tiers: []TierAgreement{}}
	if next > 0 {
		newest := next - 1
		out.AgreedBlockNumber = &newest
	}
	if at := state.Agreed.At; !at.IsZero() {
		out.ObservedAt = some(instantISO(at))
	}
	for _, t := range state.Agreed.Tiers {
		out.Tiers = append(out.Tiers, TierAgreement{agreementTiers[t.Tier], t.Number, t.Agree, t.Differ, t.Asked})
	}
	return out
}
