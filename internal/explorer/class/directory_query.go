package class

import (
	"context"
	"encoding/binary"
	"fmt"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/record"
)

// SummaryOf returns what blocks tell of a class; it is not found when none names
// it. One GetMany.
func SummaryOf(ctx context.Context, r store.Reader, hash felt.Felt) (s Summary, found bool, err error) {
	list, err := SummariesOf(ctx, r, []felt.Felt{hash})
	if err != nil || list[0] == nil {
		return s, false, err
	}
	return *list[0], true, nil
}

// SummariesOf returns what blocks tell of classes, in order, nil for one that none
// names. One GetMany.
func SummariesOf(ctx context.Context, r store.Reader, hashes []felt.Felt) ([]*Summary, error) {
	keys := make([]store.Key, len(hashes))
	for i := range hashes {
		keys[i] = summaryKey(&hashes[i])
	}
	values, err := r.GetMany(ctx, keys)
	if err != nil {
		return nil, fmt.Errorf("read %d classes: %w", len(hashes), err)
	}
	out := make([]*Summary, len(hashes))
	for i, v := range values {
		if v == nil {
			continue
		}
		s, err := decodeSummary(hashes[i], v)
		if err != nil {
			return nil, err
		}
		out[i] = &s
	}
	return out, nil
}

// Place is where a page of the directory ended: a count of instances, or a block
// and, for ByDeclared, one more than it; then the class.
type Place struct {
	Number uint64
	Class  felt.Felt
}

// List returns up to limit classes in an order, behind a place; nil starts at the
// first. One scan and one GetMany.
func List(ctx context.Context, r store.Reader, o Sort, after *Place, limit int) (out []*Summary, next *Place, err error) {
	rng := store.Range{Table: Listings, Partition: []byte{byte(o)}, Reverse: o != ByOrigin, Limit: limit + 1}
	if after != nil {
		place := append(binary.BigEndian.AppendUint64(nil, after.Number), after.Class[:]...)
		if rng.Reverse {
			rng.To = place
		} else {
			rng.From = store.After(place)
		}
	}
	var hashes []felt.Felt
	var last Place
	for row, err := range r.Scan(ctx, rng) {
		if err != nil {
			return nil, nil, fmt.Errorf("list classes: %w", err)
		}
		if len(row.Sort) != 8+felt.Size {
			return nil, nil, fmt.Errorf("%w: class list with a key of %d bytes", record.ErrCorrupt, len(row.Sort))
		}
		if len(hashes) == limit {
			p := last
			next = &p
			break
		}
		last = Place{binary.BigEndian.Uint64(row.Sort), felt.Felt(row.Sort[8:])}
		hashes = append(hashes, last.Class)
	}
	out, err = SummariesOf(ctx, r, hashes)
	if err != nil {
		return nil, nil, err
	}
	for i, s := range out {
		if s == nil {
			return nil, nil, fmt.Errorf("%w: class %s is listed and unknown", record.ErrCorrupt, hashes[i])
		}
	}
	return out, next, nil
}

// InstancesOf returns up to limit contracts that have a class, in an order, behind
// one of them; nil starts at the first. One scan.
func InstancesOf(ctx context.Context, r store.Reader, hash felt.Felt, o InstanceSort, after *Instance, limit int) (out []Instance, more bool, err error) {
	reverse := o == ByNewest
	if o == ByOldest {
		o = ByNewest
	}
	rng := store.Range{Table: Instances, Partition: instancePartition(&hash, o), Reverse: reverse, Limit: limit + 1}
	if after != nil {
		place, _ := after.row(o)
		if rng.Reverse {
			rng.To = place
		} else {
			rng.From = store.After(place)
		}
	}
	for row, err := range r.Scan(ctx, rng) {
		if err != nil {
			return nil, false, fmt.Errorf("list the contracts of class %s: %w", hash, err)
		}
		if len(out) == limit {
			return out, true, nil
		}
		i, err := parseInstance(o, row)
		if err != nil {
			return nil, false, fmt.Errorf("class %s: %w", hash, err)
		}
		out = append(out, i)
	}
	return out, false, nil
}
