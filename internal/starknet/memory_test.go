package starknet_test

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"chainexplorer/internal/starknet"
)

// What is decoded into used memory is what is decoded into fresh memory, whatever was there
// before: larger blocks, smaller ones, and answers that were broken off.
func TestMemoryKeepsNothingOfEarlierBlocks(t *testing.T) {
	var m starknet.Memory
	var before *starknet.Header
	var was starknet.Header
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 8))
		b := randomBlock(r, r.IntN(60))
		data := starknet.AppendBlock(nil, b, starknet.V010)
		if seed%3 == 0 {
			if _, err := m.DecodeBlock(data[:r.IntN(len(data))]); err == nil {
				t.Fatalf("seed %d: half a block is accepted", seed)
			}
		}
		got, err := m.DecodeBlock(data)
		if err != nil || !reflect.DeepEqual(got, b) {
			t.Fatalf("seed %d: block differs (%v)", seed, err)
		}
		if before != nil && !reflect.DeepEqual(*before, was) {
			t.Fatalf("seed %d: the header before changed", seed)
		}
		before, was = &got.Header, got.Header
		for i := range data {
			data[i] = 'x'
		}
		if !reflect.DeepEqual(got, b) {
			t.Fatalf("seed %d: the block changed with the text", seed)
		}
	}
}

func TestMemoryIsUsedAgain(t *testing.T) {
	data := starknet.AppendBlock(nil, sampleBlock(), starknet.V010)
	var m starknet.Memory
	decode := func() {
		if _, err := m.DecodeBlock(data); err != nil {
			t.Fatal(err)
		}
	}
	decode()
	fresh := testing.AllocsPerRun(5, func() { m = starknet.Memory{}; decode() })
	again := testing.AllocsPerRun(5, decode)
	// The block, its commitments, and the texts in it.
	if again > fresh-5 {
		t.Errorf("%v allocations in used memory, %v in fresh memory", again, fresh)
	}
}
