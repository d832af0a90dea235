package event

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"chainexplorer/internal/store/record"
)

func encodeSpots(spots []spot) []byte {
	b := []byte{rowVersion}
	var last spot
	for i, s := range spots {
		b = appendSpot(b, last, s, i == 0)
		last = s
	}
	return b
}

func TestRowsAreSmallAndComeBack(t *testing.T) {
	for _, tt := range []struct {
		name  string
		spots []spot
		want  []byte // after the version; nil: not looked at
	}{
		{"first", []spot{{0, 0}}, []byte{0, 0}},
		{"one transaction", []spot{{0, 0}, {0, 1}, {0, 5}}, []byte{0, 0, 1, 7}},
		{"two transactions", []spot{{3, 2}, {4, 0}, {9, 9}}, []byte{6, 2, 0, 0, 8, 9}},
		{"large", []spot{{0, maxLog}, {maxTx, 0}, {maxTx, maxLog}}, nil},
	} {
		b := encodeSpots(tt.spots)
		if tt.want != nil && !bytes.Equal(b[1:], tt.want) {
			t.Errorf("%s: row is %x, want %x", tt.name, b[1:], tt.want)
		}
		got, err := decodeSpots(nil, b)
		if err != nil || !slices.Equal(got, tt.spots) {
			t.Errorf("%s: read back %v, %v", tt.name, got, err)
		}
	}
}

func TestBadRowsAreRefused(t *testing.T) {
	for name, b := range map[string][]byte{
		"nothing":                         nil,
		"version only":                    {1},
		"other version":                   {2, 0, 0},
		"no log":                          {1, 0, 0, 2},
		"first of no transaction":         {1, 1, 0},
		"long form of a number":           {1, 0x80, 0, 0},
		"long form of a log":              {1, 0, 0x80, 0},
		"number without an end":           {1, 0, 0x80},
		"number of more than 64 bits":     {1, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02},
		"log that does not fit":           {1, 0, 0xff, 0xff, 0xff, 0xff, 0x0f},
		"transaction that does not fit":   {1, 0xfe, 0xff, 0xff, 0xff, 0x1f, 0},
		"log that grows out of its range": {1, 0, 0xfe, 0xff, 0xff, 0xff, 0x0f, 1},
	} {
		if got, err := decodeSpots(nil, b); !errors.Is(err, record.ErrCorrupt) {
			t.Errorf("%s: %x was read as %v, %v", name, b, got, err)
		}
	}
}

// FuzzRow reads foreign bytes: what is accepted is in order and is exactly what
// would have been written.
func FuzzRow(f *testing.F) {
	f.Add([]byte{1, 0, 0, 1, 7, 6, 2})
	f.Add(encodeSpots([]spot{{0, maxLog}, {maxTx, 0}, {maxTx, maxLog}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		spots, err := decodeSpots(nil, b)
		if err != nil {
			return
		}
		for i := 1; i < len(spots); i++ {
			if !spots[i-1].before(spots[i]) {
				t.Fatalf("%x gives %v", b, spots)
			}
		}
		if again := encodeSpots(spots); !bytes.Equal(again, b) {
			t.Fatalf("%x is read as %v, which is written as %x", b, spots, again)
		}
	})
}

func FuzzSpots(f *testing.F) {
	f.Add(uint64(1), 3, uint32(4))
	f.Add(uint64(2), 40, uint32(1<<31))
	f.Fuzz(func(t *testing.T, seed uint64, n int, bound uint32) {
		if n < 1 || n > 200 {
			return
		}
		rng := rand.New(rand.NewPCG(seed, 1))
		spots := make([]spot, n)
		for i := range spots {
			spots[i] = spot{rng.Uint32N(min(bound, maxTx) + 1), rng.Uint32N(min(bound, maxLog) + 1)}
		}
		slices.SortFunc(spots, compareSpots)
		spots = slices.Compact(spots)
		got, err := decodeSpots(nil, encodeSpots(spots))
		if err != nil || !slices.Equal(got, spots) {
			t.Fatalf("%v came back as %v, %v", spots, got, err)
		}
	})
}
