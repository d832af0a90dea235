package postings_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"chainexplorer/internal/explorer/postings"
	"chainexplorer/internal/store/record"
)

const most = postings.MaxIndex

var forms = []postings.Form{postings.Plain, postings.Tagged}

func at(tx, log uint32) postings.Spot { return postings.Spot{Tx: tx, Log: log} }

func tagged(tx, log uint32, tag uint8) postings.Spot {
	return postings.Spot{Tx: tx, Log: log, Tag: tag}
}

// TestBytes pins what is stored: indexes hold it.
func TestBytes(t *testing.T) {
	for _, tt := range []struct {
		name  string
		form  postings.Form
		spots []postings.Spot
		want  []byte
	}{
		{"first", postings.Plain, []postings.Spot{at(0, 0)}, []byte{0, 0}},
		{"one transaction", postings.Plain, []postings.Spot{at(0, 0), at(0, 1), at(0, 5)}, []byte{0, 0, 1, 7}},
		{"some transactions", postings.Plain, []postings.Spot{at(3, 2), at(4, 0), at(9, 9)}, []byte{6, 2, 0, 0, 8, 9}},
		{"largest", postings.Plain, []postings.Spot{at(0, most), at(most, 0), at(most, most)}, []byte{
			0, 0xfe, 0xff, 0xff, 0xff, 0x0f, // tx 0
			0xfa, 0xff, 0xff, 0xff, 0x1f, 0, // most-1 transactions on
			0xfb, 0xff, 0xff, 0xff, 0x1f, // most-1 logs on
		}},
		{"first with a tag", postings.Tagged, []postings.Spot{tagged(0, 0, 1)}, []byte{1, 0}},
		{"tags of one transaction", postings.Tagged, []postings.Spot{tagged(0, 5, 3), tagged(0, 6, 1), tagged(0, 9, 2)}, []byte{3, 5, 5, 22}},
		{"tags of some transactions", postings.Tagged, []postings.Spot{tagged(2, 5, 2), tagged(2, 6, 1), tagged(9, 0, 3)}, []byte{18, 5, 5, 51, 0}},
		{"largest with tags", postings.Tagged, []postings.Spot{tagged(most, most, 3)}, []byte{0xf3, 0xff, 0xff, 0xff, 0x7f, 0xfe, 0xff, 0xff, 0xff, 0x0f}},
	} {
		b := tt.form.Encode([]byte{0xee}, tt.spots...)
		if b[0] != 0xee || !bytes.Equal(b[1:], tt.want) {
			t.Errorf("%s: %x, want %x", tt.name, b[1:], tt.want)
		}
		got, err := tt.form.Decode(nil, tt.want)
		if err != nil || !slices.Equal(got, tt.spots) {
			t.Errorf("%s: read back as %v, %v", tt.name, got, err)
		}
	}
}

func TestBadBytesAreRefused(t *testing.T) {
	for _, tt := range []struct {
		name string
		form postings.Form
		b    []byte
	}{
		{"nothing", postings.Plain, nil},
		{"no log", postings.Plain, []byte{0}},
		{"no log of the second", postings.Plain, []byte{0, 0, 2}},
		{"first of no transaction", postings.Plain, []byte{1, 0}},
		{"long form of a step", postings.Plain, []byte{0x80, 0, 0}},
		{"long form of a log", postings.Plain, []byte{0, 0x80, 0}},
		{"number without an end", postings.Plain, []byte{0, 0x80}},
		{"number of more than 64 bits", postings.Plain, []byte{0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02}},
		{"log that does not fit", postings.Plain, []byte{0, 0xff, 0xff, 0xff, 0xff, 0x0f}},
		{"transaction that does not fit", postings.Plain, []byte{0xfe, 0xff, 0xff, 0xff, 0x1f, 0}},
		{"log that grows out of its range", postings.Plain, []byte{0, 0xfe, 0xff, 0xff, 0xff, 0x0f, 1}},
		{"transaction that grows out of its range", postings.Plain, []byte{0xfc, 0xff, 0xff, 0xff, 0x1f, 0, 0, 0}},
		{"step of 63 bits", postings.Plain, []byte{0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}},
		{"nothing with tags", postings.Tagged, nil},
		{"no tag", postings.Tagged, []byte{0, 0}},
		{"no tag in the same transaction", postings.Tagged, []byte{1, 0, 4}},
		{"first of no transaction with a tag", postings.Tagged, []byte{5, 0}},
		{"no log with a tag", postings.Tagged, []byte{1}},
		{"transaction that does not fit with a tag", postings.Tagged, []byte{0xf9, 0xff, 0xff, 0xff, 0x7f, 0}},
	} {
		if got, err := tt.form.Decode(nil, tt.b); !errors.Is(err, record.ErrCorrupt) {
			t.Errorf("%s: %x was read as %v, %v", tt.name, tt.b, got, err)
		}
		var err error
		for _, err = range tt.form.All(tt.b) {
			if err != nil {
				break
			}
		}
		if !errors.Is(err, record.ErrCorrupt) {
			t.Errorf("%s: going through %x ends with %v", tt.name, tt.b, err)
		}
	}
}

func TestAllStopsWhenAsked(t *testing.T) {
	b := postings.Plain.Encode(nil, at(0, 0), at(0, 1), at(4, 0))
	n := 0
	for range postings.Plain.All(b) {
		if n++; n == 2 {
			break
		}
	}
	if n != 2 {
		t.Errorf("stopped behind %d", n)
	}
}

func TestDecodeAppends(t *testing.T) {
	got, err := postings.Plain.Decode([]postings.Spot{at(7, 7)}, []byte{0, 0})
	if err != nil || !slices.Equal(got, []postings.Spot{at(7, 7), at(0, 0)}) {
		t.Errorf("%v, %v", got, err)
	}
}

func TestUnion(t *testing.T) {
	got := postings.Union([]postings.Spot{tagged(1, 2, 1), tagged(3, 0, 2), tagged(0, 9, 2), tagged(1, 2, 2), tagged(1, 1, 1)})
	if want := []postings.Spot{tagged(0, 9, 2), tagged(1, 1, 1), tagged(1, 2, 3), tagged(3, 0, 2)}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// FuzzDecode reads foreign bytes: what is accepted ascends and is exactly what
// would have been written, and going through it tells the same.
func FuzzDecode(f *testing.F) {
	f.Add([]byte{0, 0, 1, 7, 6, 2})
	f.Add([]byte{3, 5, 6, 2, 9})
	f.Add(postings.Plain.Encode(nil, at(0, most), at(most, 0), at(most, most)))
	f.Add(postings.Tagged.Encode(nil, tagged(0, most, 1), tagged(most, 0, 2), tagged(most, most, 3)))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, form := range forms {
			spots, err := form.Decode(nil, b)
			var all []postings.Spot
			var end error
			for s, err := range form.All(b) {
				if end = err; err == nil {
					all = append(all, s)
				}
			}
			if end != err || !slices.Equal(all, spots) {
				t.Fatalf("%x is %v, %v at once and %v, %v one by one", b, spots, err, all, end)
			}
			if err != nil {
				if !errors.Is(err, record.ErrCorrupt) {
					t.Fatal(err)
				}
				continue
			}
			for i, s := range spots {
				if i > 0 && !spots[i-1].Before(s) || s.Tx > most || s.Log > most || (s.Tag == 0) != (form == postings.Plain) {
					t.Fatalf("%x gives %v", b, spots)
				}
			}
			if again := form.Encode(nil, spots...); !bytes.Equal(again, b) {
				t.Fatalf("%x is read as %v, which is written as %x", b, spots, again)
			}
		}
	})
}

// FuzzRoundTrip: any places come back.
func FuzzRoundTrip(f *testing.F) {
	f.Add(uint64(1), 3, uint32(4))
	f.Add(uint64(2), 40, uint32(1<<31))
	f.Add(uint64(3), 200, uint32(most))
	f.Fuzz(func(t *testing.T, seed uint64, n int, bound uint32) {
		if n < 1 || n > 200 {
			return
		}
		bound = min(bound, most) + 1
		for _, form := range forms {
			rng := rand.New(rand.NewPCG(seed, 1))
			spots := make([]postings.Spot, n)
			for i := range spots {
				spots[i] = at(rng.Uint32N(bound), rng.Uint32N(bound))
				if form == postings.Tagged {
					spots[i].Tag = uint8(1 + rng.IntN(3))
				}
			}
			spots = postings.Union(spots)
			got, err := form.Decode(nil, form.Encode(nil, spots...))
			if err != nil || !slices.Equal(got, spots) {
				t.Fatalf("%v came back as %v, %v", spots, got, err)
			}
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	var spots []postings.Spot
	for i := range uint32(100) {
		spots = append(spots, at(i/3*2, i%3*40))
	}
	row := postings.Plain.Encode(nil, spots...)
	b.ReportAllocs()
	for b.Loop() {
		var err error
		if spots, err = postings.Plain.Decode(spots[:0], row); err != nil {
			b.Fatal(err)
		}
	}
}
