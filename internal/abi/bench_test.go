package abi_test

import (
	"testing"

	"chainexplorer/internal/abi"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/simnode/contracts"
)

func transfer() (keys, data []felt.Felt) {
	return []felt.Felt{felt.Selector("Transfer"), contracts.ETH, contracts.STRK}, []felt.Felt{felt.FromUint128(12, 1<<63), felt.Zero}
}

func catalogueSchema(t testing.TB, c *contracts.Class) *abi.Schema {
	s, err := abi.Parse(&c.Class)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A transfer is the event that there are most of: its cost in allocations is
// held here, its time is for the benchmark.
func TestTransferAllocates(t *testing.T) {
	s := catalogueSchema(t, contracts.Classes().ERC20Keyed)
	keys, data := transfer()
	if n := testing.AllocsPerRun(100, func() { abi.Decode(s, keys, data) }); n > 6 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkDecode(b *testing.B) {
	pool := catalogueSchema(b, contracts.Classes().PoolV21)
	ekubo := catalogueSchema(b, contracts.Classes().EkuboCore)
	keys, data := transfer()
	for _, c := range []struct {
		name       string
		decode     func(keys, data []felt.Felt) abi.Result
		keys, data []felt.Felt
	}{
		{"transfer", decodeWith(catalogueSchema(b, contracts.Classes().ERC20Keyed)), keys, data},
		{"standard transfer", func(k, d []felt.Felt) abi.Result { return abi.Standard(abi.EmitterERC20, k, d) }, keys, data},
		{"pool withdrawal", decodeWith(pool), felts("Withdrawal", 1, 2), felts(3, 4, 5, 6)},
		{"swap of 17 fields", decodeWith(ekubo), felts("Swapped"), zeros(21)},
		{"unknown", decodeWith(pool), felts("Nobody"), nil},
	} {
		b.Run(c.name, func(b *testing.B) {
			if r := c.decode(c.keys, c.data); (r.Status == abi.Decoded) != (c.name != "unknown") {
				b.Fatalf("%s %s", r.Status, r.UnavailableReason)
			}
			b.ReportAllocs()
			for b.Loop() {
				c.decode(c.keys, c.data)
			}
		})
	}
}

func decodeWith(s *abi.Schema) func(keys, data []felt.Felt) abi.Result {
	return func(keys, data []felt.Felt) abi.Result { return abi.Decode(s, keys, data) }
}

func BenchmarkParse(b *testing.B) {
	c := contracts.Classes().PoolV21
	b.SetBytes(int64(len(c.Class.Sierra.ABI)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := abi.Parse(&c.Class); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLoad(b *testing.B) {
	stored := catalogueSchema(b, contracts.Classes().PoolV21).Encode()
	b.SetBytes(int64(len(stored)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := abi.Load(stored); err != nil {
			b.Fatal(err)
		}
	}
}
