package starknet_test

// The same hashes by another implementation.

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"

	junofelt "github.com/NethermindEth/juno/core/felt"
	"github.com/NethermindEth/starknet.go/contracts"
	"github.com/NethermindEth/starknet.go/curve"
	"github.com/NethermindEth/starknet.go/hash"
)

func peerFelt(f felt.Felt) *junofelt.Felt { return new(junofelt.Felt).SetBytes(f[:]) }

func peerFelts(fs []felt.Felt) (out []*junofelt.Felt) {
	for _, f := range fs {
		out = append(out, peerFelt(f))
	}
	return out
}

func TestHashesAgreeWithPeer(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for n := range 9 {
		var fs []felt.Felt
		for range n {
			fs = append(fs, randomFelt(r))
		}
		if got, want := starknet.PoseidonArray(fs...), curve.PoseidonArray(peerFelts(fs)...); got != felt.Felt(want.Bytes()) {
			t.Errorf("Poseidon of %d felts: %s, want %s", n, got, want)
		}
		if got, want := starknet.PedersenArray(fs...), curve.PedersenArray(peerFelts(fs)...); got != felt.Felt(want.Bytes()) {
			t.Errorf("Pedersen of %d felts: %s, want %s", n, got, want)
		}
		a, b := randomFelt(r), randomFelt(r)
		if got, want := starknet.Poseidon(a, b), curve.Poseidon(peerFelt(a), peerFelt(b)); got != felt.Felt(want.Bytes()) {
			t.Errorf("Poseidon of a pair: %s, want %s", got, want)
		}
		if got, want := starknet.Pedersen(a, b), curve.Pedersen(peerFelt(a), peerFelt(b)); got != felt.Felt(want.Bytes()) {
			t.Errorf("Pedersen of a pair: %s, want %s", got, want)
		}
		salt, class := randomFelt(r), randomFelt(r)
		address := starknet.ComputeContractAddress(felt.Zero, salt, class, fs)
		if want := contracts.PrecomputeAddress(&junofelt.Zero, peerFelt(salt), peerFelt(class), peerFelts(fs)); address != felt.Felt(want.Bytes()) {
			t.Errorf("contract address %s, want %s", address, want)
		}
	}
}

// TestPairsAgreeWithPeer: pairs of numbers at the edges of what the tables are made of.
func TestPairsAgreeWithPeer(t *testing.T) {
	var edges []felt.Felt
	for _, s := range []string{"0x0", "0x1", "0xf", "0x10", "0xff00ff", "0x8000000000000000",
		"0xffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff", "0x100000000000000000000000000000000000000000000000000000000000000",
		"0x7f0000000000000000000000000000000000000000000000000000000000001", "0x800000000000000000000000000000000000000000000000000000000000000",
		"0x800000000000011000000000000000000000000000000000000000000000000"} {
		f, err := felt.Parse(s)
		if err != nil {
			t.Fatal(err)
		}
		edges = append(edges, f)
	}
	for _, a := range edges {
		for _, b := range edges {
			if got, want := starknet.Poseidon(a, b), curve.Poseidon(peerFelt(a), peerFelt(b)); got != felt.Felt(want.Bytes()) {
				t.Errorf("Poseidon of %s and %s: %s, want %s", a, b, got, want)
			}
			if got, want := starknet.Pedersen(a, b), curve.Pedersen(peerFelt(a), peerFelt(b)); got != felt.Felt(want.Bytes()) {
				t.Errorf("Pedersen of %s and %s: %s, want %s", a, b, got, want)
			}
		}
	}
}

func TestClassHashAgreesWithPeer(t *testing.T) {
	var raw json.RawMessage
	readJSON(t, feederPath(t, "sepolia-integration", "class", "0x941a2dc3ab607819fdc929bea95831a2e0c1aab2f2f34b3a23c55cebc8a040.json"), &raw)
	c, err := starknet.DecodeClass(raw)
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.Sierra.Hash()
	if err != nil {
		t.Fatal(err)
	}
	var peer contracts.ContractClass
	if err := json.Unmarshal(raw, &peer); err != nil {
		t.Fatal(err)
	}
	if want := hash.ClassHash(&peer); got != felt.Felt(want.Bytes()) {
		t.Errorf("class hash %s, want %s", got, want)
	}
}
