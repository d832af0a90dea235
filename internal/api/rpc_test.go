package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
)

var _ = tested(routeTest{operation: "callRpc", evidence: liveCall, truth: (*oracle).rpc, golden: func(*world) map[string]string { return nil }})

// rpc compares what the gateway answers with what the node itself answers.
func (o *oracle) rpc() {
	o.T.Helper()
	head, _ := o.Chain.Head()
	for n := uint64(0); n <= head; n += max(head/12, 1) {
		b := o.Chain.BlockAt(n)
		calls := []string{
			fmt.Sprintf(`"starknet_getBlockWithReceipts","params":{"block_id":{"block_number":%d}}`, n),
			fmt.Sprintf(`"starknet_getBlockWithTxHashes","params":{"block_id":{"block_hash":%q}}`, b.Hash),
			fmt.Sprintf(`"starknet_getStateUpdate","params":{"block_id":{"block_number":%d}}`, n),
			fmt.Sprintf(`"starknet_getEvents","params":{"filter":{"from_block":{"block_number":%d},"to_block":{"block_number":%d},"chunk_size":1000}}`, n, n),
		}
		if len(b.Transactions) > 0 {
			hash := b.Transactions[len(b.Transactions)/2].Hash
			calls = append(calls,
				fmt.Sprintf(`"starknet_getTransactionByHash","params":{"transaction_hash":%q}`, hash),
				fmt.Sprintf(`"starknet_getTransactionReceipt","params":{"transaction_hash":%q}`, hash))
		}
		for _, call := range calls {
			o.asNode(call)
		}
	}
	o.asNode(`"starknet_blockHashAndNumber"`)
	o.asNode(`"starknet_getNonce","params":{"block_id":"latest","contract_address":"0x1234"}`)
}

// asNode asks the gateway and the node the same.
func (o *oracle) asNode(call string) {
	o.T.Helper()
	body := `{"jsonrpc":"2.0","id":1,"method":` + call + `}`
	asked := httptest.NewRecorder()
	o.Node.ServeHTTP(asked, httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body)))
	r := o.Send(o.Request(http.MethodPost, "/v1/"+chainID+"/rpc", body))
	var got, want any
	if err := json.Unmarshal(r.Plain(), &got); err != nil || r.StatusCode != http.StatusOK {
		o.T.Errorf("%s: %d %v", call, r.StatusCode, err)
		return
	}
	if err := json.Unmarshal(asked.Body.Bytes(), &want); err != nil {
		o.T.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		o.T.Errorf("%s:\nthe gateway says %.400s\nthe node says    %.400s", call, r.Plain(), asked.Body)
	}
	o.checks["callRpc"]++
}
