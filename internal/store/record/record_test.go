package record

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"chainexplorer/internal/felt"
)

func TestRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	// A small pool of values, so that felts repeat; large enough to overflow
	// the dictionary in some rounds.
	pool := make([]felt.Felt, 400)
	for i := range pool {
		n := rng.IntN(felt.Size)
		for j := felt.Size - n; j < felt.Size; j++ {
			pool[i][j] = byte(rng.Uint32())
			if i%8 == 0 { // the largest of a type, as amounts without a limit are
				pool[i][j] = 0xff
			}
		}
	}
	var e Encoder
	var used Decoder // whose lists lie where others were before
	for round := range 300 {
		fs := make([]felt.Felt, rng.IntN(900))
		for i := range fs {
			fs[i] = pool[rng.IntN(1+rng.IntN(len(pool)))]
		}
		n, text := rng.Uint64(), "revert: \x00 reason"
		e.Reset(7)
		e.Uint(n)
		e.Felts(fs)
		e.Text(text)
		e.Raw([]byte{1, 2, 3})
		e.Blob([]byte{9})
		e.Byte(200)
		first := slices.Clone(e.Bytes())

		d := NewDecoder(first, 7)
		if got := d.Uint(); got != n {
			t.Fatalf("round %d: number %d, want %d", round, got, n)
		}
		if got := d.Felts(); !slices.Equal(got, fs) {
			t.Fatalf("round %d: felts differ", round)
		}
		used.Recycle()
		used.Reset(first, 7)
		used.Uint()
		if got := used.Felts(); !slices.Equal(got, fs) {
			t.Fatalf("round %d: felts in used memory differ", round)
		}
		if got := d.Text(); got != text {
			t.Fatalf("text %q", got)
		}
		var raw [3]byte
		d.Raw(raw[:])
		if raw != [3]byte{1, 2, 3} || !bytes.Equal(d.Blob(), []byte{9}) || d.Byte() != 200 {
			t.Fatal("tail differs")
		}
		if err := d.Finish(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestPassing passes over lists, whose felts others behind them refer to, and over what is no list.
func TestPassing(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	pool := make([]felt.Felt, 300)
	for i := range pool {
		pool[i] = felt.Keccak([]byte{byte(i), byte(i >> 8)})
		clear(pool[i][:rng.IntN(felt.Size)])
	}
	var e Encoder
	for range 100 {
		list := make([]felt.Felt, rng.IntN(600))
		for i := range list {
			list[i] = pool[rng.IntN(len(pool))]
		}
		half := len(list) / 2
		e.Reset(1)
		e.Felts(list[:half])
		e.Felts(list[half:])
		d := NewDecoder(e.Bytes(), 1)
		d.SkipFelts()
		if got := d.Felts(); !slices.Equal(got, list[half:]) || d.Finish() != nil {
			t.Fatalf("%d felts behind %d: %v", len(list)-half, half, d.Err())
		}
		for skip := range 2 {
			d = NewDecoder(e.Bytes(), 1)
			if skip == 1 {
				d.SkipFelts()
			}
			from := skip * half
			for i, place := range d.Places(nil) {
				want := list[from+i]
				n, small := d.NumberAt(place)
				wantN, wantSmall := want.Uint64()
				if got := d.FeltAt(place); got != want || small != wantSmall || small && n != wantN {
					t.Fatalf("felt %d: %s or %d, want %s", from+i, got, n, want)
				}
			}
		}
		for cut := range e.Bytes() { // each of them, passed as it would be read
			read, passed, placed := NewDecoder(e.Bytes()[:cut], 1), NewDecoder(e.Bytes()[:cut], 1), NewDecoder(e.Bytes()[:cut], 1)
			var places []uint32
			for range 2 {
				read.Felts()
				passed.SkipFelts()
				places = placed.Places(places[:0])
			}
			if (read.Err() == nil) != (passed.Err() == nil) || read.pos != passed.pos {
				t.Fatalf("the first %d bytes: %v when read, %v when passed", cut, read.Err(), passed.Err())
			}
			if (read.Err() == nil) != (placed.Err() == nil) || read.pos != placed.pos || placed.Err() != nil && len(places) > 0 {
				t.Fatalf("the first %d bytes: %v when read, %v and %d places when placed", cut, read.Err(), placed.Err(), len(places))
			}
			if cut > 200 {
				break
			}
		}
	}
	for name, b := range map[string][]byte{"a reference to nothing": {1, 1, 0x21}, "a cut literal": {1, 1, 8, 0}} {
		d := NewDecoder(b, 1)
		if d.SkipFelts(); !errors.Is(d.Err(), ErrCorrupt) {
			t.Errorf("%s: %v", name, d.Err())
		}
	}
}

func TestRepeatedFeltTakesOneByte(t *testing.T) {
	f := felt.Selector("Transfer")
	var e Encoder
	e.Reset(1)
	e.Felt(&f)
	size := len(e.Bytes())
	e.Felt(&f)
	if got := len(e.Bytes()) - size; got != 1 {
		t.Fatalf("second use takes %d bytes, want 1", got)
	}
	e.Reset(1)
	e.Felt(&f)
	if len(e.Bytes()) != size {
		t.Fatal("the dictionary outlived its record")
	}
}

func TestCorrupt(t *testing.T) {
	var e Encoder
	e.Reset(1)
	f := felt.Selector("Transfer")
	e.Felts([]felt.Felt{f, f})
	good := slices.Clone(e.Bytes())
	cases := map[string][]byte{
		"empty":             {},
		"wrong version":     append([]byte{2}, good[1:]...),
		"cut":               good[:len(good)-1],
		"left over":         append(slices.Clone(good), 0),
		"bad reference":     {1, 1, 0x21},
		"list of 2^63":      {1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f},
		"felt out of range": append([]byte{1, 1, 32}, bytes.Repeat([]byte{0xff}, 32)...),
	}
	for name, b := range cases {
		d := NewDecoder(b, 1)
		d.Felts()
		if err := d.Finish(); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: got %v, want ErrCorrupt", name, err)
		}
	}
}

func FuzzDecoder(f *testing.F) {
	var e Encoder
	e.Reset(1)
	sel := felt.Selector("Transfer")
	e.Felts([]felt.Felt{sel, sel, felt.FromUint64(1)})
	f.Add(e.Bytes())
	f.Add([]byte{1, 3, 0, 1, 5, 0x21})
	f.Fuzz(func(t *testing.T, b []byte) {
		d := NewDecoder(b, 1)
		fs := d.Felts()
		if d.Finish() != nil {
			return
		}
		// What decodes must survive another round.
		var e Encoder
		e.Reset(1)
		e.Felts(fs)
		d = NewDecoder(e.Bytes(), 1)
		if again := d.Felts(); d.Finish() != nil || !slices.Equal(fs, again) {
			t.Fatal("second round differs")
		}
	})
}

// TestPassingRows passes over rows of a felt and two lists, whole and cut off, and finds what skipping each
// part of them finds.
func TestPassingRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	pool := make([]felt.Felt, 300)
	for i := range pool {
		pool[i] = felt.Keccak([]byte{byte(i), byte(i >> 8)})
		clear(pool[i][:rng.IntN(felt.Size)])
	}
	pick := func(n int) []felt.Felt {
		list := make([]felt.Felt, n)
		for i := range list {
			list[i] = pool[rng.IntN(len(pool))]
		}
		return list
	}
	var e Encoder
	for round := range 200 {
		rows, behind := 1+rng.IntN(8), pick(5)
		e.Reset(1)
		for range rows {
			e.Felt(&pick(1)[0])
			e.Felts(pick(rng.IntN(4)))
			e.Felts(pick(rng.IntN(20) * (1 + round%2*20))) // some are long
		}
		e.Felts(behind)
		for cut := len(e.Bytes()); cut > 0; cut -= 1 + rng.IntN(9) {
			passed, skipped := NewDecoder(e.Bytes()[:cut], 1), NewDecoder(e.Bytes()[:cut], 1)
			passed.PassRows(rows, 2)
			for range rows {
				skipped.SkipFelt()
				skipped.SkipFelts()
				skipped.SkipFelts()
			}
			if (passed.Err() == nil) != (skipped.Err() == nil) || passed.Err() == nil && (passed.pos != skipped.pos || !slices.Equal(passed.dict, skipped.dict)) {
				t.Fatalf("%d rows in %d bytes: %v when passed, %v when skipped", rows, cut, passed.Err(), skipped.Err())
			}
			if got := passed.Felts(); cut == len(e.Bytes()) && (!slices.Equal(got, behind) || passed.Finish() != nil) {
				t.Fatalf("behind %d rows: %v, %v", rows, got, passed.Err())
			}
		}
	}
	d := NewDecoder([]byte{1, 0x21, 0, 0}, 1)
	if d.PassRows(1, 2); !errors.Is(d.Err(), ErrCorrupt) {
		t.Errorf("a reference to nothing: %v", d.Err())
	}
}
