package abi_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"chainexplorer/internal/abi"
	"chainexplorer/internal/felt"
)

// TestEncode writes arguments and reads them back: what is typed is what is decoded.
func TestEncode(t *testing.T) {
	s, err := abi.ParseSierra([]byte(callsABI))
	if err != nil {
		t.Fatal(err)
	}
	c := callsOf(s, true)
	most := felt.MustParse("0x800000000000011000000000000000000000000000000000000000000000000").String()
	for _, x := range []struct {
		kind  abi.FunctionKind
		name  string
		texts []string
		want  string // as decoded, or what is wrong
	}{
		{abi.External, "transfer", []string{"0x12", " 340282366920938463463374607431768211457 "}, "decoded transfer recipient=0x12 amount=340282366920938463463374607431768211457"},
		{abi.External, "execute", []string{"[{to: 1, selector: 'go', calldata: [1, 0x2,]}, {calldata: [], selector: 0, to: 2}]", "Some(5)"},
			"decoded execute calls=2 items calls[0].to=0x1 calls[0].selector=0x676f calls[0].calldata=[0x1, 0x2] calls[1].to=0x2 calls[1].selector=0x0 calls[1].calldata=[] when=Some when.Some=5"},
		{abi.External, "execute", []string{"[]", "None"}, "decoded execute calls=0 items when=None"},
		{abi.External, "plant", []string{`{"leaf": 1, "kids": [{leaf: 2, kids: []}]}`}, "decoded plant tree.leaf=1 tree.kids=1 item tree.kids[0].leaf=2 tree.kids[0].kids=0 items"},
		{abi.External, "nothing", nil, "decoded nothing"},
		{abi.External, "same", []string{"false"}, "decoded same x=false"},
		{abi.L1Handler, "handle", []string{"'L1'", "7"}, "decoded handle from_address=0x4c31 amount=7"},
		{abi.Constructor, "constructor", []string{`[a "name" of (more) than 31 characters, ünicode]`, "9"}, `decoded constructor name=[a "name" of (more) than 31 characters, ünicode] owner=0x9`},

		{abi.External, "transfer", []string{"0x12"}, "1 arguments were given, the function takes 2"},
		{abi.External, "transfer", []string{"", "1"}, "recipient: is missing"},
		{abi.External, "transfer", []string{"bob", "1"}, "recipient: is not a number: it may be decimal, or hexadecimal with 0x in front"},
		{abi.External, "transfer", []string{most, "1"}, "recipient: does not fit into 251 bits"},
		{abi.External, "transfer", []string{"1", "-1"}, "amount: is below zero"},
		{abi.External, "transfer", []string{"1", "0x1" + strings.Repeat("0", 64)}, "amount: does not fit into 256 bits"},
		{abi.External, "transfer", []string{"1", "1 2"}, `amount: ends too late: "2" is left over`},
		{abi.External, "same", []string{"maybe"}, "x: is neither true nor false"},
		{abi.External, "execute", []string{"[{to: 1}]", "None"}, "calls: item 1 needs the members to, selector, calldata in braces"},
		{abi.External, "execute", []string{"[", "None"}, "calls: is missing"},
		{abi.External, "execute", []string{"[]", "Some"}, "when: Some needs a value in parentheses"},
		{abi.External, "execute", []string{"[]", "Never"}, "when: needs one of Some, None"},
		{abi.External, "plant", []string{strings.Repeat("[", 100)}, "tree: is nested too deeply"},
		{abi.External, "plant", []string{`{leaf: 300, kids: []}`}, "tree: leaf does not fit into 8 bits"},
		{abi.External, "lost", []string{"1"}, "x: the type m::Undefined is not supported here"},
		{abi.External, "torn", []string{"true"}, "x"},
		{abi.Constructor, "constructor", []string{strings.Repeat("a", 31*64), "9"}, "name: takes more than the 64 felts that a call may have"},
	} {
		selector := felt.Selector(x.name)
		felts, err := c.Encode(x.kind, selector, x.texts, 64)
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = brief(c.Decode(x.kind, selector, felts))
		}
		if x.name == "torn" { // two functions of one name: whose arguments they are is not known
			if err == nil {
				t.Errorf("%s: %v", x.name, felts)
			}
			continue
		}
		if got != x.want {
			t.Errorf("%s%q\n got %s\nwant %s", x.name, x.texts, got, x.want)
		}
		if wrong := (*abi.ArgumentError)(nil); errors.As(err, &wrong) && !strings.HasPrefix(x.want, wrong.Label) {
			t.Errorf("%s: %s is blamed", x.name, wrong.Label)
		}
	}
	if _, err := c.Encode(abi.External, felt.Selector("absent"), nil, 64); !errors.Is(err, abi.ErrNoArguments) {
		t.Errorf("a function that is not there: %v", err)
	}
}

// TestEncodeCairo0 does so with the arguments of a Cairo 0 class, where a length and a
// pointer are one list.
func TestEncodeCairo0(t *testing.T) {
	s, err := abi.ParseCairo0([]byte(callsCairo0))
	if err != nil {
		t.Fatal(err)
	}
	c := callsOf(s, false)
	for name, x := range map[string]struct {
		texts []string
		want  string
	}{
		"transfer":    {[]string{"1", "{low: 5, high: 0}"}, ""},
		"point":       {[]string{"(3, 4)"}, "decoded point at.x=0x3 at.y=0x4"},
		"__execute__": {[]string{"[{to: 1, selector: 2, data_offset: 0, data_len: 1}]", "[9]", "7"}, "decoded __execute__ call_array=1 item call_array[0].to=0x1 call_array[0].selector=0x2 call_array[0].data_offset=0x0 call_array[0].data_len=0x1 calldata=[0x9] nonce=0x7"},
	} {
		if name == "transfer" { // Uint256 is a number of its own
			x.texts[1], x.want = "5", "decoded transfer recipient=0x1 amount=5"
		}
		felts, err := c.Encode(abi.External, felt.Selector(name), x.texts, 64)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := brief(c.Decode(abi.External, felt.Selector(name), felts)); got != x.want {
			t.Errorf("%s\n got %s\nwant %s", name, got, x.want)
		}
	}
}

// TestArguments says how each argument is written.
func TestArguments(t *testing.T) {
	s, err := abi.ParseSierra([]byte(callsABI))
	if err != nil {
		t.Fatal(err)
	}
	c := callsOf(s, true)
	var got []string
	for _, name := range []string{"transfer", "execute", "plant", "nothing", "lost", "same"} {
		list, ok := c.Arguments(abi.External, felt.Selector(name))
		if !ok {
			t.Errorf("%s is not known", name)
		}
		for _, a := range list {
			got = append(got, name+" "+a.Label+" "+string(a.Input)+" "+a.Example)
		}
	}
	want := []string{
		"transfer recipient number 0x123", "transfer amount number 1",
		"execute calls literal [{to: 0x123, selector: 1, calldata: [1, …]}, …]", "execute when literal Some(1)",
		"plant tree literal {leaf: 1, kids: [{leaf: 1, kids: […, …]}, …]}", "lost x  ", "same x bool true",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if _, ok := c.Arguments(abi.External, felt.Selector("torn")); ok {
		if list, _ := c.Arguments(abi.External, felt.Selector("torn")); len(list) != 1 || list[0].Input != abi.InputNone {
			t.Errorf("torn takes %v", list)
		}
	}
}

// FuzzEncode makes sure that no text does harm, and that what is accepted can be read back.
func FuzzEncode(f *testing.F) {
	s, err := abi.ParseSierra([]byte(callsABI))
	if err != nil {
		f.Fatal(err)
	}
	c := callsOf(s, true)
	for _, seed := range []string{"[]", "[{to: 1, selector: 'go', calldata: [1]}]", `{"`, "Some((((", "'\\", "-0x"} {
		f.Add(seed, seed)
	}
	execute := felt.Selector("execute")
	f.Fuzz(func(t *testing.T, a, b string) {
		felts, err := c.Encode(abi.External, execute, []string{a, b}, 64)
		if err != nil {
			return
		}
		if r := c.Decode(abi.External, execute, felts); len(felts) > 64 || r.Status != abi.Decoded {
			t.Errorf("%q and %q are %v, which reads as %s", a, b, felts, brief(r))
		}
	})
}
