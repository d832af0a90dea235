package method

import (
	"testing"

	"chainexplorer/internal/starknet"
)

func TestBind(t *testing.T) {
	for _, c := range []struct {
		method, params string
		version        starknet.SpecVersion
		want           map[string]string // nil: refused
	}{
		{"starknet_chainId", ``, starknet.V010, map[string]string{}},
		{"starknet_chainId", `[]`, starknet.V010, map[string]string{}},
		{"starknet_chainId", `[1]`, starknet.V010, nil},
		{"starknet_getNonce", `["latest", "0x01"]`, starknet.V010, map[string]string{"block_id": `"latest"`, "contract_address": `"0x01"`}},
		{"starknet_getNonce", `{"contract_address":"0x01","block_id":{"block_number":1.0}}`, starknet.V010, map[string]string{"block_id": `{"block_number":1.0}`, "contract_address": `"0x01"`}},
		{"starknet_getNonce", `["latest"]`, starknet.V010, nil},
		{"starknet_getNonce", `{"block_id":"latest"}`, starknet.V010, nil},
		{"starknet_getNonce", `{"block_id":"latest","contract_address":"0x1","contract_address":"0x2"}`, starknet.V010, nil},
		{"starknet_getNonce", `{"block_id":"latest","contract_\u0061ddress":"0x1","contract_address":"0x2"}`, starknet.V010, nil},
		{"starknet_getNonce", `{"block_id":"latest","contract_address":"0x1","more":1}`, starknet.V010, nil},
		{"starknet_getNonce", `"latest"`, starknet.V010, nil},
		{"starknet_getTransactionByHash", `["0x1",["INCLUDE_PROOF_FACTS"]]`, starknet.V010, map[string]string{"transaction_hash": `"0x1"`, "response_flags": `["INCLUDE_PROOF_FACTS"]`}},
		{"starknet_getTransactionByHash", `["0x1",null]`, starknet.V010, map[string]string{"transaction_hash": `"0x1"`}},
		{"starknet_getTransactionByHash", `["0x1",["INCLUDE_PROOF_FACTS"]]`, starknet.V09, nil},
	} {
		args, err := Lookup(c.method).Bind([]byte(c.params), c.version)
		if (err != nil) != (c.want == nil) {
			t.Errorf("%s %s: error %v", c.method, c.params, err)
			continue
		}
		if len(args) != len(c.want) {
			t.Errorf("%s %s: got %d parameters, want %d", c.method, c.params, len(args), len(c.want))
		}
		for name, value := range c.want {
			if string(args[name]) != value {
				t.Errorf("%s %s: %s is %s, want %s", c.method, c.params, name, args[name], value)
			}
		}
	}
}
