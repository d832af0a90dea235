package simnode

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"chainexplorer/internal/starknet"
)

// NodeConfig describes a node. The zero value speaks the newest version.
type NodeConfig struct {
	Version starknet.SpecVersion // V010 when zero
	// MaxBatch is how many calls a batch may have; 128 when zero.
	MaxBatch int
	// MaxChunk is the largest page of events; 1024 when zero.
	MaxChunk int
	// FaultSeed makes faults by chance repeatable.
	FaultSeed uint64
	// Wait is how FaultLatency waits; a timer when nil.
	Wait func(context.Context, time.Duration) error
}

// maxBody bounds a request.
const maxBody = 8 << 20

// Node serves a chain over HTTP and WebSocket as a Starknet node does. Several
// nodes may serve one chain; each has its own version and its own faults.
type Node struct {
	chain  *Chain
	cfg    NodeConfig
	faults *Faults

	mu       sync.Mutex // guards sessions and requests
	sessions map[*session]struct{}
	requests map[string]int
}

// NewNode makes a node.
func NewNode(chain *Chain, cfg NodeConfig) *Node {
	if cfg.Version == 0 {
		cfg.Version = starknet.V010
	}
	if cfg.MaxBatch == 0 {
		cfg.MaxBatch = 128
	}
	if cfg.MaxChunk == 0 {
		cfg.MaxChunk = 1024
	}
	if cfg.Wait == nil {
		cfg.Wait = waitTimer
	}
	return &Node{
		chain: chain, cfg: cfg, faults: &Faults{chain: chain, r: newRandom(cfg.FaultSeed, 0xfa17)},
		sessions: map[*session]struct{}{}, requests: map[string]int{},
	}
}

func waitTimer(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Chain is what the node serves.
func (n *Node) Chain() *Chain { return n.chain }

// Faults makes the node misbehave.
func (n *Node) Faults() *Faults { return n.faults }

// Requests is how many calls of a method the node has seen.
func (n *Node) Requests(method string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.requests[method]
}

func (n *Node) countRequests(methods []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, m := range methods {
		if _, ok := n.requests[m]; ok || len(n.requests) < 1000 {
			n.requests[m]++
		}
	}
}

// ServeHTTP answers JSON-RPC on every path, and upgrades to WebSocket.
func (n *Node) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		n.serveWebSocket(w, r)
		return
	}
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "JSON-RPC wants POST", http.StatusMethodNotAllowed)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		http.Error(w, "request body is too large or was cut off", http.StatusRequestEntityTooLarge)
		return
	}
	calls, batch, failed := parseRequests(body)
	methods := methodsOf(calls)
	n.countRequests(methods)
	if !n.misbehave(w, r, methods) {
		return
	}
	var out []byte
	if failed != nil {
		out = appendError(nil, nil, failed)
	} else {
		out = n.answerAll(r.Context(), calls, batch, methods)
	}
	n.send(w, out, methods)
}

// misbehave applies the faults that come before an answer; false means that
// the request is done with.
func (n *Node) misbehave(w http.ResponseWriter, r *http.Request, methods []string) bool {
	if f := n.faults.strike(FaultLatency, methods...); f != nil {
		if n.cfg.Wait(r.Context(), f.Delay) != nil {
			return false
		}
	}
	if n.faults.strike(FaultDrop, methods...) != nil {
		panic(http.ErrAbortHandler) // net/http closes the connection
	}
	if f := n.faults.strike(FaultHTTPStatus, methods...); f != nil {
		if f.RetryAfter > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(int((f.RetryAfter+time.Second-1)/time.Second)))
		}
		http.Error(w, http.StatusText(f.Status), f.Status)
		return false
	}
	return true
}

// answerAll answers a body. It is empty when there were only notifications.
func (n *Node) answerAll(ctx context.Context, calls []json.RawMessage, batch bool, methods []string) []byte {
	wrong := n.faults.strike(FaultWrongID, methods...) != nil
	if !batch {
		out, _ := n.answer(ctx, nil, calls[0], nil, wrong)
		return out
	}
	if len(calls) > n.cfg.MaxBatch {
		return appendError(nil, nil, failureWith(codeInvalidRequest, "batch of more than "+strconv.Itoa(n.cfg.MaxBatch)+" calls"))
	}
	out := []byte{'['}
	for _, c := range calls {
		start := len(out)
		if start > 1 {
			out = append(out, ',')
		}
		grown, _ := n.answer(ctx, out, c, nil, wrong)
		if len(grown) == len(out) {
			grown = grown[:start] // a notification
		}
		out = grown
	}
	if len(out) == 1 {
		return nil
	}
	return append(out, ']')
}

func (n *Node) send(w http.ResponseWriter, out []byte, methods []string) {
	if len(out) == 0 {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(out)))
	if n.faults.strike(FaultTruncate, methods...) != nil {
		w.Write(out[:len(out)/2])             //nolint:errcheck // the client is meant to be unhappy
		http.NewResponseController(w).Flush() //nolint:errcheck
		panic(http.ErrAbortHandler)
	}
	w.Write(out) //nolint:errcheck // nobody is left to tell
}
