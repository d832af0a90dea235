package usage

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

const (
	// flushEvery is how far what is written lags behind.
	flushEvery = time.Second
	// flushTime bounds one write, and thereby how long a stop takes.
	flushTime = 5 * time.Second
	// sweepEvery is how often old rows are looked for.
	sweepEvery = 10 * time.Minute
)

// bounds are of what waits in memory to be written.
type bounds struct {
	counts  int // of a key, class and hour
	details int // requests that are kept with what is known of them
	recent  int // of these, of one workspace
}

// Options of a Recorder. Zero values are the defaults.
type Options struct {
	// Counts bounds how many numbers of a key, class and hour wait in memory
	// (default 65,536), and Details how many single requests (default 8,192).
	Counts, Details int
	Metrics         *Metrics
	Logger          *slog.Logger
}

// Recorder takes down requests and writes them. It is safe for concurrent use.
type Recorder struct {
	repo    *Repository
	writer  string // names this recorder among those of all processes, and starts
	bounds  bounds
	metrics *Metrics
	log     *slog.Logger
	full    chan struct{} // holds a token when it is time to write

	mu      sync.Mutex // guards what follows
	pending *gathered
	seq     int64 // of the next event
	batches int64

	writing sync.Mutex // guards what follows
	// unwritten is what the database did not acknowledge yet. It is tried again as it
	// is, under its number, because it may have been written all the same.
	unwritten *gathered
	swept     time.Time
	failing   bool // of Run alone
}

// NewRecorder records into a repository.
func NewRecorder(repo *Repository, o Options) *Recorder {
	var id [12]byte
	rand.Read(id[:]) //nolint:errcheck // never fails
	r := &Recorder{repo: repo, writer: hex.EncodeToString(id[:]), metrics: o.Metrics, log: o.Logger, full: make(chan struct{}, 1), pending: newGathered(),
		bounds: bounds{counts: cmp.Or(o.Counts, 1<<16), details: cmp.Or(o.Details, 1<<13), recent: Recent}}
	if r.metrics == nil {
		r.metrics = NewMetrics(nil)
	}
	if r.log == nil {
		r.log = slog.New(slog.DiscardHandler)
	}
	return r
}

// Record takes a request down. It is on the path of every one: it waits for nothing
// but others that do the same.
func (r *Recorder) Record(e Event) {
	if e.WorkspaceID == "" || e.KeyID == "" {
		return // nobody's
	}
	r.mu.Lock()
	r.seq++
	r.pending.add(&e, r.seq, &r.bounds)
	half := r.pending.details == r.bounds.details/2 || r.pending.counts == r.bounds.counts/2
	r.mu.Unlock()
	if half {
		select {
		case r.full <- struct{}{}:
		default: // somebody said so
		}
	}
}

// take is what was recorded since the last time; nil when nothing was.
func (r *Recorder) take() *gathered {
	r.mu.Lock()
	defer r.mu.Unlock()
	g := r.pending
	if g.requests == 0 && g.uncounted == 0 {
		return nil
	}
	r.pending = newGathered()
	r.batches++
	g.seq = r.batches
	return g
}

// Flush writes what was recorded before it was called. After an error it is kept, and
// written by the next Flush.
func (r *Recorder) Flush(ctx context.Context) error {
	r.writing.Lock()
	defer r.writing.Unlock()
	for range 2 { // what is left of the last time, and what came since
		if r.unwritten == nil {
			if r.unwritten = r.take(); r.unwritten == nil {
				return nil
			}
			r.tell(r.unwritten)
		}
		now := r.repo.now()
		sweep := now.Sub(r.swept) >= sweepEvery
		if err := r.repo.apply(ctx, r.writer, r.unwritten, sweep); err != nil {
			r.metrics.flushes.WithLabelValues("failed").Inc()
			return fmt.Errorf("write the usage of keys: %w", err)
		}
		r.metrics.flushes.WithLabelValues("ok").Inc()
		r.unwritten = nil
		if sweep {
			r.swept = now
		}
	}
	return nil
}

// tell counts what a batch holds, and says what had no room in it.
func (r *Recorder) tell(g *gathered) {
	r.metrics.recorded.Add(float64(g.requests))
	r.metrics.dropped.WithLabelValues("count").Add(float64(g.uncounted))
	r.metrics.dropped.WithLabelValues("detail").Add(float64(g.undetailed))
	if g.uncounted > 0 || g.undetailed > 0 {
		r.log.Warn("requests had no room among those to be written", "not_counted", g.uncounted, "counted_without_detail", g.undetailed)
	}
}

// Run writes every second and once more when ctx ends, and returns then. A failure is
// logged when it begins and when it is over.
func (r *Recorder) Run(ctx context.Context) {
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			if err := r.flushIn(context.WithoutCancel(ctx)); err != nil {
				r.log.Error("the last requests are not in the usage of their keys", "requests", r.waiting(), "err", err)
			}
			return
		case <-tick.C:
		case <-r.full:
		}
		err := r.flushIn(ctx)
		switch {
		case err != nil && ctx.Err() == nil && !r.failing:
			r.failing = true
			r.log.Warn("requests are counted in memory until the control database answers", "err", err)
		case err == nil && r.failing:
			r.failing = false
			r.log.Info("the usage of keys is written again")
		}
	}
}

func (r *Recorder) flushIn(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, flushTime)
	defer cancel()
	return r.Flush(ctx)
}

// waiting is how many requests are not written.
func (r *Recorder) waiting() int64 {
	r.writing.Lock()
	defer r.writing.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	n := r.pending.requests
	if r.unwritten != nil {
		n += r.unwritten.requests
	}
	return n
}
