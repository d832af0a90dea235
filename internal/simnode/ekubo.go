package simnode

import (
	"chainexplorer/internal/felt"
	"chainexplorer/internal/simnode/contracts"
)

// The concentrated liquidity exchange keeps all pools in one contract and all
// event fields in data. Prices are a walk of the tick: nothing here depends on
// the curve being exact, only on amounts being what the events say.

// i129 is a signed number: magnitude and sign.
func i129(n int64) (mag, sign felt.Felt) {
	if n < 0 {
		return felt.FromUint64(uint64(-n)), felt.FromUint64(1)
	}
	return felt.FromUint64(uint64(n)), felt.Zero
}

// sqrtRatio is about sqrt(1.000001^tick) in 64.128 fixed point.
func sqrtRatio(tick int64) (low, high felt.Felt) {
	one := amount{0, 0, 1, 0}
	const step = (1<<63)/1_000_000 + 1 // 2^128 / 2,000,000 is step * 2^64
	if tick < 0 {
		a := one.sub(amount{0, step, 0, 0}.mul(uint64(-tick)))
		return a.low(), a.high()
	}
	a := one.add(amount{0, step, 0, 0}.mul(uint64(tick)))
	return a.low(), a.high()
}

func (b *builder) poolKey(p *ekuboPool) []felt.Felt {
	return []felt.Felt{b.token(p.token0).Address, b.token(p.token1).Address, p.fee, p.tickSpacing, felt.Zero}
}

func (b *builder) core() id { return b.w.intern(b.w.net.EkuboCore) }

// initEkubo makes a pool and puts the first position into it.
func (b *builder) initEkubo(from *account) bool {
	t0, t1, ok := b.twoTokens(from)
	if !ok {
		return false
	}
	if b.token(t1).Address.Cmp(b.token(t0).Address) < 0 {
		t0, t1 = t1, t0
	}
	p := &ekuboPool{token0: t0, token1: t1, fee: felt.FromUint128(uint64(b.r.intn(1<<30))<<20, 0), tickSpacing: felt.FromUint64(uint64(1 + b.r.intn(1000)))}
	index := b.w.ekubo.add(b.number, p)
	s := ekuboState{tick: int64(b.r.intn(200_000)) - 100_000}
	mag, sign := i129(s.tick)
	low, high := sqrtRatio(s.tick)
	key := b.poolKey(p)
	b.call(b.w.net.EkuboCore, contracts.SelFnEkuboInit, append(key, mag, sign)...)
	b.emit(b.w.net.EkuboCore, b.felts(contracts.SelPoolInitialized), b.felts(append(b.poolKey(p), mag, sign, low, high)...))
	b.done()

	x, y := b.someOf(from, t0), b.someOf(from, t1)
	b.call(b.w.net.EkuboCore, felt.Selector("update_position"), append(key, x.low())...)
	data := append([]felt.Felt{from.address}, key...)
	lower, lowerSign := i129(s.tick - 10_000)
	upper, upperSign := i129(s.tick + 10_000)
	data = append(data, felt.FromUint64(uint64(index)), lower, lowerSign, upper, upperSign, x.low(), felt.Zero, x.low(), felt.Zero, y.low(), felt.Zero)
	b.emit(b.w.net.EkuboCore, b.felts(contracts.SelPositionUpdated), b.felts(data...))
	b.transfer(t0, from.id, b.core(), x)
	b.transfer(t1, from.id, b.core(), y)
	s.reserve = [2]amount{x, y}
	b.w.ekuboNow.set(b.number, index, s)
	b.done()
	return true
}

// doEkubo swaps in a pool of the core.
func (b *builder) doEkubo(from *account) {
	if b.w.ekubo.len() == 0 {
		b.doTransfer(from)
		return
	}
	index := b.r.skewed(b.w.ekubo.len())
	p, s := b.w.ekubo.items[index], b.w.ekuboNow.get(index)
	side := b.r.intn(2)
	tokens := [2]int{p.token0, p.token1}
	in := b.someOf(from, tokens[side])
	if limit := s.reserve[side].shr(5); limit.less(in) {
		in = limit
	}
	if in.isZero() || s.reserve[1-side].isZero() {
		b.doTransfer(from)
		return
	}
	out := price(in, s.reserve[side], s.reserve[1-side])
	s.reserve[side], s.reserve[1-side] = s.reserve[side].add(in), s.reserve[1-side].sub(out)
	s.tick = max(-400_000, min(400_000, s.tick+int64(b.r.intn(401))-200))
	b.w.ekuboNow.set(b.number, index, s)

	flag := felt.FromUint64(uint64(side))
	low, high := sqrtRatio(s.tick)
	mag, sign := i129(s.tick)
	deltas := [4]felt.Felt{}
	deltas[2*side] = in.low()
	deltas[2*(1-side)], deltas[2*(1-side)+1] = out.low(), felt.FromUint64(1) // out of the pool
	if out.isZero() {
		deltas[2*(1-side)+1] = felt.Zero
	}
	key := b.poolKey(p)
	b.call(b.w.net.EkuboCore, contracts.SelFnEkuboSwap, append(b.poolKey(p), in.low(), felt.Zero, flag, low, high, felt.Zero)...)
	data := append([]felt.Felt{from.address}, key...)
	data = append(data, in.low(), felt.Zero, flag, low, high, felt.Zero, deltas[0], deltas[1], deltas[2], deltas[3],
		low, high, mag, sign, s.reserve[0].low())
	b.emit(b.w.net.EkuboCore, b.felts(contracts.SelSwapped), b.felts(data...))
	b.transfer(tokens[side], from.id, b.core(), in)
	b.transfer(tokens[1-side], b.core(), from.id, out)
	b.done()
}
