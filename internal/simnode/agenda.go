package simnode

import (
	"chainexplorer/internal/simnode/contracts"
)

// The agenda decides what happens in a block. Common things are drawn by
// chance; rare things take turns, so that even a short chain has each of them.

// rareEvery spaces the rare things once each has happened.
const rareEvery = 3

// Growth stops here, so that long chains stay as fast as short ones.
const (
	maxAccounts = 3000
	maxTokens   = 400
	maxPairs    = 60
)

// rare lists what takes turns. Each is one or two whole transactions.
var rare = []func(*builder){
	func(b *builder) { b.newAccount(3, false) },
	func(b *builder) { b.l1Deposit(usdcToken, false, "") },
	func(b *builder) { b.byAccount(b.doPoolOrTransfer) },
	func(b *builder) { b.declareClass(b.player(), 3) },
	func(b *builder) { b.byFaucet(func(f *account) { b.deployPlainToken(f, contracts.CurrentUDC) }) },
	func(b *builder) { b.byAccount(func(a *account) { orElse(b.createPair, b.doTransfer)(a) }) },
	func(b *builder) { b.l1Deposit(ethToken, true, "") },
	func(b *builder) { b.byFaucet(func(f *account) { orElse(b.upgradeToken, b.doTransfer)(f) }) },
	func(b *builder) { b.byAccount(func(a *account) { orElse(b.doWithdraw, b.doTransfer)(a) }) },
	func(b *builder) { b.byAccount(func(*account) { b.doJunk() }) },
	func(b *builder) { b.newAccount(1, false) },
	func(b *builder) { b.byFaucet(func(f *account) { b.deployPlainToken(f, contracts.LegacyUDC) }) },
	func(b *builder) { b.l1Deposit(wbtcToken, false, "TOKEN_NOT_SUPPORTED") },
	func(b *builder) { b.declareClass(b.player(), 2) },
	func(b *builder) { b.byAccount(func(a *account) { orElse(b.initEkubo, b.doTransfer)(a) }) },
	func(b *builder) { b.byFaucet(func(*account) { b.poolAdmin() }) },
	func(b *builder) { b.byFaucet(func(f *account) { b.deployPlainToken(f, contracts.MiddleUDC) }) },
	func(b *builder) { b.byFaucet(b.deployHostileToken) },
	func(b *builder) { b.byAccount(func(a *account) { b.unpauseThenPool(a) }) },
	func(b *builder) { b.byFaucet(func(*account) { b.upgradeProxy() }) },
	func(b *builder) { b.newAccount(3, true) },
	func(b *builder) { b.byFaucet(func(f *account) { b.upgradePoolOrMint(f) }) },
	func(b *builder) { b.declareOld() },
	func(b *builder) { b.byAccount(b.upgradeAccount) },
	func(b *builder) { b.byFaucet(func(f *account) { b.someCollection(f) }) },
	func(b *builder) { b.l1Deposit(strkToken, false, "") },
	func(b *builder) { b.byFaucet(func(*account) { b.doSupply() }) },
}

// orElse does the second thing when the first was not possible.
func orElse(first func(*account) bool, second func(*account)) func(*account) {
	return func(a *account) {
		if !first(a) {
			second(a)
		}
	}
}

func (b *builder) doPoolOrTransfer(a *account) { orElse(b.doPool, b.doTransfer)(a) }

func (b *builder) unpauseThenPool(a *account) {
	if b.w.counts.get(countPoolPaused) == 1 {
		b.unpause()
		return
	}
	b.doPoolOrTransfer(a)
}

func (b *builder) upgradePoolOrMint(*account) {
	if !b.upgradePool() {
		b.doSupply()
	}
}

// declareOld declares a Cairo 0 class while the chain is young.
func (b *builder) declareOld() {
	if b.number < 400 {
		b.declareClass(b.faucet(), 1)
		return
	}
	b.declareClass(b.faucet(), 3)
}

func (b *builder) someCollection(f *account) {
	if b.w.tokens.len() >= maxTokens {
		b.doTransfer(f)
		return
	}
	standard := []Standard{ERC721, ERC1155}[b.r.intn(2)]
	b.newCollection(f, standard, []contracts.Layout{contracts.Keyed, contracts.Legacy}[b.r.intn(2)])
}

// upgradeAccount gives a new class to the account that asks for it.
func (b *builder) upgradeAccount(a *account) {
	to := b.w.cat.Account
	if a.cairo0 || b.w.classOf.rows[a.id][len(b.w.classOf.rows[a.id])-1].block == b.number {
		b.doTransfer(a)
		return
	}
	if b.w.classOf.get(a.id) == to {
		to = b.w.cat.AccountNext
	}
	b.call(a.address, contracts.SelFnUpgrade, to.Hash)
	b.w.classOf.set(b.number, a.id, to)
	b.emit(a.address, b.felts(contracts.SelUpgraded), b.felts(to.Hash))
	b.done()
}

// player is an account that can pay; the faucet always can.
func (b *builder) player() *account {
	as := b.w.accounts.items
	for range 4 {
		if a := as[b.r.skewed(len(as))]; b.canPay(a, strkToken) {
			return a
		}
	}
	return b.faucet()
}

func (b *builder) byAccount(fn func(*account)) {
	a := b.player()
	b.begin()
	fn(a)
	b.sealInvoke(a, b.invokeVersion(a), "")
}

func (b *builder) byFaucet(fn func(*account)) {
	b.begin()
	fn(b.faucet())
	b.sealInvoke(b.faucet(), 3, "")
}

// run fills the block.
func (b *builder) run() {
	if b.w.cfg.TxPerBlock < 0 {
		if b.number == 0 {
			b.genesis()
		}
		return
	}
	switch b.number {
	case 0:
		b.genesis()
		return
	case 1:
		b.firstPlayers()
		return
	}
	n := b.transactionCount()
	turn := int(b.number - 2)
	if turn < 2*len(rare) || turn%rareEvery == 0 {
		if turn >= 2*len(rare) {
			turn /= rareEvery
		}
		b.takeTurn(turn % len(rare))
	}
	if b.w.cfg.atLeast(0, 14, 1) && b.number%7 == 3 {
		b.migrateClass()
	}
	if b.w.cfg.Grown && b.number < grownBy {
		b.grow()
	}
	if b.number%wrongEvery == 4 {
		b.byFaucet(func(*account) { b.doWrong() })
	}
	for len(b.block.Transactions) < n {
		b.common()
	}
	b.morePool()
	if b.w.cfg.Extremes && b.number%extremesEvery == 0 {
		b.extremes()
	}
}

// takeTurn does a rare thing, unless growth has reached its bound.
func (b *builder) takeTurn(i int) {
	if b.w.accounts.len() >= maxAccounts || b.w.tokens.len() >= maxTokens || b.w.pairs.len() >= maxPairs {
		switch i {
		case 0, 4, 5, 10, 11, 14, 16, 17, 20:
			b.common()
			return
		}
	}
	rare[i](b)
}

// grownBy is the block before which a grown chain has grown.
const grownBy = 2_000

// grow brings a grown chain closer to its bounds: accounts, a token in every sixth block, and tokens for many.
func (b *builder) grow() {
	for range 2 {
		if b.w.accounts.len() < maxAccounts {
			b.newAccount(3, false)
		}
	}
	if b.number%6 == 0 && b.w.tokens.len() < maxTokens {
		b.byFaucet(func(f *account) { b.deployPlainToken(f, contracts.CurrentUDC) })
	}
	for range 3 {
		b.byFaucet(func(f *account) {
			for range 40 {
				token := b.r.intn(b.w.tokens.len())
				if b.token(token).Standard == ERC20 && !b.spendable(f, token).isZero() {
					b.callTransfer(f, token, b.somebody(), b.spendable(f, token).part(64))
				}
			}
		})
	}
}

// transactionCount varies around the mean; now and then a block is empty or
// crowded.
func (b *builder) transactionCount() int {
	m := b.w.cfg.TxPerBlock
	switch p := b.r.intn(100); {
	case p < 3:
		return 0
	case p < 6:
		return 2*m + b.r.intn(m+1)
	}
	return m - m/2 + b.r.intn(2*(m/2)+1)
}

// common is one everyday transaction, or two for a new account.
func (b *builder) common() {
	switch p := b.r.intn(1000); {
	case p < 50:
		b.revertedInvoke()
	case p < 60:
		b.l1Deposit(b.r.intn(wbtcToken+1), false, "")
	case p < 64:
		b.l1Deposit(ethToken, true, "")
	case p < 66:
		b.l1Deposit(usdtToken, false, "ENTRYPOINT_FAILED")
	case p < 96:
		b.byAccount(b.doPoolOrTransfer)
	case p < 99 && b.w.accounts.len() < maxAccounts:
		b.newAccount(3, false)
	case p < 100:
		b.begin()
		poor := b.w.accounts.items[b.r.intn(b.w.accounts.len())]
		b.fund(poor)
		b.sealInvoke(b.faucet(), 3, "")
	default:
		b.multi()
	}
}

// multi is an ordinary multicall: it goes on until it has emitted as much as
// the configuration wants.
func (b *builder) multi() {
	a := b.player()
	b.begin()
	// In sixteenths, to keep floats out of what decides content.
	mean := int(b.w.cfg.EventsPerTx * 16)
	target := (mean*(5+b.r.intn(25))/16 - 26) / 16
	for first := true; first || len(b.events) < target && len(b.calls) < 40; first = false {
		switch p := b.r.intn(100); {
		case p < 48:
			b.doTransfer(a)
		case p < 66 && (target > 2 || b.r.chance(0.3)):
			b.doSwap(a)
		case p < 74 && (target > 2 || b.r.chance(0.3)):
			b.doEkubo(a)
		case p < 84:
			b.doNFT(a)
		case p < 90:
			b.doMulti(a)
		case p < 92 && target > 3:
			b.doLiquidity(a)
		case p < 93:
			orElse(b.doWithdraw, b.doTransfer)(a)
		case p < 94:
			b.doJunk()
		default:
			token, _ := b.pickToken(a)
			b.callApprove(a, token, b.somebody(), amountOf(b.r.next()>>8))
		}
	}
	b.sealInvoke(a, b.invokeVersion(a), "")
}

// revertedInvoke tried something that failed: only the fee remains.
func (b *builder) revertedInvoke() {
	a := b.player()
	b.begin()
	much := b.w.balance(usdcToken, a.id).add(units(1, 12))
	b.call(b.token(usdcToken).Address, contracts.SelFnTransfer, b.w.address(b.somebody()), much.low(), much.high())
	b.sealInvoke(a, 3, revertReasons[b.r.intn(len(revertReasons))])
}
