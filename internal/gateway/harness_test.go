package gateway_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"chainexplorer/internal/account"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/gateway"
	"chainexplorer/internal/node"
	"chainexplorer/internal/servertest"
)

const rpcPath = "/v1/" + servertest.ChainID + "/rpc"

// answer is a JSON-RPC answer as it was written.
type answer struct {
	ID     json.RawMessage `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
		Data    struct {
			Code              string   `json:"code"`
			RequestID         string   `json:"requestId"`
			Service           string   `json:"service"`
			HTTPStatus        int      `json:"httpStatus"`
			RetryAfterSeconds int      `json:"retryAfterSeconds"`
			MaxItems          int      `json:"maxItems"`
			TransactionHash   string   `json:"transactionHash"`
			SpecVersions      []string `json:"specVersions"`
			Scope             string   `json:"scope"`
		} `json:"data"`
	} `json:"error"`
}

func (a *answer) name() string {
	if a.Error == nil {
		return ""
	}
	return a.Error.Data.Code
}

// world is a service with a gateway.
type world struct{ *servertest.World }

func newWorld(t *testing.T, blocks int, change ...func(*servertest.Options)) *world {
	t.Helper()
	return &world{servertest.New(t, blocks, change...)}
}

// post sends a body with the world's key.
func (w *world) post(path, key, body string, headers ...string) servertest.Reply {
	w.T.Helper()
	req, err := http.NewRequestWithContext(w.T.Context(), http.MethodPost, w.URL+path, strings.NewReader(body))
	if err != nil {
		w.T.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if key != "" {
		req.Header.Set("X-Service-Api-Key", key)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	return w.Send(req)
}

func (w *world) one(r servertest.Reply) (a answer) {
	w.T.Helper()
	if err := json.Unmarshal(r.Plain(), &a); err != nil {
		w.T.Fatalf("%v in %s", err, r.Body)
	}
	return a
}

func (w *world) many(r servertest.Reply) (as []answer) {
	w.T.Helper()
	if err := json.Unmarshal(r.Plain(), &as); err != nil {
		w.T.Fatalf("%v in %s", err, r.Body)
	}
	return as
}

// call makes a call and returns its answer.
func (w *world) call(method, params string) answer {
	w.T.Helper()
	return w.one(w.post(rpcPath, w.Key, request("1", method, params)))
}

func request(id, method, params string) string {
	if params != "" {
		params = `,"params":` + params
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q%s}`, id, method, params)
}

// scripted is a node that answers what a test says, and knows what it was asked.
type scripted struct {
	// answer returns the text of an answer's members after the id, such as
	// "result":1; false leaves it to the usual.
	answer func(r *http.Request, method string, params json.RawMessage) (string, bool)

	mu     sync.Mutex
	bodies map[string][]string // by method: whole requests
}

func (s *scripted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	var calls []json.RawMessage
	batch := bytes.HasPrefix(body, []byte("["))
	if batch {
		json.Unmarshal(body, &calls) //nolint:errcheck // our own requests
	} else {
		calls = []json.RawMessage{body}
	}
	var out []string
	for _, text := range calls {
		var c struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params json.RawMessage `json:"params"`
		}
		json.Unmarshal(text, &c) //nolint:errcheck // our own requests
		s.mu.Lock()
		s.bodies[c.Method] = append(s.bodies[c.Method], string(text))
		s.mu.Unlock()
		members, ok := s.answer(r, c.Method, c.Params)
		if !ok {
			members = s.usual(c.Method)
		}
		out = append(out, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, c.ID, members))
	}
	text := strings.Join(out, ",")
	if batch {
		text = "[" + text + "]"
	}
	w.Header().Set("Content-Type", "application/json")
	io.WriteString(w, text) //nolint:errcheck // the client went away
}

// usual is how every node introduces itself.
func (s *scripted) usual(method string) string {
	switch method {
	case "starknet_chainId":
		return `"result":"` + felt.MustShortString(servertest.ChainID).String() + `"`
	case "starknet_specVersion":
		return `"result":"0.10.2"`
	case "starknet_blockHashAndNumber":
		return `"result":{"block_hash":"0x1","block_number":5}`
	case "starknet_getBlockTransactionCount":
		return `"result":0`
	case "starknet_getBlockWithTxHashes":
		return `"result":{"block_hash":"0x1","block_number":5,"parent_hash":"0x0","transactions":[]}`
	}
	return `"error":{"code":-32601,"message":"no such method"}`
}

func (s *scripted) asked(method string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.bodies[method]...)
}

// scriptedWorld is a service whose only node does what a test says.
func scriptedWorld(t *testing.T, say func(r *http.Request, method string, params json.RawMessage) (string, bool)) (*world, *scripted) {
	t.Helper()
	s := &scripted{answer: say, bodies: map[string][]string{}}
	return s.serve(t), s
}

// serve makes a service of the node.
func (s *scripted) serve(t *testing.T, change ...func(*servertest.Options)) *world {
	t.Helper()
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	pool := openPool(t, srv.URL)
	return newWorld(t, 3, append(change, func(o *servertest.Options) {
		o.Gateway.Chains = []gateway.Chain{{ID: servertest.ChainID, Pool: pool}}
	})...)
}

func openPool(t *testing.T, urls ...string) *node.Pool {
	t.Helper()
	c := node.Config{PollInterval: time.Millisecond, HealthInterval: time.Hour}
	for _, u := range urls {
		c.Nodes = append(c.Nodes, node.Endpoint{URL: u})
	}
	pool, err := node.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

// traceKey may trace.
func (w *world) traceKey() string { return w.NewKey(account.DefaultScopes | account.Trace) }
