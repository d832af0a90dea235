package transfer

import (
	"errors"
	"slices"
	"testing"

	"chainexplorer/internal/explorer/postings"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/store/record"
)

// TestPairRow: the two halves of a row do not disturb each other.
func TestPairRow(t *testing.T) {
	want := []postings.Spot{In.At(2, 5), Out.At(2, 6), Both.At(9, 0)}
	var b postings.Builder
	var places postings.List
	for _, s := range want {
		b.Add(&places, s)
	}
	l := pairList(&felt.Zero, &felt.Zero)
	var r PairRow
	for _, balance := range [][]byte{nil, {7}, make([]byte, 300)} {
		r.Fill(balance, &b, places)
		got, _, err := splitPair(r.buf)
		if err != nil || !slices.Equal(got, balance) {
			t.Errorf("the balance is %x, %v", got, err)
		}
		spots, err := l.spots(nil, r.buf)
		if err != nil || !slices.Equal(spots, want) {
			t.Errorf("the places are %v, %v", spots, err)
		}
	}
	for _, bad := range [][]byte{nil, {1}, {2, 0, 1, 0}, {1, 5, 1, 0}} {
		if _, _, err := splitPair(bad); !errors.Is(err, record.ErrCorrupt) {
			t.Errorf("%x is a row: %v", bad, err)
		}
		if _, err := l.spots(nil, bad); !errors.Is(err, record.ErrCorrupt) {
			t.Errorf("%x has places: %v", bad, err)
		}
	}
}

// TestAddressRow: the places behind a version, of which another is refused.
func TestAddressRow(t *testing.T) {
	l := addressList(&felt.Zero)
	if spots, err := l.spots(nil, []byte{rowVersion, 18, 5, 5}); err != nil || !slices.Equal(spots, []postings.Spot{In.At(2, 5), Out.At(2, 6)}) {
		t.Errorf("the places are %v, %v", spots, err)
	}
	for _, bad := range [][]byte{nil, {rowVersion}, {2, 18, 5}, {rowVersion, 16, 5}} {
		if spots, err := l.spots(nil, bad); !errors.Is(err, record.ErrCorrupt) {
			t.Errorf("%x was read as %v, %v", bad, spots, err)
		}
	}
}
