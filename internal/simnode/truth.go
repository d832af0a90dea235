package simnode

import (
	"math/big"
	"slices"

	"chainexplorer/internal/arrange"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/simnode/contracts"
	"chainexplorer/internal/starknet"
)

// This file answers questions about the canonical branch. What is returned
// must not be changed.

// Head is the number of the newest block; false when there is none.
func (c *Chain) Head() (uint64, bool) {
	n := len(c.view.Load().blocks)
	return uint64(max(0, n-1)), n > 0
}

// L1Head is the newest block accepted on L1; false when there is none.
func (c *Chain) L1Head() (uint64, bool) { return c.l1Head(c.view.Load()) }

// BlockAt returns a block with its present finality, or nil.
func (c *Chain) BlockAt(n uint64) *starknet.Block {
	v := c.view.Load()
	if rec := v.at(n); rec != nil {
		return c.finalized(v, rec)
	}
	return nil
}

// StateUpdateAt returns the state update of a block, or nil.
func (c *Chain) StateUpdateAt(n uint64) *starknet.StateUpdate {
	if rec := c.view.Load().at(n); rec != nil {
		return rec.update()
	}
	return nil
}

// BlockByHash returns a block of the canonical branch, or an orphan that is
// still remembered; canonical tells them apart.
func (c *Chain) BlockByHash(h felt.Felt) (b *starknet.Block, canonical bool) {
	v := c.view.Load()
	rec := c.recordByHash(h)
	if rec == nil {
		return nil, false
	}
	return c.finalized(v, rec), v.at(rec.header.Number) == rec
}

func (c *Chain) recordByHash(h felt.Felt) *record {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.byHash[h]
}

// TxRef is a transaction and its place.
type TxRef struct {
	Block       *starknet.Block
	Index       int
	Transaction *starknet.Transaction
	Receipt     *starknet.Receipt
}

// TransactionByHash finds a transaction of the canonical branch.
func (c *Chain) TransactionByHash(h felt.Felt) (TxRef, bool) {
	return c.transaction(c.view.Load(), h)
}

func (c *Chain) transaction(v *view, h felt.Felt) (TxRef, bool) {
	c.mu.RLock()
	place, ok := c.txs[h]
	c.mu.RUnlock()
	if !ok || v.at(place.rec.header.Number) != place.rec {
		return TxRef{}, false
	}
	b := c.finalized(v, place.rec)
	return TxRef{b, place.index, &b.Transactions[place.index], &b.Receipts[place.index]}, true
}

// BalanceAt is an ERC-20 balance after a block; zero for what never was.
func (c *Chain) BalanceAt(token, holder felt.Felt, block uint64) *big.Int {
	c.mu.RLock()
	defer c.mu.RUnlock()
	i, ok := c.w.tokenIndex(token)
	h, known := c.w.ids[holder]
	if !ok || !known {
		return new(big.Int)
	}
	a, _ := c.w.balances.at(balanceKey{i, h}, block)
	return a.big()
}

// SupplyAt is an ERC-20 supply after a block.
func (c *Chain) SupplyAt(token felt.Felt, block uint64) *big.Int {
	c.mu.RLock()
	defer c.mu.RUnlock()
	i, ok := c.w.tokenIndex(token)
	if !ok {
		return new(big.Int)
	}
	a, _ := c.w.supplies.at(i, block)
	return a.big()
}

// Holder is an address with what it has of a token.
type Holder struct {
	Address felt.Felt
	Balance *big.Int
}

// Holders lists who has something of an ERC-20 after a block: most first,
// then by address.
func (c *Chain) Holders(token felt.Felt, block uint64) []Holder {
	c.mu.RLock()
	defer c.mu.RUnlock()
	i, ok := c.w.tokenIndex(token)
	if !ok {
		return nil
	}
	var out []Holder
	for _, h := range c.w.holders[i] {
		if a, _ := c.w.balances.at(balanceKey{i, h}, block); !a.isZero() {
			out = append(out, Holder{c.w.address(h), a.big()})
		}
	}
	arrange.By(out, func(a, b Holder) int {
		if n := b.Balance.Cmp(a.Balance); n != 0 {
			return n
		}
		return a.Address.Cmp(b.Address)
	})
	return out
}

// OwnerAt is the owner of an NFT after a block; zero when it does not exist.
func (c *Chain) OwnerAt(token felt.Felt, number uint64, block uint64) felt.Felt {
	c.mu.RLock()
	defer c.mu.RUnlock()
	i, ok := c.w.tokenIndex(token)
	if !ok {
		return felt.Zero
	}
	h, _ := c.w.nftOwners.at(nftKey{i, number}, block)
	return c.w.address(h)
}

// MultiBalanceAt is an ERC-1155 balance after a block.
func (c *Chain) MultiBalanceAt(token felt.Felt, number uint64, holder felt.Felt, block uint64) *big.Int {
	c.mu.RLock()
	defer c.mu.RUnlock()
	i, ok := c.w.tokenIndex(token)
	h, known := c.w.ids[holder]
	if !ok || !known {
		return new(big.Int)
	}
	a, _ := c.w.multi.at(multiKey{i, number, h}, block)
	return a.big()
}

// Tokens lists the token contracts that exist after a block, oldest first.
func (c *Chain) Tokens(block uint64) []Token {
	c.mu.RLock()
	defer c.mu.RUnlock()
	n := c.w.tokens.until(block)
	out := make([]Token, n)
	for i := range out {
		out[i] = *c.w.tokens.items[i]
	}
	return out
}

// Accounts lists the accounts that exist after a block, oldest first.
func (c *Chain) Accounts(block uint64) []felt.Felt {
	c.mu.RLock()
	defer c.mu.RUnlock()
	out := make([]felt.Felt, c.w.accounts.until(block))
	for i := range out {
		out[i] = c.w.accounts.items[i].address
	}
	return out
}

// ClassAt is the class of a contract after a block.
func (c *Chain) ClassAt(contract felt.Felt, block uint64) (*contracts.Class, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	i, ok := c.w.ids[contract]
	if !ok {
		return nil, false
	}
	return c.w.classOf.at(i, block)
}

// ClassByHash is a class that is declared after a block.
func (c *Chain) ClassByHash(h felt.Felt, block uint64) (*contracts.Class, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.w.declared.at(h, block)
}

// CompiledHashAt is the compiled class hash of a Sierra class after a block:
// it changes when the chain migrates the class.
func (c *Chain) CompiledHashAt(class felt.Felt, block uint64) (felt.Felt, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.w.compiled.at(class, block)
}

// Classes lists the classes declared after a block, by hash.
func (c *Chain) Classes(block uint64) []*contracts.Class {
	c.mu.RLock()
	defer c.mu.RUnlock()
	var out []*contracts.Class
	for h := range c.w.declared.rows {
		if class, ok := c.w.declared.at(h, block); ok {
			out = append(out, class)
		}
	}
	arrange.By(out, func(a, b *contracts.Class) int { return a.Hash.Cmp(b.Hash) })
	return out
}

// NonceAt is the nonce of a contract after a block; false when it does not exist.
func (c *Chain) NonceAt(contract felt.Felt, block uint64) (uint64, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	i, ok := c.w.ids[contract]
	if !ok {
		return 0, false
	}
	if _, ok := c.w.classOf.at(i, block); !ok {
		return 0, false
	}
	n, _ := c.w.nonces.at(i, block)
	return n, true
}

// Messages lists the messages between the layers in a range of blocks, in
// chain order.
func (c *Chain) Messages(from, to uint64) []Message {
	c.mu.RLock()
	defer c.mu.RUnlock()
	start := 0
	if from > 0 {
		start = c.w.messages.until(from - 1)
	}
	end := c.w.messages.until(to)
	if start >= end {
		return nil
	}
	return slices.Clone(c.w.messages.items[start:end])
}

// PoolFacts lists the privacy pool's events in a range of blocks, in order.
func (c *Chain) PoolFacts(from, to uint64) []PoolFact {
	c.mu.RLock()
	defer c.mu.RUnlock()
	start := 0
	if from > 0 {
		start = c.w.poolFacts.until(from - 1)
	}
	end := c.w.poolFacts.until(to)
	if start >= end {
		return nil
	}
	return slices.Clone(c.w.poolFacts.items[start:end])
}

// PoolFees lists what was paid for uses of the privacy pool in a range of blocks, in order.
func (c *Chain) PoolFees(from, to uint64) []PoolFee {
	c.mu.RLock()
	defer c.mu.RUnlock()
	start := 0
	if from > 0 {
		start = c.w.poolFees.until(from - 1)
	}
	end := c.w.poolFees.until(to)
	if start >= end {
		return nil
	}
	return slices.Clone(c.w.poolFees.items[start:end])
}

// PoolTotals is what the pool's events up to a block add up to for a token.
type PoolTotals struct {
	Deposited *big.Int // deposits and funded open notes
	Withdrawn *big.Int
	Protected *big.Int // the difference: the value of unspent notes

	Deposits, Withdrawals, OpenDeposits int
}

// PoolAt adds the pool's events up to a block.
func (c *Chain) PoolAt(token felt.Felt, block uint64) PoolTotals {
	t := PoolTotals{Deposited: new(big.Int), Withdrawn: new(big.Int), Protected: new(big.Int)}
	for _, f := range c.PoolFacts(0, block) {
		if f.Token != token || f.Amount == nil {
			continue
		}
		switch f.Kind {
		case PoolDeposit:
			t.Deposits++
			t.Deposited.Add(t.Deposited, f.Amount)
		case PoolOpenNoteDeposited:
			t.OpenDeposits++
			t.Deposited.Add(t.Deposited, f.Amount)
		case PoolWithdrawal:
			t.Withdrawals++
			t.Withdrawn.Add(t.Withdrawn, f.Amount)
		}
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	if i, ok := c.w.tokenIndex(token); ok {
		a, _ := c.w.protected.at(i, block)
		t.Protected = a.big()
	}
	return t
}

// Pool is the address of the privacy pool.
func (c *Chain) Pool() felt.Felt { return c.w.net.Pool }

// Network holds the well-known addresses of the chain.
func (c *Chain) Network() contracts.Network { return c.w.net }
