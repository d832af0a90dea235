package api

import (
	"context"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/explorer/identity"
	"chainexplorer/internal/felt"
)

// AddressIntelligence is what a wallet shows beside an address.
type AddressIntelligence struct {
	Address     felt.Felt `json:"address"`
	Known       bool      `json:"known" doc:"False when the index has no trace of the address and nobody named it."`
	Label       *string   `json:"label" doc:"A name that somebody vouches for; never what a contract calls itself."`
	LabelSource *string   `json:"labelSource" enum:"indexed_protocol_registry,curated_known_token_metadata" doc:"The operator's own labels count as the registry's."`
	AddressKind
	Protocol               *Protocol             `json:"protocol"`
	IsDeployed             bool                  `json:"isDeployed"`
	ClassHash              *felt.Felt            `json:"classHash" doc:"The newest indexed class, or that of the deployment."`
	CurrentClassHash       *felt.Felt            `json:"currentClassHash"`
	DeploymentClassHash    *felt.Felt            `json:"deploymentClassHash"`
	ClassHashSource        *string               `json:"classHashSource" enum:"state_diff_deployed_contract,state_diff_replaced_class,node_class_hash_at"`
	ClassHashAsOfBlock     *uint64               `json:"classHashAsOfBlock" doc:"The block whose state diff set the class."`
	ClassHashAsOfBlockHash *felt.Felt            `json:"classHashAsOfBlockHash"`
	ClassHashFinality      *string               `json:"classHashFinality" enum:"finalized" doc:"Null while that block is not finalized."`
	IsAccount              *bool                 `json:"isAccount" doc:"Null when it is not known."`
	CreatedOnISO           *string               `json:"createdOnIso" format:"date-time" doc:"Time of the deployment's block."`
	DeployedAtTxHash       *felt.Felt            `json:"deployedAtTxHash"`
	DeployedByAddress      *felt.Felt            `json:"deployedByAddress"`
	DeploymentProvenance   *DeploymentProvenance `json:"deploymentProvenance"`
	HasReceivedFunds       bool                  `json:"hasReceivedFunds" doc:"The address is the recipient of an indexed token transfer."`
	LatestActivityBlock    *uint64               `json:"latestActivityBlock"`
	TotalActivityCount     *uint64               `json:"totalActivityCount" doc:"As in the address's summary: reverted transactions count, too."`
	ActivityCountExact     *bool                 `json:"activityCountExact" doc:"Exact through the block that activityCoverage names."`
	ActivityCoverage       ActivityCoverage      `json:"activityCoverage"`
	Source                 string                `json:"source" enum:"indexed_partner_address_evidence"`
}

// ActivityCoverage says what the counts stand for.
type ActivityCoverage struct {
	Status               string     `json:"status" enum:"exhaustive,partial,stale" doc:"partial: a total of successful transactions alone is not kept, the one here has reverted ones. stale: the index may be old."`
	ReasonCode           string     `json:"reasonCode" enum:"success_only_total_not_materialized,no_indexed_activity_evidence,indexed_watermark_lag"`
	EvidenceSource       string     `json:"evidenceSource" enum:"indexed_successful_transaction_and_activity_summary"`
	FromBlock            *uint64    `json:"fromBlock" doc:"First block that is counted."`
	ThroughBlock         *uint64    `json:"throughBlock" doc:"Last block that is counted."`
	SourceWatermarkBlock *uint64    `json:"sourceWatermarkBlock" doc:"Newest indexed block."`
	SourceWatermarkHash  *felt.Felt `json:"sourceWatermarkHash"`
}

// AddressIntelligenceList has them in the order of the request.
type AddressIntelligenceList struct {
	ContractVersion       string                `json:"contractVersion" enum:"service.address_activity_truth.v1"`
	SourceContractVersion string                `json:"sourceContractVersion" enum:"indexed_successful_transaction_and_activity_summary.v1"`
	Items                 []AddressIntelligence `json:"items"`
}

func (s *Routes) describeAddresses(ctx context.Context, in *AddressBatch) (*body[AddressIntelligenceList], error) {
	addresses, err := batchFelts("addresses", in.Body.Addresses)
	if err != nil {
		return nil, err
	}
	out := &body[AddressIntelligenceList]{AddressIntelligenceList{"service.address_activity_truth.v1", "indexed_successful_transaction_and_activity_summary.v1",
		make([]AddressIntelligence, len(addresses))}}
	err = s.batchView(ctx, in.Chain, func(ctx context.Context, c *Chain, r explorer.Reader, state *chain.State) error {
		found, err := identity.Of(ctx, r, addresses)
		if err != nil {
			return err
		}
		names, err := s.attributions(ctx, c, addresses)
		if err != nil {
			return err
		}
		fresh := c.freshness(state)
		for i := range found {
			out.Body.Items[i] = renderIntelligence(c, state, &fresh, &found[i], names[i])
		}
		return nil
	})
	return out, err
}

func renderIntelligence(c *Chain, state *chain.State, fresh *freshness, f *identity.Facts, name *attribution) AddressIntelligence {
	k := renderContract(c, state, f)
	out := AddressIntelligence{Address: f.Address, Known: f.Known() || name != nil, Label: name.label(), Protocol: name.protocol(), IsDeployed: f.Deployed(),
		ClassHash: k.ClassHash, CurrentClassHash: k.CurrentClassHash, DeploymentClassHash: k.DeploymentClassHash, ClassHashSource: k.ClassHashSource,
		ClassHashAsOfBlock: k.ClassHashAsOfBlock, ClassHashAsOfBlockHash: k.ClassHashAsOfBlockHash, ClassHashFinality: k.ClassHashFinality,
		IsAccount: k.IsAccount, CreatedOnISO: k.CreatedOnISO, DeployedAtTxHash: k.DeployedAtTx, DeployedByAddress: k.DeployedByAddress, DeploymentProvenance: k.DeploymentProvenance,
		HasReceivedFunds: f.Totals != nil && f.Totals.Received, AddressKind: kindOf(c, f), Source: "indexed_partner_address_evidence"}
	if name != nil {
		out.LabelSource = some("indexed_protocol_registry")
		if name.from == "curated_known_token_metadata" {
			out.LabelSource = &name.from
		}
	}
	count, exact, first := uint64(0), true, uint64(0)
	if f.Totals != nil {
		count, out.LatestActivityBlock = f.Totals.Activity(), &f.Totals.Latest
	}
	out.TotalActivityCount, out.ActivityCountExact = &count, &exact
	out.ActivityCoverage = ActivityCoverage{Status: "partial", ReasonCode: "success_only_total_not_materialized", EvidenceSource: "indexed_successful_transaction_and_activity_summary",
		FromBlock: &first, ThroughBlock: &state.Head.Number, SourceWatermarkBlock: &state.Head.Number, SourceWatermarkHash: &state.Head.Hash}
	switch {
	case !fresh.current():
		out.ActivityCoverage.Status, out.ActivityCoverage.ReasonCode = "stale", "indexed_watermark_lag"
	case count == 0:
		out.ActivityCoverage.Status, out.ActivityCoverage.ReasonCode = "exhaustive", "no_indexed_activity_evidence"
	}
	return out
}
