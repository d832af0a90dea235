package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"
)

// Under Citus a commit is a transaction on each worker that has some of its leaves,
// straight to the worker, and one on the coordinator:
//
//	coordinator  the fence, and the locks of the tables
//	workers      the leaves are read and written, and the transaction is prepared
//	coordinator  it commits, which is the decision
//	workers      what is prepared is committed
//
// The workers go through their steps side by side and wait for one another only for
// the decision. What they have prepared is named after the coordinator's transaction,
// so that anybody can tell from its outcome what is to become of it (see resolve.go).
//
// A worker's transaction holds Citus' lock of its shards, as writes through Citus do,
// also while it is prepared: a shard that is being moved or split waits for it.

// part is what a commit does on one worker.
type part struct {
	*transaction
	to    *server
	conn  *pgxpool.Conn
	spans []*span
	ids   []int64 // of the shards
	begun bool
	sure  bool // that the shards are here, and whole
	sent  bool // that it may be prepared
}

// killed says that a test killed the process.
type killed struct{}

func (killed) Error() string { return "killed in the middle of a commit" }

// The steps at which a test may kill a process (see Options.Dies).
const (
	StepPrepared = "prepared" // nothing is decided
	StepDecided  = "decided"  // no worker knows it yet
)

// spread commits, and begins again where nothing was decided and another try will
// find the reason gone.
func (t *transaction) spread(spans []*span) error {
	e := t.engine
	for {
		err := t.trySpread(spans)
		if err == nil || errors.As(err, new(killed)) || t.ctx.Err() != nil || hasCode(err, codeDivisionByZero) {
			return err
		}
		again := errors.Is(err, errRearranged)
		if hasCode(err, codeLockTimeout) {
			// Something that was left prepared may hold it, or a shard is being moved.
			again = e.settle(t.ctx, t.ring.servers) == nil
		}
		if found := e.arrange(t.ctx); found != nil {
			return errors.Join(err, found)
		}
		if !again && e.ring.Load() == t.ring {
			return err
		}
		if t.ring = e.ring.Load(); t.conn == nil || t.conn.Conn().IsClosed() {
			t.release()
			if t.conn, err = e.write.Acquire(t.ctx); err != nil {
				return err
			}
		}
	}
}

func (t *transaction) trySpread(spans []*span) error {
	batch := &pgx.Batch{}
	t.open(batch, true)
	t.lockTables(batch, spans)
	batch.Queue("select pg_current_xact_id()::text").QueryRow(func(row pgx.Row) error { return row.Scan(&t.xid) })
	if err := t.conn.SendBatch(t.ctx, batch).Close(); err != nil {
		t.abandon()
		return err
	}
	parts := t.share(spans)
	err := each(parts, (*part).prepare)
	if err == nil && t.dies(StepPrepared, parts) {
		return killed{}
	}
	decided := false
	if err == nil {
		decided, err = t.decide()
	}
	if !decided {
		return t.undo(parts, err)
	}
	if t.dies(StepDecided, parts) {
		return killed{}
	}
	// A worker that is away has it prepared; whoever meets it there commits it.
	if late := each(parts, (*part).finish); late != nil {
		t.engine.log.Warn("a worker was away when a commit ended; it is finished when the worker is back", "err", redact(late))
	}
	for _, p := range parts {
		p.release()
	}
	t.openGate()
	return nil
}

// share gives each worker the partitions whose shards it has.
func (t *transaction) share(spans []*span) []*part {
	by := make([]*part, len(t.ring.servers))
	for _, s := range spans {
		in := t.ring.shardOf(s.partition)
		p := by[in.server]
		if p == nil {
			p = &part{transaction: t, to: t.ring.servers[in.server]}
			by[in.server] = p
		}
		p.spans = append(p.spans, s)
		if !slices.Contains(p.ids, in.id) {
			p.ids = append(p.ids, in.id)
		}
	}
	by = slices.DeleteFunc(by, func(p *part) bool { return p == nil })
	for _, p := range by {
		slices.Sort(p.ids) // in one order, so that none waits for the other
	}
	return by
}

// each does something on all workers at once. One that fails does not stop the
// others: whether they had prepared could not be told then.
func each(parts []*part, do func(*part) error) error {
	var g errgroup.Group
	for _, p := range parts {
		g.Go(func() error {
			if err := do(p); err != nil {
				return fmt.Errorf("worker %s: %w", p.to.name, err)
			}
			return nil
		})
	}
	return g.Wait()
}

// prepare goes all the way to the decision.
func (p *part) prepare() (err error) {
	if p.conn, err = p.to.write.Acquire(p.ctx); err != nil {
		return err
	}
	spots, err := find(p.spans, workerGrowth, p.ask)
	if err != nil {
		return err
	}
	w, err := change(spots)
	if err != nil {
		return err
	}
	return p.write(w)
}

// ask asks for leaves, and with the first question begins. The locks of the tables,
// which the coordinator has, keep the leaves as they are. A commit before ours that
// is decided and not finished here is waited for: its leaves would be read as they
// were before it, and what it did would be lost.
func (p *part) ask(questions []question, answers *[]answer) error {
	for {
		batch := &pgx.Batch{}
		if !p.begun {
			batch.Queue("begin isolation level read committed read write")
			batch.Queue("select set_config('application_name', $1, true), lock_shard_metadata(5, $2)", sessionName(p.engine.o.Schema, p.lease, p.epoch), p.ids)
		}
		here, left := len(p.ids), ""
		if !p.sure {
			batch.Queue(p.to.check, p.ids).QueryRow(func(row pgx.Row) error { return row.Scan(&here, &left) })
		}
		byShard := map[*shard][]question{}
		for _, q := range questions {
			in := p.ring.shardOf(q.search.partition)
			byShard[in] = append(byShard[in], q)
		}
		for in, list := range byShard {
			in.sql.queueAsk(batch, list, answers)
		}
		if err := p.conn.SendBatch(p.ctx, batch).Close(); err != nil {
			return fmt.Errorf("ask for leaves: %w", err)
		}
		p.begun = true
		if here != len(p.ids) {
			return errRearranged
		}
		open, err := p.engine.unfinished(p.ctx, p.engine.write, left)
		if err != nil {
			return err
		}
		if !open {
			p.sure = true
			return nil
		}
		*answers = (*answers)[:0]
		if err := p.engine.settle(p.ctx, []*server{p.to}); err != nil {
			return err
		}
	}
}

// decide commits on the coordinator. From then on, and until openGate, no view
// takes its snapshots: it could have some workers before and some after.
func (t *transaction) decide() (decided bool, err error) {
	e := t.engine
	batch := &pgx.Batch{}
	// A lock that outlives the transaction goes over to the next one, which the server
	// ends when this process does nothing any more.
	batch.Queue(e.own.lockEnd)
	batch.Queue("commit").Exec(func(tag pgconn.CommandTag) error {
		decided = tag.String() == "COMMIT"
		return nil
	})
	batch.Queue("begin")
	batch.Queue(fmt.Sprintf("set local idle_in_transaction_session_timeout = %d", gateIdle.Milliseconds()))
	batch.Queue(e.own.lockCommit)
	batch.Queue(e.own.freeEnd)
	err = t.conn.SendBatch(t.ctx, batch).Close()
	if err == nil && !decided {
		err = errors.New("the coordinator rolled back")
	}
	return decided, err
}

// openGate lets views see the commit. Nobody waits for that but they.
func (t *transaction) openGate() {
	conn := t.conn
	t.conn = nil
	t.engine.endings.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), endTimeout)
		defer cancel()
		defer conn.Release() // closes a connection that is still in a transaction
		if !conn.Conn().IsClosed() {
			conn.Conn().PgConn().Exec(ctx, "commit").Close() //nolint:errcheck // the pool looks at the connection
		}
	})
}

// finish commits what is prepared.
func (p *part) finish() error {
	err := endPrepared(p.ctx, p.conn.Conn(), p.gid(), true)
	if err != nil && p.conn.Conn().IsClosed() {
		// Perhaps only the connection broke.
		err = p.engine.endOn(p.ctx, p.to, p.gid(), true)
	}
	return err
}

// undo takes back what was done of a commit, unless it turns out to be decided: when
// the coordinator's answer is lost, its log knows.
func (t *transaction) undo(parts []*part, err error) error {
	t.abandon()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.ctx), endTimeout)
	defer cancel()
	var left []*server
	for _, p := range parts {
		switch {
		case p.sent:
			left = append(left, p.to)
		case p.begun && !p.conn.Conn().IsClosed():
			p.conn.Exec(ctx, "rollback") //nolint:errcheck // the pool closes the connection if it cannot
		}
		p.release()
	}
	if len(left) == 0 {
		return err
	}
	committed, unknown := t.engine.endLeft(ctx, left, t.xid)
	if unknown != nil {
		t.engine.log.Warn("what a commit left is ended by the next one", "err", redact(unknown))
	}
	if committed {
		return nil
	}
	return err
}

func (p *part) release() {
	if p.conn != nil {
		p.conn.Release()
		p.conn = nil
	}
}

// gid names what the commit prepares.
func (t *transaction) gid() string { return gidOf(t.engine.o.Schema, t.xid) }

// dies breaks all connections when a test says so.
func (t *transaction) dies(step string, parts []*part) bool {
	if t.engine.o.Dies == nil || !t.engine.o.Dies(step) {
		return false
	}
	cut := func(conn *pgxpool.Conn) {
		conn.Conn().PgConn().Conn().Close() //nolint:errcheck // it is to break
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		conn.Conn().Close(ctx) //nolint:errcheck // as above
	}
	for _, p := range parts {
		cut(p.conn)
		p.release()
	}
	cut(t.conn)
	return true
}

// checkShards is the question whether shards are on the worker that is asked, and
// what is prepared there. The worker knows of a move as soon as it is done, because
// the move held the lock that we have.
func checkShards(unsettled string) string {
	return `select (select count(*) from pg_dist_placement where shardid = any($1::bigint[]) and shardstate = 1
		and groupid = (select groupid from pg_dist_local_group)), (` + unsettled + `)`
}

// checkSettings refuses workers that cannot prepare a commit.
func (e *Engine) checkSettings(ctx context.Context) error {
	rows, err := e.write.Query(ctx, `select nodename || ':' || nodeport from run_command_on_workers('show max_prepared_transactions') where success and result = '0'`)
	if err != nil {
		return err
	}
	list, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err == nil && len(list) > 0 {
		err = fmt.Errorf("max_prepared_transactions is 0 on %s: a commit needs it to be as large as the number of processes times %d",
			strings.Join(list, ", "), writerCommits+otherCommits)
	}
	return err
}
