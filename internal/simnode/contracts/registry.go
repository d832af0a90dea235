package contracts

import "chainexplorer/internal/registry"

// Registry is what an explorer of a simulated network should know beyond the
// built-in facts: the contracts that have no well-known address on the network
// that it plays, and those that stand elsewhere.
func (n Network) Registry() registry.Entries {
	const reason = "played in Go: a balance changes with a Transfer event and in no other way"
	qualified := registry.Census{Qualified: true, Reason: reason}
	strk := STRK
	eth := ETH
	bridges := []registry.Bridge{
		{Protocol: "StarkGate", Name: "StarkGate", L2: n.MultiBridge, L1: n.L1MultiBridge},
		{Protocol: "StarkGate", Name: "StarkGate ETH bridge", L2: n.ETHBridge, L1: n.L1ETHBridge, Token: &eth},
		{Protocol: "StarkGate", Name: "StarkGate STRK bridge", L2: STRKBridge, L1: n.L1STRKBridge, Token: &strk},
	}
	dexes := []registry.Dex{registry.Ekubo(n.EkuboCore), registry.PairFactory("jediswap", "JediSwap", n.PairFactory)}
	const source = "simulation"
	labels := append(registry.BridgeLabels(bridges), registry.DexLabels(dexes)...)
	return registry.Entries{
		Tokens: []registry.Token{
			{Address: ETH, Symbol: "ETH", Name: "Ether", Decimals: 18, Census: qualified},
			{Address: STRK, Symbol: "STRK", Name: "Starknet Token", Decimals: 18, Census: qualified},
			{Address: n.USDC, Symbol: "USDC", Name: "USD Coin", Decimals: 6, Census: qualified},
			{Address: n.USDT, Symbol: "USDT", Name: "Tether USD", Decimals: 6, Census: qualified},
			{Address: n.WBTC, Symbol: "WBTC", Name: "Wrapped BTC", Decimals: 8, Census: qualified},
			{Address: n.DAI, Symbol: "DAI", Name: "Dai Stablecoin", Decimals: 18, Census: qualified},
		},
		Dexes: dexes, Bridges: bridges,
		PrivacyPools: []registry.PrivacyPool{{Address: n.Pool, Name: "Privacy pool", FeeToken: STRK, Classes: []registry.PoolClass{
			{Hash: Classes().PoolV1.Hash, Generation: registry.PoolV1},
			{Hash: Classes().PoolV2.Hash, Generation: registry.PoolV2},
			{Hash: Classes().PoolV21.Hash, Generation: registry.PoolV21},
		}}},
		Classes: []registry.ClassName{
			{Hash: Classes().Account.Hash, Name: "OpenZeppelin account", Account: "openzeppelin"},
			{Hash: Classes().AccountNext.Hash, Name: "OpenZeppelin account (next)", Account: "openzeppelin"},
			{Hash: Classes().Proxy.Hash, Name: "Token proxy"},
			{Hash: Classes().UDC.Hash, Name: "Universal Deployer"},
		},
		Labels: append(labels,
			registry.Label{Address: n.Pool, Name: "Privacy pool", Protocol: "Privacy pool", Kind: "privacy", Source: source},
			registry.Label{Address: n.PairRouter, Name: "JediSwap router", Protocol: "JediSwap", Kind: "dex", Source: source},
			registry.Label{Address: n.EkuboNFT, Name: "Ekubo positions NFT", Protocol: "Ekubo", Kind: "dex", Source: source}),
	}
}
