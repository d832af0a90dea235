package transfer

import (
	"encoding/binary"
	"fmt"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/record"
)

// The tables of transfers. Pairs also holds balances: see PairRow.
var (
	Addresses = &store.Table{ID: 50, Name: "transfer_address", PartitionLen: felt.Size}
	Pairs     = &store.Table{ID: 51, Name: "transfer_pair", PartitionLen: felt.Size}
)

const rowVersion = 1

// Side says on which side of a transfer an address stands.
type Side uint8

// The sides; a transfer to oneself has both.
const (
	Out  Side = 1 << iota // the address is the sender
	In                    // the address is the receiver
	Both = Out | In
)

// spot is a transfer event's place in its block, as an address sees it.
type spot struct {
	tx, log uint32
	side    Side
}

// A row is the version byte and then, for every event in order, one number
// when it is of the same transaction as the one before it and two when not:
//
//	same transaction   (log - log before - 1)*8 + 4 + side
//	next transaction   (tx - tx before - 1)*8 + side, log
//
// where the transaction before the first is -1.
func appendSpot(b []byte, last, s spot, first bool) []byte {
	if !first && s.tx == last.tx {
		return binary.AppendUvarint(b, uint64(s.log-last.log-1)<<3|4|uint64(s.side))
	}
	step := uint64(s.tx)
	if !first {
		step = uint64(s.tx - last.tx - 1)
	}
	return binary.AppendUvarint(binary.AppendUvarint(b, step<<3|uint64(s.side)), uint64(s.log))
}

// The largest numbers in a row: a number behind all of them exists.
const maxPlace = 1<<32 - 2

var errBadSpot = fmt.Errorf("%w: transfer list with a bad place", record.ErrCorrupt)

// spots appends the places of one of the list's rows.
func (l *list) spots(dst []spot, row []byte) ([]spot, error) {
	if l.table == Pairs {
		_, b, err := splitPair(row)
		if err != nil {
			return dst, err
		}
		return decodeSpots(dst, b)
	}
	if len(row) == 0 || row[0] != rowVersion {
		return dst, fmt.Errorf("%w: transfer list of %d bytes or of another version", record.ErrCorrupt, len(row))
	}
	return decodeSpots(dst, row[1:])
}

// decodeSpots accepts nothing that was not written here.
func decodeSpots(dst []spot, b []byte) ([]spot, error) {
	if len(b) < 2 {
		return dst, errBadSpot
	}
	var tx, log uint64 // the smallest that may follow
	for fresh := true; len(b) > 0; fresh = false {
		n, rest, ok := uvarint(b)
		side := Side(n & 3)
		if !ok || side == 0 {
			return dst, errBadSpot
		}
		step := n >> 3
		if n&4 != 0 {
			if fresh || step > maxPlace {
				return dst, errBadSpot
			}
			log += step
		} else {
			if step > maxPlace {
				return dst, errBadSpot
			}
			if tx += step; !fresh {
				tx++
			}
			if log, rest, ok = uvarint(rest); !ok {
				return dst, errBadSpot
			}
		}
		if tx > maxPlace || log > maxPlace {
			return dst, errBadSpot
		}
		dst = append(dst, spot{uint32(tx), uint32(log), side})
		log++
		b = rest
	}
	return dst, nil
}

// uvarint reads a number in its shortest form.
func uvarint(b []byte) (n uint64, rest []byte, ok bool) {
	n, size := binary.Uvarint(b)
	if size <= 0 || size > 1 && b[size-1] == 0 {
		return 0, nil, false
	}
	return n, b[size:], true
}

// list names the rows of an address, or of an address and a token.
type list struct {
	table   *store.Table
	address felt.Felt
	prefix  string // of the sort key
}

func addressList(a *felt.Felt) list { return list{table: Addresses, address: *a} }

func pairList(a, token *felt.Felt) list { return list{Pairs, *a, string(token[:])} }

// key is the sort key of the list's row of a block.
func (l *list) key(block uint64) []byte {
	return binary.BigEndian.AppendUint64(append(make([]byte, 0, felt.Size+8), l.prefix...), block)
}

// behind is the sort key behind the list's row of a block.
func (l *list) behind(block uint64) []byte {
	if block == ^uint64(0) {
		if l.prefix == "" {
			return nil
		}
		return store.PrefixEnd([]byte(l.prefix))
	}
	return l.key(block + 1)
}

// blockOf reads a sort key.
func (l *list) blockOf(sort []byte) (uint64, error) {
	if len(sort) != len(l.prefix)+8 {
		return 0, fmt.Errorf("%w: transfer list row with a key of %d bytes", record.ErrCorrupt, len(sort))
	}
	return binary.BigEndian.Uint64(sort[len(l.prefix):]), nil
}

// Place is where a transfer is. Places order as the chain does.
type Place struct {
	explorer.Place        // of its event
	Index          uint32 // the transfer's index in its event
}

// Before reports whether p comes first in the chain.
func (p Place) Before(q Place) bool {
	if p.Place != q.Place {
		return p.Place.Before(q.Place)
	}
	return p.Index < q.Index
}
