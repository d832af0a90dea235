package event

import (
	"encoding/binary"
	"fmt"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/record"
)

// The tables of this subject.
var (
	Lists = &store.Table{ID: 32, Name: "event_list", PartitionLen: 1 + felt.Size}
	Pairs = &store.Table{ID: 33, Name: "event_pair", PartitionLen: 2 * felt.Size}
)

// Positions is how many keys of an event can be searched for. An event may have
// more; they are stored with it and have no lists.
const Positions = 16

// kindEmitter is the kind of the lists of emitters; smaller ones are positions.
const kindEmitter = Positions

const rowVersion = 1

// spot is an event's place in its block.
type spot struct{ tx, log uint32 }

func (s spot) before(t spot) bool { return s.tx < t.tx || s.tx == t.tx && s.log < t.log }

// A row is the version byte and then, for every event in order, one number
// when it is of the same transaction as the one before it and two when not:
//
//	same transaction   (log - log before - 1)*2 + 1
//	next transaction   (tx - tx before - 1)*2, log
//
// where the transaction before the first is -1. Most events take one or two
// bytes.
func appendSpot(b []byte, last, s spot, first bool) []byte {
	if !first && s.tx == last.tx {
		return binary.AppendUvarint(b, uint64(s.log-last.log-1)<<1|1)
	}
	step := uint64(s.tx)
	if !first {
		step = uint64(s.tx - last.tx - 1)
	}
	return binary.AppendUvarint(binary.AppendUvarint(b, step<<1), uint64(s.log))
}

// decodeSpots appends the spots of a row. It accepts nothing that was not
// written here: spots ascend, numbers are in their shortest form, and there is
// at least one.
func decodeSpots(dst []spot, b []byte) ([]spot, error) {
	if len(b) < 3 || b[0] != rowVersion {
		return dst, fmt.Errorf("%w: event list of %d bytes or of another version", record.ErrCorrupt, len(b))
	}
	b = b[1:]
	next := spot{} // the smallest that may follow
	fresh := true  // next is of a transaction that has no event yet
	for len(b) > 0 {
		n, rest, ok := uvarint(b)
		if !ok {
			return dst, errBadSpot
		}
		var s spot
		if n&1 == 1 {
			log := uint64(next.log) + n>>1
			if fresh || log > maxLog {
				return dst, errBadSpot
			}
			s = spot{next.tx, uint32(log)}
		} else {
			tx := uint64(next.tx) + n>>1
			if !fresh {
				tx++
			}
			log, after, ok := uvarint(rest)
			if !ok || tx > maxTx || log > maxLog {
				return dst, errBadSpot
			}
			s, rest = spot{uint32(tx), uint32(log)}, after
		}
		dst = append(dst, s)
		next, fresh = spot{s.tx, s.log + 1}, false
		b = rest
	}
	return dst, nil
}

var errBadSpot = fmt.Errorf("%w: event list with a bad place", record.ErrCorrupt)

// The largest numbers in a row. One less than what fits, so that a number
// behind all of them exists.
const (
	maxTx  = 1<<32 - 2
	maxLog = 1<<32 - 2
)

// uvarint reads a number in its shortest form.
func uvarint(b []byte) (n uint64, rest []byte, ok bool) {
	n, size := binary.Uvarint(b)
	if size <= 0 || size > 1 && b[size-1] == 0 {
		return 0, nil, false
	}
	return n, b[size:], true
}

// list names one list: a partition of a table.
type list struct {
	table     *store.Table
	partition string
}

func emitterList(emitter *felt.Felt) list {
	return list{Lists, string(append([]byte{kindEmitter}, emitter[:]...))}
}

func positionList(position int, value *felt.Felt) list {
	return list{Lists, string(append([]byte{byte(position)}, value[:]...))}
}

func pairList(emitter, topic0 *felt.Felt) list {
	return list{Pairs, string(append(append([]byte(nil), emitter[:]...), topic0[:]...))}
}

// blockOf reads the sort key of a list's row.
func blockOf(sort []byte) (uint64, error) {
	if len(sort) != 8 {
		return 0, fmt.Errorf("%w: event list row with a key of %d bytes", record.ErrCorrupt, len(sort))
	}
	return binary.BigEndian.Uint64(sort), nil
}
