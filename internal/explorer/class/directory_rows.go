package class

import (
	"context"
	"encoding/binary"
	"fmt"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/record"
)

// The tables of the directory.
var (
	Summaries = &store.Table{ID: 48, Name: "class_summary", PartitionLen: felt.Size}
	Instances = &store.Table{ID: 49, Name: "class_instance", PartitionLen: felt.Size + 1}
	Listings  = &store.Table{ID: 56, Name: "class_listing", PartitionLen: 1}
	Holders   = &store.Table{ID: 57, Name: "class_holder", PartitionLen: felt.Size}
)

// Summary is what blocks tell of a class.
type Summary struct {
	Hash felt.Felt
	// Origin is the first block that names the class.
	Origin uint64
	// Declared is the first block that declared it, if one did.
	Declared    uint64
	WasDeclared bool
	Kind        Kind // of the declaration, unknown without one
	// Instances counts the contracts that have the class now, Ever those that
	// got it at some time: again, if they came back to it.
	Instances, Ever uint64
}

func summaryKey(hash *felt.Felt) store.Key { return store.Key{Table: Summaries, Partition: hash[:]} }

func (s *Summary) encode(e *record.Encoder) []byte {
	e.Reset(recordVersion)
	e.Uint(s.Origin)
	e.Uint(s.Instances)
	e.Uint(s.Ever)
	e.Byte(byte(s.Kind))
	if s.WasDeclared {
		e.Uint(s.Declared)
	}
	return e.Bytes()
}

func decodeSummary(hash felt.Felt, b []byte) (Summary, error) {
	d := record.NewDecoder(b, recordVersion)
	s := Summary{Hash: hash, Origin: d.Uint(), Instances: d.Uint(), Ever: d.Uint(), Kind: Kind(d.Byte())}
	if s.WasDeclared = s.Kind != KindUnknown; s.WasDeclared {
		s.Declared = d.Uint()
	}
	err := d.Finish()
	if err == nil && (s.Kind > Cairo0 || s.Instances > s.Ever) {
		err = fmt.Errorf("%w: kind %d, %d instances of %d", record.ErrCorrupt, s.Kind, s.Instances, s.Ever)
	}
	if err != nil {
		return s, fmt.Errorf("summary of class %s: %w", hash, err)
	}
	return s, nil
}

// Sort is an order of the directory.
type Sort byte

// The orders: most instances first, newest declaration first (those that were
// never declared last), and oldest first.
const (
	ByInstances Sort = iota
	ByDeclared
	ByOrigin
)

// place is where a class stands in an order: a number and then its hash.
func (s *Summary) place(o Sort) []byte {
	var n uint64
	switch o {
	case ByInstances:
		n = s.Instances
	case ByDeclared:
		if s.WasDeclared {
			n = s.Declared + 1
		}
	case ByOrigin:
		n = s.Origin
	}
	return append(explorer.BlockKey(n), s.Hash[:]...)
}

// InstanceSort is an order of the contracts of a class.
type InstanceSort byte

// The orders: by address, newest first and oldest first.
const (
	ByAddress InstanceSort = iota
	ByNewest
	ByOldest // reads the rows of ByNewest
)

// Instance is a contract that has a class, since a block.
type Instance struct {
	Address felt.Felt
	Since   uint64
}

func instancePartition(hash *felt.Felt, o InstanceSort) []byte {
	return append(append(make([]byte, 0, felt.Size+1), hash[:]...), byte(o))
}

// row is the key and the value of an instance in an order.
func (i *Instance) row(o InstanceSort) (sort, value []byte) {
	if o == ByNewest {
		return append(explorer.BlockKey(i.Since), i.Address[:]...), nil
	}
	return i.Address[:], explorer.BlockKey(i.Since)
}

func parseInstance(o InstanceSort, row store.Row) (i Instance, err error) {
	switch {
	case o == ByAddress && len(row.Sort) == felt.Size && len(row.Value) == 8:
		copy(i.Address[:], row.Sort)
		i.Since = binary.BigEndian.Uint64(row.Value)
	case o == ByNewest && len(row.Sort) == 8+felt.Size && len(row.Value) == 0:
		i.Since = binary.BigEndian.Uint64(row.Sort)
		copy(i.Address[:], row.Sort[8:])
	default:
		return i, fmt.Errorf("%w: instance with a key of %d and a value of %d bytes", record.ErrCorrupt, len(row.Sort), len(row.Value))
	}
	return i, nil
}

// holder is the class that a contract has now.
type holder struct {
	class felt.Felt
	since uint64
}

func holderKey(address *felt.Felt) store.Key { return store.Key{Table: Holders, Partition: address[:]} }

func (h *holder) encode() []byte { return append(explorer.BlockKey(h.since), h.class[:]...) }

func decodeHolder(address *felt.Felt, b []byte) (h holder, err error) {
	if len(b) != 8+felt.Size {
		return h, fmt.Errorf("%w: class of contract %s in %d bytes", record.ErrCorrupt, address, len(b))
	}
	h.since = binary.BigEndian.Uint64(b)
	copy(h.class[:], b[8:])
	return h, nil
}

// Since returns from which block on contracts have the class that they have, in
// order, without a break: a class that is replaced by itself is no other. It is 0
// for addresses that have none. One round trip.
func Since(ctx context.Context, r store.Reader, addresses []felt.Felt) ([]uint64, error) {
	keys := make([]store.Key, len(addresses))
	for i := range addresses {
		keys[i] = holderKey(&addresses[i])
	}
	values, err := r.GetMany(ctx, keys)
	if err != nil {
		return nil, fmt.Errorf("read since when %d contracts have their classes: %w", len(addresses), err)
	}
	out := make([]uint64, len(addresses))
	for i, v := range values {
		if v == nil {
			continue
		}
		h, err := decodeHolder(&addresses[i], v)
		if err != nil {
			return nil, err
		}
		out[i] = h.since
	}
	return out, nil
}
