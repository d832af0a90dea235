package upstream

import (
	"context"
	"errors"
	"sync"
)

// This file lets identical reads that are under way together share one request.

// maxSharers is how many callers one answer is given to. Whoever comes after them
// starts anew.
const maxSharers = 1024

// flights are the requests under way. There are no more of them than callers.
type flights struct {
	mu    sync.Mutex // guards what follows, and the flights
	byKey map[digest]*flight
}

// flight is one request and who waits for it. It does not end with the caller that
// began it, but with the last one that waits.
type flight struct {
	done   chan struct{}
	cancel context.CancelCauseFunc
	refs   int // callers that wait, or hold the answer
	landed bool

	answer Answer // set before done is closed
	err    error
}

// errAbandoned ends a request that nobody waits for any more.
var errAbandoned = errors.New("nobody waits for the answer")

// join waits for the request of that key, or makes it. Each caller that gets an answer
// has to release it; the memory is given back when the last one has.
func (fs *flights) join(ctx context.Context, key digest, ask func(context.Context) (Answer, error)) (a Answer, shared bool, err error) {
	if ctx.Err() != nil {
		return nothing(), false, context.Cause(ctx)
	}
	fs.mu.Lock()
	f := fs.byKey[key]
	if shared = f != nil && f.refs < maxSharers; shared {
		f.refs++
	} else {
		f = &flight{done: make(chan struct{}), refs: 1}
		var own context.Context
		own, f.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
		fs.byKey[key] = f
		go fs.fly(own, key, f, ask)
	}
	fs.mu.Unlock()
	select {
	case <-f.done:
	case <-ctx.Done():
		fs.leave(key, f)
		return nothing(), shared, context.Cause(ctx)
	}
	if f.err != nil {
		fs.leave(key, f)
		return nothing(), shared, f.err
	}
	a = f.answer
	a.Release = sync.OnceFunc(func() { fs.leave(key, f) })
	return a, shared, nil
}

func (fs *flights) fly(ctx context.Context, key digest, f *flight, ask func(context.Context) (Answer, error)) {
	answer, err := ask(ctx)
	f.cancel(nil)
	fs.mu.Lock()
	f.answer, f.err, f.landed = answer, err, true
	fs.remove(key, f)
	forgotten := f.refs == 0
	fs.mu.Unlock()
	close(f.done)
	if forgotten {
		answer.Release()
	}
}

// leave is for a caller that does not wait any more, or has no more use for the answer.
func (fs *flights) leave(key digest, f *flight) {
	fs.mu.Lock()
	f.refs--
	last, landed := f.refs == 0, f.landed
	if last && !landed {
		fs.remove(key, f) // nobody must join what is being given up
	}
	fs.mu.Unlock()
	switch {
	case last && landed:
		f.answer.Release()
	case last:
		f.cancel(errAbandoned)
	}
}

// remove needs mu.
func (fs *flights) remove(key digest, f *flight) {
	if fs.byKey[key] == f {
		delete(fs.byKey, key)
	}
}
