package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"chainexplorer/internal/simnode"
	"chainexplorer/internal/store/postgres/pgtest"
)

// TestProcessesSharePlaces: two API processes on one database have as many requests of a
// workspace at work as one of them may, wherever they come, and none is lost to the other.
func TestProcessesSharePlaces(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	chain := simnode.New(simnode.Config{Seed: 46, Blocks: 6})
	real := simnode.NewNode(chain, simnode.NodeConfig{})
	var mu sync.Mutex
	gate := make(chan struct{}) // calls wait until it is closed
	node := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		if bytes.Contains(body, []byte("starknet_call")) {
			mu.Lock()
			wait := gate
			mu.Unlock()
			select {
			case <-wait:
			case <-r.Context().Done():
				return
			}
		}
		real.ServeHTTP(w, r)
	}))
	defer node.Close()
	head, _ := chain.Head()
	if _, stderr, code := separately(t, "index", "--node", node.URL, "--store", url, "--to", strconv.FormatUint(head, 10)); code != 0 {
		t.Fatalf("index ended with %d:\n%s", code, stderr)
	}
	succeed(t, url, "workspace", "create", "acme", "--plan", "enterprise")
	key := keyText.FindString(succeed(t, url, "key", "create", "--workspace", "acme"))
	const places, each = 4, 8
	var apis []*running
	logs := &gathered{}
	alone := func() int { return strings.Count(logs.String(), "counted by this process alone") }
	for range 2 {
		apis = append(apis, startInto(t, program(t, "api", "--listen=127.0.0.1:0", "--store", url, "--chain", "SN_SEPOLIA="+node.URL,
			"--max-in-flight-workspace", strconv.Itoa(places), "--max-in-flight-key", strconv.Itoa(places)), logs))
	}
	ask := func(base string) (status int, reason string) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+"/v1/SN_SEPOLIA/token/0x1/balance-of/0x2", nil)
		if err != nil {
			t.Error(err)
			return 0, ""
		}
		req.Header.Set("X-Service-Api-Key", key)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Error(err)
			return 0, ""
		}
		defer res.Body.Close() //nolint:errcheck // read whole
		var told struct{ Reason string }
		if err := json.NewDecoder(res.Body).Decode(&told); err != nil {
			t.Error(err)
		}
		return res.StatusCode, told.Reason
	}
	// flood sends more than there are places, and returns how many were let in once as many were refused as have to be.
	// On a machine that is so busy that the database takes half a second for an answer each process counts alone, and
	// that is no answer to what is asked here.
	flood := func(bases ...string) (let int) {
		t.Helper()
		for end := time.Now().Add(patience); ; time.Sleep(2 * time.Second) {
			before := alone()
			mu.Lock()
			gate = make(chan struct{})
			mu.Unlock()
			total := each * len(bases)
			answers := make(chan string, total)
			for _, base := range bases {
				for range each {
					go func() {
						status, reason := ask(base)
						if status != http.StatusTooManyRequests {
							reason = ""
						}
						answers <- reason
					}()
				}
			}
			refused, waiting := 0, true
			for late := time.After(4 * time.Second); waiting && refused < total-places; { // before those at work give up by themselves
				select {
				case reason := <-answers:
					if refused++; reason != "concurrency" {
						t.Fatalf("an answer with the reason %q while calls wait", reason)
					}
				case <-late:
					waiting = false
				}
			}
			close(gate)
			for let = 0; refused < total; refused++ {
				if <-answers == "" {
					let++
				}
			}
			if let <= places {
				return let
			}
			if alone() == before || time.Now().After(end) {
				t.Fatalf("%d of %d requests were let in, and %d places there are", let, total, places)
			}
		}
	}
	if let := flood(apis[0].base, apis[1].base); let != places {
		t.Errorf("%d requests were let in, want %d", let, places)
	}
	// All places are where the requests are.
	// Places move once a second; asked for without a pause they would meet the key's burst.
	for end := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
		if let := flood(apis[1].base); let == places {
			break
		} else if time.Now().After(end) {
			t.Fatalf("one process alone lets in %d", let)
		}
	}
	for _, api := range apis {
		api.stop()
	}
}
