package session

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"chainexplorer/internal/control"
)

// Session is one that somebody has open.
type Session struct {
	ID        string
	Workspace string // name
	OpenedAt  time.Time
	SeenAt    time.Time // to the minute or so
	ExpiresAt time.Time
}

// Sessions are those that a person has open, in all workspaces, the newest first. There
// are not more than a person can have.
func (r *Repository) Sessions(ctx context.Context, personID string) ([]Session, error) {
	now := r.moment()
	rows, err := r.db.Reader().QueryContext(ctx, `SELECT s.id, w.name, s.created_at, s.seen_at, s.expires_at FROM session s JOIN workspace w ON w.id = s.workspace_id
		WHERE s.person_id = $1 AND s.ended_at IS NULL AND s.expires_at > $2 AND s.seen_at > $3 ORDER BY s.created_at DESC, s.id LIMIT $4`,
		personID, control.Micros(now), control.Micros(now.Add(-Idle)), maxOpen)
	if err != nil {
		return nil, fmt.Errorf("sessions: %w", err)
	}
	defer rows.Close() //nolint:errcheck // Err tells
	var list []Session
	for rows.Next() {
		var s Session
		var opened, seen, expires int64
		if err := rows.Scan(&s.ID, &s.Workspace, &opened, &seen, &expires); err != nil {
			return nil, fmt.Errorf("sessions: %w", err)
		}
		s.OpenedAt, s.SeenAt, s.ExpiresAt = control.Moment(opened), control.Moment(seen), control.Moment(expires)
		list = append(list, s)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("sessions: %w", err)
	}
	return list, nil
}

// EndOwn ends one session of a person by its id; ErrInvalid when they have none such
// open.
func (r *Repository) EndOwn(ctx context.Context, personID, sessionID string) error {
	err := r.db.Update(ctx, func(tx *sql.Tx) error {
		now := r.moment()
		n, err := changed(tx.ExecContext(ctx, `UPDATE session SET ended_at = $1 WHERE id = $2 AND person_id = $3 AND ended_at IS NULL`, control.Micros(now), sessionID, personID))
		switch {
		case err != nil:
			return err
		case n == 0:
			return ErrInvalid
		}
		return r.audit(ctx, tx, personID, "session.end", sessionID, "", now)
	})
	if err != nil {
		return fmt.Errorf("end session: %w", err)
	}
	return nil
}

// EndOthers ends every session of a person but one, and takes back the links that were
// not used. It returns how many there were.
func (r *Repository) EndOthers(ctx context.Context, personID, sessionID string) (n int, err error) {
	err = r.db.Update(ctx, func(tx *sql.Tx) error {
		now := r.moment()
		if n, err = changed(tx.ExecContext(ctx, `UPDATE session SET ended_at = $1 WHERE person_id = $2 AND id <> $3 AND ended_at IS NULL`, control.Micros(now), personID, sessionID)); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM login_link WHERE person_id = $1`, personID); err != nil {
			return err
		}
		return r.audit(ctx, tx, personID, "session.end_others", personID, fmt.Sprintf("%d sessions", n), now)
	})
	if err != nil {
		return 0, fmt.Errorf("end sessions: %w", err)
	}
	return n, nil
}

// EndIn ends the sessions that a member has in a workspace, and takes back the links
// to it. It is for owners and the operator. It returns how many there were.
func (r *Repository) EndIn(ctx context.Context, personID, workspaceID, actor string) (n int, err error) {
	err = r.db.Update(ctx, func(tx *sql.Tx) error {
		if err := r.mustOwn(ctx, tx, workspaceID, actor); err != nil {
			return err
		}
		now := r.moment()
		if n, err = changed(tx.ExecContext(ctx, `UPDATE session SET ended_at = $1 WHERE person_id = $2 AND workspace_id = $3 AND ended_at IS NULL`, control.Micros(now), personID, workspaceID)); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM login_link WHERE person_id = $1 AND workspace_id = $2`, personID, workspaceID); err != nil {
			return err
		}
		return r.audit(ctx, tx, actor, "session.end_in", personID, fmt.Sprintf("workspace %s, %d sessions", workspaceID, n), now)
	})
	if err != nil {
		return 0, fmt.Errorf("end sessions: %w", err)
	}
	return n, nil
}

// changed is how many rows a statement changed.
func changed(done sql.Result, err error) (int, error) {
	if err != nil {
		return 0, err
	}
	n, err := done.RowsAffected()
	return int(n), err
}
