package simnode

import (
	"fmt"
	"slices"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/simnode/contracts"
	"chainexplorer/internal/starknet"
)

// parent is what a block needs to know of the one before it.
type parent struct {
	hash felt.Felt
	root felt.Felt
}

// blockHashLag is how far back the chain can see block hashes, which it keeps
// in the storage of the contract at address 1.
const blockHashLag = 10

// makeBlock plays one block on top of the world's state.
func makeBlock(w *world, number, branch uint64, prev parent, past func(uint64) felt.Felt, sent []*submitted) (*record, error) {
	b := &builder{
		w: w, r: newRandom(w.cfg.Seed, branch, number), number: number, branch: branch, past: past,
		block: &starknet.Block{},
	}
	b.header(prev)
	for _, s := range sent {
		b.include(s)
	}
	b.run()
	if number >= blockHashLag {
		b.write(felt.FromUint64(1), felt.FromUint64(number-blockHashLag), past(number-blockHashLag))
	}
	b.finishDiff()
	b.block.NewRoot = b.root(prev.root)
	if err := b.hashTransactions(); err != nil {
		return nil, err
	}
	for i := range b.block.Receipts {
		b.block.Receipts[i].Finality = starknet.AcceptedOnL2
	}
	if err := b.hashBlock(); err != nil {
		return nil, err
	}
	// Blocks are kept by the thousand: no room to spare.
	b.block.Transactions, b.block.Receipts = slices.Clip(slices.Clone(b.block.Transactions)), slices.Clip(slices.Clone(b.block.Receipts))
	b.noteMessages()
	update := &starknet.StateUpdate{BlockHash: b.block.Hash, OldRoot: prev.root, NewRoot: b.block.NewRoot, Diff: b.diff}
	w.endBlock()
	return newRecord(b.block, update, b.callEnds), nil
}

func (b *builder) header(prev parent) {
	cfg := &b.w.cfg
	b.prices = prices{
		l1: 30_000_000_000_000 + uint64(b.r.intn(10_000_000))*1_000_000, data: 40_000 + uint64(b.r.intn(20_000)),
		l2: 3_000_000_000 + uint64(b.r.intn(500_000_000)),
	}
	price := func(fri uint64) starknet.GasPrice {
		return starknet.GasPrice{InFri: felt.FromUint64(fri), InWei: felt.FromUint64(fri/4000 + 1)}
	}
	b.block.Header = starknet.Header{
		Status: starknet.AcceptedOnL2, ParentHash: prev.hash, Number: b.number,
		Timestamp: cfg.timeOf(b.number),
		Sequencer: contracts.Sequencer, L1GasPrice: price(b.prices.l1), L1DataGasPrice: price(b.prices.data), L2GasPrice: price(b.prices.l2),
		DAMode: starknet.DABlob, StarknetVersion: cfg.StarknetVersion,
	}
}

// noteMessages keeps the block's messages as ground truth.
func (b *builder) noteMessages() {
	for i := range b.block.Transactions {
		tx, r := &b.block.Transactions[i], &b.block.Receipts[i]
		if tx.Type == starknet.L1Handler {
			nonce, _ := tx.Nonce.Uint64()
			b.w.messages.add(b.number, Message{
				Block: b.number, TxIndex: i, From: tx.Calldata[0], To: tx.ContractAddress, Selector: tx.EntryPointSelector,
				Payload: tx.Calldata[1:], Nonce: nonce, Hash: r.MessageHash, Reverted: r.Execution == starknet.Reverted,
			})
		}
		for j := range r.MessagesSent {
			m := &r.MessagesSent[j]
			b.w.messages.add(b.number, Message{
				Block: b.number, TxIndex: i, ToL1: true, Index: j, From: m.From, To: m.To, Payload: m.Payload, Hash: m.Hash(),
			})
		}
	}
}

// Generate streams the blocks of a chain in order without keeping any: for
// chains too large to hold. The blocks are those of New with the same
// configuration. It stops at the first error of fn and returns it.
func Generate(cfg Config, fn func(*starknet.Block, *starknet.StateUpdate) error) error {
	cfg = cfg.withDefaults()
	w := newWorld(cfg, false)
	hashes := make([]felt.Felt, 0, cfg.Blocks)
	past := func(n uint64) felt.Felt {
		if n < uint64(len(hashes)) {
			return hashes[n]
		}
		return felt.Zero
	}
	var prev parent
	for n := range uint64(cfg.Blocks) {
		rec, err := makeBlock(w, n, 0, prev, past, nil)
		if err != nil {
			return fmt.Errorf("generate block %d: %w", n, err)
		}
		prev = parent{rec.header.Hash, rec.header.NewRoot}
		hashes = append(hashes, rec.header.Hash)
		if err := fn(rec.block(), rec.update()); err != nil {
			return err
		}
	}
	return nil
}
