package pages_test

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"chainexplorer/internal/api"
	"chainexplorer/internal/servertest"
	"chainexplorer/internal/web/pages"
)

// TestStatusPage compares the page with the API's answer, to the number.
func TestStatusPage(t *testing.T) {
	w := &world{servertest.New(t, 30)}
	var s api.Status
	w.Get("/status", &s)
	page := w.look("/status", http.StatusOK)
	got := values(page)
	for name, v := range map[string]string{
		"head": strconv.FormatUint(*s.LatestIndexedBlockNumber, 10), "digest": *s.IndexDigest, "transactions": strconv.FormatUint(*s.TotalTransactions, 10),
		"events": strconv.FormatUint(*s.TotalEvents, 10), "verified": strconv.FormatUint(s.Verification.VerifiedBlocks, 10),
	} {
		if !slices.Contains(got, v) {
			t.Errorf("the page does not show the %s %s", name, v)
		}
	}
	if s.Indexing.Status != "current" || !strings.Contains(page, `<span class="tag good">current</span>`) {
		t.Errorf("%s: %s", s.Indexing.Status, clip(page))
	}
}

// TestStatusForks: forks are drawn with how deep they were, and of those that nobody saw
// only the number is claimed.
func TestStatusForks(t *testing.T) {
	w := &world{servertest.New(t, 30)}
	look := func() string {
		w.Clock.Advance(2 * time.Second) // the page is kept for a moment
		return w.look("/status", http.StatusOK)
	}
	if page := look(); strings.Contains(page, "undone above") || !strings.Contains(page, "none since this index was begun") {
		t.Errorf("a fork before there was one: %s", clip(page))
	}
	fork := func(depth int) {
		w.Chain.Fork(depth)
		w.Chain.Extend(1)
		w.CatchUp()
	}
	fork(3)
	if page := look(); strings.Count(page, "undone above") != 1 || !strings.Contains(page, "3 blocks undone above block 26") || !strings.Contains(page, "seen 2026-02-01") {
		t.Errorf("after a fork: %s", page[strings.Index(page, "Forks</h3>"):])
	}
	fork(2)
	fork(4)
	page := look()
	if strings.Count(page, "undone above") != 2 || !strings.Contains(page, "4 blocks undone above block 27") || !strings.Contains(page, "1 more fork before it, of which only the number is known") {
		t.Errorf("after two more: %s", page[strings.Index(page, "Forks</h3>"):])
	}
	if at, before := strings.Index(page, "4 blocks undone"), strings.Index(page, "3 blocks undone"); at > before {
		t.Error("the newest fork is not the first")
	}
}

// TestStatusJobs: jobs are told of by the rows that they wrote, and by what this process
// knows of them; a job that stands by claims nothing.
func TestStatusJobs(t *testing.T) {
	failed := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	w := &world{servertest.New(t, 30, func(o *servertest.Options) {
		o.Jobs = func(chain string) []pages.Work {
			return []pages.Work{{Name: "pools", Held: true, Done: failed.Add(time.Hour), Failed: failed, Failures: 7}, {Name: "holder-census"}, {Name: "audit", Held: true}, {Name: "verification", Held: true}, {Name: "webhook", Held: true}}
		}
	})}
	s := w.readsOf("/status")
	rows := map[string]map[string][]string{}
	for _, row := range s.rows["chain-1"] {
		if name := row["Job"]; name != nil {
			rows[name[0]] = row
		}
	}
	for name, want := range map[string][4]string{
		"token-metadata": {"29", "0", "not by this process", "unknown"},
		"pools":          {"19", "0", "2026-01-31T13:00:00Z", "7 2026-01-31T12:00:00Z"},
		"privacy-pool":   {"19", "0", "not by this process", "unknown"},
		"holder-census":  {"19", "0", "not by this process", "unknown"},
		"audit":          {"–", "–", "not yet", "0"},
	} {
		for i, label := range []string{"Has come to", "Blocks to go", "Last done", "Failures"} {
			if got := strings.Join(rows[name][label], " "); got != want[i] {
				t.Errorf("%s: %s is %q, want %q", name, label, got, want[i])
			}
		}
	}
	if len(rows) != 7 {
		t.Errorf("%d jobs", len(rows))
	}
	for name, row := range rows {
		if what := strings.Join(row["What it does"], " "); len(what) < 5 {
			t.Errorf("of %s the page says that it does %q", name, what)
		}
	}
	// This process has answered next to nothing yet, and says so.
	for _, row := range s.rows["timings"] {
		if row["Half within"][0] != "too few to tell" || row["99 of 100 within"][0] != "too few to tell" {
			t.Errorf("it claims to know how fast it is: %v", row)
		}
	}
	if len(s.rows["timings"]) != 5 || len(s.facts["Compared with ground truth"]) != 3 {
		t.Errorf("timings %v, evidence %q", s.rows["timings"], s.facts["Compared with ground truth"])
	}
	for range 25 {
		w.page("/block/3")
	}
	w.Clock.Advance(2 * time.Second)
	for _, row := range w.readsOf("/status").rows["timings"] {
		if row["Requests"][0] == "pages" && (row["How many"][0] != "26" || row["Half within"][0] != "100") {
			t.Errorf("after 25 pages: %v", row)
		}
	}
	// Nothing of where nodes and stores are is told.
	for _, secret := range []string{strings.TrimPrefix(w.URL, "http://"), "127.0.0.1", "localhost"} {
		if strings.Contains(s.html, secret) {
			t.Errorf("the page tells %s", secret)
		}
	}
}

// TestTiersFollowOneAnother: what L1 accepted is finalized, whatever its depth, on the bar as
// in the foot.
func TestTiersFollowOneAnother(t *testing.T) {
	const depth = 33
	w := &world{servertest.New(t, 36, func(o *servertest.Options) { o.Chains[0].Depth = depth })}
	l1, ok := w.Chain.L1Head()
	if !ok || l1 <= 35-depth {
		t.Fatalf("L1 accepted up to %d: the test tells nothing", l1)
	}
	accepted := strconv.FormatUint(l1, 10)
	if page := w.look("/"+servertest.ChainID+"/txs", http.StatusOK); !strings.Contains(page, `finalized up to <span data-value="`+accepted+`"`) || !strings.Contains(page, `accepted on L1 up to <span data-value="`+accepted+`"`) {
		t.Error(page[strings.Index(page, "<footer>"):])
	}
	if page := w.look("/status", http.StatusOK); strings.Count(page, "up to "+accepted) < 2 {
		t.Errorf("the bar: %s", clip(page))
	}
}
