package names

import "testing"

// TestTable: rows are found by their places, also those that share a hash, and none is
// found that is not there.
func TestTable(t *testing.T) {
	var n Table
	hash := func(place int) uint32 { return uint32(place%700) * 0x01000193 }
	is := func(want int) func(int) bool { return func(got int) bool { return got == want } }
	const rows = 5000
	for place := range rows {
		if got := n.Find(hash(place), is(place)); got >= 0 {
			t.Fatalf("row %d is there before it was added", place)
		}
		n.Add(hash(place), place)
	}
	for place := range rows {
		if got := n.Find(hash(place), is(place)); got != place {
			t.Fatalf("row %d is found at %d", place, got)
		}
		if got := n.Likely(hash(place)); hash(got) != hash(place) {
			t.Fatalf("row %d is likely at %d", place, got)
		}
		if got := n.Likely(hash(place) + 1); got >= 0 {
			t.Fatalf("row %d is found by a hash that none has", got)
		}
	}
	if n.taken != rows || 2*n.taken > len(n.slots) || n.Bytes() != 8*len(n.slots) {
		t.Errorf("%d of %d slots are taken", n.taken, len(n.slots))
	}
	if n.Reset(); n.Likely(hash(1)) >= 0 {
		t.Error("a row is found after all were forgotten")
	}
}
