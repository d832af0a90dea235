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

// inForce are the classes of which one was in force at a spot, oldest first; none
// where no contract was. Loose ones the contract was and is, and need not have been
// then.
type inForce struct {
	classes []felt.Felt
	loose   bool
}

// classesAt returns the classes of each spot.
//
// What each contract was first and is today is one round trip for all. It settles
// the spots behind its last change, and those of a contract that never changed,
// which are nearly all; the others take a scan of the contract's history each (see
// contract.ClassesAtMany), or stay loose. In a block that deployed the contract by a
// known transaction, spots in front of it have no class.
func classesAt(ctx context.Context, r store.Reader, spots []spot, noHistory bool) ([]inForce, error) {
	out := make([]inForce, len(spots))
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
		c, d := now.Current, now.Deployment
		deployed := d != nil && !now.Origin
		switch {
		case c == nil, deployed && d.Block > s.block, deployed && d.Block == s.block && d.Kind != contract.UnknownDeployment && s.tx < d.Tx:
			// no contract, or not yet
		case c.Block < s.block, deployed && !c.Replaced:
			out[i].classes = []felt.Felt{c.Class}
		case noHistory:
			out[i] = inForce{[]felt.Felt{c.Class}, true}
			if d != nil {
				out[i].classes = append(out[i].classes, d.Class)
			}
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
			out[i].classes = classes[k].Candidates()
		}
	}
	return out, nil
}
