// Package method is the one table of what the JSON-RPC gateway serves. From an entry
// follow whether a call is let in, what it costs, how it is bounded, what may be kept
// of its answer, and everything that the documents say of it.
package method

import (
	"time"

	"chainexplorer/internal/account"
	"chainexplorer/internal/starknet"
)

// Class is what kind of work a method is: X-Service-Rpc-Class.
type Class string

// The classes.
const (
	ReadLight   Class = "rpc_read_light"
	ReadState   Class = "rpc_read_state"
	ReadHistory Class = "rpc_read_history"
	Simulation  Class = "rpc_simulation"
	Write       Class = "rpc_write"
	Trace       Class = "rpc_trace"
	WebSocket   Class = "rpc_ws" // subscriptions: refused over HTTP
)

// Keep says what the answer to a method follows from, and so for how long it is true.
type Keep uint8

const (
	// Never is for what changes with the head, or without anybody being told.
	Never Keep = iota
	// Always is the same for as long as the chain and the version are.
	Always
	// OfBlock is for answers about the block of block_id: they last once that block
	// cannot be replaced any more.
	OfBlock
	// OfBlockStatus is OfBlock for answers that tell the block's status, which last
	// once it is accepted on L1.
	OfBlockStatus
	// OfTransaction lasts once the block of transaction_hash cannot be replaced.
	OfTransaction
	// OfTransactionStatus is OfTransaction for answers that tell the status.
	OfTransactionStatus
	// OfClass is for what a class hash alone decides, once it was found.
	OfClass
)

// Method is an entry of the table.
type Method struct {
	Name    string
	Class   Class
	Scope   account.Scopes // that a key needs beside read
	Summary string
	Params  []Param // in positional order
	Result  *Schema
	Errors  []int // of the specification, that a node may answer with

	// Since and Until are the versions that have the method; zero: all.
	Since, Until starknet.SpecVersion

	Keep Keep
	// Cost is how many requests of the class's budget a call takes.
	Cost int
	// MaxAnswer bounds a result in bytes, and TooLarge names the failure.
	MaxAnswer int64
	TooLarge  string
	// Timeout bounds how long nodes are waited for.
	Timeout time.Duration
	// Push is the method of the notifications that a subscription leads to, and Pushed
	// what they have as params.result.
	Push   string
	Pushed *Schema
}

// Param is a parameter of a method.
type Param struct {
	Name     string
	Required bool
	Since    starknet.SpecVersion // zero: all versions of the method
	Summary  string
	Schema   *Schema
}

// In says whether a version of the specification has the method.
func (m *Method) In(v starknet.SpecVersion) bool {
	return v >= m.Since && (m.Until == 0 || v <= m.Until)
}

// ParamsIn are the parameters that the method has in a version, in positional order.
func (m *Method) ParamsIn(v starknet.SpecVersion) []Param {
	for i := range m.Params {
		if m.Params[i].Since > v { // rare: copy what is left
			out := append([]Param(nil), m.Params[:i]...)
			for _, p := range m.Params[i:] {
				if p.Since <= v {
					out = append(out, p)
				}
			}
			return out
		}
	}
	return m.Params
}

// Stream says that the method makes or ends a subscription.
func (m *Method) Stream() bool { return m.Class == WebSocket }

// Budget is the class of requests that a call draws on: light or heavy, as on the
// other routes.
func (c Class) Budget() string {
	switch c {
	case ReadLight, ReadState, ReadHistory, WebSocket:
		return "light"
	}
	return "heavy"
}

// Lookup finds a method by its name, which must match to the letter; nil when it is
// not on the list.
func Lookup(name string) *Method { return byName[name] }

// All are the methods in the order of the table.
func All() []*Method { return table }
