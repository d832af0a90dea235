package api

import (
	"context"
	"math/big"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/explorer/token"
	"chainexplorer/internal/explorer/transaction"
	"chainexplorer/internal/explorer/transfer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
)

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

// values are the numbers of a transfer as far as they are known.
func transferValues(t *transfer.Transfer) (amount, raw, id *string) {
	text := func(v [32]byte) *string {
		s := new(big.Int).SetBytes(v[:]).String()
		return &s
	}
	if t.HasID {
		id = text(t.ID)
	}
	if t.Standard != transfer.Ambiguous {
		amount = text(t.Value)
	}
	if t.Standard != transfer.ERC721 {
		raw = text(t.Value)
	}
	return amount, raw, id
}

// actionOf tells mints and burns, which the event itself proves.
func actionOf(t *transfer.Transfer) *ActionContext {
	a := &ActionContext{ReasonCode: "zero_address_party", Confidence: "exact", Source: "indexed_transfer_event"}
	switch {
	case t.From.IsZero() == t.To.IsZero():
		return nil
	case t.From.IsZero():
		a.ActionKind, a.ActionLabel = "mint", "Mint"
	default:
		a.ActionKind, a.ActionLabel = "burn", "Burn"
	}
	return a
}

// renderTransfers adds what tokens call themselves. One GetMany.
func renderTransfers(ctx context.Context, r explorer.Reader, c *Chain, state *chain.State, list []transfer.Listed) ([]TransferItem, error) {
	numbers := map[felt.Felt]int{}
	var tokens []felt.Felt
	for i := range list {
		if _, there := numbers[list[i].Token]; !there {
			numbers[list[i].Token] = len(tokens)
			tokens = append(tokens, list[i].Token)
		}
	}
	known, err := token.MetadataOf(ctx, r, tokens)
	if err != nil {
		return nil, err
	}
	items := make([]TransferItem, len(list))
	for i := range list {
		t := &list[i]
		iso := kernel.TimestampISO(t.Timestamp)
		item := &items[i]
		item.TokenAddress = t.Token
		item.BlockNumber, item.TimestampISO, item.TxIndex, item.LogIndex, item.TransferIndex = t.Block, &iso, t.Tx, t.Log, t.Index
		item.TxHash, item.FromAddress, item.ToAddress, item.Standard = t.TxHash, &t.From, &t.To, t.Standard.String()
		item.Amount, item.RawValue, item.TokenID = transferValues(&t.Transfer)
		item.ActionContext, item.RowTier = actionOf(&t.Transfer), tierOf(c, state, t.Block)
		if m := known[numbers[t.Token]]; m != nil {
			item.TokenSymbol, item.TokenName, item.TokenDecimals = m.Symbol, m.Name, m.Decimals
		}
	}
	return items, nil
}

// maxTxTransfers bounds the transfers shown with a transaction.
const maxTxTransfers = 1000

// txTransfers lists the transfers of a transaction. certain says that the answer
// follows from blocks and classes alone: a token whose class does not tell its
// standard, such as one behind an old proxy, may be understood later.
func txTransfers(ctx context.Context, r explorer.Reader, t *transaction.Record) (out []TxTransfer, coverage Coverage, certain bool, err error) {
	all := transfer.Of(t.Receipt.Events)
	shown := all[:min(len(all), maxTxTransfers)]
	kinds, certain, err := kindsAt(ctx, r, shown, t.Block)
	if err != nil {
		return nil, coverage, false, err
	}
	out = make([]TxTransfer, len(shown))
	for i := range shown {
		x := shown[i].As(kinds[shown[i].Token])
		amount, _, id := transferValues(&x)
		out[i] = TxTransfer{LogIndex: shown[i].Log, TransferIndex: shown[i].Index, TokenAddress: x.Token, FromAddress: &x.From, ToAddress: &x.To,
			Amount: amount, TokenID: id, Standard: x.Standard.String()}
	}
	if len(shown) < len(all) {
		return out, Coverage{"partial", "transaction_transfers_truncated"}, certain, nil
	}
	return out, Coverage{"exact", "indexed_transfer_events"}, certain, nil
}

// kindsAt tells the standards of the tokens that transfers leave open, by their
// classes at a block, and where these do not tell by what is known now.
func kindsAt(ctx context.Context, r explorer.Reader, list []transfer.Numbered, number uint64) (kinds map[felt.Felt]transfer.Standard, certain bool, err error) {
	kinds, certain = map[felt.Felt]transfer.Standard{}, true
	var open []felt.Felt
	for i := range list {
		if _, there := kinds[list[i].Token]; !there && list[i].Standard != transfer.ERC721 && list[i].Standard != transfer.ERC1155 {
			kinds[list[i].Token] = transfer.Ambiguous
			open = append(open, list[i].Token)
		}
	}
	told, err := token.KindsByClass(ctx, r, open, number)
	if err != nil {
		return nil, false, err
	}
	var rest []felt.Felt
	for i, kind := range told {
		if kinds[open[i]] = kind; kind == transfer.Ambiguous {
			rest = append(rest, open[i])
		}
	}
	if len(rest) == 0 {
		return kinds, true, nil
	}
	now, err := token.Kinds(ctx, r, rest)
	if err != nil {
		return nil, false, err
	}
	for i, kind := range now {
		kinds[rest[i]] = kind
	}
	return kinds, false, nil
}
