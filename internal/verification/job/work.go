package job

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"chainexplorer/internal/control"
	"chainexplorer/internal/verification/receipt"
)

// Work is a job that a worker has. It holds as long as nobody else took the job and its
// owner did not cancel it, which every method looks at: after ErrLost or a StateError the
// worker has nothing to do with the job any more.
type Work struct {
	*Job
	// ReceiptID is the number of the receipt to be signed, once the work is comparing. It
	// is never given twice.
	ReceiptID uint64
	// Toolchain names what built the class, such as cairo-2.20.0, so that what a bad one built
	// can be found. Who admits the receipt says it.
	Toolchain string

	token string // of the claim; the job loses its own when the worker is done
}

// Claim gives a worker the job that has waited longest, for as long as the lease lasts;
// nil when none waits. Jobs that are damaged end: nobody waits behind them.
func (r *Repo) Claim(ctx context.Context, chain, worker string, lease time.Duration) (w *Work, err error) {
	waiting, err := several(ctx, r.db.Reader(), queued+` LIMIT 1`, chain)
	if err != nil || len(waiting) == 0 { // mostly: then nobody has to wait for the writer
		return nil, r.named("claim a job", err)
	}
	claim, err := r.newID("clm_")
	if err != nil {
		return nil, err
	}
	err = r.db.Update(ctx, func(tx *sql.Tx) error {
		list, err := several(ctx, tx, queued+` LIMIT $2`, chain, tidyAtOnce)
		if err != nil {
			return err
		}
		for _, next := range list {
			if next.Damage != nil {
				if _, err := r.move(ctx, tx, next, spoiled()); err != nil && !Lost(err) { // one without a state stays as it is
					return err
				}
				continue
			}
			j, err := r.move(ctx, tx, next, change{event: Claim, actor: service, detail: fmt.Sprintf("try %d, %s", next.Attempts+1, worker), set: []assignment{
				{"claim", claim}, {"worker", worker}, {"attempts", next.Attempts + 1}, {"lease_until", control.Micros(r.moment().Add(lease))},
			}})
			if err != nil {
				return err
			}
			w = &Work{Job: j, token: claim}
			return nil
		}
		return nil
	})
	if err != nil {
		return nil, r.named("claim a job", err)
	}
	return w, nil
}

const queued = `active = 1 AND chain_id = $1 AND state = 'queued' ORDER BY committed_at, id`

// Beat says that the worker still has the job, and makes the lease last longer.
func (r *Repo) Beat(ctx context.Context, w *Work, lease time.Duration) error {
	err := r.db.Update(ctx, func(tx *sql.Tx) error {
		done, err := tx.ExecContext(ctx, `UPDATE verification_job SET lease_until = $1 WHERE id = $2 AND claim = $3`, control.Micros(r.moment().Add(lease)), w.ID, w.token)
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); err != nil || n == 1 {
			return err
		}
		return ErrLost
	})
	return r.named("renew the claim to a job", err)
}

// step makes an event of the worker happen.
func (r *Repo) step(ctx context.Context, w *Work, c change, also func(*sql.Tx) error) error {
	c.actor, c.claim = service, w.token
	err := r.db.Update(ctx, func(tx *sql.Tx) error {
		j, err := one(ctx, tx, `id = $1`, w.ID)
		if err != nil {
			return err
		}
		if j.claim != w.token {
			return ErrLost
		}
		if j, err = r.move(ctx, tx, j, c); err != nil {
			return err
		}
		if also != nil {
			if err := also(tx); err != nil {
				return err
			}
		}
		w.Job = j
		return nil
	})
	return r.named(string(c.event)+" a job", err)
}

// Compare says that the build is done, and gets the number of a receipt.
func (r *Repo) Compare(ctx context.Context, w *Work) error {
	return r.step(ctx, w, change{event: Compare}, func(tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, `UPDATE verification_intake SET last_receipt = last_receipt + 1 WHERE one = 1 RETURNING last_receipt`).Scan(&w.ReceiptID)
	})
}

// Differ ends a job with another class than the declared one. Parts, of those of the
// class hash, are the ones that differ; none when that is not known.
func (r *Repo) Differ(ctx context.Context, w *Work, parts []string) error {
	text := strings.Join(parts, " ")
	return r.step(ctx, w, change{event: Differ, detail: text, set: append(failed(Failure{Code: ClassHashMismatch}), assignment{"parts", text})}, nil)
}

// Fail ends a job that the worker cannot bring to an end.
func (r *Repo) Fail(ctx context.Context, w *Work, f Failure) error {
	return r.step(ctx, w, change{event: Fail, detail: f.detail(), set: failed(f)}, nil)
}

// GiveBack lets another worker have the job, as if this one had never begun.
func (r *Repo) GiveBack(ctx context.Context, w *Work) error {
	return r.step(ctx, w, change{event: GiveBack, detail: "the worker stopped", set: append([]assignment{{"attempts", max(w.Attempts-1, 0)}}, freed...)}, nil)
}

// Admit ends a job with its receipt: the state, the receipt, the entry of the audit log
// and what join adds are one change. Nobody can cancel the job from then on.
func (r *Repo) Admit(ctx context.Context, w *Work, signed *receipt.Receipt, join func(context.Context, *sql.Tx) error) error {
	e := signed.Evidence
	if e == nil || e.JobID != w.ID || e.ChainID != w.Chain || e.ReceiptID != w.ReceiptID || e.ClassHash != w.Package.SelectedClassHash || e.SourceArchiveDigest != w.Package.UploadDigest {
		return fmt.Errorf("admit a receipt: it is not about job %s", w.ID)
	}
	document, err := json.Marshal(signed)
	if err != nil {
		return fmt.Errorf("admit a receipt: %w", err)
	}
	return r.step(ctx, w, change{event: Admit, detail: fmt.Sprintf("receipt %d", w.ReceiptID), set: freed}, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO verification_receipt (receipt_id, job_id, chain_id, class_hash, document, created_at, toolchain) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
			int64(w.ReceiptID), w.ID, w.Chain, e.ClassHash, string(document), control.Micros(r.moment()), w.Toolchain) //nolint:gosec // it came from such a column
		if err != nil || join == nil {
			return err
		}
		return join(ctx, tx)
	})
}

// Recover takes jobs from workers that were not heard of for as long as their lease, and
// returns how many. The next worker begins anew, unless there were enough. A claim that
// lasts longer than any lease was written down by a clock that was ahead: it lasts as long
// as the lease from now on, in which a worker that is there says so again.
func (r *Repo) Recover(ctx context.Context, chain string, lease time.Duration) (n int, err error) {
	const ahead = `active = 1 AND chain_id = $1 AND state IN ('building', 'comparing') AND lease_until > $2`
	limit := control.Micros(r.moment().Add(2 * lease)) // clocks of processes differ
	list, err := several(ctx, r.db.Reader(), ahead+` LIMIT 1`, chain, limit)
	if err == nil && len(list) > 0 {
		err = r.db.Update(ctx, func(tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, `UPDATE verification_job SET lease_until = $3 WHERE `+ahead, chain, limit, control.Micros(r.moment().Add(lease)))
			return err
		})
	}
	if err != nil {
		return 0, r.named("look for claims that last too long", err)
	}
	const lapsed = `active = 1 AND chain_id = $1 AND state IN ('building', 'comparing') AND lease_until <= $2 ORDER BY committed_at, id LIMIT 50`
	list, err = several(ctx, r.db.Reader(), lapsed, chain, control.Micros(r.moment()))
	if err != nil || len(list) == 0 {
		return 0, r.named("look for abandoned jobs", err)
	}
	err = r.db.Update(ctx, func(tx *sql.Tx) error {
		list, err := several(ctx, tx, lapsed, chain, control.Micros(r.moment()))
		if err != nil {
			return err
		}
		n = len(list)
		for _, j := range list {
			c := change{event: GiveBack, actor: service, detail: "its worker was not heard of any more", set: freed}
			if j.Attempts >= r.limits.Attempts {
				f := Failure{Code: DispatchFailed, Retryable: true}
				c = change{event: Fail, actor: service, detail: fmt.Sprintf("%s after %d tries", f.Code, j.Attempts), set: failed(f)}
			}
			if _, err := r.move(ctx, tx, j, c); err != nil && (j.Damage == nil || !Lost(err)) {
				return err
			}
		}
		return nil
	})
	return n, r.named("take up abandoned jobs", err)
}

// Lost says that a worker's job is in other hands, or has ended.
func Lost(err error) bool {
	var state *StateError
	return errors.Is(err, ErrLost) || errors.As(err, &state)
}
