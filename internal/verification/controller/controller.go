// Package controller is the worker's side of exact verification: it takes queued jobs,
// has them built in a sandbox, compares what came out with the finalized declaration in
// the index, has the receipt signed, and admits it. It runs outside of the sandbox and
// believes nothing that was said inside.
package controller

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"chainexplorer/internal/felt"
	runner "chainexplorer/internal/job"
	"chainexplorer/internal/store"
	"chainexplorer/internal/verification/build"
	"chainexplorer/internal/verification/job"
	"chainexplorer/internal/verification/receipt"
	"chainexplorer/internal/verification/submission"
)

// Builder builds sources. Its errors are *build.Failure, or that the context ended.
type Builder interface {
	Ready(ctx context.Context) error
	Build(ctx context.Context, source io.Reader, p *submission.Package) (*build.Result, error)
}

// Signer signs evidence.
type Signer interface {
	// Ready says why nothing can be signed now.
	Ready(ctx context.Context) error
	Sign(ctx context.Context, e receipt.Evidence) (*receipt.Receipt, error)
}

// Job is a job of the runner. Without a builder or a signer it takes no jobs and says
// why, and does all else: sources are deleted in time also where nothing is built.
type Job struct {
	Jobs    *job.Repo
	Store   store.Engine
	Depth   uint64 // how far below the head a block is finalized
	Builder Builder
	Signer  Signer
	// Builds is how many jobs are done at once; one unless set.
	Builds int
	// Class is the class as a node has it, to say which parts of it differ; nil where
	// that is not told.
	Class func(ctx context.Context, block uint64, hash felt.Felt) ([]byte, error)
	// Join adds the receipt to the log in the transaction that admits it; nil: to none.
	Join   func(ctx context.Context, tx *sql.Tx, signed *receipt.Receipt) error
	Worker string
	// Settings is what the worker is set up by, in JSON, for operators to see.
	Settings string
	// Lease is how long a job is left to a worker that says nothing (default 1 min), and
	// Interval how often there is something to look for (default 2 s).
	Lease, Interval time.Duration
	Now             func() time.Time
	Logger          *slog.Logger
	Metrics         *Metrics

	// What follows is of the goroutine that calls Step.
	tidied, looked time.Time
	trouble        string // as it was announced
	unsigned       bool   // because of the signer
}

var _ runner.Job = (*Job)(nil)

const (
	lease     = time.Minute
	tidyEvery = 30 * time.Second
	lookEvery = 30 * time.Second // at the builder and the signer, and to say that the worker is there
	// signEvery is how often a signer is asked that is away: it is back as soon as somebody starts it.
	signEvery = 2 * time.Second
)

// Name is what the lease, logs and metrics call the job.
func (*Job) Name() string { return "verification" }

// Tables are none: jobs are in the control database.
func (*Job) Tables() []*store.Table { return nil }

// Every is how often to look for work.
func (c *Job) Every() time.Duration {
	if c.Interval > 0 {
		return c.Interval
	}
	return 2 * time.Second
}

func (c *Job) now() time.Time {
	if c.Now != nil {
		return c.Now()
	}
	return time.Now()
}

func (c *Job) log() *slog.Logger {
	if c.Logger != nil {
		return c.Logger
	}
	return slog.New(slog.DiscardHandler)
}

func (c *Job) lease() time.Duration {
	if c.Lease > 0 {
		return c.Lease
	}
	return lease
}

// shift bounds how long new jobs are begun before the runner is told that all went well.
const shift = time.Hour

// Step does the jobs that wait, several at a time, until none waits and all have ended.
// Meanwhile it tidies up, and looks at the builder, as often as without any.
func (c *Job) Step(ctx context.Context, _ runner.Commit) (more bool, err error) {
	if err := c.keep(ctx); err != nil {
		return false, err
	}
	tick := time.NewTicker(c.Every())
	defer tick.Stop()
	ended, begun, running := make(chan error), c.now(), 0
	var failed error // of a job: no other is begun then
	for {
		var trouble error
		for failed == nil && c.trouble == "" && running < max(1, c.Builds) && ctx.Err() == nil && c.now().Sub(begun) < shift {
			w, err := c.Jobs.Claim(ctx, job.Chain, c.Worker, c.lease())
			if err != nil || w == nil {
				trouble = err
				break
			}
			running++
			c.Metrics.begun()
			go func() { ended <- c.hold(ctx, w) }()
		}
		if running == 0 {
			return false, errors.Join(failed, trouble)
		}
		select {
		case err := <-ended:
			running--
			c.Metrics.over()
			failed = errors.Join(failed, err)
		case <-tick.C:
			if err := c.keep(ctx); err != nil && ctx.Err() == nil {
				c.log().Warn("verification jobs could not be looked after while some are built", "err", err)
			}
		}
	}
}

// keep does what is due whether or not there are jobs: it tidies up, takes jobs from
// workers that died, and looks at the builder.
func (c *Job) keep(ctx context.Context) error {
	if c.tidied.IsZero() || c.now().Sub(c.tidied) >= tidyEvery {
		done, err := c.Jobs.Tidy(ctx)
		if err != nil { // the next round tries again; jobs that wait are not to wait for it
			c.log().Warn("verification could not be tidied up", "err", err)
		}
		c.tidied = c.now()
		if done != (job.Tidied{}) {
			c.log().Info("tidied up verification jobs", "expired", done.Expired, "validated", done.Validated, "sources_deleted", done.Deleted, "uploads_dropped", done.Dropped)
		}
	}
	if _, err := c.Jobs.Recover(ctx, job.Chain, c.lease()); err != nil {
		return err
	}
	return c.look(ctx)
}

// look finds out whether anything can be built, and says so to all processes.
func (c *Job) look(ctx context.Context) error {
	every := lookEvery
	if c.unsigned {
		every = signEvery
	}
	if !c.looked.IsZero() && c.now().Sub(c.looked) < every {
		return nil
	}
	trouble, unsigned := "", false
	switch {
	case c.Builder == nil:
		trouble = "no toolchain is configured: see --verification-toolchains"
	case c.Signer == nil:
		trouble = "no signer is configured: see --signer"
	default:
		if err := c.Builder.Ready(ctx); err != nil {
			trouble = "nothing can be built: " + err.Error()
		} else if err := c.Signer.Ready(ctx); err != nil {
			trouble, unsigned = "nothing can be signed: the signer is away, or has no key that is valid now", true
			if !c.unsigned && ctx.Err() == nil {
				c.log().Warn("the signer is not ready", "err", err)
			}
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if trouble != c.trouble && trouble != "" {
		c.log().Warn("no verification jobs are taken", "why", trouble)
	}
	if err := c.Jobs.Announce(ctx, job.Chain, c.Worker, trouble); err != nil {
		return err
	}
	if err := c.Jobs.Describe(ctx, job.Chain, c.Worker, c.Settings); err != nil {
		return err
	}
	c.Metrics.troubled(trouble != "" && (c.Builder != nil || c.Signer != nil)) // not where nothing is meant to be verified
	c.trouble, c.unsigned, c.looked = trouble, unsigned, c.now()
	return nil
}

// hold does a job while it says again and again that the worker has it. A job that was
// cancelled, or given to another, is left at once.
func (c *Job) hold(parent context.Context, w *job.Work) error {
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	beaten, held := make(chan struct{}), *w
	go func() {
		defer close(beaten)
		c.beat(ctx, &held, cancel)
	}()
	err := c.do(ctx, w)
	cause := context.Cause(ctx)
	cancel(nil)
	<-beaten
	switch {
	case job.Lost(err), job.Lost(cause):
		c.log().Info("a verification job was cancelled or taken by another", "job", w.ID)
		c.Metrics.ended("lost")
		return nil
	case parent.Err() != nil:
		return c.giveBack(parent, w)
	case err != nil:
		c.Metrics.ended("trouble")
		return fmt.Errorf("verification job %s: %w", w.ID, err) // its lease will end
	}
	outcome := string(w.State)
	if w.Failure != nil {
		outcome = string(w.Failure.Code)
	}
	c.log().Info("a verification job ended", "job", w.ID, "outcome", outcome)
	c.Metrics.ended(outcome)
	return nil
}

// beat renews the claim.
func (c *Job) beat(ctx context.Context, w *job.Work, lost context.CancelCauseFunc) {
	tick := time.NewTicker(c.lease() / 6)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		err := c.Jobs.Beat(ctx, w, c.lease())
		if job.Lost(err) {
			lost(err)
			return
		}
		if err != nil && ctx.Err() == nil {
			c.log().Warn("the claim to a verification job could not be renewed", "job", w.ID, "err", err)
		}
	}
}

// giveBack lets another worker begin at once when this one is to stop.
func (c *Job) giveBack(parent context.Context, w *job.Work) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(parent), 2*time.Second)
	defer cancel()
	if err := c.Jobs.GiveBack(ctx, w); err != nil && !job.Lost(err) {
		c.log().Warn("a verification job could not be given back", "job", w.ID, "err", err)
	}
	return parent.Err()
}

// do brings a job to its end. An error is trouble of this machine.
func (c *Job) do(ctx context.Context, w *job.Work) error {
	selected, err := felt.Parse(w.Package.SelectedClassHash)
	if err != nil {
		return err
	}
	if _, known, err := c.declaration(ctx, selected); err != nil {
		return err
	} else if !known { // nothing is built in vain
		return c.Jobs.Fail(ctx, w, job.Failure{Code: job.DeclarationUnavailable, Retryable: true})
	}
	began := time.Now()
	built, err := c.Builder.Build(ctx, c.Jobs.Source(ctx, w.Job), w.Package)
	if ctx.Err() == nil {
		c.Metrics.built(time.Since(began), err)
	}
	var failure *build.Failure
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &failure):
		c.log().Info("a build failed", "job", w.ID, "code", failure.Code, "reason", failure.Reason)
		return c.Jobs.Fail(ctx, w, job.Failure{Code: job.Code(failure.Code), Retryable: failure.Retryable})
	case err != nil:
		c.log().Warn("a build could not be done", "job", w.ID, "err", err)
		return c.Jobs.Fail(ctx, w, job.Failure{Code: job.DispatchFailed, Retryable: true})
	}
	if err := c.Jobs.Compare(ctx, w); err != nil {
		return err
	}
	// A fork may have taken the declaration away meanwhile.
	declared, known, err := c.declaration(ctx, selected)
	switch {
	case err != nil:
		return err
	case !known:
		return c.Jobs.Fail(ctx, w, job.Failure{Code: job.DeclarationUnavailable, Retryable: true})
	case built.ClassHash != selected:
		return c.Jobs.Differ(ctx, w, c.differences(ctx, declared.BlockNumber, selected, built.Parts))
	}
	signed, err := c.sign(ctx, w, built, declared)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		c.log().Error("a receipt could not be signed", "job", w.ID, "err", err)
		return c.Jobs.Fail(ctx, w, job.Failure{Code: job.SigningFailed, Retryable: true})
	}
	w.Toolchain = built.Toolchain
	return c.admit(ctx, w, signed)
}

// admit ends the job with its receipt. A database that is away for a moment costs no second signature: it is tried
// again for as long as the job would stay ours.
func (c *Job) admit(ctx context.Context, w *job.Work, signed *receipt.Receipt) error {
	ctx, cancel := context.WithTimeout(ctx, c.lease())
	defer cancel()
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, 2*time.Second) {
		err := c.Jobs.Admit(ctx, w, signed, func(ctx context.Context, tx *sql.Tx) error {
			if c.Join == nil {
				return nil
			}
			return c.Join(ctx, tx, signed)
		})
		if err == nil || job.Lost(err) {
			return err
		}
		c.log().Warn("a receipt could not be admitted", "job", w.ID, "err", err)
		select {
		case <-ctx.Done():
			return err
		case <-time.After(wait):
		}
	}
}

// sign has the evidence signed, and holds what comes back against it.
func (c *Job) sign(ctx context.Context, w *job.Work, built *build.Result, declared *receipt.Declaration) (*receipt.Receipt, error) {
	e := receipt.Evidence{JobID: w.ID, ChainID: w.Chain, ClassHash: built.ClassHash.String(), ReceiptID: w.ReceiptID, Verification: receipt.VerifiedExact,
		SourceArchiveDigest: w.Package.UploadDigest, ToolchainPolicyID: receipt.ToolchainPolicy, CandidateDigest: built.CandidateDigest, Declaration: *declared,
		ProofScope: receipt.ProofScope, NotProofOf: receipt.NotProofOf, IssuedAt: c.now().UTC().Format(time.RFC3339)}
	signed, err := c.Signer.Sign(ctx, e)
	if err != nil {
		return nil, err
	}
	want, err := e.Canonical()
	if err != nil {
		return nil, err
	}
	if signed == nil || signed.Evidence == nil {
		return nil, errors.New("the signer returned nothing")
	}
	got, err := signed.Evidence.Canonical()
	if err != nil || string(got) != string(want) {
		return nil, errors.New("the signer signed something else")
	}
	return signed, nil
}
