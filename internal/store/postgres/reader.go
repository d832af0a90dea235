package postgres

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"iter"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"chainexplorer/internal/store"
)

const (
	// firstPage is how many leaves are asked for at once. Later pages follow the
	// size of the leaves.
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
	l, missing := leaf{}, false
	partition := partitionOf(k.Table, k.Partition)
	in := r.ring.shardOf(partition)
	err = r.on(ctx, k.Table, in.server, func(conn *pgx.Conn) error {
		var n int16
		err := conn.QueryRow(ctx, in.sql.get, partition, solid(k.Sort)).Scan(&l.first, &n, &l.value)
		l.rows = int(n)
		if missing = errors.Is(err, pgx.ErrNoRows); missing {
			return nil
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if !missing {
		value, err = l.find(k.Sort)
		if err != nil {
			return nil, r.engine.fault(ctx, "read table "+k.Table.Name, err)
		}
	}
	if value == nil {
		return nil, store.ErrNotFound
	}
	return value, nil
}

// GetMany asks one question for each shard that has some of the keys, on all servers
// at once.
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
	batches := make([]pgx.Batch, len(r.ring.servers))
	for in, asked := range r.ring.byShard(ks) {
		batches[in.server].Queue(in.sql.getMany, asked.ps, asked.sorts).Query(asked.find(ks, out))
	}
	var g errgroup.Group
	for server := range batches {
		if batches[server].Len() == 0 {
			continue
		}
		ask := func() error {
			return r.on(ctx, ks[0].Table, server, func(conn *pgx.Conn) error { return conn.SendBatch(ctx, &batches[server]).Close() })
		}
		if len(batches) > 1 {
			g.Go(ask)
		} else if err := ask(); err != nil {
			return nil, err
		}
	}
	if err := g.Wait(); err != nil {
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

// asked are the keys that one shard is asked for.
type asked struct {
	ps, sorts [][]byte
	places    []int // in the list of all
}

func (r *ring) byShard(ks []store.Key) map[*shard]*asked {
	out := map[*shard]*asked{}
	for i, k := range ks {
		partition := partitionOf(k.Table, k.Partition)
		in := r.shardOf(partition)
		a := out[in]
		if a == nil {
			a = &asked{}
			out[in] = a
		}
		a.ps, a.sorts, a.places = append(a.ps, partition), append(a.sorts, solid(k.Sort)), append(a.places, i)
	}
	return out
}

// find takes the values of the keys out of the leaves.
func (a *asked) find(ks []store.Key, out [][]byte) func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		for rows.Next() {
			raw := rows.RawValues()
			place := a.places[binary.BigEndian.Uint64(raw[0])-1]
			l := leaf{first: raw[1], rows: int(binary.BigEndian.Uint16(raw[2])), value: raw[3]}
			value, err := l.find(ks[place].Sort)
			if err != nil {
				return err
			}
			if value != nil {
				out[place] = append(make([]byte, 0, len(value)), value...)
			}
		}
		return rows.Err()
	}
}

// page holds the rows of one answer: all columns one after another in one piece
// of memory, and where each ends.
type page struct {
	columns int
	bytes   int // about how large the next one may be; 0: pageBytes
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

// leaf is the leaf whose columns begin at the given one.
func (p *page) leaf(row, column int) leaf {
	return leaf{first: p.column(row, column), rows: int(binary.BigEndian.Uint16(p.column(row, column+1))), value: p.column(row, column+2)}
}

// next is how many leaves to ask for after this page, of which there are so many
// at the most.
func (p *page) next(most int) int {
	size := p.bytes
	if size == 0 {
		size = pageBytes
	}
	average := max(len(p.data)/max(p.rows(), 1), 1)
	return min(max(size/average, 16), maxPage, most)
}

// filling is how many rows the leaves of a table were seen to hold, by which a
// scan guesses how many leaves to ask for. A wrong guess is another page.
type filling struct {
	rows, leaves atomic.Int64
}

// leavesFor is how many leaves probably hold that many rows.
func (f *filling) leavesFor(rows int) int {
	seen, in := f.rows.Load(), f.leaves.Load()
	if seen == 0 {
		return min(rows, 16) + 1
	}
	return min(int(int64(rows)*in*5/4/seen)+2, rows+1)
}

func (f *filling) add(rows int) {
	f.rows.Add(int64(rows))
	f.leaves.Add(1)
}

// Scan reads leaves page by page, from the one on that the range begins in.
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
		s := scan{reader: r, ctx: ctx, rg: rg, left: rg.Limit, yield: yield}
		if err := s.run(); err != nil {
			yield(store.Row{}, err)
		}
	}
}

// scan is one run of a range.
type scan struct {
	*reader
	ctx   context.Context
	rg    store.Range
	left  int // rows that may still be shown
	yield func(store.Row, error) bool
	rows  []pair // of a leaf, in reverse
}

func (s *scan) run() error {
	p := &page{columns: 3}
	full := &s.engine.filling[s.rg.Table.ID]
	in := s.ring.shardOf(partitionOf(s.rg.Table, s.rg.Partition))
	sql, from, to := &in.sql.scan[b2i(s.rg.Reverse)], s.rg.From, s.rg.To
	for size := min(full.leavesFor(s.left), firstPage); ; size = p.next(full.leavesFor(s.left)) {
		if err := s.page(p, in.server, sql[b2i(to != nil)], from, to, size); err != nil {
			return err
		}
		for i := range p.rows() {
			l := p.leaf(i, 0)
			full.add(l.rows)
			if more, err := s.show(&l); err != nil || !more {
				return err
			}
		}
		if p.rows() < size {
			return nil
		}
		if last := p.column(size-1, 0); s.rg.Reverse {
			to = bytes.Clone(last)
		} else {
			sql, from = &in.sql.scanOn, bytes.Clone(last)
		}
	}
}

func (s *scan) page(p *page, server int, sql string, from, to []byte, limit int) error {
	args := []any{partitionOf(s.rg.Table, s.rg.Partition), solid(from), limit}
	if to != nil {
		args = append(args, to)
	}
	return s.on(s.ctx, s.rg.Table, server, func(conn *pgx.Conn) error { return p.read(s.ctx, conn, sql, args...) })
}

// show hands out the rows of a leaf that are in the range.
func (s *scan) show(l *leaf) (more bool, err error) {
	if s.rg.Reverse {
		return s.showReverse(l)
	}
	for c := l.cursor(); ; {
		ok, err := c.next()
		if !ok {
			return true, s.engine.fault(s.ctx, "read table "+s.rg.Table.Name, err)
		}
		if bytes.Compare(c.key, s.rg.From) < 0 {
			continue
		}
		if s.rg.To != nil && bytes.Compare(c.key, s.rg.To) >= 0 {
			return false, nil
		}
		if more, err := s.hand(c.key, c.value); err != nil || !more {
			return false, err
		}
	}
}

func (s *scan) showReverse(l *leaf) (more bool, err error) {
	if s.rows, err = l.pairs(); err != nil {
		return false, s.engine.fault(s.ctx, "read table "+s.rg.Table.Name, err)
	}
	for i := len(s.rows) - 1; i >= 0; i-- {
		row := s.rows[i]
		if s.rg.To != nil && bytes.Compare(row.key, s.rg.To) >= 0 {
			continue
		}
		if bytes.Compare(row.key, s.rg.From) < 0 {
			return false, nil
		}
		if more, err := s.hand(row.key, row.value); err != nil || !more {
			return false, err
		}
	}
	return true, nil
}

// hand shows one row.
func (s *scan) hand(key, value []byte) (more bool, err error) {
	if err := s.check(s.ctx); err != nil {
		return false, err
	}
	if !s.yield(store.Row{Sort: key, Value: value}, nil) {
		return false, nil
	}
	s.left--
	return s.left > 0, nil
}
