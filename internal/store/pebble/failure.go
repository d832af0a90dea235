package pebble

import (
	"fmt"
	"log/slog"
	"sync"

	lsm "github.com/cockroachdb/pebble/v2"

	"chainexplorer/internal/store"
)

// failure remembers the first fault that stopped the engine. Pebble ends the
// process on such faults by default; a service would rather say what happened
// and stop writing.
type failure struct {
	once sync.Once
	err  error
	done chan struct{} // closed after err is set
}

func newFailure() *failure { return &failure{done: make(chan struct{})} }

// set keeps the first error and reports whether this was it.
func (f *failure) set(err error) (first bool) {
	f.once.Do(func() {
		f.err = fmt.Errorf("%w: %w", store.ErrStopped, err)
		close(f.done)
		first = true
	})
	return first
}

func (f *failure) get() error {
	select {
	case <-f.done:
		return f.err
	default:
		return nil
	}
}

// fail stops the engine. It is called from inside Pebble, with Pebble's locks
// held, so it must not call back.
func (e *engine) fail(err error) {
	e.disk.trip()
	if e.stop.set(err) {
		e.log.Error("the store has stopped", "err", err)
	}
}

// guarded runs a call into Pebble that may write. Such a call never comes back
// when the disk fails, so the engine's failure ends the wait for it; fn may go
// on reading a batch then, and must not touch anything that its caller changes. A panic of Pebble, its
// answer to some failed writes, counts as a failure.
func (e *engine) guarded(fn func() error) error {
	if err := e.stop.get(); err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() {
		defer func() {
			if r := recover(); r != nil {
				err, ok := r.(error)
				if !ok {
					err = fmt.Errorf("%v", r)
				}
				e.fail(err)
			}
		}()
		done <- fn()
	}()
	select {
	case err := <-done:
		// Pebble reports some fatal errors to its logger alone and returns nil.
		if stopped := e.stop.get(); stopped != nil {
			return stopped
		}
		return err
	case <-e.stop.done:
		return e.stop.get()
	}
}

// listener turns the errors of Pebble's flushes and compactions into a stop of
// the engine. Without this a broken flush is tried again without end.
func (e *engine) listener() *lsm.EventListener {
	return &lsm.EventListener{
		BackgroundError: func(err error) {
			e.fail(fmt.Errorf("flush or compaction: %w", err))
		},
		DataCorruption: func(info lsm.DataCorruptionInfo) {
			e.fail(fmt.Errorf("corrupt file %s: %w", info.Path, info.Details))
		},
		WriteStallBegin: func(info lsm.WriteStallBeginInfo) {
			e.log.Debug("commits wait for compaction", "reason", info.Reason)
		},
	}
}

// Stopped is why the engine writes no more, nil while it does. Whoever reads damage stops it
// as well, though a writer comes to know of that only with its next commit.
func (e *engine) Stopped() error { return e.stop.get() }

// Damaged says whether an error is that a file of the store is not what was written.
func Damaged(err error) bool { return lsm.IsCorruptionError(err) }

// eventLog hands Pebble's messages to the service's log. Its Fatalf does not
// end the process: what calls it returns an error next, or has the engine's
// stop noticed by guarded.
type eventLog struct {
	log   *slog.Logger
	fatal func(error)
}

func (l eventLog) Infof(format string, args ...any) {
	l.log.Debug("pebble", "event", fmt.Sprintf(format, args...))
}

func (l eventLog) Errorf(format string, args ...any) {
	l.log.Warn("pebble", "event", fmt.Sprintf(format, args...))
}

func (l eventLog) Fatalf(format string, args ...any) {
	l.fatal(fmt.Errorf(format, args...))
}
