package session

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"chainexplorer/internal/account"
	"chainexplorer/internal/control"
)

// Role is what a member may do about the others. All members may issue and revoke keys.
type Role string

// The roles.
const (
	// Owner invites people, removes them, and says who is an owner. A workspace that ever
	// had a member has one at least.
	Owner Role = "owner"
	// Ordinary is everybody else.
	Ordinary Role = "member"
)

// ParseRole refuses names that it does not know.
func ParseRole(name string) (Role, error) {
	if r := Role(name); r == Owner || r == Ordinary {
		return r, nil
	}
	return "", &account.InvalidError{Field: "role", Reason: fmt.Sprintf("%.32q is none of %s, %s", name, Owner, Ordinary)}
}

// InviteTime is how long an invitation is good.
const InviteTime = 3 * 24 * time.Hour

// MaxMembers is how many people owners can bring to a workspace.
const MaxMembers = 200

// Why a change of the members is refused.
var (
	ErrNotOwner       = errors.New("only an owner of the workspace may do that")
	ErrLastOwner      = errors.New("a workspace needs an owner: make somebody else one first")
	ErrAlreadyMember  = errors.New("they are a member already")
	ErrTooManyMembers = fmt.Errorf("the workspace has %d members, as many as it may have", MaxMembers)
)

// Member is a person in a workspace.
type Member struct {
	PersonID string    `json:"id"`
	Name     string    `json:"name"`
	Role     Role      `json:"role"`
	Since    time.Time `json:"since"`
	// JoinedAt is when they first signed in to the workspace; nil: they were invited.
	JoinedAt *time.Time `json:"joinedAt"`
	// Sessions is how many they have open in the workspace, and SeenAt when they last
	// used one, to the minute or so; nil when they have none.
	Sessions int        `json:"sessions"`
	SeenAt   *time.Time `json:"seenAt"`
}

// Members are those of a workspace by name, and whether there are more than limit.
func (r *Repository) Members(ctx context.Context, workspaceID string, limit int) (list []Member, more bool, err error) {
	now := r.moment()
	rows, err := r.db.Reader().QueryContext(ctx, `SELECT p.id, p.name, m.role, m.created_at, m.joined_at, COUNT(s.id), MAX(s.seen_at)
		FROM member m JOIN person p ON p.id = m.person_id
		LEFT JOIN session s ON s.workspace_id = m.workspace_id AND s.person_id = m.person_id AND s.ended_at IS NULL AND s.expires_at > $3 AND s.seen_at > $4
		WHERE m.workspace_id = $1 GROUP BY p.id, p.name, m.role, m.created_at, m.joined_at ORDER BY p.name LIMIT $2`,
		workspaceID, limit+1, control.Micros(now), control.Micros(now.Add(-Idle)))
	if err != nil {
		return nil, false, fmt.Errorf("members: %w", err)
	}
	defer rows.Close() //nolint:errcheck // Err tells
	for rows.Next() {
		var m Member
		var since int64
		var joined, seen sql.NullInt64
		if err := rows.Scan(&m.PersonID, &m.Name, &m.Role, &since, &joined, &m.Sessions, &seen); err != nil {
			return nil, false, fmt.Errorf("members: %w", err)
		}
		m.Since, m.JoinedAt, m.SeenAt = control.Moment(since), control.OptionalMoment(joined), control.OptionalMoment(seen)
		list = append(list, m)
	}
	if err := rows.Err(); err != nil {
		return nil, false, fmt.Errorf("members: %w", err)
	}
	if len(list) > limit {
		return list[:limit], true, nil
	}
	return list, false, nil
}

// Invite makes a link for somebody who is new, by which they sign in and are a member.
// It is good once. Somebody who was invited and never came can be invited again; the
// links from before are void then. They are a guest: whoever has their name elsewhere is
// somebody else, because the link lets its bearer pass for them. A member is not invited.
func (r *Repository) Invite(ctx context.Context, name, workspaceID, actor string) (link Link, err error) {
	if err := checkName(name); err != nil {
		return Link{}, err
	}
	err = r.db.Update(ctx, func(tx *sql.Tx) error {
		if err := r.mustOwn(ctx, tx, workspaceID, actor); err != nil {
			return err
		}
		if err := invitable(ctx, tx, name, workspaceID); err != nil {
			return err
		}
		person, err := r.join(ctx, tx, name, workspaceID, workspaceID, actor)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM login_link WHERE person_id = $1 AND workspace_id = $2`, person, workspaceID); err != nil {
			return err
		}
		link, err = r.addLink(ctx, tx, person, workspaceID, actor)
		return err
	})
	if err != nil {
		return Link{}, fmt.Errorf("invite: %w", err)
	}
	return link, nil
}

// invitable says why somebody cannot be invited, if so.
func invitable(ctx context.Context, tx *sql.Tx, name, workspaceID string) error {
	var here, settled, members int
	err := tx.QueryRowContext(ctx, `SELECT COUNT(*), COALESCE(SUM(CASE WHEN m.joined_at IS NOT NULL OR p.home <> $1 THEN 1 ELSE 0 END), 0),
		(SELECT COUNT(*) FROM member WHERE workspace_id = $1)
		FROM person p JOIN member m ON m.person_id = p.id WHERE m.workspace_id = $1 AND p.name = $2`, workspaceID, name).Scan(&here, &settled, &members)
	switch {
	case err != nil:
		return err
	case settled > 0:
		return ErrAlreadyMember
	case here == 0 && members >= MaxMembers:
		return ErrTooManyMembers
	}
	return nil
}

// mustOwn refuses those who are not the operator nor an owner.
func (r *Repository) mustOwn(ctx context.Context, tx *sql.Tx, workspaceID, actor string) error {
	if actor == operator {
		return nil
	}
	var n int
	err := tx.QueryRowContext(ctx, `SELECT COUNT(*) FROM member WHERE workspace_id = $1 AND person_id = $2 AND role = $3`, workspaceID, actor, string(Owner)).Scan(&n)
	if err == nil && n == 0 {
		err = ErrNotOwner
	}
	return err
}

// keepsOwner refuses to take the role from the last owner, whoever wants it: the operator
// can make somebody else one first. To members, who was invited and has not come does not
// count: the invitation may lapse, and nobody would be left. The rows of the owners are
// locked, so that two cannot take it from one another.
func (r *Repository) keepsOwner(ctx context.Context, tx *sql.Tx, workspaceID, personID, actor string) error {
	if _, err := tx.ExecContext(ctx, `UPDATE member SET role = role WHERE workspace_id = $1 AND role = $2`, workspaceID, string(Owner)); err != nil {
		return err
	}
	var it, others int
	err := tx.QueryRowContext(ctx, `SELECT COALESCE(SUM(CASE WHEN person_id = $2 THEN 1 ELSE 0 END), 0), COALESCE(SUM(CASE WHEN person_id <> $2 AND (joined_at IS NOT NULL OR $4 = 1) THEN 1 ELSE 0 END), 0)
		FROM member WHERE workspace_id = $1 AND role = $3`, workspaceID, personID, string(Owner), number(actor == operator)).Scan(&it, &others)
	if err == nil && it > 0 && others == 0 {
		err = ErrLastOwner
	}
	return err
}

// SetRole says what a member may do; it is for owners and the operator.
func (r *Repository) SetRole(ctx context.Context, personID, workspaceID string, role Role, actor string) error {
	err := r.db.Update(ctx, func(tx *sql.Tx) error {
		if err := r.mustOwn(ctx, tx, workspaceID, actor); err != nil {
			return err
		}
		if role != Owner {
			if err := r.keepsOwner(ctx, tx, workspaceID, personID, actor); err != nil {
				return err
			}
		}
		done, err := tx.ExecContext(ctx, `UPDATE member SET role = $3 WHERE workspace_id = $1 AND person_id = $2`, workspaceID, personID, string(role))
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); err != nil || n == 0 {
			return errors.Join(ErrPersonNotFound, err)
		}
		return r.audit(ctx, tx, actor, "member.role", workspaceID, personID+" "+string(role), r.moment())
	})
	if err != nil {
		return fmt.Errorf("role of a member: %w", err)
	}
	return nil
}

// Leave takes somebody out of a workspace: their sessions and links there are gone
// with the membership. It is for owners, the operator, and the person.
func (r *Repository) Leave(ctx context.Context, personID, workspaceID, actor string) error {
	err := r.db.Update(ctx, func(tx *sql.Tx) error {
		if actor != personID {
			if err := r.mustOwn(ctx, tx, workspaceID, actor); err != nil {
				return err
			}
		}
		if err := r.keepsOwner(ctx, tx, workspaceID, personID, actor); err != nil {
			return err
		}
		done, err := tx.ExecContext(ctx, `DELETE FROM member WHERE workspace_id = $1 AND person_id = $2`, workspaceID, personID)
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); err != nil || n == 0 {
			return errors.Join(ErrPersonNotFound, err)
		}
		return r.audit(ctx, tx, actor, "member.remove", workspaceID, personID, r.moment())
	})
	if err != nil {
		return fmt.Errorf("remove member: %w", err)
	}
	return nil
}
