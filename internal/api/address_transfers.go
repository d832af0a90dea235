package api

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"chainexplorer/internal/account"
	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/explorer/transfer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
)

// AddressTransfer is a token transfer from or to an address.
type AddressTransfer struct {
	BlockNumber   uint64     `json:"blockNumber"`
	TimestampISO  *string    `json:"timestampIso" format:"date-time"`
	TxIndex       uint32     `json:"txIndex"`
	LogIndex      uint32     `json:"logIndex"`
	TransferIndex uint32     `json:"transferIndex" doc:"Place in its event: above 0 in a batch."`
	TxHash        felt.Felt  `json:"txHash"`
	TokenAddress  felt.Felt  `json:"tokenAddress"`
	FromAddress   *felt.Felt `json:"fromAddress" doc:"Zero for a mint."`
	ToAddress     *felt.Felt `json:"toAddress" doc:"Zero for a burn."`
	Amount        *string    `json:"amount" doc:"Decimal; null for an NFT, and while it is not known whether the number is an amount."`
	RawValue      *string    `json:"rawValue" doc:"Decimal: the number in the event, amount or id."`
	TokenID       *string    `json:"tokenId" doc:"Decimal."`
	Standard      string     `json:"standard" enum:"erc20,erc721,erc1155,unknown"`
	TokenSymbol   *string    `json:"tokenSymbol"`
	TokenName     *string    `json:"tokenName"`
	TokenDecimals *int       `json:"tokenDecimals"`
	ActionContext *struct{}  `json:"actionContext" doc:"Null: transfers are not interpreted here."`
	HistoricalUSD *struct{}  `json:"historicalUsd" doc:"Null: prices are not served."`
	SourceTier    string     `json:"sourceTier" enum:"head,finalized"`
}

// AddressTransferPage is a page of them, newest first.
type AddressTransferPage struct {
	Items      []AddressTransfer `json:"items"`
	NextCursor *string           `json:"nextCursor"`
}

// TransferInput are the filters of transfers.
type TransferInput struct {
	Direction      string   `query:"direction" enum:"any,in,out" default:"any" doc:"A transfer to oneself is in all three, once."`
	Token          []string `query:"token,explode" doc:"Token contract; repeat for alternatives."`
	Type           []string `query:"type,explode" doc:"erc20, erc721, erc1155 or unknown; also fungible, ft, nft, multitoken. Repeat for alternatives."`
	Symbol         string   `query:"symbol" maxLength:"64" doc:"Exact symbol of known tokens, in any case."`
	TimestampFrom  string   `query:"timestampFrom" maxLength:"40" doc:"Only blocks at or after this moment: RFC 3339 with a zone, or Unix seconds."`
	InvocationType string   `query:"invocationType" maxLength:"20" doc:"Type of the transaction, such as INVOKE; execute is the same."`
	FromBlock      string   `query:"from_block" maxLength:"20" doc:"First block."`
	ToBlock        string   `query:"to_block" maxLength:"20" doc:"Last block."`
}

func (s *Server) addressTransferRoutes() {
	r := Route{Method: http.MethodGet, Family: "Addresses", Class: Heavy, Scope: account.Read, Tier: TierOfficial, Certification: Beta, Audience: External,
		Statuses: []int{http.StatusNotFound}, ID: "listAddressTransfers", Path: "/v1/{chain}/address/{address}/transfers", Summary: "List an address's token transfers"}
	r.Description = "Transfers from and to the address, newest first. All filters apply before paging. `limit` is 1 to 100, 25 by default. " +
		"A page may end early and be empty; go on while nextCursor is not null."
	register(s, r, s.listAddressTransfers)
}

// transferTypes are the names of standards and their aliases.
var transferTypes = map[string]transfer.Standard{
	"erc20": transfer.ERC20, "fungible": transfer.ERC20, "ft": transfer.ERC20,
	"erc721": transfer.ERC721, "nft": transfer.ERC721, "erc1155": transfer.ERC1155, "multitoken": transfer.ERC1155, "unknown": transfer.Ambiguous,
}

// query checks the filters that need no look at the chain.
func (in *TransferInput) query(c *Chain) (q transfer.Query, err error) {
	q.Side = map[string]transfer.Side{"in": transfer.In, "out": transfer.Out}[in.Direction]
	if q.Tokens, err = feltValues("token", in.Token, transfer.MaxTokens); err != nil {
		return q, err
	}
	for _, t := range in.Type {
		standard, ok := transferTypes[strings.ToLower(t)]
		if !ok {
			return q, fail(CodeInvalidRequest, "type: %q is none of erc20, erc721, erc1155, unknown, fungible, ft, nft, multitoken.", clip(t, 20))
		}
		if !slices.Contains(q.Standards, standard) {
			q.Standards = append(q.Standards, standard)
		}
	}
	slices.Sort(q.Standards)
	if in.InvocationType != "" {
		name := strings.ToUpper(in.InvocationType)
		if name == "EXECUTE" {
			name = "INVOKE"
		}
		for t := starknet.Invoke; t <= starknet.L1Handler; t++ {
			if t.String() == name {
				q.TxTypes = []starknet.TxType{t}
			}
		}
		if q.TxTypes == nil {
			return q, fail(CodeInvalidRequest, "invocationType: %q is no type of transaction.", clip(in.InvocationType, 20))
		}
	}
	if err := in.symbol(c, &q); err != nil {
		return q, err
	}
	q.To = 1<<63 - 1
	for _, bound := range []struct {
		name, text string
		to         *uint64
	}{{"from_block", in.FromBlock, &q.From}, {"to_block", in.ToBlock, &q.To}} {
		if bound.text == "" {
			continue
		}
		n, err := strconv.ParseUint(bound.text, 10, 63)
		if err != nil {
			return q, fail(CodeInvalidRequest, "%s: %q is not a block number.", bound.name, clip(bound.text, 20))
		}
		*bound.to = n
	}
	if q.From > q.To {
		return q, fail(CodeInvalidRequest, "from_block is above to_block.")
	}
	return q, nil
}

// noToken is an address that nothing can have.
var noToken = felt.MustParse("0x800000000000011000000000000000000000000000000000000000000000000")

// symbol narrows the query to the known tokens with a symbol.
func (in *TransferInput) symbol(c *Chain, q *transfer.Query) error {
	if in.Symbol == "" {
		return nil
	}
	var named []felt.Felt
	for _, t := range c.Registry.Tokens() {
		if strings.EqualFold(t.Symbol, in.Symbol) && (len(q.Tokens) == 0 || slices.Contains(q.Tokens, t.Address)) {
			named = append(named, t.Address)
		}
	}
	if len(named) > transfer.MaxTokens {
		return fail(CodeInvalidRequest, "symbol: more than %d tokens have the symbol %q.", transfer.MaxTokens, in.Symbol)
	}
	if len(named) == 0 {
		named = []felt.Felt{noToken}
	}
	q.Tokens = named
	return nil
}

func (s *Server) listAddressTransfers(ctx context.Context, in *struct {
	AddressInput
	TransferInput
}) (*body[AddressTransferPage], error) {
	a, err := parseAddress(in.Address)
	if err != nil {
		return nil, err
	}
	c, e := s.served(in.Chain)
	if e != nil {
		return nil, e
	}
	q, err := in.query(c)
	if err != nil {
		return nil, err
	}
	q.Limit = in.Limit.clamp(defaultAddressPage, maxAddressPage)
	scope := fmt.Sprintf("listAddressTransfers\x00%s\x00%s\x00%d\x00%v\x00%v\x00%v\x00%d\x00%d\x00%s\x00%s", in.Chain, a, q.Side, q.Tokens, q.Standards, q.TxTypes, q.From, q.To, in.TimestampFrom, strings.ToLower(in.Symbol))
	out := &body[AddressTransferPage]{AddressTransferPage{Items: []AddressTransfer{}}}
	err = s.view(ctx, in.Chain, func(c *Chain, r store.Reader, state *chain.State) error {
		if in.TimestampFrom != "" {
			if err := since(ctx, r, in.TimestampFrom, &q); err != nil {
				return err
			}
			if q.From > q.To {
				return nil
			}
		}
		if in.Cursor != "" {
			after, _, err := s.openTransferCursor(ctx, r, scope, in.Cursor)
			if err != nil {
				return err
			}
			q.After = &after
		}
		kinds := newTokenKinds(c, r)
		q.Kinds = kinds.of
		page, err := transfer.ListByAddress(ctx, r, a, q)
		if err != nil {
			return err
		}
		for i := range page.Transfers {
			out.Body.Items = append(out.Body.Items, renderAddressTransfer(c, state, &page.Transfers[i]))
		}
		if kinds.uncertain {
			requestOf(ctx).indexed = false
		}
		if !page.Done {
			next := s.cursors.Seal(scope, transferPosition(*page.Next, page.NextHash, 0))
			out.Body.NextCursor = &next
		}
		return nil
	})
	return out, err
}

// since raises the first block of a query to the first at a moment or after it.
func since(ctx context.Context, r store.Reader, text string, q *transfer.Query) error {
	at, err := parseTimestamp(text)
	if err != nil {
		return fail(CodeInvalidRequest, "timestampFrom: %q is neither RFC 3339 with a zone, nor Unix seconds.", clip(text, 60))
	}
	b, err := block.AtOrAfter(ctx, r, ceilSeconds(at))
	if errors.Is(err, block.ErrNotFound) {
		q.From = q.To + 1 // no block is as new
		return nil
	}
	if err != nil {
		return err
	}
	q.From = max(q.From, b.Number)
	return nil
}

// openTransferCursor reads the cursor of a list of transfers and checks that the
// block it points into is still part of the chain.
func (s *Server) openTransferCursor(ctx context.Context, r store.Reader, scope, cursor string) (transfer.Place, byte, error) {
	pos, e := s.cursors.Open(scope, cursor)
	if e != nil {
		return transfer.Place{}, 0, e
	}
	p, hash, extra, ok := parseTransferPosition(pos)
	if !ok {
		return p, 0, fail(CodeInvalidCursor, "The cursor is of another version. Start again without a cursor.")
	}
	_, err := transfer.Resume(ctx, r, p, hash)
	if errors.Is(err, transfer.ErrReorganised) {
		return p, 0, fail(CodeInvalidCursor, "The chain was reorganised below this cursor. Start again without a cursor.")
	}
	return p, extra, err
}

func renderAddressTransfer(c *Chain, state *chain.State, t *transfer.Listed) AddressTransfer {
	iso := timestampISO(t.Timestamp)
	out := AddressTransfer{BlockNumber: t.Block, TimestampISO: &iso, TxIndex: t.Tx, LogIndex: t.Log, TransferIndex: t.Index, TxHash: t.TxHash,
		TokenAddress: t.Token, FromAddress: &t.From, ToAddress: &t.To, Amount: amountText(&t.Transfer), RawValue: rawValue(&t.Transfer),
		TokenID: idText(&t.Transfer), Standard: t.Standard.String(), SourceTier: sourceTier(c, state, t.Block)}
	if known, ok := c.Registry.Token(t.Token); ok {
		decimals := int(known.Decimals)
		out.TokenSymbol, out.TokenName, out.TokenDecimals = some(known.Symbol), some(known.Name), &decimals
	}
	return out
}

// rawValue is the number that stands in the event: the amount, or the id of an NFT.
func rawValue(t *transfer.Transfer) *string {
	if t.Standard == transfer.ERC721 {
		return idText(t)
	}
	text := new(big.Int).SetBytes(t.Value[:]).String()
	return &text
}
