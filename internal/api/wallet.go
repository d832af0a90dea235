package api

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"chainexplorer/internal/account"
	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/asset"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
)

// MaxWalletTokens bounds the tokens of a wallet state; each is asked for under
// two names, all in one batch.
const MaxWalletTokens = 25

// WalletRequest asks for a wallet's balances at one block.
type WalletRequest struct {
	OwnerAddress    string           `json:"ownerAddress" format:"felt" maxLength:"70"`
	Mode            string           `json:"mode,omitempty" enum:"require_complete,verified_partial" default:"require_complete" doc:"Whether one balance that could not be read this time fails the whole. A token that its contract will not tell at this block is reported as unreadable in both modes."`
	Scope           string           `json:"scope,omitempty" enum:"explicit,discovered,discovered_plus_registry" default:"discovered_plus_registry" doc:"Which tokens: tokenAddresses alone, those with transfers from or to the owner, or these and the known ones."`
	TokenAddresses  []string         `json:"tokenAddresses,omitempty" format:"felt" maxItems:"25" doc:"Only with scope explicit, which needs them."`
	Cursor          string           `json:"cursor,omitempty" doc:"nextCursor of the page before: it keeps the block."`
	Limit           kernel.BodyLimit `json:"limit,omitempty" doc:"Tokens of a page: 25 unless given, and at most. A value out of range is clamped."`
	BlockPreference string           `json:"blockPreference,omitempty" enum:"latest_accepted_l2,l1_accepted,explicit" default:"latest_accepted_l2"`
	BlockHash       string           `json:"blockHash,omitempty" format:"felt" maxLength:"70" doc:"Only with blockPreference explicit."`
	BlockNumber     *uint64          `json:"blockNumber,omitempty" doc:"Only with blockPreference explicit."`
	Include         *WalletInclude   `json:"include,omitempty"`
}

// WalletInclude asks for more than balances.
type WalletInclude struct {
	Nonce     bool `json:"nonce,omitempty"`
	ClassHash bool `json:"classHash,omitempty"`
}

// WalletState is what a wallet has at one block.
type WalletState struct {
	SchemaVersion string             `json:"schemaVersion" enum:"service.wallet_state.v1"`
	ChainID       string             `json:"chainId"`
	OwnerAddress  felt.Felt          `json:"ownerAddress"`
	RequestID     string             `json:"requestId"`
	Block         WalletBlock        `json:"block"`
	Scope         string             `json:"scope" enum:"explicit,discovered,discovered_plus_registry"`
	Coverage      AssetCoverage      `json:"coverage"`
	Correctness   string             `json:"correctness" enum:"verified_complete,verified_partial" doc:"verified_complete: every token has a verified balance, those aside that nobody vouches for and whose contracts are unreadable."`
	Partial       bool               `json:"partial"`
	WalletSafe    bool               `json:"walletSafe" doc:"Everything was verified, nothing follows, and the candidates are complete within their scope."`
	Items         []WalletItem       `json:"items" doc:"Verified zeros are left out."`
	Verification  WalletVerification `json:"verification"`
	AccountState  WalletAccount      `json:"accountState"`
	Valuation     WalletValuation    `json:"valuation"`
	HasMore       bool               `json:"hasMore"`
	NextCursor    *string            `json:"nextCursor"`
}

// WalletBlock is the block that everything refers to.
type WalletBlock struct {
	Preference     string    `json:"preference" enum:"latest_accepted_l2,l1_accepted,explicit"`
	BlockNumber    uint64    `json:"blockNumber"`
	BlockHash      felt.Felt `json:"blockHash"`
	FinalityStatus string    `json:"finalityStatus" enum:"accepted_on_l2,accepted_on_l1,explicit"`
}

// WalletItem is the balance of a token.
type WalletItem struct {
	TokenAddress felt.Felt     `json:"tokenAddress"`
	BalanceRaw   *string       `json:"balanceRaw" doc:"Decimal."`
	Status       string        `json:"status" enum:"ok,unsupported,timeout,error" doc:"unsupported: there is no contract, or it has no balances. error: the contract refuses to tell, or, where unreadableReason is null, no node answered for this token. timeout: none did in time."`
	Unreadable   *string       `json:"unreadableReason" enum:"no_contract,no_balance_function,not_an_amount,reverted" doc:"Why there is no balance. It holds for this block for good: asking again does not help."`
	Metadata     AssetMetadata `json:"metadata"`
	Price        WalletPrice   `json:"price"`
}

// WalletPrice says that there is no price.
type WalletPrice struct {
	Status         string  `json:"status" enum:"priced,unavailable"`
	ReasonCode     string  `json:"reasonCode" enum:"price_metadata_unavailable"`
	QuoteCurrency  string  `json:"quoteCurrency" enum:"usd"`
	PriceUSD       *string `json:"priceUsd"`
	ValueUSD       *string `json:"valueUsd"`
	Source         *string `json:"source"`
	Provider       *string `json:"provider"`
	Confidence     *string `json:"confidence"`
	PriceTimestamp *string `json:"priceTimestamp"`
	ObservedAt     *string `json:"observedAt"`
	MaxAgeSeconds  *int    `json:"maxAgeSeconds"`
}

// WalletVerification counts what became of the tokens of the page.
type WalletVerification struct {
	Selected           int `json:"selected"`
	Verified           int `json:"verified"`
	VisibleNonZero     int `json:"visibleNonZero"`
	VerifiedZeroHidden int `json:"verifiedZeroHidden"`
	Failed             int `json:"failed"`
	TimedOut           int `json:"timedOut"`
	Unsupported        int `json:"unsupported" doc:"Tokens that are no contract, or have no balances."`
	Unreadable         int `json:"unreadable" doc:"Tokens without a balance for good: unsupported, and those whose contract refuses (failed)."`
}

// WalletAccount is the owner's own contract.
type WalletAccount struct {
	Nonce           *felt.Felt `json:"nonce"`
	NonceStatus     string     `json:"nonceStatus" enum:"not_requested,verified,timeout,error"`
	ClassHash       *felt.Felt `json:"classHash" doc:"Null with status verified: there is no contract."`
	ClassHashStatus string     `json:"classHashStatus" enum:"not_requested,verified,timeout,error"`
}

// WalletValuation says that nothing is valued.
type WalletValuation struct {
	Scope                     string  `json:"scope" enum:"page"`
	SinglePageComplete        bool    `json:"singlePageComplete"`
	CompleteForWallet         bool    `json:"completeForWallet"`
	TotalUSD                  *string `json:"totalUsd"`
	PricedAssetCount          int     `json:"pricedAssetCount"`
	UnpricedNonZeroAssetCount int     `json:"unpricedNonZeroAssetCount"`
	ExcludedUnpricedAssets    bool    `json:"excludedUnpricedAssets"`
}

func (s *Routes) walletRoutes() {
	r := kernel.Route{Method: http.MethodPost, Family: "Wallets", Class: kernel.Heavy, Scope: account.Read, Tier: kernel.TierOfficial, Certification: kernel.Beta, Audience: kernel.External, Depends: kernel.OnChain | kernel.OnEnrichment | kernel.OnNode | kernel.OnClock,
		Statuses: []int{http.StatusNotFound, http.StatusUnprocessableEntity}, MaxBody: batchBody,
		Headers: map[string]string{kernel.HeaderQueryClass: "wallet_state", kernel.HeaderCostUnits: "1"},
		Page:    kernel.Page{Usual: MaxWalletTokens, Most: MaxWalletTokens},
		ID:      "getWalletState", Path: "/v1/{chain}/query/wallet-state", Summary: "Read a wallet's balances at one block"}
	r.Description = "Balances of up to 25 tokens, read from their contracts at one block hash. With `mode` require_complete anything that could not be read this time fails the whole; " +
		"with verified_partial the rest is returned, unless no node answered at all. A token that its contract will never tell at that block, such as spam, is reported as unreadable and fails nothing. With `scope` explicit the tokens are those of `tokenAddresses`; otherwise they are the candidates of asset discovery."
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
	balances, err := s.askBalances(ctx, c, at, q, list)
	if err != nil {
		return nil, err
	}
	q.fill(list, balances, &out.Body)
	if err := s.askAccount(ctx, c, at, q, &out.Body); err != nil {
		return nil, err
	}
	return out, nil
}

// lack says that something of what was asked for is not there.
func (w *WalletState) lack() {
	w.Partial, w.Correctness, w.WalletSafe = true, "verified_partial", false
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
	} else if snap.block, err = pinned(ctx, r, state, chain.Pin{L1: q.BlockPreference == "l1_accepted", Hash: q.hash, Number: q.BlockNumber}); err != nil {
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
	limit := q.Limit.Size()
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

// walletStatus is the word for a balance that cannot be read, and for one that can.
var walletStatus = map[asset.Unreadable]string{"": "ok", asset.NoContract: "unsupported", asset.NoBalanceFunction: "unsupported", asset.NotAnAmount: "unsupported",
	asset.Reverted: "error", asset.Unanswered: "error", asset.TooLate: "timeout"}

// fill turns balances into items. A token that is unreadable for good, so that trying
// again would not help, does not fail the request.
func (q *walletQuery) fill(list []asset.Candidate, balances []asset.Balance, out *WalletState) {
	v := &out.Verification
	v.Selected = len(list)
	gaps := 0
	for i := range list {
		b, status := balances[i], walletStatus[balances[i].Why]
		switch status {
		case "ok":
			if v.Verified++; b.Amount.Sign() == 0 {
				v.VerifiedZeroHidden++
				continue
			}
			v.VisibleNonZero++
		case "unsupported":
			v.Unsupported++
		case "timeout":
			v.TimedOut++
		default:
			v.Failed++
		}
		item := WalletItem{TokenAddress: list[i].Token, Status: status, Unreadable: some(string(b.Why)), Metadata: assetMetadata(&list[i]),
			Price: WalletPrice{Status: "unavailable", ReasonCode: "price_metadata_unavailable", QuoteCurrency: "usd"}}
		switch {
		case b.Amount != nil:
			item.BalanceRaw = some(b.Amount.String())
		case !b.Why.ForGood():
			item.Unreadable = nil // which may be otherwise the next time
			gaps++
		default:
			v.Unreadable++
			// Anybody can send a token that cannot be read. It is a gap only where
			// somebody vouches for the token or asked for it.
			if list[i].Known != nil || q.Scope == "explicit" {
				gaps++
			}
		}
		out.Items = append(out.Items, item)
	}
	out.Correctness, out.WalletSafe = "verified_complete", !out.HasMore && q.Cursor == "" && out.Coverage.CompleteWithinScope
	if gaps > 0 {
		out.lack()
	}
	out.Valuation = WalletValuation{Scope: "page", UnpricedNonZeroAssetCount: v.VisibleNonZero, ExcludedUnpricedAssets: v.VisibleNonZero > 0}
}
