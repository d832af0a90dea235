package node

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"chainexplorer/internal/felt"
)

// RPCError is a node's answer that says no. Only its code has a meaning that
// holds across nodes and versions.
type RPCError struct {
	Code    int
	Message string
	Data    json.RawMessage
}

func (e *RPCError) Error() string {
	s := fmt.Sprintf("node answered error %d: %s", e.Code, clip(e.Message, 300))
	if e.Code == CodeInvalidParams && !isNull(e.Data) {
		s += ": " + clip(string(e.Data), 300) // the message alone never says which parameter
	}
	return s
}

// Codes of the specification that say that something does not exist.
const (
	CodeContractNotFound = 20
	CodeBlockNotFound    = 24
	CodeClassNotFound    = 28
	CodeTxNotFound       = 29
	CodeNoBlocks         = 32
)

// Codes of JSON-RPC itself, and those that nodes use for their limits.
const (
	CodeParse          = -32700
	CodeInvalidRequest = -32600
	CodeMethodNotFound = -32601
	CodeInvalidParams  = -32602
	CodeInternal       = -32603
	codeServerHighest  = -32000
	codeServerLowest   = -32099
)

// notFound says whether the answer depends on how much of the chain the node has.
func (e *RPCError) notFound() bool {
	switch e.Code {
	case CodeContractNotFound, CodeBlockNotFound, CodeClassNotFound, CodeTxNotFound, CodeNoBlocks:
		return true
	}
	return false
}

// transient says whether the error tells of the node's state, not of the
// question: internal failures and limits.
func (e *RPCError) transient() bool {
	return e.Code == CodeInternal || e.Code == http.StatusTooManyRequests ||
		(e.Code >= codeServerLowest && e.Code <= codeServerHighest)
}

// IsNotFound says whether err is a final "does not exist" from the best
// informed node.
func IsNotFound(err error) bool {
	var rpc *RPCError
	return errors.As(err, &rpc) && rpc.notFound()
}

// NodeError is a failure to get an answer from one node.
type NodeError struct {
	Node   string // display name
	Status int    // HTTP status, or 0
	Err    error

	outcome   string        // metrics label
	permanent bool          // asking this node the same again is pointless
	body      []byte        // what came with the status
	rest      time.Duration // how long the node asked to be left alone
}

func (e *NodeError) Error() string {
	if e.Status != 0 {
		return fmt.Sprintf("%s: HTTP status %d: %v", e.Node, e.Status, e.Err)
	}
	return fmt.Sprintf("%s: %v", e.Node, e.Err)
}

// Unwrap gives the cause.
func (e *NodeError) Unwrap() error { return e.Err }

// UnsettledError says that the only nodes that answered said "not found", but
// are known to be behind, so that neither yes nor no can be given.
type UnsettledError struct {
	Node      string // who said it
	NodeHead  uint64
	BestHead  uint64 // the highest head known, or the block asked for
	NotFound  RPCError
	LastError error // why no better node answered, or nil

	method string // the call that was denied
}

func (e *UnsettledError) Error() string {
	s := fmt.Sprintf("%s with head %d answered error %d (%s), but block %d is known to exist",
		e.Node, e.NodeHead, e.NotFound.Code, clip(e.NotFound.Message, 100), e.BestHead)
	if e.LastError != nil {
		s += ": " + e.LastError.Error()
	}
	return s
}

// Unwrap gives the failure of the better node. The "not found" is on purpose
// not reachable through it.
func (e *UnsettledError) Unwrap() error { return e.LastError }

// DeliveryUnknownError says that a write left for a node and that nobody knows
// whether it arrived. Sending it again may do it twice.
type DeliveryUnknownError struct {
	Node   string
	Method string
	Err    error
}

func (e *DeliveryUnknownError) Error() string {
	return fmt.Sprintf("%s: %s may or may not have been delivered: %v", e.Node, e.Method, e.Err)
}

// Unwrap gives the cause.
func (e *DeliveryUnknownError) Unwrap() error { return e.Err }

// ChainMismatchError says that two nodes of one pool serve different chains.
type ChainMismatchError struct {
	NodeA, ChainA string
	NodeB, ChainB string
}

func (e *ChainMismatchError) Error() string {
	return fmt.Sprintf("nodes are on different chains: %s on %s, %s on %s", e.NodeA, e.ChainA, e.NodeB, e.ChainB)
}

// WrongChainError says that a node serves another chain than the configured one.
type WrongChainError struct {
	Node        string
	Chain, Want felt.Felt
}

func (e *WrongChainError) Error() string {
	return fmt.Sprintf("%s is on the chain %s, not on %s", e.Node, chainName(e.Chain), chainName(e.Want))
}

// SpecVersionError says that a node speaks a version of the specification that
// this package does not.
type SpecVersionError struct {
	Node    string
	Version string
}

func (e *SpecVersionError) Error() string {
	return fmt.Sprintf("%s speaks specification version %q; 0.8, 0.9 and 0.10 are supported", e.Node, clip(e.Version, 40))
}

var (
	// ErrTooLarge says that a response was longer than Config.MaxResponseBytes.
	ErrTooLarge = errors.New("response too large")
	// ErrMalformed says that a response was not the JSON-RPC answer asked for.
	ErrMalformed = errors.New("malformed response")
	// ErrNoNode says that no node of the pool can take the request.
	ErrNoNode = errors.New("no usable node")
	// ErrNoOther says that every node of the pool was ruled out by the caller.
	ErrNoOther = errors.New("no other node")
	// ErrQuarantine says that every node that could be asked is in quarantine.
	ErrQuarantine = errors.New("in quarantine")
	// ErrNotARead says that a batch held a method that is not a known read.
	ErrNotARead = errors.New("only known read methods may be batched")
	// ErrBusy says that there was no place, or no memory, for a call that was to be
	// passed on: it is not the nodes that could not take it.
	ErrBusy = errors.New("too many calls are under way")
	// ErrNoneHealthy says that no node that could take a call answers at present. It
	// was not asked: it is looked at from time to time, and asked again once it answers.
	ErrNoneHealthy = errors.New("no healthy node")
	// ErrNoVersion says that no node speaks the version that was asked for.
	ErrNoVersion = errors.New("no node speaks this version of the specification")
	// ErrClosed says that the pool was closed.
	ErrClosed = errors.New("node pool is closed")
)

// clip shortens foreign text and drops what could break a log line.
func clip(s string, limit int) string {
	out := make([]rune, 0, min(len(s), limit))
	for _, r := range s {
		if len(out) == limit {
			return string(out) + "…"
		}
		if r < 0x20 || r == 0x7f {
			r = ' '
		}
		out = append(out, r)
	}
	return string(out)
}

// causes is several errors in one line.
type causes []error

func (c causes) Error() string {
	parts := make([]string, len(c))
	for i, err := range c {
		parts[i] = err.Error()
	}
	return strings.Join(parts, "; ")
}

// Unwrap gives all of them.
func (c causes) Unwrap() []error { return c }

// joined drops nils; it is nil if nothing is left.
func joined(errs ...error) error {
	kept := make(causes, 0, len(errs))
	for _, err := range errs {
		if err != nil {
			kept = append(kept, err)
		}
	}
	if len(kept) == 0 {
		return nil
	}
	return kept
}
