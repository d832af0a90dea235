package felt_test

import (
	"encoding/json"
	"testing"

	"chainexplorer/internal/felt"
)

func TestShown(t *testing.T) {
	for _, c := range []struct {
		shown felt.Shown
		want  string
	}{
		{felt.Shown{}, ""},
		{felt.ShownAs(`"a" text`), `"a" text`},
		{new(felt.Felt).Shown(), "0x0"},
		{at("0xf").Shown(), "0xf"},
		{at("0x10").Shown(), "0x10"},
		{at("0xfff").Shown(), "0xfff"},
		{at("0x800000000000011000000000000000000000000000000000000000000000000").Shown(), "0x800000000000011000000000000000000000000000000000000000000000000"},
		{new(felt.Felt).Number(), "0"},
		{at("0xde0b6b3a7640000").Number(), "1000000000000000000"},
		{at("0x800000000000011000000000000000000000000000000000000000000000000").Number(), "3618502788666131213697322783095070105623107215331596699973092056135872020480"},
		{felt.Number256(at("0x7"), at("0x0")), "7"},
		{felt.Number256(at("0x0"), at("0x1")), "340282366920938463463374607431768211456"},
		{felt.Number256(at("0xffffffffffffffffffffffffffffffff"), at("0xffffffffffffffffffffffffffffffff")),
			"115792089237316195423570985008687907853269984665640564039457584007913129639935"},
	} {
		if got := c.shown.String(); got != c.want || c.shown.Len() != len(c.want) {
			t.Errorf("shows %q of %d bytes, want %q", got, c.shown.Len(), c.want)
		}
		quoted, _ := json.Marshal(c.want)
		if got, err := json.Marshal(c.shown); err != nil || string(got) != string(quoted) {
			t.Errorf("is written as %s (%v), want %s", got, err, quoted)
		}
		var again felt.Shown
		if err := json.Unmarshal(quoted, &again); err != nil || again.String() != c.want || *again.Text() != c.want {
			t.Errorf("%s is read as %q (%v)", quoted, again, err)
		}
		digits := string(c.shown.AppendDigits(nil))
		if text := c.shown.Text(); text != nil && (*text != c.want || digits != "") || text == nil && digits != c.want {
			t.Errorf("%q has the digits %q", c.want, digits)
		}
	}
}

func at(hex string) *felt.Felt { f := felt.MustParse(hex); return &f }
