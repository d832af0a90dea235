package postgres

import (
	"bytes"
	"context"
	"iter"

	"github.com/jackc/pgx/v5"

	"chainexplorer/internal/store"
)

// Walk reads the leaves of a table page by page, from all shards in turn.
func (r *reader) Walk(ctx context.Context, t *store.Table, after *store.Key) iter.Seq2[store.Entry, error] {
	return func(yield func(store.Entry, error) bool) {
		if err := r.engine.schema.CheckTable(t); err != nil {
			yield(store.Entry{}, err)
			return
		}
		if after != nil {
			if err := r.engine.schema.CheckKey(&store.Key{Table: t, Partition: after.Partition, Sort: after.Sort}); err != nil {
				yield(store.Entry{}, err)
				return
			}
		}
		if err := r.check(ctx); err != nil {
			yield(store.Entry{}, err)
			return
		}
		if err := r.walk(ctx, t, after, func(e store.Entry) bool { return yield(e, nil) }); err != nil {
			yield(store.Entry{}, err)
		}
	}
}

func (r *reader) walk(ctx context.Context, t *store.Table, after *store.Key, yield func(store.Entry) bool) error {
	p, key, err := r.walkStart(ctx, t, after)
	if err != nil {
		return err
	}
	walks := make([]*shardWalk, 0, len(r.ring.shards))
	for _, in := range r.ring.shards {
		w := &shardWalk{reader: r, table: t, shard: in, sql: in.sql.walkFrom, p: p, key: key, most: max(maxPage/len(r.ring.shards), 16)}
		w.page = page{columns: 4, bytes: pageBytes / len(r.ring.shards)}
		w.size = max(firstPage/len(r.ring.shards), 16)
		more, err := w.load(ctx)
		if err != nil {
			return err
		}
		if more {
			walks = append(walks, w)
		}
	}
	for len(walks) > 0 {
		first := 0
		for i := range walks { // a partition is in one shard
			if bytes.Compare(walks[i].partition(), walks[first].partition()) < 0 {
				first = i
			}
		}
		w := walks[first]
		partition, l := w.partition()[1:], w.page.leaf(w.at, 1)
		for c := l.cursor(); ; {
			ok, err := c.next()
			if err != nil {
				return r.engine.fault(ctx, "read table "+t.Name, err)
			}
			if !ok {
				break
			}
			if after != nil && bytes.Equal(partition, after.Partition) && bytes.Compare(c.key, after.Sort) <= 0 {
				continue
			}
			if err := r.check(ctx); err != nil {
				return err
			}
			if !yield(store.Entry{Partition: partition, Sort: c.key, Value: c.value}) {
				return nil
			}
		}
		more, err := w.next(ctx)
		if err != nil {
			return err
		}
		if !more {
			walks = append(walks[:first], walks[first+1:]...)
		}
	}
	return nil
}

// shardWalk goes through the leaves of a table in one shard.
type shardWalk struct {
	reader *reader
	table  *store.Table
	shard  *shard

	sql    string
	p, key []byte // behind which, or from which on, the next page begins
	page   page
	size   int // leaves that the page was to have
	most   int
	at     int
}

func (w *shardWalk) partition() []byte { return w.page.column(w.at, 0) }

// next goes to the next leaf.
func (w *shardWalk) next(ctx context.Context) (more bool, err error) {
	if w.at++; w.at < w.page.rows() {
		return true, nil
	}
	if w.page.rows() < w.size {
		return false, nil
	}
	w.sql, w.p, w.key = w.shard.sql.walk, bytes.Clone(w.page.column(w.size-1, 0)), bytes.Clone(w.page.column(w.size-1, 1))
	w.size = w.page.next(w.most)
	return w.load(ctx)
}

func (w *shardWalk) load(ctx context.Context) (some bool, err error) {
	w.at = 0
	err = w.reader.on(ctx, w.table, w.shard.server, func(conn *pgx.Conn) error {
		return w.page.read(ctx, conn, w.sql, w.p, solid(w.key), []byte{w.table.ID + 1}, w.size)
	})
	return w.page.rows() > 0, err
}

// walkStart is the first leaf of a walk: that of the key behind which it begins.
func (r *reader) walkStart(ctx context.Context, t *store.Table, after *store.Key) (p, key []byte, err error) {
	if after == nil {
		return []byte{t.ID}, nil, nil
	}
	p, key = partitionOf(t, after.Partition), after.Sort
	in := r.ring.shardOf(p)
	found := &page{columns: 3}
	err = r.on(ctx, t, in.server, func(conn *pgx.Conn) error { return found.read(ctx, conn, in.sql.get, p, solid(key)) })
	if err == nil && found.rows() > 0 {
		key = found.column(0, 0)
	}
	return p, key, err
}
