// Package pebbletest opens stores for tests.
package pebbletest

import (
	"testing"

	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble"
)

// Open opens a new store in memory, which is closed at the end of the test.
func Open(t testing.TB, tables []*store.Table) pebble.Engine {
	t.Helper()
	e, err := pebble.OpenMem(tables)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Errorf("close the store: %v", err)
		}
	})
	return e
}
