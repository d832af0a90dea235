// Package census makes the generations of explorer/census, beside the write
// path: complete lists of a token's holders as of the finalized block, held
// against what the chain itself reports.
//
// A generation is built from one view of the index: balances stream through in
// chunks and become rows that nobody sees, then those rows are read in the order
// of their ranks for digest and metrics, the contract is asked for its supply and
// for some balances at that block's hash, and one commit publishes the whole. A
// kill at any moment leaves rows that were never published; the next run deletes
// them. Memory is that of one chunk, whatever the number of holders.
//
// A generation is certified only if no balance is impossible, all of them add up
// to the supply that the contract reports at that block, and the sampled balances
// agree. Later samples go on being taken, and a fork that takes the block away, or
// a sample that disagrees, revokes it for good.
package census

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"chainexplorer/internal/contractcall"
	"chainexplorer/internal/explorer/census"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/explorer/token"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/job"
	"chainexplorer/internal/registry"
	"chainexplorer/internal/store"
)

// Node answers calls at one block, in one batch; node.Pool does.
type Node interface {
	CallAt(ctx context.Context, at contractcall.Block, calls []contractcall.Call) ([]contractcall.Result, error)
}

// Job is a job.Job. Zero values take the defaults.
type Job struct {
	Store    store.Engine
	Node     Node
	Registry *registry.Chain
	// Depth is how far below the head a block is finalized (default chain.DefaultDepth).
	Depth uint64
	// Rebuild is how old a generation gets before a token that has moved since
	// is counted again (default two hours).
	Rebuild time.Duration
	// Retention is how long a generation is kept after it was published or
	// renewed (default six hours).
	Retention time.Duration
	// Audit is how often the newest generation of a token is sampled again
	// (default half an hour), and Retry how long to wait after a node could not be
	// asked (default one minute).
	Audit, Retry time.Duration
	// Samples is how many balances are held against the contract's (default 40).
	Samples int
	// Chunk is how many rows a commit has (default 4,000).
	Chunk int
	// Interval is how often there is something to look at (default 5 s).
	Interval time.Duration
	// Tip is the newest block that the nodes have, if known: while the index is
	// catching up with it nothing is counted.
	Tip    func() (number uint64, ok bool)
	Now    func() time.Time
	Logger *slog.Logger
	// Progress, unless nil, is told of every chunk of a count; otherwise one that
	// takes long is logged.
	Progress func(Progress)

	// audited is when this process last sampled a generation, tried when it last
	// tried that in vain. Whoever takes the job over knows nothing of it, and does
	// it again.
	audited, tried map[uint64]time.Time
}

var _ job.Job = (*Job)(nil)

// grace is how much longer than it says a generation is kept, so that clocks of
// several machines may differ.
const grace = time.Minute

// New fills in the defaults.
func New(j Job) *Job {
	def := func(d *time.Duration, v time.Duration) {
		if *d <= 0 {
			*d = v
		}
	}
	def(&j.Rebuild, 2*time.Hour)
	def(&j.Retention, 6*time.Hour)
	def(&j.Audit, 30*time.Minute)
	def(&j.Retry, time.Minute)
	def(&j.Interval, 5*time.Second)
	if j.Depth == 0 {
		j.Depth = chain.DefaultDepth
	}
	if j.Samples <= 0 {
		j.Samples = 40
	}
	if j.Chunk <= 0 {
		j.Chunk = 4000
	}
	if j.Now == nil {
		j.Now = time.Now
	}
	if j.Logger == nil {
		j.Logger = slog.New(slog.DiscardHandler)
	}
	j.audited, j.tried = map[uint64]time.Time{}, map[uint64]time.Time{}
	return &j
}

// Name is what the lease, logs and metrics call the job.
func (*Job) Name() string { return "holder-census" }

// Tables are those that the job writes.
func (*Job) Tables() []*store.Table { return census.Enrichment() }

// Every is how often there is something to look at.
func (j *Job) Every() time.Duration { return j.Interval }

// seen is what a step goes by.
type seen struct {
	now         uint64
	state       chain.State
	generations []*census.Generation
	latest      map[felt.Felt]*token.Totals // of qualified tokens that have moved
}

func (s *seen) newest(t felt.Felt) *census.Generation {
	for _, g := range s.generations { // by token, newest first
		if g.Token == t && g.Shown() {
			return g
		}
	}
	return nil
}

// Step does the most urgent thing that there is to do, and reports whether there
// may be more.
func (j *Job) Step(ctx context.Context, commit job.Commit) (more bool, err error) {
	s, err := j.look(ctx)
	if err != nil || !s.state.HasHead {
		return false, err
	}
	for _, do := range []func(context.Context, job.Commit, *seen) (bool, error){j.revokeOrphans, j.clean, j.expire, j.build, j.certify, j.renew} {
		if done, err := do(ctx, commit, s); err != nil || done {
			return done, err
		}
	}
	return false, nil
}

// look reads what there is, in one view.
func (j *Job) look(ctx context.Context) (*seen, error) {
	s := &seen{now: uint64(j.Now().Unix()), latest: map[felt.Felt]*token.Totals{}}
	err := j.Store.View(ctx, func(r store.Reader) (err error) {
		if s.state, err = chain.Read(ctx, r); err != nil || !s.state.HasHead {
			return err
		}
		if s.generations, err = census.All(ctx, r); err != nil {
			return err
		}
		j.forget(s.generations)
		for _, t := range j.Registry.Tokens() {
			if !t.Census.Qualified {
				continue
			}
			totals, found, err := token.TotalsOf(ctx, r, t.Address)
			if err != nil {
				return err
			}
			if found {
				s.latest[t.Address] = &totals
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("holder census: %w", err)
	}
	return s, nil
}

// forget drops what is remembered of generations that are gone: another process
// may have deleted them.
func (j *Job) forget(there []*census.Generation) {
	for _, m := range []map[uint64]time.Time{j.audited, j.tried} {
		maps.DeleteFunc(m, func(id uint64, _ time.Time) bool {
			return !slices.ContainsFunc(there, func(g *census.Generation) bool { return g.ID == id })
		})
	}
}

// put commits the record of a generation.
func (j *Job) put(ctx context.Context, commit job.Commit, g *census.Generation) error {
	b := &store.Batch{}
	b.Put(census.GenerationKey(g.Token, g.ID), g.Encode())
	if err := commit(ctx, b); err != nil {
		return fmt.Errorf("generation %d of %s: %w", g.ID, g.Token, err)
	}
	return nil
}

// revokeOrphans revokes what was built on blocks that a fork took away.
func (j *Job) revokeOrphans(ctx context.Context, commit job.Commit, s *seen) (done bool, err error) {
	var gone []*census.Generation
	err = j.Store.View(ctx, func(r store.Reader) error {
		for _, g := range s.generations {
			if g.Status != census.Published {
				continue
			}
			orphaned, err := g.Orphaned(ctx, r)
			if err != nil {
				return err
			}
			if orphaned {
				gone = append(gone, g)
			}
		}
		return nil
	})
	if err != nil || len(gone) == 0 {
		return false, err
	}
	b := &store.Batch{}
	for _, g := range gone {
		j.Logger.Warn("a fork took away the block of a holder generation, which is revoked", "token", g.Token, "generation", g.ID, "block", g.AsOf)
		g.Status, g.Reason = census.Revoked, "a fork took away its block"
		b.Put(census.GenerationKey(g.Token, g.ID), g.Encode())
	}
	return true, commit(ctx, b)
}

// clean deletes some rows of generations that nobody will see: half built ones
// of a run before this, and expired ones.
func (j *Job) clean(ctx context.Context, commit job.Commit, s *seen) (done bool, err error) {
	at := slices.IndexFunc(s.generations, func(g *census.Generation) bool { return g.Status == census.Building || g.Status == census.Deleting })
	if at < 0 {
		return false, nil
	}
	g := s.generations[at]
	b := &store.Batch{}
	err = j.Store.View(ctx, func(r store.Reader) error {
		rows, err := census.Page(ctx, r, g.Token, g.ID, nil, j.Chunk)
		for i := range rows {
			b.Delete(store.Key{Table: census.Holders, Partition: census.HolderPartition(g.Token, g.ID), Sort: rows[i].Place[:]})
		}
		return err
	})
	if err != nil {
		return false, err
	}
	if b.Len() < j.Chunk {
		b.Delete(census.GenerationKey(g.Token, g.ID)) // with the last rows, so that none is left behind
	}
	return true, commit(ctx, b)
}

// expire ends generations whose time has passed, except the newest of a token
// that is still counted.
func (j *Job) expire(ctx context.Context, commit job.Commit, s *seen) (done bool, err error) {
	for _, g := range s.generations {
		if !g.Shown() || g.Expires+uint64(grace.Seconds()) > s.now {
			continue
		}
		if _, counted := s.latest[g.Token]; counted && s.newest(g.Token) == g {
			continue
		}
		g.Status = census.Deleting
		return true, j.put(ctx, commit, g)
	}
	return false, nil
}

// renew prolongs the newest generation of a token that has not moved since, or
// not in a block that is final.
func (j *Job) renew(ctx context.Context, commit job.Commit, s *seen) (done bool, err error) {
	final, ok := s.state.FinalizedBlock(j.Depth)
	for _, t := range j.tokens(s) {
		g := s.newest(t)
		stands := g != nil && (s.latest[t].Latest <= g.AsOf || !ok || final <= g.AsOf)
		if !stands || g.Status != census.Published {
			continue
		}
		until := s.now + uint64(j.Retention.Seconds())
		if g.Expires+uint64(j.Rebuild.Seconds()) < until {
			g.Expires = until
			return true, j.put(ctx, commit, g)
		}
	}
	return false, nil
}

// tokens lists the tokens that are counted, in a fixed order.
func (j *Job) tokens(s *seen) (out []felt.Felt) {
	for _, t := range j.Registry.Tokens() {
		if _, ok := s.latest[t.Address]; ok {
			out = append(out, t.Address)
		}
	}
	return out
}
