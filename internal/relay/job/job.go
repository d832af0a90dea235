// Package job is the prover relay's jobs in the control database: their states, their
// budgets, and which process has what they need in its memory.
//
// A row holds two digests of what was asked and nothing else of it. Every move is a
// compare-and-set in one transaction of the only writer, by the process that owns the
// job: it has the body, and later the result, which die with it. Whoever finds that an
// owner is gone ends its jobs: what was queued was never sent, what was dispatched may
// have been. A terminal state never changes, but for unavailable, after which nothing was
// proven and the same key may try again.
//
// Rows are found by their primary key, by (workspace, digest of the key), which is unique
// and makes one job of concurrent duplicates, or by partial indexes of those that have not
// ended; a key's day is counted in its index. So no statement looks at rows that it does
// not count, and rows that ended are deleted after the retention.
package job

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"time"

	"chainexplorer/internal/control"
)

// State of a job.
type State string

// The states. The last four are terminal.
const (
	Queued          State = "queued"           // accepted, waiting for the prover
	Dispatched      State = "dispatched"       // sent, or about to be
	Succeeded       State = "succeeded"        // there is a proof
	Failed          State = "failed"           // the prover refused the request
	Unavailable     State = "unavailable"      // nothing was proven: the same key may try again
	UnknownDelivery State = "unknown_delivery" // the prover may have the request
)

// States are all of them.
func States() []State {
	return []State{Queued, Dispatched, Succeeded, Failed, Unavailable, UnknownDelivery}
}

// Terminal says that the work on a job has ended.
func (s State) Terminal() bool { return s != Queued && s != Dispatched }

// Why something is not done. Nothing was changed then.
var (
	// ErrNotFound: there is no such job in the workspace.
	ErrNotFound = errors.New("there is no such job")
	// ErrKeyReused: the idempotency key was used for another body.
	ErrKeyReused = errors.New("the idempotency key was used for another request")
	// ErrConcurrency: the key has as many jobs that have not ended as it may.
	ErrConcurrency = errors.New("the key has as many jobs as it may have at once")
	// ErrDaily: the key has created as many jobs as it may on one day.
	ErrDaily = errors.New("the key has created as many jobs as it may today")
	// ErrLost: the job is another process's, or has ended.
	ErrLost = errors.New("the job is in other hands")
)

// Job is what there is to know of one.
type Job struct {
	ID          string
	WorkspaceID string
	KeyID       string // public id of the API key that created it
	State       State
	Attempts    int    // how often it was dispatched
	Code        *int64 // the prover's, of one that failed
	Owner       string // the process that has its body, or its result
	Held        bool   // the owner may have something for the first poll
	CreatedAt   time.Time
	QueuedAt    time.Time
	CompletedAt *time.Time

	body string // digest
}

// Budget is what a key may do.
type Budget struct {
	Concurrency int // jobs that have not ended
	PerDay      int // jobs that it creates on a day of UTC
}

// Repo is the jobs in a control database.
type Repo struct {
	db     *control.DB
	usual  Budget
	secret control.Secret
	now    func() time.Time
	rand   io.Reader
}

// Options of a Repo.
type Options struct {
	Usual Budget           // of keys that the operator gave nothing else
	Now   func() time.Time // the system's clock when nil
	Rand  io.Reader        // likewise
}

// New makes a Repo.
func New(db *control.DB, o Options) *Repo {
	r := &Repo{db: db, usual: o.Usual, secret: db.ProverSecret(), now: o.Now, rand: o.Rand}
	if r.now == nil {
		r.now = time.Now
	}
	if r.rand == nil {
		r.rand = rand.Reader
	}
	return r
}

// Shared says that other processes may use the same database.
func (r *Repo) Shared() bool { return !r.db.IsFile() }

func (r *Repo) moment() time.Time { return control.Moment(control.Micros(r.now())) }

// Digest is of what must not be stored. What it is for tells digests apart.
func (r *Repo) Digest(what string, write func(hash.Hash)) string {
	h := hmac.New(sha256.New, r.secret[:])
	h.Write([]byte(what + "\x00"))
	write(h)
	return hex.EncodeToString(h.Sum(nil))
}

// NewID makes an id with 96 random bits, in hexadecimal: there are clients that take no
// other digits.
func (r *Repo) NewID(prefix string) (string, error) {
	var b [12]byte
	if _, err := io.ReadFull(r.rand, b[:]); err != nil {
		return "", fmt.Errorf("make an id: %w", err)
	}
	return prefix + hex.EncodeToString(b[:]), nil
}

const columns = `id, workspace_id, key_id, body_digest, state, attempts, code, owner, held, created_at, queued_at, completed_at`

type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

func scan(row interface{ Scan(...any) error }) (*Job, error) {
	var j Job
	var code, completed sql.NullInt64
	var held int
	var created, queued int64
	err := row.Scan(&j.ID, &j.WorkspaceID, &j.KeyID, &j.body, &j.State, &j.Attempts, &code, &j.Owner, &held, &created, &queued, &completed)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, ErrNotFound
	} else if err != nil {
		return nil, err
	}
	if code.Valid {
		j.Code = &code.Int64
	}
	j.Held = held != 0
	j.CreatedAt, j.QueuedAt, j.CompletedAt = control.Moment(created), control.Moment(queued), control.OptionalMoment(completed)
	return &j, nil
}

func one(ctx context.Context, q querier, where string, args ...any) (*Job, error) {
	return scan(q.QueryRowContext(ctx, `SELECT `+columns+` FROM prover_job WHERE `+where, args...))
}

// Get finds a job of a workspace.
func (r *Repo) Get(ctx context.Context, workspaceID, id string) (*Job, error) {
	j, err := one(ctx, r.db.Reader(), `id = $1 AND workspace_id = $2`, id, workspaceID)
	return j, named("look for a job", err)
}

// Position is how many jobs of the same process are worked on before a queued one is, and
// one more.
func (r *Repo) Position(ctx context.Context, j *Job) (n int, err error) {
	err = r.db.Reader().QueryRowContext(ctx, `SELECT COUNT(*) FROM prover_job WHERE active = 1 AND owner = $1 AND state = 'queued' AND (queued_at < $2 OR queued_at = $2 AND id < $3)`,
		j.Owner, control.Micros(j.QueuedAt), j.ID).Scan(&n)
	return n + 1, named("look at the queue", err)
}

// named wraps trouble of the database and leaves our own errors as they are.
func named(what string, err error) error {
	if err == nil {
		return nil
	}
	for _, own := range []error{ErrNotFound, ErrKeyReused, ErrConcurrency, ErrDaily, ErrLost} {
		if errors.Is(err, own) {
			return err
		}
	}
	return fmt.Errorf("%s: %w", what, err)
}
