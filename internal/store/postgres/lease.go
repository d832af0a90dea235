package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"chainexplorer/internal/store"
)

// lease is the stored lease and the time by the clock that counts.
type lease struct {
	held    bool
	epoch   int64
	owner   string
	expires int64 // nanoseconds since 1970
	now     int64
}

func (l *lease) scan(row pgx.Row) error {
	return row.Scan(&l.held, &l.epoch, &l.owner, &l.expires, &l.now)
}

// longestLease is more than anybody takes one for. What is left of a lease that is longer was
// written down while the clock was ahead: whoever holds it has a shorter one at its next
// renewal, and who does not come back must not keep others waiting for as long.
const longestLease = 2 * time.Hour

// barred says whether owner must wait.
func (l *lease) barred(owner string) bool {
	return l.held && l.owner != owner && l.now < l.expires && l.expires-l.now <= int64(longestLease)
}

// clock is the time to go by, or nil for the database's.
func (e *Engine) clock() *int64 {
	if e.o.Now == nil {
		return nil
	}
	now := e.o.Now().UnixNano()
	return &now
}

// Acquire takes the lease of a name for ttl.
func (e *Engine) Acquire(ctx context.Context, name, owner string, ttl time.Duration) (granted store.Lease, err error) {
	if err := e.beginChange(ctx); err != nil {
		return granted, err
	}
	defer e.running.Done()
	if err := errors.Join(store.CheckLeaseName(name), store.CheckLeaseOwner(owner), checkTTL(ttl)); err != nil {
		return granted, err
	}
	// A look that locks nothing: those who stand by ask all the time.
	var l lease
	err = l.scan(e.write.QueryRow(ctx, e.own.leaseNow, e.clock(), name))
	if errors.Is(err, pgx.ErrNoRows) {
		err = e.addLease(ctx, name)
	}
	if err != nil {
		return granted, e.fault(ctx, "take the lease", err)
	}
	if l.barred(owner) {
		return granted, store.ErrLeaseHeld
	}
	// The one before may be paused in the middle of a commit, which holds the
	// lock that we need now and rows that we shall write.
	if l.held {
		if _, err := e.write.Exec(ctx, e.own.endOthers, sessionName(e.o.Schema, name, uint64(l.epoch))); err != nil {
			return granted, e.fault(ctx, "end the commits of an earlier lease", err)
		}
		e.endOnWorkers(ctx, sessionName(e.o.Schema, name, uint64(l.epoch)))
	}
	err = pgx.BeginFunc(ctx, e.write, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, e.own.lockFence, name); err != nil {
			return err
		}
		if err := l.scan(tx.QueryRow(ctx, e.own.lockLease, e.clock(), name)); err != nil {
			return err
		}
		if l.barred(owner) {
			return store.ErrLeaseHeld
		}
		granted = store.Lease{Name: name, Owner: owner, Epoch: uint64(l.epoch) + 1, Expires: time.Unix(0, l.now+int64(ttl))}
		if _, err := tx.Exec(ctx, e.own.grantFence, l.epoch+1, name); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, e.own.grantLease, l.epoch+1, owner, granted.Expires.UnixNano(), name)
		return err
	})
	if err != nil {
		return store.Lease{}, e.fault(ctx, "take the lease", err)
	}
	e.settleLeft(ctx)
	return granted, nil
}

// endOnWorkers ends what an earlier holder has under way on workers. What it begins
// there afterwards is never decided.
func (e *Engine) endOnWorkers(ctx context.Context, session string) {
	if !e.citus {
		return
	}
	for _, s := range e.ring.Load().servers {
		if _, err := s.write.Exec(ctx, e.own.endOthers, session); err != nil {
			e.log.Warn("a worker was not asked to end the commits of an earlier lease", "worker", s.name, "err", redact(err))
		}
	}
}

// settleLeft ends what an earlier holder left prepared. Commits and views do so where
// they meet it; but shards cannot be moved until then.
func (e *Engine) settleLeft(ctx context.Context) {
	if !e.citus {
		return
	}
	for _, s := range e.ring.Load().servers {
		if _, err := e.settleOn(ctx, s); err != nil {
			e.log.Warn("a worker was not asked for what earlier commits left", "worker", s.name, "err", redact(err))
		}
	}
}

// addLease begins the rows of a new name.
func (e *Engine) addLease(ctx context.Context, name string) error {
	return pgx.BeginFunc(ctx, e.write, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, e.own.lockSchema); err != nil {
			return err
		}
		var others int
		if err := tx.QueryRow(ctx, `select count(*) from `+e.own.fences+` where name not in ('', $1)`, name).Scan(&others); err != nil {
			return err
		}
		if others >= store.MaxLeases {
			return store.TooManyLeases(name)
		}
		for _, add := range []string{e.own.addFence, e.own.addLease} {
			if _, err := tx.Exec(ctx, add, name); err != nil {
				return err
			}
		}
		return nil
	})
}

func checkTTL(ttl time.Duration) error {
	if ttl <= 0 {
		return fmt.Errorf("%w: a lease needs a positive time, got %v", store.ErrInvalid, ttl)
	}
	return nil
}

// Renew extends the lease l, if it is the current one. It never waits for a
// commit.
func (e *Engine) Renew(ctx context.Context, l store.Lease, ttl time.Duration) (store.Lease, error) {
	if err := e.beginChange(ctx); err != nil {
		return store.Lease{}, err
	}
	defer e.running.Done()
	if err := checkTTL(ttl); err != nil {
		return store.Lease{}, err
	}
	rows, err := e.write.Query(ctx, e.own.renew, int64(l.Epoch), l.Owner, e.clock(), int64(ttl), l.Name)
	if err != nil {
		return store.Lease{}, e.fault(ctx, "renew the lease", err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return store.Lease{}, e.fault(ctx, "renew the lease", err)
	}
	if len(list) == 0 {
		return store.Lease{}, store.ErrFenced
	}
	return store.Lease{Name: l.Name, Owner: l.Owner, Epoch: l.Epoch, Expires: time.Unix(0, list[0])}, nil
}

// Release ends the lease l, if it is the current one, after a commit under way.
func (e *Engine) Release(ctx context.Context, l store.Lease) error {
	if err := e.beginChange(ctx); err != nil {
		return err
	}
	defer e.running.Done()
	err := pgx.BeginFunc(ctx, e.write, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, e.own.lockFence, l.Name); err != nil {
			return err
		}
		tag, err := tx.Exec(ctx, e.own.freeLease, int64(l.Epoch), l.Owner, l.Name)
		if err != nil || tag.RowsAffected() == 0 {
			return err
		}
		_, err = tx.Exec(ctx, e.own.freeFence, int64(l.Epoch), l.Name)
		return err
	})
	return e.fault(ctx, "release the lease", err)
}
