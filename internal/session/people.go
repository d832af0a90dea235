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

// operator is who the audit log names for what was done on the database itself.
const operator = "operator"

// everywhere is the home of people whom the operator or a provider brought: their names
// stand for themselves in all workspaces. The home of a guest is the workspace whose owner
// invited them, and their name means nothing elsewhere.
const everywhere = ""

// join makes somebody a member of a workspace, and known, unless they are. Who joins a
// workspace that has no owner is its owner.
func (r *Repository) join(ctx context.Context, tx *sql.Tx, name, home, workspaceID, actor string) (personID string, err error) {
	now := r.moment()
	err = tx.QueryRowContext(ctx, `SELECT id FROM person WHERE name = $1 AND home = $2`, name, home).Scan(&personID)
	unknown := errors.Is(err, sql.ErrNoRows)
	if unknown {
		if personID, err = newID(r.rand, "usr_"); err != nil {
			return "", err
		}
		if _, err = tx.ExecContext(ctx, `INSERT INTO person (id, name, home, created_at) VALUES ($1, $2, $3, $4)`, personID, name, home, control.Micros(now)); err == nil {
			err = r.audit(ctx, tx, actor, "user.create", personID, name, now)
		}
	}
	if err != nil {
		return "", err
	}
	done, err := tx.ExecContext(ctx, `INSERT INTO member (workspace_id, person_id, created_at, role)
		SELECT $1, $2, $3, CASE WHEN EXISTS (SELECT 1 FROM member WHERE workspace_id = $1 AND role = $4) THEN $5 ELSE $4 END ON CONFLICT DO NOTHING`,
		workspaceID, personID, control.Micros(now), string(Owner), string(Ordinary))
	if err != nil {
		return "", err
	}
	if n, err := done.RowsAffected(); err != nil || n == 0 {
		return personID, err
	}
	if err := unlikeOthers(ctx, tx, name, workspaceID, unknown && home == everywhere); err != nil {
		return "", err
	}
	return personID, r.audit(ctx, tx, actor, "member.add", workspaceID, personID, now)
}

// bring makes somebody a member for the operator: a guest of the workspace who goes by
// that name, when nobody else there does, or else whoever has the name everywhere.
func (r *Repository) bring(ctx context.Context, tx *sql.Tx, name, workspaceID string) (personID string, err error) {
	personID, home, err := memberNamed(ctx, tx, name, workspaceID)
	if errors.Is(err, sql.ErrNoRows) || err == nil && home == everywhere {
		return r.join(ctx, tx, name, everywhere, workspaceID, operator)
	}
	return personID, err
}

// querier is a transaction or a connection.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// memberNamed finds a member by name or id, a guest last.
func memberNamed(ctx context.Context, q querier, name, workspaceID string) (personID, home string, err error) {
	err = q.QueryRowContext(ctx, `SELECT p.id, p.home FROM member m JOIN person p ON p.id = m.person_id
		WHERE m.workspace_id = $1 AND (p.name = $2 OR p.id = $2) ORDER BY p.home LIMIT 1`, workspaceID, name).Scan(&personID, &home)
	return personID, home, err
}

// NewLink makes a link for somebody to sign in to a workspace, of which they become a
// member unless they are. It is the operator's: whoever has the link is let in, once.
func (r *Repository) NewLink(ctx context.Context, name, workspaceID string) (link Link, err error) {
	if err := checkName(name); err != nil {
		return Link{}, err
	}
	err = r.db.Update(ctx, func(tx *sql.Tx) error {
		if err := exists(ctx, tx, workspaceID); err != nil {
			return err
		}
		person, err := r.bring(ctx, tx, name, workspaceID)
		if err != nil {
			return err
		}
		link, err = r.addLink(ctx, tx, person, workspaceID, operator)
		return err
	})
	if err != nil {
		return Link{}, fmt.Errorf("login link: %w", err)
	}
	return link, nil
}

// Look tells whom a link signs in, and where, without using it up; ErrInvalid when it is
// over or never was.
func (r *Repository) Look(ctx context.Context, link string) (out Link, err error) {
	if !wellFormed(link, linkPrefix) {
		return Link{}, ErrInvalid
	}
	var expires, vouched int64
	err = r.db.Reader().QueryRowContext(ctx, `SELECT p.name, w.name, l.expires_at, l.vouched FROM login_link l JOIN person p ON p.id = l.person_id
		JOIN workspace w ON w.id = l.workspace_id WHERE l.digest = $1`, r.digest.of(link)).Scan(&out.Person, &out.Workspace, &expires, &vouched)
	if errors.Is(err, sql.ErrNoRows) {
		return Link{}, ErrInvalid
	} else if err != nil {
		return Link{}, fmt.Errorf("login link: %w", err)
	}
	if out.ExpiresAt = control.Moment(expires); !good(r.now(), out.ExpiresAt, vouched != 0) {
		return Link{}, ErrInvalid
	}
	out.Token = link
	return out, nil
}

// exists says whether there is a workspace.
func exists(ctx context.Context, tx *sql.Tx, workspaceID string) error {
	var n int
	err := tx.QueryRowContext(ctx, `SELECT COUNT(*) FROM workspace WHERE id = $1`, workspaceID).Scan(&n)
	if err == nil && n == 0 {
		err = account.ErrWorkspaceNotFound
	}
	return err
}

// linkLasts is how long a link is good: the operator's, or an owner's invitation.
func linkLasts(vouched bool) time.Duration {
	if vouched {
		return LinkTime
	}
	return InviteTime
}

// good says whether a link that ends at a moment can be used now.
func good(now, ends time.Time, vouched bool) bool {
	return now.Before(ends) && ends.Sub(now) <= linkLasts(vouched)+ahead
}

// addLink makes a link for a member, in the transaction that allows it.
func (r *Repository) addLink(ctx context.Context, tx *sql.Tx, personID, workspaceID, actor string) (link Link, err error) {
	err = tx.QueryRowContext(ctx, `SELECT p.name, w.name FROM member m JOIN person p ON p.id = m.person_id JOIN workspace w ON w.id = m.workspace_id
		WHERE m.workspace_id = $1 AND m.person_id = $2`, workspaceID, personID).Scan(&link.Person, &link.Workspace)
	if err != nil {
		return Link{}, err
	}
	if link.Token, err = newToken(r.rand, linkPrefix); err != nil {
		return Link{}, err
	}
	now := r.moment()
	link.ExpiresAt = now.Add(linkLasts(actor == operator))
	_, err = tx.ExecContext(ctx, `INSERT INTO login_link (digest, workspace_id, person_id, expires_at, vouched) VALUES ($1, $2, $3, $4, $5)`,
		r.digest.of(link.Token), workspaceID, personID, control.Micros(link.ExpiresAt), number(actor == operator))
	if err != nil {
		return Link{}, err
	}
	_, err = tx.ExecContext(ctx, `DELETE FROM login_link WHERE expires_at <= $1 OR person_id = $2 AND digest NOT IN
		(SELECT digest FROM login_link WHERE person_id = $2 ORDER BY expires_at DESC, digest LIMIT $3)`, control.Micros(now), personID, maxLinks)
	if err != nil {
		return Link{}, err
	}
	return link, r.audit(ctx, tx, actor, "login.link", personID, "workspace "+workspaceID, now)
}

// Redeem signs in by a link, which is used up. The session that the browser had, if
// any, ends: what somebody else may know of it is worth nothing then.
func (r *Repository) Redeem(ctx context.Context, link, had string) (out Opened, err error) {
	if !wellFormed(link, linkPrefix) {
		return Opened{}, ErrInvalid
	}
	err = r.db.Update(ctx, func(tx *sql.Tx) error {
		var workspace, person string
		var expires, vouched int64
		err := tx.QueryRowContext(ctx, `DELETE FROM login_link WHERE digest = $1 RETURNING workspace_id, person_id, expires_at, vouched`, r.digest.of(link)).
			Scan(&workspace, &person, &expires, &vouched)
		if errors.Is(err, sql.ErrNoRows) {
			return ErrInvalid
		} else if err != nil {
			return err
		}
		if !good(r.now(), control.Moment(expires), vouched != 0) {
			return ErrInvalid
		}
		if wellFormed(had, sessionPrefix) {
			if err := r.end(ctx, tx, had); err != nil {
				return err
			}
		}
		out, err = r.open(ctx, tx, workspace, person, entry{how: "link", vouched: vouched != 0})
		return err
	})
	if err != nil {
		return Opened{}, fmt.Errorf("sign in: %w", err)
	}
	return out, nil
}

// Open signs somebody in without a browser: it is the operator's. They become a member
// of the workspace unless they are.
func (r *Repository) Open(ctx context.Context, name, workspaceID string) (out Opened, err error) {
	if err := checkName(name); err != nil {
		return Opened{}, err
	}
	err = r.db.Update(ctx, func(tx *sql.Tx) error {
		if err := exists(ctx, tx, workspaceID); err != nil {
			return err
		}
		person, err := r.bring(ctx, tx, name, workspaceID)
		if err == nil {
			out, err = r.open(ctx, tx, workspaceID, person, entry{how: operator, vouched: true})
		}
		return err
	})
	if err != nil {
		return Opened{}, fmt.Errorf("open session: %w", err)
	}
	return out, nil
}

// maxNamed bounds how many people of one name are looked at.
const maxNamed = 1000

// PeopleByName finds the ids of all who have a name or id, guests last, or
// ErrPersonNotFound.
func (r *Repository) PeopleByName(ctx context.Context, name string) (ids []string, err error) {
	rows, err := r.db.Reader().QueryContext(ctx, `SELECT id FROM person WHERE name = $1 OR id = $1 ORDER BY home, id LIMIT $2`, name, maxNamed)
	if err != nil {
		return nil, fmt.Errorf("user %q: %w", name, err)
	}
	defer rows.Close() //nolint:errcheck // Err tells
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, fmt.Errorf("user %q: %w", name, err)
		}
		ids = append(ids, id)
	}
	if err = rows.Err(); err == nil && len(ids) == 0 {
		err = ErrPersonNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("user %q: %w", name, err)
	}
	return ids, nil
}

// MemberByName finds the id of a member of a workspace by name or id, or
// ErrPersonNotFound. Of two with one name it is the one who is no guest.
func (r *Repository) MemberByName(ctx context.Context, name, workspaceID string) (id string, err error) {
	id, _, err = memberNamed(ctx, r.db.Reader(), name, workspaceID)
	if errors.Is(err, sql.ErrNoRows) {
		err = ErrPersonNotFound
	}
	if err != nil {
		return "", fmt.Errorf("user %q: %w", name, err)
	}
	return id, nil
}
