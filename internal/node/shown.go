package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// This file keeps heads that nodes cannot show from being believed, and finds the
// nodes that deny blocks which they claim to have. How far behind an index is, what
// is asked for next and what may be called final all rest on heads.
//
// A head counts when the node has the block of that number, by its answer to a
// question of a few bytes, or when another node has shown that block. The answer
// proves no more than the node's word: a node that makes up that, too, is found out
// when its blocks are fetched. Three times in a row is a false answer; one may be a
// fork, or a balancer in front of nodes that are a few blocks apart.

const (
	// highestPossible is above what any chain can have: a thousand blocks a second
	// for thirty years.
	highestPossible = 1 << 40
	// nodesApart is how many blocks the nodes behind one address may differ by.
	nodesApart = 10
	// maxDoubts is how often in a row a node may deny what its head says.
	maxDoubts = 3
	// doubtTime is how long it may deny blocks that are so near to its head that
	// they may be missing from some of the nodes behind its address.
	doubtTime = time.Minute
)

// doubts is how often in a row a node denied blocks that are not above its head.
type doubts struct {
	pending bool   // a block was denied, and the head not asked for since
	block   uint64 // the lowest that was denied
	count   int
	since   time.Time
}

// clearLocked forgets the doubts of a node that gave or showed a block. Needs the
// node's mu.
func (d *doubts) clearLocked(shown uint64) {
	if shown >= d.block {
		*d = doubts{}
	}
}

var (
	// errUnshown says that a node claims a head that it does not have.
	errUnshown = errors.New("claims a head that it cannot show")
	// errImpossible says that no chain has a block of this number.
	errImpossible = errors.New("no chain has such a block")
)

// takeHead reads an answer of starknet_blockHashAndNumber, and believes it if the
// node has such a block.
func (p *Pool) takeHead(ctx context.Context, n *node, r reply, mark uint64) error {
	h, known, err := p.readHead(n, r)
	if err != nil || !known {
		return err
	}
	if !p.isShown(n, h) {
		has, err := p.shows(ctx, n, h.Number)
		if err != nil {
			return err
		}
		if !has {
			return p.takeUnshown(ctx, n, h, mark)
		}
	}
	p.believe(n, h, mark)
	return nil
}

// readHead is false for an empty chain, which is no failure.
func (p *Pool) readHead(n *node, r reply) (h Head, known bool, err error) {
	if r.err != nil {
		if r.err.Code == CodeNoBlocks {
			return h, false, nil
		}
		return h, false, n.fail("rpc_error", r.err)
	}
	if h, err = p.parseOwnHead(n, r.result); err != nil {
		return h, false, n.fail("malformed", err)
	}
	return h, true, nil
}

// parseOwnHead reads a head that a node tells of. One that no chain can have is a
// false answer at once.
func (p *Pool) parseOwnHead(n *node, raw []byte) (Head, error) {
	h, err := parseHead(raw, n.name)
	if errors.Is(err, errImpossible) {
		p.Blame(n.name, err)
	}
	return h, err
}

// believe takes a head that was shown. Blocks that were denied and are not above
// it are doubts.
func (p *Pool) believe(n *node, h Head, mark uint64) {
	n.setHead(h, mark)
	p.cfg.Metrics.setHead(n.name, h.Number)
	n.mu.Lock()
	d := &n.doubts
	denied := d.block
	switch {
	case !d.pending:
		n.mu.Unlock()
		return
	case h.Number < d.block: // the head went back: it was true
		*d = doubts{}
		n.mu.Unlock()
		return
	}
	d.pending = false
	n.mu.Unlock()
	p.doubt(n, denied, h.Number, denied+nodesApart > h.Number)
}

// isShown says whether the block of a head is known to exist.
func (p *Pool) isShown(n *node, h Head) bool {
	now := time.Now()
	for _, o := range p.nodes {
		o.mu.Lock()
		same := o.headKnown && o.head.Number == h.Number && o.head.Hash == h.Hash
		ok := o == n && (same || o.served >= h.Number) || same && p.freshLocked(o, now)
		o.mu.Unlock()
		if ok {
			return true
		}
	}
	return false
}

// shows asks a node whether it has a block, in a few bytes.
func (p *Pool) shows(ctx context.Context, n *node, number uint64) (bool, error) {
	r, err := p.exchangeOne(ctx, n, call{method: "starknet_getBlockTransactionCount", params: BlockNumber(number).params("")}, p.probeLane())
	switch {
	case err != nil:
		return false, err
	case r.err == nil:
		var count *uint64
		if err := json.Unmarshal(r.result, &count); err != nil || count == nil {
			return false, n.fail("malformed", fmt.Errorf("%w: the count of a block's transactions is no whole number", ErrMalformed))
		}
		return true, nil
	case r.err.notFound():
		return false, nil
	}
	return false, n.fail("rpc_error", r.err)
}

// takeUnshown deals with a node that does not have the block of its own head. It
// is asked for the head again: that may have gone back between the questions. If
// the node has a block a little below, it stays what it was; otherwise this is a
// doubt, and the head does not count.
func (p *Pool) takeUnshown(ctx context.Context, n *node, h Head, mark uint64) error {
	r, err := p.exchangeOne(ctx, n, call{method: "starknet_blockHashAndNumber"}, p.probeLane())
	if err != nil {
		return err
	}
	again, known, err := p.readHead(n, r)
	if err != nil || !known {
		return err
	}
	claimed := again.Number
	if again != h {
		has, err := p.shows(ctx, n, claimed)
		if err != nil {
			return err
		}
		if has {
			p.believe(n, again, mark)
			return nil
		}
	}
	low := claimed - min(claimed, nodesApart)
	has, err := p.shows(ctx, n, low)
	if err != nil {
		return err
	}
	if has {
		p.believeAbout(n, low, mark)
		return nil
	}
	p.doubt(n, claimed, claimed, false)
	return n.fail("unshown", fmt.Errorf("%w: block %d", errUnshown, claimed))
}

// believeAbout takes a block that a node has, a little below the head that it
// claims: a head that is not lower is confirmed by it.
func (p *Pool) believeAbout(n *node, low, mark uint64) {
	n.mu.Lock()
	if n.headKnown && n.head.Number >= low {
		n.headTime = time.Now()
		n.peak.told(n.head.Number, n.headTime)
		n.mu.Unlock()
		return
	}
	n.mu.Unlock()
	n.setHead(Head{Number: low, Node: n.name}, mark)
	p.cfg.Metrics.setHead(n.name, low)
}

// told takes a head that was pushed, once the node has shown it. A push may come
// before the node answers questions about the block: then the watcher asks again
// soon.
func (p *Pool) told(n *node, h Head) {
	if !p.isShown(n, h) {
		if has, err := p.shows(p.ctx, n, h.Number); err != nil || !has {
			n.mu.Lock()
			n.pushed = h.Number
			n.mu.Unlock()
			n.wakeUp()
			return
		}
	}
	p.believe(n, h, n.headMark())
	p.announce(false)
}

// denied notes that a node does not find a block that is not above its head, and
// has its head looked at: only if it still says so this is a doubt.
func (p *Pool) denied(n *node, number uint64) {
	n.mu.Lock()
	d := &n.doubts
	if !d.pending && d.count == 0 || number < d.block {
		d.block = number
	}
	d.pending = true
	n.mu.Unlock()
	n.wakeUp()
}

// doubt counts a block that the node denied though its head, asked for after that,
// is not below it. Enough of them are a false answer; of blocks that are near to the
// head not before a while has passed.
func (p *Pool) doubt(n *node, number, head uint64, near bool) {
	now := time.Now()
	n.mu.Lock()
	d := &n.doubts
	if d.count == 0 {
		d.block, d.since = number, now
	}
	d.count++
	guilty := d.count >= maxDoubts && (!near || now.Sub(d.since) >= doubtTime)
	n.mu.Unlock()
	if guilty {
		p.Blame(n.name, fmt.Errorf("it says that its head is block %d, and that there is no block %d", head, number))
	}
}
