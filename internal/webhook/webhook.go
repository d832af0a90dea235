// Package webhook is the webhooks of workspaces in the control database: who is told of
// what, how far it was told, what is under way, and what was given up.
//
// Rows:
//
//	webhook         one for each subscription: what is wanted and where to, how messages are
//	                signed, and the place in the chain up to which everything was told
//	webhook_outbox  the one message of a subscription that is under way, with its whole body.
//	                It is there before the first attempt, so that whoever comes after a kill
//	                sends the same id and the same bytes, also when its block is gone by then
//	webhook_sent    the blocks that are not final yet of which something was sent, with the
//	                first and the last sequence: what a fork has to take back
//	webhook_dead    messages that were given up; at most MaxDead of a subscription, for 30 days
//	webhook_change  a number for each chain that grows with every change by a person, so that
//	                whoever delivers learns of it with one read
//
// A place is moved in the transaction that writes the message of the block that it moves
// over. Over blocks without a match it is moved in memory, and written for many
// subscriptions in one statement every few seconds: whoever comes after a kill looks at a
// few blocks again, finds again that nothing in them matches, and sends nothing twice. That
// holds after a fork, too: a place whose block is gone is given up for the newest block in
// webhook_sent that is still there, and what lies between had no match, or was taken back.
//
// Every change by who delivers names the revision that it read, or the sequence of the
// message under way. A process that was paused, and wakes up when another has taken over,
// changes nothing: ErrLost.
//
// Costs: all statements find their rows by a primary key, but for the list of a workspace,
// by its index, and the active subscriptions of a chain, by a partial one. A message costs one
// transaction, which removes the one before it, writes it, and moves the place.
package webhook

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"chainexplorer/internal/control"
)

// State of a subscription.
type State string

// The states.
const (
	Active   State = "active"
	Paused   State = "paused"   // by its owner
	Disabled State = "disabled" // by the service, for a reason
)

// Reason is why a subscription was disabled.
type Reason string

// The reasons.
const (
	Gone        Reason = "gone"        // the receiver answered 410
	Unreachable Reason = "unreachable" // not one attempt of a message got an answer
	Failing     Reason = "failing"     // several messages in a row were given up
	RolledBack  Reason = "rolled_back" // the chain was rolled back below blocks that were final
)

// Why something is not done. Nothing was changed then.
var (
	ErrNotFound  = errors.New("there is no such webhook")
	ErrKeyReused = errors.New("the idempotency key was used for another request")
	ErrTooMany   = errors.New("the workspace has as many webhooks as its plan allows")
	ErrNotActive = errors.New("the webhook is not active")
	ErrNoLetter  = errors.New("there is no such dead letter")
	ErrBusy      = errors.New("as many tests wait as may")
	// ErrLost: somebody else changed the subscription, or its message.
	ErrLost = errors.New("the webhook is in other hands")
)

// The bounds of what is kept.
const (
	MaxDead  = 100 // messages of a subscription
	DeadTime = 30 * 24 * time.Hour
	maxTests = 3
	// OldSecretTime is how long messages are also signed with a secret that another has
	// taken the place of, and MaxSecrets how many a subscription has at once.
	OldSecretTime = 24 * time.Hour
	MaxSecrets    = 4
)

// TooSoonError says that a subscription has as many secrets as it may, and when the oldest
// is good no longer. Nothing was changed.
type TooSoonError struct{ Until time.Time }

// Error is for logs.
func (e *TooSoonError) Error() string {
	return "the webhook has as many secrets as it may until " + e.Until.Format(time.RFC3339)
}

// Position is how far a subscription was told.
type Position struct {
	Number int64  // of the newest block that was looked at; -1 in front of the first
	Hash   string // of that block
	Place  string // all of it, in the words of who reads the chain
	// Of a block that is told in several messages: how many items behind the place were
	// sent already, how many messages, and the sequence of the first.
	Skip, Parts, First int64
}

// Subscription is one.
type Subscription struct {
	ID          string
	WorkspaceID string
	Chain       string
	URL         string
	Description string
	Kind        string
	Filter      string // JSON
	State       State
	Reason      Reason
	StateAt     time.Time
	Sequence    int64 // of the newest message
	FromNumber  int64 // the first block that is told of
	Position    Position
	FinalNumber int64 // up to which nothing can be taken back any more; -1 for none
	FinalHash   string
	DeadInRow   int
	Tests       int // that were asked for
	DeliveredAt *time.Time
	CreatedAt   time.Time
	UpdatedAt   time.Time

	// FromSequence is of the first message since it was begun, or begun again.
	FromSequence int64
	Revision     int64
	secret       string
	old          []oldSecret // oldest first
	digest       string
}

// Repo is the webhooks in a control database.
type Repo struct {
	db   *control.DB
	now  func() time.Time
	rand io.Reader
}

// Options of a Repo.
type Options struct {
	Now  func() time.Time // the system's clock when nil
	Rand io.Reader        // likewise
}

// New makes a Repo.
func New(db *control.DB, o Options) *Repo {
	r := &Repo{db: db, now: o.Now, rand: o.Rand}
	if r.now == nil {
		r.now = time.Now
	}
	if r.rand == nil {
		r.rand = rand.Reader
	}
	return r
}

// Now is the time as it is stored.
func (r *Repo) Now() time.Time { return control.Moment(control.Micros(r.now())) }

const letters = "abcdefghijklmnopqrstuvwxyz234567"

// newID makes an id with 120 random bits.
func (r *Repo) newID() (string, error) {
	var b [24]byte
	if _, err := io.ReadFull(r.rand, b[:]); err != nil {
		return "", fmt.Errorf("make an id: %w", err)
	}
	for i := range b {
		b[i] = letters[b[i]%32]
	}
	return "wh_" + string(b[:]), nil
}

// isID says whether a text can be an id. A database that cannot even store it is not asked.
func isID(text string) bool {
	random, ok := strings.CutPrefix(text, "wh_")
	return ok && len(random) == 24 && strings.Trim(random, letters) == ""
}

const columns = `id, workspace_id, chain, url, description, kind, filter, secret, old_secrets, state, reason, state_at, revision, sequence,
	from_number, from_sequence, at_number, at_hash, place, skip, parts, first_sequence, final_number, final_hash, tests, dead_in_row, delivered_at, digest, created_at, updated_at`

type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

func scan(row interface{ Scan(...any) error }) (*Subscription, error) {
	var s Subscription
	var stateAt, created, updated int64
	var old []byte
	var delivered sql.NullInt64
	p := &s.Position
	err := row.Scan(&s.ID, &s.WorkspaceID, &s.Chain, &s.URL, &s.Description, &s.Kind, &s.Filter, &s.secret, &old, &s.State, &s.Reason, &stateAt, &s.Revision, &s.Sequence,
		&s.FromNumber, &s.FromSequence, &p.Number, &p.Hash, &p.Place, &p.Skip, &p.Parts, &p.First, &s.FinalNumber, &s.FinalHash, &s.Tests, &s.DeadInRow, &delivered, &s.digest, &created, &updated)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, ErrNotFound
	} else if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(old, &s.old); err != nil {
		return nil, fmt.Errorf("the secrets of webhook %s are damaged", s.ID) // and not told
	}
	s.StateAt, s.DeliveredAt = control.Moment(stateAt), control.OptionalMoment(delivered)
	s.CreatedAt, s.UpdatedAt = control.Moment(created), control.Moment(updated)
	return &s, nil
}

func one(ctx context.Context, q querier, where string, args ...any) (*Subscription, error) {
	return scan(q.QueryRowContext(ctx, `SELECT `+columns+` FROM webhook WHERE `+where, args...))
}

func several(ctx context.Context, q querier, tail string, args ...any) (out []*Subscription, err error) {
	rows, err := q.QueryContext(ctx, `SELECT `+columns+` FROM webhook `+tail, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // Err tells
	for rows.Next() {
		s, err := scan(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, rows.Err()
}

// changed says that one row was, or ErrLost.
func changed(done sql.Result, err error) error {
	if err != nil {
		return err
	}
	n, err := done.RowsAffected()
	if err == nil && n != 1 {
		return ErrLost
	}
	return err
}

// named wraps trouble of the database and leaves our own errors as they are.
func named(what string, err error) error {
	if err == nil {
		return nil
	}
	for _, own := range []error{ErrNotFound, ErrKeyReused, ErrTooMany, ErrNotActive, ErrNoLetter, ErrBusy, ErrLost} {
		if errors.Is(err, own) {
			return err
		}
	}
	if soon := (*TooSoonError)(nil); errors.As(err, &soon) {
		return err
	}
	return fmt.Errorf("%s: %w", what, err)
}
