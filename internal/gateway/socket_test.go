package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"chainexplorer/internal/servertest"
)

// dial opens a connection; headers come in pairs.
func (w *world) dial(path string, protocols []string, headers ...string) (*websocket.Conn, *http.Response, error) {
	h := http.Header{}
	for i := 0; i < len(headers); i += 2 {
		h.Set(headers[i], headers[i+1])
	}
	return websocket.Dial(w.T.Context(), "ws"+strings.TrimPrefix(w.URL, "http")+path, &websocket.DialOptions{HTTPHeader: h, Subprotocols: protocols})
}

// heard reads a message.
func heard(t *testing.T, c *websocket.Conn) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	_, text, err := c.Read(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func say(t *testing.T, c *websocket.Conn, text string) {
	t.Helper()
	if err := c.Write(t.Context(), websocket.MessageText, []byte(text)); err != nil {
		t.Fatal(err)
	}
}

// TestSockets holds that a connection is opened with a key in every way that a client
// may send one, and answers calls as requests are.
func TestSockets(t *testing.T) {
	servertest.Watched(t)
	w := newWorld(t, 8)
	for _, c := range []struct {
		name, path string
		protocols  []string
		headers    []string
	}{
		{"header", rpcPath + "/ws", nil, []string{"X-Service-Api-Key", w.Key}},
		{"address", rpcPath + "/ws/" + w.Key, nil, nil},
		{"the address of requests", rpcPath + "/" + w.Key, nil, nil},
		{"the address of a version", "/rpc/v0_10/" + servertest.ChainID + "/" + w.Key, nil, nil},
		{"protocol", "/api" + rpcPath + "/ws", []string{"service-rpc", "service-key." + w.Key}, nil},
		{"a page of ours", rpcPath + "/ws", []string{"service-key." + w.Key, "service-rpc"}, []string{"Origin", servertest.AllowedOrigin}},
	} {
		conn, res, err := w.dial(c.path, c.protocols, c.headers...)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if res.Header.Get("X-Ratelimit-Limit") == "" || res.Header.Get("X-Ratelimit-Remaining") == "" || res.Header.Get("X-Service-Route-Class") != "light" {
			t.Errorf("%s: a connection without its budget: %v", c.name, res.Header)
		}
		for name, values := range res.Header {
			if strings.Contains(strings.Join(values, ""), w.Key) {
				t.Errorf("%s: the key comes back in %s", c.name, name)
			}
		}
		say(t, conn, request(`"a"`, "starknet_blockNumber", ""))
		if got := heard(t, conn); got != `{"jsonrpc":"2.0","id":"a","result":7}` {
			t.Errorf("%s: got %s", c.name, got)
		}
		say(t, conn, "["+request(`1`, "starknet_blockNumber", "")+","+request(`2`, "nothing", "")+"]")
		if got := heard(t, conn); !strings.HasPrefix(got, `[{"jsonrpc":"2.0","id":1,"result":7},`) || !strings.Contains(got, "method_not_found") {
			t.Errorf("%s: got %s", c.name, got)
		}
		conn.Close(websocket.StatusNormalClosure, "") //nolint:errcheck // the test is over
	}
	for _, c := range []struct {
		name    string
		status  int
		headers []string
	}{
		{"no key", http.StatusUnauthorized, nil},
		{"a strange page", http.StatusForbidden, []string{"X-Service-Api-Key", w.Key, "Origin", servertest.StrangeOrigin}},
	} {
		_, res, err := w.dial(rpcPath+"/ws", nil, c.headers...)
		if err == nil || res == nil || res.StatusCode != c.status {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if r := w.Do(http.MethodGet, rpcPath+"/ws", w.Key); r.StatusCode != http.StatusUpgradeRequired {
		t.Errorf("a request that is no handshake: %d %s", r.StatusCode, r.Body)
	}
}

// TestSocketsCost: a connection is paid for, and one address does not have all that it may
// open, however many keys it has.
func TestSocketsCost(t *testing.T) {
	w := newWorld(t, 2, func(o *servertest.Options) { o.Gateway.Sockets, o.Gateway.SocketsPerAddress = 64, 3 })
	var remaining []string
	for i := range 5 {
		conn, res, err := w.dial(rpcPath+"/ws", nil, "X-Service-Api-Key", w.Key)
		switch {
		case i < 3 && err != nil:
			t.Fatal(err)
		case i < 3:
			defer conn.CloseNow() //nolint:errcheck // the test is over
			remaining = append(remaining, res.Header.Get("X-Ratelimit-Remaining"))
		case err == nil || res.StatusCode != http.StatusTooManyRequests || res.Header.Get("Retry-After") == "" || res.Header.Get("X-Ratelimit-Limit") == "":
			t.Errorf("connection %d: %v %v", i, res.Status, res.Header)
		}
	}
	if slices.IsSorted(remaining) || len(slices.Compact(slices.Clone(remaining))) != 3 {
		t.Errorf("what remains after each connection: %v", remaining)
	}
	// Other requests of the address are heard.
	if r := w.post(rpcPath, w.Key, request("1", "starknet_blockNumber", "")); !strings.Contains(string(r.Plain()), `"result":1`) {
		t.Errorf("%d %s", r.StatusCode, r.Body)
	}
}

// TestSubscription follows the heads of a chain that grows and forks.
func TestSubscription(t *testing.T) {
	servertest.Watched(t)
	w := newWorld(t, 8)
	conn, _, err := w.dial(rpcPath+"/ws", nil, "X-Service-Api-Key", w.Key)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.CloseNow() //nolint:errcheck // the test is over
	say(t, conn, request("1", "starknet_subscribeNewHeads", `{"block_id":{"block_number":6}}`))
	var a answer
	if err := json.Unmarshal([]byte(heard(t, conn)), &a); err != nil || a.Error != nil {
		t.Fatal(err, a.Error)
	}
	next := func() uint64 {
		var n struct {
			Method string `json:"method"`
			Params struct {
				ID     json.RawMessage `json:"subscription_id"`
				Result struct {
					Number uint64 `json:"block_number"`
				} `json:"result"`
			} `json:"params"`
		}
		if err := json.Unmarshal([]byte(heard(t, conn)), &n); err != nil {
			t.Fatal(err)
		}
		if n.Method != "starknet_subscriptionNewHeads" || string(n.Params.ID) != string(a.Result) {
			t.Fatalf("got %+v", n)
		}
		return n.Params.Result.Number
	}
	for want := uint64(6); want < 8; want++ {
		if got := next(); got != want {
			t.Errorf("got head %d, want %d", got, want)
		}
	}
	w.Chain.Extend(2)
	for want := uint64(8); want < 10; want++ {
		if got := next(); got != want {
			t.Errorf("got head %d, want %d", got, want)
		}
	}
}

// TestSocketAnswersAreTheKeysMemory holds that answers which wait for a client that does
// not read are bounded for its key, over all its connections.
func TestSocketAnswersAreTheKeysMemory(t *testing.T) {
	answered := make(chan struct{}, 100)
	w, _ := scriptedWorld(t, func(_ *http.Request, method string, _ json.RawMessage) (string, bool) {
		if method != "starknet_getClass" {
			return "", false
		}
		answered <- struct{}{}
		return `"result":"` + strings.Repeat("x", 15<<20) + `"`, true
	})
	var idle []*websocket.Conn // twice what there is room for
	for range 2 {
		conn, _, err := w.dial(rpcPath+"/ws", nil, "X-Service-Api-Key", w.Key)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.CloseNow() //nolint:errcheck // the test is over
		for i := range 8 {
			say(t, conn, request("1", "starknet_getClass", fmt.Sprintf(`["latest","0x%x%x"]`, len(idle)+1, i)))
		}
		idle = append(idle, conn)
	}
	for range 16 {
		<-answered
	}
	other, _, err := w.dial(rpcPath+"/ws", nil, "X-Service-Api-Key", w.Key)
	if err != nil {
		t.Fatal(err)
	}
	defer other.CloseNow() //nolint:errcheck // the test is over
	other.SetReadLimit(-1)
	// They may still be on their way into memory: soon there is room for no more.
	for i := 0; ; i++ {
		say(t, other, request("2", "starknet_getClass", fmt.Sprintf(`["latest","0xf%x"]`, i)))
		if strings.Contains(heard(t, other), "local_saturation") {
			break
		}
		if i == 50 {
			t.Fatal("answers are taken in without an end")
		}
	}
	for _, conn := range idle {
		conn.CloseNow() //nolint:errcheck // it is the test
	}
	// What the client that went away held is given back.
	for i := 0; ; i++ {
		say(t, other, request("3", "starknet_getClass", fmt.Sprintf(`["latest","0xe%x"]`, i)))
		if !strings.Contains(heard(t, other), "local_saturation") {
			break
		}
		if i == 1000 {
			t.Fatal("the memory of a connection that is gone is not given back")
		}
	}
}

// TestRevokedKeysAreCut holds that a connection lasts no longer than its key.
func TestRevokedKeysAreCut(t *testing.T) {
	servertest.Watched(t)
	w := newWorld(t, 3)
	issued := w.Issue()
	conn, _, err := w.dial(rpcPath+"/ws", nil, "X-Service-Api-Key", issued.Plaintext)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.CloseNow() //nolint:errcheck // the test is over
	say(t, conn, request("1", "starknet_chainId", ""))
	heard(t, conn)
	if _, _, err := w.Repo.RevokeKey(t.Context(), issued.Key.PublicID); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var closed websocket.CloseError
	if _, _, err := conn.Read(ctx); !errors.As(err, &closed) || closed.Code != 4401 {
		t.Errorf("the connection ended with %v", err)
	}
}
