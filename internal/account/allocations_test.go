//go:build !race

package account

import "testing"

// TestCachedAnswersAllocateNothing keeps the hot path as the benchmark found it.
// The race detector makes pools forget on purpose, so it is not run with it.
func TestCachedAnswersAllocateNothing(t *testing.T) {
	d := newDoor(t, onFile, NewKey{})
	ctx := t.Context()
	for name, key := range map[string]string{"known": d.key.Plaintext, "refused": testKey(t, 8, Live), "malformed": "svc_live_"} {
		n := testing.AllocsPerRun(200, func() { d.auth.Authenticate(ctx, key) }) //nolint:errcheck // tested elsewhere
		if n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}
