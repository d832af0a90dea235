package account

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"chainexplorer/internal/control"
)

const (
	// flushEvery is how far the stored time of a key's last use may lag behind.
	flushEvery = 10 * time.Second
	// flushTimeout bounds one write, and thereby how long a stop takes.
	flushTimeout = 5 * time.Second
	// maxNoted bounds the list of used keys; what does not fit is noted at the
	// key's next use.
	maxNoted = 1 << 16
)

// use is when a key was used last. However often that is, it is on the list once.
type use struct {
	keyID string
	last  atomic.Int64 // microseconds
	noted atomic.Bool
}

// usage collects used keys between two writes.
type usage struct {
	mu   sync.Mutex
	list []*use // guarded by mu; those whose noted is set
}

// note is on the path of every request: it stores a number, and takes the lock
// only at a key's first use since the last write.
func (u *usage) note(k *use, now time.Time) {
	k.last.Store(control.Micros(now))
	if k.noted.Load() || !k.noted.CompareAndSwap(false, true) {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.list) >= maxNoted {
		k.noted.Store(false)
		return
	}
	u.list = append(u.list, k)
}

func (u *usage) take() []*use {
	u.mu.Lock()
	defer u.mu.Unlock()
	list := u.list
	u.list = nil
	for _, k := range list {
		k.noted.Store(false) // a use from now on joins the next list
	}
	return list
}

// Run writes down when keys were last used, every ten seconds and once more when
// ctx ends, and returns then. A failed write is logged; its keys are written with
// their next use.
func (a *Authenticator) Run(ctx context.Context) {
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	flush := func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, flushTimeout)
		defer cancel()
		if err := a.Flush(ctx); err != nil {
			a.log.Error("control database", "err", err)
		}
	}
	for {
		select {
		case <-ctx.Done():
			flush(context.WithoutCancel(ctx))
			return
		case <-tick.C:
			flush(ctx)
		}
	}
}

// flushRows bounds how long other writers wait for a flush.
const flushRows = 500

// Flush writes down when keys were last used.
func (a *Authenticator) Flush(ctx context.Context) error {
	list := a.usage.take()
	var errs []error
	for len(list) > 0 {
		n := min(len(list), flushRows)
		if err := a.repo.used(ctx, list[:n]); err != nil {
			errs = append(errs, err)
			if ctx.Err() != nil {
				break
			}
		}
		list = list[n:]
	}
	return errors.Join(errs...)
}

// used never moves a time back: another process may have seen the key later.
func (r *Repository) used(ctx context.Context, list []*use) error {
	err := r.db.Update(ctx, func(tx *sql.Tx) error {
		stmt, err := tx.PrepareContext(ctx, `UPDATE api_key SET last_used_at = $1
			WHERE id = $2 AND (last_used_at IS NULL OR last_used_at < $1)`)
		if err != nil {
			return err
		}
		defer stmt.Close() //nolint:errcheck // ends with the transaction
		for _, k := range list {
			if _, err := stmt.ExecContext(ctx, k.last.Load(), k.keyID); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("write when keys were used: %w", err)
	}
	return nil
}
