package simnode

import (
	"math/big"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/simnode/contracts"
)

// PoolFee is what was paid for one use of the pool.
type PoolFee struct {
	Block   uint64
	TxIndex int
	Amount  *big.Int // of STRK
	Relayed bool     // somebody else paid it and was paid back
	// Evident says that events tell of it: the pool said something in the transaction,
	// and had announced who collects its fees.
	Evident bool
}

// PoolTrouble is something that goes wrong with the privacy pool in a block.
type PoolTrouble struct {
	Block uint64
	Kind  PoolTroubleKind
}

// PoolTroubleKind is what goes wrong.
type PoolTroubleKind uint8

// The kinds of trouble. The pool of the protocol does none of this, save for the first
// two: they are for readers that must notice.
const (
	TroubleClass        PoolTroubleKind = iota + 1 // it is upgraded to a class that nobody knows
	TroubleClassEnds                               // it is upgraded to its third generation
	TroubleSelector                                // it emits an event that nobody knows
	TroubleNoAmount                                // a deposit does not say how much
	TroubleHugeAmount                              // a withdrawal of more than an amount can be
	TroubleOverdrawn                               // more is withdrawn than was deposited
	TroubleNote                                    // a note is made twice
	TroubleNullifier                               // a nullifier is used twice
	TroubleUnfunded                                // an open note is made and not funded
	TroubleNoTransfer                              // a deposit that no token was moved for
	TroubleThereAndBack                            // it is upgraded to a class that nobody knows, makes a note, and is what it was again
)

// forwarder pays fees for others.
var forwarder = felt.Selector("simulated forwarder")

// morePool is what a configuration asks for beyond an ordinary chain.
func (b *builder) morePool() {
	if b.w.cfg.PoolUses > 0 {
		b.usePool()
	}
	for _, t := range b.w.cfg.PoolTrouble {
		if t.Block == b.number {
			b.trouble(t.Kind)
		}
	}
}

func (b *builder) usePool() {
	if b.number == 2 {
		const fee = 4
		b.byFaucet(func(f *account) {
			b.announceCollector()
			b.w.counts.set(b.number, countPoolFee, fee)
			b.poolConfig("set_fee_amount", []felt.Felt{contracts.SelFeeAmountSet}, []felt.Felt{units(fee, 18).low()})
			b.callTransfer(f, strkToken, b.w.intern(forwarder), units(1_000_000, 18))
		})
	}
	for i := range b.w.cfg.PoolUses {
		if b.w.counts.get(countPoolPaused) == 1 {
			b.byFaucet(func(*account) { b.unpause() })
		}
		b.byAccount(func(a *account) {
			switch {
			case i%3 == 2 && b.relayed(a):
			case i%3 == 1 && b.number%2 == 1 && b.disguised(a):
			default:
				b.doPoolOrTransfer(a)
			}
		})
	}
}

// relayed is a deposit whose fee a forwarder pays, who is paid back from the deposit.
func (b *builder) relayed(from *account) bool {
	fee := units(b.poolFee(), 18)
	payer := b.w.intern(forwarder)
	a := b.someOf(from, strkToken).part(1 << 12)
	if a.isZero() || !a.fits128() || fee.isZero() || b.spendable(from, strkToken).less(a.add(fee)) || b.w.balance(strkToken, payer).less(fee) {
		return false
	}
	p := &poolTx{b: b, from: from, pool: b.w.net.Pool, payer: &payer}
	if b.w.viewingKey.get(from.id).IsZero() {
		p.register()
	}
	b.callApprove(from, strkToken, b.w.intern(p.pool), a.add(fee))
	p.deposit(strkToken, a.add(fee))
	p.encNote(strkToken, a, from.id)
	p.withdraw(strkToken, payer, fee)
	p.apply()
	return true
}

// disguised is a deposit of as much as the fee, between transfers of as much to who
// collects fees: only one of the four pays for the call.
func (b *builder) disguised(from *account) bool {
	fee := units(b.poolFee(), 18)
	if fee.isZero() || b.w.viewingKey.get(from.id).IsZero() || b.spendable(from, strkToken).less(fee.add(fee).add(fee).add(fee)) {
		return false
	}
	collector := b.w.intern(feeCollector)
	p := &poolTx{b: b, from: from, pool: b.w.net.Pool}
	b.callTransfer(from, strkToken, collector, fee)
	b.callApprove(from, strkToken, b.w.intern(p.pool), fee.add(fee))
	p.deposit(strkToken, fee)
	p.encNote(strkToken, fee, from.id)
	p.apply()
	b.callTransfer(from, strkToken, collector, fee)
	return true
}

// trouble is one or two transactions with something that should not be.
func (b *builder) trouble(kind PoolTroubleKind) {
	pool, token := b.w.net.Pool, b.token(strkToken).Address
	if kind == TroubleClass || kind == TroubleThereAndBack {
		b.begin()
		b.sealDeclare(b.faucet(), 3, contracts.PoolStranger())
	}
	b.byFaucet(func(f *account) {
		say := func(kind PoolFactKind, token int, a *amount, party, factID felt.Felt, keys, data []felt.Felt) {
			n := amount{}
			if a != nil {
				n = *a
			}
			b.fact(kind, token, n, party, factID)
			if facts := b.w.poolFacts.items; token >= 0 && a == nil {
				facts[len(facts)-1].Amount = nil
			}
			b.emit(pool, b.felts(keys...), b.felts(data...))
		}
		b.call(pool, contracts.SelFnApplyActions)
		hidden := []felt.Felt{b.w.net.PoolAuditorKey, b.r.felt(), b.r.felt()}
		one := amountOf(1)
		replaced := func(to *contracts.Class) {
			say(PoolConfigured, -1, nil, felt.Zero, contracts.SelImplementationReplaced, []felt.Felt{contracts.SelImplementationReplaced}, []felt.Felt{to.Hash, felt.FromUint64(1), felt.Zero})
		}
		switch kind {
		case TroubleClass, TroubleClassEnds:
			to := b.w.cat.PoolV21
			if kind == TroubleClass {
				to = contracts.PoolStranger()
			}
			b.w.classOf.set(b.number, b.w.intern(pool), to)
			replaced(to)
		case TroubleSelector:
			say(PoolStrange, -1, nil, felt.Zero, felt.Zero, []felt.Felt{felt.Selector("SomethingElse"), b.r.felt()}, []felt.Felt{felt.FromUint64(7)})
		case TroubleNoAmount:
			say(PoolDeposit, strkToken, nil, f.address, felt.Zero, []felt.Felt{contracts.SelDeposit, f.address, token}, nil)
		case TroubleHugeAmount:
			say(PoolWithdrawal, strkToken, nil, f.address, felt.Zero, []felt.Felt{contracts.SelWithdrawal, f.address, token}, append(hidden, felt.MustParse("0x100000000000000000000000000000000")))
		case TroubleOverdrawn:
			much := b.w.protected.get(strkToken).add(one)
			b.transfer(strkToken, f.id, b.w.intern(pool), much) // a gift, so that notes can still be paid
			b.transfer(strkToken, b.w.intern(pool), f.id, much)
			say(PoolWithdrawal, strkToken, &much, f.address, felt.Zero, []felt.Felt{contracts.SelWithdrawal, f.address, token}, append(hidden, much.low()))
		case TroubleNote:
			note := b.r.felt()
			for range 2 {
				say(PoolEncNoteCreated, -1, nil, felt.Zero, note, []felt.Felt{contracts.SelEncNoteCreated, note}, []felt.Felt{b.r.felt()})
			}
		case TroubleNullifier:
			nullifier := b.r.felt()
			for range 2 {
				say(PoolNoteUsed, -1, nil, felt.Zero, nullifier, []felt.Felt{contracts.SelNoteUsed, nullifier}, nil)
			}
		case TroubleUnfunded:
			note := b.r.felt()
			say(PoolOpenNoteCreated, strkToken, &amount{}, felt.Zero, note, []felt.Felt{contracts.SelOpenNoteCreated, token, note}, hidden)
		case TroubleThereAndBack:
			note := b.r.felt()
			replaced(contracts.PoolStranger())
			say(PoolEncNoteCreated, -1, nil, felt.Zero, note, []felt.Felt{contracts.SelEncNoteCreated, note}, []felt.Felt{b.r.felt()})
			replaced(b.w.classOf.get(b.w.intern(pool)))
		case TroubleNoTransfer:
			b.protect(strkToken, one)
			say(PoolDeposit, strkToken, &one, f.address, felt.Zero, []felt.Felt{contracts.SelDeposit, f.address, token}, []felt.Felt{one.low()})
		}
		b.done()
	})
}
