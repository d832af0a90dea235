package postgres

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"
)

// snapshot are transactions under Citus, one on every worker, all of one state. When
// its view ends it is kept for a moment: as long as nothing is committed, it is what
// the next view would take, and the workers are not asked for it.
type snapshot struct {
	ring    *ring
	conns   []*pgxpool.Conn // by server
	begun   bool
	commits string // how many there had been
	taken   time.Time
	altered bool // it has settings that the next view must not have
}

// snapshots are those that no view has. There are no more of them, with those that
// views have, than views may be at once.
type snapshots struct {
	views turn

	mu      sync.Mutex
	idle    []*snapshot // guarded by mu
	timed   bool        // guarded by mu: they will be looked at
	waits   atomic.Int64
	waited  atomic.Int64 // nanoseconds
	expired func()
}

const (
	// keepSnapshot is how old one may become: it keeps the workers from freeing what
	// was replaced since.
	keepSnapshot = 2 * time.Second
	// gateIdle is for how long a process that is paused while it takes one can keep
	// commits from becoming visible.
	gateIdle = 5 * time.Second
)

// wait lets a view begin.
func (s *snapshots) wait(ctx context.Context) error {
	select {
	case s.views <- struct{}{}:
		return nil
	default:
	}
	start := time.Now()
	err := s.views.take(ctx)
	s.waits.Add(1)
	s.waited.Add(int64(time.Since(start)))
	return err
}

// take returns the one that was kept last, or nil.
func (s *snapshots) take() *snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.idle)
	if n == 0 {
		return nil
	}
	last := s.idle[n-1]
	s.idle[n-1], s.idle = nil, s.idle[:n-1]
	return last
}

// keep takes one back.
func (s *snapshots) keep(one *snapshot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.idle = append(s.idle, one)
	if !s.timed {
		s.timed = true
		time.AfterFunc(keepSnapshot, s.expired)
	}
}

// expire ends those that are too old, or all.
func (s *snapshots) expire(all bool) (old []*snapshot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	kept := s.idle[:0]
	for _, one := range s.idle {
		if all || one.old() {
			old = append(old, one)
		} else {
			kept = append(kept, one)
		}
	}
	clear(s.idle[len(kept):])
	s.idle = kept
	if s.timed = len(kept) > 0; s.timed {
		time.AfterFunc(keepSnapshot/4, s.expired)
	}
	return old
}

func (s *snapshot) old() bool { return time.Since(s.taken) > keepSnapshot }

// sound says whether all its transactions go on.
func (s *snapshot) sound() bool {
	for _, conn := range s.conns {
		if conn == nil || conn.Conn().IsClosed() || conn.Conn().PgConn().TxStatus() != 'T' {
			return false
		}
	}
	return !s.altered
}

// end gives the connections back.
func (s *snapshot) end() {
	ctx, cancel := context.WithTimeout(context.Background(), endTimeout)
	defer cancel()
	var ends sync.WaitGroup
	for _, conn := range s.conns {
		if conn == nil {
			continue
		}
		ends.Go(func() {
			defer conn.Release() // closes a connection that is still in a transaction
			if !conn.Conn().IsClosed() {
				conn.Conn().PgConn().Exec(ctx, "rollback").Close() //nolint:errcheck // the pool looks at the connection
			}
		})
	}
	ends.Wait()
}

// endSnapshots ends those that are kept and too old, or all.
func (e *Engine) endSnapshots(all bool) {
	for _, s := range e.snapshots.expire(all) {
		s.end()
	}
}

// openSnapshot returns one of the state that the store has now: a kept one that
// nothing was committed since, or a new one.
func (e *Engine) openSnapshot(ctx context.Context, r *ring) (s *snapshot, err error) {
	if s = e.snapshots.take(); s != nil && (s.ring != r || !s.sound()) {
		s.end()
		s = nil
	}
	if s != nil && !s.old() {
		var commits, layout string
		if err := e.read.QueryRow(ctx, e.own.state).Scan(&commits, &layout); err != nil {
			s.end()
			return nil, err
		}
		if commits == s.commits && layout == r.layout {
			return s, nil
		}
	}
	if s == nil {
		s = &snapshot{ring: r, conns: make([]*pgxpool.Conn, len(r.servers))}
		for i, server := range r.servers {
			if s.conns[i], err = server.read.Acquire(ctx); err != nil {
				return s, err
			}
		}
	}
	return s, e.takeSnapshot(ctx, s)
}

// takeSnapshot begins the transactions while no commit becomes visible: a commit
// holds a lock of the coordinator while it does so on one worker after the other,
// and we hold it meanwhile.
func (e *Engine) takeSnapshot(ctx context.Context, s *snapshot) error {
	gate, err := e.read.Acquire(ctx)
	if err != nil {
		return err
	}
	defer gate.Release() // closes a connection that is still in a transaction
	var layout string
	lock := &pgx.Batch{}
	lock.Queue("begin")
	lock.Queue(e.own.lockViews)
	lock.Queue(e.own.state).QueryRow(func(row pgx.Row) error { return row.Scan(&s.commits, &layout) })
	if err := gate.SendBatch(ctx, lock).Close(); err != nil {
		return err
	}
	if layout != s.ring.layout {
		return errRearranged
	}
	var g errgroup.Group
	left := make([]string, len(s.conns))
	for i, conn := range s.conns {
		g.Go(func() (err error) {
			left[i], err = beginSettled(ctx, conn.Conn(), s.begun, s.ring.servers[i].unsettled)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	// Nothing is decided while we have the lock: what is open now is not in the snapshots.
	open, err := e.unfinished(ctx, gate.Conn(), strings.Join(left, " "))
	if err != nil {
		return err
	}
	if open {
		return errUnsettled
	}
	s.begun, s.taken = true, time.Now()
	// The answer says that we had the lock all the time.
	_, err = gate.Exec(ctx, "commit")
	return err
}

// beginSettled begins a transaction, after one that ends, and says what is prepared on
// the worker. That is asked for before: what is settled by then is in the snapshot.
func beginSettled(ctx context.Context, conn *pgx.Conn, again bool, unsettled string) (left string, err error) {
	statements := []string{"rollback", unsettled, "", "begin isolation level repeatable read, read only", "select 1"}
	if !again {
		statements = statements[1:]
	}
	names := make([]string, len(statements))
	for i, sql := range statements {
		if sql != "" {
			prepared, err := conn.Prepare(ctx, sql, sql) // once for each connection
			if err != nil {
				return "", err
			}
			names[i] = prepared.Name
		}
	}
	pipe := conn.PgConn().StartPipeline(ctx)
	for _, name := range names {
		if name == "" {
			pipe.SendPipelineSync()
		} else {
			pipe.SendQueryPrepared(name, nil, nil, nil)
		}
	}
	err = pipe.Sync()
	asked := false
	for i := 0; err == nil && i < len(statements); i++ {
		var result any
		if result, err = pipe.GetResults(); err != nil {
			break
		}
		if r, ok := result.(*pgconn.ResultReader); ok {
			read := r.Read()
			err = read.Err
			if statements[i] == unsettled && len(read.Rows) == 1 {
				left, asked = string(read.Rows[0][0]), true
			}
		}
	}
	if err = errors.Join(err, pipe.Close()); err == nil && !asked {
		err = errors.New("a worker does not say what is prepared")
	}
	return left, err
}
