package contract

import (
	"context"
	"errors"
	"fmt"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/record"
)

// Origins are contracts that were there before the first block, so that no state
// diff deploys them: the tokens and accounts that a local node begins with. Their
// classes come from calls to a node.
//
//	contract_origin  – | 0 address   (empty)           a contract in use whose class is to be asked for
//	contract_origin  – | 1 address   version, class    one whose class no diff ever set
//
// They are enrichment. A row is true whatever becomes of the blocks that used
// the contract. The indexer writes them, and on chains alone whose first block
// changes contracts that nobody deployed.
var Origins = &store.Table{ID: 88, Name: "contract_origin", PartitionLen: 0}

// Enrichment lists the tables that are filled from calls to a node.
func Enrichment() []*store.Table { return []*store.Table{Origins} }

const (
	originWanted = 0
	originKnown  = 1
)

// WantedKey is the place of a contract whose class is to be asked for.
func WantedKey(address felt.Felt) store.Key { return originKey(originWanted, &address) }

// OriginKey is the place of the class of a contract that no diff deployed.
func OriginKey(address felt.Felt) store.Key { return originKey(originKnown, &address) }

func originKey(kind byte, address *felt.Felt) store.Key {
	return store.Key{Table: Origins, Sort: append([]byte{kind}, address[:]...)}
}

// EncodeOrigin is the row of a contract with this class.
func EncodeOrigin(class felt.Felt) []byte {
	var e record.Encoder
	e.Reset(identityVersion)
	e.Felt(&class)
	return e.Bytes()
}

// ParseOrigin reads a row of either kind: wanted, or with its class.
func ParseOrigin(sort, value []byte) (address, class felt.Felt, wanted bool, err error) {
	if len(sort) != 1+felt.Size || sort[0] > originKnown || sort[0] == originWanted && len(value) > 0 {
		return address, class, false, fmt.Errorf("%w: origin of a contract with a key of %d and a value of %d bytes", record.ErrCorrupt, len(sort), len(value))
	}
	copy(address[:], sort[1:])
	if sort[0] == originWanted {
		return address, class, true, nil
	}
	class, err = decodeOrigin(value)
	return address, class, false, err
}

func decodeOrigin(value []byte) (felt.Felt, error) {
	d := record.NewDecoder(value, identityVersion)
	class := d.Felt()
	return class, d.Finish()
}

// HasOrigins says whether the chain has contracts of this kind. One scan of one row.
func HasOrigins(ctx context.Context, r store.Reader) (has bool, err error) {
	for _, err := range r.Scan(ctx, store.Range{Table: Origins, Limit: 1}) {
		if err != nil {
			return false, fmt.Errorf("look for contracts without a deployment: %w", err)
		}
		has = true
	}
	return has, nil
}

// mostOrigins bounds how many contracts are looked at for a class. A local node
// begins with some dozens, and notes others only while they are in use.
const mostOrigins = 10_000

// OriginHasClass says whether a contract that was there before the first block has
// the class. One scan.
func OriginHasClass(ctx context.Context, r store.Reader, class felt.Felt) (bool, error) {
	for row, err := range r.Scan(ctx, store.Range{Table: Origins, From: []byte{originKnown}, Limit: mostOrigins}) {
		if err != nil {
			return false, fmt.Errorf("look for contracts of class %s without a deployment: %w", class, err)
		}
		_, has, _, err := ParseOrigin(row.Sort, row.Value)
		if err != nil {
			return false, err
		}
		if has == class {
			return true, nil
		}
	}
	return false, nil
}

// WantedOrigins lists up to limit contracts whose class is to be asked for. One scan.
func WantedOrigins(ctx context.Context, r store.Reader, limit int) (out []felt.Felt, err error) {
	rng := store.Range{Table: Origins, From: []byte{originWanted}, To: []byte{originKnown}, Limit: limit}
	for row, err := range r.Scan(ctx, rng) {
		if err != nil {
			return nil, fmt.Errorf("list contracts without a class: %w", err)
		}
		address, _, _, err := ParseOrigin(row.Sort, row.Value)
		if err != nil {
			return nil, err
		}
		out = append(out, address)
	}
	return out, nil
}

// IsOrigin says whether a contract was there before the first block. One Get.
func IsOrigin(ctx context.Context, r store.Reader, address felt.Felt) (bool, error) {
	class, err := originOf(ctx, r, address)
	return class != nil, err
}

// originOf returns the class of a contract that no diff deployed, nil for all
// others. One Get.
func originOf(ctx context.Context, r store.Reader, address felt.Felt) (*felt.Felt, error) {
	value, err := r.Get(ctx, OriginKey(address))
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	var class felt.Felt
	if err == nil {
		class, err = decodeOrigin(value)
	}
	if err != nil {
		return nil, fmt.Errorf("origin of contract %s: %w", address, err)
	}
	return &class, nil
}
