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

// Verified is the first receipt of a class, which is the one that counts; ErrNotFound
// when there is none.
func (r *Repo) Verified(ctx context.Context, chain, classHash string) (document []byte, at time.Time, err error) {
	var text string
	var micros int64
	err = r.db.Reader().QueryRowContext(ctx, `SELECT document, created_at FROM verification_receipt WHERE chain_id = $1 AND class_hash = $2 ORDER BY receipt_id LIMIT 1`, chain, classHash).Scan(&text, &micros)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, at, ErrNotFound
	} else if err != nil {
		return nil, at, fmt.Errorf("read the receipt of a class: %w", err)
	}
	return []byte(text), control.Moment(micros), nil
}

// List is the newest jobs of all workspaces, newest first, for the operator; state,
// unless "", is the one that they are in.
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
