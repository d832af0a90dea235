package transfer

import (
	"encoding/binary"
	"fmt"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/postings"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/record"
)

// The tables of transfers. Pairs also holds balances: see PairRow.
var (
	Addresses = &store.Table{ID: 50, Name: "transfer_address", PartitionLen: felt.Size, Listed: true, SortLen: 8, Series: true}
	Pairs     = &store.Table{ID: 51, Name: "transfer_pair", PartitionLen: felt.Size, Listed: true, SortLen: felt.Size + 8, Series: true}
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

// A list of places is one of package postings; the tag of a place is the side.
const form = postings.Tagged

// At is the place of an event in a list, as an address on this side sees it.
func (s Side) At(tx, log uint32) postings.Spot {
	return postings.Spot{Tx: tx, Log: log, Tag: uint8(s)}
}

// spots appends the places of one of the list's rows.
func (l *list) spots(dst []postings.Spot, row []byte) ([]postings.Spot, error) {
	if l.table == Pairs {
		_, b, err := splitPair(row)
		if err != nil {
			return dst, err
		}
		return form.Decode(dst, b)
	}
	if len(row) == 0 || row[0] != rowVersion {
		return dst, fmt.Errorf("%w: transfer list of %d bytes or of another version", record.ErrCorrupt, len(row))
	}
	return form.Decode(dst, row[1:])
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
