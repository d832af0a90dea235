package api

import (
	"context"
	"net/http"
	"slices"

	"chainexplorer/internal/account"
	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/address"
	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/explorer/class"
	"chainexplorer/internal/explorer/contract"
	"chainexplorer/internal/explorer/token"
	"chainexplorer/internal/explorer/transaction"
	"chainexplorer/internal/explorer/transfer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/store"
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
}

// DeploymentProvenance is the evidence of a deployment.
type DeploymentProvenance struct {
	Status              string     `json:"status" enum:"known,not_applicable,unavailable"`
	ReasonCode          string     `json:"reasonCode" enum:"deployer_event,deploy_account_has_no_external_deployer,legacy_deploy_has_no_external_deployer,transaction_trace_not_certified"`
	EvidenceSource      string     `json:"evidenceSource" enum:"state_update_and_deployer_event,state_update_and_transaction,starknet_state_diff_boundary"`
	DeployedAtBlock     uint64     `json:"deployedAtBlock"`
	DeployedAtBlockHash felt.Felt  `json:"deployedAtBlockHash"`
	TransactionHash     *felt.Felt `json:"transactionHash"`
	DeploymentKind      *string    `json:"deploymentKind" enum:"deploy_account,invoke_factory,legacy_deploy"`
	OriginAddress       *felt.Felt `json:"originAddress" doc:"Sender of the transaction."`
	FactoryAddress      *felt.Felt `json:"factoryAddress" doc:"The universal deployer."`
	OriginDependent     *bool      `json:"originDependent" doc:"Whether the address depends on the deployer's caller. Null unless a universal deployer was used."`
}

// Verification is the record of a verified contract.
type Verification struct {
	ChainID   string    `json:"chainId"`
	Address   felt.Felt `json:"address"`
	ClassHash felt.Felt `json:"classHash"`
	Status    string    `json:"status"`
}

func (s *Routes) contractRoutes() {
	base := kernel.Route{Method: http.MethodGet, Family: "Contracts", Class: kernel.Light, Scope: account.Read, Tier: kernel.TierOfficial, Certification: kernel.Beta, Audience: kernel.External,
		Statuses: []int{http.StatusNotFound}}
	one := base
	one.ID, one.Path, one.Summary = "getContract", "/v1/{chain}/contract/{address}", "Get a contract"
	one.Description = "Class, deployment and kind of a contract, from the index alone. An address of which nothing is indexed is 404."
	kernel.Register(s.Server, one, s.getContract)
	verified := base
	verified.ID, verified.Path, verified.Summary = "getContractVerification", "/v1/{chain}/contract/{address}/verification", "Get a contract's verification"
	verified.Description = "The record of a verified contract. 404 means that there is no record yet."
	verified.ExampleStatus = http.StatusNotFound
	kernel.Register(s.Server, verified, s.getVerification)
}

func (s *Routes) getVerification(ctx context.Context, in *struct {
	ChainInput
	Address string `path:"address" maxLength:"70" doc:"Contract."`
}) (*body[Verification], error) {
	address, err := parseAddress(in.Address)
	if err != nil {
		return nil, err
	}
	return nil, s.view(ctx, in.Chain, func(*Chain, store.Reader, *chain.State) error {
		return kernel.Fail(kernel.CodeNotFound, "There is no verification record of %s yet.", address)
	})
}

func (s *Routes) getContract(ctx context.Context, in *struct {
	ChainInput
	Address string `path:"address" maxLength:"70" doc:"Contract."`
}) (*body[Contract], error) {
	address, err := parseAddress(in.Address)
	if err != nil {
		return nil, err
	}
	out := &body[Contract]{}
	err = s.view(ctx, in.Chain, func(c *Chain, r store.Reader, state *chain.State) error {
		found, err := factsOf(ctx, r, []felt.Felt{address})
		if err != nil {
			return err
		}
		f := &found[0]
		if !f.deployed() {
			return kernel.Because(kernel.ReasonContractNotFound, "No contract is indexed at %s.", address)
		}
		kernel.RequestOf(ctx).Indexed = false // the class, and what a token calls itself, may still come
		out.Body = renderContract(c, state, f)
		return nil
	})
	return out, err
}

// facts is what the index has of an address.
type facts struct {
	address felt.Felt
	contract.Identity
	totals *address.Totals
	abi    *class.ABI
	tx     *transaction.Preview // that deployed it
	born   *block.Summary       // block of the deployment
	dated  *block.Summary       // block that set the class

	standard transfer.Standard // of a token; Ambiguous of everything else
	meta     *token.Metadata   // what a token calls itself
}

func (f *facts) deployed() bool { return f.Current != nil || f.Deployment != nil }

// known says that the address left any trace.
func (f *facts) known() bool { return f.totals != nil || f.deployed() }

// factsOf reads what there is of addresses, in order. A fixed number of round
// trips, however many there are.
func factsOf(ctx context.Context, r store.Reader, addresses []felt.Felt) ([]facts, error) {
	identities, err := contract.Identities(ctx, r, addresses)
	if err != nil {
		return nil, err
	}
	if err := sinceFirst(ctx, r, addresses, identities); err != nil {
		return nil, err
	}
	totals, err := address.TotalsOf(ctx, r, addresses)
	if err != nil {
		return nil, err
	}
	out := make([]facts, len(addresses))
	var classes []felt.Felt
	var positions []explorer.Position
	var numbers []uint64
	for i := range out {
		out[i] = facts{address: addresses[i], Identity: identities[i], totals: totals[i]}
		if c := out[i].Current; c != nil {
			classes, numbers = append(classes, c.Class), append(numbers, c.Block)
		}
		if d := out[i].Deployment; d != nil {
			numbers = append(numbers, d.Block)
			if d.Kind != contract.UnknownDeployment {
				positions = append(positions, explorer.Position{Block: d.Block, Index: d.Tx})
			}
		}
	}
	abis, err := abisOf(ctx, r, classes)
	if err != nil {
		return nil, err
	}
	txs, err := transaction.PreviewsOf(ctx, r, positions)
	if err != nil {
		return nil, err
	}
	blocks := map[uint64]*block.Summary{}
	if len(numbers) > 0 {
		if blocks, err = blocksOf(ctx, r, numbers); err != nil {
			return nil, err
		}
	}
	if err := tokenFacts(ctx, r, out); err != nil {
		return nil, err
	}
	next := 0
	for i := range out {
		f := &out[i]
		if f.Current != nil {
			f.abi, f.dated = abis[f.Current.Class], blocks[f.Current.Block]
		}
		if d := f.Deployment; d != nil {
			f.born = blocks[d.Block]
			if d.Kind != contract.UnknownDeployment {
				f.tx = txs[next]
				next++
			}
		}
	}
	return out, nil
}

// sinceFirst dates the classes of contracts by the block that gave them, as the
// lists of classes do: a class that is replaced by itself is no other.
func sinceFirst(ctx context.Context, r store.Reader, addresses []felt.Felt, identities []contract.Identity) error {
	var replaced []felt.Felt
	var where []int
	for i := range identities {
		if c := identities[i].Current; c != nil && c.Replaced {
			replaced, where = append(replaced, addresses[i]), append(where, i)
		}
	}
	if len(replaced) == 0 {
		return nil
	}
	since, err := class.Since(ctx, r, replaced)
	if err != nil {
		return err
	}
	for k, i := range where {
		c, d := identities[i].Current, identities[i].Deployment
		if since[k] == c.Block {
			continue
		}
		c.Block = since[k]
		c.Replaced = d == nil || d.Block != since[k] || d.Class != c.Class
	}
	return nil
}

// tokenFacts adds what is known of contracts that are tokens.
func tokenFacts(ctx context.Context, r store.Reader, list []facts) error {
	var contracts []felt.Felt
	var at []int
	for i := range list {
		if list[i].deployed() {
			contracts, at = append(contracts, list[i].address), append(at, i)
		}
	}
	if len(contracts) == 0 {
		return nil
	}
	kinds, err := token.Kinds(ctx, r, contracts)
	if err != nil {
		return err
	}
	names, err := token.MetadataOf(ctx, r, contracts)
	if err != nil {
		return err
	}
	for n, i := range at {
		list[i].standard, list[i].meta = kinds[n], names[n]
	}
	return nil
}

// abisOf reads what is kept of classes, in one round trip. One that cannot be
// read is as one that is not there.
func abisOf(ctx context.Context, r store.Reader, hashes []felt.Felt) (map[felt.Felt]*class.ABI, error) {
	out := map[felt.Felt]*class.ABI{}
	if len(hashes) == 0 {
		return out, nil
	}
	hashes = slices.Clone(hashes)
	slices.SortFunc(hashes, felt.Felt.Cmp)
	hashes = slices.Compact(hashes)
	abis, _, err := class.ABIsOf(ctx, r, hashes)
	if err != nil {
		return nil, err
	}
	for i := range hashes {
		out[hashes[i]] = abis[i]
	}
	return out, nil
}

// isAccount follows from the class, or from having sent a transaction.
func (f *facts) isAccount() *bool {
	known := f.abi != nil && f.abi.Status != class.Absent
	// The first declarations name a sender that is no account, nor any contract.
	is := known && f.abi.Account || f.deployed() && f.totals != nil && f.totals.Sends
	if !is && !known && !f.reserved() {
		return nil
	}
	return &is
}

// reserved says that the protocol keeps the address for itself: 0x0 is nobody, and
// 0x1 to 0x3 have storage of the system, but no class.
func (f *facts) reserved() bool { return f.address.Cmp(felt.FromUint64(4)) < 0 }

// tokenKind is the standard of a token and its name, from the registry or from
// the contract itself; empty when the contract is not known to be a token.
func (f *facts) tokenKind(c *Chain) (kind string, alias *string) {
	if f.standard == transfer.Ambiguous {
		return "", nil
	}
	if t, listed := c.Registry.Token(f.address); listed {
		return f.standard.String(), some(t.Name)
	}
	if f.meta != nil {
		alias = f.meta.Name
	}
	return f.standard.String(), alias
}

func renderContract(c *Chain, state *chain.State, f *facts) Contract {
	out := Contract{ChainID: c.ID, Address: f.address, Source: "indexed_read_model", IsAccount: f.isAccount(), AddressKind: f.kind(c), DeploymentProvenance: f.provenance()}
	if d := f.Deployment; d != nil {
		iso := kernel.TimestampISO(f.born.Timestamp)
		out.DeploymentClassHash, out.ClassHash, out.DeployedAtBlock, out.CreatedOnISO = &d.Class, &d.Class, &d.Block, &iso
		out.DeployedAtTx, out.DeployedByAddress = f.deployTx(), f.deployer()
	}
	if n := f.Current; n != nil {
		source := "state_diff_deployed_contract"
		switch {
		case n.Replaced:
			source = "state_diff_replaced_class"
		case n.Origin:
			source = "node_class_hash_at"
		}
		out.ClassHash, out.CurrentClassHash, out.ClassHashSource, out.ClassHashAsOfBlock, out.ClassHashAsOfBlockHash = &n.Class, &n.Class, &source, &n.Block, &f.dated.Hash
		if state.Finality(n.Block, c.Depth) >= chain.Finalized {
			finalized := "finalized"
			out.ClassHashFinality = &finalized
		}
	}
	if kind, alias := f.tokenKind(c); kind != "" {
		yes := true
		out.IsToken, out.TokenKind, out.Alias = &yes, &kind, alias
	}
	out.MetadataCompleteness = out.ClassHash != nil && out.DeployedAtBlock != nil
	return out
}

func (f *facts) deployTx() *felt.Felt {
	if f.tx == nil {
		return nil
	}
	return &f.tx.Hash
}

func (f *facts) deployer() *felt.Felt {
	if f.Deployment == nil || f.Deployment.Kind != contract.ByDeployer {
		return nil
	}
	return &f.Deployment.Deployer
}

// provenance says how a deployment is known; nil when none is.
func (f *facts) provenance() *DeploymentProvenance {
	d := f.Deployment
	if d == nil {
		return nil
	}
	out := &DeploymentProvenance{Status: "unavailable", ReasonCode: "transaction_trace_not_certified", EvidenceSource: "starknet_state_diff_boundary",
		DeployedAtBlock: d.Block, DeployedAtBlockHash: f.born.Hash, TransactionHash: f.deployTx()}
	kind := ""
	switch d.Kind {
	case contract.ByDeployAccount:
		kind, out.Status, out.ReasonCode, out.EvidenceSource = "deploy_account", "not_applicable", "deploy_account_has_no_external_deployer", "state_update_and_transaction"
	case contract.ByDeploy:
		kind, out.Status, out.ReasonCode, out.EvidenceSource = "legacy_deploy", "not_applicable", "legacy_deploy_has_no_external_deployer", "state_update_and_transaction"
	case contract.ByDeployer:
		kind, out.Status, out.ReasonCode, out.EvidenceSource = "invoke_factory", "known", "deployer_event", "state_update_and_deployer_event"
		out.OriginAddress, out.FactoryAddress, out.OriginDependent = f.tx.From, &d.Factory, &d.OriginDependent
	}
	out.DeploymentKind = some(kind)
	return out
}
