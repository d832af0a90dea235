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

// join makes somebody a member of a workspace, and known, unless they are. Who joins a
// workspace that has no owner is its owner.
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
	done, err := tx.ExecContext(ctx, `INSERT INTO member (workspace_id, person_id, created_at, role)
		SELECT $1, $2, $3, CASE WHEN EXISTS (SELECT 1 FROM member WHERE workspace_id = $1 AND role = $4) THEN $5 ELSE $4 END ON CONFLICT DO NOTHING`,
		workspaceID, personID, control.Micros(now), string(Owner), string(Ordinary))
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
		if err := exists(ctx, tx, workspaceID); err != nil {
			return err
		}
		person, err := r.join(ctx, tx, name, workspaceID, operator)
		if err != nil {
			return err
		}
		link, err = r.addLink(ctx, tx, person, workspaceID, operator, LinkTime)
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
	var expires int64
	err = r.db.Reader().QueryRowContext(ctx, `SELECT p.name, w.name, l.expires_at FROM login_link l JOIN person p ON p.id = l.person_id
		JOIN workspace w ON w.id = l.workspace_id WHERE l.digest = $1`, r.digest.of(link)).Scan(&out.Person, &out.Workspace, &expires)
	if errors.Is(err, sql.ErrNoRows) {
		return Link{}, ErrInvalid
	} else if err != nil {
		return Link{}, fmt.Errorf("login link: %w", err)
	}
	if out.ExpiresAt = control.Moment(expires); !r.now().Before(out.ExpiresAt) {
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

// addLink makes a link for a member, in the transaction that allows it.
func (r *Repository) addLink(ctx context.Context, tx *sql.Tx, personID, workspaceID, actor string, lasts time.Duration) (link Link, err error) {
	err = tx.QueryRowContext(ctx, `SELECT p.name, w.name FROM member m JOIN person p ON p.id = m.person_id JOIN workspace w ON w.id = m.workspace_id
		WHERE m.workspace_id = $1 AND m.person_id = $2`, workspaceID, personID).Scan(&link.Person, &link.Workspace)
	if err != nil {
		return Link{}, err
	}
	if link.Token, err = newToken(r.rand, linkPrefix); err != nil {
		return Link{}, err
	}
	now := r.moment()
	link.ExpiresAt = now.Add(lasts)
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
		if !r.now().Before(control.Moment(expires)) {
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
		person, err := r.join(ctx, tx, name, workspaceID, operator)
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
