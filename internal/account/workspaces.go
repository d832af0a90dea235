package account

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"chainexplorer/internal/control"
)

// CreateWorkspace makes an ordinary workspace. Its name is unique.
func (r *Repository) CreateWorkspace(ctx context.Context, name string, plan Plan) (Workspace, error) {
	return r.CreateWorkspaceOf(ctx, name, plan, Ordinary)
}

// CreateWorkspaceOf makes a workspace of a kind.
func (r *Repository) CreateWorkspaceOf(ctx context.Context, name string, plan Plan, kind Kind) (Workspace, error) {
	w := Workspace{Name: name, Plan: plan, Kind: kind, CreatedAt: r.moment()}
	if err := errors.Join(checkName("name", name), w.check()); err != nil {
		return Workspace{}, err
	}
	id, err := newID(r.rand, "ws_")
	if err != nil {
		return Workspace{}, err
	}
	w.ID = id
	err = r.db.Update(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO workspace (id, name, plan, kind, created_at) VALUES ($1, $2, $3, $4, $5)`,
			w.ID, w.Name, string(w.Plan), string(w.Kind), control.Micros(w.CreatedAt))
		if control.IsDuplicate(err) {
			return ErrWorkspaceExists
		} else if err != nil {
			return err
		}
		return r.audit(ctx, tx, "workspace.create", w.ID, w.Name+", "+w.terms(), w.CreatedAt)
	})
	if err != nil {
		return Workspace{}, fmt.Errorf("create workspace %q: %w", name, err)
	}
	return w, nil
}

func (w *Workspace) check() error {
	_, plan := ParsePlan(string(w.Plan))
	_, kind := ParseKind(string(w.Kind))
	return errors.Join(plan, kind)
}

func (w *Workspace) terms() string { return "plan " + string(w.Plan) + ", kind " + string(w.Kind) }

// ChangeWorkspace gives a workspace another plan, another kind, or both; what is "" is
// left. Its keys have what follows from that within a second, here at once; keys that
// have a scope keep it.
func (r *Repository) ChangeWorkspace(ctx context.Context, name string, plan Plan, kind Kind) (w Workspace, err error) {
	err = r.db.Update(ctx, func(tx *sql.Tx) error {
		if w, err = scanWorkspace(tx.QueryRowContext(ctx, selectWorkspace+`WHERE name = $1`, name)); err != nil {
			return err
		}
		was, before := w.terms(), w.Kind
		if plan != "" {
			w.Plan = plan
		}
		if kind != "" {
			w.Kind = kind
		}
		if err := w.check(); err != nil {
			return err
		}
		if w.terms() == was {
			return nil
		}
		if _, err := tx.ExecContext(ctx, `UPDATE workspace SET plan = $1, kind = $2 WHERE id = $3`, string(w.Plan), string(w.Kind), w.ID); err != nil {
			return err
		}
		if err := r.audit(ctx, tx, "workspace.change", w.ID, w.terms()+", before "+was, r.moment()); err != nil || before != PartnerKind || w.Kind == PartnerKind {
			return err
		}
		return r.takePartner(ctx, tx, w.ID)
	})
	r.changes.Add(1) // also after an error: the change may have happened
	if err != nil {
		return Workspace{}, fmt.Errorf("change workspace %q: %w", name, err)
	}
	return w, nil
}

// takePartner takes the scope partner from the keys of a workspace that is no partner any
// more. Who is to keep it is given a new key by the operator.
func (r *Repository) takePartner(ctx context.Context, tx *sql.Tx, workspaceID string) error {
	rows, err := tx.QueryContext(ctx, selectKey+`WHERE k.workspace_id = $1 AND k.revoked_at IS NULL`, workspaceID)
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // Err tells
	var list []keyRow
	for rows.Next() {
		k, err := scanKey(rows)
		if err != nil {
			return err
		}
		if k.Scopes.Has(Partner) {
			list = append(list, k)
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	for _, k := range list {
		left := k.Scopes &^ Partner // verify at least
		if _, err := tx.ExecContext(ctx, `UPDATE api_key SET scopes = $1 WHERE id = $2`, left.String(), k.ID); err != nil {
			return err
		}
		if err := r.audit(ctx, tx, "key.scopes", k.PublicID, "without partner: the workspace is no partner any more", r.moment()); err != nil {
			return err
		}
	}
	return nil
}

const selectWorkspace = `SELECT id, name, plan, kind, created_at FROM workspace `

func scanWorkspace(row interface{ Scan(...any) error }) (w Workspace, err error) {
	var created int64
	err = row.Scan(&w.ID, &w.Name, &w.Plan, &w.Kind, &created)
	if errors.Is(err, sql.ErrNoRows) {
		return Workspace{}, ErrWorkspaceNotFound
	}
	w.CreatedAt = control.Moment(created)
	return w, err
}

func workspaceByID(ctx context.Context, tx *sql.Tx, id string) (Workspace, error) {
	return scanWorkspace(tx.QueryRowContext(ctx, selectWorkspace+`WHERE id = $1`, id))
}

// WorkspaceByID finds a workspace, or ErrWorkspaceNotFound.
func (r *Repository) WorkspaceByID(ctx context.Context, id string) (Workspace, error) {
	w, err := scanWorkspace(r.db.Reader().QueryRowContext(ctx, selectWorkspace+`WHERE id = $1`, id))
	if err != nil {
		return Workspace{}, fmt.Errorf("workspace: %w", err)
	}
	return w, nil
}

// WorkspaceByName finds a workspace, or ErrWorkspaceNotFound.
func (r *Repository) WorkspaceByName(ctx context.Context, name string) (Workspace, error) {
	w, err := scanWorkspace(r.db.Reader().QueryRowContext(ctx, selectWorkspace+`WHERE name = $1`, name))
	if err != nil {
		return Workspace{}, fmt.Errorf("workspace %q: %w", name, err)
	}
	return w, nil
}

// ListWorkspaces returns workspaces by name, and whether there are more than
// limit. A limit of 0 is 100.
func (r *Repository) ListWorkspaces(ctx context.Context, limit int) (list []Workspace, more bool, err error) {
	limit = clampPage(limit)
	rows, err := r.db.Reader().QueryContext(ctx, selectWorkspace+`ORDER BY name LIMIT $1`, limit+1)
	if err != nil {
		return nil, false, fmt.Errorf("list workspaces: %w", err)
	}
	defer rows.Close() //nolint:errcheck // Err tells
	for rows.Next() {
		w, err := scanWorkspace(rows)
		if err != nil {
			return nil, false, fmt.Errorf("list workspaces: %w", err)
		}
		list = append(list, w)
	}
	if err := rows.Err(); err != nil {
		return nil, false, fmt.Errorf("list workspaces: %w", err)
	}
	if len(list) > limit {
		return list[:limit], true, nil
	}
	return list, false, nil
}
