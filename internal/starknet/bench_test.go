package starknet_test

import (
	"testing"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
)

// benchmarkBlock is mainnet block 588763 (72 transactions, 446 events) as a
// node prints it, without white space.
func benchmarkBlock(b *testing.B) ([]byte, *starknet.Block) {
	block, err := starknet.DecodeBlock(rpcResult(b, "blockWithReceipts", "mainnetBlockReceipts588763.json"))
	if err != nil {
		b.Fatal(err)
	}
	return starknet.AppendBlock(nil, block, starknet.V010), block
}

func BenchmarkDecodeBlock(b *testing.B) {
	data, _ := benchmarkBlock(b)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := starknet.DecodeBlock(data); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecodeStateUpdate(b *testing.B) {
	su, err := starknet.DecodeStateUpdate(rpcResult(b, "stateUpdate", "sepolia_1_060_000.json"))
	if err != nil {
		b.Fatal(err)
	}
	data := starknet.AppendStateUpdate(nil, su, starknet.V010)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := starknet.DecodeStateUpdate(data); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppendBlock(b *testing.B) {
	data, block := benchmarkBlock(b)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	buf := make([]byte, 0, len(data))
	for b.Loop() {
		buf = starknet.AppendBlock(buf[:0], block, starknet.V010)
	}
}

// modern is the block as it would be today: version 3 transactions, Poseidon.
func modern(b *testing.B, block *starknet.Block) {
	block.StarknetVersion = "0.14.1"
	for i := range block.Transactions {
		tx := &block.Transactions[i]
		tx.Version = felt.FromUint64(3)
		tx.ResourceBounds = &starknet.ResourceBounds{HasL1DataGas: true, L2Gas: starknet.ResourceBound{MaxAmount: 1}}
		hash, err := tx.ComputeHash(starknet.ChainMain)
		if err != nil {
			b.Fatal(err)
		}
		tx.Hash, block.Receipts[i].TransactionHash, block.Receipts[i].FeeUnit = hash, hash, starknet.Fri
	}
}

// BenchmarkVerify takes the block as it is (Pedersen, version 0.13.0) and as
// it would be today.
func BenchmarkVerify(b *testing.B) {
	for _, today := range []bool{false, true} {
		_, block := benchmarkBlock(b)
		if today {
			modern(b, block)
		}
		c, err := starknet.ComputeCommitments(block, &starknet.StateDiff{})
		if err != nil {
			b.Fatal(err)
		}
		if today {
			block.Commitments = &c
		}
		if block.Hash, err = starknet.ComputeBlockHash(&block.Header, c); err != nil {
			b.Fatal(err)
		}
		b.Run(block.StarknetVersion, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := starknet.Verify(block, nil, starknet.ChainMain); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
