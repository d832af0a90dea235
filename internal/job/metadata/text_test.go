package metadata

import (
	"strings"
	"testing"
	"unicode/utf8"

	"chainexplorer/internal/felt"
)

func TestText(t *testing.T) {
	long := strings.Repeat("a", 200)
	short := func(s string) []felt.Felt { return []felt.Felt{felt.MustShortString(s)} }
	array := func(s string) []felt.Felt { return felt.EncodeByteArray([]byte(s)) }
	wide := felt.MustParse("0x7" + strings.Repeat("f", 62))
	for _, c := range []struct {
		name string
		fs   []felt.Felt
		want string
		none bool
	}{
		{name: "a short string", fs: short("Ether"), want: "Ether"},
		{name: "a byte array", fs: array("A token whose name is much longer than thirty-one bytes"), want: "A token whose name is much longer than thirty-one bytes"},
		{name: "an empty felt", fs: short(""), want: ""},
		{name: "an empty byte array", fs: array(""), want: ""},
		{name: "too long", fs: array(long), want: strings.Repeat("a", 127) + "…"},
		{name: "as long as can be", fs: array(long[:128]), want: long[:128]},
		{name: "not UTF-8", fs: array("a\xffb"), want: "a\ufffdb"},
		{name: "controls", fs: array("a\x00\x1b[2Jb\r\n"), want: "a\ufffd\ufffd[2Jb\ufffd\ufffd"},
		{name: "turned round", fs: array("\u202eabc\u2066"), want: "\ufffdabc\ufffd"},
		{name: "of no width", fs: array("\u200bSTRK\ufeff"), want: "\ufffdSTRK\ufffd"},
		{name: "a compound character", fs: array("👩\u200d🚀"), want: "👩\u200d🚀"},
		{name: "markup is text", fs: array("<script>"), want: "<script>"},
		{name: "nothing", none: true},
		{name: "two felts", fs: []felt.Felt{felt.Zero, felt.Zero}, none: true},
		{name: "a number", fs: []felt.Felt{wide}, none: true},
		{name: "lengths that lie", fs: []felt.Felt{felt.FromUint64(9), felt.Zero, felt.Zero}, none: true},
		{name: "more behind a byte array", fs: append(array("abc"), felt.Zero), none: true},
	} {
		got, ok := text(c.fs, 128)
		if ok == c.none || ok && *got != c.want {
			t.Errorf("%s: %v %v, want %q", c.name, got, ok, c.want)
		}
	}
}

func TestNumbers(t *testing.T) {
	n := func(ns ...uint64) (out []felt.Felt) {
		for _, x := range ns {
			out = append(out, felt.FromUint64(x))
		}
		return out
	}
	if d := decimals(n(18)); d == nil || *d != 18 {
		t.Error("18 decimals")
	}
	if decimals(n(256)) != nil || decimals(n(1, 0)) != nil || decimals(nil) != nil {
		t.Error("decimals that are none")
	}
	if v := amount(n(5, 1)); v == nil || v[15] != 1 || v[31] != 5 {
		t.Error("an amount of two halves")
	}
	if v := amount(n(7)); v == nil || v[31] != 7 {
		t.Error("an amount of one felt")
	}
	if amount(n(1, 2, 3)) != nil || amount([]felt.Felt{felt.MustParse("0x100000000000000000000000000000000"), felt.Zero}) != nil {
		t.Error("amounts that are none")
	}
}

func FuzzText(f *testing.F) {
	f.Add([]byte("Ether"), uint8(0))
	f.Add([]byte("\xff\u202e"), uint8(1))
	f.Fuzz(func(t *testing.T, b []byte, cut uint8) {
		fs := felt.EncodeByteArray(b)
		if n := int(cut); n < len(fs) && n > 0 {
			fs = fs[n:]
		}
		s, ok := text(fs, 128)
		if ok && (!utf8.ValidString(*s) || utf8.RuneCountInString(*s) > 128 || strings.ContainsAny(*s, "\x00\r\n\u202e")) {
			t.Fatalf("%q", *s)
		}
	})
}
