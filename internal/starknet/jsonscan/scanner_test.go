package jsonscan_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"chainexplorer/internal/starknet/jsonscan"
)

func skip(data []byte) error {
	s := jsonscan.New(data)
	s.Skip()
	s.End()
	return s.Err()
}

var texts = []string{
	``, ` `, `null`, `nul`, `nullx`, `true`, `false`, `0`, `-0`, `00`, `01`, `-`, `1.`, `.5`, `1.5e+3`, `1e`, `1E-7`, `+1`, `1 2`, `{}`, `[]`, `[1,]`, `[,1]`,
	`{"a":1,}`, `{"a" : [1, {"b":null}] }`, `{"a"}`, `{a:1}`, `{"a":1 "b":2}`, `[1 2]`, `"`, `"a`, `"\`, `"\"`, `"\u12"`, `"\ud83d\ude00"`, `"\ud83d"`, `"\ude00\ud83d"`,
	"\"\x01\"", "\"\x7f\"", "\"\xff\"", `"\x"`, `"\/\b\f\n\r\t\\\""`, "\x00", "[\x00]", "\ufeff1", `{"a":{"b":{}},"c":[[],[[]]]}`, ` [ ] `, "[1\v]", `{"\u0061":1}`, `'a'`, `tru`, `[true,false,null]`,
}

func TestSkipAgreesWithEncodingJSON(t *testing.T) {
	for _, text := range texts {
		if err := skip([]byte(text)); (err == nil) != json.Valid([]byte(text)) {
			t.Errorf("%q: %v, encoding/json says %v", text, err, json.Valid([]byte(text)))
		}
	}
}

func FuzzSkip(f *testing.F) {
	for _, text := range texts {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		err := skip(data)
		if errors.Is(err, jsonscan.ErrDepth) {
			return
		}
		if (err == nil) != json.Valid(data) {
			t.Fatalf("%q: %v, encoding/json says %v", data, err, json.Valid(data))
		}
		if err != nil || len(data) == 0 || strings.TrimLeft(string(data), " \t\r\n")[0] != '"' {
			return
		}
		s := jsonscan.New(data)
		got := strings.ToValidUTF8(string(s.String()), "\uFFFD")
		var want string
		if err := json.Unmarshal(data, &want); err != nil {
			t.Fatal(err)
		}
		// A run of bad bytes is one replacement here and many there.
		squeeze := func(s string) string {
			for strings.Contains(s, "\uFFFD\uFFFD") {
				s = strings.ReplaceAll(s, "\uFFFD\uFFFD", "\uFFFD")
			}
			return s
		}
		if squeeze(got) != squeeze(want) {
			t.Fatalf("string %q is %q, want %q", data, got, want)
		}
	})
}

func TestDepthIsBounded(t *testing.T) {
	nest := func(n int) []byte { return []byte(strings.Repeat("[", n) + "1" + strings.Repeat("]", n)) }
	if err := skip(nest(jsonscan.MaxDepth)); err != nil {
		t.Errorf("depth %d: %v", jsonscan.MaxDepth, err)
	}
	if err := skip(nest(jsonscan.MaxDepth + 1)); !errors.Is(err, jsonscan.ErrDepth) {
		t.Errorf("depth %d: %v", jsonscan.MaxDepth+1, err)
	}
	wide := []byte("[" + strings.Repeat("[],{},", 1000) + "0]")
	if err := skip(wide); err != nil {
		t.Errorf("a wide text counts as deep: %v", err)
	}
}

func TestUint64(t *testing.T) {
	for text, want := range map[string]uint64{"0": 0, "7": 7, " 12 ": 12, "18446744073709551615": 18446744073709551615} {
		s := jsonscan.New([]byte(text))
		if got := s.Uint64(); got != want || s.Err() != nil {
			t.Errorf("%q is %d (%v)", text, got, s.Err())
		}
	}
	for _, text := range []string{"", "-1", "01", "1.0", "1e3", "18446744073709551616", "99999999999999999999999", `"1"`, "x"} {
		s := jsonscan.New([]byte(text))
		if s.Uint64(); s.Err() == nil {
			t.Errorf("%q accepted", text)
		}
	}
}

func TestReadingMembers(t *testing.T) {
	s := jsonscan.New([]byte(` { "n" : 5 , "s":"a\u00e9\n", "b":true,"z":null, "raw": [1, {"x":"y"}] , "q":"0x1f", "l":["a","b"] } `))
	seen := 0
	for ok := s.OpenObject(); ok; ok = s.NextMember() {
		good := false
		switch key := string(s.Key()); key {
		case "n":
			good = s.Uint64() == 5
		case "s":
			good = string(s.String()) == "a\u00e9\n"
		case "b":
			good = s.Bool()
		case "z":
			good = s.Null()
		case "raw":
			good = string(s.Raw()) == `[1, {"x":"y"}]`
		case "q":
			good = string(s.Quoted()) == "0x1f"
		case "l":
			var all string
			for ok := s.OpenArray(); ok; ok = s.NextElement() {
				all += string(s.String())
			}
			good = all == "ab"
		}
		if good {
			seen++
		}
	}
	s.End()
	if seen != 7 || s.Err() != nil {
		t.Errorf("%d of 7 members read (%v)", seen, s.Err())
	}
}

// After an error every method ends its loop, whatever it is asked.
func TestErrorsStick(t *testing.T) {
	s := jsonscan.New([]byte(`{"a":x,"b":[1,2]}`))
	steps := 0
	for ok := s.OpenObject(); ok; ok = s.NextMember() {
		s.Key()
		s.Skip()
		steps++
	}
	var e *jsonscan.Error
	if !errors.As(s.Err(), &e) || e.Offset != 5 || steps != 1 {
		t.Errorf("%d steps, %v", steps, s.Err())
	}
	s.Skip()
	s.End()
	if s.String() != nil || s.Uint64() != 0 || s.OpenArray() || s.Null() || s.Bool() || s.Raw() != nil || s.Requote(0) != nil || s.Err() != error(e) {
		t.Error("a scanner goes on after an error")
	}
}
