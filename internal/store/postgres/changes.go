package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	// How often the number of commits is asked for while notifications come, in
	// case that one is lost, and while they do not.
	pollQuiet  = 10 * time.Second
	pollBroken = time.Second
)

// channel is where the commits of a schema are announced.
func channel(schema string) string { return "cx_commits_" + schema }

// Changes tells of commits by any process, soon after each: a value is in the
// channel when there was a commit since the last one was taken out. Commits that
// follow one another closely may share a value. When the connection that listens
// is lost, it is opened again, and until then the store is asked every second.
// The channel is closed when ctx or the engine ends.
func (e *Engine) Changes(ctx context.Context) <-chan struct{} {
	ch := make(chan struct{}, 1)
	if e.begin(ctx) != nil {
		close(ch)
		return ch
	}
	ctx, cancel := context.WithCancel(ctx)
	w := &watcher{engine: e, out: ch, last: -1}
	go func() {
		defer e.running.Done()
		defer close(ch)
		defer cancel()
		go func() {
			select {
			case <-e.closing:
				cancel()
			case <-ctx.Done():
			}
		}()
		w.run(ctx)
	}()
	return ch
}

// watcher follows the number of commits.
type watcher struct {
	engine *Engine
	out    chan<- struct{}
	last   int64 // -1: unknown
}

func (w *watcher) run(ctx context.Context) {
	for ctx.Err() == nil {
		err := w.listen(ctx)
		if ctx.Err() != nil {
			return
		}
		w.engine.log.Warn("commits are not announced, asking for them", "err", redact(err))
		t := time.NewTimer(pollBroken)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return
		}
	}
}

// listen follows the notifications on one connection until it breaks.
func (w *watcher) listen(ctx context.Context) error {
	pooled, err := w.engine.read.Acquire(ctx)
	if err != nil {
		return err
	}
	// Out of the pool: it listens, and nobody else should have it after us.
	conn := pooled.Hijack()
	defer func() {
		bye, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
		defer cancel()
		conn.Close(bye) //nolint:errcheck // broken or done with
	}()
	if _, err := conn.Exec(ctx, "listen "+pgx.Identifier{channel(w.engine.o.Schema)}.Sanitize()); err != nil {
		return err
	}
	for {
		// After LISTEN, so that no commit falls between the two.
		if err := w.ask(ctx, conn); err != nil {
			return err
		}
		wait, cancel := context.WithTimeout(ctx, pollQuiet)
		_, err := conn.WaitForNotification(wait)
		cancel()
		if err != nil && (ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded)) {
			return err
		}
		if conn.IsClosed() {
			return errors.New("the connection is closed")
		}
	}
}

// ask compares the number of commits with the last one known.
func (w *watcher) ask(ctx context.Context, conn *pgx.Conn) error {
	n, err := w.engine.number(ctx, conn)
	if err != nil {
		return err
	}
	if w.last >= 0 && n != w.last {
		select {
		case w.out <- struct{}{}:
		default: // one is waiting
		}
	}
	w.last = n
	return nil
}
