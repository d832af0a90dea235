package simnode

import (
	"chainexplorer/internal/felt"
	"chainexplorer/internal/simnode/contracts"
)

// config emits one of the pool's own events.
func (b *builder) poolConfig(door string, keys, data []felt.Felt) {
	b.call(b.w.net.Pool, felt.Selector(door), data...)
	b.fact(PoolConfigured, -1, amount{}, felt.Zero, keys[0])
	b.emit(b.w.net.Pool, b.felts(keys...), b.felts(data...))
	b.done()
}

// poolAdmin changes one setting of the pool.
func (b *builder) poolAdmin() {
	era := b.w.counts.get(countPoolEra)
	one := func(sel felt.Felt) []felt.Felt { return []felt.Felt{sel} }
	switch b.r.intn(8) {
	case 0:
		fee := uint64(b.r.intn(8))
		b.w.counts.set(b.number, countPoolFee, fee)
		b.poolConfig("set_fee_amount", one(contracts.SelFeeAmountSet), []felt.Felt{units(fee, 18).low()})
	case 1:
		b.announceCollector()
	case 2:
		b.poolConfig("set_auditor_public_key", one(contracts.SelAuditorPublicKeySet), []felt.Felt{b.w.net.PoolAuditorKey})
	case 3:
		b.poolConfig("set_proof_validity_blocks", one(contracts.SelProofValidityBlocksSet), []felt.Felt{felt.FromUint64(450)})
	case 4:
		paused := b.w.counts.get(countPoolPaused)
		b.w.counts.set(b.number, countPoolPaused, 1-paused)
		door, selector := "pause", contracts.SelPaused
		if paused == 1 {
			door, selector = "unpause", contracts.SelUnpaused
		}
		b.poolConfig(door, one(selector), []felt.Felt{b.faucet().address})
	case 5:
		b.poolConfig("grant_role", one(contracts.SelRoleGranted),
			[]felt.Felt{felt.Selector("ROLE_OPERATOR"), b.w.address(b.somebody()), b.faucet().address})
	case 6:
		switch era {
		case 0:
			b.announceCollector()
		case 1:
			b.poolConfig("set_open_note_depositor_block", []felt.Felt{contracts.SelOpenNoteDepositorBlocked, b.r.felt()}, []felt.Felt{felt.FromUint64(1)})
		default:
			b.poolConfig("set_open_note_screening_policy", []felt.Felt{contracts.SelScreeningPolicySet, swapHelper}, []felt.Felt{felt.FromUint64(uint64(b.r.intn(3)))})
		}
	default:
		if era > 0 {
			b.poolConfig("set_screener_public_key", one(contracts.SelScreenerPublicKeySet), []felt.Felt{b.w.net.PoolScreener})
		} else {
			b.poolConfig("set_proof_validity_blocks", one(contracts.SelProofValidityBlocksSet), []felt.Felt{felt.FromUint64(300)})
		}
	}
}

func (b *builder) announceCollector() {
	b.w.counts.set(b.number, countPoolCollector, 1)
	b.poolConfig("set_fee_collector", []felt.Felt{contracts.SelFeeCollectorSet}, []felt.Felt{feeCollector})
}

// unpause lets a paused pool work again, so that it is never shut for long.
func (b *builder) unpause() {
	if b.w.counts.get(countPoolPaused) == 1 {
		b.w.counts.set(b.number, countPoolPaused, 0)
		b.poolConfig("unpause", []felt.Felt{contracts.SelUnpaused}, []felt.Felt{b.faucet().address})
	}
}

// upgradePool moves the pool to its next generation: added and replaced in one
// transaction, as its delay is zero.
func (b *builder) upgradePool() bool {
	era := b.w.counts.get(countPoolEra)
	if era >= 2 {
		return false
	}
	to := []*contracts.Class{b.w.cat.PoolV2, b.w.cat.PoolV21}[era]
	data := []felt.Felt{to.Hash, felt.FromUint64(1), felt.Zero}
	b.poolConfig("add_new_implementation", []felt.Felt{contracts.SelImplementationAdded}, data)
	b.w.classOf.set(b.number, b.w.intern(b.w.net.Pool), to)
	b.w.counts.set(b.number, countPoolEra, era+1)
	b.poolConfig("replace_to", []felt.Felt{contracts.SelImplementationReplaced}, data)
	return true
}
