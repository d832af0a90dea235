package decoded

import (
	"context"
	"slices"

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
// The class that each contract has today is one round trip for all. It settles the spots behind
// the block that gave it, which are nearly all of a page.
func (m *Room) classesAt(ctx context.Context, r store.Reader, spots []spot, noHistory bool) ([]inForce, error) {
	m.atSpots = zeroed(m.atSpots, len(spots))
	out := m.atSpots
	if len(spots) == 0 {
		return out, nil
	}
	contracts := &m.contracts
	contracts.Reset()
	for i := range spots {
		contracts.Number(&spots[i].address)
	}
	today, err := contract.ClassesNow(ctx, r, contracts.All())
	if err != nil {
		return nil, err
	}
	var open []spot
	var where []int
	m.spotClasses = slices.Grow(m.spotClasses[:0], len(spots))
	classes := m.spotClasses // of all, one behind the other
	for i := range spots {
		if c := today[contracts.Find(&spots[i].address)]; c != nil && c.Block < spots[i].block {
			n := len(classes)
			classes = append(classes, c.Class)
			out[i].classes = classes[n : n+1 : n+1]
		} else {
			open, where = append(open, spots[i]), append(where, i)
		}
	}
	earlier, err := classesBefore(ctx, r, open, noHistory)
	if err != nil {
		return nil, err
	}
	for k, i := range where {
		out[i] = earlier[k]
	}
	return out, nil
}

// contractsOf are the contracts of spots, each once, and where they are among them.
func contractsOf(spots []spot) (addresses []felt.Felt, at map[felt.Felt]int) {
	at = map[felt.Felt]int{} // a page has many of few
	for i := range spots {
		if _, twice := at[spots[i].address]; !twice {
			at[spots[i].address] = len(addresses)
			addresses = append(addresses, spots[i].address)
		}
	}
	return addresses, at
}

// classesBefore is classesAt for spots that lie in or in front of the block that gave their
// contracts the classes of today.
//
// What each contract was first is one round trip for all. It settles the spots of a contract
// that never changed; the others take a scan of the contract's history each (see
// contract.ClassesAtMany), or stay loose. In a block that deployed the contract by a known
// transaction, spots in front of it have no class.
func classesBefore(ctx context.Context, r store.Reader, spots []spot, noHistory bool) ([]inForce, error) {
	if len(spots) == 0 {
		return nil, nil
	}
	out := make([]inForce, len(spots))
	addresses, at := contractsOf(spots)
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
		case deployed && !c.Replaced:
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
