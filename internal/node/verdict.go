package node

import (
	"fmt"
	"time"
)

// This file decides what an answer is worth: final, doubtful or a failure.

// verdict is the state of one call of a read.
type verdict struct {
	settled bool
	answer  Response
	doubt   *UnsettledError // a "not found" that is not final
	leading bool            // said by a node as high as any, in this round
}

// judge sorts a node's answers into final ones, doubtful ones and failures.
func (p *Pool) judge(n *node, op readOp, vs []verdict, useless []bool, open []int, calls []call, replies []reply) (bool, error) {
	now := time.Now()
	var failure error
	settledNow := 0
	for k, i := range open {
		r, v, method := replies[k], &vs[i], calls[k].method
		switch {
		case r.err == nil && op.objects && (len(r.result) == 0 || r.result[0] != '{'):
			failure = n.fail("malformed", fmt.Errorf("%s: %w: result is not an object", method, ErrMalformed))
			continue
		case r.err == nil:
			v.answer = Response{Result: r.result, Node: n.name, Method: method}
		case r.err.transient():
			failure = n.fail("rpc_transient", fmt.Errorf("%s: %w", method, r.err))
			continue
		case r.err.Code == CodeMethodNotFound && p.othersMayKnow(n, op, useless):
			e := n.fail("rpc_error", fmt.Errorf("%s: %w", method, r.err))
			e.permanent = true
			failure = e
			continue
		case r.err.notFound() && !p.mayDeny(n, op, v, r.err, method, now):
			continue
		default:
			v.answer = Response{Err: r.err, Node: n.name, Method: method}
		}
		v.settled = true
		settledNow++
	}
	if settledNow == len(open) {
		return true, nil
	}
	if op.oneNode {
		for i := range vs {
			vs[i].settled = false
		}
	}
	return false, failure
}

// othersMayKnow says whether another usable node is left that might know a
// method that n does not.
func (p *Pool) othersMayKnow(n *node, op readOp, useless []bool) bool {
	for i, o := range p.nodes {
		o.mu.Lock()
		ok := o != n && !useless[i] && p.usable(&op, o)
		o.mu.Unlock()
		if ok {
			return true
		}
	}
	return false
}

// mayDeny says whether n is well enough informed for its "not found" to be
// final at once. If not, the doubt is kept with the call.
func (p *Pool) mayDeny(n *node, op readOp, v *verdict, e *RPCError, method string, now time.Time) bool {
	level, best := n.level(), p.bestLevel(now)
	// A node that has reached the block but does not find it contradicts
	// itself: it is pruned, behind a balancer, or its head has just gone back.
	contradicts := e.Code == CodeBlockNotFound && op.at != nil && level >= *op.at
	behind := level < best
	if !behind && !contradicts && (op.at == nil || level >= *op.at) {
		return true
	}
	known := best
	if contradicts {
		known = *op.at
		if op.whole {
			p.denied(n, known)
		}
	}
	if v.doubt == nil || level >= v.doubt.NodeHead {
		v.doubt = &UnsettledError{Node: n.name, NodeHead: level, BestHead: known, NotFound: *e, method: method}
	}
	v.leading = v.leading || (!behind && !contradicts)
	return false
}

// settleRound makes doubtful answers final if everyone who could be asked was,
// and one of those who said "not found" is as well informed as any.
func settleRound(vs []verdict) bool {
	for i := range vs {
		v := &vs[i]
		if !v.settled && v.leading && v.doubt != nil {
			rpc := v.doubt.NotFound
			v.settled, v.answer = true, Response{Err: &rpc, Node: v.doubt.Node, Method: v.doubt.method}
		}
		if !v.settled {
			return false
		}
	}
	return true
}
