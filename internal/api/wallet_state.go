package api

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"slices"

	"chainexplorer/internal/account"
	"chainexplorer/internal/contractcall"
	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/asset"
	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
)

// MaxWalletTokens bounds the tokens of a wallet state; each is asked for under
// two names, all in one batch.
const MaxWalletTokens = 25

func (s *Routes) walletRoutes() {
	r := kernel.Route{Method: http.MethodPost, Family: "Wallets", Class: kernel.Heavy, Scope: account.Read, Tier: kernel.TierOfficial, Certification: kernel.Beta, Audience: kernel.External, Depends: kernel.OnChain | kernel.OnEnrichment | kernel.OnNode | kernel.OnClock,
		Statuses: []int{http.StatusNotFound, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType}, MaxBody: batchBody,
		Headers: map[string]string{"X-Service-Query-Class": "wallet_state", "X-Service-Cost-Units": "1"},
		ID:      "getWalletState", Path: "/v1/{chain}/query/wallet-state", Summary: "Read a wallet's balances at one block"}
	r.Description = "Balances of up to 25 tokens, read from their contracts at one block hash. With `mode` require_complete anything that could not be read this time fails the whole; " +
		"with verified_partial the rest is returned. A token that its contract will never tell at that block, such as spam, is reported as unreadable and fails nothing. With `scope` explicit the tokens are those of `tokenAddresses`; otherwise they are the candidates of asset discovery."
	r.ExampleBody = func(kernel.Examples) string {
		return `{"ownerAddress":"` + FeeToken + `","scope":"explicit","tokenAddresses":["` + FeeToken + `"]}`
	}
	kernel.Register(s.Server, r, s.getWalletState)
}

// walletQuery is a checked request.
type walletQuery struct {
	*WalletRequest
	owner  felt.Felt
	tokens []felt.Felt // of scope explicit
	hash   *felt.Felt
}

func (in *WalletRequest) check() (q *walletQuery, err error) {
	q = &walletQuery{WalletRequest: in}
	if q.owner, err = kernel.FeltOf("body.ownerAddress", in.OwnerAddress); err != nil {
		return nil, err
	}
	list, err := batchFelts("tokenAddresses", in.TokenAddresses)
	if err != nil {
		return nil, err
	}
	for _, t := range list { // a token that is named twice has one balance
		if !slices.Contains(q.tokens, t) {
			q.tokens = append(q.tokens, t)
		}
	}
	explicit := in.BlockPreference == "explicit"
	switch {
	case (in.Scope == "explicit") != (len(q.tokens) > 0):
		return nil, kernel.Fail(kernel.CodeInvalidRequest, "body.tokenAddresses: scope explicit needs them, and no other scope takes them.")
	case in.Scope == "explicit" && in.Cursor != "":
		return nil, kernel.Fail(kernel.CodeInvalidRequest, "body.cursor: scope explicit has one page.")
	case explicit && (in.BlockHash != "") == (in.BlockNumber != nil):
		return nil, kernel.Fail(kernel.CodeInvalidRequest, "body.blockPreference: explicit needs blockHash or blockNumber, and one of them.")
	case !explicit && (in.BlockHash != "" || in.BlockNumber != nil):
		return nil, kernel.Fail(kernel.CodeInvalidRequest, "body.blockHash and body.blockNumber go with blockPreference explicit.")
	}
	if in.BlockHash != "" {
		h, err := kernel.FeltOf("body.blockHash", in.BlockHash)
		if err != nil {
			return nil, err
		}
		q.hash = &h
	}
	return q, nil
}

func (s *Routes) getWalletState(ctx context.Context, in *struct {
	ChainInput
	Body WalletRequest
}) (*body[WalletState], error) {
	q, err := in.Body.check()
	if err != nil {
		return nil, err
	}
	out := &body[WalletState]{WalletState{SchemaVersion: "service.wallet_state.v1", ChainID: in.Chain, OwnerAddress: q.owner, RequestID: kernel.RequestOf(ctx).ID,
		Scope: q.Scope, Items: []WalletItem{}}}
	var c *Chain
	var at *liveBlock
	var list []asset.Candidate
	err = s.view(ctx, in.Chain, func(found *Chain, r explorer.Reader, state *chain.State) error {
		c = found
		at, list, err = s.selectWallet(ctx, c, r, state, q, &out.Body)
		return err
	})
	if err != nil {
		return nil, err
	}
	results, err := s.askBalances(ctx, c, at, q.owner, list)
	if err != nil {
		return nil, err
	}
	q.fill(list, results, &out.Body)
	if err := s.askAccount(ctx, c, at, q, &out.Body.AccountState); err != nil {
		return nil, err
	}
	return out, nil
}

// selectWallet chooses the block and the tokens.
func (s *Routes) selectWallet(ctx context.Context, c *Chain, r explorer.Reader, state *chain.State, q *walletQuery, out *WalletState) (*liveBlock, []asset.Candidate, error) {
	scope := fmt.Sprintf("getWalletState\x00%s\x00%s\x00%s\x00%s", c.ID, q.owner, q.Scope, q.BlockPreference)
	snap := &snapshot{issued: s.Now()}
	var err error
	if q.Cursor != "" {
		if snap, err = s.openSnapshot(ctx, r, scope, q.Cursor); err != nil {
			return nil, nil, err
		}
	} else if snap.block, err = q.block(ctx, r, state); err != nil {
		return nil, nil, err
	}
	n := snap.block.Number
	out.Block = WalletBlock{q.BlockPreference, n, snap.block.Hash, "accepted_on_l2"}
	switch {
	case q.BlockPreference == "explicit":
		out.Block.FinalityStatus = "explicit"
	case state.HasL1 && n <= state.L1.Number:
		out.Block.FinalityStatus = "accepted_on_l1"
	}
	at := &liveBlock{tag: "explicit", at: snap.block, state: *state}
	if q.Scope == "explicit" {
		out.Coverage = AssetCoverage{DeclaredScope: "caller_explicit", CompleteWithinScope: true, ReasonCodes: []string{}, CoveredThroughBlock: &n, TargetThroughBlock: &n, TailObservedThroughBlock: &state.Head.Number}
		list, err := asset.Named(ctx, r, c.Registry, q.tokens)
		return at, list, err
	}
	limit := q.Limit.Clamp(MaxWalletTokens, MaxWalletTokens)
	list, more, err := snap.Candidates(ctx, r, asset.Query{Owner: q.owner, Known: c.Registry, Listed: q.Scope == "discovered_plus_registry", Block: n}, limit)
	if err != nil {
		return nil, nil, err
	}
	out.Coverage, out.HasMore = discoveryCoverage(c, state, n), more
	if more {
		out.NextCursor = s.sealSnapshot(scope, snap)
	}
	return at, list, nil
}

// Block finds the block that the request prefers.
func (q *walletQuery) block(ctx context.Context, r explorer.Reader, state *chain.State) (contractcall.Block, error) {
	switch {
	case q.BlockPreference == "l1_accepted":
		if !state.HasL1 {
			return contractcall.Block{}, kernel.RetryLater(60, nil, "No indexed block is known to be accepted on L1 yet.")
		}
		return contractcall.Block{Number: state.L1.Number, Hash: state.L1.Hash}, nil
	case q.hash != nil:
		n, err := block.NumberOf(ctx, r, *q.hash)
		if errors.Is(err, block.ErrNotFound) {
			return contractcall.Block{}, kernel.Because(kernel.ReasonBlockNotFound, "No indexed block has the hash %s.", *q.hash)
		}
		return contractcall.Block{Number: n, Hash: *q.hash}, err
	case q.BlockNumber != nil:
		b, err := block.Get(ctx, r, *q.BlockNumber)
		if errors.Is(err, block.ErrNotFound) {
			return contractcall.Block{}, kernel.Because(kernel.ReasonBlockNotFound, "Block %d is not indexed; the newest is %d.", *q.BlockNumber, state.Head.Number)
		}
		if err != nil {
			return contractcall.Block{}, err
		}
		return contractcall.Block{Number: b.Number, Hash: b.Hash}, nil
	}
	return contractcall.Block{Number: state.Head.Number, Hash: state.Head.Hash}, nil
}

// askBalances asks for all balances in one batch, each under both names.
func (s *Routes) askBalances(ctx context.Context, c *Chain, at *liveBlock, owner felt.Felt, list []asset.Candidate) ([]contractcall.Result, error) {
	if len(list) == 0 {
		return nil, nil
	}
	var calls []contractcall.Call
	for i := range list {
		for _, name := range contractcall.BalanceOf {
			calls = append(calls, contractcall.Call{Contract: list[i].Token, Selector: name, Calldata: []felt.Felt{owner}})
		}
	}
	_, results, err := s.ask(ctx, c, at, calls...)
	return results, err
}

// fill turns results into items. What a contract answered at a block it answers
// again: a token without a balance there is unreadable for good, so that trying
// again would not help, and does not fail the request.
func (q *walletQuery) fill(list []asset.Candidate, results []contractcall.Result, out *WalletState) {
	v := &out.Verification
	v.Selected = len(list)
	gaps := 0
	for i := range list {
		names := len(contractcall.BalanceOf)
		balance, status, why := walletBalance(results[i*names : (i+1)*names])
		if why == unreadableNoContract && list[i].Known != nil && list[i].Seen == nil {
			// A token of the registry that is not deployed at the block yet: nobody
			// has any of it, which is no gap.
			balance, status, why = new(big.Int), "ok", ""
		}
		switch status {
		case "ok":
			if v.Verified++; balance.Sign() == 0 {
				v.VerifiedZeroHidden++
				continue
			}
			v.VisibleNonZero++
		case "unsupported":
			v.Unsupported++
		default:
			v.Failed++
		}
		if status != "ok" {
			v.Unreadable++
			// Anybody can send a token that cannot be read. It is a gap only where
			// somebody vouches for the token or asked for it.
			if list[i].Known != nil || q.Scope == "explicit" {
				gaps++
			}
		}
		item := WalletItem{TokenAddress: list[i].Token, Status: status, Unreadable: some(why), Metadata: assetMetadata(&list[i]),
			Price: WalletPrice{Status: "unavailable", ReasonCode: "price_metadata_unavailable", QuoteCurrency: "usd"}}
		if balance != nil {
			text := balance.String()
			item.BalanceRaw = &text
		}
		out.Items = append(out.Items, item)
	}
	out.Partial = gaps > 0
	out.Correctness = "verified_complete"
	if out.Partial {
		out.Correctness = "verified_partial"
	}
	out.WalletSafe = !out.Partial && !out.HasMore && q.Cursor == "" && out.Coverage.CompleteWithinScope
	out.Valuation = WalletValuation{Scope: "page", UnpricedNonZeroAssetCount: v.VisibleNonZero, ExcludedUnpricedAssets: v.VisibleNonZero > 0}
}

// Why a token has no balance that can be read.
const (
	unreadableNoContract = "no_contract"
	unreadableNoFunction = "no_balance_function"
	unreadableNoAmount   = "not_an_amount"
	unreadableReverted   = "reverted"
)

// walletBalance reads the answers of one token.
func walletBalance(results []contractcall.Result) (balance *big.Int, status, why string) {
	status, why = "unsupported", unreadableNoFunction
	for i := range results {
		switch r := &results[i]; r.Fault {
		case contractcall.None:
			if n, ok := contractcall.Amount(r.Values); ok {
				return n, "ok", ""
			}
			status, why = "unsupported", unreadableNoAmount
		case contractcall.Reverted:
			status, why = "error", unreadableReverted
		case contractcall.NoContract:
			return nil, "unsupported", unreadableNoContract
		}
	}
	return nil, status, why
}

// askAccount reads the owner's nonce and class at the same block.
func (s *Routes) askAccount(ctx context.Context, c *Chain, at *liveBlock, q *walletQuery, out *WalletAccount) error {
	out.NonceStatus, out.ClassHashStatus = "not_requested", "not_requested"
	if q.Include == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, nodeTime)
	defer cancel()
	for _, part := range []struct {
		wanted bool
		read   func(context.Context, contractcall.Block, felt.Felt) (felt.Felt, bool, error)
		value  **felt.Felt
		status *string
	}{
		{q.Include.Nonce, func(ctx context.Context, b contractcall.Block, a felt.Felt) (felt.Felt, bool, error) {
			return c.Node.NonceAt(ctx, b, a)
		}, &out.Nonce, &out.NonceStatus},
		{q.Include.ClassHash, func(ctx context.Context, b contractcall.Block, a felt.Felt) (felt.Felt, bool, error) {
			return c.Node.ClassHashAt(ctx, b, a)
		}, &out.ClassHash, &out.ClassHashStatus},
	} {
		if !part.wanted {
			continue
		}
		if c.Node == nil {
			return noNode()
		}
		value, found, err := part.read(ctx, at.at, q.owner)
		switch {
		case err == nil:
			if *part.status = "verified"; found {
				*part.value = &value
			}
		case q.Mode != "verified_partial":
			return nodeFailure(ctx, err)
		case ctx.Err() != nil:
			*part.status = "timeout"
		default:
			*part.status = "error"
		}
	}
	return nil
}
