package node

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"
)

// This file asks one node one or several questions and matches the answers to
// them: by id, in any order, each exactly once.

// call is a question with its parameters already encoded.
type call struct {
	method string
	params []byte // a JSON array or object; empty means none
}

// reply is a node's answer to a call: a result, or an error.
type reply struct {
	result json.RawMessage
	err    *RPCError
	raw    json.RawMessage // the error object as the node wrote it
}

const (
	// singlesAtOnce is how many calls of a refused batch are sent together.
	singlesAtOnce = 8
	// batchPause is how long a node that refused a batch gets none.
	batchPause = 5 * time.Minute
)

// lane says which bounds an exchange is under.
type lane struct {
	timeout time.Duration
	probe   bool                      // does not queue: a busy node must not look like a dead one
	hold    *hold                     // keeps what answers take of the budget; nil: until they are read
	limit   int64                     // of the answer's bytes; 0: by what is asked
	guest   bool                      // has places of its own, and does not wait for one for long
	kind    string                    // of a guest's request
	check   func(result []byte) error // of a guest's result
}

// exchange asks n all calls: as one batch where the node takes batches, else
// one by one. An error means that no set of answers was had.
func (p *Pool) exchange(ctx context.Context, n *node, calls []call, l lane) ([]reply, error) {
	if len(calls) == 1 {
		r, err := p.exchangeOne(ctx, n, calls[0], l)
		return []reply{r}, err
	}
	if n.takesBatches(time.Now()) {
		replies, err := p.exchangeBatch(ctx, n, calls, l)
		if !errors.Is(err, errBatchRefused) {
			return replies, err
		}
		n.refuseBatches(time.Now().Add(batchPause))
		p.log.Warn("node does not take batches; calls are sent one by one", "node", n.name)
	}
	replies := make([]reply, len(calls))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(singlesAtOnce)
	for i, c := range calls {
		g.Go(func() (err error) {
			replies[i], err = p.exchangeOne(ctx, n, c, l)
			return err
		})
	}
	return replies, g.Wait()
}

func (p *Pool) exchangeOne(ctx context.Context, n *node, c call, l lane) (r reply, err error) {
	defer func() { p.countOne(n, c.method, &r, err) }()
	if l.limit == 0 {
		l.limit = p.answerLimit(c)
	}
	data, err := p.send(ctx, n, appendCall(nil, 1, c), l)
	if err != nil {
		return reply{}, err
	}
	envs, batch, err := scanEnvelopes(data, 1)
	if err == nil && (batch || len(envs) != 1) {
		err = fmt.Errorf("%w: an array answers a single call", ErrMalformed)
	}
	if err == nil {
		r, err = openEnvelope(envs[0])
	}
	if err == nil && string(envs[0].id) != "1" && (r.err == nil || !isNull(envs[0].id)) {
		err = fmt.Errorf("%w: answer has another id", ErrMalformed)
	}
	if err != nil {
		return reply{}, n.fail("malformed", err)
	}
	if err := l.accept(r); err != nil {
		e := n.fail("malformed", fmt.Errorf("%w: %w", ErrMalformed, err))
		e.permanent = true // it is no accident of the way
		return reply{}, e
	}
	return r, nil
}

// errBatchRefused says that the node understood nothing but single calls.
var errBatchRefused = errors.New("batch refused")

func (p *Pool) exchangeBatch(ctx context.Context, n *node, calls []call, l lane) (replies []reply, err error) {
	defer func() {
		if !errors.Is(err, errBatchRefused) {
			p.count(n, calls, replies, err)
		}
	}()
	body := []byte{'['}
	for i, c := range calls {
		if i > 0 {
			body = append(body, ',')
		}
		body = appendCall(body, i+1, c)
	}
	l.limit = p.answerLimit(calls...)
	data, err := p.send(ctx, n, append(body, ']'), l)
	if err != nil {
		var ne *NodeError
		if errors.As(err, &ne) && refusesBatch(ne.Status) {
			return nil, errBatchRefused
		}
		return nil, err
	}
	envs, batch, err := scanEnvelopes(data, len(calls))
	if err != nil {
		return nil, n.fail("malformed", err)
	}
	if !batch {
		r, err := openEnvelope(envs[0])
		switch {
		case err != nil:
			return nil, n.fail("malformed", err)
		case r.err == nil:
			return nil, n.fail("malformed", fmt.Errorf("%w: one result answers a batch", ErrMalformed))
		case r.err.transient():
			return nil, n.fail("rpc_transient", r.err)
		}
		return nil, errBatchRefused
	}
	if replies, err = matchReplies(envs, len(calls)); err != nil {
		return nil, n.fail("malformed", err)
	}
	return replies, nil
}

// refusesBatch lists the statuses with which servers turn a batch away.
func refusesBatch(status int) bool {
	switch status {
	case http.StatusBadRequest, http.StatusMethodNotAllowed, http.StatusRequestEntityTooLarge,
		http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity, http.StatusNotImplemented:
		return true
	}
	return false
}

// matchReplies puts each answer at its question's place.
func matchReplies(envs []envelope, count int) ([]reply, error) {
	replies := make([]reply, count)
	seen := make([]bool, count)
	for _, e := range envs {
		id, err := strconv.Atoi(string(e.id))
		if err != nil || id < 1 || id > count || e.id[0] == '+' {
			return nil, fmt.Errorf("%w: answer to an unknown id", ErrMalformed)
		}
		if seen[id-1] {
			return nil, fmt.Errorf("%w: id %d answered twice", ErrMalformed, id)
		}
		seen[id-1] = true
		if replies[id-1], err = openEnvelope(e); err != nil {
			return nil, err
		}
	}
	if len(envs) != count {
		return nil, fmt.Errorf("%w: %d answers to %d calls", ErrMalformed, len(envs), count)
	}
	return replies, nil
}

func openEnvelope(e envelope) (reply, error) {
	if e.err != nil && !isNull(e.err) {
		if e.result != nil && !isNull(e.result) {
			return reply{}, fmt.Errorf("%w: both result and error", ErrMalformed)
		}
		var wire struct {
			Code    *int            `json:"code"`
			Message string          `json:"message"`
			Data    json.RawMessage `json:"data"`
		}
		if err := json.Unmarshal(e.err, &wire); err != nil || wire.Code == nil {
			return reply{}, fmt.Errorf("%w: error without a code", ErrMalformed)
		}
		return reply{err: &RPCError{Code: *wire.Code, Message: wire.Message, Data: wire.Data}, raw: e.err}, nil
	}
	if e.result == nil {
		return reply{}, fmt.Errorf("%w: neither result nor error", ErrMalformed)
	}
	return reply{result: e.result}, nil
}

func isNull(b []byte) bool { return b == nil || bytes.Equal(b, []byte("null")) }

// send waits for a free place at the node and posts.
func (p *Pool) send(ctx context.Context, n *node, body []byte, l lane) ([]byte, error) {
	if !l.probe {
		places := n.places(l.guest)
		if err := p.enter(ctx, n, places, l); err != nil {
			return nil, err
		}
		defer func() { <-places }()
	}
	data, err := p.post(ctx, n, body, l)
	var ne *NodeError
	if errors.As(err, &ne) && answersInBody(ne.Status) {
		// Some servers give the answer of a failed call an error status as well.
		if envs, _, scanErr := scanEnvelopes(ne.body, bytes.Count(ne.body, []byte{'{'})); scanErr == nil && len(envs) > 0 {
			if r, err := openEnvelope(envs[0]); err == nil && r.err != nil && !r.err.transient() {
				return ne.body, nil
			}
		}
	}
	return data, err
}

// enter waits for a free place at the node.
func (p *Pool) enter(ctx context.Context, n *node, places chan struct{}, l lane) error {
	select {
	case places <- struct{}{}:
		return nil
	default:
	}
	var late <-chan time.Time
	if l.guest {
		timer := time.NewTimer(min(p.cfg.GuestWait, l.timeout))
		defer timer.Stop()
		late = timer.C
	}
	select {
	case places <- struct{}{}:
		return nil
	case <-late:
		return n.fail("busy", fmt.Errorf("%w: %d calls are under way", ErrBusy, cap(places)))
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func answersInBody(status int) bool {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusRequestTimeout, http.StatusTooManyRequests:
		return false
	}
	return status >= 400 && status < 500
}

func appendCall(b []byte, id int, c call) []byte {
	b = slices.Grow(b, 64+len(c.method)+len(c.params))
	b = append(b, `{"jsonrpc":"2.0","id":`...)
	b = strconv.AppendInt(b, int64(id), 10)
	b = append(b, `,"method":`...)
	if readMethods[c.method] || writeMethods[c.method] { // plain text
		b = append(append(append(b, '"'), c.method...), '"')
	} else {
		name, _ := json.Marshal(c.method) // a string always encodes
		b = append(b, name...)
	}
	if len(c.params) > 0 {
		b = append(b, `,"params":`...)
		b = append(b, c.params...)
	}
	return append(b, '}')
}

// count books the calls of one exchange by their outcome.
func (p *Pool) count(n *node, calls []call, replies []reply, err error) {
	for i, c := range calls {
		var r reply
		if err == nil {
			r = replies[i]
		}
		p.countOne(n, c.method, &r, err)
	}
}

func (p *Pool) countOne(n *node, method string, r *reply, err error) {
	outcome := "ok"
	switch {
	case err != nil:
		outcome = "canceled"
		var ne *NodeError
		if errors.As(err, &ne) {
			outcome = ne.outcome
		}
	case r.err != nil && r.err.transient():
		outcome = "rpc_transient"
	case r.err != nil:
		outcome = "rpc_error"
	}
	p.cfg.Metrics.request(n.name, method, outcome)
}
