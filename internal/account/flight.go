package account

import (
	"context"
	"fmt"
	"sync"
)

// flights lets concurrent lookups of one key share a question to the database.
// The first caller asks, on its own context and goroutine, so there are never
// more lookups than callers; if it gives up, one of those who wait asks again.
type flights struct {
	mu      sync.Mutex
	pending map[question]*flight // guarded by mu
}

// question is about a key after a number of changes: who comes after a key was
// revoked does not share the answer of who came before.
type question struct {
	of      digest
	changes uint64
}

type flight struct {
	landed chan struct{} // closed when the rest is set
	found  accepted
	err    error
	// abandoned says that err is about the caller that asked, not about the key.
	abandoned bool
}

func (f *flights) do(ctx context.Context, q question, ask func(context.Context) (accepted, error)) (accepted, error) {
	for {
		mine, first := f.join(q)
		if first {
			return f.lead(ctx, q, mine, ask)
		}
		select {
		case <-mine.landed:
		case <-ctx.Done():
			return accepted{}, fmt.Errorf("look up an API key: %w", ctx.Err())
		}
		if !mine.abandoned {
			return mine.found, mine.err
		}
	}
}

func (f *flights) join(q question) (mine *flight, first bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if there, ok := f.pending[q]; ok {
		return there, false
	}
	if f.pending == nil {
		f.pending = map[question]*flight{}
	}
	mine = &flight{landed: make(chan struct{}), abandoned: true}
	f.pending[q] = mine
	return mine, true
}

// lead also lands when ask panics: the flight is abandoned until it went well.
func (f *flights) lead(ctx context.Context, q question, mine *flight, ask func(context.Context) (accepted, error)) (accepted, error) {
	defer func() {
		f.mu.Lock()
		delete(f.pending, q)
		f.mu.Unlock()
		close(mine.landed)
	}()
	mine.found, mine.err = ask(ctx)
	mine.abandoned = mine.err != nil && ctx.Err() != nil
	return mine.found, mine.err
}
