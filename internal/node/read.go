package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// This file is the rule book of reads: which node is asked, what counts as an
// answer, and when to ask again.

// steadyDepth is how far below the wanted block a node's head may be ignored
// when choosing: all nodes that are this far past a block agree on it, so the
// load is spread; nearer the tip the highest head is taken.
const steadyDepth = 64

// readOp is one read: one or more calls that are settled together.
type readOp struct {
	what    string // for errors
	count   int
	calls   func(n *node) []call // may differ by what the node understands
	at      *uint64              // the block the read is about, if known
	whole   bool                 // it asks for that block itself, by its number
	oneNode bool                 // all answers must come from the same node
	only    string               // ask this node alone
	not     []string             // and these not at all
	minSpec SpecVersion
	objects bool // results must be JSON objects
	// rejected is told which call was answered with invalid parameters; true
	// means that the node is to be asked again, in the way it understands.
	rejected func(n *node, c call) bool
	// hold keeps the answers' part of the budget after the read, for who asked to
	// give back; without one that happens when the read is done.
	hold *hold
	// guest is set for a call that is passed on, see forward.go.
	guest *guest
}

// final is the error of a call that a node answered with no.
func (op *readOp) final(r *Response) error {
	if r.Method == op.what {
		return fmt.Errorf("%s: %s: %w", op.what, r.Node, r.Err)
	}
	return fmt.Errorf("%s: %s: %s: %w", op.what, r.Node, r.Method, r.Err)
}

// read settles every call of op or fails. After a nil error each response is
// a result or the final error of the best informed node.
func (p *Pool) read(ctx context.Context, op readOp) (_ []Response, err error) {
	keep := op.hold != nil
	if !keep {
		op.hold = newHold(p.cfg.Budget)
	}
	defer func() {
		if err != nil || !keep {
			op.hold.release()
		}
	}()
	verdicts := make([]verdict, op.count)
	useless := make([]bool, len(p.nodes)) // nodes that cannot answer this read
	errs := make([]error, len(p.nodes))
	asks := 0
	if !p.anyMeant(&op) {
		return nil, fmt.Errorf("%s: %w", op.what, ErrNoOther)
	}
	for round := 0; ; round++ {
		tried := make([]bool, len(p.nodes))
		for i := range verdicts {
			verdicts[i].leading = false
		}
		for {
			n := p.pick(op, tried, useless)
			if n == nil {
				break
			}
			tried[n.index] = true
			if asks++; asks > 1 {
				p.cfg.Metrics.retry()
			}
			done, n, err := p.ask(ctx, n, op, verdicts, tried, useless)
			if cerr := ctx.Err(); cerr != nil && !done {
				return nil, fmt.Errorf("%s: %w", op.what, context.Cause(ctx))
			}
			if done {
				return responses(verdicts), nil
			}
			if op.oneNode || op.count == 1 {
				op.hold.release() // nothing of the answer is kept
			}
			errs[n.index] = err
			var ne *NodeError
			useless[n.index] = errors.As(err, &ne) && ne.permanent
		}
		if settleRound(verdicts) {
			return responses(verdicts), nil
		}
		if round+1 >= p.cfg.MaxAttempts || !p.anyLeft(op, useless) {
			return nil, p.giveUp(op, verdicts, errs)
		}
		if err := p.pause(ctx, p.waitTime(round, op, useless)); err != nil {
			return nil, fmt.Errorf("%w: %w", err, p.giveUp(op, verdicts, errs))
		}
		p.refreshDoubted(ctx, verdicts)
	}
}

func responses(vs []verdict) []Response {
	out := make([]Response, len(vs))
	for i := range vs {
		out[i] = vs[i].answer
	}
	return out
}

// giveUp says why a read has no answer.
func (p *Pool) giveUp(op readOp, vs []verdict, errs []error) error {
	for i := range vs {
		if v := &vs[i]; !v.settled && v.doubt != nil {
			doubt := *v.doubt
			doubt.LastError = joined(errs...)
			return fmt.Errorf("%s: %w", op.what, &doubt)
		}
	}
	if op.minSpec != (SpecVersion{}) && !p.anyLeft(op, make([]bool, len(p.nodes))) {
		return fmt.Errorf("%s: %w: it needs one of version %s or later", op.what, ErrNoNode, op.minSpec)
	}
	if p.allShunned(&op) {
		return fmt.Errorf("%s: %w: %w", op.what, ErrQuarantine, p.exhausted(errs))
	}
	return fmt.Errorf("%s: %w", op.what, p.exhausted(errs))
}

// exhausted joins what every node failed with.
func (p *Pool) exhausted(errs []error) error {
	all := []error{ErrNoNode}
	for i, n := range p.nodes {
		n.mu.Lock()
		refused, resting := n.refused, time.Until(n.restUntil)
		shunned, reason := p.shunnedLocked(n, time.Now()), n.quarantine.reason
		n.mu.Unlock()
		switch {
		case errs[i] != nil:
			all = append(all, errs[i])
		case refused != nil:
			all = append(all, refused)
		case shunned:
			all = append(all, fmt.Errorf("%s is in quarantine: %s", n.name, reason))
		case resting > 0:
			all = append(all, fmt.Errorf("%s asked to be left alone for %s", n.name, resting.Round(time.Millisecond)))
		}
	}
	if len(all) == 1 {
		return ErrNoNode
	}
	return joined(all...)
}

// usable says whether a node may be asked at all. Needs n.mu. Naming a node lifts
// its quarantine for the read: whoever does so knows why.
func (p *Pool) usable(op *readOp, n *node) bool {
	if !op.meant(n) || ((op.only == "" || op.guest != nil) && p.shunnedLocked(n, time.Now())) {
		return false
	}
	if op.guest != nil {
		return op.guest.usable(n)
	}
	min := op.minSpec
	return n.id == nil || n.id.spec.atLeast(min.Major, min.Minor, min.Patch)
}

// meant says whether the read could be put to the node if all was well with it.
// Needs n.mu.
func (op *readOp) meant(n *node) bool {
	return n.refused == nil && (op.only == "" || op.only == n.name) && !slices.Contains(op.not, n.name)
}

// pick chooses the best node not tried in this round: healthy before failing, at
// all or with this kind of request, then by height, then by free places, then by configured order.
func (p *Pool) pick(op readOp, tried, useless []bool) *node {
	want := uint64(1<<64 - 1)
	if op.at != nil && *op.at < want-steadyDepth {
		want = *op.at + steadyDepth
	}
	now := time.Now()
	var reached uint64
	if op.guest != nil {
		reached = p.reachedBy(&op, now)
	}
	type rank struct {
		reached bool // it has what a guest asks for; of others not asked here
		healthy bool
		height  uint64
		full    bool
		busy    int
	}
	better := func(a, b rank) bool {
		switch {
		case a.reached != b.reached:
			return a.reached
		case a.healthy != b.healthy:
			return a.healthy
		case op.guest != nil && a.full != b.full:
			return b.full
		case a.height != b.height:
			return a.height > b.height
		case a.full != b.full:
			return b.full
		}
		return a.busy < b.busy
	}
	var best *node
	var bestRank rank
	for i, n := range p.nodes {
		kind := op.kind(n)
		n.mu.Lock()
		ok := p.usable(&op, n) && !now.Before(n.restUntil) && (op.guest == nil || !now.Before(n.guestRests[kind]))
		r := rank{reached: n.levelLocked() >= reached, healthy: n.healthyLocked() && !n.lostLocked(kind, now), height: min(n.levelLocked(), want)}
		n.mu.Unlock()
		if !ok || tried[i] || useless[i] {
			continue
		}
		places := n.places(op.guest != nil)
		r.full = len(places) == cap(places)
		if r.height == want || op.guest != nil {
			r.busy = len(places)
		}
		if best == nil || better(r, bestRank) {
			best, bestRank = n, r
		}
	}
	return best
}

// anyLeft says whether another round could help.
func (p *Pool) anyLeft(op readOp, useless []bool) bool {
	for i, n := range p.nodes {
		n.mu.Lock()
		ok := p.usable(&op, n)
		n.mu.Unlock()
		if ok && !useless[i] {
			return true
		}
	}
	return false
}

// ask puts the open calls of op to n. It reports whether all are settled now, who
// answered in the end, and else why not.
func (p *Pool) ask(ctx context.Context, n *node, op readOp, vs []verdict, tried, useless []bool) (bool, *node, error) {
	if err := p.ensureIdentity(ctx, n); err != nil {
		if ctx.Err() == nil && misconfigured([]error{err}) == nil {
			p.booked(n, err)
		}
		return false, n, err
	}
	n.mu.Lock()
	usable := p.usable(&op, n)
	n.mu.Unlock()
	if !usable {
		e := n.fail("unsupported", fmt.Errorf("node was quarantined, or speaks a version older than %s", op.minSpec))
		e.permanent = true
		return false, n, e
	}
	var t tryOut
	var open []int
	for again := true; again; {
		again = false
		open = open[:0]
		for i := range vs {
			if !vs[i].settled {
				open = append(open, i)
			}
		}
		t = p.exchangeHedged(ctx, n, op, open, tried, useless)
		if t.err != nil {
			switch {
			case ctx.Err() != nil:
			case op.runsCode(t.n):
				p.bookedGuest(t.n, &op, t.err)
			default:
				p.booked(t.n, t.err)
				p.lose(t.n, op.kind(t.n), t.err)
			}
			if op.objects && errors.Is(t.err, ErrTooLarge) {
				p.Blame(t.n.name, t.err) // no block or class is so long
			}
			return false, t.n, t.err
		}
		n = t.n // who answered first
		for k, r := range t.replies {
			if r.err != nil && r.err.Code == CodeInvalidParams && op.rejected != nil && op.rejected(n, t.calls[k]) {
				again = true
				t.hold.release()
				break
			}
		}
	}
	t.hold.move(op.hold)
	tried[n.index] = true
	p.succeeded(n, false)
	p.answered(n, op.kind(n))
	done, err := p.judge(n, op, vs, useless, open, t.calls, t.replies)
	return done, n, err
}

// runsCode says that contracts are run for an answer: how long it is and what becomes of the node meanwhile is
// in the hand of whoever wrote them, and of who asks.
func (op *readOp) runsCode(n *node) bool {
	return slices.ContainsFunc(op.calls(n), func(c call) bool {
		return c.method == "starknet_call" || strings.HasPrefix(c.method, "starknet_trace")
	})
}

// booked counts a failure against the node's health. Being told to slow down
// is not ill health: the node rests instead. Nor is it when there is no place or
// no room for what the node says.
func (p *Pool) booked(n *node, err error) {
	var ne *NodeError
	if errors.As(err, &ne) && (ne.outcome == "rate_limited" || ne.outcome == "no_room" || ne.outcome == "busy") {
		return
	}
	p.failed(n, err, false)
}

// refreshDoubted looks again at the heads of nodes whose denials were not
// believed: a head that went back explains them.
func (p *Pool) refreshDoubted(ctx context.Context, vs []verdict) {
	for i := range vs {
		v := &vs[i]
		if v.settled || v.doubt == nil {
			continue
		}
		for _, n := range p.nodes {
			if n.name == v.doubt.Node && !n.resting(time.Now()) {
				_ = p.probe(ctx, n) // a failure shows when the node is asked next
			}
		}
		return
	}
}

// encodeParams turns parameters into JSON once, whatever number of nodes get them.
func encodeParams(params any) ([]byte, error) {
	if params == nil {
		return nil, nil
	}
	b, err := json.Marshal(params)
	if err != nil {
		return nil, fmt.Errorf("parameters: %w", err)
	}
	if b[0] != '[' && b[0] != '{' {
		return nil, errors.New("parameters must be an array or an object")
	}
	return b, nil
}
