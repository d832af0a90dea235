package starknet_test

// Real answers of nodes, as starknet.go keeps them for its tests.

import (
	"encoding/json"
	"testing"
)

// rpcResult is the result of a recorded JSON-RPC answer.
func rpcResult(t testing.TB, parts ...string) []byte {
	t.Helper()
	var envelope struct {
		Result json.RawMessage `json:"result"`
	}
	readJSON(t, moduleFile(t, "starknet.go", append([]string{"rpc", "testData"}, parts...)...), &envelope)
	return envelope.Result
}
