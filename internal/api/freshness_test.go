package api_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"chainexplorer/internal/api"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/servertest"
	"chainexplorer/internal/store"
)

// claims is what a service says of how fresh it is, on every route that says it.
type claims struct {
	status   api.Status
	ready    string // of /readyz
	chain    string // likewise, of the chain
	coverage api.SelectorCoverage
	wide     reply
	summary  string
	assets   api.AssetCoverage
	page     string
}

func (w *world) claims() (c claims) {
	w.T.Helper()
	w.Get("/status", &c.status)
	var ready struct {
		Status string            `json:"status"`
		Chains map[string]string `json:"chains"`
	}
	r := w.Do(http.MethodGet, "/readyz", "")
	if err := json.Unmarshal(r.Body, &ready); err != nil || r.StatusCode != http.StatusOK {
		w.T.Fatalf("readyz: %d %s", r.StatusCode, r.Body)
	}
	c.ready, c.chain = ready.Status, ready.Chains[chainID]
	c.coverage = w.capabilities(w.Key).SelectorCoverage[0]
	_, c.wide = w.ask(wideQuery, w.WalletKey())
	var token api.TokenSummary
	w.Get("/token/"+w.Chain.Tokens(0)[0].Address.String(), &token)
	c.summary = token.SummaryCacheStatus
	var assets api.AssetPage
	w.Get("/address/"+w.Chain.Accounts(0)[0].String()+"/assets/discovery", &assets)
	c.assets = assets.Coverage
	c.page = string(w.Do(http.MethodGet, "/", "").Body)
	return c
}

func (c *claims) fresh(t *testing.T, when string) {
	t.Helper()
	if s := c.status; s.LagBlocks == nil || *s.LagBlocks != 0 || s.Indexing.Status != "current" || s.Indexing.Reason != nil || s.Indexing.ReasonCode != nil {
		t.Errorf("%s: status %+v", when, s.Indexing)
	}
	if c.ready != "ready" || c.chain != "ready" {
		t.Errorf("%s: ready is %s, %s", when, c.ready, c.chain)
	}
	if c.coverage.FreshnessStatus != "current" || !c.coverage.LiveMaintenance || c.coverage.VerifiedAt == nil || c.wide.StatusCode != 200 {
		t.Errorf("%s: coverage %+v, wide search %d", when, c.coverage, c.wide.StatusCode)
	}
	if c.summary != "current" {
		t.Errorf("%s: the summary is %s", when, c.summary)
	}
	if !c.assets.CompleteWithinScope || slices.Contains(c.assets.ReasonCodes, "tail_stale") || c.assets.TargetThroughBlock == nil {
		t.Errorf("%s: discovery %+v", when, c.assets)
	}
	if strings.Contains(c.page, "stalled") {
		t.Errorf("%s: the page says stalled", when)
	}
}

func (c *claims) stale(t *testing.T, when, code string) {
	t.Helper()
	s := c.status
	if s.LagBlocks != nil && code != "indexer_silent" || s.Indexing.Status != "stalled" || s.Indexing.ReasonCode == nil || *s.Indexing.ReasonCode != code || s.Indexing.Reason == nil {
		t.Errorf("%s: lag %v, indexing %+v", when, s.LagBlocks, s.Indexing)
	}
	if c.ready != "degraded" || c.chain != code {
		t.Errorf("%s: ready is %s, %s", when, c.ready, c.chain)
	}
	if c.coverage.FreshnessStatus != "stale" || c.coverage.LiveMaintenance || c.coverage.VerifiedAt != nil {
		t.Errorf("%s: coverage %+v", when, c.coverage)
	}
	if c.wide.StatusCode != 503 || c.wide.Envelope().Code != kernel.CodeEventCoverageUnavailable {
		t.Errorf("%s: a wide search is answered with %d %s", when, c.wide.StatusCode, c.wide.Body)
	}
	if c.summary != "stale" {
		t.Errorf("%s: the summary is %s", when, c.summary)
	}
	if c.assets.CompleteWithinScope || !slices.Contains(c.assets.ReasonCodes, "tail_stale") {
		t.Errorf("%s: discovery %+v", when, c.assets)
	}
	if !strings.Contains(c.page, "stalled") {
		t.Errorf("%s: the page does not say so", when)
	}
}

// TestFreshnessAges: what a node said counts for a while. Nothing changes in the
// index meanwhile, so that no answer may be kept for longer either.
func TestFreshnessAges(t *testing.T) {
	heard := chain.Seen{}
	w := newWorld(t, 60, func(o *options) {
		o.Chains[0].Heard = func() chain.Seen {
			seen := heard
			seen.At = o.Now() // the process lives; its node does not answer any more
			return seen
		}
	})
	never := w.claims()
	never.stale(t, "never heard", "node_silent")
	if s := never.status; s.HeadObservedAt != nil || *s.HeadBlockNumber != 59 {
		t.Errorf("never heard: head %d at %v", *s.HeadBlockNumber, s.HeadObservedAt)
	}

	heard = servertest.Hears(w.Clock.Now, 59)()
	w.Clock.Advance(59 * time.Second)
	young := w.claims()
	young.fresh(t, "after 59 s")
	if got := *young.coverage.VerifiedAt; got != "2026-02-01T00:00:00Z" {
		t.Errorf("verified at %s, but the node was heard a minute ago", got)
	}
	s := young.status
	if *s.HeadObservedAt != "2026-02-01T00:00:00Z" || *s.LatestIndexedBlockTimestampISO != "2026-01-01T00:01:58Z" || *s.Nodes.Healthy != 1 || *s.Nodes.Configured != 1 {
		t.Errorf("status: %+v", s)
	}

	heard.Nodes[0].State = chain.NodeFailing
	w.Clock.Advance(2 * time.Second)
	old := w.claims()
	old.stale(t, "after 61 s", "node_silent")
	if n := old.status.Nodes; *n.Healthy != 0 || n.Items[0].Name != "node-1" || n.Items[0].Status != "failing" || *n.Items[0].LastHeardAt != "2026-02-01T00:00:00Z" {
		t.Errorf("nodes: %+v", n)
	}
	if *old.status.HeadBlockNumber != 59 || *old.status.HeadObservedAt != "2026-02-01T00:00:00Z" {
		t.Errorf("the last head that was heard is forgotten: %+v", old.status)
	}
	if old.assets.TargetThroughBlock != nil {
		t.Errorf("nobody knows how far the chain is, but discovery says %d", *old.assets.TargetThroughBlock)
	}

	w.Clock.Advance(10 * time.Second) // the page is kept for a moment
	heard = servertest.Hears(w.Clock.Now, 59)()
	again := w.claims()
	again.fresh(t, "heard again")

	w.Clock.Advance(10 * time.Second)
	heard.Head.Heard = w.Clock.Now().Add(61 * time.Second)
	ahead := w.claims()
	ahead.stale(t, "a clock that is ahead", "node_silent")
}

// TestFreshnessFromTheStore: a process without a node judges by what the indexer
// left, and by its own clock.
func TestFreshnessFromTheStore(t *testing.T) {
	w := newWorld(t, 60, func(o *options) { o.Chains[0].Heard, o.HeadMaxAge = nil, 5*time.Minute })
	first := w.claims()
	first.stale(t, "an index without a word of nodes", "node_silent")
	if n := first.status.Nodes; n.Configured != nil || n.Healthy != nil || n.ObservedAt != nil || len(n.Items) != 0 {
		t.Errorf("nodes: %+v", n)
	}

	seen := servertest.Hears(w.Clock.Now, 59)()
	seen.Nodes = append(seen.Nodes, chain.SeenNode{State: chain.NodeQuarantined})
	w.leave(chain.SeenKey, seen.Encode())
	w.Clock.Advance(299 * time.Second)
	young := w.claims()
	young.fresh(t, "reported lately")
	if n := young.status.Nodes; *n.Configured != 2 || *n.Healthy != 1 || n.Items[1].Status != "quarantined" || n.Items[1].HeadBlockNumber != nil {
		t.Errorf("nodes: %+v", n)
	}
	w.Clock.Advance(2 * time.Second)
	dead := w.claims()
	dead.stale(t, "a dead indexer", "indexer_silent")
	if n := dead.status.Nodes; *n.Configured != 2 || n.Healthy != nil || n.Items[0].Status != "unknown" || *n.ObservedAt != "2026-02-01T00:00:00Z" {
		t.Errorf("nodes: %+v", n)
	}

	seen.At, seen.Nodes[0].State = w.Clock.Now(), chain.NodeFailing
	w.leave(chain.SeenKey, seen.Encode())
	silent := w.claims()
	silent.stale(t, "an indexer without a node", "node_silent")

	seen = servertest.Hears(w.Clock.Now, 59+21)()
	w.leave(chain.SeenKey, seen.Encode())
	behind := w.claims()
	if s := behind.status; *s.LagBlocks != 21 || s.Indexing.Status != "catching_up" || *s.Indexing.ReasonCode != "behind" || behind.ready != "catching_up" || behind.summary != "stale" ||
		*behind.assets.TargetThroughBlock != 80 || behind.assets.CompleteWithinScope || behind.wide.StatusCode != 503 {
		t.Errorf("behind: %+v", behind)
	}
}

// TestNodeThatWentBack: a node that tells of less than is indexed vouches for
// nothing, however often it answers; one that lags by a few blocks, or lags for a
// moment, does.
func TestNodeThatWentBack(t *testing.T) {
	heard := chain.Seen{}
	w := newWorld(t, 60, func(o *options) { o.Chains[0].Heard = func() chain.Seen { return heard } })
	began := w.Clock.Now()
	heard = servertest.Hears(w.Clock.Now, 49)()
	close := w.claims()
	close.fresh(t, "10 blocks below")

	back := func() { // it told 59 at first, and 48 now
		heard = servertest.Hears(w.Clock.Now, 48)()
		heard.Peaks = []chain.SeenHead{{Heard: began, Number: 59}}
	}
	w.Clock.Advance(59 * time.Second)
	back()
	moment := w.claims()
	moment.fresh(t, "back for a moment")
	if at, verified := *moment.status.HeadObservedAt, *moment.coverage.VerifiedAt; at != "2026-02-01T00:00:00Z" || verified != at {
		t.Errorf("the head was last shown a minute ago, but: observed at %s, verified at %s", at, verified)
	}
	w.Clock.Advance(2 * time.Second)
	back()
	gone := w.claims()
	gone.stale(t, "back for a minute", "node_behind")
	if s := gone.status; *s.HeadObservedAt != "2026-02-01T00:00:00Z" || *s.Nodes.Healthy != 1 || *s.Nodes.Items[0].HeadBlockNumber != 48 ||
		*s.Indexing.Reason != "Block 59 is indexed, but nodes tell of block 48 as their newest." || gone.assets.TargetThroughBlock != nil {
		t.Errorf("status: %+v, discovery %+v", s, gone.assets)
	}
	heard.Peaks = nil
	if s := w.claims().status; s.HeadObservedAt != nil {
		t.Errorf("no node is known to have shown the head, but it was observed at %s", *s.HeadObservedAt)
	}

	// The indexer has a better node than this process.
	w.Clock.Advance(10 * time.Second)
	back()
	seen := servertest.Hears(w.Clock.Now, 59)()
	seen.Head.Heard = seen.Head.Heard.Add(-time.Second)
	w.leave(chain.SeenKey, seen.Encode())
	other := w.claims()
	other.fresh(t, "the indexer's node has it")

	// What the indexer left says so too, and a node in quarantine is no witness.
	seen = servertest.Hears(w.Clock.Now, 48)()
	seen.Nodes = append(seen.Nodes, chain.SeenNode{State: chain.NodeQuarantined, Heard: w.Clock.Now(), Head: 59})
	w.leave(chain.SeenKey, seen.Encode())
	w.Clock.Advance(10 * time.Second)
	lied := w.claims()
	lied.stale(t, "a witness in quarantine", "node_behind")
	w.leave(chain.PeaksKey, chain.Seen{Peaks: []chain.SeenHead{{Heard: w.Clock.Now(), Number: 59}}}.EncodePeaks())
	w.Clock.Advance(10 * time.Second)
	left := w.claims()
	left.fresh(t, "the indexer heard it a moment ago")
}

// leave writes a row as the indexer would.
func (w *world) leave(k store.Key, value []byte) {
	w.T.Helper()
	lease, err := w.Engine.Acquire(w.T.Context(), store.Writer, "test", time.Minute)
	if err != nil {
		w.T.Fatal(err)
	}
	b := &store.Batch{Epoch: lease.Epoch}
	b.Put(k, value)
	if err := w.Engine.Commit(w.T.Context(), b); err != nil {
		w.T.Fatal(err)
	}
	if err := w.Engine.Release(w.T.Context(), lease); err != nil {
		w.T.Fatal(err)
	}
}

// TestNodesThatAreNotBelieved: an index whose nodes gave false answers, or whose
// next block nobody can use, is degraded at once and claims nothing that rests on
// them.
func TestNodesThatAreNotBelieved(t *testing.T) {
	heard := chain.Seen{}
	w := newWorld(t, 60, func(o *options) { o.Chains[0].Heard = func() chain.Seen { return heard } })
	check := func(when, why string) {
		t.Helper()
		c := w.claims()
		if s := c.status.Indexing; s.Status != "degraded" || *s.ReasonCode != "node_faulty" || !strings.HasPrefix(*s.Reason, why) {
			t.Errorf("%s: %+v", when, s)
		}
		if c.chain != "node_faulty" || c.coverage.FreshnessStatus != "stale" || c.wide.StatusCode != 503 || c.summary != "stale" || c.assets.CompleteWithinScope {
			t.Errorf("%s: %+v", when, c)
		}
	}
	heard = servertest.Hears(w.Clock.Now, 59)()
	fresh := w.claims()
	fresh.fresh(t, "a believed node")

	w.leave(chain.HinderedKey, chain.Hindrance{Since: w.Clock.Now(), Block: 60, Reason: "Block 60 from node-1 cannot be read."}.Encode())
	w.Clock.Advance(10 * time.Second)
	heard = servertest.Hears(w.Clock.Now, 60)()
	check("a block that cannot be used", "Block 60 from")
	heard.Nodes[0].State = chain.NodeQuarantined
	check("the same of a node in quarantine", "Block 60 from")
	if s := w.claims().status; s.LagBlocks != nil || *s.Nodes.Healthy != 0 {
		t.Errorf("%+v", s)
	}

	heard.Nodes[0].State = chain.NodeHealthy
	w.leave(chain.HinderedKey, chain.Hindrance{Since: w.Clock.Now(), Block: 60, Reason: chain.NotStored("Block 60")}.Encode())
	if s := w.claims().status; *s.Indexing.ReasonCode != "storage" || s.Indexing.Status != "degraded" || !strings.HasPrefix(*s.Indexing.Reason, "Block 60 could not be stored") {
		t.Errorf("a block that is not stored: %+v", s.Indexing)
	}

	heard.Nodes[0].State = chain.NodeQuarantined
	check("the same, and a node in quarantine", "No node is believed")
	w.leave(chain.HinderedKey, chain.Hindrance{}.Encode())
	check("a node in quarantine", "No node is believed")
	heard.Nodes = append(heard.Nodes, chain.SeenNode{State: chain.NodeHealthy, Heard: w.Clock.Now(), Head: 59})
	heard.Head.Number = 59
	mixed := w.claims()
	mixed.fresh(t, "another node is believed")
}
