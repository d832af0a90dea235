package account

import (
	"context"
	"database/sql"
	"fmt"

	"chainexplorer/internal/control"
)

// DefaultLabel is what the key is called that the members of a workspace issue for
// themselves.
const DefaultLabel = "default"

// OperatorLabel is what a key of the operator's is called that has no other name.
// Members never replace it.
const OperatorLabel = "operator"

type actorKey struct{}

// By makes changes under the context those of a person, for the audit log.
func By(ctx context.Context, actor string) context.Context {
	return context.WithValue(ctx, actorKey{}, actor)
}

func actorOf(ctx context.Context) string {
	if actor, ok := ctx.Value(actorKey{}).(string); ok {
		return actor
	}
	return operator
}

// operatorScopes are those that only the operator gives out, or the kind of a workspace.
const operatorScopes = Prove | Trace | Partner

// SelfServed are the scopes of the keys that the members issue for themselves.
func (w *Workspace) SelfServed() Scopes { return w.Kind.selfServed() }

// RotateDefault issues the default live key of a workspace and revokes the one, or
// those, that it had: both or neither happen. It has the scopes of DefaultScopes, that
// of partners in a workspace of theirs, and the limits, origins and lifetime of the newest
// that it replaces. A key with another scope, which only the operator gives out, is not the
// default one, whatever its label: it stays. In a workspace of the operator's own it
// is ErrInternalWorkspace.
func (r *Repository) RotateDefault(ctx context.Context, workspaceID string) (issued Issued, old []Key, err error) {
	return r.rotateDefault(ctx, workspaceID, nil)
}

// RotateDefaultOf is RotateDefault for those who know which key it replaces, by its
// public id, "" for none: ErrKeyChanged when it is no longer that one. Whoever asks
// twice for the same has it done once.
func (r *Repository) RotateDefaultOf(ctx context.Context, workspaceID, publicID string) (issued Issued, old []Key, err error) {
	return r.rotateDefault(ctx, workspaceID, &publicID)
}

// DefaultKey is the newest key that RotateDefault would replace; false when there is
// none.
func (r *Repository) DefaultKey(ctx context.Context, workspaceID string) (k Key, there bool, err error) {
	err = r.db.View(ctx, func(tx *sql.Tx) error {
		w, err := workspaceByID(ctx, tx, workspaceID)
		if err != nil {
			return err
		}
		list, err := r.defaultKeys(ctx, tx, workspaceID, operatorScopes&^w.Kind.selfServed())
		if err == nil && len(list) > 0 {
			k, there = list[0].Key, true
		}
		return err
	})
	if err != nil {
		return Key{}, false, fmt.Errorf("default key: %w", err)
	}
	return k, there, nil
}

func (r *Repository) rotateDefault(ctx context.Context, workspaceID string, expected *string) (issued Issued, old []Key, err error) {
	err = r.db.Update(ctx, func(tx *sql.Tx) error {
		w, err := workspaceByID(ctx, tx, workspaceID)
		if err != nil {
			return err
		}
		if w.Kind == InternalKind {
			return ErrInternalWorkspace
		}
		scopes := w.Kind.selfServed()
		replaced, err := r.defaultKeys(ctx, tx, workspaceID, operatorScopes&^scopes)
		if err != nil {
			return err
		}
		newest := ""
		if len(replaced) > 0 {
			newest = replaced[0].PublicID
		}
		if expected != nil && *expected != newest {
			return ErrKeyChanged
		}
		n, action := NewKey{WorkspaceID: workspaceID, Label: DefaultLabel, Environment: Live, Scopes: scopes}, "key.create"
		for i, row := range replaced {
			k := row.Key
			if i == 0 {
				action, n.Limits, n.Origins = "key.rotate", row.limits, k.Origins
				if k.ExpiresAt != nil {
					n.Lifetime = k.ExpiresAt.Sub(k.CreatedAt)
				}
			}
			if err := r.revoke(ctx, tx, &k); err != nil {
				return err
			}
			old = append(old, k)
		}
		issued, err = r.issue(ctx, tx, n, action)
		return err
	})
	r.changes.Add(1) // also after an error: the change may have happened
	if err != nil {
		return Issued{}, nil, fmt.Errorf("rotate the default key: %w", err)
	}
	return issued, old, nil
}

// defaultKeys are those that are active and have none of some scopes, newest first.
// There are no more than a plan allows.
func (r *Repository) defaultKeys(ctx context.Context, tx *sql.Tx, workspaceID string, none Scopes) (list []keyRow, err error) {
	rows, err := tx.QueryContext(ctx, selectKey+`WHERE k.workspace_id = $1 AND k.label = $2 AND k.environment = $3 AND k.revoked_at IS NULL
		AND (k.expires_at IS NULL OR k.expires_at > $4) ORDER BY k.created_at DESC, k.id`,
		workspaceID, DefaultLabel, string(Live), control.Micros(r.moment()))
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // Err tells
	for rows.Next() {
		row, err := scanKey(rows)
		if err != nil {
			return nil, err
		}
		if row.Scopes&none == 0 {
			list = append(list, row)
		}
	}
	return list, rows.Err()
}

// RevokeOwn ends a key of a workspace for good, as RevokeKey does. One of another
// workspace is ErrKeyNotFound, as one that never was.
func (r *Repository) RevokeOwn(ctx context.Context, workspaceID, publicID string) (k Key, err error) {
	err = r.db.Update(ctx, func(tx *sql.Tx) error {
		row, err := keyByPublicID(ctx, tx, publicID)
		if err != nil {
			return err
		}
		if row.WorkspaceID != workspaceID {
			return ErrKeyNotFound
		}
		if k = row.Key; k.Status == Revoked {
			return nil
		}
		return r.revoke(ctx, tx, &k)
	})
	r.changes.Add(1)
	if err != nil {
		return Key{}, fmt.Errorf("revoke key: %w", err)
	}
	return k, nil
}
