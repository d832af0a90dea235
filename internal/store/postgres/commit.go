package postgres

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"chainexplorer/internal/store"
)

const (
	// MaxBatchBytes bounds the keys and values of one commit, as the embedded
	// engine does.
	MaxBatchBytes = 1 << 30

	// From this many new leaves on they are copied, which takes a few round trips of
	// its own; fewer travel as arrays in the same message as everything else.
	copyLeaves = 200
	// arrayBytes bounds one array, whose values the server holds in memory, and
	// askKeys the questions of one message.
	arrayBytes = 8 << 20
	askKeys    = 10_000
	// askGrowth is how fast the questions for one partition become more. A worker of
	// Citus is asked fewer times: in each the commit may wait for the busiest.
	askGrowth    = 8
	workerGrowth = 64
)

// Commit applies the batch in one transaction: with the fence it asks for the
// leaves that the rows belong into, and in a second message it writes those that
// became others. Many new ones are copied.
func (e *Engine) Commit(ctx context.Context, b *store.Batch) error {
	if err := e.beginChange(ctx); err != nil {
		return err
	}
	defer e.running.Done()
	if b.Bytes() > MaxBatchBytes {
		return fmt.Errorf("%w: a batch of %d bytes is larger than %d", store.ErrInvalid, b.Bytes(), MaxBatchBytes)
	}
	if len(b.Cuts()) > 0 || b.Stream() != nil {
		return fmt.Errorf("%w: this engine takes no cuts and no streams", store.ErrInvalid)
	}
	if err := e.schema.CheckChanges(b.Changes()); err != nil {
		return err
	}
	if err := store.CheckLeaseName(b.Lease); err != nil {
		return err
	}
	spans := bySpan(b.Ops())
	turn := e.turns.of(b.Lease)
	if err := turn.take(ctx); err != nil {
		return err
	}
	defer turn.give()
	conn, err := e.write.Acquire(ctx)
	if err != nil {
		return e.fault(ctx, "commit", err)
	}

	// From here on the caller's hurry could only make the outcome unknown.
	sending, cancel := context.WithTimeout(context.WithoutCancel(ctx), e.o.CommitTimeout)
	defer cancel()
	t := &transaction{engine: e, ctx: sending, conn: conn, lease: b.Lease, epoch: b.Epoch, ring: e.ring.Load()}
	defer func() { t.release() }()
	if e.citus && len(spans) > 0 {
		err = t.spread(spans)
	} else if err = t.run(spans); err != nil {
		t.abandon()
	}
	if err != nil {
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

// transaction is one commit on one connection, which under Citus is that to the
// coordinator.
type transaction struct {
	engine *Engine
	ctx    context.Context
	conn   *pgxpool.Conn
	lease  string
	epoch  uint64
	number int64  // of the commit
	ring   *ring  // under Citus
	xid    string // the same
}

func (t *transaction) run(spans []*span) error {
	batch := &pgx.Batch{}
	t.open(batch, len(spans) > 0)
	if len(spans) == 0 {
		batch.Queue("commit")
		return t.conn.SendBatch(t.ctx, batch).Close()
	}
	t.lockTables(batch, spans)
	spots, err := find(spans, askGrowth, func(questions []question, answers *[]answer) error {
		t.engine.sql.queueAsk(batch, questions, answers)
		err := t.conn.SendBatch(t.ctx, batch).Close()
		batch = &pgx.Batch{}
		return err
	})
	if err != nil {
		return err
	}
	w, err := change(spots)
	if err != nil {
		return err
	}
	return t.write(w)
}

func (t *transaction) lockTables(batch *pgx.Batch, spans []*span) {
	batch.Queue("select pg_advisory_xact_lock(x) from unnest($1::bigint[]) x", tableLocks(t.engine.o.Schema, spans))
}

// tableLocks are the locks of the tables that are written to, in order: two commits
// under different leases that wrote to one leaf would each undo what the other did.
func tableLocks(schema string, spans []*span) (keys []int64) {
	last := byte(0)
	for _, s := range spans {
		if s.table.ID != last {
			last = s.table.ID
			sum := sha256.Sum256(append([]byte(program+" rows of "+schema+" "), last))
			keys = append(keys, int64(binary.BigEndian.Uint64(sum[:])))
		}
	}
	return keys
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

// abandon rolls back what may be left; the pool closes the connection if it
// cannot.
func (t *transaction) abandon() {
	if t.conn.Conn().IsClosed() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.ctx), 5*time.Second)
	defer cancel()
	t.conn.Exec(ctx, "rollback") //nolint:errcheck // see above
	if t.engine.citus {          // see decide
		t.conn.Exec(ctx, "select pg_advisory_unlock_all()") //nolint:errcheck // see above
	}
}

func (t *transaction) release() {
	if t.conn != nil {
		t.conn.Release()
		t.conn = nil
	}
}
