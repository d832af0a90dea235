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
	Lists = &store.Table{ID: 32, Name: "event_list", PartitionLen: 1 + felt.Size, Listed: true, SortLen: 8, Series: true}
	Pairs = &store.Table{ID: 33, Name: "event_pair", PartitionLen: 2 * felt.Size, Listed: true, SortLen: 8, Series: true}
)

// Positions is how many keys of an event can be searched for. An event may have
// more; they are stored with it and have no lists.
const Positions = 16

// kindEmitter is the kind of the lists of emitters; smaller ones are positions.
const kindEmitter = Positions

const rowVersion = 1

// placesOf is what a row holds behind its version: the places of the block's events,
// a list of package postings without tags.
func placesOf(row []byte) ([]byte, error) {
	if len(row) == 0 || row[0] != rowVersion {
		return nil, fmt.Errorf("%w: event list of %d bytes or of another version", record.ErrCorrupt, len(row))
	}
	return row[1:], nil
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
