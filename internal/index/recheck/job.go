package recheck

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/audit"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/index"
	"chainexplorer/internal/job"
	"chainexplorer/internal/registry"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/record"
)

// Node is the part of index.Source that the auditor needs.
type Node interface {
	Fetcher
	Class(ctx context.Context, number uint64, hash felt.Felt) (raw []byte, node string, err error)
}

// Job is the auditor, a job.Job: it recomputes the finalized blocks of an index
// one after the other, at a bounded rate, holds samples of what the index made of
// them against a node at that block, and begins again at the end. What it finds is
// told and never repaired.
type Job struct {
	Store  store.Engine
	Node   Node
	States States
	// Voices are the nodes one by one, of which more than one are asked before the index
	// is called false; nil when they cannot be told apart.
	Voices   func() []Voice
	Registry *registry.Chain
	// Depth is how far below the head a block is finalized; chain.DefaultDepth when 0.
	Depth uint64
	// Interval is the time between two blocks; a second when 0.
	Interval time.Duration
	Logger   *slog.Logger
	Metrics  *Metrics
	Now      func() time.Time // time.Now when nil

	last    time.Time
	begun   bool     // this process has looked at a block
	revisit []uint64 // what stood as contradicted when it began, and was not looked at since
	warned  bool     // that nodes do not tell the blocks that hashes cover
}

// Voice is one node.
type Voice struct {
	Name   string
	States States
	Class  func(ctx context.Context, number uint64, hash felt.Felt) (raw []byte, node string, err error)
}

// maxVoices bounds the nodes that are asked about one contradiction.
const maxVoices = 4

var _ job.Job = (*Job)(nil)

// askTime bounds the questions about one block, and voiceTime those to one node about
// what another contradicts.
const (
	askTime   = 2 * time.Minute
	voiceTime = 10 * time.Second
)

// Name is what the lease, logs and metrics call the job.
func (*Job) Name() string { return "audit" }

// Tables are those that the job writes.
func (*Job) Tables() []*store.Table { return audit.Enrichment() }

// Every is the time between two blocks.
func (j *Job) Every() time.Duration {
	if j.Interval > 0 {
		return j.Interval
	}
	return time.Second
}

// looked is what a step saw of a block.
type looked struct {
	state   audit.State
	number  uint64
	chain   felt.Felt
	any     bool // there is a finalized block
	again   bool // it stands as contradicted, and is looked at out of turn
	stored  *explorer.Block
	damage  string // why it cannot be read
	claims  claims
	result  Result
	samples Sampled
}

// Step looks at a block, unless it is too early for one.
func (j *Job) Step(ctx context.Context, commit job.Commit) (more bool, err error) {
	now := time.Now
	if j.Now != nil {
		now = j.Now
	}
	at := now()
	if at.Sub(j.last) < j.Every() {
		return false, nil // new blocks wake all jobs
	}
	asking, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	l, err := j.look(asking)
	if err != nil || !l.any {
		return false, err
	}
	standing, err := j.compare(asking, &l)
	if err != nil {
		return false, fmt.Errorf("audit of block %d: %w", l.number, err)
	}
	j.last = at
	s := &l.state
	s.At = uint64(at.Unix())
	if l.again {
		j.revisit = j.revisit[1:]
	} else {
		s.Next, s.Through = l.number+1, max(s.Through, l.number)
	}
	j.note(s, &l, standing)
	b := &store.Batch{}
	b.Put(audit.StateKey, s.Encode())
	if err := commit(ctx, b); err != nil {
		return false, fmt.Errorf("audit: %w", err)
	}
	return false, nil
}

// look reads the next block and picks the samples of it. What stands as contradicted
// is looked at first by every new process, because somebody may have acted. No node is
// asked meanwhile: a view that is held keeps the store from tidying up.
func (j *Job) look(ctx context.Context) (l looked, err error) {
	err = j.Store.View(ctx, func(r store.Reader) error {
		depth := j.Depth
		if depth == 0 {
			depth = chain.DefaultDepth
		}
		state, err := chain.Read(ctx, r)
		if err != nil {
			return err
		}
		final, ok := state.FinalizedBlock(depth)
		if !ok {
			return nil
		}
		s := &l.state
		if *s, _, err = audit.Read(ctx, r); errors.Is(err, record.ErrCorrupt) {
			j.logger().Error("what the auditor found before cannot be read: it begins anew", "err", err)
			*s, err = audit.State{}, nil
		}
		if err != nil {
			return err
		}
		j.next(&l, final)
		l.any, l.chain = true, state.Format.ChainID
		if l.stored, _, err = index.LoadBlock(ctx, r, l.number); err == nil {
			l.claims, err = claimsOf(ctx, r, l.stored, j.Registry)
		}
		if err != nil && damaged(ctx, err) {
			l.damage, err = err.Error(), nil
		}
		return err
	})
	return l, err
}

// next says which block is looked at.
func (j *Job) next(l *looked, final uint64) {
	s := &l.state
	if !j.begun {
		j.begun = true
		for i := range s.Findings {
			j.revisit = append(j.revisit, s.Findings[i].Block)
		}
	}
	for len(j.revisit) > 0 && j.revisit[0] > final {
		j.revisit = j.revisit[1:]
	}
	if l.again = len(j.revisit) > 0; l.again {
		l.number = j.revisit[0]
		return
	}
	if s.Next > final {
		s.Next, s.Omitted = 0, 0
		s.Passes++
	}
	l.number = s.Next
}

// damaged tells an index that cannot be read at a place from a store that cannot be
// read now.
func damaged(ctx context.Context, err error) bool {
	for _, passing := range []error{store.ErrUnavailable, store.ErrClosed, store.ErrStopped, context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, passing) {
			return false
		}
	}
	return ctx.Err() == nil
}

// compare asks the nodes, and says how sure a contradiction by samples is.
func (j *Job) compare(ctx context.Context, l *looked) (standing audit.Standing, err error) {
	if l.damage != "" {
		return audit.Damaged, nil
	}
	if l.result, err = j.recompute(ctx, l); err != nil {
		return 0, err
	}
	if l.samples, err = l.claims.ask(ctx, j.Node.Class, j.States); err != nil || l.samples.Mismatch == "" {
		return audit.Proved, err
	}
	return j.hear(ctx, &l.claims)
}

// hear asks the nodes one by one about what one of them contradicts.
func (j *Job) hear(ctx context.Context, c *claims) (audit.Standing, error) {
	var voices []Voice
	if j.Voices != nil {
		voices = j.Voices()
	}
	against, with := 0, 0
	for _, v := range voices[:min(len(voices), maxVoices)] {
		if len(voices) == 1 {
			break
		}
		alone, cancel := context.WithTimeout(ctx, voiceTime)
		s, err := c.ask(alone, v.Class, v.States)
		cancel()
		switch {
		case ctx.Err() != nil:
			return 0, ctx.Err()
		case err != nil: // it did not answer in time
		case s.Mismatch != "":
			against++
		case s.Unanswered == 0:
			with++
		}
	}
	switch {
	case with > 0:
		return audit.Disputed, nil
	case against > 1:
		return audit.Proved, nil
	default:
		return audit.OneWord, nil
	}
}

// recompute is Block, but a node that has no old blocks, or whose blocks contradict
// their hashes, such as a local one, proves nothing and is no reason to stop.
func (j *Job) recompute(ctx context.Context, l *looked) (Result, error) {
	res, err := judge(ctx, l.stored, l.chain, j.Node)
	var lie *FalseAnswerError
	if !errors.As(err, &lie) && !errors.Is(err, index.ErrNotFound) {
		return res, err
	}
	if !j.warned {
		j.logger().Warn("the auditor cannot prove a block: the node does not have it, or tells another than its hash covers", "block", l.number, "err", err)
	}
	j.warned = true
	return Result{Number: l.number, Method: WithNode, Finding: chain.Finding{Outcome: chain.NotChecked}}, nil
}

func (j *Job) logger() *slog.Logger {
	if j.Logger == nil {
		return slog.New(slog.DiscardHandler)
	}
	return j.Logger
}

// note adds what was found to the state.
func (j *Job) note(s *audit.State, l *looked, standing audit.Standing) {
	count := func(kind audit.Kind, n uint64) {
		s.Checked[kind] += n
		j.Metrics.checked(kind, n)
	}
	res, samples := &l.result, &l.samples
	f := audit.Finding{Block: l.number, Kind: audit.Blocks, Standing: audit.Proved, Reason: res.Mismatch}
	switch {
	case l.damage != "":
		f.Standing, f.Reason = audit.Damaged, fmt.Sprintf("block %d cannot be read: %s", l.number, l.damage)
	case res.Mismatch != "":
	case res.Finding.Outcome == chain.Verified:
		count(audit.Blocks, 1)
	default:
		s.Unproved++
	}
	for k, n := range samples.Agree {
		count(k, n)
	}
	s.Unanswered += samples.Unanswered
	s.Unqualified += samples.Unqualified
	if f.Reason == "" {
		f.Kind, f.Standing, f.Reason = samples.Kind, standing, samples.Mismatch
	}
	if f.Reason == "" {
		if was, found := s.FindingAt(l.number); found && settled(&was, l) { // it was made good
			s.Clear(l.number)
		}
		return
	}
	s.Mismatches++
	j.Metrics.mismatch(f.Kind)
	s.Find(f)
	j.logger().Error("the auditor found what contradicts the index", "block", f.Block, "kind", f.Kind, "standing", f.Standing, "err", f.Reason)
}

// settled says that a block at which nothing was found was looked at well enough to
// take back what was.
func settled(was *audit.Finding, l *looked) bool {
	switch {
	case was.Standing == audit.Damaged:
		return true // it could be read
	case was.Kind == audit.Blocks:
		return l.result.Finding.Outcome == chain.Verified
	default:
		return l.samples.Unanswered == 0
	}
}

// Metrics count what the auditor of this process compared.
type Metrics struct{ agreed, mismatches *prometheus.CounterVec }

// NewMetrics makes the metrics and registers them; a nil registerer leaves them
// unregistered.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	counter := func(name, help string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "chainexplorer_audit_" + name, Help: help}, []string{"kind"})
	}
	m := &Metrics{
		agreed:     counter("checked_total", "What the auditor compared and found to agree, by kind: blocks with their hashes, samples with a node."),
		mismatches: counter("mismatches_total", "What the auditor found to contradict the index, by kind."),
	}
	for _, k := range audit.Kinds() {
		m.agreed.WithLabelValues(k.String())
		m.mismatches.WithLabelValues(k.String())
	}
	if reg != nil {
		reg.MustRegister(m.agreed, m.mismatches)
	}
	return m
}

func (m *Metrics) checked(k audit.Kind, n uint64) {
	if m != nil {
		m.agreed.WithLabelValues(k.String()).Add(float64(n))
	}
}

func (m *Metrics) mismatch(k audit.Kind) {
	if m != nil {
		m.mismatches.WithLabelValues(k.String()).Inc()
	}
}
