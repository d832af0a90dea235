package liar_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"chainexplorer/internal/simnode"
	"chainexplorer/internal/simnode/liar"
)

func start(t *testing.T) (*liar.Proxy, string) {
	t.Helper()
	chain := simnode.New(simnode.Config{Seed: 3, Blocks: 6})
	p := liar.New(simnode.NewNode(chain, simnode.NodeConfig{}))
	s := httptest.NewServer(p)
	t.Cleanup(s.Close)
	t.Cleanup(p.Release)
	return p, s.URL
}

func post(t *testing.T, ctx context.Context, url, body string) ([]byte, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	return io.ReadAll(resp.Body)
}

const two = `[{"jsonrpc":"2.0","id":7,"method":"starknet_getBlockWithReceipts","params":{"block_id":{"block_number":%}}},
	{"jsonrpc":"2.0","id":8,"method":"starknet_getStateUpdate","params":{"block_id":{"block_number":%}}}]`

func batchOf(number string) string { return strings.ReplaceAll(two, "%", number) }

func TestRewritesOneCallOfABatch(t *testing.T) {
	p, url := start(t)
	p.Set(liar.Rule{
		Method: "starknet_getBlockWithReceipts",
		When:   func(c liar.Call) bool { return c.HasBlock && c.Block == 2 },
		Rewrite: func(_ liar.Call, result any) any {
			result.(map[string]any)["sequencer_address"] = "0xbad"
			return result
		},
	})
	for number, want := range map[string]bool{"1": false, "2": true} {
		out, err := post(t, t.Context(), url, batchOf(number))
		if err != nil {
			t.Fatal(err)
		}
		var answers []struct {
			ID     int
			Result struct {
				Sequencer string          `json:"sequencer_address"`
				Diff      json.RawMessage `json:"state_diff"`
			}
		}
		if err := json.Unmarshal(out, &answers); err != nil {
			t.Fatal(err)
		}
		if len(answers) != 2 || answers[0].ID != 7 || answers[1].ID != 8 || answers[1].Result.Diff == nil {
			t.Fatalf("block %s: answers %.300s", number, out)
		}
		if lied := answers[0].Result.Sequencer == "0xbad"; lied != want {
			t.Errorf("block %s: lied %v, want %v", number, lied, want)
		}
	}
	if p.Told() != 1 || p.Asked("starknet_getStateUpdate") != 2 {
		t.Errorf("told %d lies, asked %d times", p.Told(), p.Asked("starknet_getStateUpdate"))
	}
}

func TestFindsTheBlockOfPositionalParameters(t *testing.T) {
	p, url := start(t)
	p.Set(liar.Rule{When: func(c liar.Call) bool { return c.HasBlock && c.Block == 4 }, Code: 24, Message: "no such block"})
	out, err := post(t, t.Context(), url, `{"jsonrpc":"2.0","id":1,"method":"starknet_getBlockWithTxHashes","params":[{"block_number":4}]}`)
	if err != nil || !bytes.Contains(out, []byte(`"code":24`)) {
		t.Fatalf("%s, %v", out, err)
	}
}

func TestARuleIsSpent(t *testing.T) {
	p, url := start(t)
	p.Set(liar.Rule{Status: http.StatusTeapot, Times: 1})
	body := `{"jsonrpc":"2.0","id":1,"method":"starknet_chainId","params":[]}`
	if out, err := post(t, t.Context(), url, body); err != nil || !bytes.Contains(out, []byte("teapot")) {
		t.Fatalf("%s, %v", out, err)
	}
	if out, err := post(t, t.Context(), url, body); err != nil || !bytes.Contains(out, []byte("result")) {
		t.Fatalf("%s, %v", out, err)
	}
}

func TestHangsUntilReleasedOrGivenUp(t *testing.T) {
	for _, rule := range []liar.Rule{{Hang: true}, {Stall: true}} {
		p, url := start(t)
		met := make(chan struct{}, 4)
		rule.When = func(liar.Call) bool { met <- struct{}{}; return true }
		p.Set(rule)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		for _, end := range []func(){p.Release, cancel} {
			ended := make(chan error)
			go func() {
				_, err := post(t, ctx, url, batchOf("1"))
				ended <- err
			}()
			<-met
			<-met // both calls of the batch
			var err error
			for waiting := true; waiting; {
				select {
				case err = <-ended:
					waiting = false
				default:
					end() // the request may hang a moment after the rule was met
					runtime.Gosched()
				}
			}
			if err == nil {
				t.Errorf("%+v: a request that hangs succeeded", rule)
			}
		}
	}
}

func TestFloods(t *testing.T) {
	for _, f := range []liar.Flood{{Bytes: 1 << 20}, {Bytes: 1 << 20, Length: true}, {Bytes: 1 << 20, Gzip: true}} {
		p, url := start(t)
		p.Set(liar.Rule{Flood: &f})
		out, err := post(t, t.Context(), url, batchOf("1"))
		if err != nil || len(out) < 1<<20 || !json.Valid(out) {
			t.Errorf("%+v: %d bytes, %v", f, len(out), err)
		}
	}
}
