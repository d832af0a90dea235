package voyager

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"chainexplorer/internal/api"
	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/event"
	"chainexplorer/internal/explorer/token"
	"chainexplorer/internal/explorer/transfer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
)

const (
	maxPeriod      = 90 * 24 * 60 * 60 // seconds
	transferRounds = 8                 // how often a page is filled up, each within its budget
)

// transferItem is a transfer. ID is where it is: the next page begins behind it.
type transferItem struct {
	ID             string    `json:"id"`
	TxHash         felt.Felt `json:"txHash"`
	BlockNumber    uint64    `json:"blockNumber"`
	BlockHash      felt.Felt `json:"blockHash"`
	Timestamp      uint64    `json:"timestamp"`
	TokenAddress   padded    `json:"tokenAddress"`
	TransferFrom   padded    `json:"transferFrom"`
	TransferTo     padded    `json:"transferTo"`
	TransferValue  *string   `json:"transferValue"`
	TokenID        *string   `json:"tokenId,omitempty"`
	TokenName      *string   `json:"tokenName"`
	TokenSymbol    *string   `json:"tokenSymbol"`
	TokenDecimals  *uint8    `json:"tokenDecimals"`
	TokenIcon      *string   `json:"tokenIcon"`
	CallName       *string   `json:"callName"`
	InvocationType *string   `json:"invocationType"`
	FromAlias      *string   `json:"fromAlias"`
	ToAlias        *string   `json:"toAlias"`
	FromDomain     *string   `json:"fromDomain"`
	ToDomain       *string   `json:"toDomain"`
}

// transferPage is a page of a contract's transfers, which are paged by id and not by number.
type transferPage struct {
	Items   []transferItem `json:"items"`
	HasMore bool           `json:"hasMore"`
	Range   struct {
		Start *uint64 `json:"startTimestamp"`
		End   *uint64 `json:"endTimestamp"`
	} `json:"range"`
}

func (f *Feed) contractTransfers(c *call) (any, error) {
	of, err := c.pathFelt("address")
	if err != nil {
		return nil, err
	}
	q, err := c.transferQuery(of)
	if err != nil {
		return nil, err
	}
	after, begun, err := parseTransferID(c.given["id"])
	if err != nil {
		return nil, err
	}
	out := &transferPage{Items: []transferItem{}}
	return out, f.on(c, func(ctx context.Context, v *view) error {
		q.To = v.top.Number
		if begun != nil {
			switch held, err := begun.Holds(ctx, v.r); {
			case err != nil:
				return err
			case !held:
				return refusef(http.StatusConflict, "The chain was reorganised below this id. Begin again without one.")
			}
			q.After = after
		}
		for range transferRounds {
			page, err := token.ListTransfers(ctx, v.r, q)
			if errors.Is(err, token.ErrManyNamed) {
				return invalid("symbol: %s. Use tokenAddress.", err)
			}
			if err != nil {
				return err
			}
			out.Items = append(out.Items, v.transferItems(&page)...)
			if out.HasMore = !page.Done; page.Done || len(out.Items) >= c.ps {
				return v.activity(ctx, of, out)
			}
			q.After, q.Limit = page.Next, c.ps-len(out.Items)
		}
		if len(out.Items) == 0 { // there is no id to go on from
			return kernel.RetryLater(1, nil, "Too few transfers match to find one in time. Narrow the list down with tokenAddress or with times.")
		}
		return v.activity(ctx, of, out)
	})
}

// transferQuery reads what is asked for of the transfers of a contract.
func (c *call) transferQuery(of felt.Felt) (q token.TransferQuery, err error) {
	q.Query = transfer.Query{Addresses: []felt.Felt{of}, Limit: c.ps, Standards: []transfer.Standard{transfer.ERC20}}
	switch kind := strings.ToLower(c.given["type"]); kind {
	case "", "erc20":
	case "erc721":
		q.Standards[0] = transfer.ERC721
	case "erc1155":
		q.Standards[0] = transfer.ERC1155
	default:
		return q, invalid("type: %q is none of erc20, erc721 and erc1155.", kernel.Clip(kind, 20))
	}
	switch order := c.given["order_by"]; order {
	case "", "desc":
	case "asc":
		q.Order = event.Asc
	default:
		return q, invalid("order_by: %q is neither asc nor desc.", kernel.Clip(order, 20))
	}
	if kind := c.given["invocationType"]; kind != "" && kind != "ALL" {
		return q, invalid("invocationType: only ALL is served; the index does not tell the phases of a transaction apart.")
	}
	q.Symbol = c.given["symbol"]
	if len(q.Symbol) > 64 {
		return q, invalid("symbol: it is longer than 64 bytes.")
	}
	only, err := c.felt("tokenAddress")
	if err != nil {
		return q, err
	}
	if only != nil {
		q.Tokens = []felt.Felt{*only}
	}
	if q.Side, err = c.side(of); err != nil {
		return q, err
	}
	during, err := c.period()
	if err != nil {
		return q, err
	}
	if during.from != nil && during.to != nil && *during.to-*during.from > maxPeriod {
		return q, invalid("timestampFrom and timestampTo are more than 90 days apart.")
	}
	if during.from != nil {
		q.Since = *during.from
	}
	if during.to != nil {
		until := int64(*during.to)
		q.Until = &until
	}
	return q, nil
}

// side reads on which side the contract is to stand. The index lists the transfers of an
// address, and not those between two.
func (c *call) side(of felt.Felt) (side transfer.Side, err error) {
	for name, s := range map[string]transfer.Side{"from": transfer.Out, "to": transfer.In} {
		party, err := c.felt(name)
		if err != nil {
			return 0, err
		}
		if party == nil {
			continue
		}
		if *party != of || side != 0 {
			return 0, invalid("%s: it can be the contract itself, and not together with the other side. GET /v1/{chain}/address/{address}/transfers has direction.", name)
		}
		side = s
	}
	return side, nil
}

// activity tells when the first and the last transfer of an address were.
func (v *view) activity(ctx context.Context, of felt.Felt, out *transferPage) error {
	for order, at := range map[event.Order]**uint64{event.Asc: &out.Range.Start, event.Desc: &out.Range.End} {
		page, err := transfer.ListByAddress(ctx, v.r, of, transfer.Query{To: v.top.Number, Order: order, Limit: 1})
		if err != nil {
			return err
		}
		if len(page.Transfers) > 0 {
			*at = &page.Transfers[0].Timestamp
		}
	}
	return nil
}

func (v *view) transferItems(page *token.TransferPage) []transferItem {
	list := api.RenderTransfers(v.chain, v.state, page)
	out := make([]transferItem, len(list))
	for i := range list {
		t, row := &page.Transfers[i], &list[i]
		out[i] = transferItem{ID: transferID(t), TxHash: t.TxHash, BlockNumber: t.Block, BlockHash: t.BlockHash, Timestamp: t.Timestamp,
			TokenAddress: padded(t.Token), TransferFrom: padded(t.From), TransferTo: padded(t.To), TransferValue: row.Amount, TokenID: row.TokenID,
			TokenName: row.TokenName, TokenSymbol: row.TokenSymbol, TokenDecimals: row.TokenDecimals,
			FromAlias: v.chain.AliasesOf(&t.From, nil).ContractAlias, ToAlias: v.chain.AliasesOf(&t.To, nil).ContractAlias}
	}
	return out
}

// transferID names a transfer and the block that it is in: a list goes on behind it only
// while the chain has this block.
func transferID(t *transfer.Listed) string {
	return fmt.Sprintf("%d-%d-%d-%d-%s", t.Block, t.Tx, t.Log, t.Index, t.BlockHash)
}

// parseTransferID reads what transferID wrote; nil for none.
func parseTransferID(text string) (*transfer.Place, *block.Ref, error) {
	if text == "" {
		return nil, nil, nil
	}
	var at transfer.Place
	var hash string
	_, err := fmt.Sscanf(text, "%d-%d-%d-%d-%s", &at.Block, &at.Tx, &at.Log, &at.Index, &hash)
	if err == nil {
		var f felt.Felt
		if f, err = felt.Parse(hash); err == nil {
			ref := &block.Ref{Number: at.Block, Hash: f}
			if transferID(&transfer.Listed{Place: at, BlockHash: f}) == text {
				return &at, ref, nil
			}
		}
	}
	return nil, nil, invalid("id: %q is not the id of an item.", kernel.Clip(text, 40))
}
