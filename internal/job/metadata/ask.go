package metadata

import (
	"bytes"
	"context"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/explorer/contract"
	"chainexplorer/internal/explorer/token"
	"chainexplorer/internal/explorer/transfer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/job"
	"chainexplorer/internal/store"
)

// task is a token that is asked.
type task struct {
	token  felt.Felt
	was    *token.Metadata
	idle   bool              // neither used nor upgraded since it was asked last
	class  transfer.Standard // what its class tells
	answer *token.Metadata   // nil when nobody could answer
}

// ask takes tokens from the queue and commits their answers.
func (j *Job) ask(ctx context.Context, commit job.Commit) (asked bool, err error) {
	now := uint64(j.Now().Unix())
	var head chain.Head
	var tasks []*task
	refresh := j.Refresh
	err = j.Store.View(ctx, func(r store.Reader) error {
		state, err := chain.Read(ctx, r)
		if err != nil || !state.HasHead {
			return err
		}
		head = state.Head
		if behind(&state) {
			refresh = min(refresh, catchUpRefresh)
		}
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
		j.settle(b, t, now, refresh)
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
	if err == nil && len(queue) == 0 {
		// A pause that is longer than any can be was written down by a clock that was
		// ahead, and is over.
		queue, err = token.DueAfter(ctx, r, now+seconds(max(maxIdle, j.Refresh, j.RetryMax)), j.Batch)
	}
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
	present, err := contract.ClassesNow(ctx, r, tokens)
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
		upgraded := present[i] != nil && present[i].Block > was.Block
		tasks[i].idle = totals.Latest <= was.Block && !upgraded && !was.Orphaned
	}
	return tasks, nil
}

// maxIdle bounds the pause of a token that nobody uses.
const maxIdle = 24 * time.Hour

// catchUpRefresh is how soon an answer is asked for again that was given while the
// index was catching up: it is of an old block, and the supply of that block is not
// the one to show for hours when the index has caught up.
const catchUpRefresh = 10 * time.Minute

// behindBlocks is how far the index may be behind the node without catching up.
const behindBlocks = 20

// behind says that the index is catching up, as far as its indexer has told.
func behind(s *chain.State) bool { return s.Seen.Head.Number > s.Head.Number+behindBlocks }

// settle writes what became of a task. An answer is asked for again after refresh.
func (j *Job) settle(b *store.Batch, t *task, now uint64, refresh time.Duration) {
	m := t.answer
	switch {
	case m != nil:
		m.Due = now + seconds(refresh)
		if old := t.was.Symbol; old != nil && (m.Symbol == nil || *m.Symbol != *old) {
			b.Delete(token.SymbolKey(*old, t.token))
		}
		if m.Symbol != nil {
			b.Put(token.SymbolKey(*m.Symbol, t.token), nil)
		}
		names := m.NameKeys(t.token)
		for _, k := range t.was.NameKeys(t.token) {
			if !slices.ContainsFunc(names, func(n store.Key) bool { return bytes.Equal(n.Partition, k.Partition) && bytes.Equal(n.Sort, k.Sort) }) {
				b.Delete(k)
			}
		}
		for _, k := range names {
			b.Put(k, nil)
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
