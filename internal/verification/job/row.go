package job

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"chainexplorer/internal/control"
	"chainexplorer/internal/verification/submission"
)

const columns = `id, workspace_id, chain_id, idempotency_key, package, package_digest, state, code, reason, retryable, parts, claim, worker,
	attempts, upload_id, upload_expires_at, committed_at, deletes_at, deleted_at, created_at, updated_at,
	(SELECT w.withdrawn_at` + withdrawn + `), (SELECT w.reason` + withdrawn + `)`

// withdrawn is the withdrawal of a job's receipt.
const withdrawn = ` FROM verification_receipt r JOIN receipt_withdrawal w ON w.receipt_id = r.receipt_id WHERE r.job_id = verification_job.id`

// querier is a pool or a transaction.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

func scan(row interface{ Scan(...any) error }) (*Job, error) {
	var j Job
	var pack, code, reason, parts string
	var retryable int
	var upload sql.NullString
	var expires, created, updated int64
	var committed, deletes, deleted, withdrawn sql.NullInt64
	var why sql.NullString
	err := row.Scan(&j.ID, &j.WorkspaceID, &j.Chain, &j.IdempotencyKey, &pack, &j.digest, &j.State, &code, &reason, &retryable, &parts, &j.claim, &j.Worker,
		&j.Attempts, &upload, &expires, &committed, &deletes, &deleted, &created, &updated, &withdrawn, &why)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, ErrNotFound
	} else if err != nil {
		return nil, err
	}
	if j.Package, err = unpack(pack, j.digest); err != nil {
		j.Damage = &DamageError{j.ID, err}
	}
	if code != "" {
		j.Failure = &Failure{Code: Code(code), Retryable: retryable != 0, Reason: reason}
	}
	if parts != "" {
		j.Parts = strings.Split(parts, " ")
	}
	j.upload = upload.String
	j.UploadExpiresAt, j.CreatedAt, j.UpdatedAt = control.Moment(expires), control.Moment(created), control.Moment(updated)
	j.CommittedAt, j.SourceDeletesAt, j.SourceDeletedAt = control.OptionalMoment(committed), control.OptionalMoment(deletes), control.OptionalMoment(deleted)
	j.Withdrawn, j.WithdrawnReason = control.OptionalMoment(withdrawn), why.String
	return &j, nil
}

// unpack reads a package and holds it against the digest that was written with it.
func unpack(text, digest string) (*submission.Package, error) {
	p, err := submission.Parse([]byte(text))
	if err != nil {
		return nil, err
	}
	switch is, err := p.Digest(); {
	case err != nil:
		return nil, err
	case is != digest:
		return nil, errors.New("its package is not the one that its digest names")
	}
	return p, nil
}

// one reads a job that can be worked on or shown: one that is damaged is an error.
func one(ctx context.Context, q querier, where string, args ...any) (*Job, error) {
	j, err := row(ctx, q, where, args...)
	if err == nil && j.Damage != nil {
		return nil, j.Damage
	}
	return j, err
}

// row reads a job of which only the state counts: it may be damaged.
func row(ctx context.Context, q querier, where string, args ...any) (*Job, error) {
	return scan(q.QueryRowContext(ctx, `SELECT `+columns+` FROM verification_job WHERE `+where, args...))
}

// several reads jobs, those that are damaged too: one of them must not hide the others.
func several(ctx context.Context, q querier, where string, args ...any) (list []*Job, err error) {
	rows, err := q.QueryContext(ctx, `SELECT `+columns+` FROM verification_job WHERE `+where, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // Err tells
	for rows.Next() {
		j, err := scan(rows)
		if err != nil {
			if j = nameless(rows, err); j == nil {
				return nil, err
			}
		}
		list = append(list, j)
	}
	return list, rows.Err()
}

// nameless is a row whose values are not of their kinds, by its id alone; nil when not even
// that can be read.
func nameless(rows *sql.Rows, why error) *Job {
	names, err := rows.Columns()
	if err != nil {
		return nil
	}
	values := make([]any, len(names))
	var id string
	values[0] = &id
	for i := range values[1:] {
		values[i+1] = new(any)
	}
	if rows.Scan(values...) != nil {
		return nil
	}
	return &Job{ID: id, Damage: &DamageError{id, why}}
}
