package control

import (
	"context"
	"database/sql"
	"encoding/hex"
	"fmt"
	"io"
	"time"
)

// AuditEntry says who changed what. It holds ids and settings, never a secret.
type AuditEntry struct {
	At      time.Time
	Actor   string // "operator", or the id of an account
	Action  string // such as "key.revoke"
	Subject string // id of what was changed
	Detail  string // what a reader wants to know besides, in a few words
}

// Audit notes a change in the transaction that makes it, so that there is never
// one without the other.
func (d *DB) Audit(ctx context.Context, tx *sql.Tx, e AuditEntry) error {
	var id [16]byte
	if _, err := io.ReadFull(d.rand, id[:]); err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO audit (id, at, actor, action, subject, detail) VALUES ($1, $2, $3, $4, $5, $6)`,
		hex.EncodeToString(id[:]), Micros(e.At), e.Actor, e.Action, e.Subject, e.Detail)
	if err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	return nil
}

// AuditLog is the newest entries, newest first.
func (d *DB) AuditLog(ctx context.Context, limit int) ([]AuditEntry, error) {
	rows, err := d.read.QueryContext(ctx, `SELECT at, actor, action, subject, detail FROM audit ORDER BY at DESC, id LIMIT $1`, limit)
	if err != nil {
		return nil, fmt.Errorf("audit log: %w", err)
	}
	defer rows.Close() //nolint:errcheck // Err tells
	var list []AuditEntry
	for rows.Next() {
		var e AuditEntry
		var at int64
		if err := rows.Scan(&at, &e.Actor, &e.Action, &e.Subject, &e.Detail); err != nil {
			return nil, fmt.Errorf("audit log: %w", err)
		}
		e.At = Moment(at)
		list = append(list, e)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("audit log: %w", err)
	}
	return list, nil
}
