package accountpages_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"chainexplorer/internal/account"
	"chainexplorer/internal/servertest"
)

// TestUsage holds the numbers of each window against what was asked for.
func TestUsage(t *testing.T) {
	w := newWorld(t)
	k := w.Issue().Key
	w.Clock.Advance(12*time.Hour + 30*time.Minute)
	now := w.Clock.Now()
	w.record(k, now.Add(-20*24*time.Hour), 1000, 1, "batch")
	w.record(k, now.Add(-3*24*time.Hour), 200, 0, "heavy")
	w.record(k, now.Add(-2*time.Hour), 30, 3, "light")
	w.record(k, now, 7, 7, "heavy")
	w.flush()
	other, space := w.Stranger("other", account.Developer, account.Limits{})
	_ = other
	theirs, _, err := w.Repo.ListKeys(t.Context(), space.ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	w.record(theirs[0], now, 555, 0, "light")
	w.flush()
	s := w.SignIn("ada", w.Space)
	for query, want := range map[string][]string{
		"":             {`<dd class="big">37</dd>`, `<dd class="big">10</dd>`, "27.0%", "since 2026-01-31 13:00 UTC", "37 requests, 10 of them failed."},
		"?window=24h":  {`<dd class="big">37</dd>`, "per hour", "2026-02-01 12:00 UTC: 7 requests, 7 failed"},
		"?window=7d":   {`<dd class="big">237</dd>`, "per six hours", "2026-01-29 12:00 UTC: 200 requests, 0 failed"},
		"?window=30d":  {`<dd class="big">1,237</dd>`, `<dd class="big">11</dd>`, "per day", "2026-01-12 00:00 UTC: 1,000 requests, 1 failed", "The busiest day began at 2026-01-12 00:00 UTC"},
		"?window=nine": {`<dd class="big">37</dd>`},
	} {
		page := w.page(s, "/account/usage"+query)
		for _, text := range append(want, k.MaskedKey, "<svg role=\"img\"", "<details><summary>The same numbers as a table", "Keys that asked for nothing: 2") {
			if !strings.Contains(page, text) {
				t.Errorf("%q lacks %s", query, text)
			}
		}
		if strings.Contains(page, ">555<") || strings.Contains(page, theirs[0].PublicID) {
			t.Errorf("%q shows another workspace's", query)
		}
	}
	page := w.page(s, "/account/usage?window=30d")
	if got := strings.Count(page, `<rect class="hit"`); got != 30 {
		t.Errorf("%d days", got)
	}
	// Counts by class, and the newest requests: a hundred of each, of which ten are in sight.
	for _, want := range []string{
		`<tr><th scope="row">light</th><td class="num" data-label="Requests">30</td><td class="num" data-label="Failed">3 <span class="soft">(10.0%)</span></td>`,
		`<tr><th scope="row">heavy</th><td class="num" data-label="Requests">207</td>`,
		`<tr><th scope="row">batch</th><td class="num" data-label="Requests">1,000</td><td class="num" data-label="Failed">1 <span class="soft">(0.1%)</span></td>`,
		"<summary>90 more</summary>", `<td class="num bad" data-label="Status">404</td>`, "12 ms", "There were more in this time.",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
}

// TestUsageOfNothing: nothing is shown as nothing.
func TestUsageOfNothing(t *testing.T) {
	w := newWorld(t)
	page := w.page(w.ada, "/account/usage")
	for _, want := range []string{`<dd class="big">0</dd>`, "– of them", "No key asked for anything in this time.", "There is none in this time.", "0 requests, 0 of them failed."} {
		if !strings.Contains(page, want) {
			t.Errorf("it lacks %s", want)
		}
	}
}

// TestUsageOfRealRequests: what the API answers is what the page counts.
func TestUsageOfRealRequests(t *testing.T) {
	w := newWorld(t)
	key, _ := w.issue(w.ada)
	for range 3 {
		w.status(key)
	}
	r := w.Do(http.MethodGet, "/v1/"+servertest.ChainID+"/block/999999", key)
	if r.StatusCode != 404 {
		t.Fatal(r.StatusCode)
	}
	w.flush()
	page := w.page(w.ada, "/account/usage")
	for _, want := range []string{`<dd class="big">4</dd>`, `<dd class="big">1</dd>`, "/v1/{chain}/status", r.Header.Get("X-Request-Id"), fmt.Sprintf(">%s<", "25.0% of them")} {
		if !strings.Contains(page, want) {
			t.Errorf("it lacks %s", want)
		}
	}
}
