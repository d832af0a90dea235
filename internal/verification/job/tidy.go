package job

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"chainexplorer/internal/control"
	"chainexplorer/internal/verification/archive"
)

// tidyAtOnce bounds what one round of tidying does of each kind.
const tidyAtOnce = 50

// Tidied is what a round of tidying did.
type Tidied struct{ Expired, Validated, Deleted, Dropped int }

// Tidy does what is due without anybody asking: it expires jobs, takes up what a process
// that died left between two states, and deletes sources by their policies and bytes that
// became no source. It may run anywhere, any number of times.
func (r *Repo) Tidy(ctx context.Context) (t Tidied, err error) {
	for _, part := range []struct {
		n  *int
		do func(context.Context) (int, error)
	}{{new(int), r.rewind}, {&t.Expired, r.expireAll}, {&t.Validated, r.validateAll}, {&t.Deleted, r.deleteSources}, {&t.Dropped, r.dropUploads}} {
		n, trouble := part.do(ctx)
		*part.n = n
		err = errors.Join(err, trouble) // no trouble of one part keeps a source beyond its time
	}
	return t, r.named("tidy up verification", err)
}

// ahead is how far in front of this process's clock a moment may lie that another one, or
// this one earlier, wrote down.
const ahead = 10 * time.Minute

// rewind has what was written down by a clock that was further ahead than that happen now,
// and moves what follows from it: no job waits, and no source is kept, for longer because of
// such a clock.
func (r *Repo) rewind(ctx context.Context) (n int, err error) {
	now := r.moment()
	limit := control.Micros(now.Add(ahead))
	err = r.db.Reader().QueryRowContext(ctx, `SELECT (SELECT COUNT(*) FROM verification_job WHERE active = 1 AND (created_at > $1 OR updated_at > $1)) +
		(SELECT COUNT(*) FROM verification_job WHERE committed_at IS NOT NULL AND deleted_at IS NULL AND committed_at > $1) +
		(SELECT COUNT(*) FROM verification_upload WHERE started_at > $1)`, limit).Scan(&n)
	if err != nil || n == 0 { // nearly always: then nobody has to wait for the writer
		return 0, err
	}
	return n, r.db.Update(ctx, func(tx *sql.Tx) error {
		for _, change := range []string{
			`UPDATE verification_job SET upload_expires_at = upload_expires_at - (created_at - $1), created_at = $1 WHERE active = 1 AND created_at > $2`,
			`UPDATE verification_job SET updated_at = $1 WHERE active = 1 AND updated_at > $2`,
			`UPDATE verification_job SET deletes_at = deletes_at - (committed_at - $1), committed_at = $1 WHERE committed_at IS NOT NULL AND deleted_at IS NULL AND committed_at > $2`,
			`UPDATE verification_upload SET started_at = $1 WHERE started_at > $2`,
		} {
			if _, err := tx.ExecContext(ctx, change, control.Micros(now), limit); err != nil {
				return err
			}
		}
		return nil
	})
}

// each finds jobs without waiting for the writer, and changes them one by one as they
// are by then; one that has moved on meanwhile is left alone.
func (r *Repo) each(ctx context.Context, change func(*sql.Tx, *Job) error, where string, args ...any) (n int, err error) {
	list, err := several(ctx, r.db.Reader(), where, args...)
	if err != nil {
		return 0, err
	}
	var trouble error
	for _, found := range list {
		if found.State == "" { // nothing of the row can be read
			trouble = errors.Join(trouble, found.Damage)
			continue
		}
		err := r.db.Update(ctx, func(tx *sql.Tx) error {
			j, err := row(ctx, tx, `id = $1`, found.ID)
			if err != nil {
				return err
			}
			return change(tx, j)
		})
		if Lost(err) {
			continue
		} else if err != nil {
			return n, errors.Join(trouble, err)
		}
		n++
	}
	return n, trouble
}

func (r *Repo) expireAll(ctx context.Context) (int, error) {
	return r.each(ctx, func(tx *sql.Tx, j *Job) error {
		_, err := r.expireLate(ctx, tx, j)
		return err
	}, `active = 1 AND state = 'awaiting_upload' AND upload_expires_at <= $1 ORDER BY upload_expires_at, id LIMIT $2`, control.Micros(r.moment()), tidyAtOnce)
}

// validateAll checks archives whose process died after their bytes were committed.
func (r *Repo) validateAll(ctx context.Context) (n int, err error) {
	list, err := several(ctx, r.db.Reader(), `active = 1 AND state = 'validating' AND updated_at <= $1 ORDER BY updated_at, id LIMIT 1`, control.Micros(r.moment().Add(-r.limits.UploadSilent)))
	if err != nil {
		return 0, err
	}
	for _, j := range list {
		c := change{event: Accept, actor: service, detail: "its process had ended"}
		var refused *archive.Error
		if j.Damage != nil {
			c = spoiled()
		} else if _, err := archive.Read(r.Source(ctx, j), archive.Standard, nil); errors.As(err, &refused) {
			f := Refused(refused)
			c = change{event: Fail, actor: service, detail: f.detail(), set: failed(f)}
		} else if errors.Is(err, ErrNoSource) {
			f := Failure{Code: DispatchFailed, Retryable: true}
			c = change{event: Fail, actor: service, detail: f.detail() + ", its source was lost", set: failed(f)}
		} else if err != nil {
			return n, err
		}
		err := r.db.Update(ctx, func(tx *sql.Tx) error {
			_, err := r.move(ctx, tx, j, c)
			return err
		})
		if Lost(err) {
			continue
		} else if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// deleteSources deletes sources whose time is over. A job that still needs one fails.
func (r *Repo) deleteSources(ctx context.Context) (int, error) {
	now := control.Micros(r.moment())
	return r.each(ctx, func(tx *sql.Tx, j *Job) (err error) {
		if j.SourceDeletedAt != nil {
			return nil
		}
		if !j.State.Terminal() {
			f := Failure{Code: DispatchFailed, Retryable: true}
			if j, err = r.move(ctx, tx, j, change{event: Fail, actor: service, detail: string(f.Code) + ", its source must go", set: failed(f)}); err != nil {
				return err
			}
		}
		policy := "its package is damaged"
		if j.Damage == nil {
			policy = string(j.Package.RetentionPolicyID)
		}
		if err := dropUpload(ctx, tx, j.upload); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `UPDATE verification_job SET deleted_at = $1 WHERE id = $2`, now, j.ID); err != nil {
			return err
		}
		return r.audit(ctx, tx, service, "source_delete", j.ID, j.WorkspaceID+", "+policy)
	}, `committed_at IS NOT NULL AND deleted_at IS NULL AND deletes_at <= $1 ORDER BY deletes_at, id LIMIT $2`, now, tidyAtOnce)
}

// dropUploads deletes bytes that a process staged and never committed.
func (r *Repo) dropUploads(ctx context.Context) (n int, err error) {
	rows, err := r.db.Reader().QueryContext(ctx, `SELECT u.id FROM verification_upload u JOIN verification_job j ON j.id = u.job_id
		WHERE u.started_at <= $1 AND (j.upload_id IS NULL OR j.upload_id <> u.id) ORDER BY u.started_at, u.id LIMIT $2`, control.Micros(r.moment().Add(-r.limits.UploadSilent)), tidyAtOnce)
	if err != nil {
		return 0, err
	}
	var list []string
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return 0, errors.Join(err, rows.Close())
		}
		list = append(list, id)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return 0, err
	}
	for _, id := range list {
		err := r.db.Update(ctx, func(tx *sql.Tx) error {
			var used int
			if err := tx.QueryRowContext(ctx, `SELECT COUNT(*) FROM verification_job WHERE upload_id = $1`, id).Scan(&used); err != nil || used > 0 {
				return err // it was committed just now
			}
			return dropUpload(ctx, tx, id)
		})
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}
