package pages_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"chainexplorer/internal/explorer/class"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/servertest"
)

// TestSettledPagesAreConditional: the page of a block or a transaction that L1 accepted is
// the same bytes however far the chain goes on, whether or not its tokens are known, and
// whoever has them is told so.
func TestSettledPagesAreConditional(t *testing.T) {
	w := &world{servertest.New(t, 60)}
	var paths []string
	unknown := 0
	accepted, _ := w.Chain.L1Head()
	for n := accepted - 15; n <= accepted; n++ {
		b := w.Chain.BlockAt(n)
		paths = append(paths, "/block/"+b.Hash.String(), "/tx/"+b.Transactions[0].Hash.String(), "/tx/"+b.Transactions[len(b.Transactions)-1].Hash.String())
	}
	had := map[string]string{}
	for _, path := range paths {
		r := w.Do(http.MethodGet, "/"+chainID+path, "")
		if had[path] = r.Header.Get("ETag"); r.StatusCode != http.StatusOK || had[path] == "" {
			t.Fatalf("%s: %d %v", path, r.StatusCode, r.Header)
		}
		if strings.Contains(string(r.Plain()), "Names are those that are known now.") {
			unknown++
		}
	}
	if unknown == 0 {
		t.Error("no page has a token whose name may still come")
	}
	w.Chain.Extend(5)
	w.CatchUp()
	for _, path := range paths {
		if r := w.Do(http.MethodGet, "/"+chainID+path, "", "If-None-Match", had[path]); r.StatusCode != http.StatusNotModified || len(r.Plain()) != 0 {
			t.Errorf("%s five blocks later: %d, %s was %s", path, r.StatusCode, r.Header.Get("ETag"), had[path])
		}
	}
	// A newer one says how far the chain is, which changes.
	head, _ := w.Chain.Head()
	path := "/" + chainID + "/block/" + w.Chain.BlockAt(head-1).Hash.String()
	r := w.Do(http.MethodGet, path, "")
	w.Chain.Extend(1)
	w.CatchUp()
	if again := w.Do(http.MethodGet, path, "", "If-None-Match", r.Header.Get("ETag")); again.StatusCode != http.StatusOK {
		t.Errorf("the page of a new block is said to be the same: %d", again.StatusCode)
	}
}

// TestPagesOfNamesAreKept: the pages of an address and of a token, which tell of names, are
// sent again as they are while nothing is written, and made anew after anything was, be it no
// block.
func TestPagesOfNamesAreKept(t *testing.T) {
	reg := prometheus.NewRegistry()
	w := &world{servertest.New(t, 30, func(o *servertest.Options) { o.Metrics = kernel.NewMetrics(reg) })}
	for i, path := range []string{"/token/" + w.Chain.Tokens(29)[0].Address.String(), "/address/" + w.Chain.BlockAt(20).Transactions[0].Sender.String()} {
		first, before := w.page(path), keptOnes(t, reg)
		if again := w.page(path); again != first || keptOnes(t, reg) != before+1 {
			t.Errorf("%s was made twice", path)
		}
		w.Describe(felt.FromUint64(uint64(i+1)), &class.Interface{})
		if w.page(path); keptOnes(t, reg) != before+1 {
			t.Errorf("%s was not made anew after something was written", path)
		}
	}
}

// keptOnes is how many requests were answered with what was kept.
func keptOnes(t *testing.T, reg *prometheus.Registry) float64 {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == "chainexplorer_api_kept_answers_total" {
			return f.GetMetric()[0].GetCounter().GetValue()
		}
	}
	t.Fatal("nobody counts what was kept")
	return 0
}
