package simnode

import (
	"fmt"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/simnode/contracts"
	"chainexplorer/internal/starknet"
)

// viaDeployer deploys a class through one of the three universal deployers.
// constructor emits what the constructor does, before the deployer's event.
func (b *builder) viaDeployer(from *account, udc felt.Felt, class *contracts.Class, calldata []felt.Felt, constructor func(address felt.Felt)) felt.Felt {
	salt, dependent := b.r.felt(), b.r.chance(0.6)
	flag := felt.FromUint64(0)
	if dependent != (udc == contracts.MiddleUDC) { // its flag is turned round
		flag = felt.FromUint64(1)
	}
	deployer, effective := felt.Zero, salt
	if dependent {
		deployer = udc
		effective = starknet.Pedersen(from.address, salt)
		if udc == contracts.MiddleUDC {
			effective = starknet.PoseidonArray(from.address, salt)
		}
	}
	address := contractAddress(deployer, effective, class, calldata)
	n := felt.FromUint64(uint64(len(calldata)))
	selector := contracts.SelFnDeployContract
	if udc == contracts.LegacyUDC || udc == contracts.CurrentUDC && b.r.chance(0.2) {
		selector = contracts.SelFnDeployContractC
	}
	b.call(udc, selector, append([]felt.Felt{class.Hash, salt, flag, n}, calldata...)...)
	b.deploy(address, class)
	if constructor != nil {
		constructor(address)
	}
	data := append([]felt.Felt{address, from.address, flag, class.Hash, n}, calldata...)
	b.emit(udc, b.felts(contracts.SelContractDeployed), b.felts(append(data, salt)...))
	b.done()
	return address
}

// tokenText is a name, a symbol and decimals.
type tokenText struct {
	name, symbol string
	decimals     uint8
}

var plainTokens = []tokenText{
	{"Ekubo Protocol", "EKUBO", 18}, {"Lords", "LORDS", 18}, {"zkLend Token", "ZEND", 18}, {"Nostra", "NSTR", 18},
	{"Test Dollar", "TUSD", 6}, {"Wrapped Test Bitcoin", "TBTC", 8}, {"Staked Ether", "stETH", 18},
	{"A token whose name is much longer than thirty-one bytes", "LONGNAME", 18}, {"Brother", "BROTHER", 18}, {"Euro Stable", "EURS", 2},
}

// hostileTokens have names that must do no harm to whoever shows them.
var hostileTokens = []tokenText{
	{"<script>alert(1)</script>", "<b>XSS</b>", 18},
	{"'; DROP TABLE tokens; --", "\"'`", 18},
	{"\u202eNRTS desreveR", "\u200bSTRK", 18},
	{"Fake Starknet Token", "STRK", 18},
	{"\xff\xfe\xfd not utf-8 \x80", "\x00NUL\x00", 0},
	{"", "", 255},
	{"\x1b[31mred\x1b[0m\r\nSet-Cookie: a=b", "{{7*7}}", 77},
	{"🚀🚀🚀🚀🚀🚀🚀🚀🚀🚀🚀🚀🚀🚀🚀🚀🚀🚀🚀🚀🚀🚀🚀🚀🚀🚀🚀🚀🚀🚀🚀🚀🚀🚀🚀🚀🚀🚀🚀🚀🚀🚀🚀🚀🚀🚀🚀🚀", "🚀", 18},
	{"../../etc/passwd%00", "%s%n%d", 18},
	{"=cmd|' /C calc'!A0", "@SUM(1)", 18},
}

// deployERC20 makes a token through a deployer and mints its supply.
func (b *builder) deployERC20(from *account, udc felt.Felt, class *contracts.Class, t tokenText, supply amount) int {
	calldata := append(constructorText(class, t.name), constructorText(class, t.symbol)...)
	calldata = append(calldata, felt.FromUint64(uint64(t.decimals)), supply.low(), supply.high(), from.address)
	token := 0
	b.viaDeployer(from, udc, class, calldata, func(address felt.Felt) {
		token = b.addToken(&Token{Address: address, Standard: ERC20, Name: t.name, Symbol: t.symbol, Decimals: t.decimals, owner: from.id})
		b.transfer(token, nobody, from.id, supply)
	})
	return token
}

// deployPlainToken is the common case, with a name that grows with the chain.
func (b *builder) deployPlainToken(from *account, udc felt.Felt) int {
	n := b.w.tokens.len()
	t := plainTokens[b.r.intn(len(plainTokens))]
	if b.r.chance(0.5) {
		t.name, t.symbol = fmt.Sprintf("%s %d", t.name, n), fmt.Sprintf("%s%d", t.symbol, n)
	}
	class := []*contracts.Class{b.w.cat.ERC20Keyed, b.w.cat.ERC20Keyed, b.w.cat.ERC20Middle, b.w.cat.ERC20Legacy}[b.r.intn(4)]
	if declared := b.w.counts.get(countVariants); declared > 0 && b.r.chance(0.4) {
		class = contracts.Variant(b.r.intn(int(declared)))
	}
	supply := units(uint64(1+b.r.intn(1_000_000)), min(int(t.decimals), 18))
	if b.r.chance(0.1) { // more than 128 bits
		supply = amount{b.r.next(), b.r.next(), b.r.next(), 0}
	}
	token := b.deployERC20(from, udc, class, t, supply)
	for range 3 {
		b.callTransfer(from, token, b.somebody(), b.w.balance(token, from.id).part(3000))
	}
	return token
}

func (b *builder) deployHostileToken(from *account) {
	t := hostileTokens[b.count(countHostile)%uint64(len(hostileTokens))]
	token := b.deployERC20(from, contracts.CurrentUDC, b.w.cat.ERC20Keyed, t, units(1000, 18))
	b.callTransfer(from, token, b.somebody(), units(1, 18))
}

// newAccount is funded by the faucet first, as its own deployment costs a fee.
func (b *builder) newAccount(version int, cairo0 bool) {
	class := b.w.cat.Account
	if cairo0 {
		class = b.w.cat.AccountCairo0
	}
	a := &account{key: b.r.felt(), cairo0: cairo0}
	salt := b.r.felt()
	a.address = contractAddress(felt.Zero, salt, class, []felt.Felt{a.key})
	a.id = b.w.intern(a.address)

	b.begin()
	b.fund(a)
	b.sealInvoke(b.faucet(), 3, "")

	b.begin()
	b.w.accounts.add(b.number, a)
	b.sealDeployAccount(a, version, class, salt)
}

// fund gives an account the fee tokens and a little of each early token.
func (b *builder) fund(a *account) {
	faucet := b.faucet()
	b.callTransfer(faucet, strkToken, a.id, units(2000, 18))
	b.callTransfer(faucet, ethToken, a.id, units(3, 17))
	for _, t := range []int{usdcToken, usdtToken, wbtcToken, daiToken} {
		if b.r.chance(0.5) && !b.w.balance(t, faucet.id).isZero() {
			b.callTransfer(faucet, t, a.id, b.w.balance(t, faucet.id).part(8+b.r.intn(40)))
		}
	}
}

// faucet is the first account; it never runs dry.
func (b *builder) faucet() *account { return b.w.accounts.items[0] }

// declareClass declares something new in the given transaction version.
func (b *builder) declareClass(from *account, version int) {
	b.begin()
	if version < 2 {
		b.sealDeclare(from, version, contracts.OldVariant(int(b.count(countOldVariants))))
		return
	}
	b.sealDeclare(from, version, contracts.Variant(int(b.count(countVariants))))
}

// migrateClass moves one class to the new kind of compiled hash.
func (b *builder) migrateClass() {
	n := b.w.counts.get(countMigrated)
	all := b.w.cat.All()
	for n < uint64(len(all)) && all[n].Cairo0() {
		n++
	}
	if n >= uint64(len(all)) {
		return
	}
	c := all[n]
	b.w.compiled.set(b.number, c.Hash, c.CompiledV2)
	b.diff.Migrated = append(b.diff.Migrated, starknet.DeclaredClass{ClassHash: c.Hash, CompiledClassHash: c.CompiledV2})
	b.w.counts.set(b.number, countMigrated, n+1)
}
