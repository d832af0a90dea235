package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// Request is one call of a batch. Params is anything that encodes to a JSON
// array or object, or nil.
type Request struct {
	Method string
	Params any
}

// Response is a node's final answer: exactly one of Result and Err is set.
// Results share one buffer with the rest of their batch; they are not to be
// written to.
type Response struct {
	Result json.RawMessage
	Err    *RPCError
	Node   string
	Method string
}

// Answer is the result of a call and the node that gave it.
type Answer struct {
	Result json.RawMessage
	Node   string
}

// Option narrows how a read is made.
type Option func(*readOp)

// AtBlock says which block a read is about. Nodes that have reached it share
// the load, and "not found" from one that has not is never final.
func AtBlock(number uint64) Option { return func(op *readOp) { op.at = &number } }

// OneNode makes all answers of a batch come from the same node.
func OneNode() Option { return func(op *readOp) { op.oneNode = true } }

// OnNode asks the named node alone: a continuation token means nothing to others.
func OnNode(name string) Option { return func(op *readOp) { op.only = name } }

// NotNodes leaves the named nodes out. If none is left the error is ErrNoOther.
func NotNodes(names ...string) Option { return func(op *readOp) { op.not = names } }

// Call makes one call. A known read is retried and moved between nodes; any
// other method is sent once, to one node, and an unclear end is a
// *DeliveryUnknownError. A node's own error is a *RPCError.
func (p *Pool) Call(ctx context.Context, method string, params any, opts ...Option) (Answer, error) {
	raw, err := encodeParams(params)
	if err != nil {
		return Answer{}, fmt.Errorf("%s: %w", method, err)
	}
	op := readOp{what: method}
	if !readMethods[method] {
		for _, o := range opts {
			o(&op)
		}
		return p.write(ctx, op, call{method: method, params: raw})
	}
	return p.readOne(ctx, op, call{method: method, params: raw}, opts...)
}

func (p *Pool) readOne(ctx context.Context, op readOp, c call, opts ...Option) (Answer, error) {
	op.count = 1
	op.calls = func(*node) []call { return []call{c} }
	for _, o := range opts {
		o(&op)
	}
	out, err := p.read(ctx, op)
	if err != nil {
		return Answer{}, err
	}
	if out[0].Err != nil {
		return Answer{Node: out[0].Node}, op.final(&out[0])
	}
	return Answer{Result: out[0].Result, Node: out[0].Node}, nil
}

// batchesAtOnce is how many parts of a long batch are under way together.
const batchesAtOnce = 4

// Batch makes several reads in one request, or in a few if there are more than
// Config.MaxBatch. It fails if any call got no final answer; after a nil error
// every response is a result or a final error, in the order of the requests.
func (p *Pool) Batch(ctx context.Context, reqs []Request, opts ...Option) ([]Response, error) {
	calls := make([]call, len(reqs))
	for i, r := range reqs {
		if !readMethods[r.Method] {
			return nil, fmt.Errorf("batch: %s: %w", clip(r.Method, 60), ErrNotARead)
		}
		raw, err := encodeParams(r.Params)
		if err != nil {
			return nil, fmt.Errorf("batch: %s: %w", r.Method, err)
		}
		calls[i] = call{method: r.Method, params: raw}
	}
	op := readOp{what: "batch"}
	for _, o := range opts {
		o(&op)
	}
	if op.oneNode && len(calls) > p.cfg.MaxBatch {
		return nil, fmt.Errorf("batch: at most %d calls can be asked of one node", p.cfg.MaxBatch)
	}
	out := make([]Response, len(calls))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(batchesAtOnce)
	for at := 0; at < len(calls); at += p.cfg.MaxBatch {
		part := calls[at:min(at+p.cfg.MaxBatch, len(calls))]
		op := op
		op.count = len(part)
		op.calls = func(*node) []call { return part }
		g.Go(func() error {
			res, err := p.read(ctx, op)
			copy(out[at:], res)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return out, nil
}

func (p *Pool) write(ctx context.Context, op readOp, c call) (Answer, error) {
	n, r, err := p.writeOnce(ctx, op, c, lane{timeout: p.cfg.RequestTimeout})
	var answer Answer
	if n != nil {
		answer.Node = n.name
	}
	if err == nil && r.err != nil {
		err = fmt.Errorf("%s: %s: %w", op.what, n.name, r.err)
	}
	if err == nil {
		answer.Result = r.result
	}
	return answer, err
}

// writeOnce sends c to the best node, once, whatever happens. There is no second
// node either: one that saw the transaction already would call it a duplicate,
// and one that did not might do it twice.
func (p *Pool) writeOnce(ctx context.Context, op readOp, c call, l lane) (*node, reply, error) {
	none := make([]bool, len(p.nodes))
	n := p.pick(op, none, none)
	if n == nil {
		return nil, reply{}, fmt.Errorf("%s: %w", op.what, p.noneFor(&op))
	}
	if err := p.ensureIdentity(ctx, n); err != nil {
		return n, reply{}, fmt.Errorf("%s: not sent: %w", op.what, err)
	}
	if wait := p.restOf(n); wait > 0 {
		return n, reply{}, fmt.Errorf("%s: not sent: %s asked to be left alone for %s", op.what, n.name, wait)
	}
	var left atomic.Bool // a connection was had: bytes may have gone out
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { left.Store(true) },
	})
	r, err := p.exchangeOne(traced, n, c, l)
	if err == nil {
		p.succeeded(n, false)
		return n, r, nil
	}
	switch {
	case ctx.Err() != nil:
	case op.guest != nil:
		p.bookedGuest(n, &op, err)
	default:
		p.booked(n, err)
	}
	if !left.Load() || turnedAway(err) {
		return n, reply{}, fmt.Errorf("%s: not delivered: %w", op.what, err)
	}
	return n, reply{}, &DeliveryUnknownError{Node: n.name, Method: op.what, Err: err}
}

func (p *Pool) restOf(n *node) time.Duration {
	n.mu.Lock()
	defer n.mu.Unlock()
	return time.Until(n.restUntil)
}

// turnedAway says whether the status means that the request was not acted on.
func turnedAway(err error) bool {
	var ne *NodeError
	return errors.As(err, &ne) && ne.Status >= 300 && ne.Status < 500 && ne.Status != http.StatusRequestTimeout
}
