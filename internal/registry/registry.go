// Package registry holds what is known of a chain beyond its blocks: tokens and
// whether their holders can be counted, exchanges and how they announce pools,
// bridges, privacy pools and how their classes speak, names of addresses and of
// classes.
//
// It is data alone, per chain. Built-in facts come first; an operator's file and
// programs add entries or replace those of the same identity. Nothing here makes
// an amount, a balance or a pool true: it only says where the chain is to be
// looked at, and what to call what is found.
//
// A Chain never changes after it was made and may be used by many goroutines.
package registry

import (
	"slices"

	"chainexplorer/internal/arrange"
	"chainexplorer/internal/felt"
)

// Token is a known token.
type Token struct {
	Address  felt.Felt `yaml:"address"`
	Symbol   string    `yaml:"symbol"`
	Name     string    `yaml:"name"`
	Decimals uint8     `yaml:"decimals"`
	Census   Census    `yaml:"census"`
}

// Census is the policy for counting a token's holders. A token that is not
// known has none, which is the same as one that is not qualified.
type Census struct {
	// Qualified says that somebody looked at the contract and found that every
	// change of a balance is a Transfer event.
	Qualified bool   `yaml:"qualified"`
	Reason    string `yaml:"reason"`
	// Screening is how many of the largest holders the screening shows: 10, 50,
	// 100 or 200; 0 is 10.
	Screening int `yaml:"screening"`
}

// PoolType is how a pool prices.
type PoolType string

// The pool types.
const (
	Concentrated    PoolType = "cl"
	ConstantProduct PoolType = "cpmm"
	Stable          PoolType = "stable"
	OrderBook       PoolType = "orderbook"
	UnknownType     PoolType = "unknown"
)

// MarketKind is where a pool lives.
type MarketKind string

// The market kinds.
const (
	PoolContract  MarketKind = "pool_contract"  // every pool is a contract of its own
	SingletonPool MarketKind = "singleton_pool" // all pools live in one contract
	BookMarket    MarketKind = "orderbook"
)

// FeeUnit is what the fee of a creation event counts.
type FeeUnit string

// The fee units.
const (
	FeeBps        FeeUnit = "bps"          // ten-thousandths
	FeeMillionths FeeUnit = "millionths"   // hundredths of a bps
	FeeFraction   FeeUnit = "fraction_128" // a fraction of 2^128
)

// Dex is an exchange: the contract that announces its pools and the event that
// does. An event whose numbers of keys and values differ from the layout is not
// a pool.
type Dex struct {
	Slug    string     `yaml:"slug"`
	Name    string     `yaml:"name"`
	Address felt.Felt  `yaml:"address"` // factory or core
	Event   Selector   `yaml:"event"`   // topic0 of the creation event
	Kind    MarketKind `yaml:"kind"`
	Type    PoolType   `yaml:"type"`

	// Keys and Data are how many of each the event has, the selector included.
	Keys int `yaml:"keys"`
	Data int `yaml:"data"`

	Token0 Place  `yaml:"token0"`
	Token1 Place  `yaml:"token1"`
	Pool   *Place `yaml:"pool"` // the pool's own contract, if it has one
	// Identity lists what tells pools of one contract apart, if they have no
	// contract of their own.
	Identity []Place `yaml:"identity"`

	Fee     *Place  `yaml:"fee"`
	FeeUnit FeeUnit `yaml:"feeUnit"`
	// FixedFeeBps is the fee of every pool, if it is not in the event.
	FixedFeeBps *uint32 `yaml:"feeBps"`
}

// Bridge is a contract pair that moves a token, or many, between the layers.
type Bridge struct {
	Protocol string    `yaml:"protocol"`
	Name     string    `yaml:"name"`
	L2       felt.Felt `yaml:"l2Address"`
	L1       felt.Felt `yaml:"l1Address"`
	// Token is what a single-token bridge moves; nil for one that moves many.
	Token *felt.Felt `yaml:"token"`
}

// Confidence is how sure a label is.
type Confidence string

// The confidences.
const (
	High   Confidence = "high"
	Medium Confidence = "medium"
	Low    Confidence = "low"
)

// Label is a name for an address.
type Label struct {
	Address    felt.Felt  `yaml:"address"`
	Name       string     `yaml:"name"`
	Protocol   string     `yaml:"protocol"` // empty: none
	Kind       string     `yaml:"kind"`     // of the protocol, such as dex or bridge; empty: not known
	Source     string     `yaml:"source"`   // who says so
	Confidence Confidence `yaml:"confidence"`
}

// ClassName is the official name of a class.
type ClassName struct {
	Hash felt.Felt `yaml:"hash"`
	Name string    `yaml:"name"`
	// Account is the family of accounts that contracts of the class are, such as
	// argent; empty when they are none, or whatever stands behind a proxy.
	Account string `yaml:"account"`
}

// Entries is what a chain's registry is made of, and one chain's part of an
// operator's file.
type Entries struct {
	Tokens  []Token     `yaml:"tokens"`
	Dexes   []Dex       `yaml:"dexes"`
	Bridges []Bridge    `yaml:"bridges"`
	Labels  []Label     `yaml:"labels"`
	Classes []ClassName `yaml:"classes"`
	// PrivacyPools are whole pools, or classes for pools that are known already.
	PrivacyPools []PrivacyPool `yaml:"privacyPools"`
}

// Chain is the registry of one chain. The zero value and nil are empty.
type Chain struct {
	tokens  map[felt.Felt]Token
	looks   map[string]Token // what symbols and names of tokens look like
	dexes   []Dex
	bridges []Bridge
	labels  map[felt.Felt]Label
	classes map[felt.Felt]ClassName

	privacyPools []PrivacyPool // by address
}

// Token returns what is known of a token.
func (c *Chain) Token(address felt.Felt) (Token, bool) {
	if c == nil {
		return Token{}, false
	}
	t, ok := c.tokens[address]
	return t, ok
}

// Tokens lists the known tokens by address.
func (c *Chain) Tokens() []Token {
	if c == nil {
		return nil
	}
	out := make([]Token, 0, len(c.tokens))
	for _, t := range c.tokens {
		out = append(out, t)
	}
	arrange.By(out, func(a, b Token) int { return a.Address.Cmp(b.Address) })
	return out
}

// Dexes lists the exchanges by contract and event. The caller must not change them.
func (c *Chain) Dexes() []Dex {
	if c == nil {
		return nil
	}
	return c.dexes
}

// Bridges lists the bridges by their contract on this layer. The caller must
// not change them.
func (c *Chain) Bridges() []Bridge {
	if c == nil {
		return nil
	}
	return c.bridges
}

// BridgesAt lists the bridges whose contract on this layer is at an address.
func (c *Chain) BridgesAt(l2 felt.Felt) []Bridge {
	all := c.Bridges()
	lo, found := slices.BinarySearchFunc(all, l2, func(b Bridge, a felt.Felt) int { return b.L2.Cmp(a) })
	if !found {
		return nil
	}
	hi := lo
	for hi < len(all) && all[hi].L2 == l2 {
		hi++
	}
	return all[lo:hi:hi]
}

// Label returns the name of an address.
func (c *Chain) Label(address felt.Felt) (Label, bool) {
	if c == nil {
		return Label{}, false
	}
	l, ok := c.labels[address]
	return l, ok
}

// ClassName returns the official name of a class.
func (c *Chain) ClassName(hash felt.Felt) (string, bool) {
	if c == nil {
		return "", false
	}
	n, ok := c.classes[hash]
	return n.Name, ok
}

// AccountKind returns the family of accounts that contracts of a class are.
func (c *Chain) AccountKind(hash felt.Felt) (string, bool) {
	if c == nil {
		return "", false
	}
	n := c.classes[hash]
	return n.Account, n.Account != ""
}
