package session

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"chainexplorer/internal/account"
	"chainexplorer/internal/control"
)

const maxName = 128

// operator is who the audit log names for what was done on the database itself.
const operator = "operator"

// Member is a person in a workspace.
type Member struct {
	PersonID string    `json:"id"`
	Name     string    `json:"name"`
	Since    time.Time `json:"since"`
}

func checkName(name string) error {
	bad := func(why string) error { return &account.InvalidError{Field: "user", Reason: why} }
	switch {
	case name == "" || strings.TrimSpace(name) != name:
		return bad("it must not be empty, nor begin or end with a space")
	case !utf8.ValidString(name) || utf8.RuneCountInString(name) > maxName:
		return bad(fmt.Sprintf("it may have %d characters at most, in UTF-8", maxName))
	case strings.ContainsFunc(name, func(c rune) bool { return !unicode.IsPrint(c) }):
		return bad("it holds characters that do not print")
	}
	return nil
}

// join makes somebody a member of a workspace, and known, unless they are.
func (r *Repository) join(ctx context.Context, tx *sql.Tx, name, workspaceID, actor string) (personID string, err error) {
	now := r.moment()
	err = tx.QueryRowContext(ctx, `SELECT id FROM person WHERE name = $1`, name).Scan(&personID)
	if errors.Is(err, sql.ErrNoRows) {
		if personID, err = newID(r.rand, "usr_"); err != nil {
			return "", err
		}
		if _, err = tx.ExecContext(ctx, `INSERT INTO person (id, name, created_at) VALUES ($1, $2, $3)`, personID, name, control.Micros(now)); err == nil {
			err = r.audit(ctx, tx, actor, "user.create", personID, name, now)
		}
	}
	if err != nil {
		return "", err
	}
	done, err := tx.ExecContext(ctx, `INSERT INTO member (workspace_id, person_id, created_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
		workspaceID, personID, control.Micros(now))
	if err != nil {
		return "", err
	}
	if n, err := done.RowsAffected(); err != nil || n == 0 {
		return personID, err
	}
	return personID, r.audit(ctx, tx, actor, "member.add", workspaceID, personID, now)
}

// NewLink makes a link for somebody to sign in to a workspace, of which they become a
// member unless they are. It is the operator's: whoever has the link is let in, once.
func (r *Repository) NewLink(ctx context.Context, name, workspaceID string) (link Link, err error) {
	if err := checkName(name); err != nil {
		return Link{}, err
	}
	err = r.db.Update(ctx, func(tx *sql.Tx) error {
		err := tx.QueryRowContext(ctx, `SELECT name FROM workspace WHERE id = $1`, workspaceID).Scan(&link.Workspace)
		if errors.Is(err, sql.ErrNoRows) {
			return account.ErrWorkspaceNotFound
		} else if err != nil {
			return err
		}
		person, err := r.join(ctx, tx, name, workspaceID, operator)
		if err != nil {
			return err
		}
		if link.Token, err = newToken(r.rand, linkPrefix); err != nil {
			return err
		}
		now := r.moment()
		link.Person, link.ExpiresAt = name, now.Add(LinkTime)
		_, err = tx.ExecContext(ctx, `INSERT INTO login_link (digest, workspace_id, person_id, expires_at) VALUES ($1, $2, $3, $4)`,
			r.digest.of(link.Token), workspaceID, person, control.Micros(link.ExpiresAt))
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `DELETE FROM login_link WHERE expires_at <= $1 OR person_id = $2 AND digest NOT IN
			(SELECT digest FROM login_link WHERE person_id = $2 ORDER BY expires_at DESC, digest LIMIT $3)`, control.Micros(now), person, maxLinks)
		if err != nil {
			return err
		}
		return r.audit(ctx, tx, operator, "login.link", person, "workspace "+workspaceID, now)
	})
	if err != nil {
		return Link{}, fmt.Errorf("login link: %w", err)
	}
	return link, nil
}

// Redeem signs in by a link, which is used up. The session that the browser had, if
// any, ends: what somebody else may know of it is worth nothing then.
func (r *Repository) Redeem(ctx context.Context, link, had string) (out Opened, err error) {
	if !wellFormed(link, linkPrefix) {
		return Opened{}, ErrInvalid
	}
	err = r.db.Update(ctx, func(tx *sql.Tx) error {
		var workspace, person string
		var expires int64
		err := tx.QueryRowContext(ctx, `DELETE FROM login_link WHERE digest = $1 RETURNING workspace_id, person_id, expires_at`, r.digest.of(link)).
			Scan(&workspace, &person, &expires)
		if errors.Is(err, sql.ErrNoRows) {
			return ErrInvalid
		} else if err != nil {
			return err
		}
		if !r.now().Before(control.Moment(expires)) {
			return ErrInvalid
		}
		if wellFormed(had, sessionPrefix) {
			if err := r.end(ctx, tx, had); err != nil {
				return err
			}
		}
		out, err = r.open(ctx, tx, workspace, person, "link")
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
		var there int
		if err := tx.QueryRowContext(ctx, `SELECT COUNT(*) FROM workspace WHERE id = $1`, workspaceID).Scan(&there); err != nil {
			return err
		} else if there == 0 {
			return account.ErrWorkspaceNotFound
		}
		person, err := r.join(ctx, tx, name, workspaceID, operator)
		if err == nil {
			out, err = r.open(ctx, tx, workspaceID, person, operator)
		}
		return err
	})
	if err != nil {
		return Opened{}, fmt.Errorf("open session: %w", err)
	}
	return out, nil
}

// Members are those of a workspace by name, and whether there are more than limit.
func (r *Repository) Members(ctx context.Context, workspaceID string, limit int) (list []Member, more bool, err error) {
	rows, err := r.db.Reader().QueryContext(ctx, `SELECT p.id, p.name, m.created_at FROM member m JOIN person p ON p.id = m.person_id
		WHERE m.workspace_id = $1 ORDER BY p.name LIMIT $2`, workspaceID, limit+1)
	if err != nil {
		return nil, false, fmt.Errorf("members: %w", err)
	}
	defer rows.Close() //nolint:errcheck // Err tells
	for rows.Next() {
		var m Member
		var since int64
		if err := rows.Scan(&m.PersonID, &m.Name, &since); err != nil {
			return nil, false, fmt.Errorf("members: %w", err)
		}
		m.Since = control.Moment(since)
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

// PersonByName finds somebody's id, or ErrPersonNotFound.
func (r *Repository) PersonByName(ctx context.Context, name string) (id string, err error) {
	err = r.db.Reader().QueryRowContext(ctx, `SELECT id FROM person WHERE name = $1`, name).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		err = ErrPersonNotFound
	}
	if err != nil {
		return "", fmt.Errorf("user %q: %w", name, err)
	}
	return id, nil
}

// Leave takes somebody out of a workspace: their sessions and links there are gone
// with the membership.
func (r *Repository) Leave(ctx context.Context, personID, workspaceID, actor string) error {
	err := r.db.Update(ctx, func(tx *sql.Tx) error {
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
