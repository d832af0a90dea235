package node

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestScanEnvelopes(t *testing.T) {
	for _, tc := range []struct {
		name, body string
		batch      bool
		want       []string // id|result|error of each
	}{
		{"one", `{"jsonrpc":"2.0","id":1,"result":{"a":[1,"x\"]",{}]}}`, false, []string{`1|{"a":[1,"x\"]",{}]}|`}},
		{"spaces", " \n{ \"id\" : \"a\" ,\t\"error\" : { \"code\" : 24 } } \r\n", false, []string{`"a"||{ "code" : 24 }`}},
		{"batch", `[{"id":2,"result":null},{"result":[],"id":1}]`, true, []string{`2|null|`, `1|[]|`}},
		{"empty batch", ` [ ] `, true, nil},
		{"escaped name", `{"\u0069d":3,"res\u0075lt":0.5e-1}`, false, []string{`3|0.5e-1|`}},
		{"nested names do not count", `{"result":{"id":9,"error":1},"id":1}`, false, []string{`1|{"id":9,"error":1}|`}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			envs, batch, err := scanEnvelopes([]byte(tc.body), 10)
			if err != nil || batch != tc.batch || len(envs) != len(tc.want) {
				t.Fatalf("got %d envelopes, batch %v, %v", len(envs), batch, err)
			}
			for i, e := range envs {
				if got := fmt.Sprintf("%s|%s|%s", e.id, e.result, e.err); got != tc.want[i] {
					t.Errorf("envelope %d: %s, want %s", i, got, tc.want[i])
				}
			}
		})
	}
}

func TestScanEnvelopesRefuses(t *testing.T) {
	good := `{"jsonrpc":"2.0","id":1,"result":{"a":[1,-2.5e3,true,false,null,"x\u00e9\n"]}}`
	if _, _, err := scanEnvelopes([]byte(good), 1); err != nil {
		t.Fatal(err)
	}
	bad := []string{
		"", " ", "1", `"x"`, "null", "[1]", `{"id":1}x`, `{"id":1}{"id":1}`, `{"id":01}`, `{"id":1,}`, `{,}`, `[{"id":1},]`,
		`{"id":1,"id":2}`, `{"result":1,"result":1}`, `{"id":1 "result":2}`, `{"result":tru}`, `{"result":"\x"}`, `{"result":"\u12g4"}`,
		"{\"result\":\"a\nb\"}", `{"result":[1}}`, `{"result":{"a"}}`, `{"result":{1:2}}`, `{"result":-}`, `{"result":1.}`, `{"result":1e}`,
		`{"result":` + strings.Repeat("[", maxDepth+1) + strings.Repeat("]", maxDepth+1) + `}`,
		`[{"id":1},{"id":2}]`, // more than asked for
	}
	for i := range good { // every truncation
		bad = append(bad, good[:i])
	}
	for _, body := range bad {
		if _, _, err := scanEnvelopes([]byte(body), 1); !errors.Is(err, ErrMalformed) {
			t.Errorf("%.60q: %v", body, err)
		}
	}
}

// FuzzScanEnvelopes compares the scanner with encoding/json: it accepts
// exactly the valid bodies of envelope shape, and finds the same parts.
func FuzzScanEnvelopes(f *testing.F) {
	for _, s := range []string{
		`{"jsonrpc":"2.0","id":1,"result":{"a":[1,"x\"]",{}]}}`, `[{"id":2,"result":null},{"error":{"code":-1},"id":1}]`, `[]`, `{}`,
		`{"\u0069d":3,"result":0.5e-1}`, `{"id":1,"id":2}`, `{"result":"é\ud800\\"}`, "{\"result\":\"\x7f\xff\"}", `{"result":[[[[]]]],"id":-0}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		envs, batch, err := scanEnvelopes(body, len(body))
		want, wantBatch, wantOK := reference(body)
		if (err == nil) != wantOK {
			t.Fatalf("accepted %v, encoding/json %v: %v", err == nil, wantOK, err)
		}
		if err != nil {
			return
		}
		if batch != wantBatch || len(envs) != len(want) {
			t.Fatalf("batch %v of %d, want %v of %d", batch, len(envs), wantBatch, len(want))
		}
		for i, e := range envs {
			for _, part := range []struct{ got, want json.RawMessage }{
				{e.id, want[i].id}, {e.result, want[i].result}, {e.err, want[i].err},
			} {
				if !bytes.Equal(part.got, part.want) || (part.got == nil) != (part.want == nil) {
					t.Fatalf("envelope %d: %q, want %q", i, part.got, part.want)
				}
			}
		}
	})
}

func reference(body []byte) (out []envelope, batch, ok bool) {
	if !json.Valid(body) || depth(body) > 500 {
		// Beyond the scanner's depth only refusal is right; nearly there,
		// neither answer is checked.
		return nil, false, json.Valid(body) && acceptsDeep(body)
	}
	var objects []json.RawMessage
	if trimmed := bytes.TrimLeft(body, " \t\r\n"); trimmed[0] == '[' {
		batch = true
		if json.Unmarshal(body, &objects) != nil {
			return nil, batch, false
		}
	} else {
		objects = []json.RawMessage{trimmed}
	}
	for _, o := range objects {
		e, ok := referenceOne(o)
		if !ok {
			return nil, batch, false
		}
		out = append(out, e)
	}
	return out, batch, true
}

func acceptsDeep(body []byte) bool {
	_, _, err := scanEnvelopes(body, len(body))
	return err == nil
}

func depth(body []byte) int {
	return max(bytes.Count(body, []byte{'['}), bytes.Count(body, []byte{'{'}))
}

// referenceOne walks the tokens of one object, because only they show members
// that come twice.
func referenceOne(raw []byte) (e envelope, ok bool) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if tok, err := dec.Token(); err != nil || tok != json.Delim('{') {
		return e, false
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return e, false
		}
		var v json.RawMessage
		if dec.Decode(&v) != nil {
			return e, false
		}
		into := map[any]*json.RawMessage{"id": &e.id, "result": &e.result, "error": &e.err}[key]
		if into == nil {
			continue
		}
		if *into != nil {
			return e, false
		}
		*into = v
	}
	return e, true
}

// BenchmarkScanEnvelopes compares with the plain way on a body like a block's.
func BenchmarkScanEnvelopes(b *testing.B) {
	felt := `"0x4718f5a0fc34cc1af16a1cdee98ffb20c31f5cd61d6ab07201858f4287c938d"`
	tx := `{"type":"INVOKE","version":"0x3","nonce":"0x1","calldata":[` + strings.Repeat(felt+",", 30) + felt + `],"tip":"0x0"}`
	body := []byte(`[{"jsonrpc":"2.0","id":1,"result":{"block_number":1,"transactions":[` + strings.Repeat(tx+",", 80) + tx + `]}}]`)
	b.Run("scanner", func(b *testing.B) {
		b.SetBytes(int64(len(body)))
		for b.Loop() {
			if _, _, err := scanEnvelopes(body, 2); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("encoding/json", func(b *testing.B) {
		b.SetBytes(int64(len(body)))
		for b.Loop() {
			var out []struct {
				ID     int
				Result json.RawMessage
				Error  *RPCError
			}
			if err := json.Unmarshal(body, &out); err != nil {
				b.Fatal(err)
			}
		}
	})
}
