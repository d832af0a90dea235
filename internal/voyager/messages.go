package voyager

import (
	"context"
	"encoding/hex"
	"slices"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/message"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
)

// How far a page looks through blocks without messages: so many times so many spans.
const (
	messageRounds = 16
	messageSpans  = 64
)

// messageItem is a message between the layers. L1 is not indexed: what it knows is null.
type messageItem struct {
	Number        *string    `json:"number"`
	Hash          string     `json:"hash"`
	BlockNumber   uint64     `json:"block_number"`
	BlockHash     felt.Felt  `json:"block_hash"`
	TxHash        felt.Felt  `json:"tx_hash"`
	FromAddress   *string    `json:"from_address"`
	ToAddress     string     `json:"to_address"`
	L1BlocksHash  *felt.Felt `json:"l1_blocks_hash"`
	L2BlocksHash  felt.Felt  `json:"l2_blocks_hash"`
	Timestamp     uint64     `json:"timestamp"`
	VerifiedBlock *uint64    `json:"verified_block_number"`
	L1Alias       *string    `json:"alias_l1_contract_address"`
	Type          string     `json:"type"`
	ContractAlias *string    `json:"contractAlias"`
}

func (f *Feed) messages(c *call) (any, error) {
	contract, err := c.felt("contract")
	if err != nil {
		return nil, err
	}
	filter := message.Filter{Contract: contract}
	kind, given := c.given["type"]
	switch {
	case !given || kind == "null":
		kind = ""
	case kind == "0" || kind == "l1l2":
		filter.Direction = &message.Directions[0]
	case kind == "1" || kind == "l2l1":
		filter.Direction = &message.Directions[1]
	default:
		return nil, invalid("type: %q is neither 0 (to L2) nor 1 (to L1).", kernel.Clip(kind, 20))
	}
	ref, inBlock := c.given["block"]
	of := ""
	if contract != nil {
		of = contract.String()
	}
	return f.walked(c, c.identity(of, kind, ref), func(ctx context.Context, v *view) (walked, error) {
		first, last := uint64(0), v.top.Number
		if inBlock {
			b, err := v.blockOf(ctx, "block", ref)
			if err != nil {
				return walked{}, err
			}
			v.top, first, last = b.Ref(), b.Number, b.Number
		}
		return walked{read: func(ctx context.Context, after []byte, n int) (rows, error) {
			before := explorer.Place{Block: last + 1}
			if p, ok := explorer.ParsePlace(after); ok {
				before = p
			}
			list, more, err := messagesBefore(ctx, v.r, filter, first, before, n)
			out := rows{more: more, render: func(ctx context.Context) (any, error) { return v.messageItems(ctx, list) }}
			if k := len(list); k > 0 {
				out.after = list[k-1].Append(nil)
			}
			return out, err
		}}, nil
	})
}

// messagesBefore finds up to n messages in front of a place, down to a block.
func messagesBefore(ctx context.Context, r explorer.Reader, filter message.Filter, first uint64, before explorer.Place, n int) (out []explorer.Place, more bool, err error) {
	for range messageRounds {
		list, next, err := message.List(ctx, r, filter, before, n+1-len(out), messageSpans)
		if err != nil {
			return nil, false, err
		}
		below := slices.IndexFunc(list, func(p explorer.Place) bool { return p.Block < first })
		if below >= 0 {
			return append(out, list[:below]...), false, nil
		}
		if out = append(out, list...); len(out) > n {
			return out[:n], true, nil
		}
		if next == nil || next.Block < first {
			return out, false, nil
		}
		before = *next
	}
	return nil, false, kernel.RetryLater(1, nil, "There are too few messages to fill a page. Ask for those of a contract.")
}

func (v *view) messageItems(ctx context.Context, places []explorer.Place) ([]messageItem, error) {
	list, err := message.Load(ctx, v.r, places)
	if err != nil {
		return nil, err
	}
	numbers := make([]uint64, len(list))
	for i := range list {
		numbers[i] = list[i].Block
	}
	stamps, err := block.Stamps(ctx, v.r, numbers)
	if err != nil {
		return nil, err
	}
	out := make([]messageItem, len(list))
	for i := range list {
		m, b := &list[i], &stamps[i]
		out[i] = messageItem{Hash: "0x" + hex.EncodeToString(m.Hash[:]), BlockNumber: m.Block, BlockHash: b.Hash, TxHash: m.TxHash,
			L2BlocksHash: b.Hash, Timestamp: b.Timestamp, Type: "l1l2"}
		here := &m.To // the contract on this layer, whose address has all its digits
		from, to := m.From.String(), m.To.Padded()
		if m.Direction == message.ToL1 {
			out[i].Type, here = "l2l1", &m.From
			from, to = m.From.Padded(), m.To.String()
		}
		if m.HasFrom {
			out[i].FromAddress = &from
		}
		out[i].ToAddress = to
		out[i].ContractAlias = v.chain.AliasesOf(here, nil).ContractAlias
	}
	return out, nil
}
