package ledger

import (
	"context"
	"fmt"

	"chainexplorer/internal/store"
)

// Wipe deletes up to so many rows of a generation: none are left when there are fewer.
func Wipe(ctx context.Context, r store.Reader, generation uint32, rows int, b *store.Batch) error {
	for _, t := range Kept() {
		left := rows - b.Len()
		if left <= 0 {
			return nil
		}
		for row, err := range r.Scan(ctx, store.Range{Table: t, Partition: Partition(generation), Limit: left}) {
			if err != nil {
				return fmt.Errorf("wipe table %s: %w", t.Name, err)
			}
			b.Delete(store.Key{Table: t, Partition: Partition(generation), Sort: append([]byte(nil), row.Sort...)})
		}
	}
	return nil
}
