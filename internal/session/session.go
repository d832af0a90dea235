// Package session knows who is signed in: people, the workspaces that they belong to,
// their sessions and the links by which they sign in.
//
// It guarantees that a token is shown once and kept only as a keyed digest; that a
// sign-in always makes a new token and ends the session that the browser had; that a
// link is good once; and that a session which was ended, left alone for too long or
// is too old is refused by every process on the database at once: each asks it every
// time. No token is ever logged or part of an error.
package session

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"chainexplorer/internal/account"
	"chainexplorer/internal/control"
)

// How long things last. The time of the last use is written once in a while, not with
// every request, so that a session may end that much before its time.
const (
	Idle     = 12 * time.Hour
	Lifetime = 7 * 24 * time.Hour
	LinkTime = 10 * time.Minute
	noted    = time.Minute
	// ahead is how far in front of this process's clock a moment may lie that another
	// process, or this one earlier, wrote down. What a clock wrote that was further ahead is
	// refused: once the clock is right it would last for that much longer than it may.
	ahead = 10 * time.Minute
)

const (
	// maxOpen bounds the open sessions of a person, and maxLinks the unused links: with
	// one more the oldest ends.
	maxOpen  = 20
	maxLinks = 20
	// kept is how long a session is remembered after it expired.
	kept = 30 * 24 * time.Hour
)

var (
	// ErrInvalid: no such session or link, or one that is over; which is not told.
	ErrInvalid = errors.New("not a valid session")
	// ErrPersonNotFound: nobody of that name.
	ErrPersonNotFound = errors.New("there is no such person")
)

// Who is signed in, where.
type Who struct {
	SessionID   string
	PersonID    string
	Person      string // name
	WorkspaceID string
	Workspace   string // name
	Plan        account.Plan
	Role        Role
	ExpiresAt   time.Time
	// Vouched says that the operator or a provider said who they are, and not only an
	// owner of the workspace.
	Vouched bool
}

// Principal is how routes know them: by their session and their own id.
func (w Who) Principal() account.Principal {
	return account.Principal{KeyID: w.SessionID, PublicID: w.PersonID, WorkspaceID: w.WorkspaceID, Plan: w.Plan}
}

// Opened is a new session, with the only copy of its token.
type Opened struct {
	Who
	Token string
}

// Link signs somebody in, once.
type Link struct {
	Token     string
	Person    string
	Workspace string
	ExpiresAt time.Time
}

// Options of a Repository. The zero value has the system's clock and randomness.
type Options struct {
	Now  func() time.Time
	Rand io.Reader
}

// Repository keeps people and sessions in the control database.
type Repository struct {
	db     *control.DB
	digest digester
	now    func() time.Time
	rand   io.Reader
}

// NewRepository works on an open database, which the caller closes.
func NewRepository(db *control.DB, o Options) *Repository {
	r := &Repository{db: db, digest: newDigester(db.KeyDigestSecret()), now: o.Now, rand: o.Rand}
	if r.now == nil {
		r.now = time.Now
	}
	if r.rand == nil {
		r.rand = rand.Reader
	}
	return r
}

// moment is now, as exact as the database keeps it.
func (r *Repository) moment() time.Time { return control.Moment(control.Micros(r.now())) }

const selectWho = `SELECT s.id, s.person_id, p.name, s.workspace_id, w.name, w.plan, m.role, s.seen_at, s.expires_at, s.vouched
	FROM session s JOIN person p ON p.id = s.person_id JOIN workspace w ON w.id = s.workspace_id
	JOIN member m ON m.workspace_id = s.workspace_id AND m.person_id = s.person_id `

// Authenticate tells whose session a token is of, or ErrInvalid. Any other error says
// that the database could not be asked.
func (r *Repository) Authenticate(ctx context.Context, token string) (Who, error) {
	if !wellFormed(token, sessionPrefix) {
		return Who{}, ErrInvalid
	}
	var who Who
	var seen, expires, vouched int64
	err := r.db.Reader().QueryRowContext(ctx, selectWho+`WHERE s.digest = $1 AND s.ended_at IS NULL`, r.digest.of(token)).
		Scan(&who.SessionID, &who.PersonID, &who.Person, &who.WorkspaceID, &who.Workspace, &who.Plan, &who.Role, &seen, &expires, &vouched)
	if errors.Is(err, sql.ErrNoRows) {
		return Who{}, ErrInvalid
	} else if err != nil {
		return Who{}, fmt.Errorf("session: %w", err)
	}
	now := r.moment()
	who.ExpiresAt, who.Vouched = control.Moment(expires), vouched != 0
	unused := now.Sub(control.Moment(seen))
	if !now.Before(who.ExpiresAt) || unused >= Idle || unused < -ahead {
		return Who{}, ErrInvalid
	}
	if unused >= noted {
		if err := r.note(ctx, who.SessionID, now); err != nil {
			return Who{}, fmt.Errorf("session: note its use: %w", err)
		}
	}
	return who, nil
}

func (r *Repository) note(ctx context.Context, id string, now time.Time) error {
	return r.db.Update(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE session SET seen_at = $1 WHERE id = $2 AND seen_at < $1`, control.Micros(now), id)
		return err
	})
}

// entry is how somebody comes in.
type entry struct {
	how     string // for the audit log
	vouched bool
	until   time.Time // when the session ends at last; zero: after Lifetime
}

// number is a truth as the database keeps it.
func number(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// open makes a session in the transaction that allows it.
func (r *Repository) open(ctx context.Context, tx *sql.Tx, workspaceID, personID string, e entry) (Opened, error) {
	now := r.moment()
	if e.until.IsZero() {
		e.until = now.Add(Lifetime)
	}
	token, err := newToken(r.rand, sessionPrefix)
	if err != nil {
		return Opened{}, err
	}
	id, err := newID(r.rand, "ses_")
	if err != nil {
		return Opened{}, err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO session (id, digest, workspace_id, person_id, created_at, seen_at, expires_at, vouched) VALUES ($1, $2, $3, $4, $5, $5, $6, $7)`,
		id, r.digest.of(token), workspaceID, personID, control.Micros(now), control.Micros(e.until), number(e.vouched))
	if err != nil {
		return Opened{}, err
	}
	for _, also := range []struct {
		statement string
		args      []any
	}{
		{`UPDATE member SET joined_at = $1 WHERE workspace_id = $2 AND person_id = $3 AND joined_at IS NULL`, []any{control.Micros(now), workspaceID, personID}},
		{`DELETE FROM session WHERE expires_at < $1`, []any{control.Micros(now.Add(-kept))}},
		{`UPDATE session SET ended_at = $1 WHERE ended_at IS NULL AND person_id = $2 AND id NOT IN
			(SELECT id FROM session WHERE person_id = $2 AND ended_at IS NULL ORDER BY created_at DESC, id LIMIT $3)`, []any{control.Micros(now), personID, maxOpen}},
	} {
		if _, err := tx.ExecContext(ctx, also.statement, also.args...); err != nil {
			return Opened{}, err
		}
	}
	out := Opened{Token: token}
	var seen, expires, vouched int64
	err = tx.QueryRowContext(ctx, selectWho+`WHERE s.id = $1`, id).
		Scan(&out.SessionID, &out.PersonID, &out.Person, &out.WorkspaceID, &out.Workspace, &out.Plan, &out.Role, &seen, &expires, &vouched)
	if err != nil {
		return Opened{}, err
	}
	out.ExpiresAt, out.Vouched = control.Moment(expires), vouched != 0
	return out, r.audit(ctx, tx, personID, "session.open", id, "workspace "+workspaceID+", by "+e.how, now)
}

// End ends the session of a token, if there is one.
func (r *Repository) End(ctx context.Context, token string) error {
	if !wellFormed(token, sessionPrefix) {
		return nil
	}
	err := r.db.Update(ctx, func(tx *sql.Tx) error { return r.end(ctx, tx, token) })
	if err != nil {
		return fmt.Errorf("end session: %w", err)
	}
	return nil
}

func (r *Repository) end(ctx context.Context, tx *sql.Tx, token string) error {
	var id, person string
	err := tx.QueryRowContext(ctx, `SELECT id, person_id FROM session WHERE digest = $1 AND ended_at IS NULL`, r.digest.of(token)).Scan(&id, &person)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	} else if err != nil {
		return err
	}
	now := r.moment()
	if _, err := tx.ExecContext(ctx, `UPDATE session SET ended_at = $1 WHERE id = $2`, control.Micros(now), id); err != nil {
		return err
	}
	return r.audit(ctx, tx, person, "session.end", id, "", now)
}

// EndAll ends every session of a person and takes back the links that were not used;
// actor is who wants it. It returns how many sessions were open.
func (r *Repository) EndAll(ctx context.Context, personID, actor string) (n int, err error) {
	err = r.db.Update(ctx, func(tx *sql.Tx) error {
		now := r.moment()
		done, err := tx.ExecContext(ctx, `UPDATE session SET ended_at = $1 WHERE person_id = $2 AND ended_at IS NULL`, control.Micros(now), personID)
		if err != nil {
			return err
		}
		ended, err := done.RowsAffected()
		if err != nil {
			return err
		}
		n = int(ended)
		if _, err := tx.ExecContext(ctx, `DELETE FROM login_link WHERE person_id = $1`, personID); err != nil {
			return err
		}
		return r.audit(ctx, tx, actor, "session.end_all", personID, fmt.Sprintf("%d sessions", n), now)
	})
	if err != nil {
		return 0, fmt.Errorf("end sessions: %w", err)
	}
	return n, nil
}

func (r *Repository) audit(ctx context.Context, tx *sql.Tx, actor, action, subject, detail string, at time.Time) error {
	return r.db.Audit(ctx, tx, control.AuditEntry{At: at, Actor: actor, Action: action, Subject: subject, Detail: strings.TrimSpace(detail)})
}
