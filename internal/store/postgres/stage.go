package postgres

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// stageFrom is from how many on questions and changes of leaves are put into a table
// under Citus. A question that names one p goes through the coordinator by itself;
// joined with a table whose shards lie beside the leaves, all are answered in one.
const stageFrom = 16

// staged is a row of the table _asked. What a commit puts there it takes away again,
// so that nobody else sees it.
type staged struct {
	leaf
	more bool
}

// stage puts rows into _asked, numbered from 1, under a number that it returns.
func (t *transaction) stage(count int, row func(i int) staged) (step int64, err error) {
	if t.steps++; t.steps >= maxSteps {
		return 0, fmt.Errorf("%w: a commit takes too many steps", errLeaf)
	}
	step = t.number*maxSteps + t.steps
	b := []byte(copyHeader)
	field := func(value []byte) {
		b = binary.BigEndian.AppendUint32(b, uint32(len(value)))
		b = append(b, value...)
	}
	number := func(n int64) {
		b = binary.BigEndian.AppendUint32(b, 8)
		b = binary.BigEndian.AppendUint64(b, uint64(n))
	}
	for i := range count {
		r := row(i)
		b = binary.BigEndian.AppendUint16(b, 7)
		number(step)
		number(int64(i) + 1)
		field(r.partition)
		field(r.first)
		field([]byte{byte(b2i(r.more))})
		field(binary.BigEndian.AppendUint16(nil, uint16(r.rows)))
		field(r.value)
	}
	b = append(b, 0xff, 0xff)
	_, err = t.conn.Conn().PgConn().CopyFrom(t.ctx, bytes.NewReader(b), t.engine.sql.stage)
	if err != nil {
		err = fmt.Errorf("stage: %w", err)
	}
	return step, err
}

// maxSteps keeps the steps of one commit apart from those of the next.
const maxSteps = 64

// askStaged answers questions in one statement on all shards.
func (t *transaction) askStaged(batch *pgx.Batch, questions []question, answers *[]answer) error {
	if batch.Len() > 0 {
		if err := t.conn.SendBatch(t.ctx, batch).Close(); err != nil {
			return err
		}
	}
	step, err := t.stage(len(questions), func(i int) staged {
		q := questions[i]
		return staged{leaf{partition: q.search.partition, first: q.op.Sort}, len(q.search.pending) > 1}
	})
	if err != nil {
		return err
	}
	ask := &pgx.Batch{}
	ask.Queue(t.engine.sql.askStaged, step).Query(take(questions, answers))
	return t.conn.SendBatch(t.ctx, ask).Close()
}

// writeStaged queues changes of leaves that are put into the table first.
func (t *transaction) writeStaged(batch *pgx.Batch, sql string, leaves []leaf) error {
	if len(leaves) == 0 {
		return nil
	}
	step, err := t.stage(len(leaves), func(i int) staged { return staged{leaf: leaves[i]} })
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
