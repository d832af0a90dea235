package job

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"chainexplorer/internal/control"
	"chainexplorer/internal/verification/submission"
)

// Request asks for a job.
type Request struct {
	Actor          string // public id of the key
	WorkspaceID    string
	Chain          string
	IdempotencyKey string
	Package        *submission.Package
}

// Create makes a job, or finds the one that the same key and package made before, which
// costs nothing of what a workspace may create. All of it is decided in one transaction
// of the only writer of all processes.
func (r *Repo) Create(ctx context.Context, q Request) (j *Job, created bool, err error) {
	text, err := q.Package.Canonical()
	if err != nil {
		return nil, false, fmt.Errorf("create a job: %w", err)
	}
	digest, err := q.Package.Digest()
	if err != nil {
		return nil, false, fmt.Errorf("create a job: %w", err)
	}
	err = r.db.Update(ctx, func(tx *sql.Tx) error {
		if j, err = one(ctx, tx, `workspace_id = $1 AND idempotency_key = $2`, q.WorkspaceID, q.IdempotencyKey); err == nil {
			if j.digest != digest || j.Chain != q.Chain {
				return ErrKeyReused
			}
			j, err = r.expireLate(ctx, tx, j)
			return err
		} else if !errors.Is(err, ErrNotFound) {
			return err
		}
		if err := r.admits(ctx, tx, q); err != nil {
			return err
		}
		created = true
		j, err = r.insert(ctx, tx, q, string(text), digest)
		return err
	})
	if err != nil {
		return nil, false, r.named("create a job", err)
	}
	return j, created, nil
}

// admits says whether a new job may be made.
func (r *Repo) admits(ctx context.Context, tx *sql.Tx, q Request) error {
	if err := r.available(ctx, tx, q.Chain); err != nil {
		return err
	}
	now := r.moment()
	last, err := row(ctx, tx, `workspace_id = $1 AND active = 1`, q.WorkspaceID)
	if err == nil {
		last, err = r.expireLate(ctx, tx, last)
	}
	switch {
	case err == nil && !last.State.Terminal():
		return ErrActive
	case err != nil && !errors.Is(err, ErrNotFound):
		return err
	}
	var today, active int
	day := now.Truncate(24 * time.Hour)
	if err := tx.QueryRowContext(ctx, `SELECT COUNT(*) FROM verification_job WHERE workspace_id = $1 AND created_at >= $2 AND created_at < $3`, q.WorkspaceID, control.Micros(day), control.Micros(day.Add(24*time.Hour))).Scan(&today); err != nil {
		return err
	}
	if today >= r.limits.PerDay {
		return ErrDaily
	}
	var own int64
	if err := tx.QueryRowContext(ctx, `SELECT COALESCE(SUM(upload_bytes), 0) FROM verification_job WHERE workspace_id = $1 AND committed_at IS NOT NULL AND deleted_at IS NULL`, q.WorkspaceID).Scan(&own); err != nil {
		return err
	}
	if own+q.Package.UploadByteLength > r.limits.OwnBytes {
		return ErrOwnFull
	}
	if err := tx.QueryRowContext(ctx, `SELECT COUNT(*) FROM verification_job WHERE active = 1`).Scan(&active); err != nil {
		return err
	}
	if active >= r.limits.Active {
		return ErrFull
	}
	room, err := r.promised(ctx, tx)
	if err != nil {
		return err
	}
	if room+q.Package.UploadByteLength > r.limits.SourceBytes {
		return ErrFull
	}
	return nil
}

// promised are the bytes of sources that are kept, or that may still come.
func (r *Repo) promised(ctx context.Context, q querier) (n int64, err error) {
	var waiting int64
	if err := q.QueryRowContext(ctx, `SELECT COALESCE(SUM(upload_bytes), 0) FROM verification_job WHERE committed_at IS NOT NULL AND deleted_at IS NULL`).Scan(&n); err != nil {
		return 0, err
	}
	err = q.QueryRowContext(ctx, `SELECT COALESCE(SUM(upload_bytes), 0) FROM verification_job WHERE active = 1 AND committed_at IS NULL`).Scan(&waiting)
	return n + waiting, err
}

func (r *Repo) insert(ctx context.Context, tx *sql.Tx, q Request, text, digest string) (*Job, error) {
	id, err := r.newID("vrf_")
	if err != nil {
		return nil, err
	}
	now := r.moment()
	_, err = tx.ExecContext(ctx, `INSERT INTO verification_job
		(id, workspace_id, chain_id, idempotency_key, package, package_digest, state, active, upload_bytes, upload_expires_at, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, 1, $8, $9, $10, $10)`,
		id, q.WorkspaceID, q.Chain, q.IdempotencyKey, text, digest, string(AwaitingUpload), q.Package.UploadByteLength, control.Micros(now.Add(r.limits.UploadWindow)), control.Micros(now))
	if err != nil {
		return nil, err
	}
	if err := r.audit(ctx, tx, q.Actor, "create", id, fmt.Sprintf("%s, class %s of %s, package %s", q.WorkspaceID, q.Package.SelectedClassHash, q.Chain, digest)); err != nil {
		return nil, err
	}
	return one(ctx, tx, `id = $1`, id)
}

// expireLate ends a job whose source did not come in time.
func (r *Repo) expireLate(ctx context.Context, tx *sql.Tx, j *Job) (*Job, error) {
	if !r.late(j) {
		return j, nil
	}
	return r.move(ctx, tx, j, change{event: Expire, actor: service})
}

func (r *Repo) late(j *Job) bool {
	return j.State == AwaitingUpload && !r.moment().Before(j.UploadExpiresAt)
}

// service is who the audit log names when nobody asked for something.
const service = "service"

// UntilTomorrow is how long the day of UTC still lasts.
func (r *Repo) UntilTomorrow() time.Duration {
	now := r.moment()
	return now.Truncate(24 * time.Hour).Add(24 * time.Hour).Sub(now)
}

// named wraps trouble of the database and leaves our own errors as they are.
func (r *Repo) named(what string, err error) error {
	var state *StateError
	var unavailable *UnavailableError
	if err == nil {
		return nil
	}
	if errors.As(err, &state) || errors.As(err, &unavailable) {
		return err
	}
	for _, own := range []error{ErrNotFound, ErrKeyReused, ErrActive, ErrDaily, ErrOwnFull, ErrFull, ErrMismatch, ErrLost, ErrNoSource} {
		if errors.Is(err, own) {
			return err
		}
	}
	return fmt.Errorf("%s: %w", what, err)
}
