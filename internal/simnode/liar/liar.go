// Package liar is a node that lies, for tests: it stands in front of an honest
// node, forwards JSON-RPC to it, and alters, delays, withholds or floods the
// answers that its rules name. Batches are taken apart, so that a rule sees
// single calls.
//
// WebSocket connections are passed on as they are, unless NoWebSocket is set.
package liar

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
)

// Call is one JSON-RPC call that passes through.
type Call struct {
	Method string
	// Params are as they came, by name or by position.
	Params json.RawMessage
	// Block is the number of the block that the call is about, when the call
	// or its honest answer tells it.
	Block    uint64
	HasBlock bool
}

// Rule says how to lie. The first rule that fits a call is applied; a rule with
// no effect at all lets the call pass and hides it from the rules after it.
type Rule struct {
	// Method that is lied about; any when empty.
	Method string
	// When further limits the rule; nil is always.
	When func(Call) bool
	// Times is how often the rule is applied before it is spent; 0 is for ever.
	Times int

	// Rewrite returns what is told instead of the honest result, which it may
	// change in place. Objects are map[string]any, numbers json.Number. It is
	// not called for honest answers that are errors.
	Rewrite func(c Call, result any) any
	// Code and Message, if Code is set, are told as a JSON-RPC error.
	Code    int
	Message string

	// The following act on the whole HTTP exchange that holds the call.

	// Status, if set, is answered instead.
	Status int
	// Hang never answers: until the caller gives up or Release is called.
	Hang bool
	// Stall sends half of the answer and then hangs.
	Stall bool
	// Flood, if set, is sent instead of the answer.
	Flood *Flood
}

// Proxy is the lying node.
type Proxy struct {
	// NoWebSocket refuses WebSocket connections. Set it before serving.
	NoWebSocket bool

	honest http.Handler

	mu       sync.Mutex // guards what follows
	rules    []*armed
	asked    map[string]int
	told     int
	released chan struct{}
}

type armed struct {
	Rule
	left int // when Times is set
}

// New makes a proxy that says the truth. honest is a simulated node, or a
// reverse proxy to a node elsewhere.
func New(honest http.Handler) *Proxy {
	return &Proxy{honest: honest, asked: map[string]int{}, released: make(chan struct{})}
}

// Set replaces all rules. Answers that hang go on hanging.
func (p *Proxy) Set(rules ...Rule) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rules = nil
	for _, r := range rules {
		p.rules = append(p.rules, &armed{Rule: r, left: r.Times})
	}
}

// Release ends all answers that hang now: their connections are closed.
func (p *Proxy) Release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.released)
	p.released = make(chan struct{})
}

// Told is how many calls a rule was applied to.
func (p *Proxy) Told() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.told
}

// Asked is how many calls of a method came.
func (p *Proxy) Asked(method string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.asked[method]
}

// maxBody bounds a request and maxAnswer an honest answer.
const (
	maxBody   = 8 << 20
	maxAnswer = 256 << 20
)

// ServeHTTP forwards a request and answers by the rules.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		if p.NoWebSocket {
			http.Error(w, "no WebSocket here", http.StatusNotFound)
			return
		}
		p.honest.ServeHTTP(w, r)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		http.Error(w, "request body is too large or was cut off", http.StatusRequestEntityTooLarge)
		return
	}
	answer := p.forward(r, body)
	calls, batch := parse[request](body)
	if answer.Code != http.StatusOK || len(calls) == 0 {
		copyAnswer(w, answer)
		return
	}
	answers, _ := parse[response](answer.Body.Bytes())
	effect := p.lie(calls, answers)
	p.send(w, r, encode(answers, batch), effect)
}

// forward asks the honest node, uncompressed.
func (p *Proxy) forward(r *http.Request, body []byte) *httptest.ResponseRecorder {
	inner := r.Clone(r.Context())
	inner.Body = io.NopCloser(bytes.NewReader(body))
	inner.ContentLength = int64(len(body))
	inner.Header.Del("Accept-Encoding")
	rec := httptest.NewRecorder()
	p.honest.ServeHTTP(rec, inner)
	if rec.Body.Len() > maxAnswer {
		panic(fmt.Sprintf("liar: an honest answer of %d bytes", rec.Body.Len()))
	}
	return rec
}

func copyAnswer(w http.ResponseWriter, rec *httptest.ResponseRecorder) {
	for k, v := range rec.Header() {
		w.Header()[k] = v
	}
	w.WriteHeader(rec.Code)
	w.Write(rec.Body.Bytes()) //nolint:errcheck // nobody is left to tell
}

// send answers with body, or does to the exchange what a rule wants.
func (p *Proxy) send(w http.ResponseWriter, r *http.Request, body []byte, effect *Rule) {
	if effect != nil {
		switch {
		case effect.Hang:
			p.hang(r)
		case effect.Status != 0:
			http.Error(w, http.StatusText(effect.Status), effect.Status)
			return
		case effect.Flood != nil:
			effect.Flood.send(w, r)
			return
		}
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	if effect != nil && effect.Stall {
		w.Write(body[:len(body)/2])           //nolint:errcheck // the caller is meant to be unhappy
		http.NewResponseController(w).Flush() //nolint:errcheck
		p.hang(r)
	}
	w.Write(body) //nolint:errcheck // nobody is left to tell
}

// hang waits until the caller gives up or Release is called, and then closes
// the connection.
func (p *Proxy) hang(r *http.Request) {
	p.mu.Lock()
	released := p.released
	p.mu.Unlock()
	select {
	case <-r.Context().Done():
	case <-released:
	}
	panic(http.ErrAbortHandler)
}
