package simnode

import (
	"chainexplorer/internal/felt"
	"chainexplorer/internal/simnode/contracts"
)

// genesis is block 0: the oldest kinds of transactions declare the classes and
// make the first account, and the well-known contracts stand at their
// well-known addresses. Nobody pays a fee in it.
func (b *builder) genesis() {
	w, cat, net := b.w, b.w.cat, &b.w.net
	old := &account{address: felt.FromUint64(1)}
	for _, c := range cat.All() {
		if c.Cairo0() {
			b.begin()
			b.sealDeclare(old, 0, c)
		}
	}
	b.begin()
	key := b.r.felt()
	address := b.sealDeploy(cat.AccountCairo0, b.r.felt(), b.felts(key))
	faucet := &account{id: w.intern(address), address: address, cairo0: true, key: key}
	w.accounts.add(0, faucet)
	for i, c := range cat.All() {
		if !c.Cairo0() {
			b.begin()
			b.sealDeclare(faucet, 2+i%2, c)
		}
	}
	for _, c := range w.cfg.Declare {
		b.begin()
		b.sealDeclare(faucet, 3, c)
	}
	for _, d := range []struct {
		address felt.Felt
		class   *contracts.Class
	}{
		{contracts.LegacyUDC, cat.UDCLegacy}, {contracts.MiddleUDC, cat.UDCMiddle}, {contracts.CurrentUDC, cat.UDC},
		{net.Pool, cat.PoolV1}, {net.EkuboCore, cat.EkuboCore}, {net.PairFactory, cat.PairFactory}, {net.PairRouter, cat.PairRouter},
		{net.MultiBridge, cat.Bridge}, {net.ETHBridge, cat.Bridge}, {contracts.STRKBridge, cat.Bridge},
		{swapHelper, cat.SwapHelper}, {junkContract, cat.Junk},
	} {
		b.deploy(d.address, d.class)
	}
	b.begin()
	for _, t := range []struct {
		Token
		class  *contracts.Class
		supply uint64
	}{
		{Token{Address: contracts.STRK, Name: "Starknet Token", Symbol: "STRK", Decimals: 18}, cat.ERC20Legacy, 10_000_000_000},
		{Token{Address: contracts.ETH, Name: "Ether", Symbol: "ETH", Decimals: 18, L1Token: felt.MustShortString("ETH")}, cat.ERC20Legacy, 120_000_000},
		{Token{Address: net.USDC, Name: "USD Coin", Symbol: "USDC", Decimals: 6}, cat.ERC20Legacy, 300_000_000},
		{Token{Address: net.USDT, Name: "Tether USD", Symbol: "USDT", Decimals: 6}, cat.ERC20Legacy, 90_000_000},
		{Token{Address: net.WBTC, Name: "Wrapped BTC", Symbol: "WBTC", Decimals: 8}, cat.ERC20Legacy, 5_000_000},
		{Token{Address: net.DAI, Name: "Dai Stablecoin", Symbol: "DAI", Decimals: 18}, cat.Proxy, 40_000_000},
	} {
		b.deploy(t.Address, t.class)
		t.Standard, t.owner = ERC20, faucet.id
		if t.Symbol != "DAI" && t.L1Token.IsZero() {
			t.L1Token = felt.Selector("l1/" + t.Symbol)
			clear(t.L1Token[:12])
		}
		token := t.Token
		i := b.addToken(&token)
		supply := units(t.supply, int(t.Decimals))
		b.call(t.Address, contracts.SelFnMint, faucet.address, supply.low(), supply.high())
		b.transfer(i, nobody, faucet.id, supply)
		b.done()
	}
	dai := b.token(daiToken)
	w.implOf.set(0, dai.id, cat.TokenImpl)
	b.write(dai.Address, implementationCell, cat.TokenImpl.Hash)
	helper := w.intern(swapHelper)
	b.callTransfer(faucet, strkToken, helper, units(5_000_000, 18))
	b.callTransfer(faucet, usdcToken, helper, units(1_000_000, 6))
	b.sealInvoke(faucet, 0, "")
}

// firstPlayers is block 1: accounts, tokens and collections that the later
// blocks use.
func (b *builder) firstPlayers() {
	faucet := b.faucet()
	for i := range 6 {
		version := 3
		if i == 4 {
			version = 1
		}
		b.newAccount(version, i == 5)
	}
	send := func(fn func()) {
		b.begin()
		fn()
		b.sealInvoke(faucet, 3, "")
	}
	cat := b.w.cat
	for _, t := range []struct {
		class *contracts.Class
		udc   felt.Felt
		text  tokenText
	}{
		{cat.ERC20Keyed, contracts.CurrentUDC, plainTokens[0]},
		{cat.ERC20Middle, contracts.MiddleUDC, plainTokens[1]},
		{cat.ERC20Legacy, contracts.LegacyUDC, plainTokens[2]},
		{cat.ERC20Keyed, contracts.CurrentUDC, plainTokens[7]},
	} {
		send(func() {
			i := b.deployERC20(faucet, t.udc, t.class, t.text, units(1_000_000, int(t.text.decimals)))
			for _, a := range b.w.accounts.items[1:] {
				b.callTransfer(faucet, i, a.id, units(uint64(100+b.r.intn(900)), int(t.text.decimals)))
			}
		})
	}
	for _, layout := range []contracts.Layout{contracts.Keyed, contracts.Legacy} {
		send(func() { b.newCollection(faucet, ERC721, layout) })
		send(func() { b.newCollection(faucet, ERC1155, layout) })
	}
	for _, wrong := range wrongTokens {
		send(func() { b.deployWrong(faucet, wrong.lie, wrong.text) })
	}
	send(func() { b.createPair(faucet) })
	send(func() { b.initEkubo(faucet) })
}
