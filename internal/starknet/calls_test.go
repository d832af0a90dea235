package starknet_test

import (
	"math/rand/v2"
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
		if has := hasCall(c.in); has != (len(c.want) > 0) {
			t.Errorf("%s: has a call: %v", c.name, has)
		}
	}
}

func hasCall(in []felt.Felt) bool {
	return starknet.HasCall(len(in), func(place int) (uint64, bool) { return in[place].Uint64() })
}

// TestHasCall holds a look at few felts against the reading of all, for calldata that is nearly a list
// of calls.
func TestHasCall(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	some := map[bool]int{}
	for range 200_000 {
		n := rng.IntN(4)
		in := numbers(uint64(n))
		if rng.IntN(2) == 0 {
			for range n {
				size := rng.IntN(4)
				in = append(in, numbers(10, 20, uint64(size))...)
				in = append(in, make([]felt.Felt, size)...)
			}
		} else {
			total := rng.IntN(5)
			for range n {
				in = append(in, numbers(10, 20, uint64(rng.IntN(total+1)), uint64(rng.IntN(3)))...)
			}
			in = append(append(in, felt.FromUint64(uint64(total))), make([]felt.Felt, total)...)
		}
		switch at := rng.IntN(len(in)); rng.IntN(6) {
		case 0:
			in[at] = felt.FromUint64(uint64(rng.IntN(8)))
		case 1:
			in[at] = felt.Keccak([]byte{1})
		case 2:
			in = in[:at]
		case 3:
			in = append(in, felt.Felt{})
		}
		calls, _ := starknet.AccountCalls(in)
		if got, want := hasCall(in), len(calls) > 0; got != want {
			t.Fatalf("%v: has a call: %v, and has %d", in, got, len(calls))
		} else {
			some[got]++
		}
	}
	if some[true] < 1000 || some[false] < 1000 {
		t.Errorf("the lists are one-sided: %v", some)
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
		if hasCall(in) != (len(calls) > 0) {
			t.Fatalf("%v: has a call: %v, and has %d", in, hasCall(in), len(calls))
		}
		if ok && len(calls) > len(b) {
			t.Fatalf("%d calls and %d arguments out of %d felts", len(calls), n, len(b))
		}
	})
}
