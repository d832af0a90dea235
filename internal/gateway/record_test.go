package gateway_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"chainexplorer/internal/account"
	"chainexplorer/internal/servertest"
	"chainexplorer/internal/usage"
)

// recorded are the next events, one line each.
func recorded(t *testing.T, events <-chan usage.Event, n int) []string {
	t.Helper()
	var out []string
	for range n {
		select {
		case e := <-events:
			told := "-"
			if e.Budget.Policy != "" {
				told = e.Budget.Policy
			}
			out = append(out, fmt.Sprintf("%s %s#%s %s %d %v %s", e.Method, e.Path, e.Call, e.Class, e.Status, e.Failed, told))
			if e.KeyID == "" || e.WorkspaceID == "" || e.RequestID == "" || e.At.IsZero() {
				t.Errorf("whose is %+v?", e)
			}
		case <-time.After(time.Minute):
			t.Fatalf("%d of %d were recorded: %v", len(out), n, out)
		}
	}
	return out
}

// TestRecordsCalls: every call is told of on its own, a request that fails as a whole
// is told of once, and no word of a caller's is kept.
func TestRecordsCalls(t *testing.T) {
	servertest.Watched(t)
	events := make(chan usage.Event, 100)
	w := newWorld(t, 8, func(o *servertest.Options) { o.Record = func(e usage.Event) { events <- e } })
	const post, ws = "POST /v1/{chain}/rpc#", "GET /v1/{chain}/rpc/ws#"
	limited := w.LimitedKey(account.Limits{LightPerMinute: 1})
	for _, c := range []struct {
		name, path, key, body string
		want                  []string
	}{
		{"one", rpcPath, w.Key, request("1", "starknet_blockNumber", ""), []string{post + "starknet_blockNumber light 200 false light;w=60"}},
		{"by another address", "/rpc/v0_10/" + servertest.ChainID, w.Key, request("1", "starknet_chainId", ""), []string{post + "starknet_chainId light 200 false light;w=60"}},
		{"an error of the specification", rpcPath, w.Key, request("1", "starknet_getBlockWithTxHashes", `[{"block_number":99}]`), []string{post + "starknet_getBlockWithTxHashes light 200 true light;w=60"}},
		{"made up", rpcPath, w.Key, request("1", w.Key, ""), []string{post + "other light 200 true light;w=60"}},
		{"a notification", rpcPath, w.Key, `{"jsonrpc":"2.0","method":"starknet_chainId"}`, []string{post + "starknet_chainId light 204 false light;w=60"}},
		{"a batch", rpcPath, w.Key, "[" + request("1", "starknet_blockNumber", "") + "," + request("2", "starknet_subscribeNewHeads", "") + "]",
			[]string{post + "starknet_blockNumber light 200 false light;w=60", post + "starknet_subscribeNewHeads light 200 true light;w=60"}},
		{"no JSON", rpcPath, w.Key, `{`, []string{post + " light 400 true -"}},
		{"no such chain", "/v1/SN_NOWHERE/rpc", w.Key, `{}`, []string{post + " light 404 true -"}},
		{"within its budget", rpcPath, limited, request("1", "starknet_blockNumber", ""), []string{post + "starknet_blockNumber light 200 false light;w=60"}},
		{"beyond it", rpcPath, limited, request("1", "starknet_blockNumber", ""), []string{post + "starknet_blockNumber light 429 true light;w=60"}},
		{"no key", rpcPath, "", request("1", "starknet_blockNumber", ""), nil},
	} {
		w.post(c.path, c.key, c.body)
		if got := recorded(t, events, len(c.want)); !slices.Equal(got, c.want) {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
	if _, res, err := w.dial(rpcPath+"/ws", nil, "X-Service-Api-Key", w.Key, "Origin", servertest.StrangeOrigin); err == nil || res.StatusCode != http.StatusForbidden {
		t.Errorf("a strange page: %v", err)
	}
	if got := recorded(t, events, 1); got[0] != ws+" light 403 true -" {
		t.Errorf("a refused connection: %s", got)
	}
	conn, _, err := w.dial(rpcPath+"/ws", nil, "X-Service-Api-Key", w.Key)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		body string
		want []string
	}{
		{request("1", "starknet_blockNumber", ""), []string{ws + "starknet_blockNumber light 200 false light;w=60"}},
		{"[" + request("1", "starknet_chainId", "") + "," + request("2", w.Key, "") + "]", []string{ws + "starknet_chainId light 200 false light;w=60", ws + "other light 200 true light;w=60"}},
		{`{`, []string{ws + " light 400 true light;w=60"}},
		{request("1", "starknet_unsubscribe", `["77"]`), []string{ws + "starknet_unsubscribe light 200 true -"}},
		{request("1", "starknet_subscribeNewHeads", `{"nonsense":1}`), []string{ws + "starknet_subscribeNewHeads light 200 true -"}},
		{request("1", "starknet_subscribeNewHeads", ""), []string{ws + "starknet_subscribeNewHeads light 200 false -"}},
	} {
		say(t, conn, c.body)
		heard(t, conn)
		if got := recorded(t, events, len(c.want)); !slices.Equal(got, c.want) {
			t.Errorf("%s:\n%s\nwant\n%s", c.body, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
	conn.Close(websocket.StatusNormalClosure, "") //nolint:errcheck // the test is over
	if len(events) > 0 {
		t.Errorf("and %+v", <-events)
	}
}
