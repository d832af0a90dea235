package contracts_test

import (
	"testing"

	"chainexplorer/internal/registry"
	"chainexplorer/internal/simnode/contracts"
)

// TestRegistry joins the simulated networks with the built-in facts.
func TestRegistry(t *testing.T) {
	for id, n := range map[string]contracts.Network{registry.Main: contracts.Main, registry.Sepolia: contracts.Sepolia} {
		r, err := registry.Builtin().With(id, n.Registry())
		if err != nil {
			t.Fatal(err)
		}
		c := r.Chain(id)
		if tok, ok := c.Token(n.DAI); !ok || !tok.Census.Qualified {
			t.Errorf("%s: %+v", id, tok)
		}
		if got := c.BridgesAt(contracts.STRKBridge); len(got) != 1 {
			t.Errorf("%s: %+v", id, got)
		}
		if got := c.PrivacyPools(); len(got) != 1 || got[0].Address != n.Pool || got[0].From != 0 || len(got[0].Classes) != 3 {
			t.Errorf("%s: %+v", id, got)
		}
		if l, ok := c.Label(n.PairFactory); !ok || l.Protocol != "JediSwap" {
			t.Errorf("%s: %+v", id, l)
		}
	}
}
