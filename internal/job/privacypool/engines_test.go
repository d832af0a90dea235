package privacypool_test

import (
	"os"
	"testing"
	"time"

	"chainexplorer/internal/explorer/catalog"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/store/postgres"
	"chainexplorer/internal/store/postgres/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// TestEngines: the rows are the same on both engines, through trouble, kills, a fork and
// what an operator asks for.
func TestEngines(t *testing.T) {
	server, err := postgres.Open(t.Context(), postgres.Options{URL: pgtest.Database(t), Schema: "ledger", Tables: catalog.Tables()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() }) //nolint:errcheck // the test is over
	w := newWorld(t, simnode.Config{Seed: 31, Blocks: 50, PoolUses: 1, BlockTime: 31 * time.Minute, PoolTrouble: []simnode.PoolTrouble{{Block: 30, Kind: simnode.TroubleClass}}})
	other := w.fresh(server)
	other.events, other.hours, other.rows = 30, 7, 100
	n := 0
	killed := func() error {
		if n++; n%4 == 0 {
			return errKilled
		}
		return nil
	}
	same := func(when string) {
		t.Helper()
		w.run(nil, nil)
		other.run(killed, nil)
		if a, b := w.dump(), other.dump(); a != b || len(a) < 10_000 {
			t.Fatalf("%s: the engines differ:\n%s\nand\n%s", when, a, b)
		}
	}
	same("degraded")
	w.pools, other.pools = stranger(w.pools), stranger(other.pools)
	same("healed")
	if l := other.read(); l.Degraded() != nil {
		t.Fatalf("%+v", l.Gaps)
	}
	w.chain.Fork(25)
	w.chain.Extend(6)
	w.catchUp()
	other.catchUp()
	if l := other.read(); l != nil {
		t.Fatal("what a fork took away is served")
	}
	same("after a fork")
	other.sameAssets(other.assets(other.read()), other.read().Through, true)
}
