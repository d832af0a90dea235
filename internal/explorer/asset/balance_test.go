package asset_test

import (
	"math/big"
	"testing"

	"chainexplorer/internal/contractcall"
	"chainexplorer/internal/explorer/asset"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/registry"
)

// TestBalances: what a contract answers under the two names of a function comes to a
// balance, or to a reason for good.
func TestBalances(t *testing.T) {
	amount := func(n uint64) contractcall.Result {
		return contractcall.Result{Values: []felt.Felt{felt.FromUint64(n), felt.Zero}}
	}
	fault := func(f contractcall.Fault) contractcall.Result { return contractcall.Result{Fault: f} }
	none, away, refused := fault(contractcall.NoEntryPoint), fault(contractcall.NoContract), fault(contractcall.Reverted)
	odd := contractcall.Result{Values: make([]felt.Felt, 3)}
	block := uint64(4)
	listed, moved := asset.Candidate{Known: &registry.Token{}}, asset.Candidate{Known: &registry.Token{}, Seen: &block}
	for i, c := range []struct {
		of       asset.Candidate
		one, two contractcall.Result
		want     *big.Int
		why      asset.Unreadable
	}{
		{asset.Candidate{}, amount(7), none, big.NewInt(7), ""},
		{asset.Candidate{}, none, amount(8), big.NewInt(8), ""},
		{asset.Candidate{}, refused, amount(0), big.NewInt(0), ""},
		{asset.Candidate{}, none, none, nil, asset.NoBalanceFunction},
		{asset.Candidate{}, odd, none, nil, asset.NotAnAmount},
		{asset.Candidate{}, none, refused, nil, asset.Reverted},
		{asset.Candidate{}, away, away, nil, asset.NoContract},
		{listed, away, away, big.NewInt(0), ""}, // not deployed yet: nobody has any
		{moved, away, away, nil, asset.NoContract},
		{listed, refused, refused, nil, asset.Reverted},
	} {
		list := []asset.Candidate{{Token: felt.FromUint64(1)}, c.of}
		if calls := asset.BalanceCalls(felt.FromUint64(9), list); len(calls) != 4 || calls[0].Contract != list[0].Token || calls[2].Contract != c.of.Token ||
			calls[0].Selector == calls[1].Selector || calls[3].Calldata[0] != felt.FromUint64(9) {
			t.Fatalf("%+v", calls)
		}
		got := asset.Balances(list, []contractcall.Result{amount(1), none, c.one, c.two})
		if got[0].Amount.Int64() != 1 || got[1].Why != c.why || (got[1].Amount == nil) != (c.want == nil) || c.want != nil && got[1].Amount.Cmp(c.want) != 0 {
			t.Errorf("%d: %+v, want %v %q", i, got, c.want, c.why)
		}
	}
}
