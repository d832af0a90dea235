package request_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/relay/request"
)

const good = `{"block_id":{"block_number":7},"transaction":{"type":"INVOKE","version":"0x3","sender_address":"0x5e0","calldata":["0x1","0x5e0","0x7","0x4"],"signature":["0x1","0x2"],"nonce":"0x0","tip":"0x0",` +
	`"resource_bounds":{"l1_gas":{"max_amount":"0x0","max_price_per_unit":"0x0"},"l2_gas":{"max_amount":"0x5f5e100","max_price_per_unit":"0x0"},"l1_data_gas":{"max_amount":"0x0","max_price_per_unit":"0x0"}},` +
	`"paymaster_data":[],"account_deployment_data":[],"nonce_data_availability_mode":"L1","fee_data_availability_mode":"L1"}}`

func digest(t *testing.T, body string) string {
	t.Helper()
	r, err := request.Parse([]byte(body), request.Options{})
	if err != nil {
		t.Fatalf("%.200s: %v", body, err)
	}
	h := sha256.New()
	r.Digest(h)
	r.Clear()
	return string(h.Sum(nil))
}

// TestTheSameRequest: the order of members, white space and escapes make no other request,
// and everything else does.
func TestTheSameRequest(t *testing.T) {
	want := digest(t, good)
	var parts map[string]json.RawMessage
	if err := json.Unmarshal([]byte(good), &parts); err != nil {
		t.Fatal(err)
	}
	turned := `{"transaction":` + string(parts["transaction"]) + `,"block_id":` + string(parts["block_id"]) + `}`
	var spread bytes.Buffer
	if err := json.Indent(&spread, []byte(turned), "\r", "\t "); err != nil {
		t.Fatal(err)
	}
	for name, body := range map[string]string{
		"turned": turned, "spread": spread.String(),
		"escaped value": strings.Replace(good, "INVOKE", `I\u004eVOKE`, 1), "escaped name": strings.Replace(good, `"tip"`, `"\u0074ip"`, 1), "escaped slash": strings.Replace(good, `"L1"`, `"\u004c1"`, 1),
	} {
		if digest(t, body) != want {
			t.Errorf("%s is another request", name)
		}
	}
	for name, change := range map[string][2]string{
		"another block": {`"block_number":7`, `"block_number":8`}, "an array turned": {`["0x1","0x2"]`, `["0x2","0x1"]`}, "a felt spelled otherwise": {`"0x7"`, `"0x07"`}, "one felt less": {`"0x7","0x4"`, `"0x7"`},
		"a member more": {`"tip":"0x0"`, `"tip":"0x0","proof":""`}, "two felts as one": {`["0x1","0x2"]`, `["0x1"]`}, "moved between lists": {`"0x4"],"signature":["0x1"`, `"0x4","0x1"],"signature":["0x1"`},
		"null": {`"tip":"0x0"`, `"tip":"0x0","x":null`}, "false": {`"tip":"0x0"`, `"tip":"0x0","x":false`}, "zero": {`"tip":"0x0"`, `"tip":"0x0","x":0`}, "text": {`"tip":"0x0"`, `"tip":"0x0","x":"0"`}, "other text": {`"tip":"0x0"`, `"tip":"0x0","x":"\n"`},
	} {
		if body := strings.Replace(good, change[0], change[1], 1); body == good || digest(t, body) == want {
			t.Errorf("%s is the same request", name)
		}
	}
}

// TestWhatTheProverWouldRefuse is refused before, and the words repeat nothing of it.
func TestWhatTheProverWouldRefuse(t *testing.T) {
	const secret = "5ec2e7"
	for _, c := range []struct{ name, old, new, want string }{
		{"pending", `{"block_number":7}`, `"pending"`, "body.block_id: it is not an object"},
		{"a hash", `{"block_number":7}`, `{"block_hash":"0x5ec2e7"}`, "body.block_id: it must be"},
		{"a hash too", `{"block_number":7}`, `{"block_number":7,"5ec2e7":1}`, "body.block_id: it has members"},
		{"a negative block", `:7}`, `:-7}`, "block_number: it is not a whole number"},
		{"half a block", `:7}`, `:7.5}`, "block_number"},
		{"a block by power", `:7}`, `:7e1}`, "block_number"},
		{"a block as text", `:7}`, `:"7"}`, "block_number"},
		{"a giant block", `:7}`, `:99999999999999999999}`, "block_number"},
		{"no transaction", `"transaction"`, `"5ec2e7"`, "body.transaction: it is missing"},
		{"a member more", `{"block_id"`, `{"5ec2e7":1,"block_id"`, "body: it has members other"},
		{"a deployment", "INVOKE", "DEPLOY_ACCOUNT", "transaction.type: only Invoke"},
		{"version 1", `"version":"0x3"`, `"version":"0x1"`, "transaction.version"},
		{"a version as number", `"version":"0x3"`, `"version":3`, "transaction.version"},
		{"no nonce", `"nonce"`, `"5ec2e7"`, "transaction.nonce: it is missing"},
		{"no calldata", `"calldata"`, `"5ec2e7"`, "transaction.calldata: it is missing"},
		{"calldata as text", `["0x1","0x2"]`, `"0x5ec2e7"`, "transaction.signature: it is not an array"},
		{"no felt", `"0x2"]`, `"5ec2e7"]`, "transaction.signature[1]: it is not a felt"},
		{"a felt as large as the prime", `"0x2"]`, `"0x800000000000011000000000000000000000000000000000000000000000001"]`, "signature[1]"},
		{"a longer felt", `"0x2"]`, `"0x1000000000000000000000000000000000000000000000000000000000000000"]`, "signature[1]"},
		{"an empty felt", `"0x2"]`, `"0x"]`, "signature[1]"},
		{"a number as felt", `"0x2"]`, `2]`, "signature[1]"},
		{"a tip", `"tip":"0x0"`, `"tip":"0x1"`, "transaction.tip: it must be 0x0"},
		{"no tip", `"tip"`, `"5ec2e7"`, "transaction.tip: it is missing"},
		{"a price", `"max_price_per_unit":"0x0"}`, `"max_price_per_unit":"0x5ec2e7"}`, "max_price_per_unit: it must be 0x0"},
		{"no gas", `"0x5f5e100"`, `"0x0"`, "l2_gas.max_amount: it must not be 0x0"},
		{"too much gas", `"0x5f5e100"`, `"0x10000000000000000"`, "l2_gas.max_amount: it is not a number"},
		{"no bounds of data", `"l1_data_gas"`, `"5ec2e7"`, "l1_data_gas: it is missing"},
		{"another mode", `"nonce_data_availability_mode":"L1"`, `"nonce_data_availability_mode":"5ec2e7"`, "it is neither L1 nor L2"},
		{"a proof", `"tip"`, `"proof":"5ec2e7","tip"`, "transaction.proof: it must not be there"},
		{"facts", `"tip"`, `"proof_facts":["0x5ec2e7"],"tip"`, "transaction.proof_facts"},
		{"a member twice", `"tip"`, `"tip":"0x0","tip"`, "a member twice"},
		{"twice by an escape", `"tip"`, `"\u0074ip":"0x0","tip"`, "a member twice"},
		{"deep inside", `"tip"`, `"5ec2e7":[{"a":1,"a":1}],"tip"`, "a member twice"},
		{"half a pair", `"INVOKE"`, `"\ud800"`, "an escape"},
		{"a pair of halves", `"INVOKE"`, `"\ud800\ud800"`, "an escape"},
		{"no escape", `"INVOKE"`, `"\x"`, "an escape"},
		{"cut off", `"L1"}}`, `"L1"`, "it is not JSON"},
		{"more behind", `"L1"}}`, `"L1"}}{}`, "something follows"},
		{"a comma too many", `"0x2"]`, `"0x2",]`, "it is not JSON"},
		{"a leading zero", `:7}`, `:07}`, "it is not JSON"},
		{"a bare point", `:7}`, `:7.}`, "it is not JSON"},
		{"no value", `:7}`, `:}`, "it is not JSON"},
		{"a control character", `"INVOKE"`, "\"IN\x01VOKE\"", "it is not JSON"},
		{"no UTF-8", `"INVOKE"`, "\"IN\xffVOKE\"", "it is not UTF-8"},
		{"too deep", `"tip"`, `"5ec2e7":` + strings.Repeat("[", 30) + strings.Repeat("]", 30) + `,"tip"`, "nested"},
		{"too many", `"tip"`, `"5ec2e7":[` + strings.Repeat("0,", 100_000) + `0],"tip"`, "too many"},
		{"too long", `"tip"`, strings.Repeat(" ", 1<<20) + `"tip"`, "more than 1048576 bytes"},
		{"a list", good, `[]`, "it is not an object"}, {"nothing", good, ``, "it is not JSON"}, {"null", good, `null`, "it is not an object"}, {"nul", good, `nul`, "it is not JSON"},
	} {
		_, err := request.Parse([]byte(strings.Replace(good, c.old, c.new, 1)), request.Options{})
		var e *request.Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
			continue
		}
		if strings.Contains(err.Error(), secret) {
			t.Errorf("%s: the error repeats what was sent: %v", c.name, err)
		}
	}
	for name, change := range map[string][2]string{
		"the largest felt": {`"0x2"]`, `"0x800000000000011000000000000000000000000000000000000000000000000"]`}, "upper case": {`"0x2"]`, `"0xAB"]`}, "zeros in front": {`"0x2"]`, `"0x0000000000000000000000000000000000000000000000000000000000000002"]`},
		"block 0": {`:7}`, `:0}`}, "no facts": {`"tip"`, `"proof_facts":[],"tip"`}, "no proof": {`"tip"`, `"proof":"","tip"`}, "what we do not know": {`"tip"`, `"x":{"y":[1.5e3,true,false,null,"\ud83d\ude00"]},"tip"`},
	} {
		if _, err := request.Parse([]byte(strings.Replace(good, change[0], change[1], 1)), request.Options{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestPoolOnly: with pools, others are refused.
func TestPoolOnly(t *testing.T) {
	pool, other := felt.FromUint64(0x5e0), felt.FromUint64(0x5e1)
	o := request.Options{Pools: []request.Word{request.Word(other), request.Word(pool)}, Selector: request.Word(felt.FromUint64(7))}
	if _, err := request.Parse([]byte(good), o); err != nil {
		t.Error(err)
	}
	for name, change := range map[string][2]string{
		"another sender": {`"sender_address":"0x5e0"`, `"sender_address":"0x5e2"`}, "another pool is called": {`"0x1","0x5e0"`, `"0x1","0x5e1"`}, "two calls": {`["0x1","0x5e0"`, `["0x2","0x5e0"`},
		"another function": {`"0x7"`, `"0x8"`}, "no call": {`["0x1","0x5e0","0x7","0x4"]`, `["0x1","0x5e0"]`},
	} {
		if _, err := request.Parse([]byte(strings.Replace(good, change[0], change[1], 1)), o); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}

// FuzzParse: what is taken is JSON that the standard library reads the same, with one digest
// however its members are turned, and nothing is read beyond the body.
func FuzzParse(f *testing.F) {
	f.Add([]byte(good), uint64(1))
	f.Add([]byte(strings.Replace(good, `"tip"`, `"x":{"y":[1.5e3,true,{"\u00e9":"\ud83d\ude00"}]},"tip"`, 1)), uint64(2))
	f.Add([]byte(`{"block_id":{"block_number":1},"transaction":{}}`), uint64(3))
	f.Fuzz(func(t *testing.T, body []byte, seed uint64) {
		before := bytes.Clone(body)
		r, err := request.Parse(body, request.Options{})
		if !bytes.Equal(before, body) {
			t.Fatal("the body was changed")
		}
		if err != nil {
			return
		}
		if !json.Valid(body) {
			t.Fatal("it is not JSON")
		}
		h := sha256.New()
		r.Digest(h)
		turned := turn(body, rand.New(rand.NewPCG(seed, 1)))
		again, err := request.Parse(turned, request.Options{})
		if err != nil {
			t.Fatalf("turned it is refused: %v", err)
		}
		g := sha256.New()
		again.Digest(g)
		if !bytes.Equal(h.Sum(nil), g.Sum(nil)) {
			t.Fatalf("turned it is another request:\n%s\n%s", body, turned)
		}
	})
}

// turn writes JSON with its members in another order.
func turn(text []byte, r *rand.Rand) []byte {
	text = bytes.TrimSpace(text)
	switch text[0] {
	case '{':
		var members map[string]json.RawMessage
		if json.Unmarshal(text, &members) != nil {
			return text
		}
		var parts [][]byte
		for name, v := range members {
			n, err := json.Marshal(name)
			if err != nil {
				panic(err)
			}
			parts = append(parts, append(append(n, ':'), turn(v, r)...))
		}
		r.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
		return append(append([]byte(" {"), bytes.Join(parts, []byte(" , "))...), '}')
	case '[':
		var list []json.RawMessage
		if json.Unmarshal(text, &list) != nil {
			return text
		}
		parts := make([][]byte, len(list))
		for i, v := range list {
			parts[i] = turn(v, r)
		}
		return append(append([]byte("[ "), bytes.Join(parts, []byte(","))...), ']')
	}
	return text
}

// FuzzKey: a key is what the contract says.
func FuzzKey(f *testing.F) {
	for _, s := range []string{"", "0123456789abcdef", "fifteen-letters", strings.Repeat("k", 128), strings.Repeat("k", 129), `0123456789"abcdef`, "0123456789 abcdef", "0123456789abcd\x7f\xff", "!#$%&'()*+,-./:;<=>?@[]^_`{|}~"} {
		f.Add(s)
	}
	form := regexp.MustCompile(`^[!#-~]{16,128}$`)
	f.Fuzz(func(t *testing.T, s string) {
		if request.IsKey(s) != form.MatchString(s) {
			t.Fatalf("%q", s)
		}
	})
}
