package main

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/store/postgres/pgtest"
)

// silent is the address of a node that takes connections and never answers.
func silent(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() }) //nolint:errcheck // ends with the test
	return "http://" + l.Addr().String()
}

// gone is the address of a node that is down.
func gone(t *testing.T) string {
	t.Helper()
	srv := httptest.NewServer(http.NotFoundHandler())
	srv.Close()
	return srv.URL
}

// awayNode answers 503 until it is back.
type awayNode struct {
	node  http.Handler
	back  atomic.Bool
	asked atomic.Int64
}

func (a *awayNode) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.asked.Add(1)
	if !a.back.Load() {
		http.Error(w, "away", http.StatusServiceUnavailable)
		return
	}
	a.node.ServeHTTP(w, r)
}

// once asks a single time.
func (r *running) once(path, key string) (int, string) {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), http.MethodGet, r.base+path, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	if key != "" {
		req.Header.Set("X-Service-Api-Key", key)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer res.Body.Close() //nolint:errcheck // read to its end
	body, err := io.ReadAll(res.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return res.StatusCode, string(body)
}

// serveOnce indexes a chain with the service itself, and returns a key.
func serveOnce(t *testing.T, control string, head uint64, args ...string) string {
	t.Helper()
	r := startServe(t, args...)
	succeed(t, control, "workspace", "create", "acme", "--plan", "enterprise")
	key := keyText.FindString(succeed(t, control, "key", "create", "--workspace", "acme"))
	r.untilHead(key, head)
	r.stop()
	return key
}

// TestServesWithoutItsNode: a service that is started while its node is down, or
// takes connections and is silent, answers from its index at once, and goes on
// indexing when the node is back.
func TestServesWithoutItsNode(t *testing.T) {
	t.Parallel() // it waits for processes
	chain := simnode.New(simnode.Config{Seed: 7, Blocks: 30})
	srv := httptest.NewServer(simnode.NewNode(chain, simnode.NodeConfig{}))
	defer srv.Close()
	data := filepath.Join(t.TempDir(), "data")
	key := serveOnce(t, filepath.Join(data, "control.db"), 29, "--data", data, "--node", srv.URL)

	for name, args := range map[string][]string{
		"--node, down":    {"--node", gone(t)},
		"--node, silent":  {"--node", silent(t)},
		"--chain, down":   {"--chain", "SN_SEPOLIA=" + gone(t)},
		"--chain, silent": {"--chain", "SN_SEPOLIA=" + silent(t)},
	} {
		t.Run(name, func(t *testing.T) {
			r := startServe(t, append(args, "--data", data)...)
			defer r.stop()
			for _, path := range []string{"/v1/SN_SEPOLIA/block/29", "/v1/SN_SEPOLIA/status", "/", "/docs/api", "/openapi.json"} {
				if code, body := r.once(path, key); code != http.StatusOK {
					t.Errorf("GET %s: %d %.300s", path, code, body)
				}
			}
		})
	}

	t.Run("the node comes back", func(t *testing.T) {
		away := &awayNode{node: simnode.NewNode(chain, simnode.NodeConfig{})}
		late := httptest.NewServer(away)
		defer late.Close()
		r := startServe(t, "--data", data, "--node", late.URL)
		defer r.stop()
		if code, body := r.once("/v1/SN_SEPOLIA/block/29", key); code != http.StatusOK {
			t.Errorf("%d %.300s", code, body)
		}
		chain.Extend(5)
		away.back.Store(true)
		r.untilHead(key, 34)
	})
}

// TestRefusesAnotherChain: a node of another chain does not begin a second index
// beside the first in silence, nor is anything asked of it.
func TestRefusesAnotherChain(t *testing.T) {
	t.Parallel() // it waits for processes
	data := filepath.Join(t.TempDir(), "data")
	key := serveOnce(t, filepath.Join(data, "control.db"), 9, "--data", data, "--node", simulated(t, "SN_SEPOLIA", 10))

	_, stderr, code := output(t, "serve", "--listen=127.0.0.1:0", "--data", data, "--node", simulated(t, "SN_MAIN", 10))
	if want := "holds the index of SN_SEPOLIA and the node serves the chain SN_MAIN"; code != exitFailure || !strings.Contains(stderr, want) {
		t.Errorf("exit code %d:\n%s", code, stderr)
	}
	if _, err := os.Stat(filepath.Join(data, "SN_MAIN")); !os.IsNotExist(err) {
		t.Errorf("a second index was begun (%v)", err)
	}

	// One that shows up later is not used, and the service goes on.
	away := &awayNode{node: simnode.NewNode(simnode.New(simnode.Config{Seed: 3, Blocks: 40, ChainID: felt.MustShortString("SN_MAIN")}), simnode.NodeConfig{})}
	late := httptest.NewServer(away)
	defer late.Close()
	r := startServe(t, "--data", data, "--node", late.URL)
	asked := away.asked.Load()
	away.back.Store(true)
	until(t, "another look at the node, and one more", func() bool {
		var status struct{ LatestIndexedBlockNumber uint64 }
		if err := json.Unmarshal(r.get("/v1/SN_SEPOLIA/status", key, http.StatusOK), &status); err != nil || status.LatestIndexedBlockNumber != 9 {
			t.Fatalf("status %+v (%v)", status, err)
		}
		return away.asked.Load() >= asked+3
	})
	r.stop()

	// Several chains want names.
	succeedServe := startServe(t, "--data", data, "--chain", "SN_MAIN="+simulated(t, "SN_MAIN", 10), "--chain", "SN_SEPOLIA="+simulated(t, "SN_SEPOLIA", 10))
	succeedServe.stop()
	_, stderr, code = output(t, "serve", "--listen=127.0.0.1:0", "--data", data, "--node", gone(t))
	if code != exitUsage || !strings.Contains(stderr, "holds the indexes of SN_MAIN, SN_SEPOLIA: name their nodes with --chain") {
		t.Errorf("exit code %d:\n%s", code, stderr)
	}
	// The folder of one chain is not a data directory.
	_, stderr, code = output(t, "serve", "--listen=127.0.0.1:0", "--data", filepath.Join(data, "SN_MAIN"), "--node", gone(t))
	if code != exitUsage || !strings.Contains(stderr, "is the index of one chain") {
		t.Errorf("exit code %d:\n%s", code, stderr)
	}
}

// TestServesWithoutItsNodeOnPostgres: the same with the index in a database, in the
// roles that serve.
func TestServesWithoutItsNodeOnPostgres(t *testing.T) {
	t.Parallel() // it waits for processes
	url := pgtest.Database(t)
	data := []string{"--store", url}
	key := serveOnce(t, url, 9, append(data, "--node", simulated(t, "SN_SEPOLIA", 10))...)
	for _, args := range [][]string{
		{"serve", "--node", gone(t)},
		{"serve", "--chain", "SN_SEPOLIA=" + silent(t)},
		{"api", "--chain", "SN_SEPOLIA=" + silent(t)},
	} {
		r := startProgram(t, append(append([]string{args[0], "--listen=127.0.0.1:0"}, args[1:]...), data...)...)
		if code, body := r.once("/v1/SN_SEPOLIA/block/9", key); code != http.StatusOK {
			t.Errorf("%v: %d %.300s", args[:2], code, body)
		}
		r.stop()
	}
	_, stderr, code := output(t, "serve", "--listen=127.0.0.1:0", "--store", url, "--node", simulated(t, "SN_MAIN", 10))
	if code != exitFailure || !strings.Contains(stderr, "holds the index of SN_SEPOLIA and the node serves the chain SN_MAIN") {
		t.Errorf("exit code %d:\n%s", code, stderr)
	}
}
