package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	standard "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/simnode"
)

// hookReceiver applies messages about blocks as the guide says.
type hookReceiver struct {
	t      *testing.T
	mu     sync.Mutex
	verify *standard.Webhook
	seen   map[string]string    // bodies by id
	blocks map[string]felt.Felt // by the id of the message that told of them
	next   int64
	taken  int // messages that were taken back
	// kill is called at its next request, before or after it is applied, and answers nothing.
	kill   func()
	before bool
}

func (r *hookReceiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil || r.verify == nil {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	if err := r.verify.Verify(body, req.Header); err != nil {
		r.t.Errorf("a message that nobody signed: %v", err)
		return
	}
	kill, before := r.kill, r.before
	r.kill = nil
	if kill != nil && before {
		kill()
		panic(http.ErrAbortHandler)
	}
	r.apply(req.Header.Get("webhook-id"), string(body))
	if kill != nil {
		kill()
		panic(http.ErrAbortHandler)
	}
}

func (r *hookReceiver) apply(id, body string) {
	if had, ok := r.seen[id]; ok {
		if had != body {
			r.t.Errorf("message %s has two bodies", id)
		}
		return
	}
	r.seen[id] = body
	var m struct {
		Type string
		Data struct {
			Sequence int64
			Block    struct{ Hash felt.Felt }
			Messages []string
		}
	}
	if err := json.Unmarshal([]byte(body), &m); err != nil {
		r.t.Error(err)
		return
	}
	if r.next++; m.Data.Sequence != r.next {
		r.t.Errorf("message %d came where %d was to come", m.Data.Sequence, r.next)
	}
	switch m.Type {
	case "block":
		r.blocks[id] = m.Data.Block.Hash
	case "retracted":
		for _, x := range m.Data.Messages {
			if r.blocks[x] != m.Data.Block.Hash {
				r.t.Errorf("%s takes back %s, which is not there", id, x)
			}
			delete(r.blocks, x)
			r.taken++
		}
	}
}

// TestWebhookKills kills the service with SIGKILL while it delivers, before and after the
// receiver took a message, and while the chain forks. In the end the receiver has what the
// chain has, without a gap.
func TestWebhookKills(t *testing.T) {
	t.Parallel() // it waits for processes
	chain := simnode.New(simnode.Config{Seed: 61, Blocks: 30})
	node := httptest.NewServer(simnode.NewNode(chain, simnode.NodeConfig{}))
	defer node.Close()
	r := &hookReceiver{t: t, seen: map[string]string{}, blocks: map[string]felt.Felt{}}
	hook := httptest.NewServer(r)
	defer hook.Close()
	dir := t.TempDir()
	serve := func() *running {
		return startServe(t, "--node", node.URL, "--data", dir, "--verify", "off", "--webhook-allow", "127.0.0.0/8", "--audit-rate", "0")
	}
	s := serve()
	db := filepath.Join(dir, "control.db")
	succeed(t, db, "workspace", "create", "acme")
	key := keyText.FindString(succeed(t, db, "key", "create", "--workspace", "acme"))
	wait := func(what string, done func() bool) {
		t.Helper()
		for end := time.Now().Add(patience); !done(); time.Sleep(20 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%s did not happen", what)
			}
		}
	}
	var made struct{ Secret string }
	wait("a webhook", func() bool {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.base+"/v1/SN_SEPOLIA/webhooks", strings.NewReader(fmt.Sprintf(`{"url":%q,"filter":{"kind":"block"},"fromBlock":5}`, hook.URL)))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Service-Api-Key", key)
		req.Header.Set("Content-Type", "application/json")
		r.mu.Lock() // a message may come before the answer that tells its secret
		defer r.mu.Unlock()
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close() //nolint:errcheck // read to its end
		if res.StatusCode != http.StatusCreated || json.NewDecoder(res.Body).Decode(&made) != nil {
			return false // there are not as many blocks yet
		}
		r.verify, err = standard.NewWebhook(made.Secret)
		if err != nil {
			t.Fatal(err)
		}
		return true
	})
	// has says whether the receiver has what the chain has.
	has := func() bool {
		head, _ := chain.Head()
		want := map[felt.Felt]bool{}
		for n := uint64(5); n <= head; n++ {
			want[chain.BlockAt(n).Hash] = true
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, h := range r.blocks {
			if !want[h] {
				return false
			}
		}
		return len(r.blocks) == len(want)
	}
	for i := range 2 {
		if i > 0 {
			wait("what the chain has", has)
		}
		killed := make(chan struct{})
		victim := s
		r.mu.Lock()
		r.before = i%2 == 0
		r.kill = func() {
			victim.cmd.Process.Kill() //nolint:errcheck // it is waited for
			close(killed)
		}
		r.mu.Unlock()
		if i > 0 {
			chain.Fork(2 + 2*i)
		}
		chain.Extend(3)
		select {
		case <-killed:
		case <-time.After(patience):
			t.Fatal("nothing is delivered")
		}
		victim.cmd.Wait() //nolint:errcheck // killed
		s = serve()
	}
	chain.Fork(3)
	chain.Extend(2)
	wait("what the chain has", has)
	if r.taken < 4 { // of the first fork; of the second those that were sent in time
		t.Errorf("%d messages were taken back", r.taken)
	}
	s.cmd.Process.Kill() //nolint:errcheck // the test is over
	s.cmd.Wait()         //nolint:errcheck // killed
}
