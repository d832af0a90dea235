package pages_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"chainexplorer/internal/api"
	"chainexplorer/internal/servertest"
)

// ownWorld is for tests that change what they look at.
func ownWorld(t *testing.T, n int, change ...func(*servertest.Options)) *world {
	t.Helper()
	return &world{servertest.New(t, n, change...)}
}

// TestOverview compares the first page, and that of the chain, with the API.
func TestOverview(t *testing.T) {
	w := sharedWorld(t, 60)
	var s api.Status
	w.Get("/status", &s)
	var txs api.TxPage
	w.Get("/txs?limit=8", &txs)
	for _, path := range []string{"/", "/" + chainID} {
		page := w.look(path, http.StatusOK)
		want := []string{fmt.Sprint(*s.LatestIndexedBlockNumber), *s.LatestIndexedBlockTimestampISO, fmt.Sprint(*s.TotalTransactions), *s.IndexDigest, fmt.Sprint(s.Verification.VerifiedBlocks)}
		for _, tx := range txs.Items {
			want = append(want, tx.TxHash.String())
		}
		got := values(page)
		for _, v := range want {
			if !slices.Contains(got, v) {
				t.Errorf("%s does not show %s", path, v)
			}
		}
		for _, text := range []string{fmt.Sprintf(`href="/%s/block/%d"`, chainID, *s.FinalizedBlockNumber), fmt.Sprintf(`href="/%s/block/%d"`, chainID, *s.LatestL1AcceptedBlockNumber),
			`data-key="59"`, `data-key="48"`, `data-head="` + s.HeadBlockHash.String() + `"`, "Price of L2 gas", "Transactions of each block"} {
			if !strings.Contains(page, text) {
				t.Errorf("%s lacks %s", path, text)
			}
		}
	}
	first, last := w.Chain.BlockAt(0), w.Chain.BlockAt(59)
	total := -len(first.Transactions)
	for n := range uint64(60) {
		total += len(w.Chain.BlockAt(n).Transactions)
	}
	rate := fmt.Sprintf("%.2f</span>", float64(total)/float64(last.Timestamp-first.Timestamp))
	if page := w.look("/", http.StatusOK); !strings.Contains(page, rate) {
		t.Errorf("the page does not show %s transactions a second", rate)
	}
}

// TestHomeFollowsTheChain: the first page is kept for a second, and no longer.
func TestHomeFollowsTheChain(t *testing.T) {
	w := ownWorld(t, 30)
	before := w.look("/", http.StatusOK)
	w.Chain.Extend(1)
	w.CatchUp()
	if again := w.look("/", http.StatusOK); again != before {
		t.Error("the page changed within its second")
	}
	w.Clock.Advance(time.Second)
	if after := w.look("/", http.StatusOK); !strings.Contains(after, `data-key="30"`) {
		t.Error("the page does not show the new block")
	}
}

// TestOverviewSaysWhatIsWrong: an index that lags says so, on the first page, too.
func TestOverviewSaysWhatIsWrong(t *testing.T) {
	w := ownWorld(t, 12, func(o *servertest.Options) { o.Chains[0].Heard = servertest.Hears(o.Now, 1_234_567) })
	for _, path := range []string{"/", "/" + chainID} {
		page := w.look(path, http.StatusOK)
		for _, want := range []string{"catching up", "1,234,556 blocks"} {
			if !strings.Contains(page, want) {
				t.Errorf("%s lacks %q", path, want)
			}
		}
	}
}
