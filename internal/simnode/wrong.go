package simnode

import (
	"chainexplorer/internal/felt"
	"chainexplorer/internal/simnode/contracts"
)

// Lie is how the events of a token differ from its balances.
type Lie uint8

// The lies. What BalanceAt, SupplyAt and Holders tell is what the contract
// says, which is not what its events add up to.
const (
	Honest    Lie = iota
	Silent        // moves balances without an event
	Overdrawn     // emits transfers of what the sender never had, and moves nothing
	Rebasing      // changes all balances and the supply at once, without an event
)

// wrongTokens are made in block 1, one for each lie.
var wrongTokens = []struct {
	lie  Lie
	text tokenText
}{
	{Silent, tokenText{"Silent Mover", "SILENT", 18}},
	{Overdrawn, tokenText{"Overdrawn Ledger", "OVERDRAW", 6}},
	{Rebasing, tokenText{"Elastic Supply", "REBASE", 9}},
}

// deployWrong makes a token that lies and spreads it.
func (b *builder) deployWrong(from *account, lie Lie, text tokenText) {
	class := b.w.cat.ERC20Keyed
	if lie == Overdrawn {
		class = b.w.cat.ERC20Legacy
	}
	i := b.deployERC20(from, contracts.CurrentUDC, class, text, units(1_000_000, int(text.decimals)))
	b.token(i).Lie = lie
	for _, a := range b.w.accounts.items[1:] {
		b.callTransfer(from, i, a.id, units(uint64(100+b.r.intn(900)), int(text.decimals)))
	}
}

// wrongEvery is how often a wrong token does something wrong.
const wrongEvery = 6

// doWrong is the next wrong thing in turn.
func (b *builder) doWrong() {
	want := wrongTokens[b.number/wrongEvery%uint64(len(wrongTokens))].lie
	for i, t := range b.w.tokens.items {
		if t.Lie != want {
			continue
		}
		faucet := b.faucet()
		switch want {
		case Silent:
			b.moveSilently(i, faucet.id, b.somebody())
		case Overdrawn:
			b.overdraw(i)
		case Rebasing:
			b.rebase(i)
		}
		b.done()
		return
	}
}

func (b *builder) moveSilently(token int, from, to id) {
	a := b.w.balance(token, from).part(1 + b.r.intn(900))
	b.call(b.token(token).Address, contracts.SelFnTransfer, b.w.address(to), a.low(), a.high())
	b.w.setBalance(b.number, token, from, b.w.balance(token, from).sub(a))
	b.w.setBalance(b.number, token, to, b.w.balance(token, to).add(a))
}

// overdraw announces that an address that never had anything sent something.
func (b *builder) overdraw(token int) {
	t := b.token(token)
	a := units(uint64(1+b.r.intn(1000)), int(t.Decimals))
	to := b.somebody()
	b.call(t.Address, contracts.SelFnTransfer, b.w.address(to), a.low(), a.high())
	b.emitPair(token, contracts.SelTransfer, b.w.intern(overdrawn), to, a)
}

var overdrawn = felt.Selector("simulated overdrawn holder")

// rebase adds a 256th to every balance, until the supply is large.
func (b *builder) rebase(token int) {
	t, w := b.token(token), b.w
	b.call(t.Address, contracts.SelFnMint, felt.Zero, felt.Zero, felt.Zero)
	if units(1_000_000_000, int(t.Decimals)).less(w.supplies.get(token)) {
		return
	}
	var supply amount
	for _, h := range w.holders[token] {
		have := w.balance(token, h)
		if !have.isZero() {
			have = have.add(have.part(256))
			w.setBalance(b.number, token, h, have)
		}
		supply = supply.add(have)
	}
	w.supplies.set(b.number, token, supply)
}
