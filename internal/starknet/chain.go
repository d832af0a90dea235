package starknet

// What differs between networks, and the address of a new contract.

import (
	"math/big"

	"chainexplorer/internal/felt"
)

// The chain ids of the public networks: short strings that go into every
// transaction hash.
var (
	ChainMain               = felt.MustShortString("SN_MAIN")
	ChainSepolia            = felt.MustShortString("SN_SEPOLIA")
	ChainSepoliaIntegration = felt.MustShortString("SN_INTEGRATION_SEPOLIA")
)

// history is what the rules for a network's oldest blocks need to know.
type history struct {
	// first07 is the first block whose hash covers events, time and sequencer.
	first07 uint64
	// settled is a block from which on every block names its sequencer, and
	// transaction hashes have one form.
	settled uint64
	// sequencer stands in for the address that older blocks do not carry.
	sequencer felt.Felt
}

// testnetSequencer made the first blocks of every test network.
var testnetSequencer = felt.MustParse("0x046a89ae102987331d369645031b49c27738ed096f2789c24449966da4c6de6b")

// histories lists the networks whose past is known.
var histories = map[felt.Felt]history{
	ChainMain: {
		first07:   833,
		settled:   7320, // of 0.10.1
		sequencer: felt.MustParse("0x021f4b90b0377c82bf330b7b5295820769e72d79d8acd0effa0ebde6e9988bc5"),
	},
	ChainSepolia:            {sequencer: testnetSequencer},
	ChainSepoliaIntegration: {sequencer: testnetSequencer},
}

// addressPrefix starts the hash that a contract address is made of.
var addressPrefix = felt.MustShortString("STARKNET_CONTRACT_ADDRESS")

// addressBound is 2^251 - 256: contract addresses are below it.
var addressBound = new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 251), big.NewInt(256))

// ComputeContractAddress is the address of the contract that deployer creates
// from a class; deployer is zero for deploy and deploy account transactions.
func ComputeContractAddress(deployer, salt, classHash felt.Felt, calldata []felt.Felt) felt.Felt {
	e := pedersenElements(toElement(&addressPrefix), toElement(&deployer), toElement(&salt),
		toElement(&classHash), pedersenFelts(calldata))
	f := fromElement(&e)
	if f[0] < 0x07 { // far below the bound: nearly always
		return f
	}
	reduced, err := felt.FromBig(new(big.Int).Mod(f.Big(), addressBound))
	if err != nil {
		panic(err) // a residue is below its modulus, which is below the prime
	}
	return reduced
}
