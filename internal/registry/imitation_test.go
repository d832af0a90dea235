package registry_test

import (
	"strings"
	"testing"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/registry"
)

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
