package account

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"chainexplorer/internal/control"
)

// NewKey is what to issue.
type NewKey struct {
	WorkspaceID string
	Label       string        // "operator" when empty
	Environment Environment   // Live when empty
	Scopes      Scopes        // DefaultScopes when zero; Verify is always among them
	Lifetime    time.Duration // the key expires after it; never when zero
	Limits      Limits        // the plan's own where zero
	Origins     Origins       // from which pages it may be used; from all when empty
}

func (n *NewKey) check() error {
	if n.Label == "" {
		n.Label = OperatorLabel
	}
	if n.Environment == "" {
		n.Environment = Live
	}
	if n.Scopes == 0 {
		n.Scopes = DefaultScopes
	}
	n.Scopes |= Verify
	if _, err := ParseOrigins(n.Origins.List()); err != nil {
		return err
	}
	switch {
	case n.Environment != Live && n.Environment != Test:
		return &InvalidError{"environment", "it must be live or test"}
	case n.Scopes>>len(scopeNames) != 0:
		return &InvalidError{"scope", "there is no such scope"}
	case n.Lifetime < 0:
		return &InvalidError{"lifetime", "it must be longer than zero"}
	}
	return errors.Join(checkName("label", n.Label), n.Limits.check())
}

// CreateKey issues a key. When it returns, the key is on disk; its plain text is
// nowhere else than in the result.
func (r *Repository) CreateKey(ctx context.Context, n NewKey) (Issued, error) {
	if err := n.check(); err != nil {
		return Issued{}, err
	}
	var issued Issued
	err := r.db.Update(ctx, func(tx *sql.Tx) (err error) {
		issued, err = r.issue(ctx, tx, n, "key.create")
		return err
	})
	if err != nil {
		return Issued{}, fmt.Errorf("create key: %w", err)
	}
	return issued, nil
}

func (r *Repository) issue(ctx context.Context, tx *sql.Tx, n NewKey, action string) (Issued, error) {
	w, err := workspaceByID(ctx, tx, n.WorkspaceID)
	if err != nil {
		return Issued{}, err
	}
	now := r.moment()
	var active int
	err = tx.QueryRowContext(ctx, `SELECT COUNT(*) FROM api_key
		WHERE workspace_id = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $2)`,
		n.WorkspaceID, control.Micros(now)).Scan(&active)
	if err != nil {
		return Issued{}, err
	}
	if allowed := w.Plan.Policy().MaxActiveKeys; active >= allowed {
		return Issued{}, fmt.Errorf("%w: %d on plan %s", ErrTooManyKeys, allowed, w.Plan)
	}
	k := Key{
		WorkspaceID: n.WorkspaceID, Workspace: w.Name, Label: n.Label, Environment: n.Environment, Scopes: n.Scopes,
		Status: Active, Policy: w.Plan.Policy().with(n.Limits), Origins: n.Origins, CreatedAt: now,
	}
	if n.Lifetime > 0 {
		end := control.Moment(control.Micros(now.Add(n.Lifetime)))
		k.ExpiresAt = &end
	}
	plaintext, err := newKey(r.rand, k.Environment)
	if err != nil {
		return Issued{}, err
	}
	if k.ID, err = newID(r.rand, "ak_"); err != nil {
		return Issued{}, err
	}
	if k.PublicID, err = newID(r.rand, "key_"); err != nil {
		return Issued{}, err
	}
	k.SecretHint = plaintext[keySize-hintSize:]
	k.MaskedKey = masked(k.Environment, k.SecretHint)
	d := r.digest.digest(plaintext)
	_, err = tx.ExecContext(ctx, `INSERT INTO api_key (id, public_id, workspace_id, digest, label, environment, scopes, secret_hint,
			light_per_minute, heavy_per_minute, batch_per_minute, burst, created_at, expires_at, origins)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`,
		k.ID, k.PublicID, k.WorkspaceID, d.text(), k.Label, string(k.Environment), k.Scopes.String(), k.SecretHint,
		ownLimit(n.Limits.LightPerMinute), ownLimit(n.Limits.HeavyPerMinute), ownLimit(n.Limits.BatchPerMinute), ownLimit(n.Limits.Burst),
		control.Micros(k.CreatedAt), control.OptionalMicros(k.ExpiresAt), string(k.Origins))
	if err != nil {
		return Issued{}, err
	}
	detail := fmt.Sprintf("workspace %s, %s, scopes %s", k.WorkspaceID, k.Environment, k.Scopes)
	if k.Origins != "" {
		detail += ", origins " + string(k.Origins)
	}
	if err := r.audit(ctx, tx, action, k.PublicID, detail, now); err != nil {
		return Issued{}, err
	}
	return Issued{Key: k, Plaintext: plaintext}, nil
}

func ownLimit(n int) sql.NullInt64 { return sql.NullInt64{Int64: int64(n), Valid: n != 0} }

// RevokeKey ends a key for good. Revoking it again changes nothing and returns the
// key as it is; an id that was never given out is ErrKeyNotFound.
func (r *Repository) RevokeKey(ctx context.Context, publicID string) (k Key, already bool, err error) {
	err = r.db.Update(ctx, func(tx *sql.Tx) error {
		row, err := keyByPublicID(ctx, tx, publicID)
		if err != nil {
			return err
		}
		k, already = row.Key, row.Status == Revoked
		if already {
			return nil
		}
		return r.revoke(ctx, tx, &k)
	})
	r.changes.Add(1) // also after an error: the change may have happened
	if err != nil {
		return Key{}, false, fmt.Errorf("revoke key: %w", err)
	}
	return k, already, nil
}

func (r *Repository) revoke(ctx context.Context, tx *sql.Tx, k *Key) error {
	now := r.moment()
	if _, err := tx.ExecContext(ctx, `UPDATE api_key SET revoked_at = $1 WHERE id = $2`, control.Micros(now), k.ID); err != nil {
		return err
	}
	k.Status, k.RevokedAt = Revoked, &now
	return r.audit(ctx, tx, "key.revoke", k.PublicID, "", now)
}

// Rotate replaces a key by a new one with the same label, environment, scopes,
// origins and limits, and revokes the old one: both or neither happen. A key that was issued
// for a time gets the same time again. A revoked key is ErrKeyRevoked.
func (r *Repository) Rotate(ctx context.Context, publicID string, also ...func(ctx context.Context, tx *sql.Tx, old, fresh string) error) (issued Issued, old Key, err error) {
	err = r.db.Update(ctx, func(tx *sql.Tx) error {
		row, err := keyByPublicID(ctx, tx, publicID)
		if err != nil {
			return err
		}
		if row.Status == Revoked {
			return ErrKeyRevoked
		}
		old = row.Key
		if err := r.revoke(ctx, tx, &old); err != nil {
			return err
		}
		n := NewKey{WorkspaceID: old.WorkspaceID, Label: old.Label, Environment: old.Environment, Scopes: old.Scopes, Limits: row.limits, Origins: old.Origins}
		if old.ExpiresAt != nil {
			n.Lifetime = old.ExpiresAt.Sub(old.CreatedAt)
		}
		if issued, err = r.issue(ctx, tx, n, "key.rotate"); err != nil {
			return err
		}
		for _, change := range also {
			if err := change(ctx, tx, old.PublicID, issued.Key.PublicID); err != nil {
				return err
			}
		}
		return nil
	})
	r.changes.Add(1)
	if err != nil {
		return Issued{}, Key{}, fmt.Errorf("rotate key: %w", err)
	}
	return issued, old, nil
}

// ListKeys returns keys newest first, of one workspace or (with an empty id) of
// all, and whether there are more than limit. A limit of 0 is 100.
func (r *Repository) ListKeys(ctx context.Context, workspaceID string, limit int) (list []Key, more bool, err error) {
	limit = clampPage(limit)
	tail, args := `ORDER BY k.created_at DESC, k.id LIMIT $1`, []any{limit + 1}
	if workspaceID != "" {
		tail, args = `WHERE k.workspace_id = $2 `+tail, append(args, workspaceID)
	}
	rows, err := r.db.Reader().QueryContext(ctx, selectKey+tail, args...)
	if err != nil {
		return nil, false, fmt.Errorf("list keys: %w", err)
	}
	defer rows.Close() //nolint:errcheck // Err tells
	for rows.Next() {
		row, err := scanKey(rows)
		if err != nil {
			return nil, false, fmt.Errorf("list keys: %w", err)
		}
		list = append(list, row.Key)
	}
	if err := rows.Err(); err != nil {
		return nil, false, fmt.Errorf("list keys: %w", err)
	}
	if len(list) > limit {
		return list[:limit], true, nil
	}
	return list, false, nil
}
