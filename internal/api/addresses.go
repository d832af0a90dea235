package api

import (
	"context"
	"fmt"
	"math/bits"
	"net/http"

	"chainexplorer/internal/account"
	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/address"
	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/explorer/class"
	"chainexplorer/internal/explorer/event"
	"chainexplorer/internal/explorer/identity"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
)

// AddressSummary is what an address did, in numbers.
type AddressSummary struct {
	Address             felt.Felt  `json:"address"`
	Known               bool       `json:"known" doc:"False when the index has no trace of the address."`
	TotalActivityCount  *uint64    `json:"totalActivityCount" doc:"Transactions that the address has a part in, and token transfers from or to it, one to itself once: the items of its activity."`
	ActivityCountExact  bool       `json:"activityCountExact"`
	TransactionCount    *uint64    `json:"transactionCount" doc:"Transactions that the address has a part in or that move tokens from or to it: the rows of its transactions."`
	TransferCount       *uint64    `json:"transferCount" doc:"Token transfers from or to the address, one to itself once."`
	FirstActivityBlock  *uint64    `json:"firstActivityBlock"`
	LatestActivityBlock *uint64    `json:"latestActivityBlock"`
	ClassHash           *felt.Felt `json:"classHash"`
	IsAccount           *bool      `json:"isAccount"`
	AddressKind
	CreatedOnISO         *string               `json:"createdOnIso" format:"date-time"`
	DeployedAtTxHash     *felt.Felt            `json:"deployedAtTxHash"`
	DeployedByAddress    *felt.Felt            `json:"deployedByAddress"`
	DeploymentProvenance *DeploymentProvenance `json:"deploymentProvenance"`
	ContractExistence    *ContractExistence    `json:"contractExistence" doc:"Only for an address without a contract; null for those that the protocol keeps for itself, 0x0 to 0x3, and while no block is finalized."`
}

// ContractExistence says that there is no contract at an address.
type ContractExistence struct {
	Status              string    `json:"status" enum:"not_deployed"`
	ReasonCode          string    `json:"reasonCode" enum:"contract_not_found"`
	EvidenceSource      string    `json:"evidenceSource" enum:"finalized_class_hash_at"`
	ObservedBlockNumber uint64    `json:"observedBlockNumber" doc:"The newest finalized block. No state diff up to it, nor up to the indexed head, gave the address a class."`
	ObservedBlockHash   felt.Felt `json:"observedBlockHash"`
	ExpiresAtISO        *string   `json:"expiresAtIso" doc:"Null: it holds for that block for good."`
}

// AddressTx is a transaction that an address has a part in.
type AddressTx struct {
	BlockNumber     uint64     `json:"blockNumber"`
	TimestampISO    *string    `json:"timestampIso" format:"date-time"`
	TxIndex         uint32     `json:"txIndex"`
	TxHash          felt.Felt  `json:"txHash"`
	Kinds           []string   `json:"kinds" doc:"The parts that the address has, the weightiest first: sender, deployed, called, l1_handler, and of token transfers transfer_in, transfer_out, transfer_self."`
	Counterparty    *felt.Felt `json:"counterparty" doc:"Of a sender toAddress, otherwise fromAddress; null when that is the address itself, or not known."`
	TxType          *string    `json:"txType" enum:"INVOKE,DECLARE,DEPLOY,DEPLOY_ACCOUNT,L1_HANDLER"`
	ExecutionStatus *string    `json:"executionStatus" enum:"SUCCEEDED,REVERTED"`
	FinalityStatus  *string    `json:"finalityStatus" enum:"ACCEPTED_ON_L2,ACCEPTED_ON_L1"`
	FromAddress     *felt.Felt `json:"fromAddress"`
	ToAddress       *felt.Felt `json:"toAddress"`
	MainMethod
	CallCount               *int       `json:"callCount" doc:"Null when the calldata is not a list of calls."`
	MethodsDiffer           *bool      `json:"methodsDiffer"`
	TransferCount           *int       `json:"transferCount" doc:"Transfers of the transaction from or to the address."`
	TopTransferTokenAddress *felt.Felt `json:"topTransferTokenAddress" doc:"Of the one with the largest amount, in smallest units whatever the token; the first of equals."`
	TopTransferAmount       *string    `json:"topTransferAmount" doc:"Decimal; 1 of an NFT; null when the standard is unknown."`
	TopTransferStandard     *string    `json:"topTransferStandard" enum:"erc20,erc721,erc1155,unknown"`
}

// AddressTxPage is a page of them, newest first.
type AddressTxPage struct {
	Items      []AddressTx `json:"items"`
	NextCursor *string     `json:"nextCursor"`
}

// AddressInput is what lists of an address take.
type AddressInput struct {
	ChainInput
	Address string       `path:"address" format:"felt" maxLength:"70" doc:"Address."`
	Limit   kernel.Limit `query:"limit"`
	Cursor  string       `query:"cursor" doc:"nextCursor of the page before, under the same order and type."`
	ListOrder
}

// ListOrder is the order of a list that can be read from both ends.
type ListOrder struct {
	Order string `query:"order" enum:"desc,asc" default:"desc" doc:"Newest first unless asc. A cursor belongs to its order."`
}

func (o ListOrder) order() event.Order {
	if o.Order == "asc" {
		return event.Asc
	}
	return event.Desc
}

// scope names a list of an address for its cursors.
func (in *AddressInput) scope(operation string, a *felt.Felt, kind string) string {
	out := operation + "\x00" + in.Chain + "\x00" + a.String()
	if in.order() != event.Desc || kind != "" {
		out += fmt.Sprintf("\x00%d\x00%s", in.order(), kind)
	}
	return out
}

func (s *Routes) addressRoutes() {
	base := kernel.Route{Method: http.MethodGet, Family: "Addresses", Class: kernel.Heavy, Scope: account.Read, Tier: kernel.TierOfficial, Certification: kernel.Beta, Audience: kernel.External, Depends: kernel.OnChain | kernel.OnEnrichment,
		Statuses: []int{http.StatusNotFound}}
	one := base
	one.ID, one.Path, one.Summary, one.Class = "getAddress", "/v1/{chain}/address/{address}", "Get an address's summary", kernel.Light
	one.Description = "Exact counts of what the address did, and its contract, if it has one. An address that never did anything is answered with zeros and `known` false."
	kernel.Register(s.Server, one, s.getAddress)
	txs := base
	txs.ID, txs.Path, txs.Summary = "listAddressTransactions", "/v1/{chain}/address/{address}/transactions", "List an address's transactions"
	txs.Description = "Transactions that the address sent, that deployed it, that call it, whose L1 message it handled, or that move tokens from or to it; newest first unless `order` is asc, one row each. " +
		"`limit` is {page}. With `type` a page looks at no more than about 1,000 transactions, so that it may end early and be empty; go on while nextCursor is not null."
	txs.Page = kernel.Page{Usual: 25, Most: 100}
	kernel.Register(s.Server, txs, s.listAddressTransactions)
	activity := base
	activity.ID, activity.Path, activity.Summary = "listAddressActivity", "/v1/{chain}/address/{address}/activity", "List an address's activity"
	activity.Description = "One item for every transaction that the address has a part in, and one for every token transfer from or to it, newest first unless `order` is asc. `limit` is {page}. " +
		"A page may end early and be empty; go on while nextCursor is not null."
	activity.Page = kernel.Page{Usual: 25, Most: 100}
	kernel.Register(s.Server, activity, s.listAddressActivity)
	s.attributionRoutes()
	transfers := base
	transfers.ID, transfers.Path, transfers.Summary = "listAddressTransfers", "/v1/{chain}/address/{address}/transfers", "List an address's token transfers"
	transfers.Description = "Transfers from and to the address, newest first unless `order` is asc. All filters apply before paging. `limit` is {page}. " +
		"A page may end early and be empty; go on while nextCursor is not null."
	transfers.Page = kernel.Page{Usual: 25, Most: 100}
	kernel.Register(s.Server, transfers, s.listAddressTransfers)
	s.assetRoutes()
	s.retiredRoutes()
	s.batchRoutes()
}

func (s *Routes) getAddress(ctx context.Context, in *struct {
	ChainInput
	Address string `path:"address" format:"felt" maxLength:"70" doc:"Address."`
}) (*body[AddressSummary], error) {
	a, err := parseAddress(in.Address)
	if err != nil {
		return nil, err
	}
	out := &body[AddressSummary]{}
	err = s.view(ctx, in.Chain, func(c *Chain, r explorer.Reader, state *chain.State) error {
		found, err := identity.Of(ctx, r, []felt.Felt{a})
		if err != nil {
			return err
		}
		final, err := state.Finalized(ctx, r, c.Depth)
		if err == nil {
			out.Body = renderSummary(ctx, c, final, &found[0])
		}
		return err
	})
	return out, err
}

// renderSummary shows an address. final is the newest finalized block, or nil: what
// is not there now was not there then.
func renderSummary(ctx context.Context, c *Chain, final *block.Summary, f *identity.Facts) AddressSummary {
	var t address.Totals
	if f.Totals != nil {
		t = *f.Totals
	}
	activity := t.Activity()
	out := AddressSummary{Address: f.Address, Known: f.Known(), TotalActivityCount: &activity, ActivityCountExact: true,
		TransactionCount: &t.Transactions, TransferCount: &t.Transfers, IsAccount: f.IsAccount(), AddressKind: kindOf(c, f),
		DeployedAtTxHash: f.DeployTx(), DeployedByAddress: f.Deployer(), DeploymentProvenance: provenanceOf(f)}
	if f.Totals != nil {
		out.FirstActivityBlock, out.LatestActivityBlock = &t.First, &t.Latest
	}
	certain := true
	if f.Current != nil {
		out.ClassHash = &f.Current.Class
		// The class may still come, and the standards of tokens come from calls.
		certain = f.ABI != nil && f.ABI.Status != class.Absent && *out.TypeLabel == "account"
	}
	kernel.RequestOf(ctx).Vouch(certain)
	if f.Born != nil {
		iso := kernel.TimestampISO(f.Born.Timestamp)
		out.CreatedOnISO = &iso
	}
	if !f.Deployed() && !f.Reserved() && final != nil {
		out.ContractExistence = &ContractExistence{"not_deployed", "contract_not_found", "finalized_class_hash_at", final.Number, final.Hash, nil}
	}
	return out
}

var partNames = map[address.Part]string{address.Sender: "sender", address.Deployed: "deployed", address.Called: "called", address.Handler: "l1_handler",
	address.ReceivedTokens: "transfer_in", address.SentTokens: "transfer_out", address.KeptTokens: "transfer_self"}

func (s *Routes) listAddressTransactions(ctx context.Context, in *struct {
	AddressInput
	Type string `query:"type" maxLength:"20" doc:"Type of the transaction, as txType: INVOKE (also execute), DECLARE, DEPLOY, DEPLOY_ACCOUNT or L1_HANDLER."`
}) (*body[AddressTxPage], error) {
	a, err := parseAddress(in.Address)
	if err != nil {
		return nil, err
	}
	limit := in.Limit.Size()
	q := address.TxQuery{Address: a, Order: in.order(), Limit: limit}
	if in.Type != "" {
		if q.Types, err = txTypes("query.type", in.Type); err != nil {
			return nil, err
		}
	}
	scope := in.scope("listAddressTransactions", &a, typesText(q.Types))
	out := &body[AddressTxPage]{AddressTxPage{Items: []AddressTx{}}}
	err = s.view(ctx, in.Chain, func(c *Chain, r explorer.Reader, state *chain.State) error {
		if in.Cursor != "" {
			at, err := s.openPlace(ctx, r, scope, in.Cursor)
			if err != nil {
				return err
			}
			q.After = &explorer.Position{Block: at.Block, Index: at.Tx}
		}
		page, err := address.ListTransactions(ctx, r, q)
		if err != nil {
			return err
		}
		var certain bool
		if out.Body.Items, certain, err = s.addressTxs(ctx, r, c, state, a, page.Transactions); err != nil {
			return err
		}
		kernel.RequestOf(ctx).Vouch(certain)
		if page.Next != nil {
			out.Body.NextCursor, err = s.sealPlace(ctx, r, scope, explorer.Place{Block: page.Next.Block, Tx: page.Next.Index})
		}
		return err
	})
	return out, err
}

func kindsOf(p address.Part) []string {
	out := make([]string, 0, bits.OnesCount32(uint32(p)))
	for _, part := range address.Parts {
		if p&part != 0 {
			out = append(out, partNames[part])
		}
	}
	return out
}

func renderAddressTx(state *chain.State, t *address.Seen, main MainMethod, text *texts) AddressTx {
	out := AddressTx{BlockNumber: t.Block, TimestampISO: text.at(text.iso(t.BlockTime)), TxIndex: t.Index, TxHash: t.Hash, Kinds: kindsOf(t.Part), Counterparty: t.Counterparty,
		TxType: text.at(t.Type.String()), ExecutionStatus: text.at(t.Execution.String()), FinalityStatus: text.at(finality(state, t.Block)),
		FromAddress: t.From, ToAddress: t.To, MainMethod: main, CallCount: t.Calls, TransferCount: &t.Transfers}
	if t.Calls != nil {
		out.MethodsDiffer = &t.Differ
	}
	if t.Top != nil {
		out.TopTransferTokenAddress, out.TopTransferStandard = &t.Top.Token, text.at(t.Top.Standard.String())
		out.TopTransferAmount = text.digits(t.Top.AmountBytes())
	}
	return out
}

func (s *Routes) listAddressTransfers(ctx context.Context, in *struct {
	ChainInput
	Address string `path:"address" format:"felt" maxLength:"70" doc:"Address."`
	TransferFilter
	ListOrder
}) (*body[TransferPage], error) {
	q, err := parseTransfers(&in.TransferFilter, kernel.Values("path.address", []string{in.Address}))
	if err != nil {
		return nil, err
	}
	q.Order = in.order()
	return s.transfersOfMany(ctx, "listAddressTransfers", in.Chain, q)
}
