package kernel

import (
	"context"
	"sync/atomic"
	"time"
)

// working is the context of a handler at work, with its record and an end in time. Nearly all handlers ask no more of it
// than whether they may go on, which takes a look at the clock: there is a timer only where somebody waits for the end.
type working struct {
	context.Context // of the request
	req             *Request
	until           time.Time
	awaited         atomic.Pointer[awaited] // nil until somebody waits, or the handler is done
}

// awaited is a context with a timer.
type awaited struct {
	context.Context
	cancel context.CancelFunc
}

// over is what is left of contexts whose handlers are done, and that nobody waited for.
var over = func() *awaited {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return &awaited{ctx, cancel}
}()

func newWorking(ctx context.Context, req *Request, d time.Duration) *working {
	return &working{Context: ctx, req: req, until: time.Now().Add(d)}
}

// Deadline implements context.Context.
func (w *working) Deadline() (time.Time, bool) {
	if sooner, ok := w.Context.Deadline(); ok && sooner.Before(w.until) {
		return sooner, true
	}
	return w.until, true
}

// Done implements context.Context.
func (w *working) Done() <-chan struct{} { return w.wait().Done() }

// wait is the context with a timer.
func (w *working) wait() *awaited {
	if t := w.awaited.Load(); t != nil {
		return t
	}
	ctx, cancel := context.WithDeadline(w.Context, w.until)
	if !w.awaited.CompareAndSwap(nil, &awaited{ctx, cancel}) {
		cancel() // another goroutine was faster
	}
	return w.awaited.Load()
}

// Err implements context.Context.
func (w *working) Err() error {
	if t := w.awaited.Load(); t != nil {
		return t.Err()
	}
	if err := w.Context.Err(); err != nil {
		return err
	}
	if time.Until(w.until) > 0 {
		return nil
	}
	return w.wait().Err()
}

// Value implements context.Context.
func (w *working) Value(key any) any {
	if _, ok := key.(requestKey); ok {
		return w.req
	}
	if t := w.awaited.Load(); t != nil && t != over { // contexts that are made of this one end with it by way of it
		return t.Value(key)
	}
	return w.Context.Value(key)
}

// end says that the handler is done.
func (w *working) end() {
	if !w.awaited.CompareAndSwap(nil, over) {
		w.awaited.Load().cancel()
	}
}
