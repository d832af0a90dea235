package starknet

// The hash of a Sierra class.

import (
	"fmt"

	"chainexplorer/internal/felt"
)

// SierraParts are what a class hash is made of. Two classes with the same version and
// parts are the same class.
type SierraParts struct {
	External, L1Handler, Constructor felt.Felt // entry points of each kind, in their order
	ABI                              felt.Felt
	Program                          felt.Felt
}

// Parts returns the hashes that the class hash covers.
func (c *SierraClass) Parts() SierraParts {
	var h poseidon
	points := func(list []EntryPoint) felt.Felt {
		for i := range list {
			h.add(&list[i].Selector)
			h.addUint64(list[i].Index)
		}
		return h.sumFelt()
	}
	program := h.array(c.Program)
	return SierraParts{
		External: points(c.EntryPoints.External), L1Handler: points(c.EntryPoints.L1Handler), Constructor: points(c.EntryPoints.Constructor),
		ABI: felt.Keccak([]byte(c.ABI)), Program: fromElement(&program),
	}
}

// Hash is the class hash: it covers the program, the entry points in their
// order and the ABI's exact bytes.
func (c *SierraClass) Hash() (felt.Felt, error) {
	version, err := felt.FromShortString("CONTRACT_CLASS_V" + c.ContractClassVersion)
	if err != nil {
		return felt.Felt{}, fmt.Errorf("contract class version %q: %w", c.ContractClassVersion, err)
	}
	p := c.Parts()
	var h poseidon
	h.addAll([]felt.Felt{version, p.External, p.L1Handler, p.Constructor, p.ABI, p.Program})
	return h.sumFelt(), nil
}
