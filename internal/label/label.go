// Package label keeps the names that an operator gives to addresses, beside
// those of the registry file. They live in the control database, with who says
// so and how sure it is, and every change is in the audit log.
//
// Readers share one copy that is a few seconds old at most: a page of addresses
// costs no question to the database.
package label

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"chainexplorer/internal/control"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/registry"
)

const (
	// Max bounds the labels of a chain: all of them are kept in memory.
	Max = 100_000
	// fresh is how old the copy of a reader may be.
	fresh   = 2 * time.Second
	maxText = 128
)

// The errors of a caller.
var (
	ErrNotFound = errors.New("the address has no label")
	ErrTooMany  = fmt.Errorf("a chain has at most %d labels", Max)
)

// InvalidError says what is wrong with a label.
type InvalidError struct{ Field, Reason string }

func (e *InvalidError) Error() string { return e.Field + ": " + e.Reason }

// Repository keeps labels. It is safe for concurrent use.
type Repository struct {
	db  *control.DB
	now func() time.Time

	mu     sync.Mutex // guards what follows
	copies map[string]copied
}

type copied struct {
	labels map[felt.Felt]registry.Label
	read   time.Time
}

// NewRepository works on an open database, which the caller closes. now is the
// system's clock when nil.
func NewRepository(db *control.DB, now func() time.Time) *Repository {
	if now == nil {
		now = time.Now
	}
	return &Repository{db: db, now: now, copies: map[string]copied{}}
}

// Labels returns the labels of a chain, which the caller must not change.
func (r *Repository) Labels(ctx context.Context, chain string) (map[felt.Felt]registry.Label, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	if c, ok := r.copies[chain]; ok && now.Sub(c.read) < fresh {
		return c.labels, nil
	}
	list, err := r.List(ctx, chain)
	if err != nil {
		return nil, err
	}
	labels := make(map[felt.Felt]registry.Label, len(list))
	for _, l := range list {
		labels[l.Address] = l
	}
	r.copies[chain] = copied{labels, now}
	return labels, nil
}

// List returns the labels of a chain by address.
func (r *Repository) List(ctx context.Context, chain string) ([]registry.Label, error) {
	rows, err := r.db.Reader().QueryContext(ctx,
		`SELECT address, name, protocol, kind, source, confidence FROM address_label WHERE chain = $1 ORDER BY address LIMIT $2`, chain, Max)
	if err != nil {
		return nil, fmt.Errorf("list labels: %w", err)
	}
	defer rows.Close() //nolint:errcheck // Err tells
	var out []registry.Label
	for rows.Next() {
		var l registry.Label
		var address string
		if err := rows.Scan(&address, &l.Name, &l.Protocol, &l.Kind, &l.Source, &l.Confidence); err != nil {
			return nil, fmt.Errorf("list labels: %w", err)
		}
		if l.Address, err = felt.Parse(address); err != nil {
			return nil, fmt.Errorf("label of %s: %w", address, err)
		}
		out = append(out, l)
	}
	return out, rows.Err()
}

// Put adds a label, or replaces the one that the address has.
func (r *Repository) Put(ctx context.Context, chain string, l registry.Label) error {
	if err := check(chain, &l); err != nil {
		return err
	}
	at := r.now()
	err := r.db.Update(ctx, func(tx *sql.Tx) error {
		var n int
		if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM address_label WHERE chain = $1`, chain).Scan(&n); err != nil {
			return err
		}
		if n >= Max {
			return ErrTooMany
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO address_label (chain, address, name, protocol, kind, source, confidence, created_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
			ON CONFLICT (chain, address) DO UPDATE SET name = excluded.name, protocol = excluded.protocol, kind = excluded.kind,
			source = excluded.source, confidence = excluded.confidence, created_at = excluded.created_at`,
			chain, l.Address.Padded(), l.Name, l.Protocol, l.Kind, l.Source, string(l.Confidence), control.Micros(at))
		if err != nil {
			return err
		}
		return r.audit(ctx, tx, "label.put", chain+" "+l.Address.String(), l.Name, at)
	})
	if err != nil {
		return fmt.Errorf("label %s: %w", l.Address, err)
	}
	r.forget(chain)
	return nil
}

// Remove takes an address's label away, or fails with ErrNotFound.
func (r *Repository) Remove(ctx context.Context, chain string, address felt.Felt) error {
	err := r.db.Update(ctx, func(tx *sql.Tx) error {
		done, err := tx.ExecContext(ctx, `DELETE FROM address_label WHERE chain = $1 AND address = $2`, chain, address.Padded())
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); err != nil || n == 0 {
			return errors.Join(err, ErrNotFound)
		}
		return r.audit(ctx, tx, "label.remove", chain+" "+address.String(), "", r.now())
	})
	if err != nil {
		return fmt.Errorf("remove the label of %s: %w", address, err)
	}
	r.forget(chain)
	return nil
}

func (r *Repository) forget(chain string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.copies, chain)
}

func (r *Repository) audit(ctx context.Context, tx *sql.Tx, action, subject, detail string, at time.Time) error {
	return r.db.Audit(ctx, tx, control.AuditEntry{At: at, Actor: "operator", Action: action, Subject: subject, Detail: detail})
}

func check(chain string, l *registry.Label) error {
	for _, f := range []struct {
		name, text string
		needed     bool
	}{{"chain", chain, true}, {"name", l.Name, true}, {"source", l.Source, true}, {"protocol", l.Protocol, false}, {"kind", l.Kind, false}} {
		switch {
		case f.text == "" && f.needed:
			return &InvalidError{f.name, "it must not be empty"}
		case !utf8.ValidString(f.text) || utf8.RuneCountInString(f.text) > maxText || strings.TrimSpace(f.text) != f.text:
			return &InvalidError{f.name, fmt.Sprintf("it must be text of at most %d characters, without spaces around it", maxText)}
		case strings.ContainsFunc(f.text, func(c rune) bool { return !unicode.IsPrint(c) }):
			return &InvalidError{f.name, "it holds characters that do not print"}
		}
	}
	switch {
	case l.Kind != "" && l.Protocol == "":
		return &InvalidError{"kind", "it is the kind of a protocol, and none is given"}
	case l.Confidence != registry.High && l.Confidence != registry.Medium && l.Confidence != registry.Low:
		return &InvalidError{"confidence", "it is high, medium or low"}
	}
	return nil
}
