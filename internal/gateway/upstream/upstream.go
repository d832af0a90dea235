package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/gateway/method"
	"chainexplorer/internal/node"
	"chainexplorer/internal/starknet"
)

// Nodes is what is asked: a *node.Pool.
type Nodes interface {
	Forward(ctx context.Context, a node.Ask) (node.Told, error)
	// BestHead is the highest head that a node showed lately.
	BestHead() (node.Head, bool)
	// Chain is the chain that the nodes serve, once that is known.
	Chain() (felt.Felt, bool)
}

// The failures that can be told apart, beside *DeliveryUnknownError and
// *IncompleteTraceError. Any other means that no node gave an answer.
var (
	// ErrTooLarge says that the answer is longer than the method's may be.
	ErrTooLarge = node.ErrTooLarge
	// ErrBusy says that it is this service that can take no more calls at present.
	ErrBusy = node.ErrBusy
	// ErrNoVersion says that no node speaks the version.
	ErrNoVersion = node.ErrNoVersion
)

// DeliveryUnknownError says that a write left for a node and that nobody knows whether
// it arrived.
type DeliveryUnknownError struct {
	Node string
	// Hash is what the transaction will be found under if it did; nil where that
	// cannot be told for sure.
	Hash *felt.Felt
	Err  error
}

func (e *DeliveryUnknownError) Error() string {
	if e.Hash == nil {
		return e.Err.Error()
	}
	return fmt.Sprintf("transaction %s: %v", e.Hash, e.Err)
}

// Unwrap gives the cause.
func (e *DeliveryUnknownError) Unwrap() error { return e.Err }

// Options says what an Upstream stands on.
type Options struct {
	Pool Nodes
	// Store is the index of the same chain; nil: nothing is known to be settled, and
	// only what never changes at all is kept.
	Store explorer.Index
	// Depth is how far below the head a block is settled; 0: chain.DefaultDepth.
	Depth uint64
	// CacheBytes is the memory for answers that are kept; 0 or less: none are.
	CacheBytes int64
	Now        func() time.Time // time.Now
	Metrics    *Metrics         // none
	Logger     *slog.Logger     // discards
}

// Upstream is the nodes of one chain, for the gateway. It is safe for concurrent use.
type Upstream struct {
	nodes    Nodes
	index    explorer.Index
	depth    uint64
	log      *slog.Logger
	revision chain.RevisionMemo
	kept     *keeper
	flights  flights
	tokens   tokens
}

// New makes an Upstream. It does nothing until it is called, and needs no closing.
func New(o Options) *Upstream {
	if o.Depth == 0 {
		o.Depth = chain.DefaultDepth
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Upstream{
		nodes: o.Pool, index: o.Store, depth: o.Depth, log: o.Logger,
		kept:    newKeeper(o.CacheBytes, o.Metrics, o.Now),
		flights: flights{byKey: map[digest]*flight{}},
		tokens:  newTokens(),
	}
}

// Answer is what a node said, byte for byte: exactly one of Result and Error is set.
// Others may hold the same bytes: they are not to be written to.
type Answer struct {
	Result json.RawMessage
	Error  json.RawMessage // the whole error object
	Code   int             // of Error
	Node   string          // who said it; empty if it was kept
	Kept   bool            // no node was asked
	Shared bool            // another caller's request brought it
	// Release gives the memory of the answer back. It is never nil, may be called more
	// than once, and the answer is not to be used after it.
	Release func()
}

func nothing() Answer { return Answer{Release: func() {}} }

// Head is the highest head that a node showed lately.
func (u *Upstream) Head() (node.Head, bool) { return u.nodes.BestHead() }

// Call answers a read, by what is kept or by a node. params is what the caller wrote
// and args what Method.Bind made of it.
func (u *Upstream) Call(ctx context.Context, m *method.Method, params json.RawMessage, args method.Args, v starknet.SpecVersion) (Answer, error) {
	if m.Class == method.Write || m.Stream() {
		return nothing(), fmt.Errorf("%s is no read", m.Name)
	}
	q := u.question(ctx, m, params, args, v)
	if q.keep {
		if result, ok := u.kept.get(q.entry()); ok {
			return Answer{Result: result, Kept: true, Release: func() {}}, nil
		}
	}
	answer, shared, err := u.flights.join(ctx, q.key, func(ctx context.Context) (Answer, error) { return u.ask(ctx, q) })
	answer.Shared = shared
	return answer, err
}

// question is a read on its way.
type question struct {
	method *method.Method
	params json.RawMessage
	about  subject
	spec   starknet.SpecVersion
	key    digest
	keep   bool           // the answer may be one that is kept
	at     chain.Revision // of the index, when keep is set
	token  tokenKey       // of starknet_getEvents
}

func (q *question) entry() entryKey { return entryKey{q.at, q.key} }

func (u *Upstream) question(ctx context.Context, m *method.Method, params json.RawMessage, args method.Args, v starknet.SpecVersion) *question {
	q := &question{method: m, params: m.ForNode(params, args, v), spec: v, key: digestOf(m, args, v), about: subjectOf(m, args)}
	if m.Name == "starknet_getEvents" {
		q.token = tokenOf(args["filter"], v)
	}
	switch {
	case m.Keep == method.Always:
		q.keep = true
	case m.Keep == method.Never || u.index == nil || q.about.kind == nowhere || !u.kept.enabled():
	default:
		now, err := u.revision.Now(ctx, u.index)
		if err != nil {
			u.log.Debug("an answer is not looked for among those that are kept", "error", err)
			break
		}
		// While blocks are being undone nothing is settled.
		q.at, q.keep = now.Lasting(), now.Undoing == 0 && !u.unsettled(m, q.about, now)
	}
	return q
}

// ask puts the question to a node.
func (u *Upstream) ask(ctx context.Context, q *question) (Answer, error) {
	m := q.method
	a := node.Ask{Method: m.Name, Params: q.params, Spec: specOf(q.spec), Limit: m.MaxAnswer, Timeout: m.Timeout}
	a.At = u.blockOf(ctx, q.about)
	a.Check = func(result []byte) error { return u.unfit(ctx, q, result) }
	if q.token.given {
		a.Node, _ = u.tokens.node(q.token)
	}
	told, err := u.nodes.Forward(ctx, a)
	if err != nil {
		return nothing(), err
	}
	if told.Error == nil {
		if err := checkTrace(m.Name, told.Result); err != nil {
			told.Release()
			return nothing(), &IncompleteTraceError{Node: told.Node, Err: err}
		}
		if q.token.asks {
			u.tokens.remember(q.token, told)
		}
		if q.keep && u.settled(ctx, q, told.Result) {
			u.kept.put(q.entry(), told.Result)
		}
	}
	return Answer{Result: told.Result, Error: told.Error, Code: told.Code, Node: told.Node, Release: told.Release}, nil
}

// Send passes a write on: to one node, once. A *DeliveryUnknownError says that it may
// have arrived; after any other error it has not. A node that names no transaction has
// not said that it took one.
func (u *Upstream) Send(ctx context.Context, m *method.Method, params json.RawMessage, args method.Args, v starknet.SpecVersion) (Answer, error) {
	told, err := u.nodes.Forward(ctx, node.Ask{Method: m.Name, Params: params, Spec: specOf(v), Limit: m.MaxAnswer, Timeout: m.Timeout, Once: true})
	if err == nil && told.Error == nil {
		if t, bad := read(told.Result); bad != nil || !t.named {
			told.Release()
			err = &node.DeliveryUnknownError{Node: told.Node, Method: m.Name, Err: fmt.Errorf("%w: it names no transaction", node.ErrMalformed)}
		}
	}
	if err == nil {
		return Answer{Result: told.Result, Error: told.Error, Code: told.Code, Node: told.Node, Release: told.Release}, nil
	}
	var unknown *node.DeliveryUnknownError
	if !errors.As(err, &unknown) {
		return nothing(), err
	}
	out := &DeliveryUnknownError{Node: unknown.Node, Err: err}
	if id, ok := u.nodes.Chain(); ok {
		if hash, err := transactionHash(m, args, id); err != nil {
			u.log.Debug("the hash of a transaction is not told", "method", m.Name, "error", err)
		} else {
			out.Hash = &hash
		}
	}
	return nothing(), out
}

// specOf is the version that a node must speak; patches do not matter.
func specOf(v starknet.SpecVersion) node.SpecVersion {
	switch v {
	case starknet.V08:
		return node.SpecVersion{Minor: 8}
	case starknet.V09:
		return node.SpecVersion{Minor: 9}
	}
	return node.SpecVersion{Minor: 10}
}
