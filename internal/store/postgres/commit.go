package postgres

import (
	"context"
	"crypto/sha256"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"chainexplorer/internal/store"
)

const (
	// MaxBatchBytes bounds the keys and values of one commit, as the embedded
	// engine does.
	MaxBatchBytes = 1 << 30

	// Below these many rows of a table the rows travel as arrays in the same
	// message as everything else: a small commit is one round trip. From there on
	// COPY, which takes a few of its own, is faster: early where it goes straight
	// into the table, late where the rows have to be staged and merged.
	copyRows  = 200
	stageRows = 2000
	// arrayBytes bounds one array, whose values the server holds in memory.
	arrayBytes = 8 << 20
)

// mergeMemory knows which tables are written over. Rows of the others are all
// new, and COPY straight into the table is the fastest way to add them; it fails
// on the first row that exists, after which the table's rows are merged.
type mergeMemory struct {
	mu      sync.Mutex
	learned map[byte]bool // guarded by mu
}

func (m *mergeMemory) has(t *store.Table) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.learned[t.ID]
}

func (m *mergeMemory) add(t *store.Table) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.learned[t.ID] = true
}

// Commit applies the batch in one transaction. Small tables and deletions go in
// one message with the fence; then each large table is copied, or staged and
// merged.
func (e *Engine) Commit(ctx context.Context, b *store.Batch) error {
	if err := e.beginChange(ctx); err != nil {
		return err
	}
	defer e.running.Done()
	if b.Bytes() > MaxBatchBytes {
		return fmt.Errorf("%w: a batch of %d bytes is larger than %d", store.ErrInvalid, b.Bytes(), MaxBatchBytes)
	}
	ops := b.Ops()
	for i := range ops {
		if err := e.schema.CheckKey(&ops[i].Key); err != nil {
			return fmt.Errorf("change %d of the batch: %w", i, err)
		}
	}
	if err := store.CheckLeaseName(b.Lease); err != nil {
		return err
	}
	tables := byTable(ops)
	turn := e.turns.of(b.Lease)
	if err := turn.take(ctx); err != nil {
		return err
	}
	defer turn.give()
	conn, err := e.write.Acquire(ctx)
	if err != nil {
		return e.fault(ctx, "commit", err)
	}
	defer conn.Release()

	// From here on the caller's hurry could only make the outcome unknown.
	sending, cancel := context.WithTimeout(context.WithoutCancel(ctx), e.o.CommitTimeout)
	defer cancel()
	t := &transaction{engine: e, ctx: sending, conn: conn, lease: b.Lease, epoch: b.Epoch}
	if err := t.run(tables, len(ops) > 0); err != nil {
		t.abandon()
		if hasCode(err, codeDivisionByZero) {
			return store.ErrFenced
		}
		return e.fault(sending, "commit", err)
	}
	e.commits.Add(1)
	e.commitBytes.Add(uint64(b.Bytes()))
	e.followed.raise(b.Lease, t.number)
	return nil
}

// turns bound how many commits of this process run at a time, so that leases can
// always be renewed. The writer's never wait for others'; those under one lease
// follow one another, which is what the fence would make of them anyway.
type turns struct {
	writer, others turn
}

type turn chan struct{}

func newTurns() turns {
	return turns{writer: make(turn, writerCommits), others: make(turn, otherCommits)}
}

func (t *turns) of(lease string) turn {
	if lease == store.Writer {
		return t.writer
	}
	return t.others
}

func (t turn) take(ctx context.Context) error {
	select {
	case t <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := ctx.Err(); err != nil { // both may have been ready
		t.give()
		return err
	}
	return nil
}

func (t turn) give() { <-t }

// transaction is one commit on one connection.
type transaction struct {
	engine *Engine
	ctx    context.Context
	conn   *pgxpool.Conn
	lease  string
	epoch  uint64
	number int64 // of the commit
}

// large says whether a table's rows are copied.
func (e *Engine) large(c *changes) bool {
	return len(c.puts) >= stageRows || len(c.puts) >= copyRows && !e.merge.has(c.table)
}

func (t *transaction) run(tables []*changes, some bool) error {
	batch := &pgx.Batch{}
	t.open(batch, some)
	var large []*changes
	for _, c := range tables {
		t.remove(batch, c)
		if t.engine.large(c) {
			large = append(large, c)
		} else {
			t.upsert(batch, c)
		}
	}
	if len(large) == 0 {
		if t.engine.citus {
			batch.Queue(t.engine.own.lockCommit)
		}
		batch.Queue("commit")
	}
	if err := t.conn.SendBatch(t.ctx, batch).Close(); err != nil {
		return err
	}
	if len(large) == 0 {
		return nil
	}
	if err := t.writeLarge(large); err != nil {
		return err
	}
	end := &pgx.Batch{} // sent at once: see beginPinned
	if t.engine.citus {
		end.Queue(t.engine.own.lockCommit)
	}
	end.Queue("commit")
	return t.conn.SendBatch(t.ctx, end).Close()
}

// open begins the transaction, says under which lease, and checks that lease.
func (t *transaction) open(batch *pgx.Batch, some bool) {
	e := t.engine
	step := 0
	if some {
		step = 1
	}
	batch.Queue("begin isolation level read committed read write")
	batch.Queue("select set_config('application_name', $1, true)", sessionName(e.o.Schema, t.lease, t.epoch))
	batch.Queue(e.own.fence, int64(t.epoch), step, channel(e.o.Schema), t.lease).QueryRow(func(row pgx.Row) error {
		return row.Scan(&t.number, nil)
	})
}

// sessionName is what the server calls a connection that commits under a lease,
// so that whoever takes over can end it. It keeps 63 bytes of a name, so that of
// another lease than the writer's there is only a digest.
func sessionName(schema, lease string, epoch uint64) string {
	if lease == store.Writer {
		return fmt.Sprintf("cx:%s:%d", schema, epoch)
	}
	digest := sha256.Sum256([]byte(schema + " " + lease))
	return fmt.Sprintf("cx/%x:%d", digest[:16], epoch)
}

// remove queues the deletions of a table.
func (t *transaction) remove(batch *pgx.Batch, c *changes) {
	sql := t.engine.sql[c.table.ID].remove
	if !t.engine.citus {
		for ops := range chunks(c.deletes) {
			ps, ks, _ := arrays(ops)
			batch.Queue(sql, ps, ks)
		}
		return
	}
	for _, op := range c.deletes {
		batch.Queue(sql, solid(op.Partition), solid(op.Sort))
	}
}

// upsert queues the rows of a small table.
func (t *transaction) upsert(batch *pgx.Batch, c *changes) {
	for ops := range chunks(c.puts) {
		ps, ks, vs := arrays(ops)
		batch.Queue(t.engine.sql[c.table.ID].upsert, ps, ks, vs)
	}
}

func arrays(ops []*store.Op) (ps, ks, vs [][]byte) {
	all := make([][]byte, 3*len(ops))
	ps, ks, vs = all[:len(ops)], all[len(ops):2*len(ops)], all[2*len(ops):]
	for i, op := range ops {
		ps[i], ks[i], vs[i] = solid(op.Partition), solid(op.Sort), solid(op.Value)
	}
	return ps, ks, vs
}

// chunks cuts a list so that the arrays of each part stay below arrayBytes,
// unless one row alone is larger.
func chunks(ops []*store.Op) func(func([]*store.Op) bool) {
	return func(yield func([]*store.Op) bool) {
		start, size := 0, 0
		for i, op := range ops {
			n := len(op.Partition) + len(op.Sort) + len(op.Value)
			if i > start && size+n > arrayBytes {
				if !yield(ops[start:i]) {
					return
				}
				start, size = i, 0
			}
			size += n
		}
		if start < len(ops) {
			yield(ops[start:])
		}
	}
}

// writeLarge copies the tables that only grow and merges the others.
func (t *transaction) writeLarge(large []*changes) error {
	e := t.engine
	var merged []*changes
	for _, c := range large {
		if e.merge.has(c.table) {
			merged = append(merged, c)
			continue
		}
		exists, err := t.copyNew(c)
		if err != nil {
			return err
		}
		if exists {
			e.merge.add(c.table)
			merged = append(merged, c)
		}
	}
	if len(merged) == 0 {
		return nil
	}
	return t.stage(merged)
}

// copyNew adds rows to a table, or reports that one of them exists.
func (t *transaction) copyNew(c *changes) (exists bool, err error) {
	if _, err := t.conn.Exec(t.ctx, "savepoint copying"); err != nil {
		return false, err
	}
	_, err = t.conn.Conn().PgConn().CopyFrom(t.ctx, &copyStream{rows: c.puts}, t.engine.sql[c.table.ID].copyIn)
	end := "release savepoint copying"
	if exists = isDuplicate(err); exists {
		end = "rollback to savepoint copying"
	} else if err != nil {
		return false, fmt.Errorf("copy into table %s: %w", c.table.Name, err)
	}
	_, err = t.conn.Exec(t.ctx, end)
	return exists, err
}

// stage copies the rows of several tables to a table that only this connection
// sees and that the server does not log, and merges each from there.
func (t *transaction) stage(tables []*changes) error {
	var rows []*store.Op
	for _, c := range tables {
		rows = append(rows, c.puts...)
	}
	_, err := t.conn.Exec(t.ctx, "create temp table if not exists _stage (t int2, p bytea, k bytea, v bytea) on commit delete rows")
	if err != nil {
		return fmt.Errorf("make the staging table: %w", err)
	}
	_, err = t.conn.Conn().PgConn().CopyFrom(t.ctx, &copyStream{rows: rows, stage: true}, "copy pg_temp._stage (t, p, k, v) from stdin (format binary)")
	if err != nil {
		return fmt.Errorf("copy into the staging table: %w", err)
	}
	for _, c := range tables {
		if _, err := t.conn.Exec(t.ctx, t.engine.sql[c.table.ID].stageIn, int16(c.table.ID)); err != nil {
			return fmt.Errorf("merge table %s: %w", c.table.Name, err)
		}
	}
	return nil
}

// abandon rolls back what may be left; the pool closes the connection if it
// cannot.
func (t *transaction) abandon() {
	if t.conn.Conn().IsClosed() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.ctx), 5*time.Second)
	defer cancel()
	t.conn.Exec(ctx, "rollback") //nolint:errcheck // see above
}
