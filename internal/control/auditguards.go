package control

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
)

// The triggers that keep the audit log, the receipts and their log append-only, by dialect. Who takes one away can
// change entries without a refusal, which need not have happened yet.
var (
	sqliteGuards = []string{"audit_head_grows", "audit_head_once", "audit_head_stays", "audit_next_only", "audit_no_delete", "audit_no_update",
		"receipt_log_hash_no_delete", "receipt_log_hash_no_update", "receipt_log_leaf_no_delete", "receipt_log_leaf_no_update",
		"verification_receipt_no_delete", "verification_receipt_no_update"}
	postgresGuards = []string{"audit_head_grows", "audit_head_no_truncate", "audit_head_once", "audit_head_stays", "audit_next_only", "audit_no_change", "audit_no_truncate",
		"receipt_log_hash_no_change", "receipt_log_hash_no_truncate", "receipt_log_leaf_no_change", "receipt_log_leaf_no_truncate",
		"verification_receipt_no_change", "verification_receipt_no_truncate"}
)

func (s *sqliteDialect) guards() ([]string, string) {
	return sqliteGuards, `SELECT name FROM sqlite_master WHERE type = 'trigger' AND sql LIKE '%RAISE(ABORT%'
		AND tbl_name IN ('audit', 'audit_head', 'verification_receipt', 'receipt_log_leaf', 'receipt_log_hash')`
}

func (p *postgresDialect) guards() ([]string, string) {
	return postgresGuards, `SELECT tgname FROM pg_trigger WHERE tgenabled IN ('O', 'A')
		AND tgrelid IN ('audit'::regclass, 'audit_head'::regclass, 'verification_receipt'::regclass, 'receipt_log_leaf'::regclass, 'receipt_log_hash'::regclass)`
}

// missingGuards are the triggers that are gone, or do nothing.
func (d *DB) missingGuards(ctx context.Context, tx *sql.Tx) ([]string, error) {
	want, query := d.kind.guards()
	rows, err := tx.QueryContext(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("look for the triggers of the audit log: %w", err)
	}
	have, err := texts(rows)
	if err != nil {
		return nil, fmt.Errorf("look for the triggers of the audit log: %w", err)
	}
	missing := []string{}
	for _, name := range want {
		if !slices.Contains(have, name) {
			missing = append(missing, name)
		}
	}
	return missing, nil
}
