package census_test

import (
	"bytes"
	"math/big"
	"reflect"
	"testing"

	"chainexplorer/internal/explorer/census"
	"chainexplorer/internal/felt"
)

func full() *census.Generation {
	tally := census.NewTally(3, big.NewInt(111))
	for _, n := range []int64{100, 10, 1} {
		tally.Add(big.NewInt(n))
	}
	return &census.Generation{Token: felt.FromUint64(7), ID: 9, Status: census.Revoked, Verdict: census.Certified, Reason: "a fork", AsOf: 5, Hash: felt.FromUint64(6), Timestamp: 8,
		Published: 10, Expires: 11, Checked: 12, Holders: 3, Total: big.NewInt(111), Digest: [32]byte{1, 2}, Wrong: 1, Malformed: 2, Supply: big.NewInt(0), Sampled: 3,
		Metrics: tally.Done(), Previous: &census.Previous{ID: 1, AsOf: 2, Holders: 3, Total: big.NewInt(4)}}
}

func TestGenerationRecord(t *testing.T) {
	bare := &census.Generation{Token: felt.FromUint64(7), ID: 1, Status: census.Building, Total: new(big.Int)}
	for _, g := range []*census.Generation{full(), bare} {
		k := census.GenerationKey(g.Token, g.ID)
		back, err := census.DecodeGeneration(g.Token, k.Sort, g.Encode())
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(back.Encode(), g.Encode()) || !reflect.DeepEqual(back.Metrics, g.Metrics) || back.ID != g.ID || back.Total.Cmp(g.Total) != 0 || (back.Supply == nil) != (g.Supply == nil) {
			t.Errorf("%+v became %+v", g, back)
		}
	}
	older, newer := census.GenerationKey(felt.Zero, 5).Sort, census.GenerationKey(felt.Zero, 6).Sort
	if bytes.Compare(newer, older) >= 0 {
		t.Error("a newer generation does not come first")
	}
}

// TestPlaces: holders sort by balance, most first, then by address.
func TestPlaces(t *testing.T) {
	at := func(balance byte, address uint64) census.Place {
		return census.PlaceOf([census.BalanceSize]byte{31: balance}, felt.FromUint64(address))
	}
	order := []census.Place{at(9, 1), at(9, 2), at(3, 0), at(1, 9)}
	for i := range order[1:] {
		if bytes.Compare(order[i][:], order[i+1][:]) >= 0 {
			t.Errorf("place %d does not come before the next", i)
		}
	}
	p := at(9, 2)
	if p.Address() != felt.FromUint64(2) || p.Balance() != [census.BalanceSize]byte{31: 9} {
		t.Errorf("%v %v", p.Address(), p.Balance())
	}
	h := &census.Holder{Place: p, LastBlock: 77}
	if line := string(census.AppendLine(nil, 4, h, new(big.Int))); line != "4,0x2,9,77\n" {
		t.Errorf("%q", line)
	}
}

func FuzzGeneration(f *testing.F) {
	f.Add(full().Encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		g, err := census.DecodeGeneration(felt.Zero, make([]byte, 8), b)
		if err != nil {
			return
		}
		again, err := census.DecodeGeneration(felt.Zero, make([]byte, 8), g.Encode())
		if err != nil || !bytes.Equal(again.Encode(), g.Encode()) {
			t.Fatalf("%+v became %+v, %v", g, again, err)
		}
	})
}

func TestVerdictNames(t *testing.T) {
	for v, want := range map[census.Verdict]string{census.Certified: "certified", census.AuditFailed: "audit_failed", census.NotRun: "not_run", census.Unavailable: "unavailable", 77: "verdict 77"} {
		if v.String() != want {
			t.Errorf("verdict %d is called %s", v, v)
		}
	}
}
