// Package job is the machine of exact verification: jobs in the control database, from
// the package that was accepted to the receipt that came of it.
//
// Every move is a compare-and-set in one transaction with its entry in the audit log, so
// that any number of processes can serve and work at once, and each of them can die at
// any moment. A source is in the database before anybody is told that it was taken. A
// terminal state never changes. Deleting a source leaves the job, its entries in the
// audit log and its receipt.
package job

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"time"

	"chainexplorer/internal/control"
	"chainexplorer/internal/verification/submission"
)

// Chain is the only one that sources are verified for.
const Chain = "SN_MAIN"

// Limits bound what is taken.
type Limits struct {
	UploadWindow time.Duration // from the creation of a job until its source must be there
	PerDay       int           // jobs that a workspace may create on a day of UTC
	Active       int           // jobs of all workspaces that have not ended
	SourceBytes  int64         // of the sources that are kept or promised room, together
	OwnBytes     int64         // of those of a workspace, so that few cannot take the room of all
	Attempts     int           // workers that may begin with a job
	WorkerSilent time.Duration // after which a worker that said nothing is not counted on
	UploadSilent time.Duration // after which an upload that a process left behind is taken up or deleted
}

// Standard are the limits of the service. One active job of a workspace is a rule of
// the schema and not a setting.
var Standard = Limits{
	UploadWindow: 15 * time.Minute,
	PerDay:       5,
	Active:       100,
	SourceBytes:  8 << 30,
	OwnBytes:     512 << 20,
	Attempts:     3,
	WorkerSilent: 2 * time.Minute,
	UploadSilent: 5 * time.Minute,
}

// Why something is not done. Nothing was changed then.
var (
	// ErrNotFound: there is no such job in the workspace, or no receipt of it yet. Which of
	// these is not told.
	ErrNotFound = errors.New("there is no such job")
	// ErrKeyReused: the idempotency key was used for another package.
	ErrKeyReused = errors.New("the idempotency key was used for another package")
	// ErrActive: the workspace has a job that has not ended.
	ErrActive = errors.New("the workspace has an active job")
	// ErrDaily: the workspace has created as many jobs as it may on one day.
	ErrDaily = errors.New("the workspace has created as many jobs as it may today")
	// ErrOwnFull: the workspace has as much source kept as it may.
	ErrOwnFull = errors.New("the workspace has as much source kept as it may")
	// ErrFull: there are as many jobs, or as much source, as the service takes.
	ErrFull = errors.New("the queue is full")
	// ErrMismatch: the bytes are not those that the package names.
	ErrMismatch = errors.New("the upload is not what the package names")
	// ErrLost: the worker's claim is void: the job was cancelled, or given to another.
	ErrLost = errors.New("the claim to the job is void")
	// ErrNoSource: the source is not kept any more.
	ErrNoSource = errors.New("the source is not kept any more")
)

// UnavailableError says why no job is taken from anybody.
type UnavailableError struct{ Why string }

func (e *UnavailableError) Error() string { return "no jobs are taken: " + e.Why }

// DamageError says that what is stored of a job is not what was written. Nothing is built
// or signed by it; a worker ends such a job, as one that may be tried again.
type DamageError struct {
	JobID string
	Why   error
}

func (e *DamageError) Error() string {
	return fmt.Sprintf("what is stored of job %s is damaged: %v", e.JobID, e.Why)
}

func (e *DamageError) Unwrap() error { return e.Why }

// Failure is how a job failed: the code and the reason are words of tables, never the
// text of a compiler.
type Failure struct {
	Code      Code
	Retryable bool
	Reason    string // finer than the code, of an archive that was refused; mostly ""
}

// Job is what there is to know of one.
type Job struct {
	ID             string
	WorkspaceID    string
	Chain          string
	IdempotencyKey string
	Package        *submission.Package
	State          State
	Failure        *Failure // of one that failed or differs
	Parts          []string // of the class hash that differ, when that is known
	Attempts       int
	Worker         string

	UploadExpiresAt time.Time
	CommittedAt     *time.Time // when the source was in the database
	SourceDeletesAt *time.Time // when it is to be deleted
	SourceDeletedAt *time.Time // when it was
	// Damage, unless nil, says that the row is not what was written: then it has no Package,
	// and perhaps no more than its ID.
	Damage *DamageError
	// Withdrawn is when its receipt was taken back, if it was, and WithdrawnReason why.
	Withdrawn       *time.Time
	WithdrawnReason string
	CreatedAt       time.Time
	UpdatedAt       time.Time

	claim, upload, digest string
}

// Repo is the jobs in a control database.
type Repo struct {
	db     *control.DB
	limits Limits
	now    func() time.Time
	rand   io.Reader
}

// Options of a Repo. The zero value has the standard limits, and the system's clock
// and randomness.
type Options struct {
	Limits Limits
	Now    func() time.Time
	Rand   io.Reader
}

// New makes a Repo.
func New(db *control.DB, o Options) *Repo {
	r := &Repo{db: db, limits: o.Limits, now: o.Now, rand: o.Rand}
	if r.limits == (Limits{}) {
		r.limits = Standard
	}
	if r.now == nil {
		r.now = time.Now
	}
	if r.rand == nil {
		r.rand = rand.Reader
	}
	return r
}

// Limits are those of the Repo.
func (r *Repo) Limits() Limits { return r.limits }

// moment is now, as exact as the database keeps it.
func (r *Repo) moment() time.Time { return control.Moment(control.Micros(r.now())) }

// letters are those of ids. There are 32, so that five random bits are one of them.
const letters = "abcdefghijklmnopqrstuvwxyz234567"

// newID makes an id with 160 random bits.
func (r *Repo) newID(prefix string) (string, error) {
	var b [32]byte
	if _, err := io.ReadFull(r.rand, b[:]); err != nil {
		return "", fmt.Errorf("make an id: %w", err)
	}
	for i := range b {
		b[i] = letters[b[i]%32]
	}
	return prefix + string(b[:]), nil
}
