package event_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/event"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/record"
)

// TestRowsOfAnotherVersionAreRefused: what stands behind the version is the matter
// of package postings, and of its tests.
func TestRowsOfAnotherVersionAreRefused(t *testing.T) {
	c := handmade(3, 1)
	for _, row := range [][]byte{{}, {0, 0, 0}, {2, 0, 0}} {
		e := load(t, c)
		from := emitter(1)
		partition := append([]byte{event.Positions}, from[:]...) // the list of an emitter
		lease, err := e.Acquire(t.Context(), store.Writer, "test", time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		batch := &store.Batch{Epoch: lease.Epoch}
		batch.Put(store.Key{Table: event.Lists, Partition: partition, Sort: explorer.BlockKey(0)}, row)
		if err := e.Commit(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
		view(t, e, func(ctx context.Context, r store.Reader) {
			q := event.Query{Emitters: []felt.Felt{from}, To: 0, Limit: 10}
			if page, err := event.Search(ctx, r, q); !errors.Is(err, record.ErrCorrupt) {
				t.Errorf("%x was read as %v, %v", row, page.Events, err)
			}
		})
	}
}
