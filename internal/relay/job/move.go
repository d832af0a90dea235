package job

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"chainexplorer/internal/control"
)

// Dispatch says that a job is about to be sent, for so many times in all. Saying it twice
// is the same as once: whether a commit happened is not always known.
func (r *Repo) Dispatch(ctx context.Context, id, owner string, attempts int) error {
	return r.move(ctx, id, `UPDATE prover_job SET state = 'dispatched', attempts = $3 WHERE id = $1 AND owner = $2 AND active = 1`, id, owner, attempts)
}

// Requeue says that a job that was dispatched was not delivered, or nothing was proven.
func (r *Repo) Requeue(ctx context.Context, id, owner string) error {
	return r.move(ctx, id, `UPDATE prover_job SET state = 'queued' WHERE id = $1 AND owner = $2 AND active = 1`, id, owner)
}

// End ends a job. Held says that the owner has something for the first poll.
func (r *Repo) End(ctx context.Context, id, owner string, to State, code *int64, held bool) error {
	h := 0
	if held {
		h = 1
	}
	var c sql.NullInt64
	if code != nil {
		c = sql.NullInt64{Int64: *code, Valid: true}
	}
	err := r.move(ctx, id, `UPDATE prover_job SET state = $3, active = 0, code = $4, held = $5, completed_at = $6 WHERE id = $1 AND owner = $2 AND active = 1`,
		id, owner, string(to), c, h, control.Micros(r.moment()))
	if errors.Is(err, ErrLost) { // perhaps it was we who ended it, and were not told
		if now, e := one(ctx, r.db.Reader(), `id = $1`, id); e == nil && now.State == to && now.Owner == owner {
			return nil
		}
	}
	return err
}

// Delivered says that nothing is held of a job any more.
func (r *Repo) Delivered(ctx context.Context, id, owner string) error {
	err := r.move(ctx, id, `UPDATE prover_job SET held = 0 WHERE id = $1 AND owner = $2`, id, owner)
	if errors.Is(err, ErrLost) {
		return nil
	}
	return err
}

// move changes one row, or none: ErrLost.
func (r *Repo) move(ctx context.Context, id, query string, args ...any) error {
	err := r.db.Update(ctx, func(tx *sql.Tx) error {
		done, err := tx.ExecContext(ctx, query, args...)
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); err != nil || n == 1 {
			return err
		}
		return ErrLost
	})
	return named("move job "+id, err)
}

// Beat says that a process is alive for some time more, and where others reach it.
func (r *Repo) Beat(ctx context.Context, process, address string, lease time.Duration) error {
	err := r.db.Update(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO prover_process (id, address, until) VALUES ($1, $2, $3)
			ON CONFLICT (id) DO UPDATE SET address = excluded.address, until = excluded.until`, process, address, control.Micros(r.moment().Add(lease)))
		return err
	})
	return named("say that the relay is alive", err)
}

// Leave ends what a process still has, and the process.
func (r *Repo) Leave(ctx context.Context, process string) error {
	_, err := r.bury(ctx, []string{process}, true)
	return named("leave the relay", err)
}

// Peer is another process that relays.
type Peer struct {
	Address string // where it is reached; "" when it told none
	Known   bool   // it did not leave, and was heard of not too long ago
	Alive   bool   // it was heard of lately
}

// Peer finds a process.
func (r *Repo) Peer(ctx context.Context, process string) (p Peer, err error) {
	var until int64
	err = r.db.Reader().QueryRowContext(ctx, `SELECT address, until FROM prover_process WHERE id = $1`, process).Scan(&p.Address, &until)
	if errors.Is(err, sql.ErrNoRows) {
		return Peer{}, nil
	}
	p.Known, p.Alive = err == nil, until > control.Micros(r.moment())
	return p, named("look for a process", err)
}

// Ended are the jobs that were ended for want of their process, by state.
type Ended struct{ Unavailable, Unknown int64 }

// Recover ends the jobs of processes that are gone: of all but this one where a file is
// the database, which has one process; of those that were not heard of in time otherwise.
// Those may only have been silent: what they hold is not called gone before a moment at
// which they would have dropped it themselves. One that a clock that was ahead says is
// alive for longer than the lease is so for as long as that from now on, in which it says
// so again if it is there.
func (r *Repo) Recover(ctx context.Context, self string, kept time.Time, lease time.Duration) (Ended, error) {
	if !r.Shared() {
		gone, err := texts(ctx, r.db.Reader(), `SELECT owner FROM prover_job WHERE active = 1 AND owner <> $1 UNION SELECT owner FROM prover_job WHERE held = 1 AND owner <> $1 LIMIT 100`, self)
		if err != nil || len(gone) == 0 {
			return Ended{}, named("look for processes that are gone", err)
		}
		n, err := r.bury(ctx, gone, true)
		return n, named("end jobs of processes that are gone", err)
	}
	limit := control.Micros(r.moment().Add(2 * lease)) // clocks of processes differ
	ahead, err := texts(ctx, r.db.Reader(), `SELECT id FROM prover_process WHERE until > $1 LIMIT 1`, limit)
	if err == nil && len(ahead) > 0 {
		err = r.db.Update(ctx, func(tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, `UPDATE prover_process SET until = $1 WHERE until > $2`, control.Micros(r.moment().Add(lease)), limit)
			return err
		})
	}
	if err != nil {
		return Ended{}, named("look for processes whose clock was ahead", err)
	}
	working, err := texts(ctx, r.db.Reader(), `SELECT DISTINCT owner FROM prover_job WHERE active = 1 AND owner <> $1 LIMIT 100`, self)
	if err != nil {
		return Ended{}, named("look for processes that are gone", err)
	}
	// One whose row is gone, as after a restore, is gone as well.
	alive, err := texts(ctx, r.db.Reader(), `SELECT id FROM prover_process WHERE until > $1`, control.Micros(r.moment()))
	if err != nil {
		return Ended{}, named("look for processes that are alive", err)
	}
	silent := slices.DeleteFunc(working, func(p string) bool { return slices.Contains(alive, p) })
	var n Ended
	if len(silent) > 0 {
		if n, err = r.bury(ctx, silent, false); err != nil {
			return n, named("end jobs of processes that are silent", err)
		}
	}
	lost, err := texts(ctx, r.db.Reader(), `SELECT id FROM prover_process WHERE until < $1 AND id <> $2 LIMIT 100`, control.Micros(kept), self)
	if err == nil && len(lost) > 0 {
		_, err = r.bury(ctx, lost, true)
	}
	return n, named("forget processes that are gone", err)
}

// bury ends the jobs of processes; gone says that they and what they hold will not be
// heard of again.
func (r *Repo) bury(ctx context.Context, processes []string, gone bool) (n Ended, err error) {
	err = r.db.Update(ctx, func(tx *sql.Tx) error {
		now := r.moment()
		for _, p := range processes {
			for _, s := range []struct {
				from, to State
				count    *int64
			}{{Queued, Unavailable, &n.Unavailable}, {Dispatched, UnknownDelivery, &n.Unknown}} {
				done, err := tx.ExecContext(ctx, `UPDATE prover_job SET state = $1, active = 0, completed_at = $2 WHERE owner = $3 AND active = 1 AND state = $4`,
					string(s.to), control.Micros(now), p, string(s.from))
				if err != nil {
					return fmt.Errorf("end what is %s: %w", s.from, err)
				}
				changed, err := done.RowsAffected()
				if err != nil {
					return err
				}
				*s.count += changed
			}
			if !gone {
				continue
			}
			if _, err := tx.ExecContext(ctx, `UPDATE prover_job SET held = 0 WHERE owner = $1 AND held = 1`, p); err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, `DELETE FROM prover_process WHERE id = $1`, p); err != nil {
				return err
			}
		}
		return nil
	})
	return n, err
}

// Strays are the jobs of a process that were queued before a moment and have not ended.
func (r *Repo) Strays(ctx context.Context, owner string, before time.Time) ([]string, error) {
	list, err := texts(ctx, r.db.Reader(), `SELECT id FROM prover_job WHERE active = 1 AND owner = $1 AND queued_at < $2 LIMIT 1000`, owner, control.Micros(before))
	return list, named("look for jobs", err)
}

// Tidy deletes some of the jobs that ended before a moment: their keys are new again.
func (r *Repo) Tidy(ctx context.Context, before time.Time) (n int64, err error) {
	const old = `SELECT id FROM prover_job WHERE active = 0 AND completed_at < $1 ORDER BY completed_at LIMIT 500`
	list, err := texts(ctx, r.db.Reader(), old, control.Micros(before))
	if err != nil || len(list) == 0 {
		return 0, named("look for old jobs", err)
	}
	err = r.db.Update(ctx, func(tx *sql.Tx) error {
		done, err := tx.ExecContext(ctx, `DELETE FROM prover_job WHERE id IN (`+old+`)`, control.Micros(before))
		if err != nil {
			return err
		}
		n, err = done.RowsAffected()
		return err
	})
	return n, named("delete old jobs", err)
}

func texts(ctx context.Context, q querier, query string, args ...any) (list []string, err error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // Err tells
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, rows.Err()
}
