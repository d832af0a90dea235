package recheck

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"chainexplorer/internal/explorer/audit"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/index"
	"chainexplorer/internal/job"
	"chainexplorer/internal/registry"
	"chainexplorer/internal/store"
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
	Store    store.Engine
	Node     Node
	States   States
	Registry *registry.Chain
	// Depth is how far below the head a block is finalized; chain.DefaultDepth when 0.
	Depth uint64
	// Interval is the time between two blocks; a second when 0.
	Interval time.Duration
	Logger   *slog.Logger
	Metrics  *Metrics
	Now      func() time.Time // time.Now when nil

	last   time.Time
	again  bool // what stands as false was looked at again by this process
	warned bool // that nodes do not tell the blocks that hashes cover
}

var _ job.Job = (*Job)(nil)

// askTime bounds the questions about one block.
const askTime = time.Minute

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
	state  audit.State
	number uint64
	any    bool // there is a finalized block
	again  bool // it stands as false
	result Result
	claims claims
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
	samples, err := l.claims.ask(asking, j.Node, j.States)
	if err != nil {
		return false, fmt.Errorf("audit of block %d: %w", l.number, err)
	}
	j.last, j.again = at, true
	s := &l.state
	s.At = uint64(at.Unix())
	if !l.again {
		s.Next, s.Through = l.number+1, max(s.Through, l.number)
	}
	j.note(s, &l.result, &samples)
	b := &store.Batch{}
	b.Put(audit.StateKey, s.Encode())
	if err := commit(ctx, b); err != nil {
		return false, fmt.Errorf("audit: %w", err)
	}
	return false, nil
}

// look recomputes the next block and picks the samples of it. What stands as false
// is looked at first by every new process, because somebody may have acted.
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
		if *s, _, err = audit.Read(ctx, r); err != nil {
			return err
		}
		if l.again = s.False && !j.again && s.Block <= final; l.again {
			l.number = s.Block
		} else {
			if s.Next > final {
				s.Next = 0
				s.Passes++
			}
			l.number = s.Next
		}
		l.any = true
		if l.result, err = j.recompute(ctx, r, l.number, state.Format.ChainID); err != nil {
			return err
		}
		stored, _, err := index.LoadBlock(ctx, r, l.number)
		if err != nil {
			return err
		}
		l.claims, err = claimsOf(ctx, r, stored, j.Registry)
		return err
	})
	return l, err
}

// recompute is Block, but a node that has no old blocks, or whose blocks contradict
// their hashes, such as a local one, proves nothing and is no reason to stop.
func (j *Job) recompute(ctx context.Context, r store.Reader, number uint64, chainID felt.Felt) (Result, error) {
	res, err := Block(ctx, r, number, chainID, j.Node)
	var lie *FalseAnswerError
	if !errors.As(err, &lie) && !errors.Is(err, index.ErrNotFound) {
		return res, err
	}
	if !j.warned && j.Logger != nil {
		j.Logger.Warn("the auditor cannot prove a block: the node does not have it, or tells another than its hash covers", "block", number, "err", err)
	}
	j.warned = true
	return Result{Number: number, Method: WithNode, Finding: chain.Finding{Outcome: chain.NotChecked}}, nil
}

// note adds what was found to the state.
func (j *Job) note(s *audit.State, res *Result, samples *Sampled) {
	count := func(kind audit.Kind, n uint64) {
		s.Checked[kind] += n
		j.Metrics.checked(kind, n)
	}
	kind, mismatch := audit.Blocks, res.Mismatch
	switch {
	case mismatch != "":
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
	if mismatch == "" {
		kind, mismatch = samples.Kind, samples.Mismatch
	}
	if mismatch == "" {
		stillOpen := s.Kind == audit.Blocks && res.Finding.Outcome != chain.Verified || s.Kind != audit.Blocks && samples.Unanswered > 0
		if s.False && s.Block == res.Number && !stillOpen { // it was made good
			s.False, s.Block, s.Kind, s.Reason = false, 0, 0, ""
		}
		return
	}
	s.Mismatches++
	j.Metrics.mismatch(kind)
	if !s.False || res.Number <= s.Block {
		s.False, s.Block, s.Kind, s.Reason = true, res.Number, kind, mismatch
	}
	if j.Logger != nil {
		j.Logger.Error("the auditor found what contradicts the index", "block", res.Number, "kind", kind, "err", mismatch)
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
