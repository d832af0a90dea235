package usage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"chainexplorer/internal/control"
)

// apply writes a batch, once: a batch that was written before is left alone, so that
// one whose acknowledgement got lost may be tried again.
func (r *Repository) apply(ctx context.Context, writer string, g *gathered, sweep bool) error {
	return r.db.Update(ctx, func(tx *sql.Tx) error {
		var have int64
		err := tx.QueryRowContext(ctx, `SELECT seq FROM usage_writer WHERE id = $1`, writer).Scan(&have)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if have >= g.seq {
			return nil
		}
		if _, err := tx.ExecContext(ctx, `INSERT INTO usage_writer (id, seq, at) VALUES ($1, $2, $3)
			ON CONFLICT (id) DO UPDATE SET seq = excluded.seq, at = excluded.at`, writer, g.seq, control.Micros(r.now())); err != nil {
			return err
		}
		if err := writeCounts(ctx, tx, g); err != nil {
			return fmt.Errorf("counts: %w", err)
		}
		if err := writeBudgets(ctx, tx, g); err != nil {
			return fmt.Errorf("budgets: %w", err)
		}
		for id, space := range g.spaces {
			for list, ring := range []*ring{&space.requests, &space.failures} {
				if err := writeRecent(ctx, tx, writer, id, list, ring.list); err != nil {
					return fmt.Errorf("recent requests: %w", err)
				}
			}
		}
		if sweep {
			return r.sweep(ctx, tx)
		}
		return nil
	})
}

func writeCounts(ctx context.Context, tx *sql.Tx, g *gathered) error {
	w := rows{head: `INSERT INTO usage_count AS c (workspace_id, hour, key_id, class, requests, failures, last_request_at, last_failure_at) VALUES `, width: 8,
		tail: ` ON CONFLICT (workspace_id, hour, key_id, class) DO UPDATE SET
			requests = c.requests + excluded.requests, failures = c.failures + excluded.failures,
			last_request_at = CASE WHEN c.last_request_at > excluded.last_request_at THEN c.last_request_at ELSE excluded.last_request_at END,
			last_failure_at = CASE WHEN excluded.last_failure_at IS NULL OR c.last_failure_at > excluded.last_failure_at THEN c.last_failure_at ELSE excluded.last_failure_at END`}
	for key, t := range g.keys {
		for i := range t.counts {
			c := &t.counts[i]
			err := w.add(ctx, tx, t.workspace, c.hour, key, c.class, c.requests, c.failures, c.last, sql.NullInt64{Int64: c.lastFailure, Valid: c.failures > 0})
			if err != nil {
				return err
			}
		}
	}
	return w.flush(ctx, tx)
}

// writeBudgets never goes back: another process may have told the key later.
func writeBudgets(ctx context.Context, tx *sql.Tx, g *gathered) error {
	w := rows{head: `INSERT INTO usage_budget AS b (key_id, workspace_id, class, policy, per_minute, remaining, retry_after, observed_at) VALUES `, width: 8,
		tail: ` ON CONFLICT (key_id) DO UPDATE SET workspace_id = excluded.workspace_id, class = excluded.class, policy = excluded.policy,
			per_minute = excluded.per_minute, remaining = excluded.remaining, retry_after = excluded.retry_after, observed_at = excluded.observed_at
			WHERE excluded.observed_at >= b.observed_at`}
	for key, t := range g.keys {
		if b := &t.budget; b.told() {
			if err := w.add(ctx, tx, key, t.workspace, t.budgetClass, b.Policy, b.Limit, b.Remaining, b.retryAfter(), t.budgetAt); err != nil {
				return err
			}
		}
	}
	return w.flush(ctx, tx)
}

func (b *Budget) retryAfter() sql.NullInt64 {
	return sql.NullInt64{Int64: int64(b.RetryAfter), Valid: b.RetryAfter > 0}
}

// The lists of a workspace's requests.
const (
	listRequests = iota
	listFailures
)

// writeRecent adds to a list of a workspace and takes away what is too much then.
func writeRecent(ctx context.Context, tx *sql.Tx, writer, workspace string, list int, events []numbered) error {
	if len(events) == 0 {
		return nil
	}
	w := rows{head: `INSERT INTO usage_event (workspace_id, list, observed_at, seq, writer, key_id, request_id, method, route_path, class, status, took,
		policy, per_minute, remaining, retry_after) VALUES `, width: 16}
	for i := range events {
		e := &events[i]
		b := &e.Budget
		told := b.told()
		err := w.add(ctx, tx, workspace, list, control.Micros(e.At), e.seq, writer, e.KeyID, e.RequestID, e.Method, e.routePath(), e.Class, e.Status, e.Took.Microseconds(),
			sql.NullString{String: b.Policy, Valid: told}, sql.NullInt64{Int64: int64(b.Limit), Valid: told}, sql.NullInt64{Int64: int64(b.Remaining), Valid: told}, b.retryAfter())
		if err != nil {
			return err
		}
	}
	if err := w.flush(ctx, tx); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `DELETE FROM usage_event WHERE workspace_id = $1 AND list = $2 AND (observed_at, seq, writer) < (
		SELECT observed_at, seq, writer FROM usage_event WHERE workspace_id = $1 AND list = $2
		ORDER BY observed_at DESC, seq DESC, writer DESC LIMIT 1 OFFSET $3)`, workspace, list, Recent-1)
	return err
}

// sweep removes what is older than it is kept.
func (r *Repository) sweep(ctx context.Context, tx *sql.Tx) error {
	now := r.now()
	counts, events := control.Micros(now.Add(-KeepCounts)), control.Micros(now.Add(-KeepEvents))
	for _, s := range []struct {
		statement string
		before    int64
	}{
		{`DELETE FROM usage_count WHERE hour < $1`, counts - counts%hourMicros},
		{`DELETE FROM usage_budget WHERE observed_at < $1`, counts},
		{`DELETE FROM usage_writer WHERE at < $1`, counts},
		{`DELETE FROM usage_event WHERE observed_at < $1`, events},
	} {
		if _, err := tx.ExecContext(ctx, s.statement, s.before); err != nil {
			return fmt.Errorf("remove old rows: %w", err)
		}
	}
	return nil
}

// rows writes many rows in few statements: each is a way to the server and back.
type rows struct {
	head, tail string
	width      int
	values     []any
}

// rowsAtOnce keeps the parameters of a statement below what both databases take, and few:
// SQLite looks for each among all that stand before it.
const rowsAtOnce = 20

func (w *rows) add(ctx context.Context, tx *sql.Tx, values ...any) error {
	w.values = append(w.values, values...)
	if len(w.values) < rowsAtOnce*w.width {
		return nil
	}
	return w.flush(ctx, tx)
}

func (w *rows) flush(ctx context.Context, tx *sql.Tx) error {
	if len(w.values) == 0 {
		return nil
	}
	var s strings.Builder
	s.WriteString(w.head)
	for i := range w.values {
		switch {
		case i == 0:
			s.WriteString("($")
		case i%w.width == 0:
			s.WriteString("), ($")
		default:
			s.WriteString(", $")
		}
		s.WriteString(strconv.Itoa(i + 1))
	}
	s.WriteString(")" + w.tail)
	_, err := tx.ExecContext(ctx, s.String(), w.values...)
	w.values = w.values[:0]
	return err
}
