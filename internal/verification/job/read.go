package job

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"chainexplorer/internal/control"
)

// View is a job of a workspace. Of one that is another's nobody learns more than of one
// that does not exist, and neither takes longer: it is one and the same question.
func (r *Repo) View(ctx context.Context, workspace, chain, id string) (*Job, error) {
	j, err := one(ctx, r.db.Reader(), `workspace_id = $1 AND id = $2 AND chain_id = $3`, workspace, id, chain)
	if err == nil && r.late(j) {
		err = r.db.Update(ctx, func(tx *sql.Tx) (err error) {
			if j, err = one(ctx, tx, `id = $1`, id); err == nil {
				j, err = r.expireLate(ctx, tx, j)
			}
			return err
		})
	}
	if err != nil {
		return nil, r.named("read a job", err)
	}
	return j, nil
}

// Cancel ends a job, unless it has ended: then it is returned as it is.
func (r *Repo) Cancel(ctx context.Context, actor, workspace, chain, id string) (j *Job, err error) {
	// A stranger's question must not take longer because the job exists: it is asked before
	// anybody waits for the writer.
	if _, err := one(ctx, r.db.Reader(), `workspace_id = $1 AND id = $2 AND chain_id = $3`, workspace, id, chain); err != nil {
		return nil, r.named("cancel a job", err)
	}
	err = r.db.Update(ctx, func(tx *sql.Tx) (err error) {
		if j, err = one(ctx, tx, `id = $1`, id); err != nil {
			return err
		}
		if j, err = r.expireLate(ctx, tx, j); err != nil || j.State.Terminal() {
			return err
		}
		j, err = r.move(ctx, tx, j, change{event: Cancel, actor: actor, set: freed})
		return err
	})
	if err != nil {
		return nil, r.named("cancel a job", err)
	}
	return j, nil
}

// Receipt is the document of a job that succeeded. A job without one looks like none.
func (r *Repo) Receipt(ctx context.Context, workspace, chain, id string) ([]byte, error) {
	var document string
	err := r.db.Reader().QueryRowContext(ctx, `SELECT r.document FROM verification_job j JOIN verification_receipt r ON r.job_id = j.id
		WHERE j.workspace_id = $1 AND j.id = $2 AND j.chain_id = $3`, workspace, id, chain).Scan(&document)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, ErrNotFound
	} else if err != nil {
		return nil, fmt.Errorf("read a receipt: %w", err)
	}
	return []byte(document), nil
}

// Numbers are those of a chain's receipts above one, ascending. Receipts are not admitted
// in the order of their numbers, which are given before they are signed: what is not there
// yet may still come.
func (r *Repo) Numbers(ctx context.Context, chain string, above uint64, limit int) (list []uint64, err error) {
	rows, err := r.db.Reader().QueryContext(ctx, `SELECT receipt_id FROM verification_receipt WHERE chain_id = $1 AND receipt_id > $2 ORDER BY receipt_id LIMIT $3`, chain, above, limit)
	if err != nil {
		return nil, fmt.Errorf("list receipts: %w", err)
	}
	defer rows.Close() //nolint:errcheck // Err tells
	for rows.Next() {
		var n uint64
		if err := rows.Scan(&n); err != nil {
			return nil, fmt.Errorf("list receipts: %w", err)
		}
		list = append(list, n)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("list receipts: %w", err)
	}
	return list, nil
}

// Documents are the receipts of a chain with numbers from first to last.
func (r *Repo) Documents(ctx context.Context, chain string, first, last uint64) (all map[uint64][]byte, err error) {
	rows, err := r.db.Reader().QueryContext(ctx, `SELECT receipt_id, document FROM verification_receipt WHERE chain_id = $1 AND receipt_id >= $2 AND receipt_id <= $3`, chain, first, last)
	if err != nil {
		return nil, fmt.Errorf("read receipts: %w", err)
	}
	defer rows.Close() //nolint:errcheck // Err tells
	all = map[uint64][]byte{}
	for rows.Next() {
		var n uint64
		var text string
		if err := rows.Scan(&n, &text); err != nil {
			return nil, fmt.Errorf("read receipts: %w", err)
		}
		all[n] = []byte(text)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read receipts: %w", err)
	}
	return all, nil
}

// recent is how many of a workspace's jobs are looked at for those of one class: as many as
// it can create in ten days.
const recent = 50

// Newest is the newest of a workspace's recent jobs about a class; ErrNotFound when it has
// none.
func (r *Repo) Newest(ctx context.Context, workspace, chain, classHash string) (*Job, error) {
	list, err := several(ctx, r.db.Reader(), `workspace_id = $1 AND chain_id = $2 ORDER BY created_at DESC, id DESC LIMIT $3`, workspace, chain, recent)
	if err != nil {
		return nil, fmt.Errorf("look for jobs of a class: %w", err)
	}
	for _, j := range list {
		if j.Damage == nil && j.Package.SelectedClassHash == classHash {
			return r.View(ctx, workspace, chain, j.ID) // which may have expired meanwhile
		}
	}
	return nil, ErrNotFound
}

// List is the newest jobs of all workspaces, newest first, for the operator, those that are
// damaged too; state, unless "", is the one that they are in.
func (r *Repo) List(ctx context.Context, state State, limit int) ([]*Job, error) {
	list, err := several(ctx, r.db.Reader(), `$1 = '' OR state = $1 ORDER BY created_at DESC, id DESC LIMIT $2`, string(state), limit)
	if err != nil {
		return nil, fmt.Errorf("list jobs: %w", err)
	}
	return list, nil
}

// Load is how much there is to do.
type Load struct {
	Jobs        map[State]int       // that have not ended
	Oldest      map[State]time.Time // when the one that is longest in its state got there
	SourceBytes int64               // that are kept or promised room
}

// Load looks at the jobs of a chain.
func (r *Repo) Load(ctx context.Context, chain string) (l Load, err error) {
	l = Load{Jobs: map[State]int{}, Oldest: map[State]time.Time{}}
	err = r.db.View(ctx, func(tx *sql.Tx) error {
		if l.SourceBytes, err = r.promised(ctx, tx); err != nil {
			return err
		}
		rows, err := tx.QueryContext(ctx, `SELECT state, COUNT(*), MIN(updated_at) FROM verification_job WHERE active = 1 AND chain_id = $1 GROUP BY state`, chain)
		if err != nil {
			return err
		}
		defer rows.Close() //nolint:errcheck // Err tells
		for rows.Next() {
			var s State
			var n int
			var oldest int64
			if err := rows.Scan(&s, &n, &oldest); err != nil {
				return err
			}
			l.Jobs[s], l.Oldest[s] = n, control.Moment(oldest)
		}
		return rows.Err()
	})
	if err != nil {
		return Load{}, fmt.Errorf("count jobs: %w", err)
	}
	return l, nil
}
