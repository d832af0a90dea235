package live_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/gateway/live"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/starknet"
)

var versions = []starknet.SpecVersion{starknet.V08, starknet.V09, starknet.V010}

// patience is how long a test waits for what must happen.
const patience = 2 * time.Minute

// world is a chain, a node that serves it, and a server of sessions that reads it.
type world struct {
	t      testing.TB
	chain  *simnode.Chain
	node   *simnode.Node
	server *live.Server
	front  *site // the server
	back   *site // the node itself

	clients  []*client
	patience time.Duration // of clients

	fetches atomic.Int64
	unsent  atomic.Int64 // answers whose memory was not given back
	// trouble may stand in for a read: it is asked before each. done: it answers.
	trouble atomic.Pointer[func(ctx context.Context, method, params string) (result json.RawMessage, code int, err error, done bool)]
	admit   atomic.Pointer[func() error]
	deaf    atomic.Bool // nobody is told of heads
}

type setup struct {
	chain   simnode.Config
	version starknet.SpecVersion
	limits  live.Limits
	metrics *live.Metrics
	client  func(*live.Client)
}

func newWorld(t testing.TB, s setup) *world {
	t.Helper()
	if s.version == 0 {
		s.version = starknet.V010
	}
	w := &world{t: t, chain: simnode.New(s.chain), patience: patience}
	w.node = simnode.NewNode(w.chain, simnode.NodeConfig{Version: s.version})
	goroutines := runtime.NumGoroutine()
	w.server = live.New(live.Options{Chain: "test", Heads: w.heads, Fetch: w.fetch, Limits: s.limits, Metrics: s.metrics})
	w.front = serve(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		answer := func(ctx context.Context, body []byte) ([]byte, func()) {
			w.unsent.Add(1)
			return w.ask(ctx, body), func() { w.unsent.Add(-1) }
		}
		c := live.Client{Version: s.version, Answer: answer, Admit: func() error {
			if f := w.admit.Load(); f != nil {
				return (*f)()
			}
			return nil
		}}
		if s.client != nil {
			s.client(&c)
		}
		w.server.Serve(rw, r, c)
	}))
	w.back = serve(w.node)
	t.Cleanup(func() {
		for _, c := range w.clients {
			c.conn.CloseNow() //nolint:errcheck
		}
		w.server.Close()
		w.node.DropConnections()
		w.front.close()
		w.back.close()
		if _, fuzzing := t.(*testing.F); fuzzing {
			return // which has goroutines of its own that come and go
		}
		until(t, "goroutines back to the start", func() bool { return runtime.NumGoroutine() <= goroutines })
		until(t, "the memory of all answers given back", func() bool { return w.unsent.Load() == 0 })
	})
	return w
}

// site serves HTTP without a network: what one side writes the other has read, so that
// a client that does not read is noticed at the first byte.
type site struct {
	server *http.Server
	conns  chan net.Conn
	done   chan struct{}
}

func serve(h http.Handler) *site {
	s := &site{server: &http.Server{Handler: h}, conns: make(chan net.Conn), done: make(chan struct{})}
	go s.server.Serve(s) //nolint:errcheck // it ends with the test
	return s
}

func (s *site) Accept() (net.Conn, error) {
	select {
	case c := <-s.conns:
		return c, nil
	case <-s.done:
		return nil, net.ErrClosed
	}
}

func (s *site) Close() error   { return nil }
func (s *site) Addr() net.Addr { return &net.TCPAddr{} }

func (s *site) close() {
	close(s.done)
	s.server.Close() //nolint:errcheck // nobody is left to tell
}

func (s *site) dial(context.Context, string, string) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case s.conns <- there:
		return here, nil
	case <-s.done:
		return nil, net.ErrClosed
	}
}

// until waits for a condition that others bring about.
func until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	end := time.Now().Add(patience)
	for !ok() {
		if time.Now().After(end) {
			stack := make([]byte, 1<<20)
			t.Fatalf("no %s\n%s", what, stack[:runtime.Stack(stack, true)])
		}
		time.Sleep(time.Millisecond)
	}
}

func (w *world) heads(ctx context.Context, tell func(uint64, felt.Felt)) {
	for {
		changed := w.chain.Changed()
		if n, ok := w.chain.Head(); ok && !w.deaf.Load() {
			if b := w.chain.BlockAt(n); b != nil {
				tell(b.Number, b.Hash)
			}
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// ask sends a body to the node as over HTTP.
func (w *world) ask(ctx context.Context, body []byte) []byte {
	r := httptest.NewRequest(http.MethodPost, "/", bytes.NewReader(body)).WithContext(ctx)
	rec := httptest.NewRecorder()
	w.node.ServeHTTP(rec, r)
	return rec.Body.Bytes()
}

func (w *world) fetch(ctx context.Context, method string, params json.RawMessage, _ starknet.SpecVersion, _ *uint64) (json.RawMessage, int, error) {
	w.fetches.Add(1)
	if f := w.trouble.Load(); f != nil {
		if result, code, err, done := (*f)(ctx, method, string(params)); done {
			return result, code, err
		}
	}
	text := w.ask(ctx, fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params))
	var m message
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, 0, fmt.Errorf("answer %.100q: %w", text, err)
	}
	if m.Error != nil {
		return nil, m.Error.Code, nil
	}
	return m.Result, 0, nil
}

type message struct {
	ID     json.RawMessage `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int             `json:"code"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data"`
	} `json:"error"`
	Method string `json:"method"`
	Params struct {
		ID     string          `json:"subscription_id"`
		Result json.RawMessage `json:"result"`
	} `json:"params"`
}

// note is a notification without the subscription's id.
type note struct {
	Method string
	Result any
}

// client is a WebSocket client that sorts what comes.
type client struct {
	t    testing.TB
	conn *websocket.Conn

	mu      sync.Mutex
	notes   map[string][]note
	answers map[string]message
	told    map[string]bool // results of answers
	order   []string        // ids of answers and notifications as they came
	err     error           // why it ended
	changed chan struct{}
	sent    int

	patience time.Duration
}

// connect makes a client of the server that reads what comes.
func (w *world) connect() *client { return w.dial(w.front, true) }

// direct makes a client of the node itself.
func (w *world) direct() *client { return w.dial(w.back, true) }

func (w *world) dial(s *site, read bool) *client {
	w.t.Helper()
	transport := &http.Transport{DialContext: s.dial}
	conn, _, err := websocket.Dial(context.Background(), "ws://here/", &websocket.DialOptions{HTTPClient: &http.Client{Transport: transport}})
	if err != nil {
		w.t.Fatal(err)
	}
	conn.SetReadLimit(64 << 20)
	c := &client{t: w.t, conn: conn, notes: map[string][]note{}, answers: map[string]message{}, told: map[string]bool{}, changed: make(chan struct{}), patience: w.patience}
	w.clients = append(w.clients, c)
	if read {
		go c.read()
	}
	return c
}

func (c *client) read() {
	for {
		_, text, err := c.conn.Read(context.Background())
		c.mu.Lock()
		if err != nil {
			c.err = err
		} else if err := c.take(text); err != nil {
			c.t.Errorf("message %.200q: %v", text, err)
		}
		close(c.changed)
		c.changed = make(chan struct{})
		c.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (c *client) take(text []byte) error {
	var list []message
	if text[0] == '[' {
		if err := json.Unmarshal(text, &list); err != nil {
			return err
		}
	} else {
		var m message
		if err := json.Unmarshal(text, &m); err != nil {
			return err
		}
		list = append(list, m)
	}
	for _, m := range list {
		if m.Method == "" {
			c.answers[string(m.ID)] = m
			c.order = append(c.order, "answer "+string(m.Result))
			c.told[string(m.Result)] = true
			continue
		}
		if !c.told[`"`+m.Params.ID+`"`] {
			return fmt.Errorf("subscription %s was not answered yet", m.Params.ID)
		}
		n := note{Method: m.Method}
		if err := json.Unmarshal(m.Params.Result, &n.Result); err != nil {
			return err
		}
		c.notes[m.Params.ID] = append(c.notes[m.Params.ID], n)
		c.order = append(c.order, "note "+m.Params.ID)
	}
	return nil
}

// wait returns when ok says so; it is asked under the lock after every message.
func (c *client) wait(what string, ok func() bool) {
	c.t.Helper()
	timeout := time.After(c.patience)
	for {
		c.mu.Lock()
		done, changed, err := ok(), c.changed, c.err
		c.mu.Unlock()
		switch {
		case done:
			return
		case err != nil:
			c.t.Fatalf("no %s: %v", what, err)
		}
		select {
		case <-changed:
		case <-timeout:
			c.mu.Lock()
			defer c.mu.Unlock()
			c.t.Fatalf("no %s", what)
		}
	}
}

func (c *client) write(text string) {
	c.t.Helper()
	if err := c.conn.Write(context.Background(), websocket.MessageText, []byte(text)); err != nil {
		c.t.Fatal(err)
	}
}

// call sends a call and returns its answer.
func (c *client) call(method, params string) message {
	c.t.Helper()
	c.sent++
	id := fmt.Sprint(c.sent)
	c.write(`{"jsonrpc":"2.0","id":` + id + `,"method":"starknet_` + method + `","params":` + params + `}`)
	return c.answer(id)
}

func (c *client) answer(id string) (m message) {
	c.t.Helper()
	c.wait("answer to "+id, func() (ok bool) {
		m, ok = c.answers[id]
		return ok
	})
	return m
}

// subscribe returns the subscription's id.
func (c *client) subscribe(method, params string) string {
	c.t.Helper()
	m := c.call(method, params)
	if m.Error != nil {
		c.t.Fatalf("%s %s: %+v", method, params, m.Error)
	}
	var id string
	if err := json.Unmarshal(m.Result, &id); err != nil {
		c.t.Fatalf("id %s: %v", m.Result, err)
	}
	return id
}

func (c *client) got(id string) []note {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.notes[id]
}

// numbers are the blocks of the heads that a subscription got, and minus the first
// number for every fork.
func numbers(notes []note) (out []int) {
	for _, n := range notes {
		r := n.Result.(map[string]any)
		if n.Method == "starknet_subscriptionReorg" {
			out = append(out, -int(r["starting_block_number"].(float64)))
		} else {
			out = append(out, int(r["block_number"].(float64)))
		}
	}
	return out
}

// closed waits for the end and gives the code.
func (c *client) closed() (websocket.StatusCode, string) {
	c.t.Helper()
	var err error
	timeout := time.After(c.patience)
	for err == nil {
		c.mu.Lock()
		err = c.err
		changed := c.changed
		c.mu.Unlock()
		if err != nil {
			break
		}
		select {
		case <-changed:
		case <-timeout:
			c.t.Fatal("the connection is still there")
		}
	}
	var ce websocket.CloseError
	if errors.As(err, &ce) {
		return ce.Code, ce.Reason
	}
	return -1, err.Error()
}

// same waits until two clients got the same for two subscriptions.
func same(t testing.TB, what string, mine *client, id string, node *client, other string) {
	t.Helper()
	end := time.NewTimer(mine.patience)
	defer end.Stop()
	for done, late := 0, false; ; {
		node.mu.Lock()
		want, changedThere := slices.Clone(node.notes[other]), node.changed
		node.mu.Unlock()
		mine.mu.Lock()
		got, changedHere := slices.Clone(mine.notes[id]), mine.changed
		mine.mu.Unlock()
		for ; done < min(len(got), len(want)); done++ {
			if !reflect.DeepEqual(got[done], want[done]) {
				late = true
				break
			}
		}
		if late {
			t.Fatalf("%s: %d notifications, the node sent %d; the first that differs is %d:\n%.600v\nand the node's\n%.600v",
				what, len(got), len(want), done, at(got, done), at(want, done))
		}
		if len(got) == len(want) {
			return
		}
		select {
		case <-changedHere:
		case <-changedThere:
		case <-end.C:
			late = true
		}
	}
}

func at(list []note, i int) any {
	if i < len(list) {
		return fmt.Sprint(list[i])
	}
	return "nothing"
}

// atomicMax counts, and remembers the most.
type atomicMax struct{ n atomic.Int64 }

func (a *atomicMax) add(by int64) int64 { return a.n.Add(by) }
func (a *atomicMax) load() int64        { return a.n.Load() }

func (a *atomicMax) reach(n int64) {
	for old := a.n.Load(); n > old && !a.n.CompareAndSwap(old, n); old = a.n.Load() {
	}
}
