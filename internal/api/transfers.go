package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"chainexplorer/internal/account"
	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/explorer/event"
	"chainexplorer/internal/explorer/token"
	"chainexplorer/internal/explorer/transfer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/starknet"
)

// The limits of transfer lists.
const (
	MaxTransferPage     = 100
	DefaultTransferPage = 25
	maxTransferFilter   = 128 // addresses, tokens, tokens of a symbol
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
	Token          []string `query:"token,explode" doc:"Token contract; repeat for alternatives."`
	Type           string   `query:"type" maxLength:"20" doc:"erc20 (also fungible, ft), erc721 (nft), erc1155 (multitoken) or unknown."`
	Symbol         string   `query:"symbol" maxLength:"64" doc:"Exact symbol in any case. More than 128 contracts with it are refused."`
	TimestampFrom  string   `query:"timestampFrom" maxLength:"40" doc:"Only blocks from this time on: RFC 3339 with a zone, or Unix seconds."`
	TimestampTo    string   `query:"timestampTo" maxLength:"40" doc:"Only blocks up to this time, included; written as timestampFrom."`
	InvocationType string   `query:"invocationType" maxLength:"20" doc:"Type of the transaction: INVOKE (also execute), DECLARE, DEPLOY, DEPLOY_ACCOUNT or L1_HANDLER."`
}

func (s *Routes) transferRoutes() {
	base := kernel.Route{Method: http.MethodGet, Class: kernel.Heavy, Scope: account.Read, Tier: kernel.TierOfficial, Audience: kernel.External, Depends: kernel.OnChain | kernel.OnEnrichment, Certification: kernel.Beta,
		Statuses: []int{http.StatusNotFound}}
	of := base
	of.ID, of.Path, of.Family, of.Summary = "listTokenTransfers", "/v1/{chain}/token/{token}/transfers", "Tokens", "List a token's transfers"
	of.Description = "Newest first. `address` keeps those that one of the addresses sent or received. `limit` is 1 to 100, 25 by default. " +
		"A page may end early and be empty; go on while nextCursor is not null."
	kernel.Register(s.Server, of, s.listTokenTransfers)
	all := base
	all.ID, all.Path, all.Family, all.Summary = "listTransfers", "/v1/{chain}/transfers", "Tokens", "List transfers of all tokens"
	all.Description = "Newest first. Filters of different names must all match; values of one are alternatives. `direction` other than any needs an address. " +
		"`limit` is 1 to 100, 25 by default. A page may end early and be empty; go on while nextCursor is not null."
	kernel.Register(s.Server, all, s.listTransfers)
}

func (s *Routes) listTokenTransfers(ctx context.Context, in *struct {
	ChainInput
	Token   string   `path:"token" maxLength:"70" doc:"Token contract."`
	Address []string `query:"address,explode" doc:"Sender or receiver; repeat for alternatives."`
	TransferRange
}) (*body[TokenTransferPage], error) {
	if _, err := kernel.FeltOf("path.token", in.Token); err != nil {
		return nil, err
	}
	q, err := parseTransfers(&TransferFilter{TransferRange: in.TransferRange, Token: []string{in.Token}}, named("query.address", in.Address))
	if err != nil {
		return nil, err
	}
	page, err := s.transferPage(ctx, "listTokenTransfers", in.Chain, q)
	if err != nil {
		return nil, err
	}
	out := &body[TokenTransferPage]{TokenTransferPage{Items: make([]TokenTransferItem, len(page.Items)), NextCursor: page.NextCursor}}
	for i := range page.Items {
		out.Body.Items[i] = page.Items[i].TokenTransferItem
	}
	return out, nil
}

func (s *Routes) listTransfers(ctx context.Context, in *struct {
	ChainInput
	Address []string `query:"address,explode" doc:"Sender or receiver; repeat for alternatives."`
	TransferFilter
}) (*body[TransferPage], error) {
	q, err := parseTransfers(&in.TransferFilter, named("query.address", in.Address))
	if err != nil {
		return nil, err
	}
	page, err := s.transferPage(ctx, "listTransfers", in.Chain, q)
	if err != nil {
		return nil, err
	}
	return &body[TransferPage]{*page}, nil
}

// transferQuery is a checked request for transfers.
type transferQuery struct {
	transfer.Query
	cursor string
	symbol string // tokens that call themselves so, besides those named
	since  uint64 // seconds since 1970; 0 when not asked for
	until  *int64 // the same, included; nil when not asked for
}

// parseTransfers checks what needs no look at the chain. addresses are those of
// the request, whichever way it names them.
func parseTransfers(in *TransferFilter, addresses []given) (*transferQuery, error) {
	q := &transferQuery{cursor: in.Cursor, symbol: strings.ToLower(in.Symbol)}
	q.Query = transfer.Query{Limit: in.Limit.Clamp(DefaultTransferPage, MaxTransferPage)}
	var err error
	if q.Addresses, err = feltValues("query.address", addresses, maxTransferFilter); err != nil {
		return nil, err
	}
	if q.Tokens, err = feltValues("query.token", named("query.token", in.Token), maxTransferFilter); err != nil {
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
	if in.TimestampFrom != "" {
		at, err := kernel.TimestampOf("query.timestampFrom", in.TimestampFrom)
		if err != nil {
			return nil, err
		}
		q.since = uint64(max(0, at.Unix()))
	}
	if in.TimestampTo != "" {
		at, err := kernel.TimestampOf("query.timestampTo", in.TimestampTo)
		if err != nil {
			return nil, err
		}
		until := at.Unix()
		q.until = &until
	}
	if q.From, q.To, err = blockRange(in.FromBlock, in.ToBlock); err != nil {
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

// scope names the list for its cursors, by value.
func (q *transferQuery) scope(operation, chain string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\x00%s\x00%d\x00%d\x00%d\x00%v\x00%v\x00%d\x00%q", operation, chain, q.From, q.To, q.Side, //nolint:errcheck // a builder never fails
		q.Standards, q.TxTypes, q.since, q.symbol)
	if q.until != nil {
		fmt.Fprintf(&b, "\x00until %d", *q.until) //nolint:errcheck // as above
	}
	if q.Order != event.Desc {
		b.WriteString("\x00asc")
	}
	for _, list := range [][]felt.Felt{q.Addresses, q.Tokens} {
		b.WriteByte(1)
		for _, f := range slices.SortedFunc(slices.Values(list), felt.Felt.Cmp) {
			b.Write(f[:])
		}
	}
	return b.String()
}

// transferPage reads a page of transfers. The routes of addresses use it, too.
func (s *Routes) transferPage(ctx context.Context, operation, chainID string, q *transferQuery) (*TransferPage, error) {
	out := &TransferPage{Items: []TransferItem{}}
	scope := q.scope(operation, chainID)
	err := s.view(ctx, chainID, func(c *Chain, r explorer.Reader, state *chain.State) error {
		if q.cursor != "" {
			after, err := s.openTransfer(ctx, r, scope, q.cursor)
			if err != nil {
				return err
			}
			q.After = &after
		}
		empty, err := q.look(ctx, r)
		if err != nil || empty {
			return err
		}
		q.Kinds = func(ctx context.Context, tokens []felt.Felt) ([]transfer.Standard, error) {
			return token.Kinds(ctx, r, tokens)
		}
		page, err := transfer.List(ctx, r, q.Query)
		if err != nil {
			return err
		}
		if !page.Done {
			out.NextCursor = s.sealTransfer(scope, *page.Next, page.NextHash)
		}
		out.Items, err = renderTransfers(ctx, r, c, state, page.Transfers)
		return err
	})
	return out, err
}

// look settles what depends on the index: a time is a block, a symbol is a list of
// tokens. empty says that nothing can match.
func (q *transferQuery) look(ctx context.Context, r explorer.Reader) (empty bool, err error) {
	if q.since > 0 {
		b, err := block.AtOrAfter(ctx, r, q.since)
		if errors.Is(err, block.ErrNotFound) {
			return true, nil
		}
		if err != nil {
			return false, err
		}
		if q.From = max(q.From, b.Number); q.From > q.To {
			return true, nil
		}
	}
	if q.until != nil {
		if *q.until < 0 { // no block is older than 1970
			return true, nil
		}
		b, err := block.AtOrBefore(ctx, r, uint64(*q.until))
		if errors.Is(err, block.ErrNotFound) {
			return true, nil
		}
		if err != nil {
			return false, err
		}
		if q.To = min(q.To, b.Number); q.From > q.To {
			return true, nil
		}
	}
	if q.symbol == "" {
		return false, nil
	}
	named, err := token.WithSymbol(ctx, r, q.symbol, maxTransferFilter+1)
	if err != nil {
		return false, err
	}
	if len(named) > maxTransferFilter {
		return false, kernel.Fail(kernel.CodeInvalidRequest, "query.symbol: more than %d contracts call themselves %q; name the token by its address.", maxTransferFilter, kernel.Clip(q.symbol, 40))
	}
	if len(q.Tokens) > 0 {
		named = slices.DeleteFunc(named, func(f felt.Felt) bool { return !slices.Contains(q.Tokens, f) })
	}
	q.Tokens = named
	return len(named) == 0, nil
}

// sealTransfer and openTransfer are for places in lists of transfers.
func (s *Routes) sealTransfer(scope string, p transfer.Place, hash felt.Felt) *string {
	return s.sealSpot(scope, block.Ref{Number: p.Block, Hash: hash}, p.Tx, p.Log, p.Index)
}

func (s *Routes) openTransfer(ctx context.Context, r explorer.Reader, scope, cursor string) (p transfer.Place, err error) {
	p.Block, err = s.openSpot(ctx, r, scope, cursor, &p.Tx, &p.Log, &p.Index)
	return p, err
}
