package decoded

import (
	"slices"

	"chainexplorer/internal/abi"
	"chainexplorer/internal/explorer/contract"
	"chainexplorer/internal/explorer/numbering"
	"chainexplorer/internal/felt"
)

// Room is the memory of a page of events and of a page of calls, for those who read one after the
// other: what was read is there until it is recycled, or until the next of its kind is read. The zero
// value is ready, and is for one goroutine.
type Room struct {
	fields     abi.Room
	results    []Result
	pairs      []contract.At
	candidates [][]felt.Felt
	hashes     []felt.Felt // that candidates point to
	classes    contract.ClassRoom
	readings   byClass[*reading]

	calls       []CallResult
	inForce     []inForce
	atSpots     []inForce
	spots       []spot
	where       []int
	contracts   numbering.Few
	spotClasses []felt.Felt // that atSpots points to
	called      []felt.Felt // classes
	doors       byClass[*doors]
}

// roomy is for how many events, and for how many calls, a room keeps memory: few transactions have more.
const roomy = 64

// Recycle lets go of all that was read.
func (m *Room) Recycle() {
	m.fields.Recycle()
	if cap(m.results) > roomy {
		m.results, m.pairs, m.candidates, m.hashes = nil, nil, nil, nil
	}
	if cap(m.calls) > roomy {
		m.calls, m.inForce, m.atSpots, m.spots, m.where, m.spotClasses, m.called = nil, nil, nil, nil, nil, nil, nil
	}
	m.classes.Recycle()
	m.readings.reset()
	m.contracts.Reset()
	m.doors.reset()
}

// zeroed are so many zero values, in the memory of list where that is enough.
func zeroed[T any](list []T, n int) []T {
	list = slices.Grow(list[:0], n)[:n]
	clear(list)
	return list
}
