package registry

import (
	"slices"

	"chainexplorer/internal/felt"
)

func builtinSepolia() Entries {
	bridges := []Bridge{
		bridge("StarkGate", "0xF6217de888fD6E6b2CbFBB2370973BE4c36a152D", "0x01fd5ad689cec587e80a3d380b5b47ff082203e118bdd22b77256ffa379b15d9", ""),
		bridge("StarkGate ETH bridge", "0x8453FC6Cd1bCfE8D4dFC069C400B433054d47bDc", "0x04c5772d1914fe6ce891b64eb35bf3522aeae1315647314aac58b01137607f3f", addressETH),
	}
	dexes := []Dex{Ekubo(felt.MustParse("0x0444a09d96389aa7148f1aada508e30b71299ffe650d9c97fdaae38cb9a23384"))}
	return Entries{
		Tokens: append(feeTokens(),
			token("0x035c332b8de00874e702b4831c84b22281fb3246f714475496d74e644f35d492", "vSTRK", "Starknet Voting Token", 18, notReviewed),
			token("0x053b40a647cedfca6ca84f542a0fe36736031905a9639a7f19a3c1e66bfd5080", "USDC.e", "Bridged USDC", 6, standardBridged),
			token("0x0512feac6339ff7889822cb5aa2a86c848e9d392bb0e3e237c008674feed8343", "USDC", "USD Coin", 6, standardNative),
			token("0x02ab8758891e84b968ff11361789070c6b1af2df618d6d2f4a78b0757573c6eb", "USDT", "Tether USD", 6, standardBridged),
			token("0x00452bd5c0512a61df7c7be8cfea5e4f893cb40e126bdc40aee6054db955129e", "WBTC", "Wrapped BTC", 8, standardBridged),
			token("0x030de54c07e57818ae4a1210f2a3018a0b9521b8f8ae5206605684741650ac25", "wstETH", "Wrapped liquid staked Ether 2.0", 18, standardBridged),
			token("0x01fad7c03b2ea7fbef306764e20977f8d4eae6191b3a54e4514cc5fc9d19e569", "EKUBO", "Ekubo Protocol", 18, notReviewed),
		),
		Dexes: dexes, Bridges: bridges, Classes: classNames(), PrivacyPools: sepoliaPrivacyPools(),
		Labels: slices.Concat(deployers(), []Label{
			label(sepoliaPool, "Privacy pool", "Privacy pool", "privacy"),
			label(strkBridge, "StarkGate STRK bridge", "StarkGate", "bridge"),
			label("0x06a2aee84bb0ed5dded4384ddd0e40e9c1372b818668375ab8e3ec08807417e5", "Ekubo positions", "Ekubo", "dex"),
			label("0x04afc78d6fec3b122fc1f60276f074e557749df1a77a93416451be72c435120f", "Ekubo positions NFT", "Ekubo", "dex"),
			label("0x04bdde1e09a4b09a2f95d893d94a967b7717eb85a3f6deca8c080ee01fbc3370", "CCTP token messenger", "CCTP", "bridge"),
			label("0x04db7926c64f1f32a840f3fa95cb551f3801a3600bae87af87807a54dce12fe8", "CCTP message transmitter", "CCTP", "bridge"),
		}, BridgeLabels(bridges), DexLabels(dexes)),
	}
}
