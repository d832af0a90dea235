package simnode

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/coder/websocket"
)

// Limits of a WebSocket connection.
const (
	maxMessage       = 1 << 20
	maxSubscriptions = 128
	writeTimeout     = 10 * time.Second
)

// session is one WebSocket connection and its subscriptions.
type session struct {
	node *Node
	conn *websocket.Conn
	ctx  context.Context
	stop context.CancelFunc

	mu     sync.Mutex // guards subs and nextID
	subs   map[string]context.CancelFunc
	nextID uint64
	work   sync.WaitGroup
}

func (n *Node) serveWebSocket(w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
	if err != nil {
		return // Accept has answered
	}
	conn.SetReadLimit(maxMessage)
	ctx, stop := context.WithCancel(r.Context())
	s := &session{node: n, conn: conn, ctx: ctx, stop: stop, subs: map[string]context.CancelFunc{}}
	n.mu.Lock()
	n.sessions[s] = struct{}{}
	n.mu.Unlock()
	defer func() {
		n.mu.Lock()
		delete(n.sessions, s)
		n.mu.Unlock()
		stop()
		conn.CloseNow() //nolint:errcheck // it may be gone already
		s.work.Wait()
	}()
	for {
		_, body, err := conn.Read(ctx)
		if err != nil {
			return
		}
		if !s.handle(body) {
			return
		}
	}
}

// handle answers one message; false ends the connection.
func (s *session) handle(body []byte) bool {
	n := s.node
	calls, batch, failed := parseRequests(body)
	methods := methodsOf(calls)
	n.countRequests(methods)
	if f := n.faults.strike(FaultLatency, methods...); f != nil && n.cfg.Wait(s.ctx, f.Delay) != nil {
		return false
	}
	if n.faults.strike(FaultDrop, methods...) != nil {
		return false
	}
	if failed == nil && len(calls) > n.cfg.MaxBatch {
		failed = failure(codeInvalidRequest)
	}
	if failed != nil {
		return s.write(appendError(nil, nil, failed))
	}
	wrong := n.faults.strike(FaultWrongID, methods...) != nil
	var out []byte
	var after []func()
	for _, c := range calls {
		answer, fn := n.answer(s.ctx, nil, c, s, wrong)
		if fn != nil {
			after = append(after, fn)
		}
		if len(answer) > 0 && len(out) > 0 {
			out = append(out, ',')
		}
		out = append(out, answer...)
	}
	if batch && len(out) > 0 {
		out = append(append([]byte{'['}, out...), ']')
	}
	if len(out) > 0 && !s.write(out) {
		return false
	}
	for _, fn := range after {
		fn()
	}
	return true
}

// write sends one message; a client that does not read is cut off.
func (s *session) write(text []byte) bool {
	ctx, cancel := context.WithTimeout(s.ctx, writeTimeout)
	defer cancel()
	if err := s.conn.Write(ctx, websocket.MessageText, text); err != nil {
		s.stop()
		return false
	}
	return true
}

// notify sends a subscription's item.
func (s *session) notify(method, id string, result any) bool {
	text, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "method": method,
		"params": map[string]any{"subscription_id": id, "result": result}})
	if err != nil {
		return false
	}
	return s.write(text)
}

// start makes a subscription that runs once the caller knows its id.
func (c *rpcCall) start(run func(ctx context.Context, id string)) (any, error) {
	s := c.session
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.subs) >= maxSubscriptions {
		return nil, failureWith(codeInternal, "too many subscriptions")
	}
	s.nextID++
	id := strconv.FormatUint(s.nextID, 10)
	ctx, cancel := context.WithCancel(s.ctx)
	s.subs[id] = cancel
	c.after = func() {
		s.work.Add(1)
		go func() {
			defer s.work.Done()
			run(ctx, id)
		}()
	}
	return id, nil
}

func unsubscribe(c *rpcCall) (any, error) {
	var id string
	if json.Unmarshal(c.args["subscription_id"], &id) != nil {
		id = string(c.args["subscription_id"]) // older clients send a number
	}
	s := c.session
	s.mu.Lock()
	defer s.mu.Unlock()
	cancel, ok := s.subs[id]
	if !ok {
		return nil, failure(codeInvalidSubscription)
	}
	cancel()
	delete(s.subs, id)
	return true, nil
}

// DropConnections cuts every WebSocket connection.
func (n *Node) DropConnections() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for s := range n.sessions {
		s.stop()
	}
}

// Connections is the number of open WebSocket connections.
func (n *Node) Connections() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.sessions)
}
