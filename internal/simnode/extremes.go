package simnode

import (
	"math"

	"chainexplorer/internal/felt"
)

// extremesEvery is how many blocks apart transactions with extremes are.
const extremesEvery = 2

// extremes is a transaction of an account that calls itself first, and then approves ordinary
// amounts, and behind them those of all sizes that have no bit left, up to one without a limit. Such
// amounts are everywhere on the public networks, and nothing else here is more than balances.
func (b *builder) extremes() {
	b.byFaucet(func(f *account) {
		b.call(f.address, felt.Selector("supports_interface"), felt.FromUint64(1))
		b.done()
		for range 40 {
			b.callApprove(f, strkToken, b.faucet().id, amountOf(b.r.next()>>8))
		}
		for bits := 32; bits <= 256; bits += 32 {
			b.callApprove(f, strkToken, b.somebody(), allOnes(bits))
		}
	})
}

// allOnes is the largest amount of so many bits.
func allOnes(bits int) (a amount) {
	for i := range a {
		a[i] = math.MaxUint64 >> (64 - min(max(bits-64*i, 0), 64))
	}
	return a
}
