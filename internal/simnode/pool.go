package simnode

import (
	"math/big"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/simnode/contracts"
	"chainexplorer/internal/starknet"
)

// PoolFactKind is what a privacy pool event tells.
type PoolFactKind uint8

// The kinds of pool facts, named after the events.
const (
	PoolViewingKeySet PoolFactKind = iota + 1
	PoolDeposit
	PoolWithdrawal
	PoolOpenNoteCreated
	PoolOpenNoteDeposited
	PoolEncNoteCreated
	PoolNoteUsed
	PoolExternalInvoked
	PoolConfigured // fee, keys, pause, roles, upgrades
	PoolStrange    // of a selector that no class has
)

// PoolFact is one event of the pool, as ground truth knows it. What an event
// of its kind does not carry is zero; an amount that it should carry and does not is nil.
type PoolFact struct {
	Block      uint64
	TxIndex    int
	EventIndex int
	Kind       PoolFactKind
	Token      felt.Felt
	Amount     *big.Int
	Party      felt.Felt // depositor, destination, user or target
	ID         felt.Felt // note id, nullifier, selector
}

// poolTx collects one apply_actions call.
type poolTx struct {
	b        *builder
	from     *account
	pool     felt.Felt
	payer    *id // who pays the fee, if not the account
	actions  []felt.Felt
	count    uint64
	deposits bool
	done     []func() // effects in the order of the pool's phases
}

var poolTokens = []int{strkToken, usdcToken, ethToken, usdtToken, wbtcToken}

var feeCollector = felt.MustParse("0x3e6c6f41a5b9d0c2f7e81344d2c5a90f1b7e6d8c4a3f2e1d0c9b8a7f6e5d4c3")

func (b *builder) fact(kind PoolFactKind, token int, a amount, party, factID felt.Felt) {
	f := PoolFact{Block: b.number, TxIndex: len(b.block.Transactions), EventIndex: len(b.events), Kind: kind, Party: party, ID: factID}
	if token >= 0 {
		f.Token, f.Amount = b.token(token).Address, a.big()
	}
	b.w.poolFacts.add(b.number, f)
}

func (p *poolTx) action(kind uint64, fields ...felt.Felt) {
	p.actions = append(append(p.actions, felt.FromUint64(kind)), fields...)
	p.count++
}

// writeOnce is a cell that the pool sets and never changes.
func (p *poolTx) writeOnce(cell, value felt.Felt) {
	p.action(0, cell, felt.FromUint64(1), value)
	p.done = append(p.done, func() { p.b.write(p.pool, cell, value) })
}

func (p *poolTx) register() {
	b := p.b
	key := b.r.felt()
	enc := []felt.Felt{b.w.net.PoolAuditorKey, b.r.felt(), b.r.felt()}
	p.writeOnce(b.r.felt(), key)
	p.writeOnce(b.r.felt(), enc[2])
	p.action(4, append([]felt.Felt{p.from.address, key}, enc...)...)
	p.done = append(p.done, func() {
		b.w.viewingKey.set(b.number, p.from.id, key)
		b.fact(PoolViewingKeySet, -1, amount{}, p.from.address, key)
		b.emit(p.pool, b.felts(contracts.SelViewingKeySet, p.from.address, key), b.felts(enc...))
	})
}

func (p *poolTx) deposit(token int, a amount) {
	b, t := p.b, p.b.token(token).Address
	p.deposits = true
	p.action(2, p.from.address, t, a.low())
	p.action(6, p.from.address, t, a.low())
	p.done = append(p.done, func() {
		b.transfer(token, p.from.id, b.w.intern(p.pool), a)
		b.protect(token, a)
		b.fact(PoolDeposit, token, a, p.from.address, felt.Zero)
		b.emit(p.pool, b.felts(contracts.SelDeposit, p.from.address, t), b.felts(a.low()))
	})
}

// protect grows what the pool owes its note holders.
func (b *builder) protect(token int, a amount) {
	b.w.protected.set(b.number, token, b.w.protected.get(token).add(a))
}

func (p *poolTx) useNote(index int) {
	b := p.b
	nullifier := b.r.felt()
	p.writeOnce(b.r.felt(), felt.FromUint64(1))
	p.action(9, nullifier)
	p.done = append(p.done, func() {
		b.w.spent.set(b.number, index, true)
		b.fact(PoolNoteUsed, -1, amount{}, felt.Zero, nullifier)
		b.emit(p.pool, b.felts(contracts.SelNoteUsed, nullifier), b.felts())
	})
}

func (p *poolTx) encNote(token int, a amount, owner id) {
	b := p.b
	noteID, packed := b.r.felt(), b.r.felt()
	p.writeOnce(noteID, packed)
	p.action(8, noteID, packed)
	p.done = append(p.done, func() {
		b.w.notes.add(b.number, note{noteID, token, a, owner})
		b.fact(PoolEncNoteCreated, -1, amount{}, felt.Zero, noteID)
		b.emit(p.pool, b.felts(contracts.SelEncNoteCreated, noteID), b.felts(packed))
	})
}

func (p *poolTx) withdraw(token int, to id, a amount) {
	b, t := p.b, p.b.token(token).Address
	enc := []felt.Felt{b.w.net.PoolAuditorKey, b.r.felt(), b.r.felt()}
	dest := b.w.address(to)
	p.action(3, dest, t, a.low())
	p.action(5, append(enc[:3:3], dest, t, a.low())...)
	p.done = append(p.done, func() {
		b.transfer(token, b.w.intern(p.pool), to, a)
		b.w.protected.set(b.number, token, b.w.protected.get(token).sub(a))
		b.fact(PoolWithdrawal, token, a, dest, felt.Zero)
		b.emit(p.pool, b.felts(contracts.SelWithdrawal, dest, t), b.felts(append(enc[:3:3], a.low())...))
	})
}

// openNote is created empty; fund gives it its value.
func (p *poolTx) openNote(token int) felt.Felt {
	b, t := p.b, p.b.token(token).Address
	noteID := b.r.felt()
	enc := []felt.Felt{b.w.net.PoolAuditorKey, b.r.felt(), b.r.felt()}
	p.writeOnce(noteID, felt.FromUint128(1, 0))
	p.action(7, append(enc[:3:3], t, noteID)...)
	p.done = append(p.done, func() {
		b.fact(PoolOpenNoteCreated, token, amount{}, felt.Zero, noteID)
		b.emit(p.pool, b.felts(contracts.SelOpenNoteCreated, t, noteID), b.felts(enc...))
	})
	return noteID
}

// fund invokes a contract, which pays into an open note of this call.
func (p *poolTx) fund(token int, a amount, helper id, noteID felt.Felt) {
	b, t := p.b, p.b.token(token).Address
	target := b.w.address(helper)
	p.action(10, target, felt.FromUint64(2), t, a.low())
	p.done = append(p.done, func() {
		if b.w.counts.get(countPoolEra) > 0 {
			b.fact(PoolExternalInvoked, -1, amount{}, target, contracts.SelFnPrivacyInvoke)
			b.emit(p.pool, b.felts(contracts.SelExternalContractInvoked, target, contracts.SelFnPrivacyInvoke), b.felts())
		}
		b.transfer(token, helper, b.w.intern(p.pool), a)
		b.protect(token, a)
		b.w.notes.add(b.number, note{noteID, token, a, p.from.id})
		b.fact(PoolOpenNoteDeposited, token, a, target, noteID)
		b.emit(p.pool, b.felts(contracts.SelOpenNoteDeposited, target, t, noteID), b.felts(a.low()))
	})
}

// channel opens a channel: the pool writes and says nothing.
func (p *poolTx) channel(to id) {
	b := p.b
	p.action(1, b.w.address(to), b.r.felt(), b.r.felt(), b.r.felt())
	p.writeOnce(b.r.felt(), felt.FromUint64(1))
}

// apply makes the call: fee first, then the effects.
func (p *poolTx) apply() {
	b := p.b
	fee := units(b.poolFee(), 18)
	collector := b.w.intern(feeCollector)
	args := append([]felt.Felt{felt.FromUint64(p.count)}, p.actions...)
	hashed := append([]felt.Felt{b.w.classOf.get(b.w.intern(p.pool)).Hash}, args...)
	if b.w.counts.get(countPoolEra) > 0 {
		if p.deposits {
			args = append(args, felt.Zero, felt.FromUint64(b.block.Timestamp-10), b.r.felt(), b.r.felt())
		} else {
			args = append(args, felt.FromUint64(1))
		}
	}
	b.call(p.pool, contracts.SelFnApplyActions, args...)
	if !fee.isZero() {
		payer := p.from.id
		if p.payer != nil {
			payer = *p.payer
		}
		b.transfer(strkToken, payer, collector, fee)
	}
	facts := b.w.poolFacts.len()
	for _, effect := range p.done {
		effect()
	}
	if !fee.isZero() {
		b.w.poolFees.add(b.number, PoolFee{Block: b.number, TxIndex: len(b.block.Transactions), Amount: fee.big(), Relayed: p.payer != nil,
			Evident: b.w.poolFacts.len() > facts && b.w.counts.get(countPoolCollector) == 1})
	}
	b.done()
	if b.w.cfg.atLeast(0, 14, 2) {
		b.proof = b.proofFacts(p.pool, hashed)
	}
}

// proofFacts are the claims that come with a proof of the actions.
func (b *builder) proofFacts(pool felt.Felt, payload []felt.Felt) []felt.Felt {
	base := uint64(0)
	if b.number > 10 {
		base = b.number - 10
	}
	message := b.r.felt()
	if b.w.cfg.RealHashes {
		head := []felt.Felt{pool, felt.Zero, felt.FromUint64(uint64(len(payload)))}
		message = starknet.PoseidonArray(append(head, payload...)...)
	}
	return b.felts(felt.MustShortString("PROOF0"), felt.MustShortString("VIRTUAL_SNOS"), snosProgram, felt.MustShortString("VIRTUAL_SNOS0"),
		felt.FromUint64(base), b.past(base), snosConfig, felt.FromUint64(1), message)
}

var snosProgram, snosConfig = felt.Selector("simulated program"), felt.Selector("simulated config")

func (b *builder) poolFee() uint64 { return b.w.counts.get(countPoolFee) }

// unspent finds a note that can be spent.
func (b *builder) unspent() (int, bool) {
	n := b.w.notes.len()
	for range min(n, 16) {
		i := n - 1 - b.r.skewed(n)
		if !b.w.spent.get(i) && !b.w.notes.items[i].amount.isZero() {
			return i, true
		}
	}
	return 0, false
}

// doPool is one use of the pool by an account.
func (b *builder) doPool(from *account) bool {
	reserve := units(b.poolFee(), 18)
	if b.w.counts.get(countPoolPaused) == 1 || b.spendable(from, strkToken).less(reserve) {
		return false
	}
	p := &poolTx{b: b, from: from, pool: b.w.net.Pool}
	if b.w.viewingKey.get(from.id).IsZero() {
		p.register()
	}
	index, spend := b.unspent()
	switch choice := b.r.intn(10); {
	case choice < 4 || !spend:
		if !p.fillDeposit() {
			return false
		}
	case choice < 7:
		n := b.w.notes.items[index]
		p.useNote(index)
		out := n.amount.part(1 + b.r.intn(1<<15))
		p.encNote(n.token, out, b.somebody())
		p.encNote(n.token, n.amount.sub(out), n.owner)
	case choice < 8:
		p.privateSwap(index)
	case choice < 9 && b.number%3 == 0:
		p.channel(b.somebody())
	default:
		n := b.w.notes.items[index]
		p.useNote(index)
		out := n.amount
		if b.r.chance(0.6) {
			out = n.amount.part(1 + b.r.intn(1<<15))
			p.encNote(n.token, n.amount.sub(out), n.owner)
		}
		p.withdraw(n.token, b.somebody(), out)
	}
	if p.count == 0 {
		return false
	}
	p.apply()
	return true
}

// fillDeposit deposits a token that the account has, after an approval.
func (p *poolTx) fillDeposit() bool {
	b := p.b
	for try := range 6 {
		token := poolTokens[b.r.skewed(len(poolTokens))]
		if try == 5 {
			token = strkToken // everybody has some
		}
		a := b.someOf(p.from, token).part(1 << 12)
		if a.isZero() || !a.fits128() {
			continue
		}
		allowance := a
		if token == strkToken {
			allowance = a.add(units(b.poolFee(), 18))
		}
		b.callApprove(p.from, token, b.w.intern(p.pool), allowance)
		p.deposit(token, a)
		first := a.part(1 + b.r.intn(1<<16-1))
		p.encNote(token, first, p.from.id)
		if rest := a.sub(first); !rest.isZero() {
			p.encNote(token, rest, p.from.id)
		}
		return true
	}
	return false
}

// privateSwap spends a note, sends it to the swap helper and gets another
// token back in an open note.
func (p *poolTx) privateSwap(index int) {
	b := p.b
	n := b.w.notes.items[index]
	helper := b.w.intern(swapHelper)
	back := strkToken
	if n.token == strkToken {
		back = usdcToken
	}
	a := b.w.balance(back, helper).part(1 + b.r.intn(64))
	if a.isZero() {
		p.useNote(index)
		p.encNote(n.token, n.amount, n.owner)
		return
	}
	p.useNote(index)
	noteID := p.openNote(back)
	p.withdraw(n.token, helper, n.amount)
	p.fund(back, a, helper, noteID)
}

var swapHelper = felt.Selector("simulated swap helper")
