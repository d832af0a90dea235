package wire

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	good := func(id string) string { return `{"jsonrpc":"2.0","method":"m","id":` + id + `}` }
	for _, c := range []struct {
		name, body string
		code       int    // of the whole message
		ids        string // of the calls; - for a notification, with ! for one that is none
	}{
		{"a call", good("1"), 0, "1"},
		{"white space around it", " \r\n\t" + good("1") + "\n", 0, "1"},
		{"a notification", `{"jsonrpc":"2.0","method":"m"}`, 0, "-"},
		{"an id that is null is an id", good("null"), 0, "null"},
		{"an id that is a text", good(`"a\u00e9\n"`), 0, `"a\u00e9\n"`},
		{"an id beyond a double", good("12345678901234567890123"), 0, "12345678901234567890123"},
		{"an id as it was written", good("1.50e+01"), 0, "1.50e+01"},
		{"an id below zero", good("-7"), 0, "-7"},
		{"an id that is an object", good(`{}`), 0, "!null"},
		{"an id that is true", good(`true`), 0, "!null"},
		{"other members", `{"jsonrpc":"2.0","method":"m","id":1,"extra":{"id":2}}`, 0, "1"},
		{"no version", `{"method":"m","id":1}`, 0, "!1"},
		{"the old version", `{"jsonrpc":"1.0","method":"m","id":1}`, 0, "!1"},
		{"a version that is a number", `{"jsonrpc":2.0,"method":"m","id":1}`, 0, "!1"},
		{"no method", `{"jsonrpc":"2.0","id":1}`, 0, "!1"},
		{"a method that is a number", `{"jsonrpc":"2.0","method":1,"params":"bar"}`, 0, "!null"},
		{"params that are a text", `{"jsonrpc":"2.0","method":"m","params":"bar","id":"x"}`, 0, `!"x"`},
		{"params that are null", `{"jsonrpc":"2.0","method":"m","params":null,"id":1}`, 0, "1"},
		{"two ids", `{"jsonrpc":"2.0","method":"m","id":1,"id":2}`, 0, "!null"},
		{"two methods, one spelt otherwise", `{"jsonrpc":"2.0","method":"m","meth\u006fd":"n","id":1}`, 0, "!1"},

		{"nothing", ``, CodeParse, ""},
		{"white space", ` `, CodeParse, ""},
		{"half a call", `{"jsonrpc":"2.0","method":"foobar,"params":"bar","baz]`, CodeParse, ""},
		{"something behind it", good("1") + "x", CodeParse, ""},
		{"two calls without a batch", good("1") + good("2"), CodeParse, ""},
		{"half a batch", `[` + good("1") + `,{"jsonrpc":"2.0","method"]`, CodeParse, ""},
		{"a comma too many", `[` + good("1") + `,]`, CodeParse, ""},
		{"not UTF-8", "{\"jsonrpc\":\"2.0\",\"method\":\"\xff\",\"id\":1}", CodeParse, ""},
		{"too deep", strings.Repeat("[", 1000) + strings.Repeat("]", 1000), CodeParse, ""},
		{"a number", `1`, CodeInvalidRequest, ""},
		{"a text", `"x"`, CodeInvalidRequest, ""},
		{"an empty batch", `[]`, CodeInvalidRequest, ""},
		{"a batch of what is no call", `[1,2,3]`, 0, "!null !null !null"},
		{"a mixed batch", `[` + good("1") + `,{"jsonrpc":"2.0","method":"n"},{"foo":"boo"},` + good(`"9"`) + `]`, 0, `1 - !null "9"`},
		{"as many as there may be", `[` + strings.TrimSuffix(strings.Repeat(good("1")+",", MaxBatch), ",") + `]`, 0, strings.TrimSpace(strings.Repeat("1 ", MaxBatch))},
		{"one too many", `[` + strings.TrimSuffix(strings.Repeat(good("1")+",", MaxBatch+1), ",") + `]`, CodeInvalidRequest, ""},
	} {
		calls, _, e := Parse([]byte(c.body))
		code := 0
		if e != nil {
			code = e.Code
		}
		var ids []string
		for _, got := range calls {
			id := string(got.ID)
			switch {
			case got.Notification():
				id = "-"
			case got.Invalid != nil:
				id = "!" + id
			}
			ids = append(ids, id)
		}
		if code != c.code || strings.Join(ids, " ") != c.ids {
			t.Errorf("%s: got code %d and ids %q, want %d and %q", c.name, code, strings.Join(ids, " "), c.code, c.ids)
		}
	}
}

// TestUntouched holds that what is passed on is what was written.
func TestUntouched(t *testing.T) {
	params := `{"block_id": {"block_number":  1e0}, "x":"<\u003c>"}`
	calls, _, e := Parse([]byte(`{"jsonrpc":"2.0","method":"a\u0062c","params": ` + params + ` ,"id":"\u0041"}`))
	if e != nil || len(calls) != 1 {
		t.Fatal(e, calls)
	}
	if got := calls[0]; string(got.Params) != params || got.Method != "abc" || string(got.ID) != `"\u0041"` {
		t.Errorf("got %s %q %s", got.Params, got.Method, got.ID)
	}
	if got := string(AppendResult(nil, calls[0].ID, json.RawMessage(`1.50`))); got != `{"jsonrpc":"2.0","id":"\u0041","result":1.50}` {
		t.Error(got)
	}
	if got := string(AppendError(nil, nil, json.RawMessage(`{"code":20.0}`))); got != `{"jsonrpc":"2.0","id":null,"error":{"code":20.0}}` {
		t.Error(got)
	}
}

// TestCounterAgreesWithParse holds that the two count the same, however the body
// is cut into pieces.
func TestCounterAgreesWithParse(t *testing.T) {
	for items, exceeded := range map[int]bool{0: false, 1: false, MaxBatch: false, MaxBatch + 1: true, 3 * MaxBatch: true} {
		body := `[` + strings.TrimSuffix(strings.Repeat(`{"a":[1,2,"],[\"\\"],"b":{"c":[]}} ,`, items), ",") + `]`
		for _, step := range []int{1, 7, 1 << 20} {
			var c Counter
			for at := 0; at < len(body); at += step {
				c.Write([]byte(body[at:min(at+step, len(body))])) //nolint:errcheck // it never fails
			}
			if c.Exceeded() != exceeded {
				t.Errorf("%d items in steps of %d: exceeded is %t", items, step, c.Exceeded())
			}
		}
	}
	var c Counter
	c.Write([]byte(`{"a":[` + strings.Repeat("1,", 500) + `1]}`)) //nolint:errcheck // it never fails
	if c.Exceeded() {
		t.Error("an object is no batch")
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","method":"m","params":[1,{"a":null}],"id":1}`))
	f.Add([]byte(`[{"jsonrpc":"2.0","method":"m"},1,[]]`))
	f.Add([]byte(`[`))
	f.Fuzz(func(t *testing.T, body []byte) {
		calls, batch, e := Parse(body)
		if e != nil {
			if len(calls) > 0 || e.Code != CodeParse && e.Code != CodeInvalidRequest {
				t.Fatalf("%d calls and %v", len(calls), e)
			}
			if e.Name == BatchTooLarge {
				var c Counter
				if c.Write(body); !c.Exceeded() { //nolint:errcheck // it never fails
					t.Fatal("the counter lets a batch pass that is too large")
				}
			}
			return
		}
		if !json.Valid(body) || len(calls) == 0 || !batch && len(calls) != 1 || len(calls) > MaxBatch {
			t.Fatalf("%d calls from %q", len(calls), body)
		}
		var c Counter
		if c.Write(body); c.Exceeded() { //nolint:errcheck // it never fails
			t.Fatal("the counter refuses a batch that is not too large")
		}
		for _, call := range calls {
			if call.Notification() {
				continue
			}
			if answer := AppendResult(nil, call.ID, json.RawMessage("1")); !json.Valid(answer) {
				t.Fatalf("an answer that is not JSON: %s", answer)
			}
		}
	})
}
