package simnode

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"chainexplorer/internal/starknet"
)

// request is one JSON-RPC call as it came.
type request struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
}

// notification reports whether the caller wants no answer.
func (r *request) notification() bool { return len(r.ID) == 0 }

// rpcCall is a call on its way through a method.
type rpcCall struct {
	ctx     context.Context
	node    *Node
	method  string
	args    map[string]json.RawMessage
	v       *view
	session *session // nil over plain HTTP
	// after is run once the answer is on its way: subscriptions start there.
	after func()
}

// method is an entry of the method table.
type method struct {
	params   []string // in positional order
	required int      // how many of them must be there
	run      func(*rpcCall) (any, error)
	since    starknet.SpecVersion
	until    starknet.SpecVersion // zero: still there
	stream   bool                 // WebSocket only
}

// raw is a result that is JSON already.
type raw []byte

// parseRequests reads a body: one call or a batch.
func parseRequests(body []byte) (calls []json.RawMessage, batch bool, err *rpcError) {
	trimmed := bytes.TrimLeft(body, " \t\r\n")
	if len(trimmed) > 0 && trimmed[0] == '[' {
		if json.Unmarshal(trimmed, &calls) != nil {
			return nil, true, failure(codeParse)
		}
		if len(calls) == 0 {
			return nil, true, failure(codeInvalidRequest)
		}
		return calls, true, nil
	}
	if !json.Valid(trimmed) {
		return nil, false, failure(codeParse)
	}
	return []json.RawMessage{trimmed}, false, nil
}

// methodsOf are the names that a body asks for, for faults that look at them.
func methodsOf(calls []json.RawMessage) []string {
	var out []string
	for _, c := range calls {
		var r struct {
			Method string `json:"method"`
		}
		if json.Unmarshal(c, &r) == nil {
			out = append(out, r.Method)
		}
	}
	return out
}

// answer runs one call and appends its response, or nothing for a
// notification. The returned function, if any, is to be run after sending.
func (n *Node) answer(ctx context.Context, dst []byte, body json.RawMessage, s *session, wrongID bool) ([]byte, func()) {
	var r request
	if err := json.Unmarshal(body, &r); err != nil {
		return appendError(dst, nil, failure(codeInvalidRequest)), nil
	}
	if r.Version != "2.0" || r.Method == "" || !validID(r.ID) {
		return appendError(dst, nil, failure(codeInvalidRequest)), nil
	}
	result, after, failed := n.dispatch(ctx, &r, s)
	if r.notification() {
		return dst, nil
	}
	if wrongID {
		r.ID = json.RawMessage(`"nobody asked"`)
	}
	if failed != nil {
		return appendError(dst, r.ID, failed), nil
	}
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	dst = append(dst, r.ID...)
	dst = append(dst, `,"result":`...)
	dst = append(dst, result...)
	return append(dst, '}'), after
}

// validID accepts strings, numbers and null.
func validID(id json.RawMessage) bool {
	if len(id) == 0 {
		return true
	}
	switch id[0] {
	case '{', '[', 't', 'f':
		return false
	}
	return true
}

func appendError(dst []byte, id json.RawMessage, e *rpcError) []byte {
	if len(id) == 0 {
		id = json.RawMessage("null")
	}
	text, err := json.Marshal(e)
	if err != nil {
		panic(err) // errors carry strings and plain values
	}
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	dst = append(dst, id...)
	dst = append(dst, `,"error":`...)
	dst = append(dst, text...)
	return append(dst, '}')
}

// dispatch finds the method, binds its parameters and runs it.
func (n *Node) dispatch(ctx context.Context, r *request, s *session) ([]byte, func(), *rpcError) {
	m, ok := methods[r.Method]
	if !ok || n.cfg.Version < m.since || m.until != 0 && n.cfg.Version > m.until || m.stream && s == nil {
		return nil, nil, failure(codeNoMethod)
	}
	args, failed := m.bind(r.Params, n.cfg.Version)
	if failed != nil {
		return nil, nil, failed
	}
	if f := n.faults.strike(FaultRPCError, r.Method); f != nil {
		return nil, nil, &rpcError{Code: f.Code, Message: f.Message}
	}
	c := &rpcCall{ctx: ctx, node: n, method: r.Method, args: args, v: n.faults.view(r.Method), session: s}
	result, err := m.run(c)
	if err != nil {
		if e, ok := err.(*rpcError); ok {
			return nil, nil, e
		}
		return nil, nil, failureWith(codeInternal, err.Error())
	}
	if text, ok := result.(raw); ok {
		return text, c.after, nil
	}
	text, err := json.Marshal(result)
	if err != nil {
		return nil, nil, failureWith(codeInternal, err.Error())
	}
	return text, c.after, nil
}

// bind turns positional or named parameters into named ones. Nodes of the newest
// version that read a list into a fixed form refuse one that leaves out its last
// members, optional or not; so does this one, to be as strict as any.
func (m *method) bind(params json.RawMessage, version starknet.SpecVersion) (map[string]json.RawMessage, *rpcError) {
	args := map[string]json.RawMessage{}
	trimmed := bytes.TrimSpace(params)
	switch {
	case len(trimmed) == 0 || string(trimmed) == "null":
	case trimmed[0] == '[':
		var list []json.RawMessage
		if json.Unmarshal(trimmed, &list) != nil || len(list) > len(m.params) {
			return nil, failureWith(codeInvalidParams, "too many params")
		}
		if len(list) < len(m.params) && version >= starknet.V010 && !m.stream {
			return nil, failureWith(codeInvalidParams, fmt.Sprintf("invalid length %d, expected %d elements", len(list), len(m.params)))
		}
		for i, p := range list {
			args[m.params[i]] = p
		}
	case trimmed[0] == '{':
		if json.Unmarshal(trimmed, &args) != nil {
			return nil, failure(codeInvalidParams)
		}
		for name := range args {
			if !slices.Contains(m.params, name) {
				return nil, failureWith(codeInvalidParams, "unexpected param "+name)
			}
		}
	default:
		return nil, failure(codeInvalidRequest)
	}
	for name, value := range args {
		if string(value) == "null" {
			delete(args, name)
		}
	}
	for _, name := range m.params[:m.required] {
		if _, ok := args[name]; !ok {
			return nil, failureWith(codeInvalidParams, "missing param "+name)
		}
	}
	return args, nil
}

// arg reads a parameter. A missing one leaves the zero value.
func arg[T any](c *rpcCall, name string) (v T, err error) {
	text, ok := c.args[name]
	if !ok {
		return v, nil
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil {
		return v, failureWith(codeInvalidParams, fmt.Sprintf("%s: %v", name, err))
	}
	return v, nil
}
