package parquet

import "encoding/binary"

const (
	// group is how many numbers are packed together.
	group = 8
	// mostGroups is how many groups one byte announces.
	mostGroups = 63
)

// hybrid writes small numbers, as levels and indexes are: those that repeat as runs, and
// others packed bit by bit, eight by eight.
type hybrid struct {
	b     []byte
	width int // bits of a number
	// pending are numbers that are in neither yet.
	pending [group]uint32
	n       int
	// last was put repeated times in a row, since the last group was packed; those above the
	// pending ones are in no other place.
	last     uint32
	repeated int
	// head is where the byte lies that announces the groups before the pending ones, and groups
	// how many there are.
	head, groups int
}

func (h *hybrid) reset(width int) { *h = hybrid{b: h.b[:0], width: width} }

func (h *hybrid) put(v uint32) {
	if v == h.last && h.repeated > 0 {
		if h.repeated++; h.repeated > group {
			return
		}
	} else {
		if h.repeated >= group {
			h.run()
		}
		h.last, h.repeated = v, 1
	}
	h.pending[h.n] = v
	if h.n++; h.n < group || h.repeated >= group {
		return
	}
	h.pack()
}

// run writes the last number as a run. All that are pending are part of it.
func (h *hybrid) run() {
	h.b = binary.AppendUvarint(h.b, uint64(h.repeated)<<1)
	for v, bits := h.last, 0; bits < h.width; bits += 8 {
		h.b = append(h.b, byte(v))
		v >>= 8
	}
	h.n, h.repeated, h.groups = 0, 0, 0
}

// pack writes the pending numbers as a group.
func (h *hybrid) pack() {
	if h.groups == 0 || h.groups == mostGroups {
		h.head, h.groups = len(h.b), 0
		h.b = append(h.b, 0)
	}
	h.groups++
	h.b[h.head] = byte(h.groups<<1 | 1)
	var bits uint64
	have := 0
	for _, v := range h.pending {
		bits |= uint64(v) << have
		for have += h.width; have >= 8; have -= 8 {
			h.b = append(h.b, byte(bits))
			bits >>= 8
		}
	}
	h.n, h.repeated = 0, 0
}

// end writes what is left. A group that is not full ends in zeros, which nobody reads.
func (h *hybrid) end() []byte {
	switch {
	case h.repeated >= group:
		h.run()
	case h.n > 0:
		clear(h.pending[h.n:])
		h.pack()
	}
	return h.b
}
