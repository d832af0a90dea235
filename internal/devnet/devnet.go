// Package devnet runs a real local node for tests: starknet-devnet, with accounts
// that have money, and the Cairo compiler to make contracts for it. Both stand in
// a folder that TEST_TOOLCHAIN names, or ../shared/toolchain beside the repository;
// where they do not, New and Compile skip the test and say so.
//
// The transactions are signed by starknet.go. Nothing here is part of the program.
package devnet

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"regexp"
	"strconv"
	"sync"
	"testing"
	"time"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/verification/toolchain/toolchaintest"
)

// Options are how a node starts.
type Options struct {
	Seed     int
	Accounts int    // three unless set
	ChainID  string // SN_SEPOLIA unless set
}

// Net is a running node. Blocks are made on demand alone.
type Net struct {
	URL      string // of its JSON-RPC
	ChainID  felt.Felt
	Accounts []*Account

	stop func()
}

// startTime bounds the start of a node.
const startTime = 3 * time.Minute

// listening is what the node prints when it is ready; its port is free of choice.
var listening = regexp.MustCompile(`listening on 127\.0\.0\.1:(\d+)`)

// New starts a node that ends with the test.
func New(t testing.TB, o Options) *Net {
	t.Helper()
	args := []string{"--seed", strconv.Itoa(o.Seed), "--accounts", strconv.Itoa(cmp.Or(o.Accounts, 3))}
	if o.ChainID != "" {
		args = append(args, "--chain-id", o.ChainID)
	}
	n := start(t, args...)
	n.loadAccounts(t)
	return n
}

func start(t testing.TB, args ...string) *Net {
	t.Helper()
	args = append(args, "--host", "127.0.0.1", "--port", "0", "--block-generation-on", "demand", "--state-archive-capacity", "full")
	cmd := exec.CommandContext(t.Context(), toolchaintest.Find(t, "starknet-devnet"), args...)
	log := &watched{match: listening, found: make(chan string, 1)}
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	var failure error // of the process, when ended is closed
	go func() {
		failure = cmd.Wait()
		close(ended)
	}()
	n := &Net{stop: func() {
		cmd.Process.Kill() //nolint:errcheck // it has ended, then
		<-ended
	}}
	t.Cleanup(n.stop)
	select {
	case port := <-log.found:
		n.URL = "http://127.0.0.1:" + port + "/rpc"
		n.Call(t, "starknet_chainId", map[string]any{}, &n.ChainID)
	case <-ended:
		t.Fatalf("the node ended: %v\n%s", failure, log.text())
	case <-time.After(startTime):
		t.Fatalf("the node does not start:\n%s", log.text())
	}
	return n
}

// Stop ends the node before the test does.
func (n *Net) Stop() { n.stop() }

// watched keeps what a process prints and tells when a line comes.
type watched struct {
	match *regexp.Regexp
	found chan string

	mu   sync.Mutex
	buf  bytes.Buffer
	done bool
}

func (w *watched) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.buf.Len() < 1<<20 {
		w.buf.Write(p)
	}
	if m := w.match.FindSubmatch(w.buf.Bytes()); m != nil && !w.done {
		w.done = true
		w.found <- string(m[1])
	}
	return len(p), nil
}

func (w *watched) text() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.buf.String()
}

// Error is a failure that the node answered.
type Error struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data"`
}

func (e *Error) Error() string {
	return fmt.Sprintf("the node answered %d %s %s", e.Code, e.Message, e.Data)
}

// maxAnswer bounds what is read of an answer.
const maxAnswer = 64 << 20

// Ask calls a method with named parameters.
func (n *Net) Ask(ctx context.Context, method string, params, out any) error {
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, n.URL, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return err
	}
	var answer struct {
		Result json.RawMessage
		Error  *Error
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		return fmt.Errorf("%s: %w: %.200s", method, err, raw)
	}
	if answer.Error != nil {
		return fmt.Errorf("%s: %w", method, answer.Error)
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(answer.Result, out)
}

// Call is Ask, and fails the test with it.
func (n *Net) Call(t testing.TB, method string, params, out any) {
	t.Helper()
	if err := n.Ask(t.Context(), method, params, out); err != nil {
		t.Fatal(err)
	}
}

// Mine makes a block of what was sent since the last one and returns its hash.
func (n *Net) Mine(t testing.TB) felt.Felt {
	t.Helper()
	var block struct {
		Hash felt.Felt `json:"block_hash"`
	}
	n.Call(t, "devnet_createBlock", map[string]any{}, &block)
	return block.Hash
}

// Abort takes back a block and all after it.
func (n *Net) Abort(t testing.TB, from felt.Felt) {
	t.Helper()
	n.Call(t, "devnet_abortBlocks", map[string]any{"starting_block_id": map[string]any{"block_hash": from}}, nil)
}
