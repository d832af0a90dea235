package index

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"chainexplorer/internal/felt"
)

// This file gets blocks from nodes that may lie. An answer that fails the checks
// puts the node that gave it into quarantine and another node is asked; only when
// every node has failed for a block does the block's error count.

// fetchAttempts is how often a node is asked again for a block whose parts do not
// fit together, as happens when a fork falls between them.
const fetchAttempts = 3

// prepare fetches, decodes, checks, verifies and projects one block.
func (x *Indexer) prepare(ctx context.Context, number, tail uint64) (*prepared, error) {
	p, err := x.obtain(ctx, number, func(raw Raw) (*prepared, error) { return x.prepareRaw(raw, number, tail) })
	if err != nil {
		return nil, err
	}
	p.classes, err = x.fetchClasses(ctx, p)
	return p, err
}

// obtain asks node after node for a block until one gives an answer that check
// takes.
func (x *Indexer) obtain(ctx context.Context, number uint64, check func(Raw) (*prepared, error)) (*prepared, error) {
	from := From{Not: x.lies.nodes(number)}
	asked := map[string]int{}
	var lie error // of the last node that was blamed
	for {
		start := time.Now()
		raw, err := x.fetch(ctx, number, from)
		switch {
		case errors.Is(err, ErrNoOther) && lie != nil, errors.Is(err, ErrQuarantine) && inconsistent(lie):
			return nil, lie
		case errors.Is(err, ErrNoOther):
			if lie = x.lies.last(number); lie != nil {
				return nil, lie
			}
			return nil, fmt.Errorf("fetch block %d: %w", number, err)
		case err != nil && lie != nil:
			// The others may be honest: they are waited for.
			return nil, fmt.Errorf("fetch block %d: %w, after %v", number, err, lie)
		case err != nil:
			return nil, fmt.Errorf("fetch block %d: %w", number, err)
		}
		x.Metrics.stage("fetch", start)
		p, err := check(raw)
		raw.done()
		if err == nil {
			x.lies.forget(number)
			return p, nil
		}
		asked[raw.Node]++
		var ours *projectionError
		switch {
		case errors.As(err, &ours):
			return nil, err // another node cannot help
		case inconsistent(err) && asked[raw.Node] < fetchAttempts:
			x.Logger.Warn("asking again", "err", err)
			continue
		}
		lie = err
		x.blame(raw.Node, err)
		from.Not = append(slices.Clip(from.Not), raw.Node)
		if permanent(err) {
			x.lies.add(number, raw.Node, err)
		}
	}
}

func inconsistent(err error) bool {
	var c *checkError
	return errors.As(err, &c)
}

// fetch is Source.Fetch from particular nodes, where the source can tell them
// apart. One that cannot is a single node.
func (x *Indexer) fetch(ctx context.Context, number uint64, from From) (Raw, error) {
	if p, ok := x.Source.(Peers); ok {
		return p.FetchFrom(ctx, number, from)
	}
	if len(from.Not) > 0 {
		return Raw{}, ErrNoOther
	}
	return x.Source.Fetch(ctx, number)
}

func (x *Indexer) fetchClassFrom(ctx context.Context, number uint64, hash felt.Felt, from From) ([]byte, string, error) {
	if p, ok := x.Source.(Peers); ok {
		return p.ClassFrom(ctx, number, hash, from)
	}
	if len(from.Not) > 0 {
		return nil, "", ErrNoOther
	}
	return x.Source.Class(ctx, number, hash)
}

// blame tells the source that a node gave a false answer.
func (x *Indexer) blame(node string, err error) {
	if p, ok := x.Source.(Peers); ok {
		p.Blame(node, err)
	}
}

const (
	// liesKept is how long a node that lied about a block is not asked for it
	// again, whether or not it is still in quarantine.
	liesKept = 10 * time.Minute
	// maxLies bounds the blocks that lies are remembered of.
	maxLies = 4096
)

// lies remembers which nodes gave a false answer for a block, from one round to
// the next: nodes come and go from quarantine, and whether all have failed for
// a block could otherwise never be told.
type lies struct {
	mu sync.Mutex
	of map[uint64][]toldLie
}

type toldLie struct {
	node string
	err  error
	at   time.Time
}

func (l *lies) add(number uint64, node string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of == nil || len(l.of) >= maxLies {
		l.of = map[uint64][]toldLie{}
	}
	l.of[number] = append(l.of[number], toldLie{node, err, time.Now()})
}

func (l *lies) forget(number uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.of, number)
}

// nodes lists who lied about a block lately.
func (l *lies) nodes(number uint64) (names []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	old := func(t toldLie) bool { return time.Since(t.at) > liesKept }
	if kept := slices.DeleteFunc(l.of[number], old); len(kept) > 0 {
		l.of[number] = kept
	} else {
		delete(l.of, number)
	}
	for _, t := range l.of[number] {
		names = append(names, t.node)
	}
	return names
}

// last is the newest lie about a block.
func (l *lies) last(number uint64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if told := l.of[number]; len(told) > 0 {
		return told[len(told)-1].err
	}
	return nil
}
