package node

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/coder/websocket"
)

// loopback serves a fake node on a real socket, for the parts that pipes do
// not show: the default client, and speed.
func loopback(tb testing.TB, block string) *httptest.Server {
	answers := map[string]string{
		"starknet_specVersion": `"0.9.0"`, "starknet_chainId": `"` + testChain + `"`,
		"starknet_blockHashAndNumber":       `{"block_hash":"0x1","block_number":20}`,
		"starknet_getBlockTransactionCount": "3",
		"starknet_getBlockWithReceipts":     block, "starknet_getStateUpdate": `{}`,
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") != "" {
			conn, err := websocket.Accept(w, r, nil)
			if err != nil {
				return
			}
			defer conn.CloseNow()
			conn.Read(r.Context()) //nolint:errcheck // the subscription
			for _, m := range []string{
				`{"jsonrpc":"2.0","id":1,"result":"1"}`,
				`{"jsonrpc":"2.0","method":"starknet_subscriptionNewHeads","params":{"subscription_id":"1","result":{"block_hash":"0x2","block_number":21}}}`,
			} {
				conn.Write(r.Context(), websocket.MessageText, []byte(m)) //nolint:errcheck // seen by the reader
			}
			conn.Read(r.Context()) //nolint:errcheck // until the end
			return
		}
		body, _ := io.ReadAll(r.Body)
		var calls []wireCall
		if body[0] != '[' {
			body = append(append([]byte{'['}, body...), ']')
		}
		if err := json.Unmarshal(body, &calls); err != nil {
			tb.Error(err)
		}
		var out []string
		for _, c := range calls {
			out = append(out, ok(c, answers[c.Method]))
		}
		if len(out) == 1 {
			io.WriteString(w, out[0]) //nolint:errcheck // seen by the reader
			return
		}
		io.WriteString(w, "["+strings.Join(out, ",")+"]") //nolint:errcheck // seen by the reader
	}))
	tb.Cleanup(srv.Close)
	return srv
}

func TestDefaultClient(t *testing.T) {
	srv := loopback(t, `{"block_number":7}`)
	p, err := Open(t.Context(), Config{Nodes: []Endpoint{{URL: "ws" + strings.TrimPrefix(srv.URL, "http")}}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if raw, err := p.BlockWithUpdate(t.Context(), 7); err != nil || string(raw.Block) != `{"block_number":7}` || raw.Node != srv.URL {
		t.Errorf("%+v, %v", raw, err)
	}
	for h := range p.Heads(t.Context()) {
		if h.Number == 21 {
			break
		}
	}
}

// BenchmarkBlockWithUpdate measures the whole way of a block through the pool.
func BenchmarkBlockWithUpdate(b *testing.B) {
	block := `{"transactions":["` + strings.Repeat(`0x4718f5a0fc34cc1af16a1cdee98ffb20c31f5cd61d6ab07201858f4287c938d","`, 2400) + `"]}`
	srv := loopback(b, block)
	p, err := Open(b.Context(), Config{Nodes: []Endpoint{{URL: srv.URL}}})
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	b.SetBytes(int64(len(block)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.BlockWithUpdate(b.Context(), 7); err != nil {
			b.Fatal(err)
		}
	}
}
