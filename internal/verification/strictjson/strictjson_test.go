package strictjson_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"chainexplorer/internal/verification/strictjson"
)

func TestIntegersHoweverTheyAreSpelled(t *testing.T) {
	for text, want := range map[string]uint64{
		"0": 0, "0.0": 0, "0e0": 0, "0.000e-99999999999999999999": 0, "0E+5": 0, "7": 7, "12345": 12345, "12345.0": 12345, "12345.000": 12345, "12345e0": 12345,
		"12345E0": 12345, "1.2345e4": 12345, "1.2345E+4": 12345, "0.12345e5": 12345, "0.0012345e7": 12345, "123450e-1": 12345, "1234500.00e-2": 12345,
		"12345e000": 12345, "9007199254740991": 1<<53 - 1, "9.007199254740991e15": 1<<53 - 1, "90071992547409910e-1": 1<<53 - 1,
	} {
		o, err := strictjson.Parse([]byte(`{"n":`+text+`}`), 1000)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := o.Integer("n", 0, strictjson.MaxInteger); err != nil || n != want {
			t.Errorf("%s is %d, %v", text, n, err)
		}
	}
	for text, want := range map[string]string{
		"-1": "negative", "-0": "negative", "-0.0": "negative", "-1e5": "negative", "1.5": "not an integer", "1e-1": "not an integer", "0.1": "not an integer",
		"1.00000000000000000001": "not an integer", "12345e-99999999999999999999": "not an integer", "1e-65": "not an integer", "9007199254740992": "larger", "9007199254740991.5": "not an integer",
		"1e16": "larger", "1e65": "larger", "1e99999999999999999999": "larger", "18446744073709551617": "larger", `"1"`: "not a number", "true": "not a number", "null": "not a number",
		"[1]": "not a number", "{}": "not a number", "1" + strings.Repeat("0", 64): "64 characters", "0." + strings.Repeat("0", 64): "64 characters",
	} {
		o, err := strictjson.Parse([]byte(`{"n":`+text+`}`), 1000)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := o.Integer("n", 0, strictjson.MaxInteger); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s is %d, %v; want %s", text, n, err, want)
		}
	}
}

func TestWhatIsNotUnderstoodTheSameIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		``: "not JSON", `[]`: "not an object", `"x"`: "not an object", `null`: "not an object", `{"a":1}{"b":2}`: "not JSON", `{"a":1} x`: "not JSON", `{"a":1,}`: "not JSON",
		`{a:1}`: "not JSON", `{'a':1}`: "not JSON", `{"a":01}`: "not JSON", `{"a":+1}`: "not JSON", `{"a":.5}`: "not JSON", `{"a":0x1}`: "not JSON", `{"a":NaN}`: "not JSON",
		"{\"a\":\"\n\"}": "not JSON", "\ufeff{}": "not JSON", "{} // c": "not JSON", "{\"a\":\"\xff\"}": "not UTF-8", `{"a":1,"a":1}`: "a: it is there twice",
		`{"a":1,"\u0061":2}`: "a: it is there twice", `{"b":{"c":[{"d":1,"d":2}]}}`: "b.c[0].d: it is there twice", `{"":1,"":1}`: `"": it is there twice`,
		strings.Repeat(`{"a":`, 20) + "1" + strings.Repeat("}", 20): "nested", `{"a":` + strings.Repeat("[", 20) + strings.Repeat("]", 20) + "}": "nested",
		`{"a":"` + strings.Repeat("x", 1000) + `"}`: "more than 1000 bytes",
	} {
		o, err := strictjson.Parse([]byte(text), 1000)
		var fault *strictjson.Error
		if !errors.As(err, &fault) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v, %v; want %s", text, o, err, want)
		}
	}
}

func TestMembers(t *testing.T) {
	o, err := strictjson.Parse([]byte(` {"s":"x","n":null,"o":{"i":1},"l":["a","b"],"m":["a",1],"p":[{}]} `), 1000)
	if err != nil {
		t.Fatal(err)
	}
	if err := o.Exactly("s", "n", "o", "l", "m", "p"); err != nil {
		t.Error(err)
	}
	if err := o.Exactly("s", "n", "o", "l", "m"); err == nil || err.Error() != "p: it does not belong here" {
		t.Error(err)
	}
	if err := o.Exactly("s", "n", "o", "l", "m", "p", "q"); err == nil || err.Error() != "q: it is missing" {
		t.Error(err)
	}
	if s, err := o.String("s"); err != nil || s != "x" {
		t.Error(s, err)
	}
	if s, err := o.OptionalString("n"); err != nil || s != nil {
		t.Error(s, err)
	}
	if s, err := o.OptionalString("s"); err != nil || *s != "x" {
		t.Error(s, err)
	}
	if l, err := o.Strings("l"); err != nil || strings.Join(l, "") != "ab" {
		t.Error(l, err)
	}
	inner, err := o.Object("o")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := inner.String("i"); err == nil || err.Error() != "o.i: it is not a string" {
		t.Error(err)
	}
	for name, err := range map[string]error{
		"a string":           second(o.Object("s")),
		"null":               second(o.String("n")),
		"nothing":            second(o.OptionalString("none")),
		"mixed":              second(o.Strings("m")),
		"objects as strings": second(o.Strings("p")),
		"strings as objects": second(o.Objects("l")),
		"an object":          second(o.Strings("o")),
	} {
		if err == nil {
			t.Errorf("%s is taken for something else", name)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// TestCanonicalForm has the examples that RFC 8785 publishes, in 3.2.2, 3.2.3 and appendix B.
func TestCanonicalForm(t *testing.T) {
	for in, want := range map[string]string{
		`{"numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
		  "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/", "literals": [null, true, false]}`: `{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
		`{"\u20ac": "Euro Sign", "\r": "Carriage Return", "\ufb33": "Hebrew Letter Dalet With Dagesh", "1": "One", "\ud83d\ude00": "Emoji: Grinning Face",
		  "\u0080": "Control", "\u00f6": "Latin Small Letter O With Diaeresis"}`: "{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\u0080\":\"Control\",\"\u00f6\":\"Latin Small Letter O With Diaeresis\"," +
			"\"\u20ac\":\"Euro Sign\",\"\U0001f600\":\"Emoji: Grinning Face\",\"\ufb33\":\"Hebrew Letter Dalet With Dagesh\"}",
	} {
		if got, err := strictjson.Canonical(json.RawMessage(in)); err != nil || string(got) != want {
			t.Errorf("%s\nis %s (%v)\nand not %s", in, got, err, want)
		}
	}
	for bits, want := range map[uint64]string{
		0x0000000000000000: "0", 0x8000000000000000: "0", 0x0000000000000001: "5e-324", 0x8000000000000001: "-5e-324", 0x7fefffffffffffff: "1.7976931348623157e+308",
		0xffefffffffffffff: "-1.7976931348623157e+308", 0x4340000000000000: "9007199254740992", 0xc340000000000000: "-9007199254740992", 0x4430000000000000: "295147905179352830000",
		0x44b52d02c7e14af5: "9.999999999999997e+22", 0x44b52d02c7e14af6: "1e+23", 0x44b52d02c7e14af7: "1.0000000000000001e+23", 0x444b1ae4d6e2ef4e: "999999999999999700000",
		0x444b1ae4d6e2ef4f: "999999999999999900000", 0x444b1ae4d6e2ef50: "1e+21", 0x3eb0c6f7a0b5ed8c: "9.999999999999997e-7", 0x3eb0c6f7a0b5ed8d: "0.000001",
		0x41b3de4355555553: "333333333.3333332", 0x41b3de4355555554: "333333333.33333325", 0x41b3de4355555555: "333333333.3333333", 0x41b3de4355555556: "333333333.3333334",
		0x41b3de4355555557: "333333333.33333343", 0xbecbf647612f3696: "-0.0000033333333333333333", 0x43143ff3c1cb0959: "1424953923781206.2",
	} {
		if got, err := strictjson.Canonical(math.Float64frombits(bits)); err != nil || string(got) != want {
			t.Errorf("%x is %s (%v), not %s", bits, got, err, want)
		}
	}
	if got, err := strictjson.Canonical(map[string]any{"n": uint64(strictjson.MaxInteger)}); err != nil || string(got) != `{"n":9007199254740991}` {
		t.Errorf("the largest integer: %s, %v", got, err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`{"a":1.5e3,"b":["x",null,{"c":true}]}`, "a")
	f.Add(`{"a":1,"\u0061":2}`, "a")
	f.Fuzz(func(t *testing.T, text, name string) {
		o, err := strictjson.Parse([]byte(text), 4096)
		if err != nil {
			return
		}
		n, err := o.Integer(name, 0, strictjson.MaxInteger)
		if err != nil {
			return
		}
		// What an ordinary reader takes the number for is the same.
		var plain map[string]any
		if err := json.Unmarshal([]byte(text), &plain); err != nil {
			t.Fatal(err)
		}
		if f, ok := plain[name].(float64); !ok || f != float64(n) {
			t.Errorf("%q: %d is %v elsewhere", text, n, plain[name])
		}
	})
}
