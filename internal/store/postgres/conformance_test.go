package postgres_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"chainexplorer/internal/store"
	"chainexplorer/internal/store/postgres"
	"chainexplorer/internal/store/postgres/pgtest"
	"chainexplorer/internal/store/storetest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

func mustOpen(t testing.TB, o postgres.Options) *postgres.Engine {
	t.Helper()
	e, err := postgres.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() }) //nolint:errcheck // never fails
	return e
}

// suite gives every test of the conformance suite a schema of its own.
func suite(url string) func(*testing.T, []*store.Table) storetest.Store {
	schemas := 0
	return func(t *testing.T, tables []*store.Table) storetest.Store {
		schemas++
		clock := storetest.NewClock()
		o := postgres.Options{URL: url, Schema: fmt.Sprintf("chain_%d", schemas), Tables: tables, PoolSize: 8, Now: clock.Now}
		forget(t, o)
		copies := 0
		return storetest.Store{
			Open: func(t *testing.T) store.Engine { return mustOpen(t, o) },
			OpenCopy: func(t *testing.T, dir string) store.Engine {
				o := o
				o.Schema += "_copy"
				forget(t, o)
				e, err := postgres.Restore(t.Context(), o, dir)
				if err != nil {
					t.Fatal(err)
				}
				return e
			},
			CopyDir: func(t *testing.T) string {
				copies++
				return filepath.Join(t.TempDir(), fmt.Sprint(copies))
			},
			Clock:  clock,
			Brief:  raced,
			Shared: true,
		}
	}
}

// forget drops a schema that an earlier run left in a database that is not ours,
// and the one that this run makes.
func forget(t *testing.T, o postgres.Options) {
	t.Helper()
	drop := func() {
		if err := postgres.Drop(context.Background(), o); err != nil {
			t.Error(err)
		}
	}
	drop()
	t.Cleanup(drop)
}

func TestConformance(t *testing.T) { storetest.Run(t, suite(pgtest.Database(t))) }

// TestConformanceOnCitus runs the suite on a cluster that somebody else runs.
func TestConformanceOnCitus(t *testing.T) { storetest.Run(t, suite(citusDatabase(t))) }
