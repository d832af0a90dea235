package postgres

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	// How often the number of commits is asked for while notifications come, in
	// case that one is lost: by Changes, and by an engine that follows. And the
	// pause before a lost connection is made again.
	pollChanges = 10 * time.Second
	pollFollow  = 500 * time.Millisecond
	pollBroken  = time.Second

	// trust is how long a number of commits holds without being confirmed.
	trust = time.Second
)

// channel is where the commits of a schema are announced.
func channel(schema string) string { return "cx_commits_" + schema }

// Changes tells of commits under the lease of a name by any process, soon after
// each: a value is in the channel when there was a commit since the last one was
// taken out. Commits that follow one another closely may share a value. When the
// connection that listens is lost, it is opened again, and until then the store
// is asked every second. The channel is closed when ctx or the engine ends.
func (e *Engine) Changes(ctx context.Context, lease string) <-chan struct{} {
	ch := make(chan struct{}, 1)
	if e.begin(ctx) != nil {
		close(ch)
		return ch
	}
	w := &watcher{engine: e, every: pollChanges}
	w.changed = func(name string, _ int64) {
		if name != lease {
			return
		}
		select {
		case ch <- struct{}{}:
		default: // one is waiting
		}
	}
	go func() {
		defer e.running.Done()
		defer close(ch)
		w.run(ctx)
	}()
	return ch
}

// followed is what an engine that follows knows of the commits: their numbers,
// which each lease counts by itself.
type followed struct {
	began     time.Time
	version   atomic.Uint64 // rises with every number
	confirmed atomic.Int64  // nanoseconds after began; 0: never
	unknown   atomic.Uint64

	mu      sync.Mutex
	numbers map[string]numbered // guarded by mu; by the name of the lease
}

// numbered is a number of commits, and since when it is known.
type numbered struct {
	n  int64
	at time.Time
}

// follow keeps e.followed until the engine is closed.
func (e *Engine) follow() {
	f := &e.followed
	f.began = time.Now()
	if e.begin(context.Background()) != nil {
		return
	}
	w := &watcher{engine: e, every: pollFollow, changed: f.raise}
	var told time.Time
	w.confirmed = func(numbers map[string]int64, elsewhere bool, asked time.Time) {
		// Replicas that take turns go back and forth all the time.
		if f.confirm(numbers, elsewhere, asked) && time.Since(told) > time.Minute {
			told = time.Now()
			e.log.Warn("the database has gone back to an earlier state, as after a failover or a restored backup: nothing that was read before counts")
		}
		f.confirmed.Store(int64(max(asked.Sub(f.began), 1)))
	}
	go func() {
		defer e.running.Done()
		w.run(context.Background())
	}()
}

// raise notes a commit; they may become known out of order.
func (f *followed) raise(name string, n int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if n > f.numbers[name].n {
		f.note(name, n)
	}
}

func (f *followed) note(name string, n int64) {
	if f.numbers == nil {
		f.numbers = map[string]numbered{}
	}
	f.numbers[name] = numbered{n, time.Now()}
	f.version.Add(1)
}

// confirm notes all numbers, and says whether one is lower than what was known before it was
// asked for: then the database is not the one that it was, and its numbers will come again
// with other rows. The same may be hidden by commits since where another server answers.
func (f *followed) confirm(numbers map[string]int64, elsewhere bool, asked time.Time) (back bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if elsewhere {
		f.version.Add(1)
	}
	for name, known := range f.numbers {
		if numbers[name] < known.n && known.at.Before(asked) {
			f.note(name, numbers[name])
			back = true
		}
	}
	for name, n := range numbers {
		if n > f.numbers[name].n {
			f.note(name, n)
		}
	}
	return back
}

// Commits changes with every commit, by whatever process: at once with one of
// this process, and with others' as soon as the database announces them, which
// takes about a millisecond, and a second at most. As long as it stays the same,
// what a new view sees is no older than that. While commits are not followed
// (Options.Follow, and a connection that works) it changes with every call.
func (e *Engine) Commits() uint64 {
	f := &e.followed
	at := f.confirmed.Load()
	if !e.o.Follow || at == 0 || time.Since(f.began)-time.Duration(at) > trust {
		return f.unknown.Add(1)<<1 | 1
	}
	return f.version.Load() << 1
}

// watcher follows the number of commits.
type watcher struct {
	engine    *Engine
	every     time.Duration
	last      map[string]int64                                                // nil: unknown
	server    string                                                          // that answered last
	changed   func(name string, n int64)                                      // the number is another
	confirmed func(numbers map[string]int64, elsewhere bool, asked time.Time) // may be nil: they were these at that time or later, on another server perhaps
}

// run watches until ctx or the engine ends.
func (w *watcher) run(parent context.Context) {
	ctx, cancel := context.WithCancel(parent)
	defer cancel()
	go func() {
		select {
		case <-w.engine.closing:
			cancel()
		case <-ctx.Done():
		}
	}()
	for heard := true; ; {
		err := w.listen(ctx, func() { heard = true })
		if ctx.Err() != nil {
			return
		}
		if heard { // once, not every second: a replica never announces anything
			w.engine.log.Warn("commits are not announced, asking for them", "err", redact(err))
			heard = false
		}
		w.poll(ctx)
		t := time.NewTimer(pollBroken)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return
		}
	}
}

// poll asks without listening; the next listen says what is wrong.
func (w *watcher) poll(ctx context.Context) {
	conn, err := w.engine.read.Acquire(ctx)
	if err != nil {
		return
	}
	defer conn.Release()
	w.ask(ctx, conn.Conn()) //nolint:errcheck // see above
}

// listen follows the notifications on one connection until it breaks.
func (w *watcher) listen(ctx context.Context, works func()) error {
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
		works()
		if err := w.hear(ctx, conn); err != nil {
			return err
		}
	}
}

// hear takes notifications until it is time to ask again.
func (w *watcher) hear(ctx context.Context, conn *pgx.Conn) error {
	wait, cancel := context.WithTimeout(ctx, w.every)
	defer cancel()
	for {
		told, err := conn.WaitForNotification(wait)
		switch {
		case err == nil:
			number, name, _ := strings.Cut(told.Payload, " ")
			if n, err := strconv.ParseInt(number, 10, 64); err == nil {
				w.note(name, n)
			}
		case conn.IsClosed() || ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded):
			return err
		default:
			return nil
		}
	}
}

// numbers are those of the last commits under each lease, and what tells the server that
// has them from another, or from itself before it was started anew.
func (e *Engine) numbers(ctx context.Context, conn *pgx.Conn) (out map[string]int64, server string, err error) {
	rows, err := conn.Query(ctx, e.own.commits)
	if err != nil {
		return nil, "", err
	}
	out = map[string]int64{}
	var name string
	var n int64
	_, err = pgx.ForEachRow(rows, []any{&name, &n, &server}, func() error {
		out[name] = n
		return nil
	})
	return out, server, err
}

// ask compares the numbers of commits with the last ones known.
func (w *watcher) ask(ctx context.Context, conn *pgx.Conn) error {
	asked := time.Now()
	numbers, server, err := w.engine.numbers(ctx, conn)
	if err != nil {
		return err
	}
	if w.last == nil {
		w.last, w.server = numbers, server
	}
	elsewhere := server != w.server
	w.server = server
	for name, n := range numbers {
		if elsewhere || n < w.last[name] { // it has gone back, perhaps to another branch
			w.last[name] = n
			w.changed(name, n)
		}
		w.note(name, n)
	}
	if w.confirmed != nil {
		w.confirmed(numbers, elsewhere, asked)
	}
	return nil
}

// note is told a number. What is heard before the first answer is in that answer.
func (w *watcher) note(name string, n int64) {
	if n > w.last[name] && w.last != nil {
		w.last[name] = n
		w.changed(name, n)
	}
}
