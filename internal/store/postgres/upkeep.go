package postgres

import (
	"context"

	"chainexplorer/internal/store"
)

// Stats reports the engine's size and work. MemoryBytes is 0: the server's
// memory is not this process's.
func (e *Engine) Stats(ctx context.Context) (store.Stats, error) {
	if err := e.begin(ctx); err != nil {
		return store.Stats{}, err
	}
	defer e.running.Done()
	size := `select coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint from pg_class c
		join pg_namespace n on n.oid = c.relnamespace where n.nspname = $1 and c.relkind = 'r'`
	if e.citus {
		size = `select coalesce(sum(citus_total_relation_size(c.oid)), 0)::bigint from pg_class c
			join pg_namespace n on n.oid = c.relnamespace join pg_dist_partition d on d.logicalrelid = c.oid where n.nspname = $1`
	}
	var bytes int64
	if err := e.write.QueryRow(ctx, size, e.o.Schema).Scan(&bytes); err != nil {
		return store.Stats{}, e.fault(ctx, "measure the store", err)
	}
	return store.Stats{DiskBytes: uint64(bytes), Commits: e.commits.Load(), CommitBytes: e.commitBytes.Load()}, nil
}

// Compact frees the room of deleted rows for new ones and renews the planner's
// statistics, beside reads and commits (VACUUM ANALYZE). It does
// not give room back to the system: that takes VACUUM FULL, which locks a table
// for as long as it is rewritten, and is left to the operator.
func (e *Engine) Compact(ctx context.Context) error {
	if err := e.beginChange(ctx); err != nil {
		return err
	}
	defer e.running.Done()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-e.closing:
			cancel()
		case <-ctx.Done():
		}
	}()
	pooled, err := e.write.Acquire(ctx)
	if err != nil {
		return e.fault(ctx, "compact", err)
	}
	conn := pooled.Hijack()                      // it has other settings now
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // its work is done
	if _, err := conn.Exec(ctx, "set statement_timeout = 0"); err != nil {
		return e.fault(ctx, "compact", err)
	}
	if _, err := conn.Exec(ctx, "vacuum (analyze) "+e.sql.table); err != nil {
		if e.isClosing() {
			return store.ErrClosed
		}
		return e.fault(ctx, "compact", err)
	}
	return nil
}
