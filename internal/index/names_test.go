package index

import "testing"

// TestNames: rows are found by their places, also those that share a hash, and none is
// found that is not there.
func TestNames(t *testing.T) {
	var n names
	hash := func(place int) uint32 { return uint32(place%700) * 0x01000193 }
	is := func(want int) func(int) bool { return func(got int) bool { return got == want } }
	const rows = 5000
	for place := range rows {
		if got := n.find(hash(place), is(place)); got >= 0 {
			t.Fatalf("row %d is there before it was added", place)
		}
		n.add(hash(place), place)
	}
	for place := range rows {
		if got := n.find(hash(place), is(place)); got != place {
			t.Fatalf("row %d is found at %d", place, got)
		}
		if got := n.find(hash(place)+1, func(int) bool { return true }); got >= 0 {
			t.Fatalf("row %d is found by a hash that none has", got)
		}
	}
	if n.taken != rows || 2*n.taken > len(n.slots) {
		t.Errorf("%d of %d slots are taken", n.taken, len(n.slots))
	}
}
