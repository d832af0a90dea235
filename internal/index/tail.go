package index

import "time"

// tailAge is how young an index's own newest block must be for all that follows
// to count as the tail. It is far more than the time of UndoBlocks.
const tailAge = 24 * time.Hour

// lowestHead is a Source that knows the lowest head that any of its nodes tells of.
type lowestHead interface {
	LowestHead() (number uint64, ok bool)
}

// tailFrom is the first block that gets an undo record, and that VerifyTail
// recomputes, whatever its node says of L1. It must not rest on the word of the
// node that gives the blocks: one that claims a head far away, and acceptance on
// L1, would have none of them recomputed. So the lowest head of all nodes counts,
// and an index that has come near the present, by its own newest block, stays at
// the tail.
func (x *Indexer) tailFrom(target uint64) uint64 {
	if x.state.HasHead {
		age := time.Since(time.Unix(int64(x.state.Head.Timestamp), 0))
		if age < tailAge && age > -tailAge {
			return 0
		}
	}
	if s, ok := x.Source.(lowestHead); ok {
		if low, ok := s.LowestHead(); ok {
			target = min(target, low)
		}
	}
	if target < x.UndoBlocks {
		return 0
	}
	return target - x.UndoBlocks + 1
}
