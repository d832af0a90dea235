package job

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"chainexplorer/internal/control"
)

// Ask asks for a job.
type Ask struct {
	WorkspaceID string
	KeyID       string // public id of the API key
	KeyDigest   string // of the idempotency key
	BodyDigest  string
	Owner       string // the process that has the body
}

// Outcome is what came of an Ask.
type Outcome int

// The outcomes.
const (
	Found   Outcome = iota // there is a job, and the body is not needed
	Created                // a new one, which the asker owns
	Revived                // one that was unavailable, which the asker owns from now on
)

// Find looks for the job of an Ask, without the writer: ErrNotFound when there is none.
func (r *Repo) Find(ctx context.Context, a Ask) (*Job, error) {
	j, err := r.find(ctx, r.db.Reader(), a)
	return j, named("look for a job", err)
}

func (r *Repo) find(ctx context.Context, q querier, a Ask) (*Job, error) {
	j, err := one(ctx, q, `workspace_id = $1 AND key_digest = $2`, a.WorkspaceID, a.KeyDigest)
	if err == nil && j.body != a.BodyDigest {
		return nil, ErrKeyReused
	}
	return j, err
}

// Submit makes a job, or finds the one that the same key and body made before. All of it
// is decided in one transaction of the only writer of all processes. The day's budget is
// debited when a job is made, and never again for it.
func (r *Repo) Submit(ctx context.Context, a Ask) (j *Job, out Outcome, err error) {
	err = r.db.Update(ctx, func(tx *sql.Tx) error {
		now := r.moment()
		if j, err = r.find(ctx, tx, a); err == nil {
			if j.State != Unavailable {
				out = Found
				return nil
			}
			out = Revived
			return r.revive(ctx, tx, a, &j, now)
		} else if !errors.Is(err, ErrNotFound) {
			return err
		}
		out = Created
		if err := r.admits(ctx, tx, a, now, true); err != nil {
			return err
		}
		id, err := r.NewID("prv_")
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `INSERT INTO prover_job (id, workspace_id, key_id, runner_id, key_digest, body_digest, state, active, owner, created_at, queued_at)
			VALUES ($1, $2, $3, $3, $4, $5, 'queued', 1, $6, $7, $7)`, id, a.WorkspaceID, a.KeyID, a.KeyDigest, a.BodyDigest, a.Owner, control.Micros(now)); err != nil {
			return err
		}
		j, err = one(ctx, tx, `id = $1`, id)
		return err
	})
	if err != nil {
		return nil, 0, named("create a job", err)
	}
	return j, out, nil
}

// revive queues a job once more, for the process that has the body now. It counts among
// those of the key that asks now; the day stays debited to the one that created it.
func (r *Repo) revive(ctx context.Context, tx *sql.Tx, a Ask, j **Job, now time.Time) (err error) {
	if err := r.admits(ctx, tx, a, now, false); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `UPDATE prover_job SET state = 'queued', active = 1, owner = $1, runner_id = $4, held = 0, code = NULL, queued_at = $2, completed_at = NULL WHERE id = $3`,
		a.Owner, control.Micros(now), (*j).ID, a.KeyID); err != nil {
		return err
	}
	*j, err = one(ctx, tx, `id = $1`, (*j).ID)
	return err
}

// admits holds a key against its budget.
func (r *Repo) admits(ctx context.Context, tx *sql.Tx, a Ask, now time.Time, debit bool) error {
	b, err := r.budget(ctx, tx, a.KeyID, a.WorkspaceID)
	if err != nil {
		return err
	}
	var n int
	if err := tx.QueryRowContext(ctx, `SELECT COUNT(*) FROM prover_job WHERE runner_id = $1 AND active = 1`, a.KeyID).Scan(&n); err != nil {
		return err
	}
	if n >= b.Concurrency {
		return ErrConcurrency
	}
	if !debit {
		return nil
	}
	// Those of a later day were created by a clock that was ahead.
	if err := tx.QueryRowContext(ctx, `SELECT COUNT(*) FROM prover_job WHERE key_id = $1 AND created_at >= $2 AND created_at < $3`,
		a.KeyID, control.Micros(now.Truncate(day)), control.Micros(now.Truncate(day).Add(day))).Scan(&n); err != nil {
		return err
	}
	if n >= b.PerDay {
		return ErrDaily
	}
	return nil
}

const day = 24 * time.Hour

// UntilTomorrow is how long the day of UTC still lasts.
func (r *Repo) UntilTomorrow() time.Duration {
	now := r.moment()
	return now.Truncate(day).Add(day).Sub(now)
}

// budget is a key's: its own, or that of its workspace's keys, or the usual one.
func (r *Repo) budget(ctx context.Context, q querier, keyID, workspaceID string) (Budget, error) {
	for _, owner := range []string{keyID, workspaceID} {
		var b Budget
		err := q.QueryRowContext(ctx, `SELECT concurrency, per_day FROM prover_budget WHERE owner = $1`, owner).Scan(&b.Concurrency, &b.PerDay)
		if err == nil || !errors.Is(err, sql.ErrNoRows) {
			return b, err
		}
	}
	return r.usual, nil
}

// Inherit gives a key that takes another's place its budget, what it used of the day, and
// the jobs that have not ended. It is part of the transaction that makes the new key.
func (r *Repo) Inherit(ctx context.Context, tx *sql.Tx, old, fresh string) error {
	for _, change := range []string{
		`UPDATE prover_budget SET owner = $2 WHERE owner = $1`,
		`UPDATE prover_job SET runner_id = $2 WHERE runner_id = $1 AND active = 1`,
	} {
		if _, err := tx.ExecContext(ctx, change, old, fresh); err != nil {
			return fmt.Errorf("hand a prover budget on: %w", err)
		}
	}
	_, err := tx.ExecContext(ctx, `UPDATE prover_job SET key_id = $2 WHERE key_id = $1 AND created_at >= $3`, old, fresh, control.Micros(r.moment().Truncate(day)))
	if err != nil {
		return fmt.Errorf("hand a day's prover jobs on: %w", err)
	}
	return nil
}

// ErrNoOwner: there is nobody to give a budget to.
var ErrNoOwner = errors.New("there is no such key")

// SetBudget gives a key, by its public id, or every key of a workspace, by its id, a budget
// of its own; nil takes it away.
func (r *Repo) SetBudget(ctx context.Context, owner string, b *Budget, detail string) error {
	err := r.db.Update(ctx, func(tx *sql.Tx) error {
		var n int
		if err := tx.QueryRowContext(ctx, `SELECT COUNT(*) FROM (SELECT public_id FROM api_key WHERE public_id = $1 UNION ALL SELECT id FROM workspace WHERE id = $1) AS known`, owner).Scan(&n); err != nil {
			return err
		}
		if n == 0 {
			return ErrNoOwner
		}
		_, err := tx.ExecContext(ctx, `DELETE FROM prover_budget WHERE owner = $1`, owner)
		if err == nil && b != nil {
			_, err = tx.ExecContext(ctx, `INSERT INTO prover_budget (owner, concurrency, per_day) VALUES ($1, $2, $3)`, owner, b.Concurrency, b.PerDay)
		}
		if err != nil {
			return err
		}
		return r.db.Audit(ctx, tx, control.AuditEntry{At: r.moment(), Actor: "operator", Action: "prover.budget", Subject: owner, Detail: detail})
	})
	return named("set a budget", err)
}
