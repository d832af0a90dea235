package control

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// AuditEntry says who changed what. It holds ids and settings, never a secret.
type AuditEntry struct {
	At      time.Time `json:"at"`
	Actor   string    `json:"actor"`   // "operator", or the id of an account
	Action  string    `json:"action"`  // such as "key.revoke"
	Subject string    `json:"subject"` // id of what was changed
	Detail  string    `json:"detail"`  // what a reader wants to know besides, in a few words
}

// AuditLink is an entry with its place in the chain.
type AuditLink struct {
	Sequence int64 `json:"sequence"` // from 1, without a gap
	AuditEntry
	PreviousHash string `json:"previousHash"` // that of the entry before; empty for the first
	Hash         string `json:"hash"`         // of the previous hash and everything else in the entry
}

// Audit notes a change in the transaction that makes it, so that there is never
// one without the other. The transaction is one of Update, which lets in one
// writer of all processes at a time: two entries never get the same place.
func (d *DB) Audit(ctx context.Context, tx *sql.Tx, e AuditEntry) error {
	head, err := auditHead(ctx, tx)
	if err != nil {
		return err
	}
	return appendAudit(ctx, tx, head, []AuditEntry{e})
}

// appendAudit puts entries behind the head, and makes the last of them the head.
func appendAudit(ctx context.Context, tx *sql.Tx, head AuditHead, list []AuditEntry) error {
	for _, e := range list {
		link := AuditLink{Sequence: head.Sequence + 1, AuditEntry: e, PreviousHash: head.Hash}
		link.Hash = link.compute()
		written, err := tx.ExecContext(ctx, `INSERT INTO audit (seq, at, actor, action, subject, detail, prev_hash, hash)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
			link.Sequence, Micros(e.At), e.Actor, e.Action, e.Subject, e.Detail, link.PreviousHash, link.Hash)
		if err = one(written, err); err != nil {
			return fmt.Errorf("audit: %w", err)
		}
		head = AuditHead{Sequence: link.Sequence, Hash: link.Hash}
		written, err = tx.ExecContext(ctx, `UPDATE audit_head SET seq = $1, hash = $2 WHERE one = 1`, head.Sequence, head.Hash)
		if err = one(written, err); err != nil {
			return fmt.Errorf("audit: move the head: %w", err)
		}
	}
	return nil
}

// errSwallowed says that the database took a change and made none: somebody put a trigger
// or a rule there. What the entry is about must not happen then.
var errSwallowed = errors.New("the database did not write it: see 'admin audit verify'")

// one makes an error of a change of any other number of rows than one.
func one(done sql.Result, err error) error {
	if err != nil {
		return err
	}
	n, err := done.RowsAffected()
	if err == nil && n != 1 {
		return errSwallowed
	}
	return err
}

// AuditLog is the newest entries, newest first.
func (d *DB) AuditLog(ctx context.Context, limit int) ([]AuditLink, error) {
	list, err := auditLinks(ctx, d.read, `ORDER BY seq DESC LIMIT $1`, limit)
	if err != nil {
		return nil, fmt.Errorf("audit log: %w", err)
	}
	return list, nil
}

// querier is a pool or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

func auditLinks(ctx context.Context, q querier, tail string, args ...any) ([]AuditLink, error) {
	rows, err := q.QueryContext(ctx, `SELECT seq, at, actor, action, subject, detail, prev_hash, hash FROM audit `+tail, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // Err tells
	var list []AuditLink
	for rows.Next() {
		var l AuditLink
		var at int64
		if err := rows.Scan(&l.Sequence, &at, &l.Actor, &l.Action, &l.Subject, &l.Detail, &l.PreviousHash, &l.Hash); err != nil {
			return nil, err
		}
		l.At = Moment(at)
		list = append(list, l)
	}
	return list, rows.Err()
}
