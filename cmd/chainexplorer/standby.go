package main

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"chainexplorer/internal/backoff"
	"chainexplorer/internal/index"
	"chainexplorer/internal/logs"
	"chainexplorer/internal/store"
)

// keepIndexing runs an indexer until ctx ends or a person must look. Where other
// processes may write the same store, an indexer that lost its lease or its
// database stands by again with a new one.
func keepIndexing(ctx context.Context, first *index.Indexer, shared bool, log *slog.Logger, run func(context.Context, *index.Indexer) error) error {
	again := backoff.Policy{Min: 250 * time.Millisecond, Max: 5 * time.Second}
	trouble := logs.Lasting{Logger: log, Trouble: "the indexer stopped and stands by"}
	failures := 0
	for x := first; ; {
		begin := time.Now()
		err := run(ctx, x)
		if err == nil || ctx.Err() != nil || !shared || index.Permanent(err) || errors.Is(err, store.ErrClosed) {
			return err
		}
		if time.Since(begin) > time.Minute { // it worked for a while
			failures = 0
			trouble.Works()
		}
		failures++
		trouble.Fails(err)
		if backoff.Wait(ctx, again.After(failures)) != nil {
			return nil
		}
		if x, err = index.New(first.Options); err != nil {
			return err
		}
	}
}
