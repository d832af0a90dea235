package class_test

import (
	"testing"

	"chainexplorer/internal/explorer/class"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
)

func TestPowers(t *testing.T) {
	doors := func(names ...string) (out starknet.EntryPoints) {
		for _, n := range names {
			out.External = append(out.External, starknet.EntryPoint{Selector: felt.Selector(n)})
		}
		return out
	}
	program := func(names ...string) (out []felt.Felt) {
		out = append(out, felt.FromUint64(1), felt.FromUint64(7))
		for _, n := range names {
			out = append(out, felt.MustShortString(n))
		}
		return out
	}
	for name, tt := range map[string]struct {
		class starknet.Class
		want  class.Powers
	}{
		"plain":       {starknet.Class{Sierra: &starknet.SierraClass{Program: program("storage_read_syscall"), EntryPoints: doors("transfer", "decimals"), ABI: "[]"}}, 0},
		"token":       {starknet.Class{Sierra: &starknet.SierraClass{EntryPoints: doors("mint", "upgrade", "owner", "pause"), ABI: "[]"}}, class.Mints | class.Upgrades | class.Owned | class.Pauses},
		"camel":       {starknet.Class{Sierra: &starknet.SierraClass{EntryPoints: doors("permissionedMint", "isBlacklisted", "hasRole"), ABI: "[]"}}, class.Mints | class.Blocks | class.Roles},
		"replaces":    {starknet.Class{Sierra: &starknet.SierraClass{Program: program("replace_class_syscall", "library_call_syscall"), ABI: "[]"}}, class.Replaces | class.Delegates},
		"cairo 0":     {starknet.Class{Cairo0: &starknet.Cairo0Class{EntryPoints: doors("freeze", "setImplementation")}}, class.Freezes | class.Upgrades},
		"no abi":      {starknet.Class{Cairo0: &starknet.Cairo0Class{EntryPoints: doors("mint")}}, class.Mints},
		"unparsable":  {starknet.Class{Sierra: &starknet.SierraClass{EntryPoints: doors("mint"), ABI: "{"}}, class.Mints},
		"other doors": {starknet.Class{Sierra: &starknet.SierraClass{EntryPoints: doors("minter", "paused"), ABI: "[]"}}, 0},
	} {
		a := class.Materialize(&tt.class)
		back, err := class.DecodeABI(a.Encode())
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !a.PowersKnown || a.Powers != tt.want || back.Powers != tt.want || !back.PowersKnown {
			t.Errorf("%s: %b, stored %b, want %b", name, a.Powers, back.Powers, tt.want)
		}
	}
	// A row of before powers were kept does not claim that there are none.
	old := &class.ABI{Status: class.NoABI, Kind: class.Cairo0}
	if back, err := class.DecodeABI(old.Encode()); err != nil || back.PowersKnown {
		t.Errorf("an old row: %+v %v", back, err)
	}
}
