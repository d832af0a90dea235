package simnode

import (
	"chainexplorer/internal/felt"
	"chainexplorer/internal/simnode/contracts"
	"chainexplorer/internal/starknet"
)

// Standard is what kind of token a contract is.
type Standard uint8

// The token standards.
const (
	ERC20 Standard = iota + 1
	ERC721
	ERC1155
)

// Token is a token contract as ground truth knows it.
type Token struct {
	Address  felt.Felt
	Standard Standard
	Name     string
	Symbol   string
	Decimals uint8
	// L1Token is the token's twin on the base layer, zero if it has none.
	L1Token felt.Felt
	// Lie says in what its events are wrong.
	Lie Lie
	// Block is where the token came to be.
	Block uint64

	id    id
	owner id
}

// The first tokens of every chain, in order of their making.
const (
	strkToken = iota
	ethToken
	usdcToken
	usdtToken
	wbtcToken
	daiToken
)

// addToken makes a contract a token.
func (b *builder) addToken(t *Token) int {
	t.Block = b.number
	t.id = b.w.intern(t.Address)
	i := b.w.tokens.add(b.number, t)
	b.w.tokenAt.set(b.number, t.id, i+1)
	return i
}

func (b *builder) token(i int) *Token { return b.w.tokens.items[i] }

// layout is how the token's class of this moment writes events.
func (b *builder) layout(token int) contracts.Layout {
	return b.w.classOf.get(b.token(token).id).Layout
}

// transfer moves an ERC-20 amount and emits the event. From nobody it mints,
// to nobody it burns.
func (b *builder) transfer(token int, from, to id, a amount) {
	w := b.w
	if from == nobody {
		w.supplies.set(b.number, token, w.supplies.get(token).add(a))
	} else {
		w.setBalance(b.number, token, from, w.balance(token, from).sub(a))
	}
	if to == nobody {
		w.supplies.set(b.number, token, w.supplies.get(token).sub(a))
	} else {
		w.setBalance(b.number, token, to, w.balance(token, to).add(a))
	}
	b.emitPair(token, contracts.SelTransfer, from, to, a)
}

// emitPair is Transfer or Approval in the token's layout.
func (b *builder) emitPair(token int, selector felt.Felt, from, to id, a amount) {
	t := b.token(token)
	f, g := b.w.address(from), b.w.address(to)
	if b.layout(token) == contracts.Keyed {
		b.emit(t.Address, b.felts(selector, f, g), b.felts(a.low(), a.high()))
		return
	}
	keys := transferKeys // shared: most events of a chain have these keys
	if selector != contracts.SelTransfer {
		keys = b.felts(selector)
	}
	b.emit(t.Address, keys, b.felts(f, g, a.low(), a.high()))
}

var transferKeys = []felt.Felt{contracts.SelTransfer}

// spendable is what an account can part with: fee tokens keep a reserve.
func (b *builder) spendable(a *account, token int) amount {
	have := b.w.balance(token, a.id)
	faucet := a.id == b.faucet().id // it must last as long as the chain
	var reserve amount
	switch {
	case token == strkToken && faucet:
		reserve = units(9_000_000_000, 18)
	case token == ethToken && faucet:
		reserve = units(100_000_000, 18)
	case token == strkToken:
		reserve = units(40, 18)
	case token == ethToken:
		reserve = units(2, 16)
	}
	if have.less(reserve) {
		return amount{}
	}
	return have.sub(reserve)
}

// canPay reports whether an account can pay fees for a while.
func (b *builder) canPay(a *account, token int) bool {
	floor := units(1, 18)
	if token == ethToken {
		floor = units(1, 15)
	}
	return !b.w.balance(token, a.id).less(floor)
}

// someOf is a part of what an account can spend; zero if there is nothing.
func (b *builder) someOf(a *account, token int) amount {
	have := b.spendable(a, token)
	if have.isZero() {
		return have
	}
	part := have.shr(4).part(1 + b.r.intn(1<<15))
	if part.isZero() {
		return amountOf(1)
	}
	return part
}

// callTransfer is a plain transfer by an account.
func (b *builder) callTransfer(from *account, token int, to id, a amount) {
	b.call(b.token(token).Address, contracts.SelFnTransfer, b.w.address(to), a.low(), a.high())
	b.transfer(token, from.id, to, a)
	b.done()
}

func (b *builder) callApprove(from *account, token int, spender id, a amount) {
	b.call(b.token(token).Address, contracts.SelFnApprove, b.w.address(spender), a.low(), a.high())
	b.emitPair(token, contracts.SelApproval, from.id, spender, a)
	b.done()
}

// pickToken is an ERC-20 that the account has something of.
func (b *builder) pickToken(a *account) (int, bool) {
	for range 6 {
		i := b.r.skewed(b.w.tokens.len())
		if b.token(i).Standard == ERC20 && !b.spendable(a, i).isZero() {
			return i, true
		}
	}
	return strkToken, !b.spendable(a, strkToken).isZero()
}

// doTransfer sends some of a token to somebody, now and then nothing, to
// oneself, or to an address that has no contract.
func (b *builder) doTransfer(from *account) {
	token, ok := b.pickToken(from)
	if !ok {
		b.callApprove(from, strkToken, b.somebody(), amountOf(uint64(b.r.intn(1000))))
		return
	}
	to, a := b.somebody(), b.someOf(from, token)
	switch b.r.intn(40) {
	case 0:
		a = amount{}
	case 1:
		to = from.id
	case 2:
		to = b.w.intern(b.r.felt())
	case 3:
		a = b.spendable(from, token) // all of it: a holder may vanish
	}
	b.callTransfer(from, token, to, a)
}

// doSupply mints or burns a token that its owner controls.
func (b *builder) doSupply() {
	owner := b.w.accounts.items[0]
	token := -1
	for range 8 {
		i := daiToken + b.r.intn(b.w.tokens.len()-daiToken)
		if t := b.token(i); t.Standard == ERC20 && t.owner == owner.id {
			token = i
			break
		}
	}
	if token < 0 {
		return
	}
	if have := b.w.balance(token, owner.id); b.r.chance(0.4) && !have.isZero() {
		a := have.part(1 + b.r.intn(1<<14))
		b.call(b.token(token).Address, contracts.SelFnBurn, a.low(), a.high())
		b.transfer(token, owner.id, nobody, a)
	} else {
		to, a := b.somebody(), units(uint64(1+b.r.intn(10_000)), min(18, int(b.token(token).Decimals)))
		b.call(b.token(token).Address, contracts.SelFnMint, b.w.address(to), a.low(), a.high())
		b.transfer(token, nobody, to, a)
	}
	b.done()
}

// somebody is the id of a popular account.
func (b *builder) somebody() id {
	as := b.w.accounts.items
	return as[b.r.intn(len(as))].id
}

// upgradeToken replaces the class of a token by one with other events, in the
// middle of the block: transfers before and after it differ in layout.
func (b *builder) upgradeToken(owner *account) bool {
	for range 12 {
		i := b.r.intn(b.w.tokens.len())
		t := b.token(i)
		if t.Standard != ERC20 || t.Block == b.number || t.owner != owner.id {
			continue
		}
		now := b.w.classOf.get(t.id)
		if now == b.w.cat.Proxy || now == b.w.cat.Pair {
			continue
		}
		to := b.w.cat.ERC20Next
		if now == to {
			to = b.w.cat.ERC20Legacy
		}
		b.callTransfer(owner, strkToken, t.id, amountOf(1))
		b.call(t.Address, contracts.SelFnUpgrade, to.Hash)
		b.w.classOf.set(b.number, t.id, to)
		b.emit(t.Address, b.felts(contracts.SelUpgraded), b.felts(to.Hash))
		b.done()
		if !b.w.balance(i, owner.id).isZero() {
			b.callTransfer(owner, i, b.somebody(), b.w.balance(i, owner.id).part(1))
		}
		return true
	}
	return false
}

// implementationCell is where the old proxy keeps its implementation.
var implementationCell = felt.Selector("Proxy_implementation_hash")

// upgradeProxy points the old proxy at another implementation: the class stays.
func (b *builder) upgradeProxy() {
	dai := b.token(daiToken)
	to := b.w.cat.TokenImpl2
	if b.w.implOf.get(dai.id) == to {
		to = b.w.cat.TokenImpl
	}
	b.call(dai.Address, contracts.SelFnUpgrade, to.Hash)
	b.w.implOf.set(b.number, dai.id, to)
	b.write(dai.Address, implementationCell, to.Hash)
	b.emit(dai.Address, b.felts(contracts.SelUpgraded), b.felts(to.Hash))
	b.done()
}

// constructorText is a name or symbol as the class wants it.
func constructorText(c *contracts.Class, s string) []felt.Felt {
	if c.ByteArrayText {
		return felt.EncodeByteArray([]byte(s))
	}
	f, err := felt.FromShortString(s[:min(len(s), 31)])
	if err != nil {
		panic(err) // cut to fit
	}
	return []felt.Felt{f}
}

// contractAddress is where a deployer's contract will be, as the chain
// computes it.
func contractAddress(deployer, salt felt.Felt, c *contracts.Class, calldata []felt.Felt) felt.Felt {
	return starknet.ComputeContractAddress(deployer, salt, c.Hash, calldata)
}
