package class

import (
	"context"
	"fmt"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/store"
)

// Declared returns the first declaration of a class. Classes of the first
// months came with their contracts and have none. One scan.
func Declared(ctx context.Context, r store.Reader, hash felt.Felt) (d Declaration, found bool, err error) {
	rng := store.Range{Table: Declarations, Partition: hash[:], Limit: 1}
	for row, err := range r.Scan(ctx, rng) {
		if err != nil {
			return d, false, fmt.Errorf("read the declaration of class %s: %w", hash, err)
		}
		if d, err = parseDeclaration(row); err != nil {
			return d, false, fmt.Errorf("class %s: %w", hash, err)
		}
		found = true
	}
	return d, found, nil
}

// ABIsOf returns what is kept of classes, in order, nil for one of which
// nothing is. One GetMany. A row that cannot be read is an error in errs, in
// the same order, so that it spoils no other.
func ABIsOf(ctx context.Context, r store.Reader, hashes []felt.Felt) (abis []*ABI, errs []error, err error) {
	keys := make([]store.Key, len(hashes))
	for i := range hashes {
		keys[i] = ABIKey(hashes[i])
	}
	values, err := r.GetMany(ctx, keys)
	if err != nil {
		return nil, nil, fmt.Errorf("read %d classes: %w", len(hashes), err)
	}
	abis, errs = make([]*ABI, len(hashes)), make([]error, len(hashes))
	for i, v := range values {
		if v == nil {
			continue
		}
		if abis[i], err = DecodeABI(v); err != nil {
			errs[i] = fmt.Errorf("class %s: %w", hashes[i], err)
		}
	}
	return abis, errs, nil
}

// AbsentAfter lists up to limit classes that could not be had, in the order of
// their hashes, behind a hash; nil starts at the first. One scan.
func AbsentAfter(ctx context.Context, r store.Reader, after *felt.Felt, limit int) (hashes []felt.Felt, err error) {
	rng := store.Range{Table: Missing, Limit: limit}
	if after != nil {
		rng.From = store.After(after[:])
	}
	for row, err := range r.Scan(ctx, rng) {
		if err != nil {
			return nil, fmt.Errorf("list missing classes: %w", err)
		}
		hash, _, err := ParseMissing(row.Sort, row.Value)
		if err != nil {
			return nil, err
		}
		hashes = append(hashes, hash)
	}
	return hashes, nil
}
