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
