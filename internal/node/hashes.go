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

// L1AcceptedBy asks every node for the newest block that it says is accepted on L1,
// all at once and each once. Nodes that do not tell are left out, and so is what is
// above the head that a node showed.
func (p *Pool) L1AcceptedBy(ctx context.Context) []Head {
	told := make([]*Head, len(p.nodes))
	p.each(func(i int, n *node) {
		h, found, err := p.headerOf(ctx, n, L1Accepted)
		if err == nil && found && h.Number <= n.level() {
			told[i] = &h
		}
	})
	var out []Head
	for _, h := range told {
		if h != nil {
			out = append(out, *h)
		}
	}
	return out
}

// HashesAt asks every node of the pool for the hash of a block, all at once and
// each once, in the order of the configuration. Nodes that are refused, in
// quarantine or resting are not asked, and have an error; so have those that take
// longer than a look at their head may.
func (p *Pool) HashesAt(ctx context.Context, number uint64) []NodeHash {
	out := make([]NodeHash, len(p.nodes))
	p.each(func(i int, n *node) {
		out[i] = NodeHash{Node: n.name}
		h, found, err := p.headerOf(ctx, n, BlockNumber(number))
		out[i].Hash, out[i].Found, out[i].Err = h.Hash, found, err
	})
	return out
}

// headerOf asks one node for number and hash of a block.
func (p *Pool) headerOf(ctx context.Context, n *node, id BlockID) (h Head, found bool, err error) {
	if err := p.ensureIdentity(ctx, n); err != nil {
		return h, false, err
	}
	now, least := time.Now(), id.minSpec
	n.mu.Lock()
	shunned, reason, resting := p.shunnedLocked(n, now), n.quarantine.reason, now.Before(n.restUntil)
	old := n.id != nil && !n.id.spec.atLeast(least.Major, least.Minor, least.Patch)
	n.mu.Unlock()
	switch {
	case shunned:
		return h, false, fmt.Errorf("%s is in quarantine: %s", n.name, reason)
	case resting:
		return h, false, fmt.Errorf("%s asked to be left alone for a while", n.name)
	case old:
		return h, false, fmt.Errorf("%s speaks a version older than %s", n.name, least)
	}
	r, err := p.exchangeOne(ctx, n, call{method: "starknet_getBlockWithTxHashes", params: id.params("")},
		lane{timeout: p.probeLane().timeout}) // a vote does not wait for the slowest
	if err != nil {
		if ctx.Err() == nil {
			p.booked(n, err)
		}
		return h, false, err
	}
	p.succeeded(n, false)
	if r.err != nil && r.err.notFound() {
		return h, false, nil
	}
	if r.err != nil {
		return h, false, n.fail("rpc_error", r.err)
	}
	h, err = parseHead(r.result, n.name)
	if err == nil && id.number != nil && h.Number != *id.number {
		err = fmt.Errorf("%w: asked for block %d, answered %d", ErrMalformed, *id.number, h.Number)
	}
	if err != nil {
		return Head{}, false, n.fail("malformed", err)
	}
	if id.number != nil {
		n.serves(h.Number)
	}
	return h, true, nil
}
