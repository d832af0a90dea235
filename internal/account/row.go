package account

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"chainexplorer/internal/control"
)

// keyRow is a key as it is stored, with its workspace's plan.
type keyRow struct {
	Key
	plan   Plan
	kind   Kind
	limits Limits
}

const selectKey = `SELECT k.id, k.public_id, k.workspace_id, k.label, k.environment, k.scopes, k.secret_hint,
	k.light_per_minute, k.heavy_per_minute, k.batch_per_minute, k.burst,
	k.origins, k.created_at, k.last_used_at, k.expires_at, k.revoked_at, w.name, w.plan, w.kind
	FROM api_key k JOIN workspace w ON w.id = k.workspace_id `

func scanKey(row interface{ Scan(...any) error }) (keyRow, error) {
	var k keyRow
	var scopes string
	var light, heavy, batch, burst, used, expires, revoked sql.NullInt64
	var created int64
	err := row.Scan(&k.ID, &k.PublicID, &k.WorkspaceID, &k.Label, &k.Environment, &scopes, &k.SecretHint,
		&light, &heavy, &batch, &burst, &k.Origins, &created, &used, &expires, &revoked, &k.Workspace, &k.plan, &k.kind)
	if err != nil {
		return keyRow{}, err
	}
	if k.Scopes, err = ParseScopes(scopes); err != nil {
		return keyRow{}, fmt.Errorf("stored key %s: %w", k.PublicID, err)
	}
	k.Scopes |= Verify // which every key of a workspace has, also one from before that was so
	k.limits = Limits{int(light.Int64), int(heavy.Int64), int(batch.Int64), int(burst.Int64)}
	k.Policy = k.plan.Policy().with(k.limits)
	k.MaskedKey = masked(k.Environment, k.SecretHint)
	k.CreatedAt = control.Moment(created)
	k.LastUsedAt, k.ExpiresAt, k.RevokedAt = control.OptionalMoment(used), control.OptionalMoment(expires), control.OptionalMoment(revoked)
	k.Status = Active
	if revoked.Valid {
		k.Status = Revoked
	}
	return k, nil
}

func keyByPublicID(ctx context.Context, tx *sql.Tx, publicID string) (keyRow, error) {
	k, err := scanKey(tx.QueryRowContext(ctx, selectKey+`WHERE k.public_id = $1`, publicID))
	if errors.Is(err, sql.ErrNoRows) {
		return keyRow{}, ErrKeyNotFound
	}
	return k, err
}

// byDigest finds a key that is not revoked: a revoked one takes the same way as one
// that never was.
func (r *Repository) byDigest(ctx context.Context, d *digest) (keyRow, error) {
	k, err := scanKey(r.db.Reader().QueryRowContext(ctx, selectKey+`WHERE k.digest = $1 AND k.revoked_at IS NULL`, d.text()))
	if errors.Is(err, sql.ErrNoRows) {
		return keyRow{}, ErrUnknown
	}
	return k, err
}
