package api

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"chainexplorer/internal/account"
	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/explorer/transaction"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/starknet"
)

// BlockItem is a block in a list.
type BlockItem struct {
	BlockNumber    uint64    `json:"blockNumber"`
	BlockHash      felt.Felt `json:"blockHash"`
	ParentHash     felt.Felt `json:"parentHash"`
	TimestampISO   string    `json:"timestampIso" format:"date-time"`
	TxCount        uint64    `json:"txCount"`
	FinalityStatus string    `json:"finalityStatus" enum:"ACCEPTED_ON_L2,ACCEPTED_ON_L1"`
}

// BlockPage is a page of blocks, newest first.
type BlockPage struct {
	Items      []BlockItem `json:"items"`
	NextCursor *string     `json:"nextCursor"`
}

// GasPrice is a price in both fee tokens, as decimal strings.
type GasPrice struct {
	PriceInWei *string `json:"priceInWei" doc:"Null where the block has none: nodes tell of 0."`
	PriceInFri *string `json:"priceInFri" doc:"Null where the block has none, such as one from before fees in STRK: nodes tell of 0."`
}

// Block is a block with its first transactions.
type Block struct {
	ChainID                string            `json:"chainId"`
	BlockNumber            uint64            `json:"blockNumber"`
	BlockHash              felt.Felt         `json:"blockHash"`
	ParentHash             felt.Felt         `json:"parentHash"`
	TimestampISO           string            `json:"timestampIso" format:"date-time"`
	TxCount                uint64            `json:"txCount"`
	EventCount             uint64            `json:"eventCount"`
	FinalityStatus         string            `json:"finalityStatus" enum:"ACCEPTED_ON_L2,ACCEPTED_ON_L1"`
	RawObjectKey           string            `json:"rawObjectKey" doc:"Names the stored block: chain/block/number/hash."`
	StateRoot              *felt.Felt        `json:"stateRoot"`
	SequencerAddress       *felt.Felt        `json:"sequencerAddress" doc:"Null in blocks that name none: nodes tell of 0x0."`
	L1DataAvailabilityMode *string           `json:"l1DataAvailabilityMode" enum:"BLOB,CALLDATA"`
	StarknetVersion        *string           `json:"starknetVersion"`
	L1GasPrice             *GasPrice         `json:"l1GasPrice"`
	L2GasPrice             *GasPrice         `json:"l2GasPrice"`
	L1DataGasPrice         *GasPrice         `json:"l1DataGasPrice"`
	Verification           BlockVerification `json:"verification"`
	Transactions           []TxPreview       `json:"transactions"`
}

// TxPreview is a transaction in a block's list.
type TxPreview struct {
	TxHash          felt.Felt  `json:"txHash"`
	TxIndex         uint32     `json:"txIndex"`
	TxCursor        string     `json:"txCursor" doc:"block:tx"`
	FromAddress     *felt.Felt `json:"fromAddress"`
	ToAddress       *felt.Felt `json:"toAddress"`
	ExecutionStatus *string    `json:"executionStatus" enum:"SUCCEEDED,REVERTED"`
	FinalityStatus  *string    `json:"finalityStatus" enum:"ACCEPTED_ON_L2,ACCEPTED_ON_L1"`
}

// TxPreviewPage is a page of a block's transactions, in block order.
type TxPreviewPage struct {
	Items      []TxPreview `json:"items"`
	NextCursor *string     `json:"nextCursor"`
}

// TimedBlock is a block near a moment.
type TimedBlock struct {
	BlockNumber    uint64    `json:"blockNumber"`
	BlockHash      felt.Felt `json:"blockHash"`
	TimestampISO   string    `json:"timestampIso" format:"date-time"`
	TimestampUnix  uint64    `json:"timestampUnix"`
	FinalityStatus string    `json:"finalityStatus" enum:"ACCEPTED_ON_L2,ACCEPTED_ON_L1"`
}

// BlockAtTimestamp is the answer of block-at-timestamp.
type BlockAtTimestamp struct {
	ChainID       string      `json:"chainId"`
	Query         Moment      `json:"query"`
	Block         TimedBlock  `json:"block"`
	PreviousBlock *TimedBlock `json:"previousBlock" doc:"Newest block at or before the moment."`
	NextBlock     *TimedBlock `json:"nextBlock" doc:"Oldest block at or after the moment."`
	Source        string      `json:"source" enum:"indexed_blocks"`
}

// Moment is what block-at-timestamp was asked for.
type Moment struct {
	TimestampISO  string `json:"timestampIso" format:"date-time"`
	TimestampUnix int64  `json:"timestampUnix"`
	Closest       string `json:"closest" enum:"before,after"`
}

type body[T any] struct{ Body T }

func (s *Routes) blockRoutes() {
	base := kernel.Route{Method: http.MethodGet, Family: "Blocks", Class: kernel.Light, Scope: account.Read, Tier: kernel.TierOfficial, Audience: kernel.External, Depends: kernel.OnChain}
	list := base
	list.ID, list.Path, list.Certification = "listBlocks", "/v1/{chain}/blocks", kernel.Beta
	list.Summary, list.Description = "List blocks", "The newest blocks first. `limit` is {page}."
	list.Page, list.Statuses = kernel.Page{Usual: 25, Most: 200}, []int{http.StatusNotFound}
	kernel.Register(s.Server, list, s.listBlocks)

	one := base
	one.ID, one.Path, one.Certification = "getBlock", "/v1/{chain}/block/{number_or_hash}", kernel.Certified
	one.Summary = "Get a block"
	one.Description = "A block by number, hash or `latest`, with up to `tx_limit` of its transactions ({page}) in block order."
	one.Page, one.Statuses = kernel.Page{Usual: 50, Most: 200}, []int{http.StatusNotFound}
	kernel.Register(s.Server, one, s.getBlock)

	txs := base
	txs.ID, txs.Path, txs.Certification = "listBlockTransactions", "/v1/{chain}/block/{number_or_hash}/txs", kernel.Beta
	txs.Summary, txs.Description = "List a block's transactions", "In block order. `limit` is {page}."
	txs.Page, txs.Statuses = kernel.Page{Usual: 25, Most: 100}, []int{http.StatusNotFound}
	kernel.Register(s.Server, txs, s.listBlockTransactions)

	at := base
	at.ID, at.Path, at.Certification = "getBlockAtTimestamp", "/v1/{chain}/block-at-timestamp", kernel.Certified
	at.Summary = "Find the block at a moment"
	at.Description = "`timestamp` is RFC 3339 with a zone, or Unix seconds. `closest` chooses the newest block at or before it, or the oldest at or after it."
	at.Statuses = []int{http.StatusNotFound}
	kernel.Register(s.Server, at, s.blockAtTimestamp)
}

func (s *Routes) listBlocks(ctx context.Context, in *struct {
	ChainInput
	Limit  kernel.Limit `query:"limit"`
	Cursor string       `query:"cursor" doc:"nextCursor of the page before."`
}) (*body[BlockPage], error) {
	limit := in.Limit.Size()
	scope := "listBlocks\x00" + in.Chain
	out := &body[BlockPage]{BlockPage{Items: []BlockItem{}}}
	err := s.view(ctx, in.Chain, func(c *Chain, r explorer.Reader, state *chain.State) error {
		from := state.Head.Number
		if in.Cursor != "" {
			after, err := s.openSpot(ctx, r, scope, in.Cursor)
			if err != nil {
				return err
			}
			from = after - 1
		}
		list, err := block.List(ctx, r, from, limit)
		if err != nil {
			return err
		}
		out.Body.Items = blockItems(state, list)
		if n := len(list); n == limit && list[n-1].Number > 0 {
			out.Body.NextCursor = s.sealSpot(scope, list[n-1].Ref())
		}
		return nil
	})
	return out, err
}

func blockItems(state *chain.State, list []*block.Summary) []BlockItem {
	out, text := make([]BlockItem, len(list)), &texts{}
	for i, b := range list {
		out[i] = BlockItem{b.Number, b.Hash, b.ParentHash, text.iso(b.Timestamp), b.Transactions, finality(state, b.Number)}
	}
	return out
}

func (s *Routes) getBlock(ctx context.Context, in *struct {
	ChainInput
	Ref     string       `path:"number_or_hash" maxLength:"70" doc:"Block number, block hash or latest."`
	TxLimit kernel.Limit `query:"tx_limit"`
}) (*body[Block], error) {
	room := blockRooms.Get().(*blockRoom)
	out := &room.out
	err := s.view(ctx, in.Chain, func(c *Chain, r explorer.Reader, state *chain.State) error {
		b, err := blockRef(ctx, r, state, "path.number_or_hash", in.Ref, &room.block)
		if err != nil {
			return err
		}
		txs, err := room.txs.Previews(ctx, r, b.Number, 0, in.TxLimit.Size())
		if err != nil {
			return err
		}
		renderBlock(c, state, b, txs, room)
		if out.Body.Verification, err = verificationOf(ctx, r, b.Number); err != nil {
			return err
		}
		if in.Ref != "latest" {
			settle(ctx, c, state, b.Number, out.Body.Verification.Status == chain.Verified.String())
		}
		kernel.RequestOf(ctx).Lend(room)
		return nil
	})
	return out, err
}

// blockObject names a stored block.
func blockObject(c *Chain, b *block.Summary, text *texts) string {
	var room [128]byte
	out := append(room[:0], c.ID...)
	out = strconv.AppendUint(append(out, "/block/"...), b.Number, 10)
	return text.keep(b.Hash.AppendHex(append(out, '/')))
}

func gasPrice(p *starknet.GasPrice, text *texts) GasPrice {
	return GasPrice{text.price(&p.InWei), text.price(&p.InFri)}
}

// previews renders previews behind out.
func previews(state *chain.State, txs []*transaction.Preview, text *texts, out []TxPreview) []TxPreview {
	for i, t := range txs {
		out = append(out, TxPreview{TxHash: t.Hash, TxIndex: t.Index, TxCursor: text.cursor(t.Position), FromAddress: t.From, ToAddress: t.To})
		row := &out[len(out)-1]
		if i > 0 && t.Execution == txs[i-1].Execution && t.Block == txs[i-1].Block { // most are as the one before
			before := &out[len(out)-2]
			row.ExecutionStatus, row.FinalityStatus = before.ExecutionStatus, before.FinalityStatus
			continue
		}
		row.ExecutionStatus, row.FinalityStatus = text.at(t.Execution.String()), text.at(finality(state, t.Block))
	}
	return out
}

func txCursor(p explorer.Position) string {
	var room [32]byte
	return string(appendCursor(room[:0], p))
}

// finality is the node's word for how settled a block is.
func finality(state *chain.State, number uint64) string {
	if state.HasL1 && number <= state.L1.Number {
		return starknet.AcceptedOnL1.String()
	}
	return starknet.AcceptedOnL2.String()
}

// RowTier says how settled the block of a row is, and what makes it so.
type RowTier struct {
	SourceTier      string  `json:"sourceTier" enum:"head,finalized" doc:"finalized up to finalizedBlockNumber of the status, and above it only where L1 has accepted the block."`
	SourceTierBasis *string `json:"sourceTierBasis" enum:"l1_acceptance,finality_depth" doc:"What finalized rests on: L1 has accepted the block, or it is only deep enough below the head, where a fork is rare. Null for head."`
}

// What makes a row final, where rows point to it.
var byL1, byDepth = "l1_acceptance", "finality_depth"

// tierOf is the tier of an indexed block. Whoever needs more than depth waits for
// the basis to become L1.
func tierOf(c *Chain, state *chain.State, number uint64) RowTier {
	switch state.Finality(number, c.Depth) {
	case chain.AcceptedL1:
		return RowTier{"finalized", &byL1}
	case chain.Finalized:
		return RowTier{"finalized", &byDepth}
	}
	return RowTier{SourceTier: "head"}
}

// settle marks an answer about a block: with a validator once it is finalized,
// as unchangeable once it is accepted on L1 and its finality cannot rise, if all else
// that it says is final.
func settle(ctx context.Context, c *Chain, state *chain.State, number uint64, final bool) {
	tier := state.Finality(number, c.Depth)
	kernel.RequestOf(ctx).Settle(tier >= chain.Finalized, tier == chain.AcceptedL1 && final)
}

func (s *Routes) listBlockTransactions(ctx context.Context, in *struct {
	ChainInput
	Ref    string       `path:"number_or_hash" maxLength:"70" doc:"Block number, block hash or latest."`
	Limit  kernel.Limit `query:"limit"`
	Cursor string       `query:"cursor" doc:"nextCursor of the page before."`
}) (*body[TxPreviewPage], error) {
	limit := in.Limit.Size()
	out := &body[TxPreviewPage]{}
	err := s.view(ctx, in.Chain, func(c *Chain, r explorer.Reader, state *chain.State) error {
		b, err := blockRef(ctx, r, state, "path.number_or_hash", in.Ref, &block.Room{})
		if err != nil {
			return err
		}
		// The cursor is bound to the block's hash: the list of a block that was
		// forked away does not go on in another. That of latest goes on in the block
		// that it began with.
		scope := "listBlockTransactions\x00" + in.Chain + "\x00" + b.Hash.String()
		if in.Ref == "latest" {
			scope = "listBlockTransactions\x00" + in.Chain + "\x00latest"
		}
		from := uint32(0)
		if in.Cursor != "" {
			number, err := s.openSpot(ctx, r, scope, in.Cursor, &from)
			if err != nil {
				return err
			}
			if b, err = block.Get(ctx, r, number); err != nil {
				return err
			}
		}
		txs, err := transaction.Previews(ctx, r, b.Number, from, limit)
		if err != nil {
			return err
		}
		out.Body.Items = previews(state, txs, &texts{}, make([]TxPreview, 0, len(txs)))
		if n := len(txs); n == limit && uint64(txs[n-1].Index)+1 < b.Transactions {
			out.Body.NextCursor = s.sealSpot(scope, b.Ref(), txs[n-1].Index+1)
		}
		if in.Ref != "latest" {
			settle(ctx, c, state, b.Number, true)
		}
		return nil
	})
	return out, err
}

func (s *Routes) blockAtTimestamp(ctx context.Context, in *struct {
	ChainInput
	Timestamp string `query:"timestamp" required:"true" maxLength:"40" doc:"RFC 3339 with a zone, URL-encoded, or Unix seconds."`
	Closest   string `query:"closest" enum:"before,after" default:"before"`
}) (*body[BlockAtTimestamp], error) {
	at, err := kernel.TimestampOf("query.timestamp", in.Timestamp)
	if err != nil {
		return nil, err
	}
	out := &body[BlockAtTimestamp]{}
	err = s.view(ctx, in.Chain, func(c *Chain, r explorer.Reader, state *chain.State) error {
		var before *TimedBlock
		if at.Unix() >= 0 { // no block is older than 1970
			var err error
			if before, err = near(ctx, r, state, block.AtOrBefore, uint64(at.Unix())); err != nil {
				return err
			}
		}
		after, err := near(ctx, r, state, block.AtOrAfter, ceilSeconds(at))
		if err != nil {
			return err
		}
		chosen := before
		if in.Closest == "after" {
			chosen = after
		}
		if chosen == nil {
			return kernel.Because(kernel.ReasonBlockNotFound, "No indexed block found %s %s.", in.Closest, at.UTC().Format(time.RFC3339))
		}
		b := &out.Body
		b.ChainID, b.Source = c.ID, "indexed_blocks"
		b.Query.TimestampISO, b.Query.TimestampUnix, b.Query.Closest = at.UTC().Format(time.RFC3339Nano), at.Unix(), in.Closest
		b.Block, b.PreviousBlock, b.NextBlock = *chosen, before, after
		return nil
	})
	return out, err
}

// near returns nil where there is no block in that direction.
func near(ctx context.Context, r explorer.Reader, state *chain.State, ask func(context.Context, explorer.Reader, uint64) (*block.Summary, error), at uint64) (*TimedBlock, error) {
	b, err := ask(ctx, r, at)
	if errors.Is(err, block.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &TimedBlock{b.Number, b.Hash, kernel.TimestampISO(b.Timestamp), b.Timestamp, finality(state, b.Number)}, nil
}

// ceilSeconds turns a moment into block time, which is in whole seconds and
// never before 1970.
func ceilSeconds(t time.Time) uint64 {
	s := t.Unix()
	if t.Nanosecond() > 0 {
		s++
	}
	return uint64(max(s, 0))
}
