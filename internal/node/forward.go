package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"syscall"
	"time"

	"chainexplorer/internal/arrange"
	"chainexplorer/internal/felt"
)

// This file passes on calls of others as they were written, and what a node says to
// them as it was said. Such a guest has places at the nodes and memory of its own, so
// that no crowd of callers holds up the index; what is known of the nodes is shared.
//
// A caller waits for the answer. So a read is put to two nodes at most, without pauses,
// and not at all to nodes that are known to fail: while no other is left it fails at
// once, until the watcher finds that a node answers again.

// Ask is one call that is passed on as it was written.
type Ask struct {
	Method  string
	Params  json.RawMessage // array, object or empty; sent byte for byte
	Spec    SpecVersion     // whose major and minor the node must speak; zero: any
	At      *uint64         // the block it is about, if known
	Limit   int64           // bytes of the result; 0 or less: Config.MaxResponseBytes
	Timeout time.Duration   // for all of it; 0 or less: Config.RequestTimeout
	Node    string          // this node alone: a continuation token means nothing to others
	Once    bool            // a write: one node, once; so is what is not a known read
	// Check says of a read's result why it cannot be true, if that is so: it counts as
	// no answer. It may be called for several nodes at once, and must not keep the bytes.
	Check func(result []byte) error
}

// Told is what a node said to an Ask: exactly one of Result and Error is set.
type Told struct {
	Result json.RawMessage
	Error  json.RawMessage // the whole error object, byte for byte
	Code   int             // of Error
	Node   string
	// Release gives the memory of the answer back to the budget. It is never nil, and
	// the answer is not to be used after it.
	Release func()
}

const (
	// forwardTries is how many requests a read is worth.
	forwardTries = 2
	// envelopeBytes is what there may be around a result.
	envelopeBytes = 1 << 10
)

// Forward passes a call on. Whatever a node says is no error: that is for what no node
// said. ErrTooLarge, ErrBusy, ErrNoneHealthy, ErrNoVersion, *UnsettledError and, for
// writes, *DeliveryUnknownError can be told apart.
//
// Costs: one request; a second one to another node when the first failed or takes much
// longer than usual, or to the same where there is no other and the first failed. A
// write costs one, always.
func (p *Pool) Forward(ctx context.Context, a Ask) (Told, error) {
	if err := checkParams(a.Params); err != nil {
		return Told{Release: func() {}}, fmt.Errorf("%s: %w", clip(a.Method, 60), err)
	}
	timeout := a.Timeout
	positive(&timeout, p.cfg.RequestTimeout)
	limit := a.Limit
	positive(&limit, p.cfg.MaxResponseBytes)
	g := &guest{
		pool: p, spec: a.Spec, at: a.At, until: time.Now().Add(timeout),
		limit: min(limit, p.cfg.GuestBudget.half-1-envelopeBytes), kind: kindOfGuest(a.Method),
	}
	c := call{method: a.Method, params: a.Params}
	calls := []call{c} // the same for every node
	op := readOp{what: clip(a.Method, 60), count: 1, at: a.At, only: a.Node, guest: g,
		calls: func(*node) []call { return calls }}
	var told Told
	var err error
	if a.Once || !readMethods[a.Method] {
		told, err = p.forwardOnce(ctx, op, c)
	} else {
		g.check, g.left = a.Check, forwardTries
		told, err = p.forwardRead(ctx, op)
	}
	if err != nil {
		p.cfg.Metrics.unforwarded(err)
	}
	return told, err
}

// checkParams keeps text that is no JSON from being taken for a part of the request
// around it.
func checkParams(params []byte) error {
	if len(params) == 0 {
		return nil
	}
	if params[0] != '[' && params[0] != '{' {
		return errors.New("parameters must be an array or an object")
	}
	end, err := skipValue(params, 0)
	if err != nil || skipSpace(params, end) != len(params) {
		return errors.New("parameters are not JSON")
	}
	return nil
}

func (p *Pool) forwardOnce(ctx context.Context, op readOp, c call) (Told, error) {
	h := newHold(p.budgetOf(&op))
	n, r, err := p.writeOnce(ctx, op, c, p.laneOf(&op, h))
	if err != nil {
		h.release()
		return Told{Release: func() {}}, err
	}
	p.answered(n, op.kind(n))
	told, err := op.guest.told(n, r, h)
	if err != nil {
		err = &DeliveryUnknownError{Node: n.name, Method: op.what, Err: err}
	}
	return told, err
}

func (p *Pool) forwardRead(ctx context.Context, op readOp) (Told, error) {
	tried := make([]bool, len(p.nodes))
	useless := make([]bool, len(p.nodes))
	errs := make([]error, len(p.nodes))
	var kept tryOut // what a node said, and another might say better
	defer func() {
		if kept.hold != nil {
			kept.hold.release()
		}
	}()
	var again *node // failed in a way that may have been chance
	for op.guest.left > 0 {
		n := p.pick(op, tried, useless)
		if n == nil && again != nil && op.guest.usableNow(again) {
			n, again = again, nil
		}
		if n == nil {
			break
		}
		if tried[n.index] = true; op.guest.left < forwardTries {
			p.cfg.Metrics.retry()
		}
		t := p.exchangeHedged(ctx, n, op, []int{0}, tried, useless)
		if ctx.Err() != nil {
			t.hold.release()
			return Told{Release: func() {}}, fmt.Errorf("%s: %w", op.what, context.Cause(ctx))
		}
		op.guest.left -= t.sent
		tried = t.asked
		tried[t.n.index] = true
		if t.err != nil {
			errs[t.n.index] = t.err
			p.bookedGuest(t.n, &op, t.err)
			if op.guest.settles(t.err) {
				return Told{Release: func() {}}, fmt.Errorf("%s: %w", op.what, t.err)
			}
			again = chance(t.n, t.err)
			continue
		}
		p.succeeded(t.n, false)
		p.answered(t.n, op.kind(t.n))
		if !op.guest.doubts(t) {
			return op.guest.told(t.n, t.replies[0], t.hold)
		}
		kept = op.guest.moreTelling(kept, t)
	}
	if kept.n != nil {
		t := kept
		kept = tryOut{}
		return p.makeSure(ctx, op, t, joined(errs...))
	}
	return Told{Release: func() {}}, p.notForwarded(&op, errs)
}

// makeSure deals with an answer that nobody bettered. A node's own failure and a
// contradiction are passed on: they are its word. "Not found" from a node that is
// behind the others is not: while a request is left the node is asked for its head, and
// once more if it has caught up with what they had.
func (p *Pool) makeSure(ctx context.Context, op readOp, t tryOut, others error) (Told, error) {
	g, r := op.guest, t.replies[0]
	if !g.behind(t.n, r) {
		return g.told(t.n, r, t.hold)
	}
	t.hold.release()
	best := p.bestLevel(time.Now())
	unsettled := &UnsettledError{Node: t.n.name, NodeHead: t.n.level(), BestHead: best, NotFound: *r.err, LastError: others, method: op.what}
	if g.left == 0 || !p.caughtUp(ctx, g, t.n, best) {
		return Told{Release: func() {}}, fmt.Errorf("%s: %w", op.what, unsettled)
	}
	h := newHold(p.budgetOf(&op))
	r, err := p.exchangeOne(ctx, t.n, t.calls[0], p.laneOf(&op, h))
	if err != nil {
		h.release()
		unsettled.LastError = err
		return Told{Release: func() {}}, fmt.Errorf("%s: %w", op.what, unsettled)
	}
	return g.told(t.n, r, h)
}

// caughtUp looks at the node's head, unless somebody else did meanwhile, and says
// whether it has reached a height.
func (p *Pool) caughtUp(ctx context.Context, g *guest, n *node, height uint64) bool {
	ctx, cancel := context.WithDeadline(ctx, g.until)
	defer cancel()
	asked := time.Now()
	select {
	case n.looking <- struct{}{}:
		defer func() { <-n.looking }()
	case <-ctx.Done():
		return false
	}
	n.mu.Lock()
	looked := n.headTime.After(asked)
	n.mu.Unlock()
	return (looked || p.probe(ctx, n) == nil) && n.level() >= height
}

// notForwarded says why there is no answer.
func (p *Pool) notForwarded(op *readOp, errs []error) error {
	err := joined(errs...)
	if err == nil {
		err = p.noneFor(op)
	}
	return fmt.Errorf("%s: %w", op.what, err)
}

// noneFor says why there is no node to ask.
func (p *Pool) noneFor(op *readOp) error {
	why := p.exhausted(make([]error, len(p.nodes)))
	if op.guest == nil {
		return why
	}
	speaks := false
	for _, n := range p.nodes {
		n.mu.Lock()
		if rest := time.Until(n.guestRests[op.guest.kind]); rest > 0 {
			why = joined(why, fmt.Errorf("%s asked not to be asked for %s, for %s", n.name, op.what, rest.Round(time.Millisecond)))
		}
		speaks = speaks || n.refused == nil && (n.id == nil || op.guest.speaks(n.id.spec))
		n.mu.Unlock()
	}
	if !speaks {
		return fmt.Errorf("%w: %d.%d", ErrNoVersion, op.guest.spec.Major, op.guest.spec.Minor)
	}
	return joined(ErrNoneHealthy, why)
}

// Versions lists the versions that nodes speak which could be asked now, newest first,
// each once.
func (p *Pool) Versions() []SpecVersion {
	var out []SpecVersion
	now := time.Now()
	for _, n := range p.nodes {
		n.mu.Lock()
		if n.refused == nil && n.id != nil && n.healthyLocked() && !p.shunnedLocked(n, now) && !slices.Contains(out, n.id.spec) {
			out = append(out, n.id.spec)
		}
		n.mu.Unlock()
	}
	arrange.By(out, func(a, b SpecVersion) int {
		switch {
		case a == b:
			return 0
		case a.atLeast(b.Major, b.Minor, b.Patch):
			return -1
		}
		return 1
	})
	return out
}

// budgetOf is where the memory for answers comes from.
func (p *Pool) budgetOf(op *readOp) *Budget {
	if op.guest != nil {
		return p.cfg.GuestBudget
	}
	return p.cfg.Budget
}

// laneOf is what bounds a request of the read that is made now.
func (p *Pool) laneOf(op *readOp, h *hold) lane {
	if g := op.guest; g != nil {
		return lane{timeout: time.Until(g.until), hold: h, limit: g.limit + envelopeBytes, guest: true, kind: g.kind, check: g.check}
	}
	return lane{timeout: p.cfg.RequestTimeout, hold: h}
}

// hedgesOf is what second requests are paid from, and how many one read may have.
func (p *Pool) hedgesOf(op *readOp) (*allowance, int) {
	if op.guest != nil {
		return &p.guestHedges, op.guest.left - 1
	}
	return &p.hedges, math.MaxInt
}

// reachedBy is the lowest head of a node that has what is asked for. What names no
// block is about the tip, where nodes are always a little apart.
func (p *Pool) reachedBy(op *readOp, now time.Time) uint64 {
	if op.at != nil {
		return *op.at
	}
	best := p.bestLevel(now)
	return best - min(best, nodesApart)
}

// bookedGuest counts a failure that a caller saw. What a node does with a request may
// be in the caller's hand: that it hangs, cuts the connection off or answers rubbish
// only says whom to ask first for the next one of the kind. Callers must not be able
// to take a node away from others. A node that cannot be reached at all is away for
// everyone.
func (p *Pool) bookedGuest(n *node, op *readOp, err error) {
	p.lose(n, op.kind(n), err)
	if errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.EHOSTUNREACH) || errors.Is(err, syscall.ENETUNREACH) {
		p.booked(n, err)
	}
}

// chance is the node if its failure may not happen again: a connection that was cut
// off, or an answer that was. nil if it would.
func chance(n *node, err error) *node {
	var ne *NodeError
	if errors.As(err, &ne) && !ne.permanent && ne.outcome != "timeout" && ne.outcome != "rate_limited" && ne.outcome != "busy" {
		return n
	}
	return nil
}

// BestHead is the highest head that a node showed lately. It asks nobody.
func (p *Pool) BestHead() (Head, bool) { return p.bestHead(time.Now()) }

// Chain is the chain that the nodes serve; false until one has said so or the
// configuration does. It asks nobody.
func (p *Pool) Chain() (felt.Felt, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.chain, !p.chain.IsZero()
}
