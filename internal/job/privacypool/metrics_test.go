package privacypool_test

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"chainexplorer/internal/job/privacypool"
	"chainexplorer/internal/simnode"
)

// metrics are the samples of the ledger's metrics.
func (w *world) metrics() map[string]float64 {
	w.t.Helper()
	reg := prometheus.NewRegistry()
	privacypool.RegisterMetrics(reg, w.engine, w.pools, depth)
	list, err := reg.Gather()
	if err != nil {
		w.t.Fatal(err)
	}
	out := map[string]float64{}
	for _, family := range list {
		for _, m := range family.GetMetric() {
			out[strings.TrimPrefix(family.GetName(), "chainexplorer_privacy_pool_ledger_")+" "+m.GetLabel()[0].GetValue()] = m.GetGauge().GetValue()
		}
	}
	return out
}

// TestMetrics: they follow the ledger that is served, the one that is made beside it,
// and the forks that take them away.
func TestMetrics(t *testing.T) {
	w := newWorld(t, simnode.Config{Seed: 23, Blocks: 60, PoolUses: 1, BlockTime: 17 * time.Minute, PoolTrouble: []simnode.PoolTrouble{{Block: 30, Kind: simnode.TroubleNote}}})
	expect := func(when string, want map[string]float64) {
		t.Helper()
		got := w.metrics()
		for name, n := range want {
			if have, ok := got[name]; !ok && n >= 0 || ok && n < 0 || n >= 0 && have != n {
				t.Errorf("%s: %s is %v, %t, want %v\n%v", when, name, have, ok, n, got)
			}
		}
	}
	const none = -1
	expect("before the job", map[string]float64{"status unavailable": 1, "status complete": 0, "status degraded": 0, "through_block serving": none, "lag_blocks serving": none, "generation serving": none})
	w.run(nil, nil)
	const finalized = 59 - depth
	expect("caught up", map[string]float64{"status unavailable": 0, "status complete": 0, "status degraded": 1, "through_block serving": finalized, "lag_blocks serving": 0, "generation serving": 1,
		"gaps duplicate_commitment": 1, "through_block building": none})
	w.chain.Extend(9)
	w.catchUp()
	expect("behind", map[string]float64{"through_block serving": finalized, "lag_blocks serving": 9})

	w.run(nil, nil)
	if _, err := privacypool.Rematerialize(t.Context(), w.engine, "test"); err != nil {
		t.Fatal(err)
	}
	w.events = 20
	seen := false
	w.run(nil, func() {
		if got := w.metrics(); got["generation building"] == 2 && !seen {
			seen = true
			expect("beside another", map[string]float64{"through_block serving": finalized + 9, "lag_blocks serving": 0, "generation serving": 1,
				"lag_blocks building": finalized + 9 - got["through_block building"], "status degraded": 1})
		}
	})
	if !seen {
		t.Error("the metrics never told of the ledger that was made")
	}
	expect("swapped", map[string]float64{"generation serving": 2, "generation building": none, "through_block building": none})

	w.chain.Fork(20)
	w.chain.Extend(3)
	w.catchUp()
	expect("after a fork", map[string]float64{"status unavailable": 1, "status degraded": 0, "through_block serving": none, "gaps duplicate_commitment": none})
	w.pools = nil
	if got := w.metrics(); len(got) > 0 {
		t.Errorf("without pools: %v", got)
	}
}
