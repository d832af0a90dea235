package registry

import "chainexplorer/internal/felt"

const (
	mainPool    = "0x040337b1af3c663e86e333bab5a4b28da8d4652a15a69beee2b677776ffe812a"
	sepoliaPool = "0x0254a6b2997ef52e9f830ce1f543f6b29768295e8d17e2267d672c552cfe0d91"
)

func poolClass(hash string, g PoolGeneration) PoolClass { return PoolClass{felt.MustParse(hash), g} }

func privacyPool(address string, from uint64, classes ...PoolClass) []PrivacyPool {
	return []PrivacyPool{{Address: felt.MustParse(address), Name: "STRK20 privacy pool", From: from, Classes: classes, FeeToken: felt.MustParse(addressSTRK)}}
}

// mainPrivacyPools: the classes in the order in which the pool got them.
func mainPrivacyPools() []PrivacyPool {
	return privacyPool(mainPool, 8_978_970,
		poolClass("0x30b8c540cf04d8ef0f4db2a9098d9cc0e35e83af1cb3325f5a4f40144b4b30b", PoolV1),
		poolClass("0x67dddd89d80fedadc06b6f160798f94800a4a70164e5a24301cd0d6076b554d", PoolV2),
		poolClass("0x6d163f2b27df0f53c5b0d019366261ba8034af1bef949dee920a60fe58bcf83", PoolV21))
}

// sepoliaPrivacyPools: the pool had more classes there. The first is older than the
// first of the main network and lays its events out like it; the third has the
// screening of v2 and never says which contracts it calls.
func sepoliaPrivacyPools() []PrivacyPool {
	return privacyPool(sepoliaPool, 8_271_125,
		poolClass("0x715b22abfb60815623f4127ba64bd2f93613d8a5c1e519841eaab444659d2af", PoolV1),
		poolClass("0x30b8c540cf04d8ef0f4db2a9098d9cc0e35e83af1cb3325f5a4f40144b4b30b", PoolV1),
		poolClass("0x1a78d2daee64d1da6e7903b32676c92fcc301d4c03f688cd64e731f46033d18", PoolV2),
		poolClass("0x67dddd89d80fedadc06b6f160798f94800a4a70164e5a24301cd0d6076b554d", PoolV2),
		poolClass("0x56ab118a8a6e38efc93ad758cefe909fee421fa931ce3cf72df624d345623b2", PoolV2),
		poolClass("0x7e2bbd7ccc1e68b2695caef70aeb2a3be6cd017b5d5159278ba08f2d8de33f", PoolV21),
		poolClass("0x6d163f2b27df0f53c5b0d019366261ba8034af1bef949dee920a60fe58bcf83", PoolV21))
}
