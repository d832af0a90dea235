package job

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"time"

	"chainexplorer/internal/control"
	"chainexplorer/internal/verification/archive"
	"chainexplorer/internal/verification/submission"
)

// chunkBytes is how much of a source one row has, and how much one transaction writes:
// other writers wait no longer than for that.
const chunkBytes = 512 << 10

// kept is how long sources are kept, from the moment they are there.
var kept = map[submission.Retention]time.Duration{
	submission.Private24Hours: 24 * time.Hour,
	submission.Private7Days:   7 * 24 * time.Hour,
	submission.Public30Days:   30 * 24 * time.Hour,
}

// Upload commits the source of a job. The bytes must be those that its package names;
// refused, unless nil, says what is wrong with them as an archive, and ends the job.
//
// Handing the same bytes over again, also at the same time, changes nothing and returns
// the job as it is then. When Upload returns no error the bytes are in the database.
func (r *Repo) Upload(ctx context.Context, actor string, j *Job, data []byte, refused *archive.Error) (*Job, error) {
	sum := sha256.Sum256(data)
	if int64(len(data)) != j.Package.UploadByteLength || "sha256:"+hex.EncodeToString(sum[:]) != j.Package.UploadDigest {
		return nil, ErrMismatch
	}
	if refused != nil {
		return r.refuse(ctx, actor, j.ID, *refused)
	}
	if j.State != AwaitingUpload { // an earlier one may have been left before its end
		return r.settle(ctx, actor, j.ID)
	}
	upload, err := r.stage(ctx, j.ID, data)
	if err != nil {
		return nil, r.named("take a source", err)
	}
	var state *StateError
	err = r.db.Update(ctx, func(tx *sql.Tx) error { return r.commit(ctx, tx, actor, j.ID, upload) })
	if errors.As(err, &state) { // another one was first, or the time is over: these bytes count for nothing
		if err := r.drop(ctx, upload); err != nil {
			return nil, r.named("take a source", err)
		}
		return r.settle(ctx, actor, j.ID)
	} else if err != nil {
		return nil, r.named("take a source", err)
	}
	return r.settle(ctx, actor, j.ID)
}

// refuse ends a job whose archive cannot be built. Nothing of it is kept.
func (r *Repo) refuse(ctx context.Context, actor, id string, why archive.Error) (j *Job, err error) {
	err = r.db.Update(ctx, func(tx *sql.Tx) (err error) {
		if j, err = one(ctx, tx, `id = $1`, id); err != nil {
			return err
		}
		if j, err = r.expireLate(ctx, tx, j); err != nil || j.State != AwaitingUpload {
			return err
		}
		if j, err = r.move(ctx, tx, j, change{event: Commit, actor: actor}); err != nil {
			return err
		}
		failure := Refused(&why)
		j, err = r.move(ctx, tx, j, change{event: Fail, actor: service, detail: failure.detail(), set: failed(failure)})
		return err
	})
	if err != nil {
		return nil, r.named("refuse a source", err)
	}
	return closed(j)
}

// closed tells who hands a source over that the job has ended without one.
func closed(j *Job) (*Job, error) {
	if j.CommittedAt == nil && (j.State == Cancelled || j.State == Expired) {
		return j, &StateError{j.State, Commit}
	}
	return j, nil
}

// stage writes the bytes where they count for nothing yet.
func (r *Repo) stage(ctx context.Context, id string, data []byte) (string, error) {
	upload, err := r.newID("upl_")
	if err != nil {
		return "", err
	}
	for seq := 0; seq*chunkBytes < len(data); seq++ {
		chunk := data[seq*chunkBytes : min((seq+1)*chunkBytes, len(data))]
		err := r.db.Update(ctx, func(tx *sql.Tx) error {
			if seq == 0 {
				if _, err := tx.ExecContext(ctx, `INSERT INTO verification_upload (id, job_id, started_at) VALUES ($1, $2, $3)`, upload, id, control.Micros(r.moment())); err != nil {
					return err
				}
			}
			_, err := tx.ExecContext(ctx, `INSERT INTO verification_chunk (upload_id, seq, data) VALUES ($1, $2, $3)`, upload, seq, chunk)
			return err
		})
		if err != nil {
			return "", err
		}
	}
	return upload, nil
}

// commit makes staged bytes the source of a job. They must be there whole: who was
// slower than the limit may find them deleted.
func (r *Repo) commit(ctx context.Context, tx *sql.Tx, actor, id, upload string) error {
	j, err := one(ctx, tx, `id = $1`, id)
	if err != nil {
		return err
	}
	if r.late(j) { // settle ends it
		return &StateError{j.State, Commit}
	}
	var there int64
	if err := tx.QueryRowContext(ctx, `SELECT COALESCE(SUM(LENGTH(data)), 0) FROM verification_chunk WHERE upload_id = $1`, upload).Scan(&there); err != nil {
		return err
	}
	if there != j.Package.UploadByteLength {
		return fmt.Errorf("of %d bytes %d are left", j.Package.UploadByteLength, there)
	}
	now := r.moment()
	_, err = r.move(ctx, tx, j, change{event: Commit, actor: actor, detail: j.Package.UploadDigest, set: []assignment{
		{"upload_id", upload}, {"committed_at", control.Micros(now)}, {"deletes_at", control.Micros(now.Add(kept[j.Package.RetentionPolicyID]))},
	}})
	return err
}

// settle accepts the source of a job that is validating: the archive was checked before
// its bytes were committed, and again by Validate where a process died between the two.
func (r *Repo) settle(ctx context.Context, actor, id string) (j *Job, err error) {
	err = r.db.Update(ctx, func(tx *sql.Tx) (err error) {
		if j, err = one(ctx, tx, `id = $1`, id); err != nil {
			return err
		}
		if j, err = r.expireLate(ctx, tx, j); err != nil || j.State != Validating {
			return err
		}
		j, err = r.move(ctx, tx, j, change{event: Accept, actor: service})
		return err
	})
	if err != nil {
		return nil, r.named("take a source", err)
	}
	return closed(j)
}

// drop deletes bytes that were staged in vain.
func (r *Repo) drop(ctx context.Context, upload string) error {
	return r.db.Update(ctx, func(tx *sql.Tx) error { return dropUpload(ctx, tx, upload) })
}

func dropUpload(ctx context.Context, tx *sql.Tx, upload string) error {
	for _, statement := range []string{`DELETE FROM verification_chunk WHERE upload_id = $1`, `DELETE FROM verification_upload WHERE id = $1`} {
		if _, err := tx.ExecContext(ctx, statement, upload); err != nil {
			return err
		}
	}
	return nil
}

// Source reads the bytes of a job's source, a chunk at a time.
func (r *Repo) Source(ctx context.Context, j *Job) io.Reader {
	return &source{ctx: ctx, repo: r, upload: j.upload, left: j.Package.UploadByteLength}
}

type source struct {
	ctx    context.Context //nolint:containedctx // of one reading
	repo   *Repo
	upload string
	seq    int
	left   int64
	chunk  []byte
}

func (s *source) Read(p []byte) (int, error) {
	if len(s.chunk) == 0 {
		if s.left == 0 {
			return 0, io.EOF
		}
		err := s.repo.db.Reader().QueryRowContext(s.ctx, `SELECT data FROM verification_chunk WHERE upload_id = $1 AND seq = $2`, s.upload, s.seq).Scan(&s.chunk)
		if errors.Is(err, sql.ErrNoRows) {
			return 0, ErrNoSource
		} else if err != nil {
			return 0, fmt.Errorf("read a source: %w", err)
		}
		s.seq++
		s.left -= int64(len(s.chunk))
	}
	n := copy(p, s.chunk)
	s.chunk = s.chunk[n:]
	return n, nil
}
