package registry

import (
	"slices"

	"chainexplorer/internal/felt"
)

// The contracts of the main network that more than one entry speaks of.
const (
	mainUSDCe  = "0x053c91253bc9682c04929ca02ed00b3e423f6710d2ee7e0d5ebb06f3ecf368a8"
	mainUSDT   = "0x068f5c6a61780768455de69077e07e89787839bf8166decfbf92b645209c0fb8"
	mainWBTC   = "0x03fe2b97c1fd336e750087d68b9b867997fd64a2661ff3ca5a7c771641e8e7ac"
	mainWstETH = "0x042b8f0484674ca266ac5d08e4ac6a3fe65bd3129795def2dca5c34ecc5f96d2"
	mainDAI    = "0x05574eb6b8789a91466f902c380d978e472db68170ff82a5b650b95a58ddf4ad"
	mainDAIv0  = "0x00da114221cb83fa859dbdb4c44beeaa0bb37c7537ad5ae66fe5e0efd20e6eb3"
	strkBridge = "0x0594c1582459ea03f77deaf9eb7e3917d6994a03c13405ba42867f83d85f085d"
)

func builtinMain() Entries {
	bridges := []Bridge{
		bridge("StarkGate", "0xF5b6Ee2CAEb6769659f6C091D209DfdCaF3F69Eb", "0x0616757a151c21f9be8775098d591c2807316d992bbc3bb1a5c1821630589256", ""),
		bridge("StarkGate ETH bridge", "0xae0Ee0A63A2cE6BaeEFFE56e7714FB4EFE48D419", "0x073314940630fd6dcda0d772d4c972c4e0a9946bef9dabf4ef84eda8ef542b82", addressETH),
		bridge("StarkGate STRK bridge", "0xcE5485Cfb26914C5dcE00B9BAF0580364daFC7a4", strkBridge, addressSTRK),
		bridge("StarkGate USDC.e bridge", "0xF6080D9fbEEbcd44D89aFfBFd42F098cbFf92816", "0x05cd48fccbfd8aa2773fe22c217e808319ffcc1c5a6a463f7d8fa2da48218196", mainUSDCe),
		bridge("StarkGate USDT bridge", "0xbb3400F107804DFB482565FF1Ec8D8aE66747605", "0x074761a8d48ce002963002becc6d9c3dd8a2a05b1075d55e5967f42296f16bd0", mainUSDT),
		bridge("StarkGate WBTC bridge", "0x283751A21eafBFcD52297820D27C1f1963D9b5b4", "0x07aeec4870975311a7396069033796b61cd66ed49d22a786cba12a8d76717302", mainWBTC),
		bridge("StarkGate DAI bridge", "0xCA14057f85F2662257fd2637FdEc558626bCe554", "0x07754236934aeaf4c29d287b94b5fde8687ba7d59466ea6b80f3f57d6467b7d6", mainDAI),
		bridge("StarkGate DAI v0 bridge", "0x9F96fE0633eE838D0298E8b8980E6716bE81388d", "0x075ac198e734e289a6892baa8dd14b21095f13bf8401900f5349d5569c3f6e60", mainDAIv0),
		bridge("StarkGate wstETH bridge", "0xBf67F59D2988A46FBFF7ed79A621778a3Cd3985B", "0x0088eedbe2fe3918b69ccb411713b7fa72079d4eddf291103ccbe41e78a9615c", mainWstETH),
	}
	dexes := []Dex{
		Ekubo(felt.MustParse("0x00000005dd3d2f4429af886cd1a3b08289dbcea99a294197e9eb43b0e0325b4b")),
		PairFactory("jediswap", "JediSwap", felt.MustParse("0x00dad44c139a476c7a17fc8141e6db680e9abc9f56fe249a105094c44382c2fd")),
		jediV2("0x01aa950c9b974294787de8df8880ecf668840a6ab8fa8290bf2952212b375148"),
		jediV2("0x04ba0de31008f4e3edd42b3c31db8f49490505885d684b78f5aa1572850b3a5a"),
		PairFactory("10kswap", "10KSwap", felt.MustParse("0x01c0a36e26a8f822e0d81f20a5a562b16a8f8a3dfd99801367dd2aea8f1a87a2")),
	}
	labels := []Label{
		label(mainPool, "Privacy pool", "Privacy pool", "privacy"),
		label("0x00ca1702e64c81d9a07b86bd2c540188d92a2c73cf5cc0e508d949015e7e84a7", "Starknet staking", "Starknet staking", "staking"),
		label("0x02e0af29598b407c8716b17f6d2795eca1b471413fa03fb145a5e33722184067", "Ekubo positions", "Ekubo", "dex"),
		label("0x07b696af58c967c1b14c9dde0ace001720635a660a8e90c565ea459345318b30", "Ekubo positions NFT", "Ekubo", "dex"),
		label("0x043e4f09c32d13d43a880e85f69f7de93ceda62d6cf2581a582c6db635548fdc", "Ekubo TWAMM", "Ekubo", "dex"),
		label("0x041fd22b238fa21cfcf5dd45a8548974d8263b3a531a60388411c5e230f97023", "JediSwap router", "JediSwap", "dex"),
		label("0x0359550b990167afd6635fa574f3bdadd83cb51850e1d00061fe693158c23f80", "JediSwap v2 swap router", "JediSwap v2", "dex"),
		label("0x0469b656239972a2501f2f1cd71bf4e844d64b7cae6773aa84c702327c476e5b", "JediSwap v2 positions NFT", "JediSwap v2", "dex"),
		label("0x07a6f98c03379b9513ca84cca1373ff452a7462a3b61598f0af5bb27ad7f76d1", "10KSwap router", "10KSwap", "dex"),
		label("0x010884171baf1914edc28d7afb619b40a4051cfae78a094a55d230f19e944a28", "mySwap", "mySwap", "dex"),
		label("0x01114c7103e12c2b2ecbd3a2472ba9c48ddcbf702b1c242dd570057e26212111", "mySwap CL", "mySwap", "dex"),
		label("0x07c76a71952ce3acd1f953fd2a3fda8564408b821ff367041c89f44526076633", "LORDS bridge", "Realms", "bridge"),
		label("0x07d421b9ca8aa32df259965cda8acb93f7599f69209a41872ae84638b2a20f2a", "CCTP token messenger", "CCTP", "bridge"),
		label("0x02ebb5777b6dd8b26ea11d68fdf1d2c85cd2099335328be845a28c77a8aef183", "CCTP message transmitter", "CCTP", "bridge"),
	}
	third := []Label{ // told by third parties alone
		label("0x04270219d365d6b017231b52e92b3fb5d7c8378b05e9abc97724537a80e93b0f", "AVNU exchange", "AVNU", "dex"),
		label("0x005e470ff654d834983a46b8f29dfa99963d5044b993cb7b9c92243a69dab38f", "Ekubo oracle", "Ekubo", "dex"),
		label("0x02a93ef8c7679a5f9b1fcf7286a6e1cadf2e9192be4bcb5cb2d1b39062697527", "Nostra pools factory", "Nostra", "dex"),
		label("0x000d8d6dfec4d33bfb6895de9f3852143a17c6f92fd2a21da3d6924d34870160", "Vesu singleton", "Vesu", "lending"),
	}
	for i := range third {
		third[i].Confidence = Medium
	}
	return Entries{
		Tokens: append(feeTokens(),
			token("0x0782f0ddca11d9950bc3220e35ac82cf868778edb67a5e58b39838544bc4cd0f", "vSTRK", "Starknet Voting Token", 18, notReviewed),
			token(mainUSDCe, "USDC.e", "Bridged USDC", 6, standardBridged),
			token("0x033068f6539f8e6e6b131e6b2b814e6c34a5224bc66947c47dab9dfee93b35fb", "USDC", "USD Coin", 6, standardNative),
			token(mainUSDT, "USDT", "Tether USD", 6, standardBridged),
			token(mainWBTC, "WBTC", "Wrapped BTC", 8, standardBridged),
			token("0x0787150e306e6eae6e3f79dea881770e8bbff2c1b8eb490f969669ee945b3135", "strkBTC", "strkBTC", 8, notReviewed),
			token(mainWstETH, "wstETH", "Wrapped liquid staked Ether 2.0", 18, standardBridged),
			token("0x0057912720381af14b0e5c87aa4718ed5e527eab60b3801ebf702ab09139e38b", "wstETH", "Wrapped Staked Ether", 18, notReviewed),
			token(mainDAI, "DAI", "Dai Stablecoin", 18, standardBridged),
			token(mainDAIv0, "DAIv0", "Dai Stablecoin (v0)", 18, notReviewed),
			token("0x0124aeb495b947201f5fac96fd1138e326ad86195b98df6dec9009158a533b49", "LORDS", "Lords", 18, notReviewed),
			token("0x04daa17763b286d1e59b97c283c0b8c949994c361e426a28f743c67bdfe9a32f", "tBTC", "tBTC", 18, standardBridged),
			token("0x036834a40984312f7f7de8d31e3f6305b325389eaeea5b1c0664b2fb936461a4", "LBTC", "Lombard Staked BTC", 8, standardBridged),
			token("0x0593e034dda23eea82d2ba9a30960ed42cf4a01502cc2351dc9b9881f9931a68", "SolvBTC", "Solv BTC", 18, notReviewed),
			token("0x075afe6402ad5a5c20dd25e10ec3b3986acaa647b77e4ae24b0cbc9a54a27a87", "EKUBO", "Ekubo Protocol", 18, notReviewed),
			token("0x049210ffc442172463f3177147c1aeaa36c51d152c1b0630f2364c300d4f48ee", "UNI", "Uniswap", 18, standardBridged),
			token("0x0319111a5037cbec2b3e638cc34a3474e2d2608299f3e62866e9cc683208c610", "rETH", "Rocket Pool ETH", 18, standardBridged),
			token("0x070a76fd48ca0ef910631754d77dd822147fe98a569b826ec85e3c33fde586ac", "LUSD", "LUSD Stablecoin", 18, standardBridged),
			token("0x009c6b4fb13dfaa025c1383ed6190af8ed8cbb09d9588a3bb020feb152442406", "FRAX", "Frax", 18, standardBridged),
			token("0x02f5eb9a4f77b6c7c83488418e77329d31eb43219745959948a0fce9580905d9", "AAVE", "Aave Token", 18, standardBridged),
			token("0x060f47b96b525c1014fed595e87e98edc3ce0731627a0670e1804ee1a3ca0ee9", "LINK", "ChainLink Token", 18, standardBridged),
			token("0x00585c32b625999e6e5e78645ff8df7a9001cf5cf3eb6b80ccdd16cb64bd3a34", "ZEND", "zkLend Token", 18, notReviewed),
			token("0x00c530f2c0aa4c16a0806365b0898499fba372e5df7a7172dc6fe9ba777e8007", "NSTR", "Nostra", 18, notReviewed),
		),
		Dexes: dexes, Bridges: bridges, Classes: classNames(), PrivacyPools: mainPrivacyPools(),
		Labels: slices.Concat(deployers(), labels, third, BridgeLabels(bridges), DexLabels(dexes)),
	}
}
