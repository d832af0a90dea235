package decoded

import (
	"context"

	"chainexplorer/internal/explorer/contract"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/store"
)

// spot is a contract at a place of the chain.
type spot struct {
	address felt.Felt
	block   uint64
	tx      uint32
}

// classesAt returns, for each spot, the classes of which one was in force there,
// oldest first; none where no contract was.
//
// What each contract is today is one round trip for all. It settles the spots
// behind its last change, which are nearly all; the others take a scan of the
// contract's history each (see contract.ClassesAtMany). In a block that deployed
// the contract by a known transaction, spots in front of it have no class.
func classesAt(ctx context.Context, r store.Reader, spots []spot) ([][]felt.Felt, error) {
	out := make([][]felt.Felt, len(spots))
	if len(spots) == 0 {
		return out, nil
	}
	at := make(map[felt.Felt]int, len(spots))
	var addresses []felt.Felt
	for i := range spots {
		if _, twice := at[spots[i].address]; !twice {
			at[spots[i].address] = len(addresses)
			addresses = append(addresses, spots[i].address)
		}
	}
	today, err := contract.Identities(ctx, r, addresses)
	if err != nil {
		return nil, err
	}
	var older []contract.At
	var where []int
	for i := range spots {
		s, now := &spots[i], &today[at[spots[i].address]]
		switch c, d := now.Current, now.Deployment; {
		case c == nil, d != nil && !now.Origin && d.Block > s.block,
			d != nil && d.Block == s.block && d.Kind != contract.UnknownDeployment && s.tx < d.Tx:
			// no contract, or not yet
		case c.Block < s.block:
			out[i] = []felt.Felt{c.Class}
		default:
			older, where = append(older, contract.At{Address: s.address, Block: s.block}), append(where, i)
		}
	}
	if len(older) == 0 {
		return out, nil
	}
	classes, err := contract.ClassesAtMany(ctx, r, older)
	if err != nil {
		return nil, err
	}
	for k, i := range where {
		if classes[k] != nil {
			out[i] = classes[k].Candidates()
		}
	}
	return out, nil
}
