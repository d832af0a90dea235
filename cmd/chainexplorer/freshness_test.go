package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"chainexplorer/internal/api"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/store/postgres/pgtest"
)

// untilStatus asks for the status until it is as wanted.
func (r *running) untilStatus(key string, wanted func(*api.Status) bool) api.Status {
	r.t.Helper()
	var s api.Status
	for until := time.Now().Add(patience); ; {
		if err := json.Unmarshal(r.get("/v1/SN_SEPOLIA/status", key, http.StatusOK), &s); err != nil {
			r.t.Fatal(err)
		}
		if wanted(&s) {
			return s
		}
		if time.Now().After(until) {
			r.t.Fatalf("the status stays %+v", s)
		}
		time.Sleep(50 * time.Millisecond) // between two questions
	}
}

func isCurrent(s *api.Status) bool {
	return s.Indexing.Status == "current" && s.LagBlocks != nil && *s.LagBlocks == 0
}

func isStalled(code string) func(*api.Status) bool {
	return func(s *api.Status) bool {
		return s.Indexing.Status == "stalled" && *s.Indexing.ReasonCode == code
	}
}

// TestNodeThatStops: a service whose only node stops says so, and that it is
// current again when the node is back.
func TestNodeThatStops(t *testing.T) {
	t.Parallel() // it waits for processes
	away := &awayNode{node: simnode.NewNode(simnode.New(simnode.Config{Seed: 7, Blocks: 30}), simnode.NodeConfig{})}
	away.back.Store(true)
	srv := httptest.NewServer(away)
	defer srv.Close()
	data := filepath.Join(t.TempDir(), "data")
	r := startServe(t, "--data", data, "--node", srv.URL, "--head-max-age", "3s")
	defer r.stop()
	control := filepath.Join(data, "control.db")
	succeed(t, control, "workspace", "create", "acme", "--plan", "enterprise")
	key := keyText.FindString(succeed(t, control, "key", "create", "--workspace", "acme"))
	r.untilHead(key, 29)
	if s := r.untilStatus(key, isCurrent); *s.Nodes.Healthy != 1 || *s.Nodes.Items[0].HeadBlockNumber != 29 || strings.Contains(string(r.get("/v1/SN_SEPOLIA/status", key, 200)), "127.0.0.1") {
		t.Errorf("status of a service with its node: %+v", s)
	}
	away.back.Store(false)
	s := r.untilStatus(key, isStalled("node_silent"))
	if s.LagBlocks != nil || *s.HeadBlockNumber != 29 || *s.Nodes.Healthy != 0 || s.Nodes.Items[0].Status != "failing" {
		t.Errorf("status of a service whose node stopped: %+v", s)
	}
	if code, body := r.once("/readyz", ""); code != http.StatusOK || !strings.Contains(body, `"degraded"`) || !strings.Contains(body, "node_silent") {
		t.Errorf("readyz: %d %s", code, body)
	}
	away.back.Store(true)
	r.untilStatus(key, isCurrent)
}

// TestNodeThatGoesBack: a node that starts anew with fewer blocks answers, but does
// not vouch for what is indexed; what is indexed stays.
func TestNodeThatGoesBack(t *testing.T) {
	t.Parallel() // it waits for processes
	blocks := simnode.New(simnode.Config{Seed: 7, Blocks: 30})
	srv := httptest.NewServer(simnode.NewNode(blocks, simnode.NodeConfig{}))
	defer srv.Close()
	data := filepath.Join(t.TempDir(), "data")
	r := startServe(t, "--data", data, "--node", srv.URL, "--head-max-age", "3s")
	defer r.stop()
	control := filepath.Join(data, "control.db")
	succeed(t, control, "workspace", "create", "acme", "--plan", "enterprise")
	key := keyText.FindString(succeed(t, control, "key", "create", "--workspace", "acme"))
	r.untilHead(key, 29)
	r.untilStatus(key, isCurrent)
	blocks.Truncate(20)
	s := r.untilStatus(key, isStalled("node_behind"))
	if s.LagBlocks != nil || *s.LatestIndexedBlockNumber != 29 || *s.Nodes.Healthy != 1 || *s.Nodes.Items[0].HeadBlockNumber != 9 {
		t.Errorf("status of a service whose node went back: %+v", s)
	}
	if code, body := r.once("/readyz", ""); code != http.StatusOK || !strings.Contains(body, "node_behind") {
		t.Errorf("readyz: %d %s", code, body)
	}
	blocks.Extend(25) // other blocks: the index follows them
	r.untilStatus(key, isCurrent)
}

// TestIndexerThatStops: a process without a node knows from the store how its
// index is, and that nobody keeps it any more.
func TestIndexerThatStops(t *testing.T) {
	t.Parallel() // it waits for processes
	url := pgtest.Database(t)
	key := serveOnce(t, url, 29, "--store", url, "--node", simulated(t, "SN_SEPOLIA", 30))
	indexer := startServe(t, "--store", url, "--node", simulated(t, "SN_SEPOLIA", 30))
	reader := startProgram(t, "api", "--listen=127.0.0.1:0", "--chain", "SN_SEPOLIA", "--store", url, "--head-max-age", "15s")
	defer reader.stop()
	s := reader.untilStatus(key, isCurrent)
	if *s.Nodes.Configured != 1 || *s.Nodes.Healthy != 1 || s.HeadObservedAt == nil {
		t.Errorf("status without a node of its own: %+v", s)
	}
	indexer.stop()
	if s := reader.untilStatus(key, isStalled("indexer_silent")); s.LagBlocks != nil || s.Nodes.Healthy != nil {
		t.Errorf("status of an index that nobody keeps: %+v", s)
	}
}
