package simnode

import (
	"math/big"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/simnode/contracts"
)

// createPair makes a pair of the constant product exchange and gives it its
// first liquidity.
func (b *builder) createPair(from *account) bool {
	t0, t1, ok := b.twoTokens(from)
	if !ok {
		return false
	}
	for _, p := range b.w.pairs.items {
		if p.token0 == t0 && p.token1 == t1 || p.token0 == t1 && p.token1 == t0 {
			return false
		}
	}
	if b.token(t1).Address.Cmp(b.token(t0).Address) < 0 {
		t0, t1 = t1, t0
	}
	net := &b.w.net
	a0, a1 := b.token(t0).Address, b.token(t1).Address
	b.call(net.PairFactory, contracts.SelFnCreatePair, a0, a1)
	calldata := []felt.Felt{a0, a1}
	address := contractAddress(net.PairFactory, b.r.felt(), b.w.cat.Pair, calldata)
	p := &pair{id: b.deploy(address, b.w.cat.Pair), token0: t0, token1: t1}
	p.lp = b.addToken(&Token{Address: address, Standard: ERC20, Name: "JediSwap Pair", Symbol: "JEDI-P", Decimals: 18, owner: p.id})
	index := b.w.pairs.add(b.number, p)
	b.emit(net.PairFactory, b.felts(contracts.SelPairCreated), b.felts(a0, a1, address, felt.FromUint64(uint64(index+1))))
	b.done()
	b.addLiquidity(from, index, b.someOf(from, t0), b.someOf(from, t1))
	return true
}

// twoTokens are two different ERC-20s that the account has some of, none a
// pair's own token.
func (b *builder) twoTokens(from *account) (int, int, bool) {
	for range 8 {
		t0, ok0 := b.pickToken(from)
		t1, ok1 := b.pickToken(from)
		if ok0 && ok1 && t0 != t1 && !b.isPair(t0) && !b.isPair(t1) &&
			b.spendable(from, t0).fits128() && b.spendable(from, t1).fits128() {
			return t0, t1, true
		}
	}
	return 0, 0, false
}

func (b *builder) isPair(token int) bool { return b.w.classOf.get(b.token(token).id) == b.w.cat.Pair }

func (b *builder) router() id { return b.w.intern(b.w.net.PairRouter) }

func (b *builder) addLiquidity(from *account, index int, x, y amount) {
	p := b.w.pairs.items[index]
	if x.isZero() || y.isZero() {
		return
	}
	r := b.w.reserves.get(index)
	router := b.router()
	b.callApprove(from, p.token0, router, x)
	b.callApprove(from, p.token1, router, y)
	b.call(b.w.net.PairRouter, contracts.SelFnAddLiquidity, b.token(p.token0).Address, b.token(p.token1).Address,
		x.low(), x.high(), y.low(), y.high(), from.address)
	b.transfer(p.token0, from.id, p.id, x)
	b.transfer(p.token1, from.id, p.id, y)
	minted := x
	if total := b.w.supplies.get(p.lp); !total.isZero() && !r[0].isZero() {
		minted = proportion(total, x, r[0])
	}
	b.transfer(p.lp, nobody, from.id, minted)
	b.sync(index, [2]amount{r[0].add(x), r[1].add(y)})
	b.emit(b.w.address(p.id), b.felts(contracts.SelMint), b.felts(b.w.net.PairRouter, x.low(), x.high(), y.low(), y.high()))
	b.done()
}

// proportion is a*x/y.
func proportion(a, x, y amount) amount {
	n := a.big()
	n.Mul(n, x.big())
	return amountFromBig(n.Quo(n, y.big()))
}

func (b *builder) sync(index int, r [2]amount) {
	b.w.reserves.set(b.number, index, r)
	p := b.w.pairs.items[index]
	b.emit(b.w.address(p.id), b.felts(contracts.SelSync), b.felts(r[0].low(), r[0].high(), r[1].low(), r[1].high()))
}

// doLiquidity adds to a pair, or takes out what the account has in it.
func (b *builder) doLiquidity(from *account) {
	if b.w.pairs.len() == 0 {
		b.doTransfer(from)
		return
	}
	index := b.r.skewed(b.w.pairs.len())
	p := b.w.pairs.items[index]
	share := b.w.balance(p.lp, from.id).part(1 + b.r.intn(1<<15))
	if share.isZero() {
		x, y := b.someOf(from, p.token0), b.someOf(from, p.token1)
		if !x.isZero() && !y.isZero() {
			b.addLiquidity(from, index, x.part(1+b.r.intn(1<<14)), y.part(1+b.r.intn(1<<14)))
			return
		}
		b.doTransfer(from)
		return
	}
	r, total := b.w.reserves.get(index), b.w.supplies.get(p.lp)
	x, y := proportion(r[0], share, total), proportion(r[1], share, total)
	b.call(b.w.net.PairRouter, contracts.SelFnRemoveLiquidity, b.token(p.token0).Address, b.token(p.token1).Address,
		share.low(), share.high(), from.address)
	b.transfer(p.lp, from.id, p.id, share)
	b.transfer(p.lp, p.id, nobody, share)
	b.transfer(p.token0, p.id, from.id, x)
	b.transfer(p.token1, p.id, from.id, y)
	b.sync(index, [2]amount{r[0].sub(x), r[1].sub(y)})
	b.emit(b.w.address(p.id), b.felts(contracts.SelBurn),
		b.felts(b.w.net.PairRouter, x.low(), x.high(), y.low(), y.high(), from.address))
	b.done()
}

// price is what the constant product gives for in, less a fee of 0.3 %.
func price(in, reserveIn, reserveOut amount) amount {
	paid := new(big.Int).Mul(in.big(), big.NewInt(997))
	n := new(big.Int).Mul(paid, reserveOut.big())
	d := new(big.Int).Mul(reserveIn.big(), big.NewInt(1000))
	return amountFromBig(n.Quo(n, d.Add(d, paid)))
}

// doSwap trades on a pair.
func (b *builder) doSwap(from *account) {
	if b.w.pairs.len() == 0 {
		b.doTransfer(from)
		return
	}
	index := b.r.skewed(b.w.pairs.len())
	p, r := b.w.pairs.items[index], b.w.reserves.get(index)
	side := b.r.intn(2)
	tokens := [2]int{p.token0, p.token1}
	in := b.someOf(from, tokens[side])
	if limit := r[side].shr(5); limit.less(in) {
		in = limit
	}
	if in.isZero() || r[1-side].isZero() {
		b.doTransfer(from)
		return
	}
	out := price(in, r[side], r[1-side])
	router := b.router()
	b.callApprove(from, tokens[side], router, in)
	deadline := felt.FromUint64(b.block.Timestamp + 600)
	b.call(b.w.net.PairRouter, contracts.SelFnSwap, in.low(), in.high(), out.low(), out.high(), felt.FromUint64(2),
		b.token(tokens[side]).Address, b.token(tokens[1-side]).Address, from.address, deadline)
	b.transfer(tokens[side], from.id, p.id, in)
	b.transfer(tokens[1-side], p.id, from.id, out)
	r[side], r[1-side] = r[side].add(in), r[1-side].sub(out)
	b.sync(index, r)
	var ins, outs [2]amount
	ins[side], outs[1-side] = in, out
	b.emit(b.w.address(p.id), b.felts(contracts.SelSwap), b.felts(b.w.net.PairRouter,
		ins[0].low(), ins[0].high(), ins[1].low(), ins[1].high(), outs[0].low(), outs[0].high(), outs[1].low(), outs[1].high(), from.address))
	b.done()
}
