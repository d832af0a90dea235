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
		if text := c.shown.Text(); (text == nil) == (c.shown.Felt() == nil) || text != nil && *text != c.want {
			t.Errorf("%q is a felt and a text, or neither", c.want)
		}
	}
}

func at(hex string) *felt.Felt { f := felt.MustParse(hex); return &f }
