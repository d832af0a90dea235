package api

import (
	"context"
	"math/big"
	"net/http"
	"strings"

	"chainexplorer/internal/account"
	"chainexplorer/internal/contractcall"
	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/explorer/token"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
)

// The live reads of a token: calls pinned to one block hash. Both spellings of
// a function are asked for in one batch.

// TokenPath is the path segment that names a token.
type TokenPath struct {
	Token string `path:"token" format:"felt" maxLength:"70" doc:"Contract address of the token: its identity."`
}

// TotalSupply is a token's supply at a block.
type TotalSupply struct {
	ChainID      string    `json:"chainId"`
	TokenAddress felt.Felt `json:"tokenAddress"`
	LiveBlock
	TotalSupplyRaw string `json:"totalSupplyRaw" doc:"Decimal, in the token's smallest unit."`
	Source         string `json:"source" enum:"contract_call"`
}

// BalanceOf is what an address has of a token at a block.
type BalanceOf struct {
	ChainID      string    `json:"chainId"`
	TokenAddress felt.Felt `json:"tokenAddress"`
	OwnerAddress felt.Felt `json:"ownerAddress"`
	LiveBlock
	TokenID    *string `json:"tokenId" doc:"The caller's own token_id; null without one."`
	BalanceRaw string  `json:"balanceRaw" doc:"Decimal, in the token's smallest unit, as the contract tells it."`
	Source     string  `json:"source" enum:"contract_call"`

	IndexedBalance *IndexedBalance `json:"indexedBalance" doc:"What indexed transfers add up to at the same block; null where that says nothing: indexedBalanceUnavailableReason tells why."`
	// IndexedBalanceUnavailableReason says why there is none.
	IndexedBalanceUnavailableReason *string `json:"indexedBalanceUnavailableReason" enum:"pending_block,single_id_not_indexed,token_kind_unknown,genesis_state_without_events,negative_balance" doc:"genesis_state_without_events: the token was there before the first block, and no event tells of the balances that it began with. negative_balance: more was sent than came, so that some of it came without an event; always of the zero address, which sends what is minted. Null when indexedBalance is set."`
}

// IndexedBalance is the same balance from another source. A token whose balances
// change without events shows here.
type IndexedBalance struct {
	BalanceRaw       string    `json:"balanceRaw" doc:"Decimal."`
	BlockNumber      uint64    `json:"blockNumber"`
	BlockHash        felt.Felt `json:"blockHash"`
	LastChangedBlock *uint64   `json:"lastChangedBlock" doc:"The newest block up to that one with a transfer of the address; null when there is none."`
	Source           string    `json:"source" enum:"indexed_transfer_history"`
	Agrees           bool      `json:"agrees" doc:"Whether the two balances are the same."`
}

func (s *Routes) tokenLiveRoutes() {
	base := kernel.Route{Method: http.MethodGet, Family: "Tokens", Class: kernel.Heavy, Scope: account.Read, Tier: kernel.TierOfficial, Certification: kernel.Certified, Audience: kernel.External, Depends: kernel.OnChain | kernel.OnEnrichment | kernel.OnNode,
		Statuses: []int{http.StatusNotFound, http.StatusUnprocessableEntity}}
	supply := base
	supply.ID, supply.Path, supply.Summary = "getTokenTotalSupply", "/v1/{chain}/token/{token}/total-supply", "Read a token's total supply"
	supply.Description = "Calls `total_supply` or `totalSupply` of the contract at one block and names that block. " +
		"For an answer that can be reproduced, pass a block number or hash."
	kernel.Register(s.Server, supply, s.getTotalSupply)
	balance := base
	balance.ID, balance.Path, balance.Summary = "getTokenBalance", "/v1/{chain}/token/{token}/balance-of/{address}", "Read a token balance"
	balance.Description = "Calls `balance_of` or `balanceOf` of the contract at one block and names that block. " +
		"An ERC-1155 contract has a balance for each id: name it with `token_id`. `indexedBalance` is what indexed transfers add up to at the same block, so that a disagreement shows. " +
		"For an answer that can be reproduced, pass a block number or hash."
	kernel.Register(s.Server, balance, s.getBalanceOf)
}

func (s *Routes) getTotalSupply(ctx context.Context, in *struct {
	ChainInput
	TokenPath
	BlockTagInput
}) (*body[TotalSupply], error) {
	token, err := kernel.FeltOf("path.token", in.Token)
	if err != nil {
		return nil, err
	}
	at, amount, err := s.tokenAmount(ctx, in.Chain, in.BlockTag, token, nil, contractcall.TotalSupply)
	if err != nil {
		return nil, err
	}
	return &body[TotalSupply]{TotalSupply{in.Chain, token, *at, amount.String(), "contract_call"}}, nil
}

func (s *Routes) getBalanceOf(ctx context.Context, in *struct {
	ChainInput
	TokenPath
	Address string `path:"address" format:"felt" maxLength:"70" doc:"Whose balance."`
	TokenID string `query:"token_id" maxLength:"80" doc:"Id of a token of an ERC-1155 contract, which has a balance for each: decimal, or 0x and hexadecimal digits, below 2^256."`
	BlockTagInput
}) (*body[BalanceOf], error) {
	token, err := kernel.FeltOf("path.token", in.Token)
	if err != nil {
		return nil, err
	}
	owner, err := kernel.FeltOf("path.address", in.Address)
	if err != nil {
		return nil, err
	}
	args := []felt.Felt{owner}
	if in.TokenID != "" {
		low, high, err := tokenID(in.TokenID)
		if err != nil {
			return nil, err
		}
		args = append(args, low, high)
	}
	var indexed *IndexedBalance
	reason := "single_id_not_indexed"
	look := func(c *Chain, r explorer.Reader, b *liveBlock) (err error) {
		if in.TokenID == "" {
			indexed, reason, err = indexedBalance(ctx, c, r, b, token, owner)
		}
		return err
	}
	at, amount, err := s.tokenAmount(ctx, in.Chain, in.BlockTag, token, look, contractcall.BalanceOf, args...)
	if err != nil {
		return nil, err
	}
	if indexed != nil {
		indexed.Agrees = indexed.BalanceRaw == amount.String()
	}
	return &body[BalanceOf]{BalanceOf{in.Chain, token, owner, *at, some(in.TokenID), amount.String(), "contract_call", indexed, some(reason)}}, nil
}

// tokenID reads the id of a token as the two halves that contracts take.
func tokenID(text string) (low, high felt.Felt, err error) {
	digits, base := text, 10
	if rest, hex := strings.CutPrefix(text, "0x"); hex {
		digits, base = rest, 16
	}
	n, ok := new(big.Int).SetString(digits, base)
	if !ok || n.BitLen() > 256 || strings.ContainsAny(digits, "+-") {
		return low, high, kernel.Fail(kernel.CodeInvalidRequest, "query.token_id: %q is not a number below 2^256, decimal or 0x and hexadecimal digits.", kernel.Clip(text, 80))
	}
	var b [32]byte
	n.FillBytes(b[:])
	copy(low[16:], b[16:])
	copy(high[16:], b[:16])
	return low, high, nil
}

// indexedBalance is the balance that the index has at the block that the call is
// pinned to, or why it has none.
func indexedBalance(ctx context.Context, c *Chain, r explorer.Reader, b *liveBlock, address, owner felt.Felt) (out *IndexedBalance, reason string, err error) {
	if b.pending {
		return nil, "pending_block", nil
	}
	held, gap, err := token.HeldAt(ctx, r, c.Registry, address, owner, b.at.Number)
	if err != nil || gap != "" {
		return nil, string(gap), err
	}
	return &IndexedBalance{BalanceRaw: held.Amount.String(), BlockNumber: b.at.Number, BlockHash: b.at.Hash, LastChangedBlock: held.Changed, Source: "indexed_transfer_history"}, "", nil
}

// tokenAmount asks for an amount under two names and takes the first that the
// contract knows. look sees the index in the view that the block was found in.
func (s *Routes) tokenAmount(ctx context.Context, id, tag string, token felt.Felt, look func(*Chain, explorer.Reader, *liveBlock) error, names []felt.Felt, args ...felt.Felt) (*LiveBlock, *big.Int, error) {
	var c *Chain
	var b *liveBlock
	err := s.view(ctx, id, func(found *Chain, r explorer.Reader, state *chain.State) (err error) {
		c = found
		if b, err = s.liveBlock(ctx, r, state, tag); err != nil || look == nil {
			return err
		}
		return look(c, r, b)
	})
	if err != nil {
		return nil, nil, err
	}
	calls := make([]contractcall.Call, len(names))
	for i, name := range names {
		calls[i] = contractcall.Call{Contract: token, Selector: name, Calldata: args}
	}
	at, results, err := s.ask(ctx, c, b, calls...)
	if err != nil {
		return nil, nil, err
	}
	amount, err := amountOf(token, results)
	return at, amount, err
}

// amountOf reads the first answer. A refusal counts only if no spelling of the
// function gave one.
func amountOf(token felt.Felt, results []contractcall.Result) (*big.Int, error) {
	var refused *contractcall.Result
	for i := range results {
		r := &results[i]
		switch r.Fault {
		case contractcall.None:
			if n, ok := contractcall.Amount(r.Values); ok {
				return n, nil
			}
			return nil, kernel.Because(kernel.ReasonNotAToken, "The contract %s answers with %d values that are no amount.", token, len(r.Values))
		case contractcall.Reverted:
			if refused == nil {
				refused = r
			}
		case contractcall.NoContract:
			return nil, kernel.Because(kernel.ReasonNotAToken, "At that block there is no contract at %s.", token)
		}
	}
	if refused != nil {
		return nil, reverted(refused)
	}
	return nil, kernel.Because(kernel.ReasonNotAToken, "The contract %s has no such function at that block.", token)
}

// shownReason bounds what is passed on of a contract's reason.
const shownReason = 300

func reverted(r *contractcall.Result) *kernel.Error {
	if r.Reason == "" {
		return kernel.Fail(kernel.CodeCallReverted, "The contract refused the call.")
	}
	return kernel.Fail(kernel.CodeCallReverted, "The contract refused the call: %s", kernel.Clip(r.Reason, shownReason))
}
