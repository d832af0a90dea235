package registry

import (
	"sync"

	"chainexplorer/internal/felt"
)

// Builtin returns the facts that the program comes with.
var Builtin = sync.OnceValue(func() *Registry {
	var r *Registry
	for _, c := range []struct {
		id      string
		entries Entries
	}{{Main, builtinMain()}, {Sepolia, builtinSepolia()}} {
		next, err := r.With(c.id, c.entries)
		if err != nil {
			panic("registry: built-in facts: " + err.Error()) // a test makes them
		}
		r = next
	}
	return r
})

// Why a built-in token's holders can be counted, or not.
var (
	standardBridged = Census{Qualified: true, Reason: "issued by StarkGate's token contract, which announces every change of a balance"}
	standardNative  = Census{Qualified: true, Reason: "standard ERC-20 of its issuer, which announces every change of a balance"}
	notReviewed     = Census{Reason: "nobody has looked at the contract yet"}
)

func token(address, symbol, name string, decimals uint8, c Census) Token {
	return Token{felt.MustParse(address), symbol, name, decimals, c}
}

const (
	addressETH  = "0x049d36570d4e46f48e99674bd3fcc84644ddd6b96f7c741b1562b82f9e004dc7"
	addressSTRK = "0x04718f5a0fc34cc1af16a1cdee98ffb20c31f5cd61d6ab07201858f4287c938d"
)

// feeTokens are the same on every public network.
func feeTokens() []Token {
	return []Token{
		token(addressETH, "ETH", "Ether", 18, standardBridged),
		token(addressSTRK, "STRK", "Starknet Token", 18, standardBridged),
	}
}

func bridge(name, l1, l2, token string) Bridge {
	b := Bridge{Protocol: "StarkGate", Name: name, L1: felt.MustParse(l1), L2: felt.MustParse(l2)}
	if token != "" {
		t := felt.MustParse(token)
		b.Token = &t
	}
	return b
}

func data(n int) Place        { return Place{Index: n} }
func dataAt(n int) *Place     { p := data(n); return &p }
func event(n string) Selector { return Selector(felt.Selector(n)) }

// Ekubo is the core contract of Ekubo at an address: all pools in one contract,
// told apart by tokens, fee, tick spacing and extension.
func Ekubo(address felt.Felt) Dex {
	return Dex{Slug: "ekubo", Name: "Ekubo", Address: address, Event: event("PoolInitialized"), Kind: SingletonPool, Type: Concentrated,
		Keys: 1, Data: 9, Token0: data(0), Token1: data(1), Identity: []Place{data(0), data(1), data(2), data(3), data(4)},
		Fee: dataAt(2), FeeUnit: FeeFraction}
}

// PairFactory is a factory of pairs in the manner of Uniswap's second version.
func PairFactory(slug, name string, address felt.Felt) Dex {
	return Dex{Slug: slug, Name: name, Address: address, Event: event("PairCreated"), Kind: PoolContract, Type: ConstantProduct,
		Keys: 1, Data: 4, Token0: data(0), Token1: data(1), Pool: dataAt(2)}
}

// jediV2 is a factory of concentrated pools in the manner of Uniswap's third version.
func jediV2(address string) Dex {
	return Dex{Slug: "jediswap-v2", Name: "JediSwap v2", Address: felt.MustParse(address), Event: event("PoolCreated"), Kind: PoolContract, Type: Concentrated,
		Keys: 1, Data: 5, Token0: data(0), Token1: data(1), Pool: dataAt(4), Fee: dataAt(2), FeeUnit: FeeMillionths}
}

const curated = "curated with the program"

func label(address, name, protocol, kind string) Label {
	return Label{felt.MustParse(address), name, protocol, kind, curated, High}
}

// deployers are the same on every public network.
func deployers() []Label {
	return []Label{
		label("0x041a78e741e5af2fec34b695679bc6891742439f7afb8484ecd7766661ad02bf", "Universal Deployer (legacy)", "Universal Deployer", "deployer"),
		label("0x04a64cd09a853868621d94cae9952b106f2c36a3f81260f85de6696c6b050221", "Universal Deployer (version 1)", "Universal Deployer", "deployer"),
		label("0x02ceed65a4bd731034c01113685c831b01c15d7d432f71afb1cf1634b53a2125", "Universal Deployer", "Universal Deployer", "deployer"),
		label("0x1176a1bd84444c89232ec27754698e5d2e7e1a7f1539f12027f28b23ec9f3d8", "Sequencer", "", ""),
	}
}

// The families of accounts.
const (
	openZeppelin = "openzeppelin"
	argent       = "argent"
	braavos      = "braavos"
)

// classNames are the same on every network: a class is its hash. The proxies of old
// accounts name no family, because anything may stand behind one.
func classNames() []ClassName {
	class := func(hash, name, account string) ClassName { return ClassName{felt.MustParse(hash), name, account} }
	return []ClassName{
		class("0x540d7f5ec7ecf317e68d48564934cb99259781b1ee3cedbbc37ec5337f8e688", "OpenZeppelin account 0.17.0", openZeppelin),
		class("0x05b4b537eaa2399e3aa99c4e2e0208ebd6c71bc1467938cd52c798c601e43564", "OpenZeppelin account 1.0.0", openZeppelin),
		class("0x061dac032f228abef9c6626f995015233097ae253a7f72d68552db02f2971b8f", "OpenZeppelin account 0.8.1", openZeppelin),
		class("0x4d07e40e93398ed3c76981e72dd1fd22557a78ce36c0515f679e27f0bb5bc5f", "OpenZeppelin account 0.5.1", openZeppelin),
		class("0x036078334509b514626504edc9fb252328d1a240e4e948bef8d0c08dff45927f", "Argent account 0.4.0", argent),
		class("0x029927c8af6bccf3f6fda035981e765a7bdbf18a2dc0d630494f8758aa908e2b", "Argent account 0.3.1", argent),
		class("0x01a736d6ed154502257f02b1ccdf4d9d1089f80811cd6acad48e6b6a9d1f2003", "Argent account 0.3.0", argent),
		class("0x025ec026985a3bf9d0cc1fe17326b245dfdc3ff89b8fde106542a3ea56c5a918", "Argent account proxy", ""),
		class("0x00816dd0297efc55dc1e7559020a3a825e81ef734b558f03c83325d4da7e6253", "Braavos account 1.0.0", braavos),
		class("0x013bfe114fb1cf405bfc3a7f8dbe2d91db146c17521d40dcf57e16d6b59fa8e6", "Braavos base account", braavos),
		class("0x03131fa018d520a037686ce3efddeab8f28895662f019ca3ca18a626650f7d1e", "Braavos account proxy", ""),
		class("0x7b3e05f48f0c69e4a65ce5e076a66271a527aff2c34ce1083ec6e1526997a69", "Universal Deployer (legacy)", ""),
	}
}

// BridgeLabels names the contracts of bridges.
func BridgeLabels(bridges []Bridge) (out []Label) {
	for _, b := range bridges {
		out = append(out, Label{b.L2, b.Name, b.Protocol, "bridge", curated, High})
	}
	return out
}

// DexLabels names the contracts of exchanges.
func DexLabels(dexes []Dex) (out []Label) {
	for _, d := range dexes {
		what := " factory"
		if d.Kind == SingletonPool {
			what = " core"
		}
		out = append(out, Label{d.Address, d.Name + what, d.Name, "dex", curated, High})
	}
	return out
}
