package session

import (
	"context"
	"database/sql"
	"fmt"

	"chainexplorer/internal/control"
)

// Spend uses up an attempt to sign in, of which secret is the browser's own. It is
// ErrInvalid when that happened before, in any process. Those that are too old to be
// tried again are forgotten.
func (r *Repository) Spend(ctx context.Context, secret string) error {
	err := r.db.Update(ctx, func(tx *sql.Tx) error {
		now := r.moment()
		if _, err := tx.ExecContext(ctx, `DELETE FROM spent_attempt WHERE until < $1`, control.Micros(now)); err != nil {
			return err
		}
		done, err := tx.ExecContext(ctx, `INSERT INTO spent_attempt (digest, until) VALUES ($1, $2) ON CONFLICT DO NOTHING`,
			r.Derive("spent", secret), control.Micros(now.Add(2*LinkTime)))
		if err != nil {
			return err
		}
		n, err := done.RowsAffected()
		if err == nil && n == 0 {
			return ErrInvalid
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("spend a sign-in: %w", err)
	}
	return nil
}
