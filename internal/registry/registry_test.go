package registry_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/registry"
)

const good = `
version: 1
chains:
  SN_MAIN:
    tokens:
      - {address: 0x049d36570d4e46f48e99674bd3fcc84644ddd6b96f7c741b1562b82f9e004dc7, symbol: WETH, name: Ours, decimals: 7, census: {reason: we do not like it}}
      - {address: 0xabc, symbol: ABC, name: Alphabet, decimals: 0, census: {qualified: true, reason: read it all}}
    dexes:
      - slug: swap
        name: Swap
        address: 0x5
        event: PoolMade
        kind: pool_contract
        type: stable
        keys: 3
        data: 3
        token0: key.1
        token1: key.2
        pool: data.1
        fee: data.0
        feeUnit: millionths
    bridges:
      - {protocol: Other, name: Other bridge, l2Address: 0x0594c1582459ea03f77deaf9eb7e3917d6994a03c13405ba42867f83d85f085d, l1Address: 0x77}
    labels:
      - {address: 0x9, name: Nine, source: us, confidence: low, protocol: Numbers, kind: game}
    classes:
      - {hash: 0xc1, name: First, account: firsts}
    privacyPools:
      - {address: 0x040337b1af3c663e86e333bab5a4b28da8d4652a15a69beee2b677776ffe812a, classes: [{hash: 0xd1, generation: v2.1}]}
      - {address: 0x40, name: Puddle, from: 7, feeToken: 0xabc, classes: [{hash: 0xd2, generation: v2}]}
`

func TestParse(t *testing.T) {
	r, err := registry.Builtin().Parse([]byte(good))
	if err != nil {
		t.Fatal(err)
	}
	c := r.Chain("SN_MAIN")
	eth := felt.MustParse("0x049d36570d4e46f48e99674bd3fcc84644ddd6b96f7c741b1562b82f9e004dc7")
	if tok, ok := c.Token(eth); !ok || tok.Symbol != "WETH" || tok.Decimals != 7 || tok.Census.Qualified {
		t.Errorf("the file does not replace a built-in token: %+v", tok)
	}
	if tok, _ := registry.Builtin().Chain("SN_MAIN").Token(eth); tok.Symbol != "ETH" || !tok.Census.Qualified {
		t.Errorf("the built-in token changed: %+v", tok)
	}
	if got, want := len(c.Tokens()), len(registry.Builtin().Chain("SN_MAIN").Tokens())+1; got != want {
		t.Errorf("%d tokens, want %d", got, want)
	}
	if l, ok := c.Label(felt.FromUint64(9)); !ok || l.Name != "Nine" || l.Confidence != registry.Low || l.Kind != "game" {
		t.Errorf("label %+v", l)
	}
	if n, ok := c.ClassName(felt.FromUint64(0xc1)); !ok || n != "First" {
		t.Errorf("class %q", n)
	}
	if n, ok := c.AccountKind(felt.FromUint64(0xc1)); !ok || n != "firsts" {
		t.Errorf("accounts of class %q", n)
	}
	strk := felt.MustParse("0x0594c1582459ea03f77deaf9eb7e3917d6994a03c13405ba42867f83d85f085d")
	if got := c.BridgesAt(strk); len(got) != 2 || got[0].Protocol != "Other" || got[1].Token == nil {
		t.Errorf("bridges %+v", got)
	}
	if got := c.BridgesAt(felt.FromUint64(1)); got != nil {
		t.Errorf("bridges at an unknown address: %+v", got)
	}
	if _, ok := r.Chain("SN_NOWHERE").Token(eth); ok || r.Chain("SN_NOWHERE").Tokens() != nil || r.Chain("x").Dexes() != nil {
		t.Error("an unknown chain knows something")
	}
}

func TestDecode(t *testing.T) {
	r, err := registry.Builtin().Parse([]byte(good))
	if err != nil {
		t.Fatal(err)
	}
	dex := func(slug string) *registry.Dex {
		for _, d := range r.Chain("SN_MAIN").Dexes() {
			if d.Slug == slug {
				return &d
			}
		}
		t.Fatalf("no %s", slug)
		return nil
	}
	fs := func(list ...any) (out []felt.Felt) {
		for _, v := range list {
			switch v := v.(type) {
			case int:
				out = append(out, felt.FromUint64(uint64(v)))
			case string:
				if strings.HasPrefix(v, "0x") {
					out = append(out, felt.MustParse(v))
				} else {
					out = append(out, felt.Selector(v))
				}
			}
		}
		return out
	}
	for _, tt := range []struct {
		dex        string
		keys, data []felt.Felt
		ok         bool
		pool       string
		fee        string
		identity   int
	}{
		{"swap", fs("PoolMade", 1, 2), fs(500, 9, 9), true, "0x9", "5", 0},
		{"swap", fs("PoolMade", 1, 2), fs(500, 9), false, "", "", 0},
		{"swap", fs("PoolMade", 1), fs(500, 9, 9), false, "", "", 0},
		{"swap", fs("Else", 1, 2), fs(500, 9, 9), false, "", "", 0},
		{"jediswap", fs("PairCreated"), fs(1, 2, 7, 1), true, "0x7", "", 0},
		{"jediswap-v2", fs("PoolCreated"), fs(1, 2, 3000, 60, 8), true, "0x8", "30", 0},
		{"ekubo", fs("PoolInitialized"), fs(1, 2, "0x20c49ba5e353f80000000000000000", 5, 0, 0, 0, 0, 1), true, "", "5", 5},
		{"ekubo", fs("PoolInitialized"), nil, false, "", "", 0},
		{"ekubo", nil, nil, false, "", "", 0},
	} {
		p, ok := dex(tt.dex).Decode(tt.keys, tt.data)
		if ok != tt.ok {
			t.Errorf("%s %v %v: %t", tt.dex, tt.keys, tt.data, ok)
			continue
		}
		if !ok {
			continue
		}
		pool, fee := "", ""
		if p.Contract != nil {
			pool = p.Contract.String()
		}
		if p.Fee != nil {
			fee = strings.TrimRight(strings.TrimRight(p.Fee.FloatString(3), "0"), ".")
			if fee == "" {
				fee = "0"
			}
		}
		if p.Token0 != felt.FromUint64(1) || p.Token1 != felt.FromUint64(2) || pool != tt.pool || len(p.Identity) != tt.identity {
			t.Errorf("%s: %+v", tt.dex, p)
		}
		if tt.fee == "30" {
			fee = strings.TrimSuffix(p.Fee.FloatString(0), ".")
		}
		if fee != tt.fee {
			t.Errorf("%s: fee %s, want %s", tt.dex, fee, tt.fee)
		}
	}
}

// TestRefused breaks the good file in one place at a time.
func TestRefused(t *testing.T) {
	for _, tt := range []struct{ old, new, want string }{
		{"version: 1", "version: 2", "version is 2"},
		{"version: 1", "", "version is 0"},
		{"SN_MAIN", "SN_GOERLI", "SN_GOERLI"},
		{"tokens:", "token:", "token"},
		{"symbol: ABC", "symbl: ABC", "symbl"},
		{"symbol: ABC", "symbol: ''", "symbol is missing"},
		{"symbol: ABC", `symbol: "A\x07"`, "control"},
		{"0xabc,", "0x" + strings.Repeat("f", 64) + ",", "felt"},
		{"0xabc,", "abc,", "hex"},
		{"0xabc,", "0x049d36570d4e46f48e99674bd3fcc84644ddd6b96f7c741b1562b82f9e004dc7,", "twice"},
		{"decimals: 0", "decimals: 256", "256"},
		{"qualified: true, reason: read it all", "qualified: true", "reason"},
		{"qualified: true, reason", "screening: 20, qualified: true, reason", "20 is none of"},
		{"slug: swap", "slug: Swap!", "slug"},
		{"kind: pool_contract", "kind: pond", "pond"},
		{"type: stable", "type: unstable", "unstable"},
		{"keys: 3", "keys: 2", "key.2 is outside"},
		{"data: 3", "data: 1", "data.1 is outside"},
		{"token0: key.1", "token0: key.0", "key.0 is outside"},
		{"token0: key.1", "token0: key.2", "same place"},
		{"token0: key.1", "token0: value.1", "no place"},
		{"pool: data.1", "", "needs the place of its pool"},
		{"feeUnit: millionths", "feeUnit: percent", "percent"},
		{"feeUnit: millionths", "", "go together"},
		{"feeUnit: millionths", "feeUnit: millionths\n        feeBps: 3", "not both"},
		{"kind: pool_contract", "kind: singleton_pool", "identity"},
		{"l1Address: 0x77", "l1Address: 0x1" + strings.Repeat("0", 40), "20 bytes"},
		{"l1Address: 0x77", "l1Address: 0x0", "missing"},
		{"confidence: low", "confidence: certain", "certain"},
		{"protocol: Numbers, ", "", "protocol"},
		{"source: us, ", "", "source is missing"},
		{"hash: 0xc1, ", "", "hash is missing"},
		{"generation: v2.1", "generation: v3", `"v3" is none of`},
		{"{hash: 0xd1, ", "{", "hash is missing"},
		{"[{hash: 0xd1", "[{hash: 0xd1, generation: v1}, {hash: 0xd1", "twice"},
		{"classes: [{hash: 0xd2, generation: v2}]", "classes: []", "classes are missing"},
		{"name: Puddle, ", "", "can only add classes"},
		{"name: Puddle, from: 7, feeToken: 0xabc", "from: 0", "name is missing, and the pool is not known"},
		{"{address: 0x40, ", "{", "address is missing"},
		{"{address: 0x40, ", "{address: 0x040337b1af3c663e86e333bab5a4b28da8d4652a15a69beee2b677776ffe812a, ", "twice"},
		{"from: 7", "from: -7", "-7"},
		{"{hash: 0xc1", "{hash: 0xc1, name: X}\n      - {hash: 0xc1", "twice"},
	} {
		if !strings.Contains(good, tt.old) {
			t.Fatalf("%q is not in the file", tt.old)
		}
		_, err := registry.Builtin().Parse([]byte(strings.Replace(good, tt.old, tt.new, 1)))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q for %q: %v, want something about %q", tt.new, tt.old, err, tt.want)
		}
	}
	for _, text := range []string{"", "[]", "version: 1\n---\nversion: 1\n", "{"} {
		if _, err := registry.Builtin().Parse([]byte(text)); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
}

func TestLoad(t *testing.T) {
	name := filepath.Join(t.TempDir(), "registry.yaml")
	if _, err := registry.Load(name); err == nil {
		t.Error("a missing file was taken")
	}
	if err := os.WriteFile(name, []byte(good), 0o600); err != nil {
		t.Fatal(err)
	}
	if r, err := registry.Load(name); err != nil || r.Chain("SN_MAIN").Dexes() == nil {
		t.Errorf("%v", err)
	}
	if err := os.WriteFile(name, []byte("version: 1\nchans: {}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := registry.Load(name); err == nil || !strings.Contains(err.Error(), "registry.yaml") || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("the error does not say where: %v", err)
	}
	if r, err := registry.Load(""); err != nil || r != registry.Builtin() {
		t.Errorf("no file: %v", err)
	}
}

// TestBuiltin looks at the facts that the program comes with.
func TestBuiltin(t *testing.T) {
	for id, want := range map[string]struct{ tokens, dexes, bridges int }{"SN_MAIN": {24, 5, 9}, "SN_SEPOLIA": {9, 1, 2}} {
		c := registry.Builtin().Chain(id)
		if len(c.Tokens()) < want.tokens || len(c.Dexes()) != want.dexes || len(c.Bridges()) != want.bridges {
			t.Errorf("%s: %d tokens, %d exchanges, %d bridges", id, len(c.Tokens()), len(c.Dexes()), len(c.Bridges()))
		}
		for _, b := range c.Bridges() {
			if l, ok := c.Label(b.L2); !ok || l.Kind != "bridge" {
				t.Errorf("%s: bridge %s has no label", id, b.Name)
			}
			if b.Token != nil {
				if _, ok := c.Token(*b.Token); !ok {
					t.Errorf("%s: the token of bridge %s is not known", id, b.Name)
				}
			}
		}
	}
}

// TestPrivacyPools: an operator adds a class to a built-in pool by naming the
// class alone, and a pool of his own by naming all of it.
func TestPrivacyPools(t *testing.T) {
	r, err := registry.Builtin().Parse([]byte(good))
	if err != nil {
		t.Fatal(err)
	}
	main := felt.MustParse("0x040337b1af3c663e86e333bab5a4b28da8d4652a15a69beee2b677776ffe812a")
	strk := felt.MustParse("0x04718f5a0fc34cc1af16a1cdee98ffb20c31f5cd61d6ab07201858f4287c938d")
	first := felt.MustParse("0x30b8c540cf04d8ef0f4db2a9098d9cc0e35e83af1cb3325f5a4f40144b4b30b")
	for _, tt := range []struct {
		r       *registry.Registry
		chain   string
		at, all int
		address felt.Felt
		from    uint64
		fee     felt.Felt
		classes int
		known   map[felt.Felt]registry.PoolGeneration
	}{
		{registry.Builtin(), registry.Main, 0, 1, main, 8_978_970, strk, 3, map[felt.Felt]registry.PoolGeneration{first: registry.PoolV1, felt.FromUint64(0xd1): ""}},
		{registry.Builtin(), registry.Sepolia, 0, 1, felt.MustParse("0x0254a6b2997ef52e9f830ce1f543f6b29768295e8d17e2267d672c552cfe0d91"), 8_271_125, strk, 7,
			map[felt.Felt]registry.PoolGeneration{first: registry.PoolV1, felt.MustParse("0x7e2bbd7ccc1e68b2695caef70aeb2a3be6cd017b5d5159278ba08f2d8de33f"): registry.PoolV21}},
		{r, registry.Main, 1, 2, main, 8_978_970, strk, 4, map[felt.Felt]registry.PoolGeneration{first: registry.PoolV1, felt.FromUint64(0xd1): registry.PoolV21}},
		{r, registry.Main, 0, 2, felt.FromUint64(0x40), 7, felt.FromUint64(0xabc), 1, map[felt.Felt]registry.PoolGeneration{felt.FromUint64(0xd2): registry.PoolV2, first: ""}},
	} {
		list := tt.r.Chain(tt.chain).PrivacyPools()
		if len(list) != tt.all {
			t.Fatalf("%s: %d pools, want %d", tt.chain, len(list), tt.all)
		}
		p := list[tt.at]
		if p.Address != tt.address || p.Name == "" || p.From != tt.from || p.FeeToken != tt.fee || len(p.Classes) != tt.classes {
			t.Errorf("%s: %+v", tt.chain, p)
		}
		for hash, want := range tt.known {
			if got, ok := p.Generation(hash); got != want || ok != (want != "") {
				t.Errorf("%s: class %s is %q, want %q", tt.chain, hash, got, want)
			}
		}
	}
	// A class that is given again is replaced, and a pool without a fee token takes STRK.
	again, err := r.With(registry.Main, registry.Entries{PrivacyPools: []registry.PrivacyPool{
		{Address: main, Classes: []registry.PoolClass{{Hash: first, Generation: registry.PoolV2}}},
		{Address: felt.FromUint64(0x41), Name: "Pond", Classes: []registry.PoolClass{{Hash: first, Generation: registry.PoolV1}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	list := again.Chain(registry.Main).PrivacyPools()
	if g, _ := list[2].Generation(first); len(list) != 3 || g != registry.PoolV2 || len(list[2].Classes) != 4 || list[1].FeeToken != strk {
		t.Errorf("%+v", list)
	}
	if g, _ := r.Chain(registry.Main).PrivacyPools()[1].Generation(first); g != registry.PoolV1 {
		t.Error("the registry that was added to changed")
	}
	if (*registry.Chain)(nil).PrivacyPools() != nil {
		t.Error("an empty registry knows a pool")
	}
	many := make([]registry.PrivacyPool, registry.MaxPrivacyPools+1)
	for i := range many {
		many[i] = registry.PrivacyPool{Address: felt.FromUint64(uint64(i + 1)), Name: "P", Classes: []registry.PoolClass{{Hash: first, Generation: registry.PoolV1}}}
	}
	if _, err := registry.New(registry.Entries{PrivacyPools: many}); err == nil || !strings.Contains(err.Error(), "more than 32") {
		t.Errorf("33 pools: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(good))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := registry.Builtin().Parse(text)
		if err != nil {
			return
		}
		for _, d := range r.Chain("SN_MAIN").Dexes() {
			keys, data := make([]felt.Felt, d.Keys), make([]felt.Felt, d.Data)
			keys[0] = felt.Felt(d.Event)
			if _, ok := d.Decode(keys, data); !ok {
				t.Fatalf("%+v does not decode its own layout", d)
			}
		}
	})
}

// TestAccountKinds: an account's class tells its family, a proxy's does not.
func TestAccountKinds(t *testing.T) {
	for _, chain := range []string{registry.Main, registry.Sepolia} {
		c := registry.Builtin().Chain(chain)
		for hash, want := range map[string]string{
			"0x036078334509b514626504edc9fb252328d1a240e4e948bef8d0c08dff45927f": "argent",
			"0x00816dd0297efc55dc1e7559020a3a825e81ef734b558f03c83325d4da7e6253": "braavos",
			"0x061dac032f228abef9c6626f995015233097ae253a7f72d68552db02f2971b8f": "openzeppelin",
			"0x025ec026985a3bf9d0cc1fe17326b245dfdc3ff89b8fde106542a3ea56c5a918": "",
			"0x1234": "",
		} {
			if got, ok := c.AccountKind(felt.MustParse(hash)); got != want || ok != (want != "") {
				t.Errorf("%s: class %s is of %q, want %q", chain, hash, got, want)
			}
		}
	}
}
