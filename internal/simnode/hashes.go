package simnode

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
)

// digest makes cheap felts out of whatever is fed to it. They look like hashes
// and differ when their inputs do; no protocol defines them.
type digest struct{ h hash.Hash }

func newDigest(label string) digest {
	d := digest{sha256.New()}
	d.h.Write([]byte(label)) //nolint:errcheck // a hash never fails
	return d
}

func (d digest) add(fs ...felt.Felt) digest {
	for i := range fs {
		d.h.Write(fs[i][:]) //nolint:errcheck
	}
	return d
}

func (d digest) num(ns ...uint64) digest {
	for _, n := range ns {
		var b [8]byte
		binary.BigEndian.PutUint64(b[:], n)
		d.h.Write(b[:]) //nolint:errcheck
	}
	return d
}

func (d digest) sum() (f felt.Felt) {
	d.h.Sum(f[:0])
	f[0] &= 0x03
	return f
}

// hashTransactions gives every transaction of the block its hash.
func (b *builder) hashTransactions() error {
	for i := range b.block.Transactions {
		tx := &b.block.Transactions[i]
		hash, err := b.txHash(tx, uint64(i))
		if err != nil {
			return fmt.Errorf("hash transaction %d of block %d: %w", i, b.number, err)
		}
		tx.Hash = hash
		b.block.Receipts[i].TransactionHash = hash
	}
	return nil
}

func (b *builder) txHash(tx *starknet.Transaction, index uint64) (felt.Felt, error) {
	if b.w.cfg.RealHashes {
		return tx.ComputeHash(b.w.cfg.ChainID)
	}
	if !tx.Hash.IsZero() { // sent from outside: its hash was promised
		return tx.Hash, nil
	}
	d := newDigest("tx").num(b.w.cfg.Seed, b.branch, b.number, index)
	return d.add(tx.Sender, tx.Nonce, tx.ContractAddressSalt).sum(), nil
}

// root is the state root after the block. It stands for no trie; it changes
// whenever the state does.
func (b *builder) root(old felt.Felt) felt.Felt {
	d := newDigest("root").add(old)
	for _, s := range b.diff.Storage {
		d.add(s.Address).num(uint64(len(s.Entries)))
		for _, e := range s.Entries {
			d.add(e.Key, e.Value)
		}
	}
	for _, c := range b.diff.Deployed {
		d.add(c.Address, c.ClassHash)
	}
	for _, c := range b.diff.Replaced {
		d.add(c.Address, c.ClassHash)
	}
	for _, c := range b.diff.Declared {
		d.add(c.ClassHash)
	}
	for _, n := range b.diff.Nonces {
		d.add(n.Address, n.Nonce)
	}
	if b.diff.Length() == 0 {
		return old
	}
	return d.sum()
}

// hashBlock fills the commitments and the block hash.
func (b *builder) hashBlock() error {
	if b.w.cfg.RealHashes {
		c, err := starknet.ComputeCommitments(b.block, &b.diff)
		if err != nil {
			return fmt.Errorf("commitments of block %d: %w", b.number, err)
		}
		b.block.Commitments = &c
		b.block.Hash, err = starknet.ComputeBlockHash(&b.block.Header, c)
		if err != nil {
			return fmt.Errorf("hash of block %d: %w", b.number, err)
		}
		return nil
	}
	events := b.block.EventCount()
	d := newDigest("block").num(b.w.cfg.Seed, b.branch, b.number, uint64(events)).add(b.block.ParentHash, b.block.NewRoot)
	for i := range b.block.Transactions {
		d.add(b.block.Transactions[i].Hash)
	}
	b.block.Hash = d.sum()
	b.block.Commitments = &starknet.Commitments{
		Transactions: newDigest("txs").add(b.block.Hash).sum(), Events: newDigest("events").add(b.block.Hash).sum(),
		Receipts: newDigest("receipts").add(b.block.Hash).sum(), StateDiff: newDigest("diff").add(b.block.Hash).sum(),
		TransactionCount: uint64(len(b.block.Transactions)), EventCount: uint64(events), StateDiffLength: b.diff.Length(),
	}
	return nil
}
