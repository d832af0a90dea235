package main

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"chainexplorer/internal/index"
	"chainexplorer/internal/store"
)

// keepIndexing runs an indexer until ctx ends or a person must look. Where other
// processes may write the same store, an indexer that lost its lease or its
// database stands by again with a new one.
func keepIndexing(ctx context.Context, first *index.Indexer, shared bool, log *slog.Logger, run func(context.Context, *index.Indexer) error) error {
	const least, most = 250 * time.Millisecond, 5 * time.Second
	wait := least
	for x := first; ; {
		begin := time.Now()
		err := run(ctx, x)
		if err == nil || ctx.Err() != nil || !shared || index.Permanent(err) || errors.Is(err, store.ErrClosed) {
			return err
		}
		if time.Since(begin) > time.Minute { // it worked for a while
			wait = least
		}
		log.Warn("the indexer stopped and stands by", "err", err)
		t := time.NewTimer(wait)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return nil
		}
		wait = min(2*wait, most)
		if x, err = index.New(first.Options); err != nil {
			return err
		}
	}
}
