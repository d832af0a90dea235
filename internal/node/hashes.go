package node

import (
	"context"
	"fmt"
	"time"

	"chainexplorer/internal/felt"
)

// NodeHash is what one node says of a block number. Exactly one of these holds:
// Err is set, the block was found, or the node has no such block.
type NodeHash struct {
	Node  string
	Hash  felt.Felt
	Found bool
	Err   error // no answer was had
}

// HashesAt asks every node of the pool for the hash of a block, all at once and
// each once, in the order of the configuration. Nodes that are refused, in
// quarantine or resting are not asked, and have an error; so have those that take
// longer than a look at their head may.
func (p *Pool) HashesAt(ctx context.Context, number uint64) []NodeHash {
	out := make([]NodeHash, len(p.nodes))
	p.each(func(i int, n *node) {
		out[i] = NodeHash{Node: n.name}
		out[i].Hash, out[i].Found, out[i].Err = p.hashAt(ctx, n, number)
	})
	return out
}

func (p *Pool) hashAt(ctx context.Context, n *node, number uint64) (felt.Felt, bool, error) {
	if err := p.ensureIdentity(ctx, n); err != nil {
		return felt.Felt{}, false, err
	}
	n.mu.Lock()
	shunned, reason, resting := p.shunnedLocked(n, time.Now()), n.quarantine.reason, time.Now().Before(n.restUntil)
	n.mu.Unlock()
	switch {
	case shunned:
		return felt.Felt{}, false, fmt.Errorf("%s is in quarantine: %s", n.name, reason)
	case resting:
		return felt.Felt{}, false, fmt.Errorf("%s asked to be left alone for a while", n.name)
	}
	r, err := p.exchangeOne(ctx, n, call{method: "starknet_getBlockWithTxHashes", params: BlockNumber(number).params("")},
		lane{timeout: p.probeLane().timeout}) // a vote does not wait for the slowest
	if err != nil {
		if ctx.Err() == nil {
			p.booked(n, err)
		}
		return felt.Felt{}, false, err
	}
	p.succeeded(n, false)
	if r.err != nil && r.err.notFound() {
		return felt.Felt{}, false, nil
	}
	if r.err != nil {
		return felt.Felt{}, false, n.fail("rpc_error", r.err)
	}
	h, err := parseHead(r.result, n.name)
	if err == nil && h.Number != number {
		err = fmt.Errorf("%w: asked for block %d, answered %d", ErrMalformed, number, h.Number)
	}
	if err != nil {
		return felt.Felt{}, false, n.fail("malformed", err)
	}
	n.serves(number)
	return h.Hash, true, nil
}
