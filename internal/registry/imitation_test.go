package registry_test

import (
	"strings"
	"testing"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/registry"
)

// TestResembles: a symbol that a person takes for a known one is told apart, however it
// is spelled; the known token itself and what looks otherwise are not.
func TestResembles(t *testing.T) {
	known, err := registry.New(registry.Entries{Tokens: []registry.Token{
		{Address: felt.FromUint64(1), Symbol: "USDC", Name: "USD Coin", Decimals: 6},
		{Address: felt.FromUint64(2), Symbol: "STRK", Name: "Starknet Token", Decimals: 18},
		{Address: felt.FromUint64(3), Symbol: "ETH", Name: "Ether", Decimals: 18},
		{Address: felt.FromUint64(4), Symbol: "LORDS", Name: "Lords", Decimals: 18},
		{Address: felt.FromUint64(5), Symbol: "wstETH", Name: "Wrapped liquid staked Ether", Decimals: 18},
	}})
	if err != nil {
		t.Fatal(err)
	}
	stranger := felt.FromUint64(99)
	for text, like := range map[string]string{
		"USDC": "USDC", "usdc": "USDC", " USDC ": "USDC", "U S D C": "USDC", "USDC.": "USDC", "U.S.D.C": "USDC",
		"UЅDC": "USDC", "USDС": "USDC", "USD\u200bC": "USDC", "\u202eUSDC\u202c": "USDC", "USD\u0301C": "USDC", "ＵＳＤＣ": "USDC", "𝐔𝐒𝐃𝐂": "USDC", "U$DC": "USDC", "U5DC": "USDC", "ŪŚĎĈ": "USDC",
		"USD\u3164C": "USDC", "USD\u2800C": "USDC", "USD\u00adC": "USDC", "USD\x00C": "USDC", "USD\xffC": "USDC",
		"ΕΤΗ": "ETH", "ЕТН": "ETH", "Εther": "ETH", "3TH": "ETH", "ETH\u200b": "ETH", "EТH": "ETH",
		"STRΚ": "STRK", "ЅТRК": "STRK", "Starknet Tоken": "STRK", "Starknet_Token": "STRK", "5TRK": "STRK",
		"L0RDS": "LORDS", "IORDS": "LORDS", "1ords": "LORDS", "|ORDS": "LORDS", "LОRDЅ": "LORDS",
		"vvstETH": "wstETH", "ԝstETH": "wstETH",
	} {
		if got, ok := known.Resembles(stranger, text); !ok || got.Symbol != like {
			t.Errorf("%q is taken for %q, %t; want %s", text, got.Symbol, ok, like)
		}
	}
	for _, text := range []string{"", " ", "...", "\u200b", "USDT", "USDCC", "SDCU", "DAI", "Ethereum", "ST", "猫", "USDC.e", strings.Repeat("USDC", 10_000), "\xff\xfe"} {
		if got, ok := known.Resembles(stranger, text); ok {
			t.Errorf("%.20q is taken for %s", text, got.Symbol)
		}
	}
	for i := range uint64(5) {
		if got, ok := known.Resembles(felt.FromUint64(i+1), "USDC"); ok {
			t.Errorf("the known token %d is taken for %s", i+1, got.Symbol)
		}
	}
	var none *registry.Chain
	if _, ok := none.Resembles(stranger, "USDC"); ok {
		t.Error("without a registry there is nothing to resemble")
	}
}

// FuzzLikeness: folding what is folded changes nothing, and letters alone are left.
func FuzzLikeness(f *testing.F) {
	for _, s := range []string{"USDC", "ΕΤΗ", "vvv", "rrnn", "ccll", "\u202e\xff", "ﬀ", "İ"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		like := registry.Likeness(s)
		if strings.ContainsAny(like, " \u200b\u202e<>&\x00") {
			t.Errorf("%q is folded to %q", s, like)
		}
		if spaced := registry.Likeness(" \u200b" + strings.ToValidUTF8(s, "") + "\u202e "); len(s) < 300 && spaced != registry.Likeness(strings.ToValidUTF8(s, "")) {
			t.Errorf("%q is folded to %q, and with what is not seen around it to %q", s, like, spaced)
		}
	})
}

// TestImitated: names that look like those of known tokens are told, whatever they are
// made of, and others are not.
func TestImitated(t *testing.T) {
	c, err := registry.New(registry.Entries{Tokens: []registry.Token{
		{Address: felt.FromUint64(1), Symbol: "USDC", Name: "USD Coin", Decimals: 6}, {Address: felt.FromUint64(2), Symbol: "STRK", Name: "Starknet Token", Decimals: 18},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"USDC", "usdc", " USDC ", "U\u200bSDC", "\u202eUSDC", "UЅDС", "ＵＳＤＣ", "U5DC", "USD Coin", "USDCoin", "STRΚ", "ЅТRК"} {
		if !c.Imitated(name) {
			t.Errorf("%q is not told", name)
		}
	}
	for _, name := range []string{"", "   ", "USDCX", "USD", "DAI", "\u200b", strings.Repeat("USDC", 1000)} {
		if c.Imitated(name) {
			t.Errorf("%q is told", name)
		}
	}
	if (*registry.Chain)(nil).Imitated("USDC") {
		t.Error("no registry tells of an imitation")
	}
}
