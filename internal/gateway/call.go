package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"chainexplorer/internal/gateway/method"
	"chainexplorer/internal/gateway/own"
	"chainexplorer/internal/gateway/wire"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/starknet"
)

// visit is one caller at one address: what all calls of a request, or of a
// connection, have in common.
type visit struct {
	request   *kernel.Request
	caller    *kernel.Caller
	requestID string
	chain     *served
	version   starknet.SpecVersion
	socket    bool // over WebSocket
}

// outcome is the answer to a call: exactly one of result and failure, unless fault
// says that the gateway itself refuses.
type outcome struct {
	result, failure json.RawMessage // as they were written by whoever answers
	fault           *wire.Error
	release         func() // of the memory of the answer
	class           method.Class
	budget          *kernel.Verdict
	source          string // for metrics
	took            time.Duration
}

// refuse takes the answer away.
func (o *outcome) refuse(e *wire.Error) {
	o.free()
	o.result, o.failure, o.fault = nil, nil, e
}

func (o *outcome) free() {
	if o.release != nil {
		o.release()
		o.release = nil
	}
}

// size is how many bytes the answer takes.
func (o *outcome) size(id json.RawMessage) int {
	return wire.Overhead + len(id) + len(o.result) + len(o.failure)
}

// appendTo appends the answer.
func (o *outcome) appendTo(dst []byte, id json.RawMessage, requestID string) []byte {
	switch {
	case o.fault != nil:
		return wire.AppendError(dst, id, o.fault.Object(requestID))
	case o.failure != nil:
		return wire.AppendError(dst, id, o.failure)
	}
	return wire.AppendResult(dst, id, o.result)
}

// pay takes what a call costs out of the caller's budgets. What is no call, or not on the
// list, is paid for as well: it must not be the cheap way to keep the gateway busy.
func (g *Gateway) pay(ctx context.Context, by *kernel.Tab, c *wire.Call) (out outcome) {
	cost, class := 1, method.ReadLight
	if m := method.Lookup(c.Method); m != nil && c.Invalid == nil {
		cost, class = m.Cost, m.Class
		out.class = class
	}
	budget, refused := by.Spend(ctx, kernel.Class(class.Budget()), cost)
	out.budget = &budget
	if refused != nil {
		out.fault = translate(refused)
	}
	return out
}

// one answers a call that is alone.
func (g *Gateway) one(ctx context.Context, v *visit, c *wire.Call) outcome {
	out := g.pay(ctx, g.NewTab(v.caller), c)
	g.run(ctx, v, c, maxSingle, &out)
	return out
}

// run answers a call that was paid for. most bounds its result besides the method's own
// bound.
func (g *Gateway) run(ctx context.Context, v *visit, c *wire.Call, most int64, out *outcome) {
	m := method.Lookup(c.Method)
	start := time.Now()
	defer func() {
		out.took = time.Since(start)
		g.metrics.called(v.chain.ID, m, out)
	}()
	if out.fault != nil {
		return
	}
	if out.fault = c.Invalid; out.fault != nil {
		return
	}
	if out.fault = g.permit(v, m, c); out.fault != nil {
		return
	}
	args, err := m.Bind(c.Params, v.version)
	if err == nil && m.Name == "starknet_getStorageProof" {
		err = checkProof(args)
	}
	if err != nil {
		out.fault = badParams(err)
		return
	}
	if e := g.seats.Enter(ctx, v.caller, "at work for JSON-RPC"); e != nil {
		out.fault = translate(e)
		return
	}
	defer g.seats.Leave(v.caller)
	g.answer(ctx, v, m, c, args, most, out)
}

func badParams(err error) *wire.Error {
	if errors.Is(err, errProofTargets) {
		e := fail(wire.TooManyProofTargets, "Invalid params: %v.", err)
		e.MaxItems = method.MaxProofTargets
		return e
	}
	return fail(wire.InvalidParams, "Invalid params: %v.", err)
}

// permit says whether the caller may call the method here.
func (g *Gateway) permit(v *visit, m *method.Method, c *wire.Call) *wire.Error {
	switch {
	case m == nil:
		return fail(wire.MethodNotFound, "There is no method %q here; %s lists all.", kernel.Clip(c.Method, 60), method.Discover)
	case !m.In(v.version):
		return fail(wire.MethodNotFound, "Version %s has no method %s.", v.version, m.Name)
	case m.Stream() && !v.socket:
		return fail(wire.WebSocketRequired, "%s needs a WebSocket connection.", m.Name)
	case !v.caller.Scopes.Has(m.Scope):
		name := wire.ScopeRequired
		if m.Class == method.Write {
			name = wire.WriteScopeRequired
		}
		e := fail(name, "The key lacks the scope %q that %s needs.", m.Scope, m.Name)
		e.Scope = m.Scope.String()
		return e
	case m.Class == method.Write && g.noWrites:
		return fail(wire.WritesDisabled, "This service does not take transactions right now.")
	}
	return nil
}

// answer asks whoever knows: the gateway itself, the index, or a node.
func (g *Gateway) answer(ctx context.Context, v *visit, m *method.Method, c *wire.Call, args method.Args, most int64, out *outcome) {
	left, start := max(m.Timeout, time.Second), time.Now()
	limit := min(m.MaxAnswer, most)
	if m.Name == method.Discover {
		out.source, out.result = "gateway", v.chain.document(v.version, v.chain.live != nil)
		return
	}
	if v.chain.index != nil {
		reading, cancel := context.WithTimeout(ctx, left)
		result, code, done, err := v.chain.index.Answer(reading, m, args, v.version, limit)
		late := reading.Err() != nil
		cancel()
		left = max(left-time.Since(start), time.Second)
		switch {
		case err != nil && (late || own.Ours(m, args)):
			out.fault = explain(m, err)
			return
		case err != nil: // a node may know
			g.Log.Warn("the index did not answer a call", "request_id", v.requestID, "method", m.Name, "err", err)
		case done && code != 0:
			out.source, out.failure = "index", errorObject(code)
			return
		case done && int64(len(result)) > limit:
			out.source, out.fault = "index", g.oversize(m, limit)
			return
		case done:
			out.source, out.result = "index", result
			return
		}
	}
	if v.chain.nodes == nil {
		out.fault = unavailable(nil, "This service reaches no node of %s, and the index alone cannot answer that.", v.chain.ID)
		return
	}
	leave, err := g.shares.enter(ctx, v.caller.KeyID)
	if err != nil {
		out.fault = saturated("The key's other calls take up its share of the nodes.")
		return
	}
	defer leave()
	// What a call waited in our own queue is not taken from the time that nodes have.
	ctx, cancel := context.WithTimeout(ctx, left)
	defer cancel()
	ask := v.chain.nodes.Call
	if m.Class == method.Write {
		ask = v.chain.nodes.Send
	}
	bounded := m
	if limit < m.MaxAnswer {
		less := *m
		less.MaxAnswer = limit
		bounded = &less
	}
	told, err := ask(ctx, bounded, c.Params, args, v.version)
	out.source = "node"
	if err != nil {
		if out.fault = explain(m, err); out.fault.Name == m.TooLarge {
			out.fault = g.oversize(m, limit)
		}
		return
	}
	switch {
	case told.Kept:
		out.source = "kept"
	case told.Shared:
		out.source = "shared"
	}
	out.result, out.failure, out.release = told.Result, told.Error, told.Release
}

// oversize is the failure of a result that is larger than its limit.
func (g *Gateway) oversize(m *method.Method, limit int64) *wire.Error {
	if limit < m.MaxAnswer {
		return batchTooLarge()
	}
	return tooLarge(m)
}
