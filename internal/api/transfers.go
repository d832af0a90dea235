package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"chainexplorer/internal/account"
	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/explorer/token"
	"chainexplorer/internal/explorer/transaction"
	"chainexplorer/internal/explorer/transfer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/starknet"
)

// TransferRange are the parameters that every list of transfers takes.
type TransferRange struct {
	FromBlock string       `query:"from_block" maxLength:"20" doc:"First block, a number."`
	ToBlock   string       `query:"to_block" maxLength:"20" doc:"Last block, a number; included."`
	Limit     kernel.Limit `query:"limit"`
	Cursor    string       `query:"cursor" doc:"nextCursor of the page before."`
}

// TransferFilter are the parameters of lists that are not of one token.
type TransferFilter struct {
	TransferRange
	Direction      string   `query:"direction" enum:"any,in,out" default:"any" doc:"On which side an address stands. A transfer to oneself is in all three, once."`
	Token          []string `query:"token,explode" format:"felt" doc:"Token contract; repeat for alternatives."`
	Type           string   `query:"type" maxLength:"20" doc:"erc20 (also fungible, ft), erc721 (nft), erc1155 (multitoken) or unknown."`
	Symbol         string   `query:"symbol" maxLength:"64" doc:"Exact symbol in any case. More than 128 contracts with it are refused."`
	TimestampFrom  string   `query:"timestampFrom" maxLength:"40" doc:"Only blocks from this time on: RFC 3339 with a zone, or Unix seconds."`
	TimestampTo    string   `query:"timestampTo" maxLength:"40" doc:"Only blocks up to this time, included; written as timestampFrom."`
	InvocationType string   `query:"invocationType" maxLength:"20" doc:"Type of the transaction: INVOKE (also execute), DECLARE, DEPLOY, DEPLOY_ACCOUNT or L1_HANDLER."`
}

// TokenTransferItem is a transfer in the list of a token.
type TokenTransferItem struct {
	BlockNumber   uint64         `json:"blockNumber"`
	TimestampISO  *string        `json:"timestampIso" format:"date-time"`
	TxIndex       uint32         `json:"txIndex"`
	LogIndex      uint32         `json:"logIndex" doc:"The event's index in its transaction."`
	TransferIndex uint32         `json:"transferIndex" doc:"The transfer's index in its event: above 0 only in a batch."`
	TxHash        felt.Felt      `json:"txHash"`
	FromAddress   *felt.Felt     `json:"fromAddress" doc:"0x0 for a mint."`
	ToAddress     *felt.Felt     `json:"toAddress" doc:"0x0 for a burn."`
	Amount        *string        `json:"amount" doc:"How much moved, in base units: decimal; 1 of an ERC-721; null when the standard is unknown."`
	RawValue      *string        `json:"rawValue" doc:"The value as the event has it: decimal; of an unknown standard an amount or an id; null of an ERC-721."`
	TokenID       *string        `json:"tokenId" doc:"Decimal; of ERC-721 and ERC-1155."`
	Standard      string         `json:"standard" enum:"erc20,erc721,erc1155,unknown"`
	TokenSymbol   *string        `json:"tokenSymbol"`
	TokenName     *string        `json:"tokenName"`
	TokenDecimals *uint8         `json:"tokenDecimals"`
	ActionContext *ActionContext `json:"actionContext" doc:"Told for mints and burns; null for the rest."`
	HistoricalUSD *struct{}      `json:"historicalUsd" doc:"Always null: no prices are indexed."`
	RowTier
}

// TokenTransferPage is a page of a token's transfers.
type TokenTransferPage struct {
	Items      []TokenTransferItem `json:"items"`
	NextCursor *string             `json:"nextCursor"`
}

// TransferItem is a transfer in a list of several tokens.
type TransferItem struct {
	TokenAddress felt.Felt `json:"tokenAddress"`
	TokenTransferItem
}

// TransferPage is a page of transfers.
type TransferPage struct {
	Items      []TransferItem `json:"items"`
	NextCursor *string        `json:"nextCursor"`
}

// ActionContext says what a transfer was part of.
type ActionContext struct {
	ActionKind        string  `json:"actionKind" enum:"transfer,mint,burn,swap_leg,bridge_leg,lp_add,lp_remove,fee,internal_routing,unknown"`
	ActionLabel       string  `json:"actionLabel"`
	MethodLabel       *string `json:"methodLabel"`
	ProtocolSlug      *string `json:"protocolSlug"`
	ProtocolName      *string `json:"protocolName"`
	ReasonCode        string  `json:"reasonCode"`
	Confidence        string  `json:"confidence" enum:"exact,partial,heuristic,unknown"`
	IsInternalRouting bool    `json:"isInternalRouting"`
	Source            string  `json:"source"`
	IndexedAt         *string `json:"indexedAt" format:"date-time"`
}

// TxTransfer is a transfer in its transaction.
type TxTransfer struct {
	LogIndex      uint32     `json:"logIndex"`
	TransferIndex uint32     `json:"transferIndex"`
	TokenAddress  felt.Felt  `json:"tokenAddress"`
	FromAddress   *felt.Felt `json:"fromAddress" doc:"0x0 for a mint."`
	ToAddress     *felt.Felt `json:"toAddress" doc:"0x0 for a burn."`
	Amount        *string    `json:"amount" doc:"How much moved, in base units: decimal; 1 of an ERC-721; null when the standard is unknown."`
	TokenID       *string    `json:"tokenId" doc:"Decimal; of ERC-721 and ERC-1155."`
	Standard      string     `json:"standard" enum:"erc20,erc721,erc1155,unknown"`
	HistoricalUSD *struct{}  `json:"historicalUsd" doc:"Always null: no prices are indexed."`
}

func (s *Routes) transferRoutes() {
	base := kernel.Route{Method: http.MethodGet, Class: kernel.Heavy, Scope: account.Read, Tier: kernel.TierOfficial, Audience: kernel.External, Depends: kernel.OnChain | kernel.OnEnrichment, Certification: kernel.Beta,
		Page: kernel.Page{Usual: 25, Most: 100}, Statuses: []int{http.StatusNotFound}}
	of := base
	of.ID, of.Path, of.Family, of.Summary = "listTokenTransfers", "/v1/{chain}/token/{token}/transfers", "Tokens", "List a token's transfers"
	of.Description = "Newest first. `address` keeps those that one of the addresses sent or received. `limit` is {page}. " +
		"A page may end early and be empty; go on while nextCursor is not null."
	kernel.Register(s.Server, of, s.listTokenTransfers)
	all := base
	all.ID, all.Path, all.Family, all.Summary = "listTransfers", "/v1/{chain}/transfers", "Tokens", "List transfers of all tokens"
	all.Description = "Newest first. Filters of different names must all match; values of one are alternatives. `direction` other than any needs an address. " +
		"`limit` is {page}. A page may end early and be empty; go on while nextCursor is not null."
	kernel.Register(s.Server, all, s.listTransfers)
}

func (s *Routes) listTokenTransfers(ctx context.Context, in *struct {
	ChainInput
	Token   string   `path:"token" format:"felt" maxLength:"70" doc:"Token contract."`
	Address []string `query:"address,explode" format:"felt" doc:"Sender or receiver; repeat for alternatives."`
	TransferRange
}) (*body[TokenTransferPage], error) {
	if _, err := kernel.FeltOf("path.token", in.Token); err != nil {
		return nil, err
	}
	q, err := parseTransfers(&TransferFilter{TransferRange: in.TransferRange, Token: []string{in.Token}}, kernel.Values("query.address", in.Address))
	if err != nil {
		return nil, err
	}
	out := &body[TokenTransferPage]{TokenTransferPage{Items: []TokenTransferItem{}}}
	out.Body.NextCursor, err = s.transferPage(ctx, "listTokenTransfers", in.Chain, q, func(c *Chain, state *chain.State, page *token.TransferPage) {
		items, text := make([]TokenTransferItem, len(page.Transfers)), &texts{}
		for i := range items {
			renderTransfer(c, state, page, i, text, &items[i])
		}
		out.Body.Items = items
	})
	return out, err
}

func (s *Routes) listTransfers(ctx context.Context, in *struct {
	ChainInput
	Address []string `query:"address,explode" format:"felt" doc:"Sender or receiver; repeat for alternatives."`
	TransferFilter
}) (*body[TransferPage], error) {
	q, err := parseTransfers(&in.TransferFilter, kernel.Values("query.address", in.Address))
	if err != nil {
		return nil, err
	}
	return s.transfersOfMany(ctx, "listTransfers", in.Chain, q)
}

// transferQuery is a checked request for transfers.
type transferQuery struct {
	token.TransferQuery
	cursor string
}

// parseTransfers checks what needs no look at the chain. addresses are those of
// the request, whichever way it names them.
func parseTransfers(in *TransferFilter, addresses []kernel.Given) (*transferQuery, error) {
	q := &transferQuery{cursor: in.Cursor}
	q.Symbol = strings.ToLower(in.Symbol)
	q.Query = transfer.Query{Limit: in.Limit.Size()}
	var err error
	if q.Addresses, err = kernel.FeltsOf("query.address", addresses, transfer.MaxAddresses); err != nil {
		return nil, err
	}
	if q.Tokens, err = kernel.FeltsOf("query.token", kernel.Values("query.token", in.Token), transfer.MaxTokens); err != nil {
		return nil, err
	}
	q.Side = map[string]transfer.Side{"in": transfer.In, "out": transfer.Out}[in.Direction]
	if q.Side != 0 && len(q.Addresses) == 0 {
		return nil, kernel.Fail(kernel.CodeInvalidRequest, "query.direction: %s needs an address.", in.Direction)
	}
	if in.Type != "" {
		kind, known := transferTypes[strings.ToLower(in.Type)]
		if !known {
			return nil, kernel.Fail(kernel.CodeInvalidRequest, "query.type: %q is none of erc20, erc721, erc1155, unknown and their aliases.", kernel.Clip(in.Type, 20))
		}
		q.Standards = []transfer.Standard{kind}
	}
	if in.InvocationType != "" {
		if q.TxTypes, err = txTypes("query.invocationType", in.InvocationType); err != nil {
			return nil, err
		}
	}
	var since time.Time
	if in.TimestampFrom != "" {
		if since, err = kernel.TimestampOf("query.timestampFrom", in.TimestampFrom); err != nil {
			return nil, err
		}
		q.Since = ceilSeconds(since)
	}
	if in.TimestampTo != "" {
		at, err := kernel.TimestampOf("query.timestampTo", in.TimestampTo)
		if err != nil {
			return nil, err
		}
		if in.TimestampFrom != "" && since.After(at) {
			return nil, kernel.Fail(kernel.CodeInvalidRequest, "query.timestampFrom: it is after timestampTo.")
		}
		until := at.Unix()
		q.Until = &until
	}
	if q.From, q.To, err = kernel.BlockRange(in.FromBlock, in.ToBlock); err != nil {
		return nil, err
	}
	return q, nil
}

var transferTypes = map[string]transfer.Standard{
	"erc20": transfer.ERC20, "fungible": transfer.ERC20, "ft": transfer.ERC20,
	"erc721": transfer.ERC721, "nft": transfer.ERC721,
	"erc1155": transfer.ERC1155, "multitoken": transfer.ERC1155,
	"unknown": transfer.Ambiguous,
}

// txTypes reads the name of a type of transactions.
func txTypes(name, text string) ([]starknet.TxType, error) {
	kind, known := invocationTypes[strings.ToUpper(text)]
	if !known {
		return nil, kernel.Fail(kernel.CodeInvalidRequest, "%s: %q is none of INVOKE, DECLARE, DEPLOY, DEPLOY_ACCOUNT, L1_HANDLER and execute.", name, kernel.Clip(text, 20))
	}
	return []starknet.TxType{kind}, nil
}

// typesText is the same for the same types, and empty for none.
func typesText(types []starknet.TxType) string {
	if len(types) == 0 {
		return ""
	}
	return fmt.Sprint(types)
}

var invocationTypes = map[string]starknet.TxType{
	"INVOKE": starknet.Invoke, "EXECUTE": starknet.Invoke, "DECLARE": starknet.Declare, "DEPLOY": starknet.Deploy,
	"DEPLOY_ACCOUNT": starknet.DeployAccount, "L1_HANDLER": starknet.L1Handler,
}

// transfersOfMany lists transfers of several tokens. The routes of addresses use it, too.
func (s *Routes) transfersOfMany(ctx context.Context, operation, chainID string, q *transferQuery) (*body[TransferPage], error) {
	out := &body[TransferPage]{TransferPage{Items: []TransferItem{}}}
	var err error
	out.Body.NextCursor, err = s.transferPage(ctx, operation, chainID, q, func(c *Chain, state *chain.State, page *token.TransferPage) {
		out.Body.Items = renderTransfers(c, state, page)
	})
	return out, err
}

// transferPage reads a page of transfers, has it rendered, and returns the cursor of the next.
func (s *Routes) transferPage(ctx context.Context, operation, chainID string, q *transferQuery, render func(*Chain, *chain.State, *token.TransferPage)) (next *string, err error) {
	scope := operation + "\x00" + chainID + "\x00" + q.Identity()
	err = s.view(ctx, chainID, func(c *Chain, r explorer.Reader, state *chain.State) error {
		if q.cursor != "" {
			after, err := s.openTransfer(ctx, r, scope, q.cursor)
			if err != nil {
				return err
			}
			q.After = &after
		}
		page, err := token.ListTransfers(ctx, r, q.TransferQuery)
		if errors.Is(err, token.ErrManyNamed) {
			return kernel.Fail(kernel.CodeInvalidRequest, "query.symbol: more than %d contracts call themselves %q; name the token by its address.", transfer.MaxTokens, kernel.Clip(q.Symbol, 40))
		}
		if err != nil {
			return err
		}
		if !page.Done {
			next = s.sealTransfer(scope, *page.Next, page.NextHash)
		}
		render(c, state, &page)
		return nil
	})
	return next, err
}

// actionOf tells mints and burns, which the event itself proves.
func actionOf(t *transfer.Transfer) *ActionContext {
	a := ActionContext{ReasonCode: "zero_address_party", Confidence: "exact", Source: "indexed_transfer_event"}
	switch {
	case t.Mint():
		a.ActionKind, a.ActionLabel = "mint", "Mint"
	case t.Burn():
		a.ActionKind, a.ActionLabel = "burn", "Burn"
	default:
		return nil
	}
	told := a // most are neither, and take no memory
	return &told
}

func renderTransfers(c *Chain, state *chain.State, page *token.TransferPage) []TransferItem {
	items, text := make([]TransferItem, len(page.Transfers)), &texts{}
	for i := range items {
		items[i].TokenAddress = page.Transfers[i].Token
		renderTransfer(c, state, page, i, text, &items[i].TokenTransferItem)
	}
	return items
}

// renderTransfer renders one of a page.
func renderTransfer(c *Chain, state *chain.State, page *token.TransferPage, i int, text *texts, item *TokenTransferItem) {
	t := &page.Transfers[i]
	item.BlockNumber, item.TimestampISO, item.TxIndex, item.LogIndex, item.TransferIndex = t.Block, text.at(text.iso(t.Timestamp)), t.Tx, t.Log, t.Index
	item.TxHash, item.FromAddress, item.ToAddress, item.Standard = t.TxHash, &t.From, &t.To, t.Standard.String()
	item.Amount, item.RawValue, item.TokenID = text.values(&t.Transfer)
	item.ActionContext, item.RowTier = actionOf(&t.Transfer), tierOf(c, state, t.Block)
	if m := page.Metadata[t.Token]; m != nil {
		item.TokenSymbol, item.TokenName, item.TokenDecimals = m.Symbol, m.Name, m.Decimals
	}
}

// maxTxTransfers bounds the transfers shown with a transaction.
const maxTxTransfers = 1000

// txTransfers lists the transfers of a transaction; certain is token.TransfersOf's.
func txTransfers(ctx context.Context, r explorer.Reader, t *transaction.Record, room *txRoom) (out []TxTransfer, coverage Coverage, certain bool, err error) {
	list, total, certain, err := room.transfers.TransfersOf(ctx, r, t, maxTxTransfers)
	if err != nil {
		return nil, coverage, false, err
	}
	out = slices.Grow(room.moved[:0], max(len(list), 1)) // which is not nil
	for i := range list {
		out = append(out, renderTxTransfer(&list[i], &room.text))
	}
	room.moved = out
	if len(list) < total {
		return out, Coverage{"partial", "transaction_transfers_truncated"}, certain, nil
	}
	return out, Coverage{"exact", "indexed_transfer_events"}, certain, nil
}

func renderTxTransfer(x *transfer.Numbered, text *texts) TxTransfer {
	amount, _, id := text.values(&x.Transfer)
	return TxTransfer{LogIndex: x.Log, TransferIndex: x.Index, TokenAddress: x.Token, FromAddress: &x.From, ToAddress: &x.To,
		Amount: amount, TokenID: id, Standard: x.Standard.String()}
}

// sealTransfer and openTransfer are for places in lists of transfers.
func (s *Routes) sealTransfer(scope string, p transfer.Place, hash felt.Felt) *string {
	return s.sealSpot(scope, block.Ref{Number: p.Block, Hash: hash}, p.Tx, p.Log, p.Index)
}

func (s *Routes) openTransfer(ctx context.Context, r explorer.Reader, scope, cursor string) (p transfer.Place, err error) {
	p.Block, err = s.openSpot(ctx, r, scope, cursor, &p.Tx, &p.Log, &p.Index)
	return p, err
}
