package class

import (
	"context"

	"chainexplorer/internal/abi"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/store"
)

// Facts is what is known of a class by what was fetched of it.
type Facts struct {
	Status Status // Absent also where it was never asked for
	// Settled says that the class was had. What follows then stays as it is; before,
	// it says nothing.
	Settled        bool
	Kind           Kind
	Account, Proxy bool
	Token          abi.Emitter // the standard that it follows
}

// FactsOf reads what was fetched of classes, in order. One GetMany.
func FactsOf(ctx context.Context, r store.Reader, hashes []felt.Felt) ([]Facts, error) {
	abis, errs, err := ABIsOf(ctx, r, hashes)
	if err != nil {
		return nil, err
	}
	out := make([]Facts, len(hashes))
	for i, a := range abis {
		switch {
		case errs[i] != nil:
			return nil, errs[i]
		case a == nil:
			out[i].Status = Absent
		case a.Status.Wanted():
			out[i].Status = a.Status
		default:
			out[i] = Facts{Status: a.Status, Settled: true, Kind: a.Kind, Account: a.Account, Proxy: a.Proxy, Token: a.Token}
		}
	}
	return out, nil
}
