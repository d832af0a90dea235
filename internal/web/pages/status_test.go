package pages_test

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"chainexplorer/internal/api"
	"chainexplorer/internal/servertest"
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
