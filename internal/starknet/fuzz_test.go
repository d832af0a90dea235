package starknet_test

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"chainexplorer/internal/starknet"
)

// What decodes must print as JSON and decode to itself again.

func FuzzDecodeBlock(f *testing.F) {
	for seed := range uint64(4) {
		f.Add(starknet.AppendBlock(nil, randomBlock(rand.New(rand.NewPCG(seed, 1)), int(seed)), starknet.V010))
	}
	f.Add([]byte(`{"transactions":[{"transaction":{"type":"INVOKE","version":"0x0"},"receipt":null}]}`))
	f.Fuzz(func(t *testing.T, data []byte) { checkBlock(t, data) })
}

// checkBlock reports whether data is accepted.
func checkBlock(t *testing.T, data []byte) bool {
	b, err := starknet.DecodeBlock(data)
	if err != nil {
		return false
	}
	if !json.Valid(data) {
		t.Fatal("accepted what is not JSON")
	}
	wire := starknet.AppendBlock(nil, b, starknet.V010)
	again, err := starknet.DecodeBlock(wire)
	if err != nil || !reflect.DeepEqual(again, b) {
		t.Fatalf("differs after the wire (%v)\n%s", err, wire)
	}
	return true
}

// A few bytes of a good block are overwritten, removed or repeated: closer to
// the truth than what a fuzzer finds in a short time.
func TestDamagedBlocks(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	good := starknet.AppendBlock(nil, randomBlock(r, len(txKinds)), starknet.V010)
	accepted := 0
	rounds := 4000
	if underRace {
		rounds = 400
	}
	for range rounds {
		data := slices.Clone(good)
		for range 1 + r.IntN(3) {
			at, n := r.IntN(len(data)), 1+r.IntN(8)
			end := min(at+n, len(data))
			switch r.IntN(3) {
			case 0:
				const bytes = `{}[]",:\0x19afnul-. e`
				data[at] = bytes[r.IntN(len(bytes))]
			case 1:
				data = slices.Delete(data, at, end)
			case 2:
				data = slices.Insert(data, at, data[at:end]...)
			}
		}
		if checkBlock(t, data) {
			accepted++
		}
	}
	if accepted == 0 || accepted == rounds {
		t.Errorf("%d of %d damaged blocks accepted", accepted, rounds)
	}
}

func FuzzDecodeHeader(f *testing.F) {
	h := sampleBlock().Header
	f.Add(starknet.AppendHeader(nil, &h, starknet.V010))
	f.Fuzz(func(t *testing.T, data []byte) {
		h, err := starknet.DecodeHeader(data)
		if err != nil {
			return
		}
		again, err := starknet.DecodeHeader(starknet.AppendHeader(nil, h, starknet.V010))
		if err != nil || !reflect.DeepEqual(again, h) {
			t.Fatalf("differs after the wire (%v)", err)
		}
	})
}

func FuzzDecodeStateUpdate(f *testing.F) {
	for seed := range uint64(4) {
		f.Add(starknet.AppendStateUpdate(nil, randomUpdate(rand.New(rand.NewPCG(seed, 1))), starknet.V010))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		su, err := starknet.DecodeStateUpdate(data)
		if err != nil {
			return
		}
		if !json.Valid(data) {
			t.Fatal("accepted what is not JSON")
		}
		again, err := starknet.DecodeStateUpdate(starknet.AppendStateUpdate(nil, su, starknet.V010))
		if err != nil || !reflect.DeepEqual(again, su) {
			t.Fatalf("differs after the wire (%v)", err)
		}
		su.Diff.Sort()
		su.Diff.Commitment()
	})
}

func FuzzDecodeClass(f *testing.F) {
	f.Add([]byte(`{"sierra_program":["0x1"],"contract_class_version":"0.1.0","abi":"[]","entry_points_by_type":{"CONSTRUCTOR":[],"EXTERNAL":[{"selector":"0x5","function_idx":3}],"L1_HANDLER":[]}}`))
	f.Add([]byte(`{"program":"H4s=","abi":[{"a": 1}],"entry_points_by_type":{"CONSTRUCTOR":[],"EXTERNAL":[{"selector":"0x5","offset":"0x3"},{"selector":"0x5","offset":3}],"L1_HANDLER":[]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := starknet.DecodeClass(data)
		if err != nil {
			return
		}
		wire := starknet.AppendClass(nil, c)
		again, err := starknet.DecodeClass(wire)
		if err != nil || !reflect.DeepEqual(again, c) {
			t.Fatalf("differs after the wire (%v)\n%s", err, wire)
		}
		if c.Sierra != nil {
			c.Sierra.Hash() //nolint:errcheck // any outcome but a panic
		}
	})
}
