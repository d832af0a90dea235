package session

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"chainexplorer/internal/account"
	"chainexplorer/internal/control"
)

// Membership is a workspace that somebody belongs to.
type Membership struct {
	WorkspaceID string
	Workspace   string // name
	Role        Role
}

// Memberships are the workspaces that somebody can switch to, by name, and whether there
// are more than limit. Where nobody vouches for who is signed in there are none.
func (r *Repository) Memberships(ctx context.Context, who Who, limit int) (list []Membership, more bool, err error) {
	if !who.Vouched {
		return nil, false, nil
	}
	rows, err := r.db.Reader().QueryContext(ctx, `SELECT w.id, w.name, m.role FROM member m JOIN workspace w ON w.id = m.workspace_id
		WHERE m.person_id = $1 AND m.workspace_id <> $2 ORDER BY w.name LIMIT $3`, who.PersonID, who.WorkspaceID, limit+1)
	if err != nil {
		return nil, false, fmt.Errorf("memberships: %w", err)
	}
	defer rows.Close() //nolint:errcheck // Err tells
	for rows.Next() {
		var m Membership
		if err := rows.Scan(&m.WorkspaceID, &m.Workspace, &m.Role); err != nil {
			return nil, false, fmt.Errorf("memberships: %w", err)
		}
		list = append(list, m)
	}
	if err := rows.Err(); err != nil {
		return nil, false, fmt.Errorf("memberships: %w", err)
	}
	if len(list) > limit {
		return list[:limit], true, nil
	}
	return list, false, nil
}

// Switch takes somebody to another workspace of theirs: the session ends, and one there
// begins that lasts no longer. A workspace that they do not belong to is
// account.ErrWorkspaceNotFound, as one that never was, and so are all for whoever an owner
// of one workspace let in: an invitation must not open what the same name has elsewhere.
func (r *Repository) Switch(ctx context.Context, token, workspaceID string) (out Opened, err error) {
	if !wellFormed(token, sessionPrefix) {
		return Opened{}, ErrInvalid
	}
	err = r.db.Update(ctx, func(tx *sql.Tx) error {
		now := r.moment()
		var id, person string
		var expires, vouched int64
		err := tx.QueryRowContext(ctx, `UPDATE session SET ended_at = $2 WHERE digest = $1 AND ended_at IS NULL AND expires_at > $2 AND seen_at > $3 AND seen_at <= $4
			RETURNING id, person_id, expires_at, vouched`, r.digest.of(token), control.Micros(now), control.Micros(now.Add(-Idle)), control.Micros(now.Add(ahead))).Scan(&id, &person, &expires, &vouched)
		if errors.Is(err, sql.ErrNoRows) {
			return ErrInvalid
		} else if err != nil {
			return err
		}
		var member int
		if err := tx.QueryRowContext(ctx, `SELECT COUNT(*) FROM member WHERE workspace_id = $1 AND person_id = $2`, workspaceID, person).Scan(&member); err != nil {
			return err
		}
		if vouched == 0 || member == 0 {
			return account.ErrWorkspaceNotFound
		}
		if err := r.audit(ctx, tx, person, "session.end", id, "", now); err != nil {
			return err
		}
		out, err = r.open(ctx, tx, workspaceID, person, entry{how: "switch", vouched: true, until: control.Moment(expires)})
		return err
	})
	if err != nil {
		return Opened{}, fmt.Errorf("switch workspace: %w", err)
	}
	return out, nil
}
