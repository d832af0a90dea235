package job

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"chainexplorer/internal/control"
)

// Announce says that the worker of a chain is there, and with trouble, unless "", why it
// cannot work. It is to be repeated well within WorkerSilent.
func (r *Repo) Announce(ctx context.Context, chain, worker, trouble string) error {
	err := r.db.Update(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO verification_worker (chain_id, worker, trouble, seen_at) VALUES ($1, $2, $3, $4)
			ON CONFLICT (chain_id) DO UPDATE SET worker = excluded.worker, trouble = excluded.trouble, seen_at = excluded.seen_at,
				settings = CASE WHEN verification_worker.worker = excluded.worker THEN verification_worker.settings ELSE '' END`,
			chain, worker, trouble, control.Micros(r.moment()))
		return err
	})
	if err != nil {
		return fmt.Errorf("announce the verification worker: %w", err)
	}
	return nil
}

// Describe keeps what a worker that was announced is set up by, for operators to see. The
// next worker has its own.
func (r *Repo) Describe(ctx context.Context, chain, worker, settings string) error {
	err := r.db.Update(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE verification_worker SET settings = $1 WHERE chain_id = $2 AND worker = $3 AND settings <> $1`, settings, chain, worker)
		return err
	})
	if err != nil {
		return fmt.Errorf("describe the verification worker: %w", err)
	}
	return nil
}

// Worker is what the worker of a chain last said of itself.
type Worker struct {
	Name, Trouble, Settings string
	Seen                    time.Time
}

// Worker returns the worker of a chain; nil when none has ever run.
func (r *Repo) Worker(ctx context.Context, chain string) (*Worker, error) {
	var w Worker
	var seen int64
	err := r.db.Reader().QueryRowContext(ctx, `SELECT worker, trouble, settings, seen_at FROM verification_worker WHERE chain_id = $1`, chain).Scan(&w.Name, &w.Trouble, &w.Settings, &seen)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil //nolint:nilnil // there is none
	}
	if err != nil {
		return nil, fmt.Errorf("look at the verification worker: %w", err)
	}
	w.Seen = control.Moment(seen)
	return &w, nil
}

// Available returns nil when jobs of a chain are taken, an UnavailableError that says why
// they are not, or another error.
func (r *Repo) Available(ctx context.Context, chain string) error {
	return r.named("look at the verification worker", r.available(ctx, r.db.Reader(), chain))
}

func (r *Repo) available(ctx context.Context, q querier, chain string) error {
	var paused, trouble string
	var seen int64
	if err := q.QueryRowContext(ctx, `SELECT paused FROM verification_intake WHERE one = 1`).Scan(&paused); err != nil {
		return err
	}
	if paused != "" {
		return &UnavailableError{"the operator has paused the intake: " + paused}
	}
	err := q.QueryRowContext(ctx, `SELECT trouble, seen_at FROM verification_worker WHERE chain_id = $1`, chain).Scan(&trouble, &seen)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return &UnavailableError{"no verification worker has ever run for " + chain}
	case err != nil:
		return err
	case trouble != "":
		return &UnavailableError{trouble}
	case r.moment().Sub(control.Moment(seen)) > r.limits.WorkerSilent:
		return &UnavailableError{"the verification worker has not been heard of since " + control.Moment(seen).Format("2006-01-02 15:04:05") + " UTC"}
	case control.Moment(seen).Sub(r.moment()) > r.limits.WorkerSilent:
		return &UnavailableError{"the verification worker has not been heard of since the clock was set back"}
	}
	return nil
}

// Pause makes the service take no new jobs, for a reason; "" makes it take them again.
// Jobs that are there go on.
func (r *Repo) Pause(ctx context.Context, actor, reason string) error {
	event := "pause"
	if reason == "" {
		event = "resume"
	}
	err := r.db.Update(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `UPDATE verification_intake SET paused = $1 WHERE one = 1`, reason); err != nil {
			return err
		}
		return r.audit(ctx, tx, actor, event, "intake", reason)
	})
	if err != nil {
		return fmt.Errorf("%s the intake of verification: %w", event, err)
	}
	return nil
}
