package api

import (
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
)

// WalletRequest asks for a wallet's balances at one block.
type WalletRequest struct {
	OwnerAddress    string           `json:"ownerAddress" maxLength:"70"`
	Mode            string           `json:"mode,omitempty" enum:"require_complete,verified_partial" default:"require_complete" doc:"Whether one balance that could not be read this time fails the whole. A token that its contract will not tell at this block is reported as unreadable in both modes."`
	Scope           string           `json:"scope,omitempty" enum:"explicit,discovered,discovered_plus_registry" default:"discovered_plus_registry" doc:"Which tokens: tokenAddresses alone, those with transfers from or to the owner, or these and the known ones."`
	TokenAddresses  []string         `json:"tokenAddresses,omitempty" maxItems:"25" doc:"Only with scope explicit, which needs them."`
	Cursor          string           `json:"cursor,omitempty" doc:"nextCursor of the page before: it keeps the block."`
	Limit           kernel.BodyLimit `json:"limit,omitempty" doc:"Tokens of a page: 25 unless given, and at most. A value out of range is clamped."`
	BlockPreference string           `json:"blockPreference,omitempty" enum:"latest_accepted_l2,l1_accepted,explicit" default:"latest_accepted_l2"`
	BlockHash       string           `json:"blockHash,omitempty" maxLength:"70" doc:"Only with blockPreference explicit."`
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
	Status       string        `json:"status" enum:"ok,unsupported,timeout,error" doc:"unsupported: there is no contract, or it has no balances. error: the contract refuses to tell."`
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
