// Package revocation remembers which keys of receipts were revoked, so that an older trust
// document that is put back, by mistake or on purpose, makes none of them good again.
//
// A revocation is learned from the trust document and kept in the control database, by the
// public key: another id does not help it. All processes on one database know what one of
// them has seen. Rows: one per key that was ever revoked; reading them is one query.
package revocation

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"chainexplorer/internal/control"
	"chainexplorer/internal/verification/receipt"
)

// maxKeys bounds those that are remembered: a key a day for thirty years.
const maxKeys = 10_000

// patience bounds a query of the control database.
const patience = 2 * time.Second

// ErrTakenBack is the error of a document that calls a key good that was revoked.
var ErrTakenBack = errors.New("it takes a revocation back, as an older document does")

// Book is what is remembered. It is safe for concurrent use.
type Book struct {
	db  *control.DB
	now func() time.Time

	mu     sync.Mutex
	known  map[string]time.Time // by the public key; nil while it was not read
	writes sync.Mutex           // one at a time
}

// New makes a book of what a database has. The clock is time.Now unless a test gives one.
func New(db *control.DB, now func() time.Time) *Book {
	if now == nil {
		now = time.Now
	}
	return &Book{db: db, now: now}
}

// Learn remembers what a document revokes, which may be nil, and reads what others remembered.
// It says whether that is more than before.
func (b *Book) Learn(ctx context.Context, t *receipt.Trust) (more bool, err error) {
	b.writes.Lock()
	defer b.writes.Unlock()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	all, err := b.read(ctx)
	if err != nil {
		return false, fmt.Errorf("revoked keys: %w", err)
	}
	var fresh []receipt.Key
	if t != nil {
		for _, k := range t.Keys {
			if _, there := all[string(k.PublicKey)]; !there && k.RevokedAt != nil {
				fresh = append(fresh, k)
			}
		}
	}
	if len(all)+len(fresh) > maxKeys {
		return false, fmt.Errorf("revoked keys: there are more than %d", maxKeys)
	}
	if len(fresh) > 0 {
		if err := b.write(ctx, fresh); err != nil {
			return false, fmt.Errorf("remember revoked keys: %w", err)
		}
		for _, k := range fresh {
			all[string(k.PublicKey)] = *k.RevokedAt
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	more = b.known == nil || !maps.EqualFunc(b.known, all, time.Time.Equal)
	b.known = all
	return more, nil
}

func (b *Book) read(ctx context.Context) (all map[string]time.Time, err error) {
	rows, err := b.db.Reader().QueryContext(ctx, `SELECT public_key, revoked_at FROM receipt_key_revocation LIMIT $1`, maxKeys+1)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	all = map[string]time.Time{}
	for rows.Next() {
		var key []byte
		var at int64
		if err := rows.Scan(&key, &at); err != nil {
			return nil, err
		}
		all[string(key)] = control.Moment(at)
	}
	return all, rows.Err()
}

// write adds keys. Another process may have been quicker.
func (b *Book) write(ctx context.Context, fresh []receipt.Key) error {
	return b.db.Update(ctx, func(tx *sql.Tx) error {
		for _, k := range fresh {
			done, err := tx.ExecContext(ctx, `INSERT INTO receipt_key_revocation (public_key, key_id, revoked_at, noticed_at) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`,
				[]byte(k.PublicKey), k.ID, control.Micros(*k.RevokedAt), control.Micros(b.now()))
			if err != nil {
				return err
			}
			if n, err := done.RowsAffected(); err != nil || n == 0 {
				if err != nil {
					return err
				}
				continue
			}
			entry := control.AuditEntry{At: b.now(), Actor: "trust document", Action: "receipt_key.revoke", Subject: k.ID, Detail: "none of its receipts counts any more"}
			if err := b.db.Audit(ctx, tx, entry); err != nil {
				return err
			}
		}
		return nil
	})
}

// Read says whether what is remembered was ever read: until then nobody knows which keys are good.
func (b *Book) Read() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.known != nil
}

// Apply revokes in a document what is remembered, and returns an error that names the keys that
// the document calls good, or nil.
func (b *Book) Apply(t *receipt.Trust) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	var names []string
	for i := range t.Keys {
		k := &t.Keys[i]
		if at, revoked := b.known[string(k.PublicKey)]; revoked && k.RevokedAt == nil {
			k.RevokedAt = &at
			names = append(names, k.ID)
		}
	}
	if len(names) == 0 {
		return nil
	}
	slices.Sort(names)
	return fmt.Errorf("trust document: %w: %s stays revoked; put the newer document back", ErrTakenBack, strings.Join(names, ", "))
}
