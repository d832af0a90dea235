package feed_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"chainexplorer/internal/feed"
)

func TestParse(t *testing.T) {
	many := func(n int) string {
		list := make([]string, n)
		for i := range list {
			list[i] = fmt.Sprintf(`"0x%x"`, i)
		}
		return "[" + strings.Join(list, ",") + "]"
	}
	for _, c := range []struct{ text, field, same string }{
		{`{"kind":"block"}`, "", `{"kind":"block"}`},
		{`{"kind":"event","address":"0x0002","topic0":["0x3","0x01","0x1"]}`, "", `{"address":["0x2"],"kind":"event","topic0":["0x1","0x3"]}`},
		{`{"kind":"transfer","token":["0x1"],"to":null}`, "", `{"kind":"transfer","token":["0x1"]}`},
		{`{"kind":"transaction","address":["0x1"]}`, "", `{"address":["0x1"],"kind":"transaction"}`},
		{`{"kind":"event","topic0":` + many(65) + `}`, "topic0", ""},
		{`{}`, "kind", ""},
		{`{"kind":"blocks"}`, "kind", ""},
		{`{"kind":["block","event"]}`, "kind", ""},
		{`{"kind":"block","address":["0x1"]}`, "address", ""},
		{`{"kind":"block","what":"0x1"}`, "what", ""},
		{`{"kind":"event","topic16":"0x1"}`, "topic16", ""},
		{`{"kind":"event"}`, "", ""},
		{`{"kind":"event","address":"0x1","topic2":"0x1"}`, "topic2", ""},
		{`{"kind":"event","address":"12"}`, "address", ""},
		{`{"kind":"event","address":[1]}`, "address", ""},
		{`{"kind":"event","address":[null]}`, "address", ""},
		{`{"kind":"event","address":{}}`, "address", ""},
		{`{"kind":"event","address":` + many(17) + `}`, "address", ""},
		{`{"kind":"event","topic0":` + many(40) + `,"topic3":` + many(25) + `}`, "", ""},
		{`{"kind":"transaction"}`, "address", ""},
		{`{"kind":"transaction","address":["0x1","0x2"]}`, "address", ""},
		{`{"kind":"transfer","from":"0x1","to":"0x2"}`, "to", ""},
		{`{"kind":"transfer","from":"0x1","address":"0x2"}`, "address", ""},
		{`{"kind":"block","kind":"fork"}`, "kind", ""},
		{`{"kind":"block"} {}`, "", ""},
		{`{"kind":"block"`, "", ""},
		{`[]`, "", ""},
		{``, "", ""},
		{`{"kind":"block"}` + strings.Repeat(" ", feed.MaxFilter), "", ""},
	} {
		f, err := feed.Parse([]byte(c.text))
		if c.same != "" {
			if err != nil || f.String() != c.same {
				t.Errorf("%s is %s, %v; want %s", c.text, f, err, c.same)
			}
			continue
		}
		var wrong *feed.Error
		if !errors.As(err, &wrong) || wrong.Field != c.field {
			t.Errorf("%.80s: %v, want an error of %q", c.text, err, c.field)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"kind":"event","address":"0x2","topic0":["0x3"],"topic15":["0x1"]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		one, err := feed.Parse(text)
		if err != nil {
			return
		}
		two, err := feed.Parse([]byte(one.String()))
		if err != nil || !reflect.DeepEqual(one, two) {
			t.Fatalf("%s reads as %s: %v", one, two, err)
		}
	})
}

// FuzzMark: what is accepted is what MarshalText writes.
func FuzzMark(f *testing.F) {
	f.Add("AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")
	f.Fuzz(func(t *testing.T, text string) {
		var m feed.Mark
		if err := m.UnmarshalText([]byte(text)); err != nil {
			if !errors.Is(err, feed.ErrMark) {
				t.Fatal(err)
			}
			return
		}
		if m.String() != text {
			t.Fatalf("%s reads as %s", text, m)
		}
	})
}
