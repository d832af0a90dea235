package api

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"

	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/explorer/message"
	"chainexplorer/internal/explorer/places"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/store"
)

func messagesCoverage(n int, all, none string) MessagesCoverage {
	if n == 0 {
		return MessagesCoverage{"exact", "starknet_protocol_messages", "no_matching_message_rows", none}
	}
	return MessagesCoverage{"exact", "starknet_protocol_messages", "indexed_protocol_message_facts", all}
}

// renderMessages renders messages of any blocks.
func (s *Routes) renderMessages(ctx context.Context, r store.Reader, c *Chain, state *chain.State, list []message.Loaded) ([]Message, error) {
	numbers := make([]uint64, len(list))
	for i := range list {
		numbers[i] = list[i].Block
	}
	blocks, err := blocksOf(ctx, r, numbers)
	if err != nil {
		return nil, err
	}
	out := make([]Message, len(list))
	for i := range list {
		out[i] = renderMessage(c, state, blocks[list[i].Block], &list[i])
	}
	return out, nil
}

func renderMessage(c *Chain, state *chain.State, b *block.Summary, m *message.Loaded) Message {
	iso, zero, one := kernel.TimestampISO(b.Timestamp), uint64(0), uint64(1)
	out := Message{
		ID: fmt.Sprintf("%d:%d:%d", m.Block, m.Tx, m.Sub), BlockNumber: m.Block, TimestampISO: &iso, TxIndex: m.Tx, LogIndex: m.Sub,
		MessageHash: "0x" + hex.EncodeToString(m.Hash[:]), ToAddress: &m.To, TxHash: m.TxHash, L2Hash: &m.TxHash,
		Payload: head(m.Payload, MaxPayload), PayloadTruncated: len(m.Payload) > MaxPayload, RowTier: tierOf(c, state, m.Block),
	}
	if m.HasFrom {
		out.FromAddress = &m.From
	}
	out.Interpretation, out.BridgeContractAddress = interpret(c.Registry, &m.Message)
	if m.Direction == message.ToL1 {
		out.Direction, out.L1ContractAddress, out.L2ContractAddress = "l2_to_l1", out.ToAddress, out.FromAddress
		out.L1SentCount, out.L2SentCount, out.Status = &zero, &m.Times, statusPending
		if state.HasL1 && m.Block <= state.L1.Number {
			out.Status = statusUnknown
		}
		return out
	}
	out.Direction, out.L1ContractAddress, out.L2ContractAddress = "l1_to_l2", out.FromAddress, out.ToAddress
	out.L2SentCount, out.L1ConsumedCount, out.Selector, out.Status = &zero, &zero, &m.Selector, statusConsumed
	if m.Reverted {
		out.Status = statusFailed
	}
	if m.HasNonce {
		out.Nonce, out.L1SentCount = &m.Nonce, &one // L1 gives a nonce once
		if !m.Reverted {
			out.PendingCount = &zero
		}
	}
	return out
}

// blocksOf reads the blocks that a list touches, in one round trip.
func blocksOf(ctx context.Context, r store.Reader, numbers []uint64) (map[uint64]*block.Summary, error) {
	numbers = slices.Clone(numbers)
	slices.Sort(numbers)
	blocks, err := block.GetMany(ctx, r, slices.Compact(numbers))
	if err != nil {
		return nil, err
	}
	out := make(map[uint64]*block.Summary, len(blocks))
	for _, b := range blocks {
		out[b.Number] = b
	}
	return out, nil
}

// openPlace reads the cursor of a list of places.
func (s *Routes) openPlace(ctx context.Context, r store.Reader, scope, cursor string) (p places.Place, err error) {
	p.Block, err = s.openSpot(ctx, r, scope, cursor, &p.Tx, &p.Sub)
	return p, err
}

// sealPlace makes the cursor of a list of places.
func (s *Routes) sealPlace(ctx context.Context, r store.Reader, scope string, p places.Place) (*string, error) {
	hash, err := blockHash(ctx, r, p.Block)
	if err != nil {
		return nil, err
	}
	return s.sealSpot(scope, anchor{p.Block, hash}, p.Tx, p.Sub), nil
}
