package node

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
)

// The tests run inside a synctest bubble: time is fake, the network is pipes.

const testChain = "0x534e5f4d41494e"

// pipeNet is a network of in-memory hosts.
type pipeNet struct {
	mu    sync.Mutex
	hosts map[string]*pipeListener
}

// errRefused is what a dialer says when nobody listens.
var errRefused = &net.OpError{Op: "dial", Net: "pipe", Err: syscall.ECONNREFUSED}

func (pn *pipeNet) dial(ctx context.Context, _, addr string) (net.Conn, error) {
	pn.mu.Lock()
	l := pn.hosts[addr]
	pn.mu.Unlock()
	if l == nil {
		return nil, errRefused
	}
	client, server := net.Pipe()
	select {
	case l.conns <- server:
		return client, nil
	case <-l.done:
		return nil, errRefused
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

type pipeListener struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}
func (l *pipeListener) Close() error   { l.once.Do(func() { close(l.done) }); return nil }
func (l *pipeListener) Addr() net.Addr { return &net.IPAddr{} }

type wireCall struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

// fakeNode is a node whose answers and faults are scripted.
type fakeNode struct {
	t    *testing.T
	host string
	net  *pipeNet
	srv  *http.Server
	lis  *pipeListener

	mu     sync.Mutex
	spec   string
	chain  string
	head   uint64
	hash   uint64 // added to block hashes, to tell forks apart
	counts map[string]int
	posts  []string // bodies of requests that were not probes
	// fault may take over the answer to a request that is not a probe; nth
	// counts those from 1. It returns false to let the request through.
	fault func(nth int, w http.ResponseWriter, r *http.Request, body []byte) bool
	// answer may take over a single call; it returns "" to let it through.
	answer func(c wireCall) string
	// hold keeps the answers to questions for the head back, once made, until it is closed.
	hold chan struct{}

	sockets   chan *websocket.Conn // connections whose subscription stands
	refuseWS  bool
	wsRefused int
	deaf      bool // sockets are held open but never read
}

func newNode(t *testing.T, pn *pipeNet, host string, head uint64) *fakeNode {
	f := &fakeNode{
		t: t, host: host, net: pn, spec: "0.9.0", chain: testChain, head: head,
		counts: map[string]int{}, sockets: make(chan *websocket.Conn, 8),
	}
	f.start()
	t.Cleanup(f.stop)
	return f
}

func (f *fakeNode) start() {
	f.lis = &pipeListener{conns: make(chan net.Conn), done: make(chan struct{})}
	f.srv = &http.Server{Handler: f}
	go f.srv.Serve(f.lis) //nolint:errcheck // ends with the test
	f.net.mu.Lock()
	f.net.hosts[f.host+":80"] = f.lis
	f.net.mu.Unlock()
}

func (f *fakeNode) stop() {
	f.net.mu.Lock()
	delete(f.net.hosts, f.host+":80")
	f.net.mu.Unlock()
	f.srv.Close()
}

func (f *fakeNode) set(change func(f *fakeNode)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change(f)
}

func (f *fakeNode) count(method string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.counts[method]
}

func (f *fakeNode) requests() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string(nil), f.posts...)
}

func (f *fakeNode) blockHash(n uint64) string { return fmt.Sprintf("0x%x", 0x1000+n+f.hash) }

func (f *fakeNode) headJSON(n uint64) string {
	return fmt.Sprintf(`{"block_hash":"%s","block_number":%d}`, f.blockHash(n), n)
}

func isProbe(body []byte) bool {
	return bytes.Contains(body, []byte("starknet_blockHashAndNumber")) || bytes.Contains(body, []byte("starknet_chainId")) ||
		bytes.Contains(body, []byte("starknet_getBlockTransactionCount"))
}

func (f *fakeNode) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Upgrade") != "" {
		f.serveSocket(w, r)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	f.mu.Lock()
	fault, nth := f.fault, 0
	if !isProbe(body) {
		f.posts = append(f.posts, string(body))
		nth = len(f.posts)
	}
	f.mu.Unlock()
	if nth > 0 && fault != nil && fault(nth, w, r, body) {
		return
	}
	answer := f.reply(body)
	f.mu.Lock()
	hold := f.hold
	f.mu.Unlock()
	if hold != nil && bytes.Contains(body, []byte("starknet_blockHashAndNumber")) {
		<-hold
	}
	io.WriteString(w, answer) //nolint:errcheck // a test server
}

func (f *fakeNode) reply(body []byte) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if body[0] != '[' {
		var c wireCall
		if err := json.Unmarshal(body, &c); err != nil {
			f.t.Errorf("request is not JSON: %s", body)
		}
		return f.one(c)
	}
	var cs []wireCall
	if err := json.Unmarshal(body, &cs); err != nil {
		f.t.Errorf("request is not JSON: %s", body)
	}
	var out []string
	for _, c := range cs {
		out = append([]string{f.one(c)}, out...) // backwards: order must not matter
	}
	return "[" + strings.Join(out, ",") + "]"
}

func ok(c wireCall, result string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, c.ID, result)
}

func no(c wireCall, code int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":"no"}}`, c.ID, code)
}

func (f *fakeNode) one(c wireCall) string {
	f.counts[c.Method]++
	if f.answer != nil {
		if s := f.answer(c); s != "" {
			return s
		}
	}
	switch c.Method {
	case "starknet_specVersion":
		return ok(c, fmt.Sprintf("%q", f.spec))
	case "starknet_chainId":
		return ok(c, fmt.Sprintf("%q", f.chain))
	case "starknet_blockHashAndNumber":
		return ok(c, f.headJSON(f.head))
	case "starknet_blockNumber":
		return ok(c, fmt.Sprint(f.head))
	case "starknet_getBlockWithReceipts", "starknet_getStateUpdate", "starknet_getBlockWithTxHashes":
		var ps map[string]json.RawMessage
		var id struct {
			Number *uint64 `json:"block_number"`
		}
		if err := json.Unmarshal(c.Params, &ps); err != nil {
			return no(c, CodeInvalidParams)
		}
		if len(ps) > 1 && f.spec < "0.10.1" && !strings.HasPrefix(f.spec, "0.10.1") {
			return no(c, CodeInvalidParams)
		}
		n := f.head
		if json.Unmarshal(ps["block_id"], &id) == nil && id.Number != nil {
			n = *id.Number
		}
		if n > f.head {
			return no(c, CodeBlockNotFound)
		}
		return ok(c, fmt.Sprintf(`{"block_number":%d,"host":%q,"params":%d,"method":%q}`, n, f.host, len(ps), c.Method))
	case "starknet_getBlockTransactionCount":
		var ps struct {
			ID struct {
				Number uint64 `json:"block_number"`
			} `json:"block_id"`
		}
		if err := json.Unmarshal(c.Params, &ps); err != nil || ps.ID.Number > f.head {
			return no(c, CodeBlockNotFound)
		}
		return ok(c, "3")
	case "starknet_getTransactionByHash":
		return no(c, CodeTxNotFound)
	case "starknet_call":
		return ok(c, `["0x1","0x2"]`)
	}
	if strings.HasPrefix(c.Method, "starknet_add") {
		return ok(c, `{"transaction_hash":"0x1"}`)
	}
	return no(c, CodeMethodNotFound)
}

func (f *fakeNode) serveSocket(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	refuse, deaf := f.refuseWS, f.deaf
	if refuse {
		f.wsRefused++
	}
	f.mu.Unlock()
	if refuse {
		http.Error(w, "no", http.StatusServiceUnavailable)
		return
	}
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		f.t.Errorf("accept: %v", err)
		return
	}
	defer conn.CloseNow()
	_, data, err := conn.Read(r.Context())
	if err != nil {
		return
	}
	var c wireCall
	if err := json.Unmarshal(data, &c); err != nil || c.Method != "starknet_subscribeNewHeads" {
		f.t.Errorf("subscription: %s", data)
	}
	if conn.Write(r.Context(), websocket.MessageText, []byte(ok(c, `"7"`))) != nil {
		return
	}
	f.sockets <- conn
	if deaf {
		<-f.t.Context().Done()
		return
	}
	conn.Read(r.Context()) //nolint:errcheck // answers pings until the end
}

// push sends a notification on a subscription.
func push(t *testing.T, conn *websocket.Conn, method, result string) {
	t.Helper()
	msg := fmt.Sprintf(`{"jsonrpc":"2.0","method":"%s","params":{"subscription_id":"7","result":%s}}`, method, result)
	if err := conn.Write(t.Context(), websocket.MessageText, []byte(msg)); err != nil {
		t.Errorf("push: %v", err)
	}
}

// pushHead makes a node get a block, or go back to one, and tell of it.
func pushHead(t *testing.T, conn *websocket.Conn, f *fakeNode, number uint64) {
	t.Helper()
	f.set(func(f *fakeNode) { f.head = number })
	push(t, conn, "starknet_subscriptionNewHeads", f.headJSON(number))
}

func newNet() *pipeNet { return &pipeNet{hosts: map[string]*pipeListener{}} }

// open makes a pool over nodes with no jitter and short waits.
func open(t *testing.T, pn *pipeNet, change func(*Config), nodes ...*fakeNode) *Pool {
	t.Helper()
	p, err := tryOpen(t, pn, change, nodes...)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	return p
}

func tryOpen(t *testing.T, pn *pipeNet, change func(*Config), nodes ...*fakeNode) (*Pool, error) {
	t.Helper()
	cfg := Config{
		HTTP: &http.Client{Transport: &http.Transport{DialContext: pn.dial, MaxIdleConnsPerHost: 8}},
		Rand: func() float64 { return 0 },
	}
	for _, f := range nodes {
		cfg.Nodes = append(cfg.Nodes, Endpoint{URL: "http://" + f.host + "/rpc"})
	}
	if change != nil {
		change(&cfg)
	}
	p, err := Open(t.Context(), cfg)
	if err == nil {
		t.Cleanup(p.Close)
	} else {
		t.Cleanup(cfg.HTTP.CloseIdleConnections)
	}
	return p, err
}

func bubble(t *testing.T, f func(t *testing.T, pn *pipeNet)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { f(t, newNet()) })
}

func elapsed(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}
