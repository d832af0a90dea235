package ledger

import (
	"encoding/binary"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/store"
)

// The tables of this subject. All but the first and the last are kept by generation.
var (
	States    = &store.Table{ID: 66, Name: "privacy_state", PartitionLen: 0}
	Tokens    = &store.Table{ID: 67, Name: "privacy_token", PartitionLen: 4}
	Seen      = &store.Table{ID: 68, Name: "privacy_seen", PartitionLen: 4}
	Points    = &store.Table{ID: 69, Name: "privacy_hour", PartitionLen: 4}
	Snapshots = &store.Table{ID: 70, Name: "privacy_snapshot", PartitionLen: 4}
	Buckets   = &store.Table{ID: 71, Name: "privacy_bucket", PartitionLen: 4}
	Flows     = &store.Table{ID: 72, Name: "privacy_flow", PartitionLen: 4}
	Requests  = &store.Table{ID: 73, Name: "privacy_request", PartitionLen: 0}
)

// Kept lists the tables that are kept by generation.
func Kept() []*store.Table { return []*store.Table{Tokens, Seen, Points, Snapshots, Buckets, Flows} }

// Job lists the tables that the job writes.
func Job() []*store.Table { return append([]*store.Table{States}, Kept()...) }

// Enrichment lists all tables.
func Enrichment() []*store.Table { return append(Job(), Requests) }

// StateKey is where the state is kept, and RequestKey how often a new generation was
// asked for.
var (
	StateKey   = store.Key{Table: States, Sort: []byte("ledger")}
	RequestKey = store.Key{Table: Requests, Sort: []byte("ledger")}
)

// Partition holds the rows of a generation in each table that is kept so.
func Partition(generation uint32) []byte { return binary.BigEndian.AppendUint32(nil, generation) }

// Length is how long a bucket is.
type Length byte

// The lengths that are kept; weeks are made of days.
const (
	Hour Length = iota + 1
	Day
	Week
)

// The lengths in seconds.
const (
	hourSeconds = 3600
	daySeconds  = 24 * hourSeconds
	weekSeconds = 7 * daySeconds
)

// Seconds is how many.
func (l Length) Seconds() uint64 {
	switch l {
	case Day:
		return daySeconds
	case Week:
		return weekSeconds
	}
	return hourSeconds
}

// monday is how far weeks, which begin on Mondays, are behind multiples of a week
// since 1970, which began on a Thursday.
const monday = 4 * daySeconds

// Start is when the bucket began that a moment is in, in UTC.
func (l Length) Start(t uint64) uint64 {
	if l == Week {
		if t < monday {
			return 0
		}
		return (t-monday)/weekSeconds*weekSeconds + monday
	}
	return t / l.Seconds() * l.Seconds()
}

// kind says what a row of privacy_seen is about.
type kind byte

const (
	seenNote kind = iota + 1
	seenNullifier
	seenWallet
)

// The kinds of flows.
const (
	flowToken byte = iota + 1
	flowFee
)

func (g *Generation) key(t *store.Table, sort []byte) store.Key {
	return store.Key{Table: t, Partition: Partition(g.Number), Sort: sort}
}

func tokenSort(token felt.Felt) []byte { return append([]byte(nil), token[:]...) }

func seenSort(k kind, pool, id felt.Felt) []byte {
	return append(append(append(make([]byte, 0, 1+2*felt.Size), byte(k)), pool[:]...), id[:]...)
}

func hourSort(hour uint64) []byte { return explorer.BlockKey(hour) }

func bucketSort(l Length, start uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte{byte(l)}, start)
}

func flowSort(kind byte, l Length, token felt.Felt, start uint64) []byte {
	b := append(make([]byte, 0, 2+felt.Size+8), kind, byte(l))
	return binary.BigEndian.AppendUint64(append(b, token[:]...), start)
}
