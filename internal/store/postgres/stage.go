package postgres

import (
	"fmt"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"
)

// stageFrom is from how many on changes of leaves are put into a table under Citus. A
// change that names one p goes through the coordinator by itself; joined with a
// table whose shards lie beside the leaves, all are made in one statement.
const stageFrom = 16

// stage puts leaves into _staged under a number that it returns. What a commit puts
// there it takes away again, so that nobody else sees it.
func (t *transaction) stage(leaves []leaf) (step int64, err error) {
	if t.steps++; t.steps >= maxSteps {
		return 0, fmt.Errorf("%w: a commit takes too many steps", errLeaf)
	}
	step = t.number*maxSteps + t.steps
	_, err = t.conn.Conn().PgConn().CopyFrom(t.ctx, &copyStream{leaves: leaves, step: step}, t.engine.sql.stage)
	if err != nil {
		err = fmt.Errorf("stage: %w", err)
	}
	return step, err
}

// maxSteps keeps the steps of one commit apart from those of the next.
const maxSteps = 64

// askWorkers asks each worker for the leaves of its shards. The locks of the tables,
// which the coordinator has, keep them as they are. A commit before ours that is
// not finished on a worker is waited for: its leaves would be read as they were
// before it, and what it did would be lost.
func (t *transaction) askWorkers(batch *pgx.Batch, questions []question, answers *[]answer) error {
	if batch.Len() > 0 {
		if err := t.conn.SendBatch(t.ctx, batch).Close(); err != nil {
			return err
		}
	}
	for {
		again, err := t.tryAskWorkers(questions, answers)
		if err != nil || !again {
			return err
		}
		*answers = (*answers)[:0]
		if err := t.engine.settle(t.ctx, t.ring); err != nil {
			return err
		}
	}
}

func (t *transaction) tryAskWorkers(questions []question, answers *[]answer) (again bool, err error) {
	byShard := map[*shard][]question{}
	for _, q := range questions {
		in := t.ring.shardOf(q.search.partition)
		byShard[in] = append(byShard[in], q)
	}
	type asking struct {
		batch     pgx.Batch
		answers   []answer
		unsettled bool
	}
	servers := make([]asking, len(t.ring.servers))
	for in, list := range byShard {
		a := &servers[in.server]
		if a.batch.Len() == 0 {
			a.batch.Queue(t.ring.servers[in.server].unsettled).QueryRow(func(row pgx.Row) error { return row.Scan(&a.unsettled) })
		}
		in.sql.queueAsk(&a.batch, list, &a.answers)
	}
	g, ctx := errgroup.WithContext(t.ctx)
	for i := range servers {
		if a := &servers[i]; a.batch.Len() > 0 {
			g.Go(func() error { return t.ring.servers[i].ask.SendBatch(ctx, &a.batch).Close() })
		}
	}
	if err := g.Wait(); err != nil {
		return false, fmt.Errorf("ask a worker: %w", err)
	}
	for i := range servers {
		again = again || servers[i].unsettled
		*answers = append(*answers, servers[i].answers...)
	}
	return again, nil
}

// writeStaged queues changes of leaves that are put into the table first.
func (t *transaction) writeStaged(batch *pgx.Batch, sql string, leaves []leaf) error {
	if len(leaves) == 0 {
		return nil
	}
	step, err := t.stage(leaves)
	if err == nil {
		batch.Queue(sql, step)
	}
	return err
}

// plainPlans let the workers plan as they do on one server (see session): joins go
// by the index of the leaves, whatever the statistics say.
func plainPlans(batch *pgx.Batch) {
	for _, name := range []string{"enable_seqscan", "enable_bitmapscan", "enable_hashjoin", "enable_mergejoin"} {
		batch.Queue("set local " + name + " = off")
	}
}
