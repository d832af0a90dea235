package pebble_test

import (
	"path/filepath"
	"strconv"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble"
	"chainexplorer/internal/store/storetest"
)

// suite adapts one way of opening engines to the conformance suite.
func suite(options func(t *testing.T, tables []*store.Table) pebble.Options) func(*testing.T, []*store.Table) storetest.Store {
	return func(t *testing.T, tables []*store.Table) storetest.Store {
		o := options(t, tables)
		clock := storetest.NewClock()
		o.Now = clock.Now
		open := func(t *testing.T, dir string) store.Engine {
			t.Helper()
			o := o
			o.Dir = dir
			e, err := pebble.Open(o)
			if err != nil {
				t.Fatal(err)
			}
			return e
		}
		copies := 0
		return storetest.Store{
			Open:     func(t *testing.T) store.Engine { return open(t, o.Dir) },
			OpenCopy: open,
			CopyDir: func(*testing.T) string {
				copies++
				return o.Dir + "-copy-" + strconv.Itoa(copies)
			},
			Clock: clock,
			Brief: raced,
		}
	}
}

func TestConformanceInMemory(t *testing.T) {
	storetest.Run(t, suite(func(_ *testing.T, tables []*store.Table) pebble.Options {
		return pebble.MemOptions(vfs.NewMem(), tables)
	}))
}

func TestConformanceOnDisk(t *testing.T) {
	storetest.Run(t, suite(func(t *testing.T, tables []*store.Table) pebble.Options {
		o := pebble.MemOptions(nil, tables)
		o.Dir = filepath.Join(t.TempDir(), "store")
		return o
	}))
}

// TestConformanceInBulk commits everything as tables of its own.
func TestConformanceInBulk(t *testing.T) {
	storetest.Run(t, suite(func(_ *testing.T, tables []*store.Table) pebble.Options {
		o := pebble.MemOptions(vfs.NewMem(), tables)
		o.BulkBytes = 1
		return o
	}))
}
