package session

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"chainexplorer/internal/account"
	"chainexplorer/internal/control"
)

// ErrNotAdmitted: the provider knows them, and nobody here does.
var ErrNotAdmitted = errors.New("nobody let this person in")

// Identity is who somebody is to a provider that the operator trusts.
type Identity struct {
	Issuer, Subject string
	// Email is one that the provider says is theirs, "" when it does not.
	Email string
}

// Admit signs somebody in whom a provider vouches for. The first time they are known by
// their e-mail address: as the person of that name, no guest, or, when its domain is one of
// domains, as a new member of the workspace that it names. From then on they are known
// by the provider's id for them alone: whoever gets their address later is somebody
// else. Who was taken out of all workspaces stays out. The session is of the workspace
// where they were last. had is as in Redeem.
func (r *Repository) Admit(ctx context.Context, id Identity, domains map[string]string, had string) (out Opened, err error) {
	// An id is 255 characters of ASCII at most, and PostgreSQL would fail at one with a zero in it.
	if id.Issuer == "" || id.Subject == "" || len(id.Subject) > 255 || strings.ContainsFunc(id.Subject, unicode.IsControl) {
		return Opened{}, fmt.Errorf("sign in: %w", ErrNotAdmitted)
	}
	err = r.db.Update(ctx, func(tx *sql.Tx) error {
		person, err := r.identified(ctx, tx, id, domains)
		if err != nil {
			return err
		}
		var workspace string
		err = tx.QueryRowContext(ctx, `SELECT m.workspace_id FROM member m WHERE m.person_id = $1 ORDER BY COALESCE(
			(SELECT MAX(s.created_at) FROM session s WHERE s.person_id = m.person_id AND s.workspace_id = m.workspace_id), 0) DESC, m.created_at, m.workspace_id LIMIT 1`, person).Scan(&workspace)
		if errors.Is(err, sql.ErrNoRows) {
			return ErrNotAdmitted
		} else if err != nil {
			return err
		}
		if wellFormed(had, sessionPrefix) {
			if err := r.end(ctx, tx, had); err != nil {
				return err
			}
		}
		out, err = r.open(ctx, tx, workspace, person, entry{how: "provider", vouched: true})
		return err
	})
	if err != nil {
		return Opened{}, fmt.Errorf("sign in: %w", err)
	}
	return out, nil
}

// identified finds the person, or makes them known.
func (r *Repository) identified(ctx context.Context, tx *sql.Tx, id Identity, domains map[string]string) (person string, err error) {
	err = tx.QueryRowContext(ctx, `SELECT person_id FROM identity WHERE issuer = $1 AND subject = $2`, id.Issuer, id.Subject).Scan(&person)
	if err == nil || !errors.Is(err, sql.ErrNoRows) {
		return person, err
	}
	email := lower(id.Email)
	at := strings.LastIndexByte(email, '@')
	if at < 1 || checkName(email) != nil {
		return "", ErrNotAdmitted
	}
	person, err = addressed(ctx, tx, email)
	if errors.Is(err, sql.ErrNoRows) {
		person, err = r.newcomer(ctx, tx, email, domains[email[at+1:]])
	}
	if err != nil {
		return "", err
	}
	now := r.moment()
	done, err := tx.ExecContext(ctx, `INSERT INTO identity (issuer, subject, person_id, created_at) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`, id.Issuer, id.Subject, person, control.Micros(now))
	if err != nil {
		return "", err
	}
	if n, err := done.RowsAffected(); err != nil || n == 0 { // the address was somebody else's before
		return "", errors.Join(ErrNotAdmitted, err)
	}
	return person, r.audit(ctx, tx, person, "user.identify", person, "by "+id.Issuer, now)
}

// newcomer makes a member of somebody whose domain lets them in.
func (r *Repository) newcomer(ctx context.Context, tx *sql.Tx, email, workspace string) (person string, err error) {
	if workspace == "" {
		return "", ErrNotAdmitted
	}
	var id string
	err = tx.QueryRowContext(ctx, `SELECT id FROM workspace WHERE name = $1`, workspace).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("workspace %q, which a domain leads to: %w", workspace, account.ErrWorkspaceNotFound)
	} else if err != nil {
		return "", err
	}
	person, err = r.join(ctx, tx, email, everywhere, id, "provider")
	var refused *account.InvalidError
	if errors.As(err, &refused) { // a guest has the address in other letters: who of them is meant is for the operator to say
		return "", ErrNotAdmitted
	}
	return person, err
}
