package usage

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"chainexplorer/internal/account"
	"chainexplorer/internal/control"
)

const (
	// DefaultWindow is what is told when nobody asks for less.
	DefaultWindow = 30 * 24 * time.Hour
	// maxKeys bounds the keys that are told of one by one.
	maxKeys = 100
	// maxTotals bounds the workspaces of a list.
	maxTotals = 1000
)

// Repository keeps the usage in the control database.
type Repository struct {
	db       *control.DB
	accounts *account.Repository
	now      func() time.Time
}

// NewRepository works on an open database, which the caller closes; accounts are of
// the same. A nil clock is the system's.
func NewRepository(db *control.DB, accounts *account.Repository, now func() time.Time) *Repository {
	if now == nil {
		now = time.Now
	}
	return &Repository{db: db, accounts: accounts, now: now}
}

// window is from the beginning of an hour until now. One that is not longer than zero
// is the default, and none is longer than counts are kept.
func (r *Repository) window(length time.Duration) (start, end time.Time) {
	if length <= 0 {
		length = DefaultWindow
	}
	end = control.Moment(control.Micros(r.now()))
	return end.Add(-min(length, KeepCounts)).Truncate(time.Hour), end
}

// Of tells what a workspace asked for in the window that ends now.
func (r *Repository) Of(ctx context.Context, workspaceID string, window time.Duration) (Usage, error) {
	start, end := r.window(window)
	u := Usage{Summary: Summary{WindowStart: start, WindowEnd: end}}
	var counts map[string]*PerKey
	err := r.db.View(ctx, func(tx *sql.Tx) (err error) {
		since := control.Micros(start)
		if counts, err = perKey(ctx, tx, workspaceID, since); err != nil {
			return err
		}
		if u.PerClass, err = perClass(ctx, tx, workspaceID, since); err != nil {
			return err
		}
		if u.RecentRequests, err = recentOf(ctx, tx, workspaceID, listRequests, since); err != nil {
			return err
		}
		u.RecentFailures, err = recentOf(ctx, tx, workspaceID, listFailures, since)
		return err
	})
	if err != nil {
		return Usage{}, fmt.Errorf("usage of a workspace: %w", err)
	}
	for _, k := range counts {
		u.TotalRequests += k.TotalRequests
		u.TotalFailures += k.FailureCount
	}
	u.RecentRequestsTruncated = u.TotalRequests > int64(len(u.RecentRequests))
	u.RecentFailuresTruncated = u.TotalFailures > int64(len(u.RecentFailures))
	// After the counts, so that every key that has some is there.
	keys, more, err := r.accounts.ListKeys(ctx, workspaceID, maxKeys)
	if err != nil {
		return Usage{}, fmt.Errorf("usage of a workspace: %w", err)
	}
	u.PerKey, u.PerKeyTruncated = make([]PerKey, 0, len(keys)), more
	for _, k := range keys {
		of := PerKey{}
		if c := counts[k.PublicID]; c != nil {
			of = *c
		}
		of.APIKey = k
		u.PerKey = append(u.PerKey, of)
	}
	return u, nil
}

// perKey reads counts and budgets, by the keys' public ids.
func perKey(ctx context.Context, tx *sql.Tx, workspaceID string, since int64) (map[string]*PerKey, error) {
	out := map[string]*PerKey{}
	err := each(ctx, tx, func(row *sql.Rows) error {
		var id string
		var k PerKey
		var last, failed sql.NullInt64
		if err := row.Scan(&id, &k.TotalRequests, &k.FailureCount, &last, &failed); err != nil {
			return err
		}
		k.SuccessCount = k.TotalRequests - k.FailureCount
		k.LastRequestAt, k.LastFailureAt = control.OptionalMoment(last), control.OptionalMoment(failed)
		out[id] = &k
		return nil
	}, `SELECT key_id, CAST(SUM(requests) AS BIGINT), CAST(SUM(failures) AS BIGINT), MAX(last_request_at), MAX(last_failure_at)
		FROM usage_count WHERE workspace_id = $1 AND hour >= $2 GROUP BY key_id`, workspaceID, since)
	if err != nil {
		return nil, fmt.Errorf("counts: %w", err)
	}
	err = each(ctx, tx, func(row *sql.Rows) error {
		var id string
		var b stateRow
		if err := row.Scan(&id, &b.class, &b.policy, &b.limit, &b.remaining, &b.retry, &b.at); err != nil {
			return err
		}
		if k := out[id]; k != nil {
			k.LatestRateLimitState = b.state()
		}
		return nil
	}, `SELECT key_id, class, policy, per_minute, remaining, retry_after, observed_at
		FROM usage_budget WHERE workspace_id = $1 AND observed_at >= $2`, workspaceID, since)
	if err != nil {
		return nil, fmt.Errorf("budgets: %w", err)
	}
	return out, nil
}

// perClass reads the counts once more, by class.
func perClass(ctx context.Context, tx *sql.Tx, workspaceID string, since int64) ([]ClassUsage, error) {
	out := []ClassUsage{}
	err := each(ctx, tx, func(row *sql.Rows) error {
		var c ClassUsage
		if err := row.Scan(&c.LoadClass, &c.TotalRequests, &c.FailureCount); err != nil {
			return err
		}
		c.SuccessCount = c.TotalRequests - c.FailureCount
		out = append(out, c)
		return nil
	}, `SELECT class, CAST(SUM(requests) AS BIGINT), CAST(SUM(failures) AS BIGINT) FROM usage_count
		WHERE workspace_id = $1 AND hour >= $2 GROUP BY class ORDER BY class`, workspaceID, since)
	if err != nil {
		return nil, fmt.Errorf("counts by class: %w", err)
	}
	return out, nil
}

// recentOf reads a list of a workspace. Rows of unknown keys have no label.
func recentOf(ctx context.Context, tx *sql.Tx, workspaceID string, list int, since int64) ([]Requested, error) {
	out := []Requested{}
	err := each(ctx, tx, func(row *sql.Rows) error {
		var e Requested
		var b stateRow
		var scopes string
		var took sql.NullInt64
		if err := row.Scan(&e.RequestID, &e.APIKeyPublicID, &e.APIKeyLabel, &e.APIKeyEnvironment, &scopes, &e.Method, &e.RoutePath, &e.LoadClass, &e.StatusCode,
			&took, &b.policy, &b.limit, &b.remaining, &b.retry, &b.at); err != nil {
			return err
		}
		var may account.Scopes
		if scopes != "" {
			var err error
			if may, err = account.ParseScopes(scopes); err != nil {
				return fmt.Errorf("stored key %s: %w", e.APIKeyPublicID, err)
			}
		}
		e.APIKeyScopes = may.Names()
		if took.Valid {
			ms := took.Int64 / 1000
			e.LatencyMs = &ms
		}
		b.class, e.ObservedAt = e.LoadClass, control.Moment(b.at)
		e.RateLimitState = b.state()
		out = append(out, e)
		return nil
	}, `SELECT e.request_id, e.key_id, COALESCE(k.label, ''), COALESCE(k.environment, ''), COALESCE(k.scopes, ''), e.method, e.route_path, e.class, e.status,
			e.took, e.policy, e.per_minute, e.remaining, e.retry_after, e.observed_at
		FROM usage_event e LEFT JOIN api_key k ON k.public_id = e.key_id
		WHERE e.workspace_id = $1 AND e.list = $2 AND e.observed_at >= $3
		ORDER BY e.observed_at DESC, e.seq DESC, e.writer DESC LIMIT $4`, workspaceID, list, since, Recent)
	if err != nil {
		return nil, fmt.Errorf("recent requests: %w", err)
	}
	return out, nil
}

// stateRow is a budget as it is stored.
type stateRow struct {
	class                   string
	policy                  sql.NullString
	limit, remaining, retry sql.NullInt64
	at                      int64
}

func (b *stateRow) state() *RateLimitState {
	if !b.policy.Valid {
		return nil
	}
	s := &RateLimitState{LoadClass: b.class, LimitPerMinute: b.limit.Int64, Remaining: b.remaining.Int64, Policy: b.policy.String, ObservedAt: control.Moment(b.at)}
	if b.retry.Valid {
		s.RetryAfterSeconds = &b.retry.Int64
	}
	return s
}

// Series tells what a workspace asked for by the hour and class, oldest first. Hours
// without a request are not there.
func (r *Repository) Series(ctx context.Context, workspaceID string, window time.Duration) ([]Step, error) {
	start, _ := r.window(window)
	out := []Step{}
	err := r.db.View(ctx, func(tx *sql.Tx) error {
		return each(ctx, tx, func(row *sql.Rows) error {
			var s Step
			var hour int64
			if err := row.Scan(&hour, &s.LoadClass, &s.Requests, &s.Failures); err != nil {
				return err
			}
			s.Hour = control.Moment(hour)
			out = append(out, s)
			return nil
		}, `SELECT hour, class, CAST(SUM(requests) AS BIGINT), CAST(SUM(failures) AS BIGINT) FROM usage_count
			WHERE workspace_id = $1 AND hour >= $2 GROUP BY hour, class ORDER BY hour, class`, workspaceID, control.Micros(start))
	})
	if err != nil {
		return nil, fmt.Errorf("usage by the hour: %w", err)
	}
	return out, nil
}

// Totals tells what workspaces asked for in the window that ends now, by their names,
// those that asked for nothing too, and whether there are more.
func (r *Repository) Totals(ctx context.Context, window time.Duration) (list []Total, more bool, err error) {
	start, _ := r.window(window)
	list = []Total{}
	err = r.db.View(ctx, func(tx *sql.Tx) error {
		return each(ctx, tx, func(row *sql.Rows) error {
			var t Total
			var last sql.NullInt64
			if err := row.Scan(&t.Workspace, &t.TotalRequests, &t.TotalFailures, &last); err != nil {
				return err
			}
			t.LastRequestAt = control.OptionalMoment(last)
			list = append(list, t)
			return nil
		}, `SELECT w.name, CAST(COALESCE(SUM(c.requests), 0) AS BIGINT), CAST(COALESCE(SUM(c.failures), 0) AS BIGINT), MAX(c.last_request_at)
			FROM workspace w LEFT JOIN usage_count c ON c.workspace_id = w.id AND c.hour >= $1
			GROUP BY w.id, w.name ORDER BY w.name LIMIT $2`, control.Micros(start), maxTotals+1)
	})
	if err != nil {
		return nil, false, fmt.Errorf("usage of workspaces: %w", err)
	}
	if len(list) > maxTotals {
		return list[:maxTotals], true, nil
	}
	return list, false, nil
}

// each calls fn for every row of a query.
func each(ctx context.Context, tx *sql.Tx, fn func(*sql.Rows) error, query string, args ...any) error {
	rows, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // Err tells
	for rows.Next() {
		if err := fn(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}
