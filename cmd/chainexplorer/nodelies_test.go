package main

import (
	"encoding/json"
	"math"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"chainexplorer/internal/api"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/simnode/liar"
)

// served is a service on some nodes, with a key to ask it.
func served(t *testing.T, args ...string) (r *running, key string) {
	t.Helper()
	data := filepath.Join(t.TempDir(), "data")
	r = startServe(t, append([]string{"--data", data}, args...)...)
	control := filepath.Join(data, "control.db")
	succeed(t, control, "workspace", "create", "acme", "--plan", "enterprise")
	return r, keyText.FindString(succeed(t, control, "key", "create", "--workspace", "acme"))
}

// lyingNode is a node that can be told to lie, and where it is.
func lyingNode(t *testing.T, chain *simnode.Chain, rules ...liar.Rule) (*liar.Proxy, string) {
	t.Helper()
	p := liar.New(simnode.NewNode(chain, simnode.NodeConfig{}))
	p.Set(rules...)
	srv := httptest.NewServer(p)
	t.Cleanup(srv.Close)
	t.Cleanup(p.Release)
	return p, srv.URL
}

func aboutBlock(number uint64, rewrite func(block map[string]any) any) liar.Rule {
	return liar.Rule{Method: "starknet_getBlockWithReceipts", When: func(c liar.Call) bool { return c.HasBlock && c.Block == number },
		Rewrite: func(_ liar.Call, result any) any { return rewrite(result.(map[string]any)) }}
}

func isDegraded(code string) func(*api.Status) bool {
	return func(s *api.Status) bool { return s.Indexing.Status == "degraded" && *s.Indexing.ReasonCode == code }
}

// noSecrets fails when strangers are told where a node is, or what to do about it.
func (r *running) noSecrets(key string) {
	r.t.Helper()
	_, ready := r.once("/readyz", "")
	for _, text := range []string{string(r.get("/v1/SN_SEPOLIA/status", key, http.StatusOK)), ready, string(r.get("/", "", http.StatusOK))} {
		if strings.Contains(strings.ReplaceAll(text, strings.TrimPrefix(r.base, "http://"), ""), "127.0.0.1") || strings.Contains(text, "--verify") || strings.Contains(text, "--unverified") {
			r.t.Errorf("strangers are told:\n%s", text)
		}
	}
}

// TestUnusableBlockIsTold: an only node whose block nobody can read is not called
// healthy, nor the index current; when it gives the block, all is well.
func TestUnusableBlockIsTold(t *testing.T) {
	t.Parallel() // it waits for processes
	chain := simnode.New(simnode.Config{Seed: 71, Blocks: 30})
	node, url := lyingNode(t, chain, aboutBlock(15, func(map[string]any) any { return map[string]any{"hello": "world"} }))
	r, key := served(t, "--node", url)
	defer r.stop()
	degraded := isDegraded("node_faulty")
	s := r.untilStatus(key, func(s *api.Status) bool {
		return degraded(s) && strings.HasPrefix(*s.Indexing.Reason, "Block 15 from node-1 cannot be read")
	})
	if *s.LatestIndexedBlockNumber != 14 || s.Nodes.Items[0].Status != "quarantined" || *s.Nodes.Healthy != 0 || s.LagBlocks != nil || s.Indexing.Status != "degraded" {
		t.Errorf("%+v %+v", s, s.Nodes)
	}
	r.noSecrets(key)
	node.Set()
	if s := r.untilStatus(key, isCurrent); s.Nodes.Items[0].Status != "healthy" || *s.LatestIndexedBlockNumber != 29 {
		t.Errorf("%+v", s)
	}
}

// TestFaultHidesTheNode: the reason of a stop says what and which block, and
// neither where the node is nor what the operator could do.
func TestFaultHidesTheNode(t *testing.T) {
	t.Parallel() // it waits for processes
	chain := simnode.New(simnode.Config{Seed: 72, Blocks: 30, RealHashes: true})
	_, url := lyingNode(t, chain, aboutBlock(15, func(b map[string]any) any { b["sequencer_address"] = "0xbad"; return b }))
	r, key := served(t, "--node", url, "--verify", "all")
	defer r.stop()
	s := r.untilStatus(key, isDegraded("fault"))
	if !strings.HasPrefix(*s.Indexing.Reason, "Block 15 from node-1 fails verification: ") {
		t.Errorf("the reason is %q", *s.Indexing.Reason)
	}
	r.noSecrets(key)
}

// inflated makes a node claim a head that it does not have.
func inflated(head func(honest uint64) uint64) liar.Rule {
	return liar.Rule{Method: "starknet_blockHashAndNumber", Rewrite: func(_ liar.Call, result any) any {
		r := result.(map[string]any)
		honest, err := strconv.ParseUint(string(r["block_number"].(json.Number)), 10, 64)
		if err != nil {
			panic(err)
		}
		r["block_number"] = head(honest)
		return r
	}}
}

// TestInflatedHead: a node that claims a head which it cannot show moves nothing:
// the index follows the honest node, and the liar goes into quarantine.
func TestInflatedHead(t *testing.T) {
	for name, head := range map[string]func(uint64) uint64{
		"a thousand more": func(n uint64) uint64 { return n + 1000 },
		"the largest":     func(uint64) uint64 { return math.MaxUint64 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			chain := simnode.New(simnode.Config{Seed: 73, Blocks: 30, L1Lag: 5})
			node, url := lyingNode(t, chain, inflated(head))
			_, honest := lyingNode(t, chain)
			r, key := served(t, "--node", url, "--node", honest, "--finality-depth", "10")
			defer r.stop()
			told := false
			follow := func(last uint64) {
				r.untilStatus(key, func(s *api.Status) bool {
					if s.HeadBlockNumber != nil && *s.HeadBlockNumber > last || s.Indexing.Status == "catching_up" && last > 30 {
						t.Errorf("the claim is believed: head %d, %+v", *s.HeadBlockNumber, s.Indexing)
					}
					told = told || len(s.Nodes.Items) == 2 && s.Nodes.Items[0].Status == "quarantined"
					return t.Failed() || isCurrent(s) && *s.LatestIndexedBlockNumber == last && *s.FinalizedBlockNumber == last-10 && told
				})
			}
			follow(29)
			for range 3 {
				chain.Extend(2)
				head, _ := chain.Head()
				begin := time.Now()
				follow(head)
				if took := time.Since(begin); took > time.Minute {
					t.Errorf("two blocks took %s", took)
				}
			}
			if node.Told() == 0 {
				t.Error("nobody was lied to")
			}
		})
	}
}

// TestInflatedHeadOfAnOnlyNode: with nobody else to ask the index stands, and says so.
func TestInflatedHeadOfAnOnlyNode(t *testing.T) {
	t.Parallel() // it waits for processes
	chain := simnode.New(simnode.Config{Seed: 73, Blocks: 30})
	node, url := lyingNode(t, chain)
	r, key := served(t, "--node", url)
	defer r.stop()
	r.untilHead(key, 29)
	node.Set(inflated(func(n uint64) uint64 { return n + 1000 }))
	s := r.untilStatus(key, isDegraded("node_faulty"))
	if *s.HeadBlockNumber != 29 || s.LagBlocks != nil || s.Nodes.Items[0].Status != "quarantined" {
		t.Errorf("%+v", s)
	}
	r.noSecrets(key)
}

// TestQuorumAgainstALiar: with --quorum nothing is called finalized that only one
// of two nodes has, and a liar among three changes nothing.
func TestQuorumAgainstALiar(t *testing.T) {
	t.Parallel() // it waits for processes
	chain := simnode.New(simnode.Config{Seed: 75, Blocks: 40, L1Lag: 30})
	_, first := lyingNode(t, chain)
	_, second := lyingNode(t, chain)
	liars, lying := lyingNode(t, chain, otherBlocks(20)...)
	for _, test := range []struct {
		name  string
		nodes []string
		final bool
	}{{"one honest node", []string{first, lying}, false}, {"two honest nodes", []string{first, lying, second}, true}} {
		t.Run(test.name, func(t *testing.T) {
			data := filepath.Join(t.TempDir(), "data")
			complete(t, first, filepath.Join(data, "SN_SEPOLIA"), 39)
			args := []string{"--data", data, "--quorum", "2", "--finality-depth", "5"}
			for _, url := range test.nodes {
				args = append(args, "--node", url)
			}
			told := liars.Told()
			r := startServe(t, args...)
			defer r.stop()
			control := filepath.Join(data, "control.db")
			succeed(t, control, "workspace", "create", "acme", "--plan", "enterprise")
			key := keyText.FindString(succeed(t, control, "key", "create", "--workspace", "acme"))
			s := r.untilStatus(key, func(s *api.Status) bool { return s.Agreement != nil && len(s.Agreement.Tiers) == 3 })
			if s.Agreement.Quorum != 2 || *s.LatestIndexedBlockNumber != 39 || s.LastFork != nil {
				t.Errorf("%+v", s)
			}
			if liars.Told() == told {
				t.Error("nobody was lied to")
			}
			got := s.FinalizedBlockNumber
			if test.final && (got == nil || *got != 34) || !test.final && got != nil && *got >= 20 {
				t.Errorf("finalized %v, agreement %+v", got, s.Agreement)
			}
		})
	}
}
