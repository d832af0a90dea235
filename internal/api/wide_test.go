package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"chainexplorer/internal/api"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/servertest"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/store"
)

var (
	wideSelector = felt.Selector("Transfer")
	wideQuery    = "topic0=" + wideSelector.String() + "&topic1=0x0&from_block=0&to_block=20000"
)

// ask sends a search and reads the page, or the failure.
func (w *world) ask(query, key string) (p eventPage, r reply) {
	w.T.Helper()
	r = w.Do(http.MethodGet, "/v1/"+chainID+"/events?"+query, key)
	if err := json.Unmarshal(r.Body, &p); err != nil {
		w.T.Fatal(err)
	}
	return p, r
}

// capabilities reads what is said of event search.
func (w *world) capabilities(key string) (out api.EventFullRange) {
	w.T.Helper()
	r := w.Do(http.MethodGet, "/v1/meta/capabilities", key)
	var c api.Capabilities
	if err := json.Unmarshal(r.Body, &c); err != nil {
		w.T.Fatal(err)
	}
	return c.EventSearch.FullRange
}

// TestWideRanges is for wallet workspaces.
func TestWideRanges(t *testing.T) {
	w := sharedWorld(t, 60) // finalized through 49
	key := w.WalletKey()
	p, r := w.ask(wideQuery+"&limit=100", key)
	number := func(n uint64) *uint64 { return &n }
	want := &api.RangeCoverage{Requested: api.Interval{FromBlock: 0, ToBlock: 20000}, Completed: &api.Interval{FromBlock: 0, ToBlock: 59}, Certified: &api.Interval{FromBlock: 0, ToBlock: 49},
		CoverageDiagnostics: api.CoverageDiagnostics{FreshnessStatus: "current", SourceLowWaterBlock: number(0), SourceHighWaterBlock: number(59), SourceContiguousLowWaterBlock: number(0),
			SourceContiguousHighWaterBlock: number(59), LagBlocks: number(10), OpenEnded: true, LiveMaintenance: true}}
	if r.StatusCode != 200 || !reflect.DeepEqual(p.RangeCoverage, want) {
		t.Errorf("wide search: %d %.600s", r.StatusCode, r.Body)
	}
	// What a wallet was told is not served to others.
	if _, r := w.ask(wideQuery+"&limit=100", w.Key); r.StatusCode != 400 {
		t.Errorf("an ordinary key got %d %.200s", r.StatusCode, r.Body)
	}
	for query, code := range map[string]kernel.Code{
		"topic0=0x1234&topic1=0x0&from_block=0&to_block=20000":                                             kernel.CodeFullRangeUnsupported,
		"topic0=0x1234&topic1=0x0&from_block=0&to_block=20000&topic0=" + wideSelector.String():             kernel.CodeFullRangeUnsupported,
		"topic0=" + wideSelector.String() + "&topic9=0x0&from_block=0&to_block=20000":                      kernel.CodeFullRangeUnsupported,
		"topic0=" + wideSelector.String() + "&topic1=0x0&topic9=0x0&from_block=0&to_block=20000":           kernel.CodeFullRangeUnsupported,
		"topic0=" + wideSelector.String() + "&topic1=0x0&from_block=60&to_block=20200":                     kernel.CodeEventCoverageUnavailable,
		"topic0=" + wideSelector.String() + "&topic1=0x0&from_block=9223372036854&to_block=92233720368547": kernel.CodeEventCoverageUnavailable,
	} {
		if _, r := w.ask(query, key); r.Envelope().Code != code || r.Envelope().MaxServableToBlock != nil {
			t.Errorf("%s: %d %s", query, r.StatusCode, r.Body)
		}
	}
	if p, r := w.ask("topic0="+wideSelector.String()+"&topic1=0x0&from_block=59&to_block=20200", key); r.StatusCode != 200 || p.RangeCoverage.Completed.FromBlock != 59 || p.RangeCoverage.Certified != nil {
		t.Errorf("above the certificate: %d %s", r.StatusCode, r.Body)
	}
	if full := w.capabilities(key); !full.Entitled || full.CoverageAvailability != "available" || full.SelectorCoverage[0].Status != "ready" ||
		full.SelectorCoverage[0].VerifiedAt == nil || *full.SelectorCoverage[0].ThroughBlock != 49 || w.capabilities(w.Key).Entitled {
		t.Errorf("capabilities say %+v", full)
	}
}

// TestWideRangesUncovered is about certificates that cannot be relied on.
func TestWideRangesUncovered(t *testing.T) {
	refused := func(w *world, through *uint64) {
		t.Helper()
		_, r := w.ask(wideQuery, w.WalletKey())
		if e := r.Envelope(); r.StatusCode != 503 || r.Header.Get("Retry-After") == "" || e.Code != kernel.CodeEventCoverageUnavailable || !reflect.DeepEqual(e.MaxServableToBlock, through) {
			t.Errorf("%d %s", r.StatusCode, r.Body)
		}
		if through == nil {
			return
		}
		// As far as the refusal says, it can be asked.
		if _, r := w.ask(strings.Replace(wideQuery, "20000", fmt.Sprint(*through), 1), w.WalletKey()); r.StatusCode != 200 {
			t.Errorf("through %d: %d %s", *through, r.StatusCode, r.Body)
		}
	}
	young := newWorld(t, 5) // nothing is finalized
	refused(young, nil)
	if full := young.capabilities(young.Key); full.CoverageAvailability != "unavailable" || full.SelectorCoverage[0].Status != "building" || full.SelectorCoverage[0].VerifiedAt != nil {
		t.Errorf("capabilities of a young index: %+v", full)
	}
	through := uint64(49)
	behind := newWorld(t, 60, func(o *options) { o.Chains[0].Heard = servertest.Hears(o.Now, 59+21) })
	refused(behind, &through)
	if full := behind.capabilities(behind.Key); full.CoverageAvailability != "unavailable" || full.SelectorCoverage[0].FreshnessStatus != "stale" || full.SelectorCoverage[0].Status != "ready" {
		t.Errorf("capabilities of an index that is behind: %+v", full)
	}
	_, r := behind.ask(strings.Replace(wideQuery, "from_block=0", "from_block=55", 1), behind.WalletKey())
	if r.Envelope().MaxServableToBlock != nil {
		t.Errorf("nothing of the range is certified: %s", r.Body)
	}

	stopped := newWorld(t, 60)
	lease, err := stopped.Engine.Acquire(t.Context(), store.Writer, "test", 1e9)
	if err != nil {
		t.Fatal(err)
	}
	b := &store.Batch{Epoch: lease.Epoch}
	b.Put(chain.FaultKey, chain.Fault{Reason: "a fork below the undo window"}.Encode())
	if err := stopped.Engine.Commit(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	refused(stopped, &through)
	if full := stopped.capabilities(stopped.Key); full.CoverageAvailability != "unavailable" || full.SelectorCoverage[0].Status != "failed" || full.SelectorCoverage[0].LiveMaintenance {
		t.Errorf("capabilities of an index that stopped: %+v", full)
	}
}

// TestWideClaims: no page claims blocks that the pages up to it have not shown,
// whatever the chain does meanwhile.
func TestWideClaims(t *testing.T) {
	skipRaced(t)
	for _, order := range []string{"desc", "asc"} {
		for _, change := range []string{"nothing", "new blocks", "a fork above"} {
			w := newWorld(t, 60)
			key := w.WalletKey()
			var got []eventRow
			var last *api.RangeCoverage
			cursor := ""
			for pages := 0; ; pages++ {
				p, r := w.ask(wideQuery+"&limit=5&order="+order+cursor, key)
				if r.StatusCode != 200 {
					t.Fatalf("%s, %s: %d %s", order, change, r.StatusCode, r.Body)
				}
				got, last = append(got, p.Items...), p.RangeCoverage
				if last.Complete {
					t.Fatalf("%s, %s: complete without the blocks to come: %+v", order, change, last)
				}
				if c := last.Completed; c != nil {
					w.holdClaim(order, change, *c, got)
				}
				if p.NextCursor == nil {
					break
				}
				if pages == 0 && last.Completed != nil && last.Completed.FromBlock == 0 && last.Completed.ToBlock == 59 {
					t.Fatalf("%s: the first page of many claims everything", order)
				}
				cursor = "&cursor=" + *p.NextCursor
				if pages == 2 {
					switch change {
					case "new blocks":
						w.Chain.Extend(5)
					case "a fork above":
						// Above what three pages of either order end with.
						w.Chain.Fork(3)
						w.Chain.Extend(8)
					}
					w.CatchUp()
				}
			}
			head, _ := w.Chain.Head()
			want := api.Interval{FromBlock: 0, ToBlock: head}
			if order == "desc" && change == "new blocks" {
				want.ToBlock = 59 // what came later was never searched
			}
			if order == "desc" && change == "a fork above" {
				if last.Completed.FromBlock != 0 || last.Completed.ToBlock >= 57 {
					t.Errorf("after a fork: %+v", last.Completed)
				}
				continue
			}
			if *last.Completed != want {
				t.Errorf("%s, %s: the last page claims %+v, want %+v", order, change, *last.Completed, want)
			}
		}
	}
}

// holdClaim compares the events of a claimed range with the chain.
func (w *world) holdClaim(order, change string, c api.Interval, got []eventRow) {
	w.T.Helper()
	all := w.Chain.Events(simnode.EventFilter{From: c.FromBlock, To: c.ToBlock, Keys: [][]felt.Felt{{wideSelector}, {felt.Zero}}})
	seen := map[string]int{}
	for i := range got {
		if n := got[i].BlockNumber; n >= c.FromBlock && n <= c.ToBlock {
			seen[got[i].TxHash.String()+got[i].place()]++
		}
	}
	if len(seen) != len(all) {
		w.T.Errorf("%s, %s: %+v is claimed, which has %d events, and %d were shown", order, change, c, len(all), len(seen))
	}
	for _, ref := range all {
		if seen[fmt.Sprintf("%s%d:%d:%d", ref.Block.Transactions[ref.TxIndex].Hash, ref.Block.Number, ref.TxIndex, ref.Index)] != 1 {
			w.T.Errorf("%s, %s: %+v is claimed, event %d:%d:%d was not shown once", order, change, c, ref.Block.Number, ref.TxIndex, ref.Index)
		}
	}
}
