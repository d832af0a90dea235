package account

import (
	"context"
	"crypto/rand"
	"database/sql"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"time"
	"unicode"
	"unicode/utf8"

	"chainexplorer/internal/control"
)

// operator is who the audit log names unless By says who it is: whoever can
// reach the database file.
const operator = "operator"

const (
	maxName  = 64
	pageSize = 100
	// MaxPage is the most that a list returns.
	MaxPage = 1000
)

// Options of a Repository. The zero value has the system's clock and randomness.
type Options struct {
	Now  func() time.Time
	Rand io.Reader
}

// Repository keeps workspaces and keys in the control database.
type Repository struct {
	db     *control.DB
	digest *digester
	codes  codeDigester
	now    func() time.Time
	rand   io.Reader
	// changes counts what this process did to keys, so that an Authenticator
	// forgets what it knew.
	changes atomic.Uint64
}

// NewRepository works on an open database, which the caller closes.
func NewRepository(db *control.DB, o Options) *Repository {
	r := &Repository{db: db, digest: newDigester(db.KeyDigestSecret()), codes: newCodeDigester(db.KeyDigestSecret()), now: o.Now, rand: o.Rand}
	if r.now == nil {
		r.now = time.Now
	}
	if r.rand == nil {
		r.rand = rand.Reader
	}
	return r
}

// moment is now, as exact as the database keeps it.
func (r *Repository) moment() time.Time { return control.Moment(control.Micros(r.now())) }

func checkName(field, name string) error {
	switch {
	case name == "":
		return &InvalidError{field, "it must not be empty"}
	case !utf8.ValidString(name):
		return &InvalidError{field, "it is not valid UTF-8"}
	case utf8.RuneCountInString(name) > maxName:
		return &InvalidError{field, fmt.Sprintf("it may have %d characters at most", maxName)}
	case strings.TrimSpace(name) != name:
		return &InvalidError{field, "it must not begin or end with a space"}
	}
	for _, c := range name {
		if !unicode.IsPrint(c) {
			return &InvalidError{field, "it holds characters that do not print"}
		}
	}
	return nil
}

func clampPage(limit int) int {
	if limit <= 0 {
		return pageSize
	}
	return min(limit, MaxPage)
}

func (r *Repository) audit(ctx context.Context, tx *sql.Tx, action, subject, detail string, at time.Time) error {
	return r.db.Audit(ctx, tx, control.AuditEntry{At: at, Actor: actorOf(ctx), Action: action, Subject: subject, Detail: detail})
}
