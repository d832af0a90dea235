package starknet

// The hash of a Sierra class.

import (
	"fmt"

	"chainexplorer/internal/felt"
)

// Hash is the class hash: it covers the program, the entry points in their
// order and the ABI's exact bytes.
func (c *SierraClass) Hash() (felt.Felt, error) {
	version, err := felt.FromShortString("CONTRACT_CLASS_V" + c.ContractClassVersion)
	if err != nil {
		return felt.Felt{}, fmt.Errorf("contract class version %q: %w", c.ContractClassVersion, err)
	}
	var inner, outer poseidon
	outer.add(&version)
	for _, list := range [][]EntryPoint{c.EntryPoints.External, c.EntryPoints.L1Handler, c.EntryPoints.Constructor} {
		for i := range list {
			inner.add(&list[i].Selector)
			inner.addUint64(list[i].Index)
		}
		e := inner.sum()
		outer.addElement(&e)
	}
	abi := felt.Keccak([]byte(c.ABI))
	outer.add(&abi)
	program := inner.array(c.Program)
	outer.addElement(&program)
	return outer.sumFelt(), nil
}
