package pebble_test

import (
	"runtime/debug"
	"testing"

	"chainexplorer/internal/store/pebble"
)

// TestLimitGarbage: what the operator says of the collector counts.
func TestLimitGarbage(t *testing.T) {
	for _, c := range []struct {
		said string
		want int
	}{{"", 45}, {"80", 100}} {
		t.Setenv("GOGC", c.said)
		before := debug.SetGCPercent(100)
		pebble.LimitGarbage()
		if got := debug.SetGCPercent(before); got != c.want {
			t.Errorf("with GOGC=%q the collector waits for %d percent, want %d", c.said, got, c.want)
		}
	}
}
