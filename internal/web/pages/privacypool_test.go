package pages_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"chainexplorer/internal/api"
	"chainexplorer/internal/registry"
	"chainexplorer/internal/servertest"
)

// TestPrivacyPool compares the page with the routes of the API, which are for everybody.
func TestPrivacyPool(t *testing.T) {
	w := sharedWorld(t, longChain)
	var d api.PrivacyDashboard
	w.Get("/privacy-pool/dashboard", &d)
	if len(d.Tvl.Assets) < 2 || len(d.RecentEvents) == 0 {
		t.Fatalf("the pool has %d tokens and %d events", len(d.Tvl.Assets), len(d.RecentEvents))
	}
	page := w.page("/privacy-pool")
	got := values(page)
	for i := range d.Tvl.Assets {
		a := &d.Tvl.Assets[i]
		for _, v := range []string{a.Token.Address.String(), a.ProtectedAmountRaw, a.DepositAmountRaw, a.WithdrawalAmountRaw} {
			if !slices.Contains(got, v) {
				t.Errorf("the page does not show %s", v)
			}
		}
		if !strings.Contains(page, "?token="+a.Token.Address.String()) {
			t.Errorf("no chart of %s", a.Token.Address)
		}
	}
	for i := range d.RecentEvents {
		if !slices.Contains(got, d.RecentEvents[i].TxHash.String()) {
			t.Errorf("the page does not show the event in %s", d.RecentEvents[i].TxHash)
		}
	}
	for _, want := range []string{"<summary>complete</summary>", `id="supply-title"`, `id="days-title"`, `id="wallets-title"`, "Which deposit a withdrawal came from"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	// The chart has the amount of the API at its end, exactly.
	for i := range d.Tvl.Assets {
		a := &d.Tvl.Assets[i]
		if a.ProtectedAmount == nil || *a.ProtectedAmount == "0" {
			continue
		}
		chart := w.page("/privacy-pool?range=all&token=" + a.Token.Address.String())
		if plain := strings.ReplaceAll(chart, ",", ""); !strings.Contains(plain, *a.ProtectedAmount) {
			t.Errorf("the chart of %s does not end at %s", a.Token.Address, *a.ProtectedAmount)
		}
	}
	for path, status := range map[string]int{"/privacy-pool?token=x": 400, "/privacy-pool/none": 404, "/privacy-pool/deposits?cursor=AAAA": 400} {
		if page := w.look("/"+chainID+path, status); !strings.Contains(page, "/docs/") {
			t.Errorf("%s: no help in %s", path, clip(page))
		}
	}
}

var poolTx = regexp.MustCompile(`data-label="Transaction"><a [^>]*data-value="(0x[0-9a-f]+)"`)

// TestPrivacyPoolLists walks the lists to their ends and finds what the API lists.
func TestPrivacyPoolLists(t *testing.T) {
	w := sharedWorld(t, longChain)
	long := 0
	for list, event := range map[string]string{"deposits": "deposit", "withdrawals": "withdrawal", "open-notes": "open_note_deposited", "events": ""} {
		var want []string
		query, cursor := "?limit=100&event="+event, ""
		if event == "" {
			query = "?limit=100"
		}
		for more := true; more; {
			var p api.PrivacyEventPage
			w.Get("/privacy-pool/events"+query+cursor, &p)
			for i := range p.Items {
				want = append(want, p.Items[i].TxHash.String())
			}
			if more = p.NextCursor != nil; more {
				cursor = "&cursor=" + *p.NextCursor
			}
		}
		if got := w.walk("/"+chainID+"/privacy-pool/"+list, poolTx); !slices.Equal(got, want) || len(got) == 0 {
			t.Errorf("%s: %d rows, want %d", list, len(got), len(want))
		}
		long = max(long, len(want))
	}
	if long <= 25 {
		t.Errorf("no list has two pages")
	}
}

// TestNoPrivacyPool: where no pool is known nothing is zero.
func TestNoPrivacyPool(t *testing.T) {
	none, err := registry.New(registry.Entries{})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{servertest.New(t, 12, func(o *servertest.Options) { o.Chains[0].Registry = none })}
	page := w.page("/privacy-pool")
	for _, want := range []string{"<summary>not available</summary>", "Nothing is known, which is not zero", "knows no privacy pool on this chain"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if got := values(page); slices.Contains(got, "0") {
		t.Errorf("something unknown is zero: %q", got)
	}
}

var asks = regexp.MustCompile(`ask\[[^\]]*\]\([a-zA-Z.]+, "([A-Za-z]+)"`)

// TestPagesAskOpenRoutes: every route that a page asks is for everybody, or may be shown. The kernel
// refuses others when they are asked; this finds those that no test asks.
func TestPagesAskOpenRoutes(t *testing.T) {
	w := sharedWorld(t, 40)
	open := map[string]bool{}
	for _, r := range w.Server.Entries() {
		open[r.ID] = r.Open() || r.Shown
	}
	found := 0
	for name, text := range sources(t) {
		for _, m := range asks.FindAllStringSubmatch(text, -1) {
			found++
			if !open[m[1]] {
				t.Errorf("%s asks %s, which is not for everybody", name, m[1])
			}
		}
		if n, all := len(asks.FindAllString(text, -1)), strings.Count(text, "ask["); n != all && !strings.Contains(text, "func ask[") {
			t.Errorf("%s asks %d routes by name, of %d", name, n, all)
		}
	}
	if found < 5 || open["screenTokenHolders"] {
		t.Errorf("%d routes are asked", found)
	}
}

// sources are the files of the package, without its tests.
func sources(t *testing.T) map[string]string {
	t.Helper()
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		out[name] = string(text)
	}
	return out
}
