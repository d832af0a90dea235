package token_test

import (
	"math/big"
	"testing"

	"chainexplorer/internal/explorer/token"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
)

// TestReadApproval reads both layouts, and nothing that is none.
func TestReadApproval(t *testing.T) {
	f := felt.FromUint64
	one, all := felt.Selector("Approval"), felt.Selector("ApprovalForAll")
	huge := felt.MustParse("0x100000000000000000000000000000000")
	for what, c := range map[string]struct {
		keys, data []felt.Felt
		want       *token.Approval
	}{
		"in keys":           {[]felt.Felt{one, f(1), f(2)}, []felt.Felt{f(7), f(0)}, &token.Approval{Value: big.NewInt(7)}},
		"in data":           {[]felt.Felt{one}, []felt.Felt{f(1), f(2), f(7), f(0)}, &token.Approval{Value: big.NewInt(7)}},
		"of an id in keys":  {[]felt.Felt{one, f(1), f(2), f(7), f(0)}, nil, &token.Approval{Value: big.NewInt(7)}},
		"of all":            {[]felt.Felt{all, f(1), f(2)}, []felt.Felt{f(1)}, &token.Approval{All: true}},
		"of nothing":        {[]felt.Felt{all}, []felt.Felt{f(1), f(2), f(0)}, &token.Approval{}},
		"short":             {[]felt.Felt{one, f(1), f(2)}, []felt.Felt{f(7)}, nil},
		"long":              {[]felt.Felt{one, f(1), f(2)}, []felt.Felt{f(7), f(0), f(0)}, nil},
		"no number":         {[]felt.Felt{one, f(1), f(2)}, []felt.Felt{huge, f(0)}, nil},
		"no word":           {[]felt.Felt{all, f(1), f(2)}, []felt.Felt{f(2)}, nil},
		"another":           {[]felt.Felt{f(9), f(1), f(2)}, []felt.Felt{f(7), f(0)}, nil},
		"without keys":      {nil, []felt.Felt{f(1), f(2), f(7), f(0)}, nil},
		"an amount of many": {[]felt.Felt{one, f(1), f(2)}, []felt.Felt{f(0), f(1)}, &token.Approval{Value: new(big.Int).Lsh(big.NewInt(1), 128)}},
	} {
		got, ok := token.ReadApproval(&starknet.Event{From: f(5), Keys: c.keys, Data: c.data})
		if ok != (c.want != nil) {
			t.Errorf("%s: read as one: %v", what, ok)
			continue
		}
		if !ok {
			continue
		}
		same := got.Value == nil && c.want.Value == nil || got.Value != nil && c.want.Value != nil && got.Value.Cmp(c.want.Value) == 0
		if !same || got.All != c.want.All || got.Token != f(5) || got.Owner != f(1) || got.Spender != f(2) {
			t.Errorf("%s: %+v", what, got)
		}
	}
}
