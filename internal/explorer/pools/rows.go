// Package pools keeps which pools of known exchanges a token is in.
//
// Rows, with p pools and t tokens:
//
//	market_pool   token | block tx log   (empty)              2p rows
//	market_total  token |                number of its pools  t rows
//	market_state  |                      how far, and of what  1 row
//
// Creation events name their tokens in their data, which no list of events goes
// by: hence rows. They are enrichment, because the exchanges are those of the
// registry, which an operator can change, and no digest may depend on that. A row
// is a creation event's place; what it says is read from the event itself. They
// reach up to a finalized block whose hash the state keeps: when a fork took that
// block away, or the registry has other exchanges, the rows are of no use until
// they were made again, and Of says so with ErrMissing.
//
// Costs: a page is three Gets (of the state, of the block that it names and of the
// total), one scan and, if it found any, one GetMany of transactions.
package pools

import (
	"crypto/sha256"
	"fmt"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/registry"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/record"
)

// The tables of this subject.
var (
	Pools  = &store.Table{ID: 63, Name: "market_pool", PartitionLen: felt.Size}
	Totals = &store.Table{ID: 64, Name: "market_total", PartitionLen: felt.Size}
	States = &store.Table{ID: 65, Name: "market_state", PartitionLen: 0}
)

// Enrichment lists the tables.
func Enrichment() []*store.Table { return []*store.Table{Pools, Totals, States} }

const recordVersion = 1

// State says what the rows hold.
type State struct {
	// Exchanges names the exchanges whose pools the rows hold.
	Exchanges [16]byte
	// Wiping says that rows are being taken away and cannot be relied on.
	Wiping bool
	// Some says that blocks were read, up to Through, whose hash is Hash.
	Some    bool
	Through uint64
	Hash    felt.Felt
}

// StateKey is where the state is kept.
var StateKey = store.Key{Table: States, Sort: []byte("pools")}

// Encode is the row of market_state.
func (s *State) Encode() []byte {
	var e record.Encoder
	e.Reset(recordVersion)
	e.Raw(s.Exchanges[:])
	var flags byte
	if s.Wiping {
		flags |= 1
	}
	if s.Some {
		flags |= 2
	}
	e.Byte(flags)
	e.Uint(s.Through)
	e.Raw(s.Hash[:])
	return e.Bytes()
}

// DecodeState reads a row of market_state.
func DecodeState(b []byte) (s State, err error) {
	d := record.NewDecoder(b, recordVersion)
	d.Raw(s.Exchanges[:])
	flags := d.Byte()
	s.Wiping, s.Some = flags&1 != 0, flags&2 != 0
	s.Through = d.Uint()
	d.Raw(s.Hash[:])
	if err := d.Finish(); err != nil {
		return s, err
	}
	if flags > 3 {
		return s, fmt.Errorf("%w: state of pools with flags %d", record.ErrCorrupt, flags)
	}
	return s, nil
}

// PoolKey is the row of a pool under one of its tokens.
func PoolKey(token felt.Felt, p explorer.Place) store.Key {
	return store.Key{Table: Pools, Partition: token[:], Sort: p.Append(nil)}
}

// TotalKey is the row with the number of a token's pools.
func TotalKey(token felt.Felt) store.Key { return store.Key{Table: Totals, Partition: token[:]} }

// EncodeTotal is the row of market_total.
func EncodeTotal(n uint64) []byte {
	var e record.Encoder
	e.Reset(recordVersion)
	e.Uint(n)
	return e.Bytes()
}

// DecodeTotal reads a row of market_total; none is no pools.
func DecodeTotal(b []byte) (n uint64, err error) {
	if b == nil {
		return 0, nil
	}
	d := record.NewDecoder(b, recordVersion)
	n = d.Uint()
	return n, d.Finish()
}

// Fingerprint names a list of exchanges by what decides which events are pools.
func Fingerprint(dexes []registry.Dex) (id [16]byte) {
	h := sha256.New()
	for i := range dexes { // the registry keeps them in order
		d := &dexes[i]
		fmt.Fprintf(h, "%s %s %d %d %s %s\n", d.Address, felt.Felt(d.Event), d.Keys, d.Data, d.Token0, d.Token1) //nolint:errcheck // a hash never fails
	}
	copy(id[:], h.Sum(nil))
	return id
}

// Finder finds the exchange that an event belongs to.
type Finder map[[2]felt.Felt]*registry.Dex

// NewFinder takes the exchanges of a registry.
func NewFinder(dexes []registry.Dex) Finder {
	f := make(Finder, len(dexes))
	for i := range dexes {
		f[[2]felt.Felt{dexes[i].Address, felt.Felt(dexes[i].Event)}] = &dexes[i]
	}
	return f
}

// Pool reads a creation event; false when it is none.
func (f Finder) Pool(from felt.Felt, keys, data []felt.Felt) (*registry.Dex, registry.NewPool, bool) {
	if len(keys) == 0 {
		return nil, registry.NewPool{}, false
	}
	d := f[[2]felt.Felt{from, keys[0]}]
	if d == nil {
		return nil, registry.NewPool{}, false
	}
	p, ok := d.Decode(keys, data)
	return d, p, ok
}
