package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"chainexplorer/internal/simnode"
	"chainexplorer/internal/store/postgres/pgtest"
)

// TestProcessesShareAccounts: two API processes on one database let in as many requests
// of a key as its budget has and no more, count all of them once, and both refuse the
// key within a second of its end.
func TestProcessesShareAccounts(t *testing.T) {
	url := pgtest.Database(t)
	chain := simnode.New(simnode.Config{Seed: 45, Blocks: 6})
	node := httptest.NewServer(simnode.NewNode(chain, simnode.NodeConfig{}))
	defer node.Close()
	head, _ := chain.Head()
	if _, stderr, code := separately(t, "index", "--node", node.URL, "--store", url, "--to", strconv.FormatUint(head, 10)); code != 0 {
		t.Fatalf("index ended with %d:\n%s", code, stderr)
	}
	const limit, each = 60, 25
	succeed(t, url, "workspace", "create", "acme", "--plan", "enterprise")
	issued := succeed(t, url, "key", "create", "--workspace", "acme", "--light-per-minute", strconv.Itoa(limit), "--burst", strconv.Itoa(limit))
	key := keyText.FindString(issued)
	var apis []*running
	for range 2 {
		apis = append(apis, startProgram(t, "api", "--listen=127.0.0.1:0", "--store", url, "--chain", "SN_SEPOLIA"))
	}
	var allowed, refused atomic.Int64
	ask := func(base string) int {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+"/v1/SN_SEPOLIA/status", nil)
		if err != nil {
			t.Error(err)
			return 0
		}
		req.Header.Set("X-Service-Api-Key", key)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Error(err)
			return 0
		}
		defer res.Body.Close()        //nolint:errcheck // not looked at
		io.Copy(io.Discard, res.Body) //nolint:errcheck // not looked at
		left, err := strconv.Atoi(res.Header.Get("X-Ratelimit-Remaining"))
		switch res.StatusCode {
		case http.StatusOK:
			allowed.Add(1)
		case http.StatusTooManyRequests:
			refused.Add(1)
			if wait, err := strconv.Atoi(res.Header.Get("Retry-After")); err != nil || wait < 1 || wait > 60 || left != 0 {
				t.Errorf("refused with Retry-After %d, %d left, %v", wait, left, err)
			}
		}
		if (res.StatusCode == http.StatusOK || res.StatusCode == http.StatusTooManyRequests) &&
			(err != nil || left >= limit || res.Header.Get("X-Ratelimit-Limit") != strconv.Itoa(limit) || res.Header.Get("X-Ratelimit-Policy") != "light;w=60") {
			t.Errorf("headers %v", res.Header)
		}
		return res.StatusCode
	}
	begin := time.Now()
	var all sync.WaitGroup
	for _, api := range apis {
		for range 4 {
			all.Go(func() {
				for range each {
					ask(api.base)
				}
			})
		}
	}
	all.Wait()
	if took := time.Since(begin); took > 50*time.Second {
		t.Fatalf("the requests took %s: the window may be over", took)
	}
	if allowed.Load() != limit || allowed.Load()+refused.Load() != 2*4*each {
		t.Errorf("%d of %d requests were let in, want %d; %d were refused", allowed.Load(), 2*4*each, limit, refused.Load())
	}

	succeed(t, url, "key", "revoke", publicID.FindString(issued))
	revoked := time.Now()
	for _, api := range apis {
		// None that is asked a second later lets it in, however long the asking takes.
		for asked := time.Now(); ask(api.base) != http.StatusUnauthorized; asked = time.Now() {
			if since := asked.Sub(revoked); since > time.Second {
				t.Fatalf("the key was good %s after it was revoked", since)
			}
			time.Sleep(10 * time.Millisecond) // between two questions
		}
	}
	for _, api := range apis {
		api.stop() // and write what they have counted
	}
	var told struct {
		TotalRequests, TotalFailures int64
		PerKey                       []struct{ TotalRequests, FailureCount int64 }
	}
	if err := json.Unmarshal([]byte(succeed(t, url, "usage", "--workspace", "acme", "--json")), &told); err != nil {
		t.Fatal(err)
	}
	if told.TotalRequests != allowed.Load()+refused.Load() || told.TotalFailures != refused.Load() ||
		len(told.PerKey) != 1 || told.PerKey[0].TotalRequests != told.TotalRequests || told.PerKey[0].FailureCount != told.TotalFailures {
		t.Errorf("told %+v; %d were let in and %d refused", told, allowed.Load(), refused.Load())
	}
}
