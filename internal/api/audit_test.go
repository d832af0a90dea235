package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"chainexplorer/internal/api"
	"chainexplorer/internal/explorer/audit"
	"chainexplorer/internal/servertest"
	"chainexplorer/internal/store"
)

// audited puts what an auditor found into the index.
func (w *world) audited(s audit.State) {
	w.T.Helper()
	lease, err := w.Engine.Acquire(w.T.Context(), "job/audit", "test", time.Hour)
	if err != nil {
		w.T.Fatal(err)
	}
	b := &store.Batch{}
	b.Under(lease)
	b.Put(audit.StateKey, s.Encode())
	if err := w.Engine.Commit(w.T.Context(), b); err != nil {
		w.T.Fatal(err)
	}
}

// TestAuditIsTold: what the auditor found is in status, on /readyz and on the landing
// page, as far as it counts; how old it is, too.
func TestAuditIsTold(t *testing.T) {
	w := newWorld(t, 30)
	now := uint64(w.Clock.Now().Unix())
	find := func(at audit.Standing) audit.Finding {
		return audit.Finding{Block: 7, Kind: audit.Nonces, Standing: at, Reason: "nonces differ"}
	}
	disputed := find(audit.Disputed)
	disputed.Block = 2
	for name, c := range map[string]struct {
		state                 audit.State
		word, indexing, ready string
		says                  string // the reason of status
	}{
		"nothing found":                 {audit.State{At: now}, "current", "current", "ready", ""},
		"within the hour":               {audit.State{At: now - 3500}, "current", "current", "ready", ""},
		"no nodes for an hour and more": {audit.State{At: now - 3601}, "stale", "current", "ready", ""},
		"disputed":                      {audit.State{At: now, Findings: []audit.Finding{disputed}}, "disputed", "current", "ready", ""},
		"false":                         {audit.State{At: now, Findings: []audit.Finding{disputed, find(audit.Proved)}}, "mismatch", "degraded", "degraded", "nonces differ"},
		"the word of one":               {audit.State{At: now - 9999, Findings: []audit.Finding{find(audit.OneWord)}}, "mismatch", "degraded", "degraded", "nonces differ (the word of one node; no other could be asked)"},
		"it cannot be read":             {audit.State{At: now, Omitted: 3, Findings: []audit.Finding{find(audit.Damaged)}}, "damaged", "degraded", "degraded", "nonces differ"},
	} {
		t.Run(name, func(t *testing.T) {
			w.T = t
			w.audited(c.state)
			var s api.Status
			r := w.Do(http.MethodGet, statusPath, w.Key)
			servertest.Expect(t, r, 200, "", nil)
			if err := json.Unmarshal(r.Body, &s); err != nil {
				t.Fatal(err)
			}
			a := s.Verification.Audit
			if a.Status != c.word || s.Indexing.Status != c.indexing || len(a.Findings) != len(c.state.Findings) || a.FindingsOmitted != c.state.Omitted || (a.LastMismatch != nil) != (c.says != "") {
				t.Errorf("%+v, %+v", a, s.Indexing)
			}
			if c.says != "" && (*s.Indexing.ReasonCode != "audit" || *s.Indexing.Reason != c.says || a.LastMismatch.BlockNumber != 7) {
				t.Errorf("%s: %s, %+v", *s.Indexing.ReasonCode, *s.Indexing.Reason, a.LastMismatch)
			}
			for i, f := range c.state.Findings {
				if a.Findings[i].Standing != f.Standing.String() || a.Findings[i].BlockNumber != f.Block {
					t.Errorf("finding %+v", a.Findings[i])
				}
			}
			var ready struct {
				Status string
				Chains map[string]string
			}
			r = w.Do(http.MethodGet, "/readyz", "")
			servertest.Expect(t, r, 200, "", nil)
			if err := json.Unmarshal(r.Body, &ready); err != nil || ready.Status != c.ready || (ready.Chains[chainID] == "audit") != (c.says != "") {
				t.Errorf("/readyz says %s %v", r.Body, err)
			}
			w.Clock.Advance(time.Second) // the page is kept for a moment
			page := string(w.Do(http.MethodGet, "/", "", "Accept", "text/html").Body)
			if strings.Contains(page, "contradicts the index") != (c.says != "") || strings.Contains(page, "Indexing has stopped") {
				t.Errorf("the landing page of an index that is %s", c.indexing)
			}
		})
	}
}
