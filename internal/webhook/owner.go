package webhook

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"chainexplorer/internal/account"
	"chainexplorer/internal/control"
)

// Owner is who asks: every statement names the workspace, so that nobody sees another's.
type Owner struct {
	Actor       string // public id of the key
	WorkspaceID string
	Chain       string
}

// Request asks for a subscription.
type Request struct {
	Owner
	Most           int    // how many the workspace may have, on all chains
	IdempotencyKey string // "" for none
	URL            string
	Description    string
	Kind, Filter   string
	Begin          string // what was asked for as the first block
	From           Position
	FromNumber     int64
}

// digest tells whether two requests ask for the same.
func (q *Request) digest() string {
	h := sha256.New()
	for _, s := range []string{q.Chain, q.URL, q.Description, q.Filter, q.Begin} {
		fmt.Fprintf(h, "%d:%s", len(s), s) //nolint:errcheck // a hash never fails
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Create makes a subscription, or finds the one that the same key and request made before.
// The secret is told when it is new.
func (r *Repo) Create(ctx context.Context, q Request) (s *Subscription, secret string, err error) {
	err = r.db.Update(ctx, func(tx *sql.Tx) error {
		if q.IdempotencyKey != "" {
			if s, err = one(ctx, tx, `workspace_id = $1 AND chain = $2 AND idempotency_key = $3`, q.WorkspaceID, q.Chain, q.IdempotencyKey); err == nil {
				if s.digest != q.digest() {
					return ErrKeyReused
				}
				return nil
			} else if !errors.Is(err, ErrNotFound) {
				return err
			}
		}
		var have int
		if err := tx.QueryRowContext(ctx, `SELECT COUNT(*) FROM webhook WHERE workspace_id = $1`, q.WorkspaceID).Scan(&have); err != nil {
			return err
		}
		if have >= q.Most {
			return ErrTooMany
		}
		id, err := r.newID()
		if err != nil {
			return err
		}
		if secret, err = r.newSecret(); err != nil {
			return err
		}
		key := sql.NullString{String: q.IdempotencyKey, Valid: q.IdempotencyKey != ""}
		now := control.Micros(r.Now())
		_, err = tx.ExecContext(ctx, `INSERT INTO webhook (id, workspace_id, chain, url, description, kind, filter, secret, state, state_at, revision, from_number, at_number, at_hash, place, idempotency_key, digest, created_at, updated_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'active', $9, 1, $10, $11, $12, $13, $14, $15, $9, $9)`,
			id, q.WorkspaceID, q.Chain, q.URL, q.Description, q.Kind, q.Filter, secret, now, q.FromNumber, q.From.Number, q.From.Hash, q.From.Place, key, q.digest())
		if err != nil {
			return err
		}
		if s, err = one(ctx, tx, `id = $1`, id); err != nil {
			return err
		}
		return r.noted(ctx, tx, q.Actor, "create", s, fmt.Sprintf("%s, %s of %s", q.WorkspaceID, q.Kind, q.Chain))
	})
	if err != nil {
		return nil, "", named("create a webhook", err)
	}
	return s, secret, nil
}

// noted puts a change into the audit log, and tells whoever delivers.
func (r *Repo) noted(ctx context.Context, tx *sql.Tx, actor, event string, s *Subscription, detail string) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO webhook_change (chain, version) VALUES ($1, 1)
		ON CONFLICT (chain) DO UPDATE SET version = webhook_change.version + 1`, s.Chain)
	if err != nil || event == "" {
		return err
	}
	return r.db.Audit(ctx, tx, control.AuditEntry{At: r.Now(), Actor: actor, Action: "webhook." + event, Subject: s.ID, Detail: detail})
}

// owned finds a subscription of its owner.
func owned(ctx context.Context, q querier, o Owner, id string) (*Subscription, error) {
	if !isID(id) {
		return nil, ErrNotFound
	}
	return one(ctx, q, `id = $1 AND workspace_id = $2 AND chain = $3`, id, o.WorkspaceID, o.Chain)
}

// Get finds a subscription.
func (r *Repo) Get(ctx context.Context, o Owner, id string) (*Subscription, error) {
	s, err := owned(ctx, r.db.Reader(), o, id)
	return s, named("look for a webhook", err)
}

// Cursor is behind which subscription a list goes on.
type Cursor struct {
	CreatedAt time.Time
	ID        string
}

// List is the subscriptions of a workspace on a chain, oldest first.
func (r *Repo) List(ctx context.Context, o Owner, after Cursor, limit int) ([]*Subscription, error) {
	list, err := several(ctx, r.db.Reader(), `WHERE workspace_id = $1 AND chain = $2 AND (created_at, id) > ($3, $4) ORDER BY created_at, id LIMIT $5`,
		o.WorkspaceID, o.Chain, control.Micros(after.CreatedAt), after.ID, limit)
	return list, named("list webhooks", err)
}

// change runs fn on a subscription of its owner, in one transaction, and returns what
// became of it.
func (r *Repo) change(ctx context.Context, o Owner, id, event string, fn func(tx *sql.Tx, s *Subscription) (detail string, err error)) (s *Subscription, err error) {
	err = r.db.Update(ctx, func(tx *sql.Tx) error {
		if s, err = owned(ctx, tx, o, id); err != nil {
			return err
		}
		detail, err := fn(tx, s)
		if err != nil {
			return err
		}
		if err := changed(tx.ExecContext(ctx, `UPDATE webhook SET revision = revision + 1, updated_at = $2 WHERE id = $1`, id, control.Micros(r.Now()))); err != nil {
			return err
		}
		if err := r.noted(ctx, tx, o.Actor, event, s, detail); err != nil {
			return err
		}
		s, err = one(ctx, tx, `id = $1`, id)
		return err
	})
	if err != nil {
		return nil, named("change a webhook", err)
	}
	return s, nil
}

// Change is what its owner may change; nil leaves it.
type Change struct {
	URL, Description *string
	State            *State // Active or Paused
}

// Change changes a subscription. Whoever makes it active, or names another address, lets
// the message under way have all its attempts again, at once.
func (r *Repo) Change(ctx context.Context, o Owner, id string, c Change) (*Subscription, error) {
	return r.change(ctx, o, id, "change", func(tx *sql.Tx, s *Subscription) (string, error) {
		url, description, state, reason, at := s.URL, s.Description, s.State, s.Reason, s.StateAt
		detail := ""
		if c.URL != nil {
			url, detail = *c.URL, "url"
		}
		if c.Description != nil {
			description = *c.Description
		}
		dead := s.DeadInRow
		if c.State != nil && *c.State != s.State {
			state, reason, at, dead = *c.State, "", r.Now(), 0
			detail += " state " + string(state)
		}
		err := changed(tx.ExecContext(ctx, `UPDATE webhook SET url = $2, description = $3, state = $4, reason = $5, state_at = $6, dead_in_row = $7 WHERE id = $1`,
			id, url, description, string(state), string(reason), control.Micros(at), dead))
		if err == nil && (c.URL != nil || c.State != nil) {
			_, err = tx.ExecContext(ctx, `UPDATE webhook_outbox SET attempts = 0, answered = 0, first_at = 0, next_at = $2 WHERE webhook_id = $1`, id, control.Micros(r.Now()))
		}
		return detail, err
	})
}

// Delete forgets a subscription and all that is its own.
func (r *Repo) Delete(ctx context.Context, o Owner, id string) error {
	err := r.db.Update(ctx, func(tx *sql.Tx) error {
		s, err := owned(ctx, tx, o, id)
		if err != nil {
			return err
		}
		if err := changed(tx.ExecContext(ctx, `DELETE FROM webhook WHERE id = $1`, id)); err != nil { // the other tables follow
			return err
		}
		return r.noted(ctx, tx, o.Actor, "delete", s, s.WorkspaceID)
	})
	return named("delete a webhook", err)
}

// Rotate makes a new secret. The one before is good for a day more, as are those before it
// until their own day is over: a *TooSoonError when there are too many.
func (r *Repo) Rotate(ctx context.Context, o Owner, id string) (s *Subscription, secret string, err error) {
	s, err = r.change(ctx, o, id, "secret", func(tx *sql.Tx, s *Subscription) (string, error) {
		now := r.Now()
		old := slices.DeleteFunc(s.old, func(x oldSecret) bool { return !now.Before(control.Moment(x.Until)) })
		if len(old)+1 >= MaxSecrets {
			return "", &TooSoonError{control.Moment(old[0].Until)}
		}
		text, err := json.Marshal(append(old, oldSecret{s.secret, control.Micros(now.Add(OldSecretTime))}))
		if err != nil {
			return "", err
		}
		if secret, err = r.newSecret(); err != nil {
			return "", err
		}
		return "", changed(tx.ExecContext(ctx, `UPDATE webhook SET secret = $2, old_secrets = $3 WHERE id = $1`, id, secret, string(text)))
	})
	if err != nil {
		return nil, "", err
	}
	return s, secret, nil
}

// Test asks for a message that says nothing. It goes out in order with the rest.
func (r *Repo) Test(ctx context.Context, o Owner, id string) (*Subscription, error) {
	return r.change(ctx, o, id, "", func(tx *sql.Tx, s *Subscription) (string, error) {
		switch {
		case s.State != Active:
			return "", ErrNotActive
		case s.Tests >= maxTests:
			return "", ErrBusy
		}
		return "", changed(tx.ExecContext(ctx, `UPDATE webhook SET tests = tests + 1 WHERE id = $1`, id))
	})
}

// Replay begins a subscription again at a block. What was sent before stays sent, and is
// taken back by a fork as before.
func (r *Repo) Replay(ctx context.Context, o Owner, id string, from Position, number int64) (*Subscription, error) {
	return r.change(ctx, o, id, "replay", func(tx *sql.Tx, s *Subscription) (string, error) {
		return fmt.Sprintf("from block %d", number), changed(tx.ExecContext(ctx, `UPDATE webhook SET from_number = $2, from_sequence = sequence + 1, at_number = $3, at_hash = $4, place = $5,
			skip = 0, parts = 0, first_sequence = 0, final_number = -1, final_hash = '' WHERE id = $1`, id, number, from.Number, from.Hash, from.Place))
	})
}

// Letter is a message that was given up.
type Letter struct {
	Sequence int64
	Type     string
	Attempts int
	Status   int // that the receiver last answered with; 0 for no answer
	MadeAt   time.Time
	DiedAt   time.Time
	Wanted   bool // it is to be sent again
}

// DeadLetters are messages that were given up, newest first, below a sequence.
func (r *Repo) DeadLetters(ctx context.Context, o Owner, id string, below int64, limit int) (out []Letter, err error) {
	if _, err := r.Get(ctx, o, id); err != nil {
		return nil, err
	}
	rows, err := r.db.Reader().QueryContext(ctx, `SELECT sequence, type, attempts, status, made_at, died_at, wanted FROM webhook_dead WHERE webhook_id = $1 AND sequence < $2 ORDER BY sequence DESC LIMIT $3`, id, below, limit)
	if err != nil {
		return nil, named("list dead letters", err)
	}
	defer rows.Close() //nolint:errcheck // Err tells
	for rows.Next() {
		var l Letter
		var made, died int64
		if err := rows.Scan(&l.Sequence, &l.Type, &l.Attempts, &l.Status, &made, &died, &l.Wanted); err != nil {
			return nil, named("list dead letters", err)
		}
		l.MadeAt, l.DiedAt = control.Moment(made), control.Moment(died)
		out = append(out, l)
	}
	return out, named("list dead letters", rows.Err())
}

// Redeliver asks for a dead letter to be sent again, with its own id.
func (r *Repo) Redeliver(ctx context.Context, o Owner, id string, sequence int64) (*Subscription, error) {
	return r.change(ctx, o, id, "", func(tx *sql.Tx, s *Subscription) (string, error) {
		if s.State != Active {
			return "", ErrNotActive
		}
		err := changed(tx.ExecContext(ctx, `UPDATE webhook_dead SET wanted = 1 WHERE webhook_id = $1 AND sequence = $2`, id, sequence))
		if errors.Is(err, ErrLost) {
			err = ErrNoLetter
		}
		return "", err
	})
}

// Most is how many webhooks a workspace may have.
func Most(p account.Plan) int {
	switch p {
	case account.Developer:
		return 20
	case account.Growth:
		return 100
	case account.Wallet:
		return 200
	case account.Business:
		return 500
	case account.Enterprise:
		return 2_000
	case account.Free:
	}
	return 5
}
