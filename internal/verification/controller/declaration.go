package controller

import (
	"context"

	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/explorer/class"
	"chainexplorer/internal/explorer/transaction"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
	"chainexplorer/internal/verification/build"
	"chainexplorer/internal/verification/receipt"
)

// declarePage is how many transactions of a block are read at once.
const declarePage = 200

// declaration finds where a class was declared, in one view of the index; false when it
// was not, or in no block that is finalized. There is no other source.
func (c *Job) declaration(ctx context.Context, hash felt.Felt) (out *receipt.Declaration, known bool, err error) {
	err = c.Store.View(ctx, func(r store.Reader) error {
		out, known = nil, false
		state, err := chain.Read(ctx, r)
		if err != nil {
			return err
		}
		d, found, err := class.Declared(ctx, r, hash)
		if err != nil || !found || d.Kind != class.Sierra || state.Finality(d.Block, c.Depth) < chain.Finalized {
			return err
		}
		blockHash, err := block.HashOf(ctx, r, d.Block)
		if err != nil {
			return err
		}
		tx, found, err := declarer(ctx, r, d.Block, hash)
		if err != nil || !found || blockHash.IsZero() || tx.IsZero() || d.Compiled.IsZero() {
			return err
		}
		out = &receipt.Declaration{BlockNumber: d.Block, BlockHash: blockHash.String(), TransactionHash: tx.String(), CompiledClassHash: d.Compiled.String()}
		known = true
		return nil
	})
	return out, known, err
}

// declarer is the transaction of a block that declared a class.
func declarer(ctx context.Context, r store.Reader, number uint64, hash felt.Felt) (felt.Felt, bool, error) {
	for from := uint32(0); ; from += declarePage {
		page, err := transaction.OfBlock(ctx, r, number, from, declarePage)
		if err != nil {
			return felt.Felt{}, false, err
		}
		for _, t := range page {
			if t.Type == starknet.Declare && t.ClassHash == hash && t.Receipt.Execution == starknet.Succeeded {
				return t.Hash, true, nil
			}
		}
		if len(page) < declarePage {
			return felt.Felt{}, false, nil
		}
	}
}

// differences are the parts in which what was built differs from the declared class,
// as a node has it, whose word counts only when the hash is right; none when that
// cannot be told.
func (c *Job) differences(ctx context.Context, number uint64, hash felt.Felt, built build.Parts) []string {
	if c.Class == nil {
		return nil
	}
	text, err := c.Class(ctx, number, hash)
	if err != nil {
		c.log().Info("the declared class could not be had: a mismatch is told without its parts", "err", err)
		return nil
	}
	declared, err := starknet.DecodeClass(text)
	if err != nil || declared.Sierra == nil {
		return nil
	}
	if is, err := declared.Sierra.Hash(); err != nil || is != hash {
		return nil
	}
	return build.Differences(built, declared.Sierra.Parts())
}
