package starknet_test

import (
	"reflect"
	"testing"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
)

func numbers(ns ...uint64) (out []felt.Felt) {
	for _, n := range ns {
		out = append(out, felt.FromUint64(n))
	}
	return out
}

func TestAccountCalls(t *testing.T) {
	call := func(to, sel uint64, args ...uint64) starknet.Call {
		return starknet.Call{felt.FromUint64(to), felt.FromUint64(sel), numbers(args...)}
	}
	huge := felt.MustParse("0x100000000000000000")
	for _, c := range []struct {
		name string
		in   []felt.Felt
		want []starknet.Call
		ok   bool
	}{
		{"none", numbers(0), []starknet.Call{}, true},
		{"cairo 1, one", numbers(1, 10, 20, 2, 7, 8), []starknet.Call{call(10, 20, 7, 8)}, true},
		{"cairo 1, two", numbers(2, 10, 20, 1, 7, 11, 21, 0), []starknet.Call{call(10, 20, 7), call(11, 21)}, true},
		{"cairo 0, one", numbers(1, 10, 20, 0, 2, 2, 7, 8), []starknet.Call{call(10, 20, 7, 8)}, true},
		{"cairo 0, two", numbers(2, 10, 20, 0, 1, 11, 21, 1, 2, 3, 7, 8, 9), []starknet.Call{call(10, 20, 7), call(11, 21, 8, 9)}, true},
		{"empty", nil, nil, false},
		{"left over", numbers(1, 10, 20, 1, 7, 8), nil, false},
		{"cut", numbers(2, 10, 20, 1, 7), nil, false},
		{"huge count", []felt.Felt{huge, huge}, nil, false},
		{"huge length", append(numbers(1, 10, 20), huge), nil, false},
		{"cairo 0 out of range", numbers(1, 10, 20, 1, 2, 2, 7, 8), nil, false},
	} {
		got, ok := starknet.AccountCalls(c.in)
		if ok != c.ok || ok && !equalCalls(got, c.want) {
			t.Errorf("%s: got %v, %v", c.name, got, ok)
		}
	}
}

func equalCalls(a, b []starknet.Call) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].To != b[i].To || a[i].Selector != b[i].Selector || len(a[i].Calldata) != len(b[i].Calldata) {
			return false
		}
		if len(a[i].Calldata) > 0 && !reflect.DeepEqual(a[i].Calldata, b[i].Calldata) {
			return false
		}
	}
	return true
}

func FuzzAccountCalls(f *testing.F) {
	f.Add([]byte{1, 10, 20, 2, 7, 8})
	f.Fuzz(func(t *testing.T, b []byte) {
		var in []felt.Felt
		for _, c := range b {
			in = append(in, felt.FromUint64(uint64(c)))
		}
		calls, ok := starknet.AccountCalls(in)
		n := 0
		for _, c := range calls {
			n += len(c.Calldata)
		}
		if ok && len(calls) > len(b) {
			t.Fatalf("%d calls and %d arguments out of %d felts", len(calls), n, len(b))
		}
	})
}
