package address

import (
	"context"
	"fmt"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/store"
)

// TotalsOf returns the totals of addresses, in order; nil for one that never did
// anything. One round trip.
func TotalsOf(ctx context.Context, r store.Reader, addresses []felt.Felt) ([]*Totals, error) {
	keys := make([]store.Key, len(addresses))
	for i := range addresses {
		keys[i] = totalKey(&addresses[i])
	}
	values, err := r.GetMany(ctx, keys)
	if err != nil {
		return nil, fmt.Errorf("read %d addresses: %w", len(addresses), err)
	}
	out := make([]*Totals, len(addresses))
	for i, b := range values {
		if b == nil {
			continue
		}
		t, err := decodeTotals(b)
		if err != nil {
			return nil, fmt.Errorf("totals of %s: %w", addresses[i], err)
		}
		out[i] = &t
	}
	return out, nil
}
