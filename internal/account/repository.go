package account

import (
	"context"
	"crypto/rand"
	"database/sql"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"time"
	"unicode"
	"unicode/utf8"

	"chainexplorer/internal/control"
)

// operator is who the audit log names unless By says who it is: whoever can
// reach the database file.
const operator = "operator"

const (
	maxName  = 64
	pageSize = 100
	// MaxPage is the most that a list returns.
	MaxPage = 1000
)

// Options of a Repository. The zero value has the system's clock and randomness.
type Options struct {
	Now  func() time.Time
	Rand io.Reader
}

// Repository keeps workspaces and keys in the control database.
type Repository struct {
	db     *control.DB
	digest *digester
	now    func() time.Time
	rand   io.Reader
	// changes counts what this process did to keys, so that an Authenticator
	// forgets what it knew.
	changes atomic.Uint64
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

func checkName(field, name string) error {
	switch {
	case name == "":
		return &InvalidError{field, "it must not be empty"}
	case !utf8.ValidString(name):
		return &InvalidError{field, "it is not valid UTF-8"}
	case utf8.RuneCountInString(name) > maxName:
		return &InvalidError{field, fmt.Sprintf("it may have %d characters at most", maxName)}
	case strings.TrimSpace(name) != name:
		return &InvalidError{field, "it must not begin or end with a space"}
	}
	for _, c := range name {
		if !unicode.IsPrint(c) {
			return &InvalidError{field, "it holds characters that do not print"}
		}
	}
	return nil
}

// CreateWorkspace makes a workspace. Its name is unique.
func (r *Repository) CreateWorkspace(ctx context.Context, name string, plan Plan) (Workspace, error) {
	if err := checkName("name", name); err != nil {
		return Workspace{}, err
	}
	if _, err := ParsePlan(string(plan)); err != nil {
		return Workspace{}, err
	}
	id, err := newID(r.rand, "ws_")
	if err != nil {
		return Workspace{}, err
	}
	w := Workspace{ID: id, Name: name, Plan: plan, CreatedAt: r.moment()}
	err = r.db.Update(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO workspace (id, name, plan, created_at) VALUES ($1, $2, $3, $4)`,
			w.ID, w.Name, string(w.Plan), control.Micros(w.CreatedAt))
		if control.IsDuplicate(err) {
			return ErrWorkspaceExists
		} else if err != nil {
			return err
		}
		return r.audit(ctx, tx, "workspace.create", w.ID, w.Name+", plan "+string(w.Plan), w.CreatedAt)
	})
	if err != nil {
		return Workspace{}, fmt.Errorf("create workspace %q: %w", name, err)
	}
	return w, nil
}

// WorkspaceByName finds a workspace, or ErrWorkspaceNotFound.
func (r *Repository) WorkspaceByName(ctx context.Context, name string) (Workspace, error) {
	list, err := r.workspaces(ctx, `WHERE name = $1`, name)
	if err != nil {
		return Workspace{}, fmt.Errorf("workspace %q: %w", name, err)
	}
	if len(list) == 0 {
		return Workspace{}, fmt.Errorf("workspace %q: %w", name, ErrWorkspaceNotFound)
	}
	return list[0], nil
}

// ListWorkspaces returns workspaces by name, and whether there are more than
// limit. A limit of 0 is 100.
func (r *Repository) ListWorkspaces(ctx context.Context, limit int) (list []Workspace, more bool, err error) {
	limit = clampPage(limit)
	list, err = r.workspaces(ctx, `ORDER BY name LIMIT $1`, limit+1)
	if err != nil {
		return nil, false, fmt.Errorf("list workspaces: %w", err)
	}
	if len(list) > limit {
		return list[:limit], true, nil
	}
	return list, false, nil
}

func clampPage(limit int) int {
	if limit <= 0 {
		return pageSize
	}
	return min(limit, MaxPage)
}

func (r *Repository) workspaces(ctx context.Context, tail string, args ...any) ([]Workspace, error) {
	rows, err := r.db.Reader().QueryContext(ctx, `SELECT id, name, plan, created_at FROM workspace `+tail, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // Err tells
	var list []Workspace
	for rows.Next() {
		var w Workspace
		var created int64
		if err := rows.Scan(&w.ID, &w.Name, &w.Plan, &created); err != nil {
			return nil, err
		}
		w.CreatedAt = control.Moment(created)
		list = append(list, w)
	}
	return list, rows.Err()
}

func (r *Repository) audit(ctx context.Context, tx *sql.Tx, action, subject, detail string, at time.Time) error {
	return r.db.Audit(ctx, tx, control.AuditEntry{At: at, Actor: actorOf(ctx), Action: action, Subject: subject, Detail: detail})
}
