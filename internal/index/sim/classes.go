package sim

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"fmt"
	"sync"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/index"
	"chainexplorer/internal/starknet"
)

// simClass is a class as the node serves it.
type simClass struct {
	hash felt.Felt
	kind string
	raw  []byte
}

// simClasses are all classes of the chains made here: most are useful, some
// have an ABI that cannot be read, or none.
var simClasses = sync.OnceValue(func() (out []simClass) {
	for i := range 14 {
		abi := fmt.Sprintf(`[{"type":"event","name":"m::E%[1]d","kind":"struct","members":[{"name":"v%[1]d","type":"core::felt252","kind":"data"}]},
			{"type":"event","name":"m::Event","kind":"enum","variants":[{"name":"E%[1]d","type":"m::E%[1]d","kind":"nested"}]}]`, i)
		switch i {
		case 11:
			abi = "not an abi"
		case 12:
			abi = ""
		}
		c := &starknet.SierraClass{ContractClassVersion: "0.1.0", Program: []felt.Felt{felt.FromUint64(uint64(i))}, ABI: abi}
		hash, err := c.Hash()
		if err != nil {
			panic(fmt.Sprintf("hash of a simulated class: %v", err))
		}
		out = append(out, simClass{hash, "sierra", starknet.AppendClass(nil, &starknet.Class{Sierra: c})})
	}
	for i := range 4 {
		c := &starknet.Cairo0Class{Program: packed(fmt.Sprintf(`{"builtins":[],"data":["%#x"]}`, i+1)), ABI: []byte(`[{"type":"event","name":"Old","keys":[],"data":[{"name":"v","type":"felt"}]}]`)}
		if i == 3 {
			c.ABI = nil
		}
		hash, err := c.Hash()
		if err != nil {
			panic(fmt.Sprintf("hash of a simulated class: %v", err))
		}
		out = append(out, simClass{hash, "cairo0", starknet.AppendClass(nil, &starknet.Class{Cairo0: c})})
	}
	return out
})

// packed is a program as nodes serve it.
func packed(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write([]byte(text)) //nolint:errcheck // a buffer never fails
	w.Close()             //nolint:errcheck
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

// Class serves a class, unless a fault strikes.
func (w *World) Class(ctx context.Context, number uint64, hash felt.Felt) ([]byte, string, error) {
	unlock, err := w.ask(ctx)
	if err != nil {
		return nil, "", err
	}
	defer unlock()
	if w.chance(w.faults.Class) {
		w.classFaults++
		switch w.rng.IntN(3) {
		case 0:
			return nil, "", errNode
		case 1:
			return nil, "", fmt.Errorf("class %s: %w", hash, index.ErrNotFound)
		}
		return []byte(`{"sierra_program":["0x1"],"abi":`), "sim", nil
	}
	if number >= uint64(w.length()) {
		return nil, "", fmt.Errorf("block %d: %w", number, index.ErrNotFound)
	}
	for _, c := range simClasses() {
		if c.hash == hash {
			return c.raw, "sim", nil
		}
	}
	return nil, "", fmt.Errorf("class %s: %w", hash, index.ErrNotFound)
}
