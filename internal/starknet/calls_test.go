package starknet

import (
	"reflect"
	"testing"

	"chainexplorer/internal/felt"
)

func felts(ns ...uint64) (out []felt.Felt) {
	for _, n := range ns {
		out = append(out, felt.FromUint64(n))
	}
	return out
}

func TestAccountCalls(t *testing.T) {
	call := func(to, sel uint64, args ...uint64) Call {
		return Call{felt.FromUint64(to), felt.FromUint64(sel), felts(args...)}
	}
	huge := felt.MustParse("0x100000000000000000")
	for _, c := range []struct {
		name string
		in   []felt.Felt
		want []Call
		ok   bool
	}{
		{"none", felts(0), []Call{}, true},
		{"cairo 1, one", felts(1, 10, 20, 2, 7, 8), []Call{call(10, 20, 7, 8)}, true},
		{"cairo 1, two", felts(2, 10, 20, 1, 7, 11, 21, 0), []Call{call(10, 20, 7), call(11, 21)}, true},
		{"cairo 0, one", felts(1, 10, 20, 0, 2, 2, 7, 8), []Call{call(10, 20, 7, 8)}, true},
		{"cairo 0, two", felts(2, 10, 20, 0, 1, 11, 21, 1, 2, 3, 7, 8, 9), []Call{call(10, 20, 7), call(11, 21, 8, 9)}, true},
		{"empty", nil, nil, false},
		{"left over", felts(1, 10, 20, 1, 7, 8), nil, false},
		{"cut", felts(2, 10, 20, 1, 7), nil, false},
		{"huge count", []felt.Felt{huge, huge}, nil, false},
		{"huge length", append(felts(1, 10, 20), huge), nil, false},
		{"cairo 0 out of range", felts(1, 10, 20, 1, 2, 2, 7, 8), nil, false},
	} {
		got, ok := AccountCalls(c.in)
		if ok != c.ok || ok && !equalCalls(got, c.want) {
			t.Errorf("%s: got %v, %v", c.name, got, ok)
		}
	}
}

func equalCalls(a, b []Call) bool {
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
		calls, ok := AccountCalls(in)
		n := 0
		for _, c := range calls {
			n += len(c.Calldata)
		}
		if ok && len(calls) > len(b) {
			t.Fatalf("%d calls and %d arguments out of %d felts", len(calls), n, len(b))
		}
	})
}
