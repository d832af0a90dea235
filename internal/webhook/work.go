package webhook

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"chainexplorer/internal/control"
)

// service is who the audit log names when nobody asked for something.
const service = "service"

// deadInRow is after how many messages in a row that were given up a subscription is.
const deadInRow = 3

// Message is one that is under way.
type Message struct {
	Sequence int64
	Type     string
	Body     string // "" when it was not read
	Attempts int
	Answered int // attempts that the receiver answered, however
	Status   int // that it last answered with; 0 for no answer
	MadeAt   time.Time
	FirstAt  time.Time // of the first attempt
	NextAt   time.Time // of the next
}

// MessageID is the same for all attempts of a message.
func MessageID(id string, sequence int64) string { return fmt.Sprintf("msg_%s_%d", id, sequence) }

// ParseMessageID is the sequence of a message of a subscription.
func ParseMessageID(id, message string) (int64, bool) {
	text, ok := strings.CutPrefix(message, "msg_"+id+"_")
	n, err := strconv.ParseInt(text, 10, 64)
	return n, ok && err == nil && n > 0 && strconv.FormatInt(n, 10) == text
}

// Version grows with every change of a chain's webhooks by a person.
func (r *Repo) Version(ctx context.Context, chain string) (n int64, err error) {
	err = r.db.Reader().QueryRowContext(ctx, `SELECT version FROM webhook_change WHERE chain = $1`, chain).Scan(&n)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return n, named("look for changes of webhooks", err)
}

// Revisions are the active subscriptions of a chain, by id, and how many are disabled.
func (r *Repo) Revisions(ctx context.Context, chain string) (active map[string]int64, disabled int, err error) {
	active = map[string]int64{}
	err = r.db.View(ctx, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, `SELECT id, revision FROM webhook WHERE chain = $1 AND state = 'active'`, chain)
		if err != nil {
			return err
		}
		defer rows.Close() //nolint:errcheck // Err tells
		for rows.Next() {
			var id string
			var revision int64
			if err := rows.Scan(&id, &revision); err != nil {
				return err
			}
			active[id] = revision
		}
		if err := rows.Err(); err != nil {
			return err
		}
		return tx.QueryRowContext(ctx, `SELECT COUNT(*) FROM webhook WHERE chain = $1 AND state = 'disabled'`, chain).Scan(&disabled)
	})
	return active, disabled, named("look for webhooks", err)
}

// Work is a subscription with the message under way, without its body, if there is one.
type Work struct {
	*Subscription
	Message *Message
	Wanted  int64 // sequence of the dead letter that is to be sent again; 0 for none
}

// Load reads an active subscription.
func (r *Repo) Load(ctx context.Context, id string) (w Work, err error) {
	err = r.db.View(ctx, func(tx *sql.Tx) error {
		if w.Subscription, err = one(ctx, tx, `id = $1 AND state = 'active'`, id); err != nil {
			return err
		}
		var m Message
		var made, first, next int64
		err := tx.QueryRowContext(ctx, `SELECT sequence, type, attempts, answered, status, made_at, first_at, next_at FROM webhook_outbox WHERE webhook_id = $1`, id).
			Scan(&m.Sequence, &m.Type, &m.Attempts, &m.Answered, &m.Status, &made, &first, &next)
		if err == nil {
			m.MadeAt, m.FirstAt, m.NextAt = control.Moment(made), control.Moment(first), control.Moment(next)
			w.Message = &m
		} else if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		err = tx.QueryRowContext(ctx, `SELECT sequence FROM webhook_dead WHERE webhook_id = $1 AND wanted = 1 ORDER BY sequence LIMIT 1`, id).Scan(&w.Wanted)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		return err
	})
	return w, named("load a webhook", err)
}

// Body is that of the message under way.
func (r *Repo) Body(ctx context.Context, id string, sequence int64) (body string, err error) {
	err = r.db.Reader().QueryRowContext(ctx, `SELECT body FROM webhook_outbox WHERE webhook_id = $1 AND sequence = $2`, id, sequence).Scan(&body)
	if errors.Is(err, sql.ErrNoRows) {
		err = ErrLost
	}
	return body, named("read a message", err)
}

// Entry is a block of which something was sent.
type Entry struct {
	Number      int64
	Hash        string
	First, Last int64 // sequences
}

// Sent are the newest blocks of which something was sent, newest first.
func (r *Repo) Sent(ctx context.Context, id string, limit int) (out []Entry, err error) {
	rows, err := r.db.Reader().QueryContext(ctx, `SELECT number, hash, first_sequence, last_sequence FROM webhook_sent WHERE webhook_id = $1 ORDER BY number DESC, first_sequence DESC LIMIT $2`, id, limit)
	if err != nil {
		return nil, named("read what was sent", err)
	}
	defer rows.Close() //nolint:errcheck // Err tells
	for rows.Next() {
		var e Entry
		if err := rows.Scan(&e.Number, &e.Hash, &e.First, &e.Last); err != nil {
			return nil, named("read what was sent", err)
		}
		out = append(out, e)
	}
	return out, named("read what was sent", rows.Err())
}

// Behind is the newest block at or below a number of which something was sent since the
// subscription was begun.
func (r *Repo) Behind(ctx context.Context, s *Subscription, number int64) (e Entry, found bool, err error) {
	err = r.db.Reader().QueryRowContext(ctx, `SELECT number, hash, first_sequence, last_sequence FROM webhook_sent WHERE webhook_id = $1 AND number <= $2 AND first_sequence >= $3 ORDER BY number DESC LIMIT 1`,
		s.ID, number, s.FromSequence).Scan(&e.Number, &e.Hash, &e.First, &e.Last)
	if errors.Is(err, sql.ErrNoRows) {
		return e, false, nil
	}
	return e, err == nil, named("read what was sent", err)
}

// Step is what happens to a subscription at once.
type Step struct {
	// Delivered is the message under way that the receiver took; nil for none.
	Delivered *Message
	// Next is the message that is under way from now on; its sequence is the next one unless
	// it is a dead letter that is sent again.
	Next        *Message
	Redelivered bool
	Tested      bool // Next was asked for as a test
	// Position is where the subscription is then; nil leaves it.
	Position *Position
	// Sent is the block that Next is of, when that may still be taken back, and Retracted the
	// one that Next takes back.
	Sent, Retracted *Entry
	// FinalNumber and FinalHash are up to where nothing can be taken back; -1 leaves it.
	FinalNumber int64
	FinalHash   string
}

// Do does a step, all of it or, when the subscription is not as it was read, none: ErrLost.
// The subscription is then as in the database.
func (r *Repo) Do(ctx context.Context, s *Subscription, step Step) error {
	after := *s
	after.Revision++
	now := r.Now()
	if step.Next != nil && !step.Redelivered {
		after.Sequence = step.Next.Sequence
	}
	if step.Position != nil {
		after.Position = *step.Position
	}
	if step.FinalNumber >= 0 {
		after.FinalNumber, after.FinalHash = step.FinalNumber, step.FinalHash
	}
	if step.Tested {
		after.Tests = max(0, after.Tests-1)
	}
	if step.Delivered != nil {
		after.DeadInRow, after.DeliveredAt = 0, &now
	}
	err := r.db.Update(ctx, func(tx *sql.Tx) error {
		p := after.Position
		err := changed(tx.ExecContext(ctx, `UPDATE webhook SET revision = $3, sequence = $4, at_number = $5, at_hash = $6, place = $7, skip = $8, parts = $9, first_sequence = $10,
			final_number = $11, final_hash = $12, tests = $13, dead_in_row = $14, delivered_at = $15 WHERE id = $1 AND revision = $2 AND state = 'active'`,
			s.ID, s.Revision, after.Revision, after.Sequence, p.Number, p.Hash, p.Place, p.Skip, p.Parts, p.First, after.FinalNumber, after.FinalHash, after.Tests, after.DeadInRow, control.OptionalMicros(after.DeliveredAt)))
		if err != nil {
			return err
		}
		if step.Delivered != nil {
			if err := changed(tx.ExecContext(ctx, `DELETE FROM webhook_outbox WHERE webhook_id = $1 AND sequence = $2`, s.ID, step.Delivered.Sequence)); err != nil {
				return err
			}
		}
		return step.write(ctx, tx, s.ID)
	})
	if err != nil {
		return named("move a webhook", err)
	}
	*s = after
	return nil
}

// write puts the rows of a step beside that of the subscription.
func (p *Step) write(ctx context.Context, tx *sql.Tx, id string) error {
	if e := p.Retracted; e != nil {
		if err := changed(tx.ExecContext(ctx, `DELETE FROM webhook_sent WHERE webhook_id = $1 AND number = $2 AND first_sequence = $3`, id, e.Number, e.First)); err != nil {
			return err
		}
		// What is taken back is never sent again.
		if _, err := tx.ExecContext(ctx, `DELETE FROM webhook_dead WHERE webhook_id = $1 AND sequence BETWEEN $2 AND $3`, id, e.First, e.Last); err != nil {
			return err
		}
	}
	if m := p.Next; m != nil {
		if p.Redelivered {
			if err := changed(tx.ExecContext(ctx, `DELETE FROM webhook_dead WHERE webhook_id = $1 AND sequence = $2`, id, m.Sequence)); err != nil {
				return err
			}
		}
		// A row that is there already is another's message: the insertion fails, and nothing happened.
		_, err := tx.ExecContext(ctx, `INSERT INTO webhook_outbox (webhook_id, sequence, type, body, made_at, next_at) VALUES ($1, $2, $3, $4, $5, $6)`,
			id, m.Sequence, m.Type, m.Body, control.Micros(m.MadeAt), control.Micros(m.NextAt))
		if err != nil {
			return err
		}
	}
	if e := p.Sent; e != nil {
		_, err := tx.ExecContext(ctx, `INSERT INTO webhook_sent (webhook_id, number, first_sequence, last_sequence, hash) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (webhook_id, number, first_sequence) DO UPDATE SET last_sequence = excluded.last_sequence`, id, e.Number, e.First, e.Last, e.Hash)
		if err != nil {
			return err
		}
	}
	if p.FinalNumber >= 0 {
		if _, err := tx.ExecContext(ctx, `DELETE FROM webhook_sent WHERE webhook_id = $1 AND number <= $2`, id, p.FinalNumber); err != nil {
			return err
		}
	}
	return nil
}

// Letter reads a dead letter that is to be sent again.
func (r *Repo) Letter(ctx context.Context, id string, sequence int64) (*Message, error) {
	m := Message{Sequence: sequence}
	var made int64
	err := r.db.Reader().QueryRowContext(ctx, `SELECT type, body, made_at FROM webhook_dead WHERE webhook_id = $1 AND sequence = $2 AND wanted = 1`, id, sequence).Scan(&m.Type, &m.Body, &made)
	if errors.Is(err, sql.ErrNoRows) {
		err = ErrNoLetter
	}
	m.MadeAt, m.NextAt = control.Moment(made), r.Now()
	return &m, named("read a dead letter", err)
}

// Delivered notes that the receiver took a message, whatever else happened to the
// subscription meanwhile.
func (r *Repo) Delivered(ctx context.Context, id string, m *Message) error {
	err := r.db.Update(ctx, func(tx *sql.Tx) error {
		if err := changed(tx.ExecContext(ctx, `DELETE FROM webhook_outbox WHERE webhook_id = $1 AND sequence = $2`, id, m.Sequence)); err != nil {
			return err
		}
		return changed(tx.ExecContext(ctx, `UPDATE webhook SET delivered_at = $2, dead_in_row = 0 WHERE id = $1`, id, control.Micros(r.Now())))
	})
	return named("note a delivery", err)
}

// Attempted notes an attempt that failed: m is the message after it.
func (r *Repo) Attempted(ctx context.Context, id string, m *Message) error {
	err := r.db.Update(ctx, func(tx *sql.Tx) error {
		return changed(tx.ExecContext(ctx, `UPDATE webhook_outbox SET attempts = $3, answered = $4, status = $5, first_at = $6, next_at = $7 WHERE webhook_id = $1 AND sequence = $2 AND attempts = $8`,
			id, m.Sequence, m.Attempts, m.Answered, m.Status, control.Micros(m.FirstAt), control.Micros(m.NextAt), m.Attempts-1))
	})
	return named("note an attempt", err)
}

// GiveUp makes a dead letter of a message after its last attempt, and disables the
// subscription when none of its attempts was answered, or it is one too many in a row.
func (r *Repo) GiveUp(ctx context.Context, id string, m *Message, body string) (why Reason, err error) {
	err = r.db.Update(ctx, func(tx *sql.Tx) error {
		s, err := one(ctx, tx, `id = $1`, id)
		if err != nil {
			return err
		}
		if err := changed(tx.ExecContext(ctx, `DELETE FROM webhook_outbox WHERE webhook_id = $1 AND sequence = $2 AND attempts = $3`, id, m.Sequence, m.Attempts-1)); err != nil {
			return err
		}
		now := r.Now()
		_, err = tx.ExecContext(ctx, `INSERT INTO webhook_dead (webhook_id, sequence, type, body, attempts, status, made_at, died_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
			id, m.Sequence, m.Type, body, m.Attempts, m.Status, control.Micros(m.MadeAt), control.Micros(now))
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `DELETE FROM webhook_dead WHERE webhook_id = $1 AND sequence <= (SELECT sequence FROM webhook_dead WHERE webhook_id = $1 ORDER BY sequence DESC LIMIT 1 OFFSET $2)`, id, MaxDead)
		if err != nil {
			return err
		}
		if err := changed(tx.ExecContext(ctx, `UPDATE webhook SET dead_in_row = $2, revision = revision + 1 WHERE id = $1`, id, s.DeadInRow+1)); err != nil {
			return err
		}
		switch {
		case m.Answered == 0:
			why = Unreachable
		case s.DeadInRow+1 >= deadInRow:
			why = Failing
		default:
			return nil
		}
		return r.disable(ctx, tx, s, why)
	})
	return why, named("give a message up", err)
}

// Disable ends the delivery of a subscription until its owner lets it go on. It is that of
// a message, or of a revision: whoever lost it to another disables nothing.
func (r *Repo) Disable(ctx context.Context, s *Subscription, m *Message, why Reason) error {
	err := r.db.Update(ctx, func(tx *sql.Tx) error {
		var n int
		var err error
		if m != nil {
			err = tx.QueryRowContext(ctx, `SELECT COUNT(*) FROM webhook_outbox WHERE webhook_id = $1 AND sequence = $2 AND attempts = $3`, s.ID, m.Sequence, m.Attempts-1).Scan(&n)
		} else {
			err = tx.QueryRowContext(ctx, `SELECT COUNT(*) FROM webhook WHERE id = $1 AND revision = $2`, s.ID, s.Revision).Scan(&n)
		}
		if err != nil {
			return err
		}
		if n != 1 {
			return ErrLost
		}
		return r.disable(ctx, tx, s, why)
	})
	return named("disable a webhook", err)
}

func (r *Repo) disable(ctx context.Context, tx *sql.Tx, s *Subscription, why Reason) error {
	err := changed(tx.ExecContext(ctx, `UPDATE webhook SET state = 'disabled', reason = $2, state_at = $3, revision = revision + 1 WHERE id = $1 AND state = 'active'`, s.ID, string(why), control.Micros(r.Now())))
	if err != nil {
		return err
	}
	return r.noted(ctx, tx, service, "disable", s, string(why))
}

// atOnce is how many subscriptions one statement moves.
const atOnce = 1000

// Idle writes where subscriptions are whose blocks had no match: one statement for those
// that are at the same place. One that was changed meanwhile is left as it is.
func (r *Repo) Idle(ctx context.Context, at Position, list []*Subscription) error {
	for len(list) > 0 {
		part := list[:min(atOnce, len(list))]
		list = list[len(part):]
		args := []any{at.Number, at.Hash, at.Place}
		var those strings.Builder
		for i, s := range part {
			if i > 0 {
				those.WriteString(", ")
			}
			fmt.Fprintf(&those, "(CAST($%d AS TEXT), CAST($%d AS BIGINT))", len(args)+1, len(args)+2)
			args = append(args, s.ID, s.Revision)
		}
		err := r.db.Update(ctx, func(tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, `UPDATE webhook SET at_number = $1, at_hash = $2, place = $3, skip = 0, parts = 0, first_sequence = 0 WHERE (id, revision) IN (VALUES `+those.String()+`)`, args...)
			return err
		})
		if err != nil {
			return named("move webhooks", err)
		}
	}
	return nil
}

// Tidy deletes dead letters that are too old.
func (r *Repo) Tidy(ctx context.Context) (n int64, err error) {
	err = r.db.Update(ctx, func(tx *sql.Tx) error {
		done, err := tx.ExecContext(ctx, `DELETE FROM webhook_dead WHERE died_at < $1`, control.Micros(r.Now().Add(-DeadTime)))
		if err != nil {
			return err
		}
		n, err = done.RowsAffected()
		return err
	})
	return n, named("delete old dead letters", err)
}
