// Package relay hands requests for proofs on to a prover, and results back, once.
//
// The body of a request holds a viewing private key. It is in the memory of the process
// that took it, from the moment it was read until the prover has it, and is overwritten
// then; it is in no log, no trace, no database and no error. What is known of a job
// beyond this process is a row of package job: two digests and a state.
//
// A body is in one of at most Queue + Concurrency places, and a result in one of Results;
// a job is taken only when there is room for both. Concurrency workers send the bodies in
// the order in which they came. What the prover cannot have, or had no room for, is sent
// again until the job's patience ends, with the job back in the queue meanwhile; nothing
// else is ever sent twice.
//
// A result is given to one poll. Whoever polls meanwhile waits until it is known whether
// that poll's answer could be written: if not, the next one gets the result. What nobody
// fetched in time is dropped. The row says that something may be held, for the other
// processes; whether it is, this process's memory alone says.
package relay

import (
	"cmp"
	"context"
	"errors"
	"hash"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"chainexplorer/internal/backoff"
	"chainexplorer/internal/logs"
	"chainexplorer/internal/relay/job"
	"chainexplorer/internal/relay/request"
	"chainexplorer/internal/relay/upstream"
)

// Prover proves; an *upstream.Prover does, and a test may.
type Prover interface {
	Prove(ctx context.Context, params []byte) upstream.Outcome
	Ready(ctx context.Context) error
}

// Options of a Relay. Zero values are the defaults.
type Options struct {
	Jobs   *job.Repo
	Prover Prover
	// Concurrency is how many requests are at the prover at once (2), and Queue how many wait (16).
	Concurrency, Queue int
	// Results is how many are kept for their first poll (64), a quarter of them for one workspace.
	Results int
	// ResultTTL is how long one is kept (15 minutes).
	ResultTTL time.Duration
	// Patience is how long a job is tried before it is called unavailable (5 minutes).
	Patience time.Duration
	// Retention is how long the rows of jobs that ended are kept (30 days).
	Retention time.Duration
	// Requests say what is taken besides what the prover can prove.
	Requests request.Options
	// Address is where other processes reach this one: a URL. "" when they cannot.
	Address string
	// Retry are the waits between two tries (1 s to 15 s).
	Retry   backoff.Policy
	Metrics *Metrics
	Logger  *slog.Logger
	Now     func() time.Time
}

// How often things are looked after, and how long they may take.
const (
	beatEvery  = 5 * time.Second
	beatLease  = 20 * time.Second
	readyEvery = 10 * time.Second
	tidyEvery  = time.Hour
	// storeTime bounds a change of the database that must happen whoever hangs up.
	storeTime = 10 * time.Second
	// strayAge is how old a row of ours must be to be called one without a body: much
	// more than it takes to queue one.
	strayAge = time.Minute
)

// Relay takes, sends and gives back. Run must be running.
type Relay struct {
	Options
	process  string
	draining atomic.Bool
	away     atomic.Bool // the prover does not answer
	joined   atomic.Bool // others know of this process

	silent logs.Lasting // that others cannot be told that this process is alive

	mu     sync.Mutex // guards what follows
	queue  []*task
	tasks  int // bodies in memory: read and not yet queued, queued, or at the prover
	held   map[string]*parcel
	owners map[string]int // places taken, of bodies and parcels, by workspace
	wake   chan struct{}  // closed when something was queued, and made anew
	known  map[string]bool
}

// task is a job with its body.
type task struct {
	id        string
	workspace string
	body      []byte
	attempts  int
	since     time.Time // when it was queued
	sent      time.Time // when it was last dispatched
	held      bool      // what came of it is held; guarded by the Relay's mu
}

// New makes a Relay.
func New(o Options) (*Relay, error) {
	o.Concurrency, o.Queue, o.Results = cmp.Or(o.Concurrency, 2), cmp.Or(o.Queue, 16), cmp.Or(o.Results, 64)
	o.ResultTTL, o.Patience, o.Retention = cmp.Or(o.ResultTTL, 15*time.Minute), cmp.Or(o.Patience, 5*time.Minute), cmp.Or(o.Retention, 30*24*time.Hour)
	if o.Retry.Max == 0 {
		o.Retry = backoff.Policy{Min: time.Second, Max: 15 * time.Second}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Metrics == nil {
		o.Metrics = NewMetrics(nil)
	}
	process, err := o.Jobs.NewID("rly_")
	if err != nil {
		return nil, err
	}
	r := &Relay{Options: o, process: process, held: map[string]*parcel{}, owners: map[string]int{}, wake: make(chan struct{}), known: map[string]bool{},
		silent: logs.Lasting{Logger: o.Logger, Trouble: "the prover relay cannot say that it is alive", Over: "the prover relay can say again that it is alive"}}
	r.joined.Store(!o.Jobs.Shared()) // there are no others
	o.Metrics.relay.Store(r)
	return r, nil
}

// Why a request is refused besides what package job says.
var (
	// ErrFull: there are as many jobs, or results that nobody fetched, as there is room for.
	ErrFull = errors.New("the prover's queue is full")
	// ErrUnfetched: the workspace has as many jobs under way, and results that nobody
	// fetched, as it may.
	ErrUnfetched = errors.New("the workspace has as many jobs and results as it may have")
	// ErrAway: the prover does not answer, or this process is about to stop.
	ErrAway = errors.New("the prover is not available")
)

// Submission is a request for a proof.
type Submission struct {
	WorkspaceID    string
	KeyID          string // public id of the API key
	IdempotencyKey string
	Body           []byte // the Relay's from now on: it clears it
}

// Submit takes a request, or finds the job that the same one made before. Created says that
// it is new. A *request.Error says what is wrong with the body.
func (r *Relay) Submit(ctx context.Context, s Submission) (j *job.Job, created bool, err error) {
	kept := false
	defer func() {
		if !kept {
			clear(s.Body)
		}
	}()
	q, err := request.Parse(s.Body, r.Requests)
	if err != nil {
		return nil, false, err
	}
	a := job.Ask{WorkspaceID: s.WorkspaceID, KeyID: s.KeyID, Owner: r.process,
		KeyDigest:  r.Jobs.Digest("key", func(h hash.Hash) { io.WriteString(h, s.IdempotencyKey) }), //nolint:errcheck // a hash never fails
		BodyDigest: r.Jobs.Digest("body", q.Digest)}
	q.Clear()
	if j, err = r.Jobs.Find(ctx, a); err == nil && j.State != job.Unavailable {
		return j, false, nil
	} else if err != nil && !errors.Is(err, job.ErrNotFound) {
		return nil, false, err
	}
	if err := r.enter(s.WorkspaceID); err != nil {
		return nil, false, err
	}
	// The client may go away now: what it sent is worth a job that its retry finds.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTime)
	defer cancel()
	j, out, err := r.Jobs.Submit(ctx, a)
	if err != nil || out == job.Found {
		r.leave(s.WorkspaceID)
		return j, false, err
	}
	kept = true
	r.enqueue(&task{id: j.ID, workspace: s.WorkspaceID, body: s.Body, attempts: j.Attempts, since: r.Now()})
	return j, out == job.Created, nil
}

// enter takes a place for a body, and one for its result.
func (r *Relay) enter(workspace string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.Ready() != nil:
		return ErrAway
	case r.tasks >= r.Queue+r.Concurrency, r.tasks+len(r.held) >= r.Results:
		return ErrFull
	case r.owners[workspace] >= max(r.Results/4, 1):
		return ErrUnfetched
	}
	r.tasks++
	r.owners[workspace]++
	return nil
}

// leave gives a place back.
func (r *Relay) leave(workspace string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tasks--
	r.vacateLocked(workspace)
}

func (r *Relay) enqueue(t *task) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.queue = append(r.queue, t)
	r.known[t.id] = true
	close(r.wake)
	r.wake = make(chan struct{})
}

// dequeue takes the next task; nil when the context ended before there was one.
func (r *Relay) dequeue(ctx context.Context) *task {
	for {
		r.mu.Lock()
		wake := r.wake
		if len(r.queue) > 0 && ctx.Err() == nil {
			t := r.queue[0]
			r.queue = r.queue[1:]
			r.mu.Unlock()
			return t
		}
		r.mu.Unlock()
		select {
		case <-wake:
		case <-ctx.Done():
			return nil
		}
	}
}

// drop forgets a task and what it has of the body.
func (r *Relay) drop(t *task) {
	clear(t.body)
	t.body = nil
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tasks--
	delete(r.known, t.id)
	if !t.held {
		r.vacateLocked(t.workspace)
	}
}

// Ready says why no requests are taken; nil when they are.
func (r *Relay) Ready() error {
	if !r.joined.Load() || r.draining.Load() || r.away.Load() {
		return ErrAway
	}
	return nil
}
