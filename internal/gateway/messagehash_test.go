package gateway_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"chainexplorer/internal/starknet"
)

// TestMessageHash: the hash of a message from L1 has all of its digits, as L1 and nodes write it, whoever answers.
func TestMessageHash(t *testing.T) {
	w := newWorld(t, 300)
	head, _ := w.Chain.Head()
	short := 0
	for n := uint64(0); n <= head; n++ {
		for i, r := range w.Chain.BlockAt(n).Receipts {
			if r.Type != starknet.L1Handler {
				continue
			}
			want := fmt.Sprintf("0x%x", r.MessageHash)
			if want[2] == '0' {
				short++
			} else if i > 0 {
				continue // any will do
			}
			var got struct {
				MessageHash string `json:"message_hash"`
			}
			a := w.call("starknet_getTransactionReceipt", fmt.Sprintf(`{"transaction_hash":%q}`, r.TransactionHash))
			if err := json.Unmarshal(a.Result, &got); err != nil || got.MessageHash != want {
				t.Errorf("the message hash of %s is %q, want %q (%v)", r.TransactionHash, got.MessageHash, want, err)
			}
		}
	}
	if short == 0 {
		t.Error("no message has a hash that begins with a zero")
	}
}
