package api

import (
	"context"
	"net/http"

	"chainexplorer/internal/account"
	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/explorer/class"
	"chainexplorer/internal/explorer/contract"
	"chainexplorer/internal/explorer/identity"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
)

// Contract is what is indexed of a contract.
type Contract struct {
	ChainID                string     `json:"chainId"`
	Address                felt.Felt  `json:"address"`
	ClassHash              *felt.Felt `json:"classHash" doc:"The newest indexed class, or that of the deployment."`
	CurrentClassHash       *felt.Felt `json:"currentClassHash"`
	DeploymentClassHash    *felt.Felt `json:"deploymentClassHash"`
	ClassHashSource        *string    `json:"classHashSource" enum:"state_diff_deployed_contract,state_diff_replaced_class,node_class_hash_at" doc:"node_class_hash_at: no state diff deployed the contract, it was there before the first block, and the node names its class."`
	ClassHashAsOfBlock     *uint64    `json:"classHashAsOfBlock" doc:"The block whose state diff set the class; no later indexed one changed it."`
	ClassHashAsOfBlockHash *felt.Felt `json:"classHashAsOfBlockHash"`
	ClassHashFinality      *string    `json:"classHashFinality" enum:"finalized" doc:"Null while that block is not finalized."`
	DeployedAtBlock        *uint64    `json:"deployedAtBlock"`
	DeployedAtTx           *felt.Felt `json:"deployedAtTx" doc:"Null when only the state diff tells of the deployment."`
	CreatedOnISO           *string    `json:"createdOnIso" format:"date-time" doc:"Time of the deployment's block; first activity is never a creation date."`
	DeployedByAddress      *felt.Felt `json:"deployedByAddress" doc:"Who called the universal deployer; null when nobody did or it is not known."`
	IsAccount              *bool      `json:"isAccount" doc:"Null when the class is not known and the address never sent a transaction."`
	AddressKind
	IsToken              *bool                 `json:"isToken" doc:"True, or null when the contract is not identified as a token."`
	TokenKind            *string               `json:"tokenKind" enum:"erc20,erc721,erc1155,unknown"`
	Alias                *string               `json:"alias" doc:"Name of a token."`
	MetadataCompleteness bool                  `json:"metadataCompleteness" doc:"The class and the deployment's block are both known."`
	Source               string                `json:"source" enum:"indexed_read_model"`
	DeploymentProvenance *DeploymentProvenance `json:"deploymentProvenance"`
	SourceFacts
}

// AddressKind is what stands at an address, in words.
type AddressKind struct {
	TypeLabel        *string `json:"typeLabel" enum:"account,token,contract,system,not_deployed" doc:"system: the protocol keeps the address for itself."`
	TypeLabelSource  *string `json:"typeLabelSource" enum:"indexed_account_kind" doc:"Null unless the class, or a transaction that it sent, tells that it is an account."`
	AccountKind      *string `json:"accountKind" doc:"Family of the account's class in the registry, such as argent or openzeppelin. Null for what is no account, for classes that the registry does not have, and for proxies."`
	ClassLabel       *string `json:"classLabel" doc:"Official name of the class."`
	ClassLabelSource *string `json:"classLabelSource" enum:"official_class_registry"`
}

// DeploymentProvenance is the evidence of a deployment.
type DeploymentProvenance struct {
	Status              string     `json:"status" enum:"known,not_applicable,unavailable"`
	ReasonCode          string     `json:"reasonCode" enum:"deployer_event,deploy_account_has_no_external_deployer,legacy_deploy_has_no_external_deployer,transaction_trace_not_certified"`
	EvidenceSource      string     `json:"evidenceSource" enum:"state_update_and_transaction_trace,starknet_state_diff_boundary" doc:"Traces are not read, so that it is always starknet_state_diff_boundary: the state diff of the block, beside which reasonCode names what tells the deployer."`
	DeployedAtBlock     uint64     `json:"deployedAtBlock"`
	DeployedAtBlockHash felt.Felt  `json:"deployedAtBlockHash"`
	TransactionHash     *felt.Felt `json:"transactionHash"`
	DeploymentKind      *string    `json:"deploymentKind" enum:"deploy_account,invoke_factory,legacy_deploy"`
	OriginAddress       *felt.Felt `json:"originAddress" doc:"Sender of the transaction."`
	FactoryAddress      *felt.Felt `json:"factoryAddress" doc:"The universal deployer."`
	OriginDependent     *bool      `json:"originDependent" doc:"Whether the address depends on the deployer's caller. Null unless a universal deployer was used."`
}

func (s *Routes) contractRoutes() {
	base := kernel.Route{Method: http.MethodGet, Family: "Contracts", Class: kernel.Light, Scope: account.Read, Tier: kernel.TierOfficial, Certification: kernel.Beta, Audience: kernel.External, Depends: kernel.OnChain | kernel.OnEnrichment,
		Statuses: []int{http.StatusNotFound}}
	one := base
	one.ID, one.Path, one.Summary = "getContract", "/v1/{chain}/contract/{address}", "Get a contract"
	one.Description = "Class, deployment and kind of a contract, from the index alone. An address of which nothing is indexed is 404. `verificationTier` and what follows it are about the class `classHash`, and say nothing of how this contract was set up."
	kernel.Register(s.Server, one, s.getContract)
	s.contractVerificationRoute(base)
}

func (s *Routes) getContract(ctx context.Context, in *struct {
	ChainInput
	Address string `path:"address" format:"felt" maxLength:"70" doc:"Contract."`
}) (*body[Contract], error) {
	address, err := parseAddress(in.Address)
	if err != nil {
		return nil, err
	}
	out := &body[Contract]{}
	err = s.view(ctx, in.Chain, func(c *Chain, r explorer.Reader, state *chain.State) error {
		found, err := identity.Of(ctx, r, []felt.Felt{address})
		if err != nil {
			return err
		}
		f := &found[0]
		if !f.Deployed() {
			return kernel.Because(kernel.ReasonContractNotFound, "No contract is indexed at %s.", address)
		}
		out.Body = renderContract(c, state, f)
		if out.Body.ClassHash == nil {
			return nil
		}
		proven, err := c.Proofs.At(state).Of(ctx, r, []felt.Felt{*out.Body.ClassHash})
		out.Body.SourceFacts = sourceFacts(proven, *out.Body.ClassHash, f.Current != nil && f.ABI != nil && f.ABI.Status == class.Ready)
		return err
	})
	return out, err
}

func renderContract(c *Chain, state *chain.State, f *identity.Facts) Contract {
	out := Contract{ChainID: c.ID, Address: f.Address, Source: "indexed_read_model", IsAccount: f.IsAccount(), AddressKind: kindOf(c, f), DeploymentProvenance: provenanceOf(f),
		SourceFacts: SourceFacts{VerificationTier: "unverified"}}
	if d := f.Deployment; d != nil {
		iso := kernel.TimestampISO(f.Born.Timestamp)
		out.DeploymentClassHash, out.ClassHash, out.DeployedAtBlock, out.CreatedOnISO = &d.Class, &d.Class, &d.Block, &iso
		out.DeployedAtTx, out.DeployedByAddress = f.DeployTx(), f.Deployer()
	}
	if n := f.Current; n != nil {
		source := "state_diff_deployed_contract"
		switch {
		case n.Replaced:
			source = "state_diff_replaced_class"
		case n.Origin:
			source = "node_class_hash_at"
		}
		out.ClassHash, out.CurrentClassHash, out.ClassHashSource, out.ClassHashAsOfBlock, out.ClassHashAsOfBlockHash = &n.Class, &n.Class, &source, &n.Block, &f.Dated.Hash
		if state.Finality(n.Block, c.Depth) >= chain.Finalized {
			finalized := "finalized"
			out.ClassHashFinality = &finalized
		}
	}
	if kind, alias, is := f.Token(c.Registry); is {
		out.IsToken, out.TokenKind, out.Alias = &is, some(kind.String()), alias
	}
	out.MetadataCompleteness = out.ClassHash != nil && out.DeployedAtBlock != nil
	return out
}

func kindOf(c *Chain, f *identity.Facts) AddressKind {
	word := f.TypeLabel(c.Registry)
	out := AddressKind{TypeLabel: &word}
	if word == "account" {
		out.TypeLabelSource = some("indexed_account_kind")
	}
	if f.Current == nil {
		return out
	}
	if name, ok := c.Registry.ClassName(f.Current.Class); ok {
		out.ClassLabel, out.ClassLabelSource = &name, some("official_class_registry")
	}
	if family, ok := c.Registry.AccountKind(f.Current.Class); ok && word == "account" {
		out.AccountKind = &family
	}
	return out
}

// provenanceOf says how a deployment is known; nil when none is.
func provenanceOf(f *identity.Facts) *DeploymentProvenance {
	d := f.Deployment
	if d == nil {
		return nil
	}
	out := &DeploymentProvenance{Status: "unavailable", ReasonCode: "transaction_trace_not_certified", EvidenceSource: "starknet_state_diff_boundary",
		DeployedAtBlock: d.Block, DeployedAtBlockHash: f.Born.Hash, TransactionHash: f.DeployTx()}
	kind := ""
	switch d.Kind {
	case contract.ByDeployAccount:
		kind, out.Status, out.ReasonCode = "deploy_account", "not_applicable", "deploy_account_has_no_external_deployer"
	case contract.ByDeploy:
		kind, out.Status, out.ReasonCode = "legacy_deploy", "not_applicable", "legacy_deploy_has_no_external_deployer"
	case contract.ByDeployer:
		kind, out.Status, out.ReasonCode = "invoke_factory", "known", "deployer_event"
		out.OriginAddress, out.FactoryAddress, out.OriginDependent = f.Tx.From, &d.Factory, &d.OriginDependent
	}
	out.DeploymentKind = some(kind)
	return out
}
