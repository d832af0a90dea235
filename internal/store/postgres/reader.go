package postgres

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"iter"

	"github.com/jackc/pgx/v5"

	"chainexplorer/internal/store"
)

const (
	// firstPage is how many rows a scan asks for at once; every scan on the path
	// of a request stays below it. Later pages follow the size of the rows.
	firstPage = 512
	maxPage   = 16 << 10
	pageBytes = 4 << 20
)

// solid makes sure that the driver sends an empty value and not NULL.
func solid(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

func (r *reader) Get(ctx context.Context, k store.Key) (value []byte, err error) {
	if err := r.check(ctx); err != nil {
		return nil, err
	}
	if err := r.engine.schema.CheckKey(&k); err != nil {
		return nil, err
	}
	missing := false
	err = r.on(ctx, k.Table, func(conn *pgx.Conn) error {
		err := conn.QueryRow(ctx, r.engine.sql[k.Table.ID].get, solid(k.Partition), solid(k.Sort)).Scan(&value)
		missing = errors.Is(err, pgx.ErrNoRows)
		if missing {
			return nil
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if missing {
		return nil, store.ErrNotFound
	}
	return value, nil
}

// GetMany asks one question per table (under Citus per key), all sent together.
func (r *reader) GetMany(ctx context.Context, ks []store.Key) ([][]byte, error) {
	if err := r.check(ctx); err != nil {
		return nil, err
	}
	for i := range ks {
		if err := r.engine.schema.CheckKey(&ks[i]); err != nil {
			return nil, err
		}
	}
	out := make([][]byte, len(ks))
	if len(ks) == 0 {
		return out, nil
	}
	batch := &pgx.Batch{}
	if r.engine.citus {
		r.engine.askByKey(batch, ks, out)
	} else {
		r.engine.askByTable(batch, ks, out)
	}
	err := r.on(ctx, ks[0].Table, func(conn *pgx.Conn) error {
		return conn.SendBatch(ctx, batch).Close()
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Each reads the rows as GetMany does: they come over the network in any case.
func (r *reader) Each(ctx context.Context, ks []store.Key, visitor func() store.Visitor) error {
	values, err := r.GetMany(ctx, ks)
	if err != nil || len(ks) == 0 {
		return err
	}
	visit := visitor()
	for i, v := range values {
		if v == nil {
			continue
		}
		if err := visit(i, v); err != nil {
			return err
		}
	}
	return nil
}

// askByTable joins the keys of a table with its index.
func (e *Engine) askByTable(batch *pgx.Batch, ks []store.Key, out [][]byte) {
	type question struct {
		ps, ks [][]byte
		places []int
	}
	questions := make(map[byte]*question)
	var order []byte
	for i := range ks {
		id := ks[i].Table.ID
		q := questions[id]
		if q == nil {
			q = &question{}
			questions[id] = q
			order = append(order, id)
		}
		q.ps, q.ks, q.places = append(q.ps, solid(ks[i].Partition)), append(q.ks, solid(ks[i].Sort)), append(q.places, i)
	}
	for _, id := range order {
		q := questions[id]
		batch.Queue(e.sql[id].getMany, q.ps, q.ks).Query(func(rows pgx.Rows) error {
			for rows.Next() {
				raw := rows.RawValues()
				place := q.places[binary.BigEndian.Uint64(raw[0])-1]
				out[place] = append(make([]byte, 0, len(raw[1])), raw[1]...)
			}
			return rows.Err()
		})
	}
}

// askByKey asks one question per key, which Citus sends to the one shard that
// holds it. A list of keys in one question would let a worker read a whole
// partition to find them.
func (e *Engine) askByKey(batch *pgx.Batch, ks []store.Key, out [][]byte) {
	for i := range ks {
		batch.Queue(e.sql[ks[i].Table.ID].get, solid(ks[i].Partition), solid(ks[i].Sort)).Query(func(rows pgx.Rows) error {
			for rows.Next() {
				raw := rows.RawValues()
				out[i] = append(make([]byte, 0, len(raw[0])), raw[0]...)
			}
			return rows.Err()
		})
	}
}

// page holds the rows of one answer: all columns one after another in one piece
// of memory, and where each ends.
type page struct {
	columns int
	data    []byte
	ends    []int
}

func (p *page) rows() int { return len(p.ends) / p.columns }

// column is a part of a row; it cannot grow into its neighbour.
func (p *page) column(row, column int) []byte {
	i := row*p.columns + column
	start := 0
	if i > 0 {
		start = p.ends[i-1]
	}
	return p.data[start:p.ends[i]:p.ends[i]]
}

// read fills the page with the answer to a query.
func (p *page) read(ctx context.Context, conn *pgx.Conn, sql string, args ...any) error {
	p.data, p.ends = p.data[:0], p.ends[:0]
	rows, err := conn.Query(ctx, sql, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		for _, value := range rows.RawValues() {
			p.data = append(p.data, value...)
			p.ends = append(p.ends, len(p.data))
		}
	}
	return rows.Err()
}

// next is how many rows to ask for after this page.
func (p *page) next() int {
	average := max(len(p.data)/max(p.rows(), 1), 1)
	return min(max(pageBytes/average, 16), maxPage)
}

func (r *reader) Scan(ctx context.Context, rg store.Range) iter.Seq2[store.Row, error] {
	return func(yield func(store.Row, error) bool) {
		if err := r.engine.schema.CheckRange(&rg); err != nil {
			yield(store.Row{}, err)
			return
		}
		if err := r.check(ctx); err != nil {
			yield(store.Row{}, err)
			return
		}
		if rg.To != nil && bytes.Compare(rg.From, rg.To) >= 0 {
			return
		}
		rg := rg // a sequence may run more than once
		p := &page{columns: 2}
		for size := firstPage; rg.Limit > 0; size = p.next() {
			size = min(size, rg.Limit)
			if err := r.scanPage(ctx, p, &rg, size); err != nil {
				yield(store.Row{}, err)
				return
			}
			for i := range p.rows() {
				if err := r.check(ctx); err != nil {
					yield(store.Row{}, err)
					return
				}
				if !yield(store.Row{Sort: p.column(i, 0), Value: p.column(i, 1)}, nil) {
					return
				}
			}
			if p.rows() < size {
				return
			}
			rg.Limit -= size
			if last := p.column(size-1, 0); rg.Reverse {
				rg.To = bytes.Clone(last)
			} else {
				rg.From = store.After(last)
			}
		}
	}
}

func (r *reader) scanPage(ctx context.Context, p *page, rg *store.Range, limit int) error {
	args := []any{solid(rg.Partition), solid(rg.From), limit}
	if rg.To != nil {
		args = append(args, rg.To)
	}
	sql := r.engine.sql[rg.Table.ID].scan[b2i(rg.Reverse)][b2i(rg.To != nil)]
	return r.on(ctx, rg.Table, func(conn *pgx.Conn) error { return p.read(ctx, conn, sql, args...) })
}

func (r *reader) Walk(ctx context.Context, t *store.Table, after *store.Key) iter.Seq2[store.Entry, error] {
	return func(yield func(store.Entry, error) bool) {
		if err := r.engine.schema.CheckTable(t); err != nil {
			yield(store.Entry{}, err)
			return
		}
		var from *store.Key
		if after != nil {
			from = &store.Key{Table: t, Partition: after.Partition, Sort: after.Sort}
			if err := r.engine.schema.CheckKey(from); err != nil {
				yield(store.Entry{}, err)
				return
			}
		}
		if err := r.check(ctx); err != nil {
			yield(store.Entry{}, err)
			return
		}
		p := &page{columns: 3}
		for size := firstPage; ; size = p.next() {
			if err := r.walkPage(ctx, p, t, from, size); err != nil {
				yield(store.Entry{}, err)
				return
			}
			for i := range p.rows() {
				if err := r.check(ctx); err != nil {
					yield(store.Entry{}, err)
					return
				}
				if !yield(store.Entry{Partition: p.column(i, 0), Sort: p.column(i, 1), Value: p.column(i, 2)}, nil) {
					return
				}
			}
			if p.rows() < size {
				return
			}
			from = &store.Key{Partition: bytes.Clone(p.column(size-1, 0)), Sort: bytes.Clone(p.column(size-1, 1))}
		}
	}
}

func (r *reader) walkPage(ctx context.Context, p *page, t *store.Table, from *store.Key, limit int) error {
	s := r.engine.sql[t.ID]
	return r.on(ctx, t, func(conn *pgx.Conn) error {
		if from == nil {
			return p.read(ctx, conn, s.walkStart, limit)
		}
		return p.read(ctx, conn, s.walk, solid(from.Partition), solid(from.Sort), limit)
	})
}
