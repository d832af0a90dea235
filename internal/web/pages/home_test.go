package pages_test

import (
	"fmt"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strconv"
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

// box is one of the ribbon: how many marks it has reached, its block, what it says, and how
// high it is filled.
var box = regexp.MustCompile(`<li class="m(\d)" data-key="(\d+)"><a href="[^"]*" title="([^"]*)">.*?height="([\d.]+)" rx="5"`)

// TestOverviewIsTrue holds what the first page draws against the chain.
func TestOverviewIsTrue(t *testing.T) {
	w := sharedWorld(t, 60)
	page := w.look("/", http.StatusOK)
	most, drawn := 1, box.FindAllStringSubmatch(page, -1)
	for n := uint64(48); n < 60; n++ {
		most = max(most, len(w.Chain.BlockAt(n).Transactions))
	}
	if len(drawn) != 12 {
		t.Fatalf("%d boxes", len(drawn))
	}
	for i, got := range drawn {
		n := uint64(59 - i)
		txs, tier, marks := len(w.Chain.BlockAt(n).Transactions), "accepted on L2", "1"
		if n <= 49 {
			tier, marks = "finalized", "2"
		}
		if got[1] != marks || got[2] != fmt.Sprint(n) || !strings.HasPrefix(got[3], fmt.Sprintf("Block %d, %d transaction", n, txs)) || !strings.HasSuffix(got[3], ", "+tier) {
			t.Errorf("%q, want block %d of %d transactions, %s", got[1:], n, txs, tier)
		}
		if high, err := strconv.ParseFloat(got[4], 64); err != nil || math.Abs(high-56*float64(txs)/float64(most)) > 0.1 {
			t.Errorf("block %d: %s of 56 filled by %d of %d transactions", n, got[4], txs, most)
		}
	}
	total := 0
	for n := range uint64(59) {
		total += len(w.Chain.BlockAt(n + 1).Transactions)
	}
	rate := float64(total) / float64(w.Chain.BlockAt(59).Timestamp-w.Chain.BlockAt(0).Timestamp)
	price := w.Chain.BlockAt(59).L2GasPrice.InFri.Big().String()
	settled := regexp.MustCompile(`>Accepted on L2</a>.*?up to 59<(?s:.*?)>Finalized</a>.*?up to 49<(?s:.*?)>Accepted on L1</a>.*?up to 29<`)
	for _, want := range []string{
		`data-value="` + strconv.FormatFloat(rate, 'f', -1, 64) + `"`,
		fmt.Sprintf(`<span data-value="%s" title="%s">%s.%s G</span>`, price, price, price[:len(price)-9], price[len(price)-9:len(price)-7]),
		"none since this index was begun",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if !settled.MatchString(page) {
		t.Error("the page tells the tiers otherwise")
	}
	numbers := regexp.MustCompile(`<tr><th scope="row">([\d,]+)</th>`).FindAllStringSubmatch(page, -1)
	if len(numbers) != 2*60 || numbers[0][1] != "0" || numbers[59][1] != "59" {
		t.Errorf("the numbers behind the lines have %d rows: %v", len(numbers), numbers)
	}
}

// TestOverviewOfAYoungChain: what is not there yet is not zero, and forks are told.
func TestOverviewOfAYoungChain(t *testing.T) {
	w := ownWorld(t, 5)
	page := w.look("/", http.StatusOK)
	for _, want := range []string{`Finalized</span><span class="unseen">: not yet. </span>`, `Accepted on L1</span><span class="unseen">: not known. </span>`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	w.Chain.Fork(3)
	w.Chain.Extend(1)
	w.CatchUp()
	w.Clock.Advance(time.Second)
	if page := w.look("/", http.StatusOK); !strings.Contains(page, `data-value="1">1</a>, 3 blocks deep; 1 in all`) {
		t.Error("the page does not tell of the fork")
	}
	first := ownWorld(t, 1).look("/", http.StatusOK)
	if !strings.Contains(first, "The newest blocks have one time.") {
		t.Error("one block has a throughput")
	}
}
