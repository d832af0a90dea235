package simnode

import (
	"slices"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/simnode/contracts"
	"chainexplorer/internal/starknet"
)

// submitted is a transaction that a client sent and that waits for a block.
type submitted struct {
	tx    starknet.Transaction
	class *contracts.Class // of a declare
}

// maxMempool bounds what waits.
const maxMempool = 1000

// take empties the mempool for the next block. The lock must be held.
func (c *Chain) take() []*submitted {
	sent := c.mempool
	c.mempool = nil
	return sent
}

// Pending lists the transactions that wait for a block.
func (c *Chain) Pending() []starknet.Transaction {
	c.mu.RLock()
	defer c.mu.RUnlock()
	out := make([]starknet.Transaction, len(c.mempool))
	for i, s := range c.mempool {
		out[i] = s.tx
	}
	return out
}

// submit checks a transaction and keeps it for the next block. It returns the
// code of the protocol's error, or zero.
func (c *Chain) submit(s *submitted) (code int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	w := c.w
	if _, ok := c.txs[s.tx.Hash]; ok {
		return codeDuplicateTx
	}
	waiting := uint64(0)
	sender := s.tx.Sender
	for _, other := range c.mempool {
		if other.tx.Hash == s.tx.Hash {
			return codeDuplicateTx
		}
		if other.tx.Sender == sender {
			waiting++
		}
	}
	if len(c.mempool) >= maxMempool {
		return codeUnexpected
	}
	if s.class != nil && w.declared.get(s.class.Hash) != nil {
		return codeClassDeclared
	}
	if s.tx.Type == starknet.DeployAccount {
		if w.declared.get(s.tx.ClassHash) == nil {
			return codeClassHashNotFound
		}
		sender = contractAddressOf(&s.tx)
	}
	i := w.intern(sender)
	exists := w.classOf.get(i) != nil
	switch {
	case s.tx.Type != starknet.DeployAccount && !exists:
		return codeNonAccount
	case s.tx.Type == starknet.DeployAccount && exists:
		return codeInvalidNonce
	case s.tx.Nonce != felt.FromUint64(w.nonces.get(i)+waiting):
		return codeInvalidNonce
	case w.balance(strkToken, i).less(units(1, 16)):
		return codeInsufficientBalance
	}
	c.mempool = append(c.mempool, s)
	return 0
}

func contractAddressOf(tx *starknet.Transaction) felt.Felt {
	return starknet.ComputeContractAddress(felt.Zero, tx.ContractAddressSalt, tx.ClassHash, tx.ConstructorCalldata)
}

// include plays a transaction that a client sent. Token transfers have their
// effect; a call of anything else succeeds and does nothing.
func (b *builder) include(s *submitted) {
	b.begin()
	tx := s.tx
	sender := b.w.intern(tx.Sender)
	if tx.Type == starknet.DeployAccount {
		sender = b.w.intern(contractAddressOf(&tx))
	}
	if tx.Nonce != felt.FromUint64(b.w.nonces.get(sender)) {
		return // a fork or another block has overtaken it
	}
	switch tx.Type {
	case starknet.Declare:
		b.takeNonce(sender)
		b.diff.Declared = append(b.diff.Declared, starknet.DeclaredClass{ClassHash: s.class.Hash, CompiledClassHash: tx.CompiledClassHash})
		b.w.declared.set(b.number, s.class.Hash, s.class)
		b.w.compiled.set(b.number, s.class.Hash, tx.CompiledClassHash)
		b.seal(&tx, sender, 3, "")
	case starknet.DeployAccount:
		address := contractAddressOf(&tx)
		i := b.deploy(address, b.w.declared.get(tx.ClassHash))
		b.w.nonces.set(b.number, i, 1)
		b.seal(&tx, i, 3, "")
		b.block.Receipts[len(b.block.Receipts)-1].ContractAddress = address
	default:
		b.takeNonce(sender)
		reason := b.play(&account{id: sender, address: tx.Sender}, tx.Calldata)
		b.done()
		b.seal(&tx, sender, 3, reason)
	}
}

// play runs the calls of a foreign multicall; it checks them all before it
// changes anything, as a failing call undoes the others.
func (b *builder) play(from *account, calldata []felt.Felt) (revert string) {
	calls, ok := decodeMulticall(calldata)
	if !ok {
		return "Failed to deserialize param #1"
	}
	type move struct {
		token int
		to    id
		a     amount
	}
	left := map[int]amount{}
	moves := make([]*move, len(calls))
	for i, c := range calls {
		target, known := b.w.ids[c.to]
		if !known || b.w.classOf.get(target) == nil {
			return "Requested contract address " + c.to.String() + " is not deployed."
		}
		token, isToken := b.w.tokenIndex(c.to)
		if !isToken || c.selector != contracts.SelFnTransfer || len(c.args) != 3 || b.token(token).Standard != ERC20 {
			continue
		}
		value, err := felt.U256(c.args[1], c.args[2])
		if err != nil {
			return "Failed to deserialize param #2"
		}
		a := amountFromBytes(value)
		have, seen := left[token]
		if !seen {
			have = b.spendable(from, token)
		}
		if have.less(a) {
			return "ERC20: insufficient balance"
		}
		left[token] = have.sub(a)
		moves[i] = &move{token, b.w.intern(c.args[0]), a}
	}
	for i, c := range calls {
		if m := moves[i]; m != nil {
			b.callTransfer(from, m.token, m.to, m.a)
		} else {
			b.call(c.to, c.selector, c.args...)
			b.done()
		}
	}
	return ""
}

// decodeMulticall reads Cairo 1 calldata, then Cairo 0 calldata; all of it
// must be used up.
func decodeMulticall(data []felt.Felt) ([]call, bool) {
	if calls, ok := decodeCairo1(data); ok {
		return calls, true
	}
	return decodeCairo0(data)
}

func decodeCairo1(data []felt.Felt) ([]call, bool) {
	n, rest, ok := takeCount(data)
	if !ok {
		return nil, false
	}
	var calls []call
	for range n {
		if len(rest) < 3 {
			return nil, false
		}
		size, ok := rest[2].Uint64()
		if !ok || size > uint64(len(rest)-3) {
			return nil, false
		}
		calls = append(calls, call{rest[0], rest[1], rest[3 : 3+size]})
		rest = rest[3+size:]
	}
	return calls, len(rest) == 0
}

func decodeCairo0(data []felt.Felt) ([]call, bool) {
	n, rest, ok := takeCount(data)
	if !ok || n > len(rest)/4 {
		return nil, false
	}
	heads, rest := rest[:4*n], rest[4*n:]
	total, args, ok := takeCount(rest)
	if !ok || total != len(args) {
		return nil, false
	}
	var calls []call
	for h := range slices.Chunk(heads, 4) {
		start, ok0 := h[2].Uint64()
		size, ok1 := h[3].Uint64()
		if !ok0 || !ok1 || start > uint64(len(args)) || size > uint64(len(args))-start {
			return nil, false
		}
		calls = append(calls, call{h[0], h[1], args[start : start+size]})
	}
	return calls, true
}

func takeCount(data []felt.Felt) (int, []felt.Felt, bool) {
	if len(data) == 0 {
		return 0, nil, false
	}
	n, ok := data[0].Uint64()
	if !ok || n > uint64(len(data)) {
		return 0, nil, false
	}
	return int(n), data[1:], true
}
