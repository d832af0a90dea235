package contracts

import (
	"fmt"
	"sync"
)

// Catalogue holds every class that exists when a chain starts.
type Catalogue struct {
	Account       *Class
	AccountNext   *Class // what accounts are replaced by
	AccountCairo0 *Class

	ERC20Keyed  *Class // keyed events, byte array names
	ERC20Middle *Class // keyed events, short string names
	ERC20Legacy *Class // everything in data, short string names
	ERC20Next   *Class // what upgradeable tokens are replaced by
	TokenImpl   *Class // Cairo 0, behind Proxy
	TokenImpl2  *Class
	Proxy       *Class

	ERC721Keyed   *Class
	ERC721Legacy  *Class
	ERC1155Keyed  *Class
	ERC1155Legacy *Class

	PairFactory *Class
	PairRouter  *Class
	Pair        *Class
	EkuboCore   *Class
	Bridge      *Class

	UDC       *Class
	UDCMiddle *Class
	UDCLegacy *Class

	PoolV1     *Class
	PoolV2     *Class
	PoolV21    *Class
	SwapHelper *Class
	Junk       *Class
}

// Classes returns the catalogue. It is built once and never changes.
var Classes = sync.OnceValue(func() *Catalogue {
	return &Catalogue{
		Account:       sierra("account", accountLines),
		AccountNext:   sierra("account next", accountLines),
		AccountCairo0: cairo0("account", accountCairo0Lines),
		ERC20Keyed:    sierra("erc20 keyed", erc20KeyedLines).token(Keyed, true),
		ERC20Middle:   sierra("erc20 middle", erc20MiddleLines).token(Keyed, false),
		ERC20Legacy:   sierra("erc20 legacy", erc20LegacyLines).token(Legacy, false),
		ERC20Next:     sierra("erc20 next", erc20NextLines).token(Keyed, true),
		TokenImpl:     cairo0("token implementation", erc20ProxyImplLines).token(Legacy, false),
		TokenImpl2:    cairo0("token implementation 2", erc20ProxyImplLines).token(Legacy, false),
		Proxy:         cairo0("proxy", proxyLines).token(Legacy, false),
		ERC721Keyed:   sierra("erc721 keyed", erc721KeyedLines).token(Keyed, true),
		ERC721Legacy:  sierra("erc721 legacy", erc721LegacyLines).token(Legacy, false),
		ERC1155Keyed:  sierra("erc1155 keyed", erc1155KeyedLines).token(Keyed, true),
		ERC1155Legacy: sierra("erc1155 legacy", erc1155LegacyLines).token(Legacy, true),
		PairFactory:   sierra("pair factory", pairFactoryLines),
		PairRouter:    sierra("pair router", pairRouterLines),
		Pair:          sierra("pair", pairLines).token(Legacy, false),
		EkuboCore:     sierra("ekubo core", ekuboCoreLines),
		Bridge:        sierra("bridge", bridgeLines),
		UDC:           sierra("universal deployer", udcLines),
		UDCMiddle:     sierra("universal deployer middle", udcMiddleLines),
		UDCLegacy:     cairo0("universal deployer", udcLegacyLines),
		PoolV1:        sierra("privacy pool 1", poolV1Lines),
		PoolV2:        sierra("privacy pool 2", poolV2Lines),
		PoolV21:       sierra("privacy pool 2.1", poolV21Lines),
		SwapHelper:    sierra("swap helper", swapHelperLines),
		Junk:          sierra("junk", junkLines),
	}
})

// All lists the catalogue in a fixed order.
func (c *Catalogue) All() []*Class {
	return []*Class{c.Account, c.AccountNext, c.AccountCairo0, c.ERC20Keyed, c.ERC20Middle, c.ERC20Legacy, c.ERC20Next,
		c.TokenImpl, c.TokenImpl2, c.Proxy, c.ERC721Keyed, c.ERC721Legacy, c.ERC1155Keyed, c.ERC1155Legacy,
		c.PairFactory, c.PairRouter, c.Pair, c.EkuboCore, c.Bridge, c.UDC, c.UDCMiddle, c.UDCLegacy,
		c.PoolV1, c.PoolV2, c.PoolV21, c.SwapHelper, c.Junk}
}

// PoolStranger is a class of the privacy pool that nobody knows: no registry has it, and
// it is declared only where a chain is asked for trouble.
var PoolStranger = sync.OnceValue(func() *Class { return sierra("privacy pool stranger", poolV21Lines) })

var variants sync.Map // int -> *Class

// Variant is the n-th class that people declare later: a keyed token with a
// program of its own, every fourth one with a function more.
func Variant(n int) *Class {
	if c, ok := variants.Load(n); ok {
		return c.(*Class)
	}
	lines := erc20KeyedLines
	if n%4 == 3 {
		lines += fmt.Sprintf("\ninterface custom::IExtra%d\nview extra_%d() -> felt\n", n, n)
	}
	c := sierra(fmt.Sprintf("erc20 variant %d", n), lines).token(Keyed, true)
	got, _ := variants.LoadOrStore(n, c)
	return got.(*Class)
}

var oldVariants sync.Map // int -> *Class

// OldVariant is the n-th Cairo 0 class that people declare later.
func OldVariant(n int) *Class {
	if c, ok := oldVariants.Load(n); ok {
		return c.(*Class)
	}
	c := cairo0(fmt.Sprintf("old variant %d", n), erc20ProxyImplLines).token(Legacy, false)
	got, _ := oldVariants.LoadOrStore(n, c)
	return got.(*Class)
}
