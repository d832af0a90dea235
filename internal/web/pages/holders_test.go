package pages_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"chainexplorer/internal/api"
	"chainexplorer/internal/servertest"
)

// partner reads a route with the key of a partner.
func (w *world) partner(path string, out any) int {
	w.T.Helper()
	r := w.Do(http.MethodGet, "/v1/"+chainID+path, w.Partner)
	if r.StatusCode == http.StatusOK {
		if err := json.Unmarshal(r.Plain(), out); err != nil {
			w.T.Fatal(err)
		}
	}
	return r.StatusCode
}

// TestHolderPages compares what people see of the holders and the pools of tokens with what
// partners read, and has words for a token whose holders nobody counts.
func TestHolderPages(t *testing.T) {
	w := &world{servertest.New(t, 45)}
	w.RunJobs()
	counted, uncounted, pooled := 0, 0, 0
	for _, x := range w.Chain.Tokens(44) {
		at := "/token/" + x.Address.String()
		var h api.HolderPage
		page := w.page(at + "/holders")
		got := values(page)
		switch status := w.partner(at+"/holders?limit=50", &h); status {
		case http.StatusOK:
			want := []string{strconv.FormatUint(h.Snapshot.AsOfBlock, 10)}
			if h.HolderBalanceTotalRaw != nil {
				counted++
				want = append(want, *h.HolderBalanceTotalRaw, strconv.FormatUint(h.HolderCount, 10))
			}
			for _, i := range h.Items {
				want = append(want, i.Address.String(), i.BalanceRaw, strconv.FormatUint(i.Rank, 10), strconv.FormatUint(i.LastUpdatedBlock, 10))
			}
			for _, v := range want {
				if !slices.Contains(got, v) {
					t.Errorf("%s: the page of holders does not show %s", at, v)
				}
			}
			if strings.Contains(page, ">certified census<") != (h.Certification.Status == "certified") {
				t.Errorf("%s: certification is %s and the page says otherwise", at, h.Certification.Status)
			}
		case http.StatusUnprocessableEntity:
			uncounted++
			if !strings.Contains(page, "are not counted") {
				t.Errorf("%s: no words for a token without a census: %s", at, clip(page))
			}
		default:
			t.Errorf("%s: %d", at, status)
		}
		var p api.TokenPools
		if status := w.partner(at+"/markets/pools?limit=50", &p); status != http.StatusOK {
			t.Fatalf("%s: pools: %d", at, status)
		}
		got = values(w.page(at + "/pools"))
		for _, i := range p.Items {
			pooled++
			for _, v := range []string{i.PoolAddress.String(), i.PairedTokenAddress.String(), strconv.FormatUint(i.CreatedAtBlock, 10)} {
				if !slices.Contains(got, v) {
					t.Errorf("%s: the page of pools does not show %s", at, v)
				}
			}
		}
	}
	if counted == 0 || uncounted == 0 || pooled == 0 {
		t.Errorf("%d counted, %d not, %d pools: too little was looked at", counted, uncounted, pooled)
	}
}
