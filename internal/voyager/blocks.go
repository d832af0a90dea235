package voyager

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
)

// blockItem is a block of a list. Number is what older clients call its number.
type blockItem struct {
	BlockNumber          uint64     `json:"blockNumber"`
	Number               uint64     `json:"number"`
	Hash                 felt.Felt  `json:"hash"`
	Timestamp            uint64     `json:"timestamp"`
	StateRoot            felt.Felt  `json:"stateRoot"`
	TxnCount             uint64     `json:"txnCount"`
	MessageCount         uint64     `json:"messageCount"`
	EventCount           uint64     `json:"eventCount"`
	L1VerificationTxHash *felt.Felt `json:"l1VerificationTxHash"`
	Status               string     `json:"status"`
}

// blockDetail is a block in full. What the index does not know of it is null.
type blockDetail struct {
	blockItem
	PrevBlockHash    *felt.Felt `json:"prevBlockHash"`
	NextBlockHash    *felt.Felt `json:"nextBlockHash"`
	Confirmations    uint64     `json:"confirmations"`
	SequencerAddress padded     `json:"sequencerAddress"`
	TotalFee         *string    `json:"totalFee"`
	TimeToMine       *uint64    `json:"timeToMine"`
	Version          *string    `json:"version"`
	EthGasPrice      felt.Felt  `json:"ethGasPrice"`
	StrkGasPrice     felt.Felt  `json:"strkGasPrice"`
	L1AcceptTime     *uint64    `json:"l1AcceptTime"`
}

func (v *view) blockItem(b *block.Summary) blockItem {
	return blockItem{BlockNumber: b.Number, Number: b.Number, Hash: b.Hash, Timestamp: b.Timestamp, StateRoot: b.NewRoot,
		TxnCount: b.Transactions, MessageCount: b.Messages, EventCount: b.Events, Status: v.status(b.Number)}
}

func (f *Feed) blocks(c *call) (any, error) {
	return f.numbered(c, c.identity(), func(_ context.Context, v *view) (numbered, error) {
		return numbered{total: v.top.Number + 1, read: func(ctx context.Context, first uint64, n int) (any, error) {
			items := make([]blockItem, 0, n)
			if n == 0 {
				return items, nil
			}
			list, err := block.List(ctx, v.r, v.top.Number-first, n)
			for _, b := range list {
				items = append(items, v.blockItem(b))
			}
			return items, err
		}}, nil
	})
}

func (f *Feed) block(c *call) (any, error) {
	out := &blockDetail{}
	return out, f.on(c, func(ctx context.Context, v *view) error {
		b, err := v.blockOf(ctx, "ref", c.r.PathValue("ref"))
		if err != nil {
			return err
		}
		out.blockItem = v.blockItem(b)
		out.Confirmations, out.SequencerAddress = v.state.Head.Number-b.Number, padded(b.Sequencer)
		out.EthGasPrice, out.StrkGasPrice = b.L1GasPrice.InWei, b.L1GasPrice.InFri
		if b.StarknetVersion != "" {
			out.Version = &b.StarknetVersion
		}
		if b.Number > 0 {
			out.PrevBlockHash = &b.ParentHash
		}
		if b.Number < v.state.Head.Number {
			next, err := block.HashOf(ctx, v.r, b.Number+1)
			if err != nil {
				return err
			}
			out.NextBlockHash = &next
		}
		return nil
	})
}

// blockOf finds a block by number or hash; name is where the reference stands. The index has
// no block that is still being made.
func (v *view) blockOf(ctx context.Context, name, ref string) (*block.Summary, error) {
	if ref == "pre_confirmed" || ref == "pending" {
		return nil, notFound("Block")
	}
	var number uint64
	var err error
	if strings.HasPrefix(ref, "0x") || strings.HasPrefix(ref, "0X") {
		var hash felt.Felt
		if hash, err = kernel.FeltOf(name, ref); err != nil {
			return nil, err
		}
		number, err = block.NumberOf(ctx, v.r, hash)
	} else {
		if number, err = strconv.ParseUint(ref, 10, 63); err != nil {
			return nil, invalid("%s: %q is neither a block number, nor a block hash, nor pre_confirmed.", name, kernel.Clip(ref, 70))
		}
	}
	var b *block.Summary
	if err == nil {
		b, err = block.Get(ctx, v.r, number)
	}
	if errors.Is(err, block.ErrNotFound) {
		return nil, notFound("Block")
	}
	return b, err
}
