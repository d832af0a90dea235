package main

import (
	"net/http/httptest"
	"path/filepath"
	"testing"

	"chainexplorer/internal/api"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/simnode/liar"
)

// TestAuditIsShown: the service audits its index by itself, says how far it came,
// and is degraded when a node contradicts it.
func TestAuditIsShown(t *testing.T) {
	t.Parallel() // it waits for processes
	node := liar.New(simnode.NewNode(simnode.New(simnode.Config{Seed: 5, Blocks: 25, TxPerBlock: 4, RealHashes: true}), simnode.NodeConfig{}))
	srv := httptest.NewServer(node)
	defer srv.Close()
	data := t.TempDir()
	control := filepath.Join(data, "control.db")
	r := startServe(t, "--data", data, "--node", srv.URL, "--finality-depth", "3", "--audit-rate", "1000")
	defer func() { r.stop() }()
	succeed(t, control, "workspace", "create", "acme", "--plan", "enterprise")
	key := keyText.FindString(succeed(t, control, "key", "create", "--workspace", "acme"))
	s := r.untilStatus(key, func(s *api.Status) bool {
		return s.Verification.Audit != nil && s.Verification.Audit.CompletedPasses > 0 && isCurrent(s)
	})
	a := s.Verification.Audit
	if n := a.SamplesChecked; a.Status != "current" || a.CoveredThroughBlock != 21 || a.VerifiedBlocks < 22 || n.Nonces == 0 || n.ClassHashes == 0 ||
		a.Mismatches != 0 || a.LastMismatch != nil || a.ObservedAt == "" {
		t.Errorf("an honest node: %+v", a)
	}

	node.Set(liar.Rule{Method: "starknet_getNonce", Rewrite: func(liar.Call, any) any { return "0xbad" }})
	s = r.untilStatus(key, func(s *api.Status) bool { return s.Indexing.Status == "degraded" })
	if m := s.Verification.Audit.LastMismatch; *s.Indexing.ReasonCode != "audit" || m == nil || m.Kind != "nonce" || s.Verification.Audit.Status != "mismatch" {
		t.Errorf("a node that tells other nonces: %+v, %+v", s.Indexing, s.Verification.Audit)
	}
	r.stop()

	// Without an auditor what it found stands.
	node.Set()
	r = startServe(t, "--data", data, "--node", srv.URL, "--finality-depth", "3", "--audit-rate", "0")
	s = r.untilStatus(key, func(s *api.Status) bool { return s.LagBlocks != nil && *s.LagBlocks == 0 })
	if s.Indexing.Status != "degraded" || s.Verification.Audit.LastMismatch == nil {
		t.Errorf("after a restart without an auditor: %+v", s.Indexing)
	}
	r.stop()

	r = startServe(t, "--data", data, "--node", srv.URL, "--finality-depth", "3", "--audit-rate", "1000")
	r.untilStatus(key, isCurrent)
}

func TestAuditRate(t *testing.T) {
	for _, rate := range []string{"-1", "0.0001", "1001", "NaN"} {
		if _, stderr, code := output(t, "serve", "--data", t.TempDir(), "--node", "http://127.0.0.1:1", "--audit-rate="+rate); code != exitUsage {
			t.Errorf("--audit-rate=%s ends with %d: %s", rate, code, stderr)
		}
	}
}
