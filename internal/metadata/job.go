// Package metadata asks token contracts for their names, symbols, decimals and
// supplies, beside the indexer, so that no request ever has to.
//
// Every contract that emits an event that looks like a transfer is put into a
// queue and asked, with all calls pinned to the hash of the index's head. What it
// refuses it does not have; what no node could answer is asked again after a
// pause that doubles. An answer is asked for again after Refresh if the token
// was used since, and after ever longer pauses, up to a day, while it is not:
// names change with upgrades and supplies with use.
//
// The queue is kept in the store and survives restarts. What was read names the
// block it was read at. When a fork replaces that block the token is asked again
// at once, and the search for new tokens goes back to the fork's first block.
package metadata

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"golang.org/x/sync/errgroup"

	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/explorer/token"
	"chainexplorer/internal/explorer/transfer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/index"
	"chainexplorer/internal/job"
	"chainexplorer/internal/store"
)

// Source runs view functions of contracts; *index.Nodes is one.
type Source interface {
	// Call runs a view function at the block with a hash. index.ErrReverted is the
	// contract's own answer; any other error means that nobody could answer.
	Call(ctx context.Context, block, contract, selector felt.Felt, calldata []felt.Felt) ([]felt.Felt, error)
}

// Job is a job.Job. The zero values of what is not said otherwise take the
// defaults.
type Job struct {
	Store  store.Engine // needed
	Source Source       // needed

	// Poll is how often the queue is looked at when it was empty (default 2 s).
	Poll time.Duration
	// Refresh is how soon an answer is asked for again (default 6 h).
	Refresh time.Duration
	// RetryMin and RetryMax bound the pause after a failure (default 30 s, 6 h).
	RetryMin, RetryMax time.Duration
	// Parallel is how many tokens are asked at a time (default 4), Batch how many
	// answers share a commit (default 64).
	Parallel, Batch int
	// CallTime bounds one call (default 10 s).
	CallTime time.Duration

	Now    func() time.Time
	Logger *slog.Logger
}

var _ job.Job = (*Job)(nil)

// maxIdle bounds the pause of a token that nobody uses.
const maxIdle = 24 * time.Hour

// New fills in the defaults.
func New(j Job) *Job {
	for _, d := range []struct {
		v   *time.Duration
		def time.Duration
	}{
		{&j.Poll, 2 * time.Second}, {&j.Refresh, 6 * time.Hour}, {&j.RetryMin, 30 * time.Second},
		{&j.RetryMax, 6 * time.Hour}, {&j.CallTime, 10 * time.Second},
	} {
		if *d.v == 0 {
			*d.v = d.def
		}
	}
	if j.Parallel == 0 {
		j.Parallel = 4
	}
	if j.Batch == 0 {
		j.Batch = 64
	}
	if j.Now == nil {
		j.Now = time.Now
	}
	if j.Logger == nil {
		j.Logger = slog.New(slog.DiscardHandler)
	}
	return &j
}

// Name is what the lease, logs and metrics call the job.
func (*Job) Name() string { return "token-metadata" }

// Tables are those that the job writes.
func (*Job) Tables() []*store.Table { return token.Enrichment() }

// Every is how often the queue is looked at.
func (j *Job) Every() time.Duration { return j.Poll }

// CatchUp works until nothing is due, or nobody answers.
func (j *Job) CatchUp(ctx context.Context, commit job.Commit) error {
	for {
		if more, err := j.Step(ctx, commit); err != nil || !more {
			return err
		}
	}
}

// Step puts new tokens into the queue and asks those that are due. It reports
// whether there is more to do at once.
func (j *Job) Step(ctx context.Context, commit job.Commit) (more bool, err error) {
	found, err := j.discover(ctx, commit)
	if err != nil {
		return false, err
	}
	asked, err := j.ask(ctx, commit)
	return found || asked, err
}

const (
	// How many tokens are queued in one commit, and how many spans of blocks are
	// looked at for them.
	discoverTokens = 1000
	discoverSpans  = 256
	// How many tokens are asked again after a fork, and how far below the head
	// they are looked for when there were several forks since the last look. What
	// is missed is asked again when it is due.
	againTokens = 10_000
	againBlocks = 20_000
)

// discover queues tokens that were first seen since the last look.
func (j *Job) discover(ctx context.Context, commit job.Commit) (more bool, err error) {
	b := &store.Batch{}
	err = j.Store.View(ctx, func(r store.Reader) error {
		state, err := chain.Read(ctx, r)
		if err != nil || !state.HasHead {
			return err
		}
		p, err := token.ProgressNow(ctx, r)
		if err != nil {
			return err
		}
		before := p
		if state.Fork.Count != p.Forks {
			since := state.Fork.Ancestor + 1
			if state.Fork.Count > p.Forks+1 { // how deep the others were is not known
				since, p.Next = state.Head.Number-min(state.Head.Number, againBlocks), token.First{}
			}
			if since < p.Next.Block {
				p.Next = token.First{Block: since}
			}
			if err := j.again(ctx, r, b, since); err != nil {
				return err
			}
		}
		p.Forks = state.Fork.Count
		found, next, done, err := token.FirstSeen(ctx, r, p.Next, state.Head.Number, discoverTokens, discoverSpans)
		if err != nil {
			return err
		}
		more, p.Next = !done, next
		tokens := make([]felt.Felt, len(found))
		for i, f := range found {
			tokens[i] = f.Token
		}
		known, err := token.MetadataOf(ctx, r, tokens)
		if err != nil {
			return err
		}
		for i, m := range known {
			if m == nil {
				b.Put(token.MetadataKey(tokens[i]), (&token.Metadata{}).Encode())
				b.Put(token.QueueKey(0, tokens[i]), nil)
			}
		}
		if p != before {
			b.Put(token.ProgressKey, p.Encode())
		}
		return nil
	})
	if err != nil || b.Len() == 0 {
		return more, err
	}
	return more, commit(ctx, b)
}

// again makes tokens due that were read at blocks that are no more.
func (j *Job) again(ctx context.Context, r store.Reader, b *store.Batch, since uint64) error {
	read, err := token.ReadSince(ctx, r, since, againTokens)
	if err != nil {
		return err
	}
	tokens := make([]felt.Felt, len(read))
	for i, q := range read {
		tokens[i] = q.Token
	}
	known, err := token.MetadataOf(ctx, r, tokens)
	if err != nil {
		return err
	}
	for i, m := range known {
		if m == nil || !m.Known {
			continue
		}
		now, err := block.Get(ctx, r, m.Block)
		if err != nil && !errors.Is(err, block.ErrNotFound) {
			return err
		}
		if err == nil && now.Hash == m.BlockHash {
			continue
		}
		b.Delete(token.QueueKey(m.Due, tokens[i]))
		m.Due, m.Orphaned = 0, true
		b.Put(token.QueueKey(0, tokens[i]), nil)
		b.Put(token.MetadataKey(tokens[i]), m.Encode())
	}
	return nil
}

// task is a token that is asked.
type task struct {
	token  felt.Felt
	was    *token.Metadata
	idle   bool              // not used since it was asked last
	class  transfer.Standard // what its class tells
	answer *token.Metadata   // nil when nobody could answer
}

// ask takes tokens from the queue and commits their answers.
func (j *Job) ask(ctx context.Context, commit job.Commit) (asked bool, err error) {
	now := uint64(j.Now().Unix())
	var head chain.Head
	var tasks []*task
	err = j.Store.View(ctx, func(r store.Reader) error {
		state, err := chain.Read(ctx, r)
		if err != nil || !state.HasHead {
			return err
		}
		head = state.Head
		tasks, err = j.due(ctx, r, now, head.Number)
		return err
	})
	if err != nil || len(tasks) == 0 {
		return false, err
	}
	group, calls := errgroup.WithContext(ctx)
	group.SetLimit(j.Parallel)
	for _, t := range tasks {
		if t.idle {
			continue
		}
		group.Go(func() error {
			a, err := j.read(calls, t, head, now)
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case err != nil:
				j.Logger.Debug("token did not answer", "token", t.token, "err", err)
			default:
				t.answer = a
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return false, err
	}
	b := &store.Batch{}
	answered, failed := 0, 0
	for _, t := range tasks {
		j.settle(b, t, now)
		switch {
		case t.answer != nil:
			answered++
		case !t.idle:
			failed++
		}
	}
	if err := commit(ctx, b); err != nil {
		return false, err
	}
	if failed > 0 {
		j.Logger.Warn("tokens did not answer", "failed", failed, "answered", answered)
	}
	// When nobody answers it is the node: no haste.
	return failed == 0 || answered > 0, nil
}

// due reads the queue and what is known of its tokens.
func (j *Job) due(ctx context.Context, r store.Reader, now, head uint64) ([]*task, error) {
	queue, err := token.DueUntil(ctx, r, now, j.Batch)
	if err != nil || len(queue) == 0 {
		return nil, err
	}
	tokens := make([]felt.Felt, len(queue))
	for i, q := range queue {
		tokens[i] = q.Token
	}
	known, err := token.MetadataOf(ctx, r, tokens)
	if err != nil {
		return nil, err
	}
	classes, err := token.KindsByClass(ctx, r, tokens, head)
	if err != nil {
		return nil, err
	}
	tasks := make([]*task, len(queue))
	for i, q := range queue {
		was := known[i]
		if was == nil {
			was = &token.Metadata{}
		}
		was.Due = q.Due // the row that is to go
		tasks[i] = &task{token: q.Token, was: was, class: classes[i]}
		if !was.Known {
			continue
		}
		totals, _, err := token.TotalsOf(ctx, r, q.Token)
		if err != nil {
			return nil, err
		}
		tasks[i].idle = totals.Latest <= was.Block && !was.Orphaned
	}
	return tasks, nil
}

// settle writes what became of a task.
func (j *Job) settle(b *store.Batch, t *task, now uint64) {
	m := t.answer
	switch {
	case m != nil:
		m.Due = now + seconds(j.Refresh)
		if old := t.was.Symbol; old != nil && (m.Symbol == nil || *m.Symbol != *old) {
			b.Delete(token.SymbolKey(*old, t.token))
		}
		if m.Symbol != nil {
			b.Put(token.SymbolKey(*m.Symbol, t.token), nil)
		}
	case t.idle:
		rest := *t.was
		m = &rest
		// Twice as long as it has been resting.
		m.Due = now + min(seconds(maxIdle), max(seconds(j.Refresh), 2*(now-min(now, t.was.Time))))
	default:
		rest := *t.was
		m = &rest
		pause := seconds(j.RetryMax)
		if t.was.Failures < 20 {
			pause = min(pause, seconds(j.RetryMin)<<t.was.Failures)
		}
		m.Due, m.Failures = now+pause, t.was.Failures+1
	}
	if t.was.Known {
		b.Delete(token.ReadKey(t.was.Block, t.token))
	}
	if m.Known {
		b.Put(token.ReadKey(m.Block, t.token), nil)
	}
	b.Delete(token.QueueKey(t.was.Due, t.token))
	b.Put(token.QueueKey(m.Due, t.token), nil)
	b.Put(token.MetadataKey(t.token), m.Encode())
}

func seconds(d time.Duration) uint64 { return max(1, uint64(d/time.Second)) }

// The entry points that are called, in both spellings where there are two.
var (
	doorName     = felt.Selector("name")
	doorSymbol   = felt.Selector("symbol")
	doorDecimals = felt.Selector("decimals")
	doorsSupply  = []felt.Felt{felt.Selector("total_supply"), felt.Selector("totalSupply")}
	doorsSupport = []felt.Felt{felt.Selector("supports_interface"), felt.Selector("supportsInterface")}

	interfaceERC721  = felt.MustParse("0x33eb2f84c309543403fd69f0d0f363781ef06ef6faeb0131ff16ea3175bd943")
	interfaceERC1155 = felt.MustParse("0x6114a8f75559e1b39fcba08ce02961a1aa082d9256a158dd3e64964e4b1b52")
)

// read asks a token. An error means that nobody could answer: then nothing is
// known, also of what was answered before it.
func (j *Job) read(ctx context.Context, t *task, head chain.Head, now uint64) (*token.Metadata, error) {
	c := caller{j: j, ctx: ctx, block: head.Hash, token: t.token}
	m := &token.Metadata{Known: true, Block: head.Number, BlockHash: head.Hash, Time: now}
	m.Name, _ = text(c.call(nil, doorName), maxName)
	m.Symbol, _ = text(c.call(nil, doorSymbol), maxSymbol)
	m.Decimals = decimals(c.call(nil, doorDecimals))
	m.Supply = amount(c.call(nil, doorsSupply...))
	m.Standard, m.Evidence = t.class, token.FromABI
	if t.class == transfer.Ambiguous {
		m.Standard, m.Evidence = c.standard(m)
	}
	return m, c.err
}

// caller runs the calls of one token, until one of them fails.
type caller struct {
	j            *Job
	ctx          context.Context
	block, token felt.Felt
	err          error
}

// call tries entry points until one answers; nil when the contract has none.
func (c *caller) call(calldata []felt.Felt, doors ...felt.Felt) []felt.Felt {
	for _, door := range doors {
		if c.err != nil {
			return nil
		}
		ctx, cancel := context.WithTimeout(c.ctx, c.j.CallTime)
		out, err := c.j.Source.Call(ctx, c.block, c.token, door, calldata)
		cancel()
		switch {
		case err == nil:
			return out
		case !errors.Is(err, index.ErrReverted):
			c.err = fmt.Errorf("call of %s: %w", c.token, err)
		}
	}
	return nil
}

// standard tells what a contract is whose class does not, such as one behind an
// old proxy.
func (c *caller) standard(m *token.Metadata) (transfer.Standard, token.Evidence) {
	for _, s := range []struct {
		standard transfer.Standard
		id       felt.Felt
	}{{transfer.ERC721, interfaceERC721}, {transfer.ERC1155, interfaceERC1155}} {
		if yes(c.call([]felt.Felt{s.id}, doorsSupport...)) {
			return s.standard, token.FromCalls
		}
	}
	if m.Decimals != nil && m.Supply != nil {
		return transfer.ERC20, token.FromCalls
	}
	return transfer.Ambiguous, token.NoEvidence
}
