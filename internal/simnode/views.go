package simnode

import (
	"chainexplorer/internal/felt"
	"chainexplorer/internal/simnode/contracts"
)

// callParams is the request of starknet_call.
type callParams struct {
	Contract felt.Felt   `json:"contract_address"`
	Selector felt.Felt   `json:"entry_point_selector"`
	Calldata []felt.Felt `json:"calldata"`
}

// viewCall is one read of a contract at a block.
type viewCall struct {
	chain    *Chain
	block    uint64
	address  felt.Felt
	class    *contracts.Class
	selector felt.Felt
	args     []felt.Felt
}

func callContract(c *rpcCall) (any, error) {
	params, err := arg[callParams](c, "request")
	if err != nil {
		return nil, err
	}
	p, err := c.block("block_id")
	if err != nil {
		return nil, err
	}
	return c.node.chain.Call(p.number(), params.Contract, params.Selector, params.Calldata)
}

// Call runs a view function after a block, as starknet_call does. A contract
// that is not there is ErrNoContract; every other error is the contract's own.
func (c *Chain) Call(block uint64, contract, selector felt.Felt, calldata []felt.Felt) ([]felt.Felt, error) {
	class, ok := c.ClassAt(contract, block)
	if !ok {
		return nil, ErrNoContract
	}
	q := &viewCall{c, block, contract, class, selector, calldata}
	return q.run()
}

// ErrNoContract says that a block has no contract at an address.
var ErrNoContract error = failure(codeContractNotFound)

// revert is the contract's own refusal.
func (q *viewCall) revert(reason string) error {
	return failureWith(codeContractError, map[string]any{"revert_error": map[string]any{
		"contract_address": q.address, "class_hash": q.class.Hash, "selector": q.selector, "error": reason}})
}

func (q *viewCall) run() ([]felt.Felt, error) {
	name, ok := q.class.Function(q.selector)
	if !ok {
		// The old proxy passes everything on, and fails where its
		// implementation has no such door.
		if _, proxy := q.class.Function(felt.Zero); proxy {
			impl := q.chain.implementationAt(q.address, q.block)
			if impl != nil {
				name, ok = impl.Function(q.selector)
			}
			if !ok {
				return nil, q.revert("Entry point " + q.selector.String() + " not found in contract.")
			}
			q.class = impl
		} else {
			return nil, failure(codeEntryPointNotFound)
		}
	}
	result, ok := q.answer(name)
	if !ok {
		return nil, q.revert("0x496e70757420746f6f2073686f727420666f7220617267756d656e7473 ('Input too short for arguments')")
	}
	return result, nil
}

func (c *Chain) implementationAt(contract felt.Felt, block uint64) *contracts.Class {
	c.mu.RLock()
	defer c.mu.RUnlock()
	impl, _ := c.w.implOf.at(c.w.ids[contract], block)
	return impl
}

// tokenAt is the token at an address after a block.
func (c *Chain) tokenAtBlock(a felt.Felt, block uint64) (Token, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	i, ok := c.w.tokenIndex(a)
	if !ok || c.w.tokens.items[i].Block > block {
		return Token{}, false
	}
	return *c.w.tokens.items[i], true
}

func one(f felt.Felt) ([]felt.Felt, bool) { return []felt.Felt{f}, true }

func flag(b bool) ([]felt.Felt, bool) {
	if b {
		return one(felt.FromUint64(1))
	}
	return one(felt.Zero)
}

// answer plays a view function; false when the arguments do not fit or the
// function is not one that can be called from outside.
func (q *viewCall) answer(name string) ([]felt.Felt, bool) {
	if t, ok := q.chain.tokenAtBlock(q.address, q.block); ok {
		if out, ok := q.token(&t, name); ok {
			return out, true
		}
	}
	switch name {
	case "supports_interface", "supportsInterface":
		return flag(len(q.args) == 1 && (q.args[0] == interfaceSRC5 || q.args[0] == interfaceSRC6))
	case "get_implementation":
		if impl := q.chain.implementationAt(q.address, q.block); impl != nil {
			return one(impl.Hash)
		}
		return one(q.class.Hash)
	case "get_public_key":
		return q.publicKey()
	case "is_valid_signature":
		return one(felt.MustShortString("VALID"))
	case "factory":
		return one(q.chain.w.net.PairFactory)
	case "get_num_of_pairs":
		q.chain.mu.RLock()
		defer q.chain.mu.RUnlock()
		return one(felt.FromUint64(uint64(q.chain.w.pairs.until(q.block))))
	case "get_identity":
		return one(felt.MustShortString("STARKGATE"))
	case "token0", "token1", "get_reserves":
		return q.pair(name)
	}
	return q.pool(name)
}

var (
	interfaceSRC5    = felt.MustParse("0x3f918d17e5ee77373b56385708f855659a07f75997f365cf87748628532a055")
	interfaceSRC6    = felt.MustParse("0x2ceccef7f994940b3962a6c67e0ba4fcd37df7d131417c604f91e03caecc1cd")
	interfaceERC721  = felt.MustParse("0x33eb2f84c309543403fd69f0d0f363781ef06ef6faeb0131ff16ea3175bd943")
	interfaceERC1155 = felt.MustParse("0x6114a8f75559e1b39fcba08ce02961a1aa082d9256a158dd3e64964e4b1b52")
)

func (q *viewCall) token(t *Token, name string) ([]felt.Felt, bool) {
	pairOf := func(low, high felt.Felt) ([]felt.Felt, bool) { return []felt.Felt{low, high}, true }
	switch name {
	case "name":
		return constructorText(q.class, t.Name), true
	case "symbol":
		return constructorText(q.class, t.Symbol), true
	case "decimals":
		return one(felt.FromUint64(uint64(t.Decimals)))
	case "version":
		return one(felt.FromUint64(2))
	case "total_supply", "totalSupply":
		a := amountFromBig(q.chain.SupplyAt(t.Address, q.block))
		return pairOf(a.low(), a.high())
	case "allowance":
		return pairOf(felt.Zero, felt.Zero)
	case "balance_of", "balanceOf":
		return q.balance(t)
	case "owner_of", "ownerOf":
		if len(q.args) != 2 {
			return nil, false
		}
		n, ok := q.args[0].Uint64()
		owner := q.chain.OwnerAt(t.Address, n, q.block)
		if !ok || owner.IsZero() {
			return nil, false
		}
		return one(owner)
	case "token_uri", "tokenURI", "uri":
		return felt.EncodeByteArray([]byte("ipfs://simulated/token.json")), true
	case "supports_interface":
		want := map[Standard]felt.Felt{ERC721: interfaceERC721, ERC1155: interfaceERC1155}[t.Standard]
		return flag(len(q.args) == 1 && (q.args[0] == interfaceSRC5 || q.args[0] == want))
	}
	return nil, false
}

func (q *viewCall) balance(t *Token) ([]felt.Felt, bool) {
	var a amount
	switch {
	case t.Standard == ERC20 && len(q.args) == 1:
		a = amountFromBig(q.chain.BalanceAt(t.Address, q.args[0], q.block))
	case t.Standard == ERC721 && len(q.args) == 1:
		a = amountOf(q.chain.ownedAt(t.Address, q.args[0], q.block))
	case t.Standard == ERC1155 && len(q.args) == 3:
		n, _ := q.args[1].Uint64()
		a = amountFromBig(q.chain.MultiBalanceAt(t.Address, n, q.args[0], q.block))
	default:
		return nil, false
	}
	return []felt.Felt{a.low(), a.high()}, true
}

// ownedAt counts the NFTs of an address.
func (c *Chain) ownedAt(token, owner felt.Felt, block uint64) (n uint64) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	i, ok := c.w.tokenIndex(token)
	h, known := c.w.ids[owner]
	if !ok || !known {
		return 0
	}
	total, _ := c.w.nftNext.at(i, block)
	for k := range total {
		if who, _ := c.w.nftOwners.at(nftKey{i, k}, block); who == h {
			n++
		}
	}
	return n
}

func (q *viewCall) pair(name string) ([]felt.Felt, bool) {
	q.chain.mu.RLock()
	defer q.chain.mu.RUnlock()
	w := q.chain.w
	for i, p := range w.pairs.items {
		if w.address(p.id) != q.address {
			continue
		}
		switch name {
		case "token0":
			return one(w.tokens.items[p.token0].Address)
		case "token1":
			return one(w.tokens.items[p.token1].Address)
		}
		r, _ := w.reserves.at(i, q.block)
		return []felt.Felt{r[0].low(), r[0].high(), r[1].low(), r[1].high()}, true
	}
	return nil, false
}

// publicKey of an account, or of a registered user of the pool.
func (q *viewCall) publicKey() ([]felt.Felt, bool) {
	q.chain.mu.RLock()
	defer q.chain.mu.RUnlock()
	w := q.chain.w
	if q.address == w.net.Pool {
		if len(q.args) != 1 {
			return nil, false
		}
		user, ok := w.ids[q.args[0]]
		if !ok {
			return one(felt.Zero)
		}
		key, _ := w.viewingKey.at(user, q.block)
		return one(key)
	}
	for _, a := range w.accounts.items {
		if a.address == q.address {
			return one(a.key)
		}
	}
	return nil, false
}

func (q *viewCall) pool(name string) ([]felt.Felt, bool) {
	if q.address != q.chain.w.net.Pool {
		return nil, false
	}
	count := func(k counter) uint64 {
		q.chain.mu.RLock()
		defer q.chain.mu.RUnlock()
		n, _ := q.chain.w.counts.at(k, q.block)
		return n
	}
	switch name {
	case "get_fee_amount":
		return one(units(count(countPoolFee), 18).low())
	case "get_fee_collector":
		return one(feeCollector)
	case "get_proof_validity_blocks":
		return one(felt.FromUint64(450))
	case "is_paused":
		return flag(count(countPoolPaused) == 1)
	case "get_version":
		return one(felt.MustShortString([]string{"1.0", "2.0", "2.1"}[count(countPoolEra)]))
	case "nullifier_exists", "get_note":
		if len(q.args) != 1 {
			return nil, false
		}
		for _, f := range q.chain.PoolFacts(0, q.block) {
			if f.ID != q.args[0] {
				continue
			}
			switch {
			case name == "nullifier_exists" && f.Kind == PoolNoteUsed:
				return flag(true)
			case name == "get_note" && (f.Kind == PoolEncNoteCreated || f.Kind == PoolOpenNoteCreated):
				value, _ := q.chain.view.Load().storageAt(q.address, f.ID, q.block)
				return one(value)
			}
		}
		return one(felt.Zero)
	}
	return nil, false
}
