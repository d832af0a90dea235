package contracts

import "chainexplorer/internal/felt"

// Addresses that are the same on every public network.
var (
	ETH  = felt.MustParse("0x049d36570d4e46f48e99674bd3fcc84644ddd6b96f7c741b1562b82f9e004dc7")
	STRK = felt.MustParse("0x04718f5a0fc34cc1af16a1cdee98ffb20c31f5cd61d6ab07201858f4287c938d")

	// The three deployers. Their event is the same; the meaning of its third
	// field is turned round on the second one.
	LegacyUDC  = felt.MustParse("0x041a78e741e5af2fec34b695679bc6891742439f7afb8484ecd7766661ad02bf")
	MiddleUDC  = felt.MustParse("0x04a64cd09a853868621d94cae9952b106f2c36a3f81260f85de6696c6b050221")
	CurrentUDC = felt.MustParse("0x02ceed65a4bd731034c01113685c831b01c15d7d432f71afb1cf1634b53a2125")

	STRKBridge = felt.MustParse("0x0594c1582459ea03f77deaf9eb7e3917d6994a03c13405ba42867f83d85f085d")
	Sequencer  = felt.MustParse("0x1176a1bd84444c89232ec27754698e5d2e7e1a7f1539f12027f28b23ec9f3d8")
)

// Network holds the addresses that differ between the public networks.
type Network struct {
	ChainID felt.Felt

	Pool           felt.Felt // the privacy pool
	PoolAuditorKey felt.Felt
	PoolScreener   felt.Felt

	USDC felt.Felt // bridged, 6 decimals
	USDT felt.Felt
	WBTC felt.Felt // 8 decimals
	DAI  felt.Felt // behind an old proxy

	EkuboCore     felt.Felt
	EkuboNFT      felt.Felt
	PairFactory   felt.Felt
	PairRouter    felt.Felt
	MultiBridge   felt.Felt
	L1MultiBridge felt.Felt
	ETHBridge     felt.Felt
	L1ETHBridge   felt.Felt
	L1STRKBridge  felt.Felt
}

// ChainMain and ChainSepolia are the ids of the two public networks.
var (
	ChainMain    = felt.MustShortString("SN_MAIN")
	ChainSepolia = felt.MustShortString("SN_SEPOLIA")
)

// Main is the main network.
var Main = Network{
	ChainID:        ChainMain,
	Pool:           felt.MustParse("0x040337b1af3c663e86e333bab5a4b28da8d4652a15a69beee2b677776ffe812a"),
	PoolAuditorKey: felt.MustParse("0x1eed60b8d483b3bede62d1cc0f32874aea30747e6943437c858359b41801bf7"),
	PoolScreener:   felt.MustParse("0x501cc452e5a4370e2f0879c9a863b3efc915005817487460b23a8d6ef88fdb2"),
	USDC:           felt.MustParse("0x053c91253bc9682c04929ca02ed00b3e423f6710d2ee7e0d5ebb06f3ecf368a8"),
	USDT:           felt.MustParse("0x068f5c6a61780768455de69077e07e89787839bf8166decfbf92b645209c0fb8"),
	WBTC:           felt.MustParse("0x03fe2b97c1fd336e750087d68b9b867997fd64a2661ff3ca5a7c771641e8e7ac"),
	DAI:            felt.MustParse("0x00da114221cb83fa859dbdb4c44beeaa0bb37c7537ad5ae66fe5e0efd20e6eb3"),
	EkuboCore:      felt.MustParse("0x00000005dd3d2f4429af886cd1a3b08289dbcea99a294197e9eb43b0e0325b4b"),
	EkuboNFT:       felt.MustParse("0x07b696af58c967c1b14c9dde0ace001720635a660a8e90c565ea459345318b30"),
	PairFactory:    felt.MustParse("0x00dad44c139a476c7a17fc8141e6db680e9abc9f56fe249a105094c44382c2fd"),
	PairRouter:     felt.MustParse("0x041fd22b238fa21cfcf5dd45a8548974d8263b3a531a60388411c5e230f97023"),
	MultiBridge:    felt.MustParse("0x0616757a151c21f9be8775098d591c2807316d992bbc3bb1a5c1821630589256"),
	L1MultiBridge:  felt.MustParse("0xF5b6Ee2CAEb6769659f6C091D209DfdCaF3F69Eb"),
	ETHBridge:      felt.MustParse("0x073314940630fd6dcda0d772d4c972c4e0a9946bef9dabf4ef84eda8ef542b82"),
	L1ETHBridge:    felt.MustParse("0xae0Ee0A63A2cE6BaeEFFE56e7714FB4EFE48D419"),
	L1STRKBridge:   felt.MustParse("0xcE5485Cfb26914C5dcE00B9BAF0580364daFC7a4"),
}

// Sepolia is the test network. Contracts that it has no well-known address
// for stand at the address of their main network twin.
var Sepolia = Network{
	ChainID:        ChainSepolia,
	Pool:           felt.MustParse("0x0254a6b2997ef52e9f830ce1f543f6b29768295e8d17e2267d672c552cfe0d91"),
	PoolAuditorKey: felt.MustParse("0x1d17f98be07e99713265714699a5c40ccbf7b50c950fb7a2abd81846fcdfbb2"),
	PoolScreener:   felt.MustParse("0x62f1e7ca586cbc15b558550be96244874c8dd3e4a50369a6858b29c1e51b552"),
	USDC:           felt.MustParse("0x053b40a647cedfca6ca84f542a0fe36736031905a9639a7f19a3c1e66bfd5080"),
	USDT:           felt.MustParse("0x02ab8758891e84b968ff11361789070c6b1af2df618d6d2f4a78b0757573c6eb"),
	WBTC:           felt.MustParse("0x00452bd5c0512a61df7c7be8cfea5e4f893cb40e126bdc40aee6054db955129e"),
	DAI:            Main.DAI,
	EkuboCore:      felt.MustParse("0x0444a09d96389aa7148f1aada508e30b71299ffe650d9c97fdaae38cb9a23384"),
	EkuboNFT:       felt.MustParse("0x04afc78d6fec3b122fc1f60276f074e557749df1a77a93416451be72c435120f"),
	PairFactory:    Main.PairFactory,
	PairRouter:     Main.PairRouter,
	MultiBridge:    felt.MustParse("0x01fd5ad689cec587e80a3d380b5b47ff082203e118bdd22b77256ffa379b15d9"),
	L1MultiBridge:  felt.MustParse("0xF6217de888fD6E6b2CbFBB2370973BE4c36a152D"),
	ETHBridge:      felt.MustParse("0x04c5772d1914fe6ce891b64eb35bf3522aeae1315647314aac58b01137607f3f"),
	L1ETHBridge:    felt.MustParse("0x8453FC6Cd1bCfE8D4dFC069C400B433054d47bDc"),
	L1STRKBridge:   Main.L1STRKBridge,
}

// NetworkOf returns the addresses of a chain; an unknown chain gets the test
// network's, under its own id.
func NetworkOf(chainID felt.Felt) Network {
	if chainID == ChainMain {
		return Main
	}
	n := Sepolia
	n.ChainID = chainID
	return n
}
