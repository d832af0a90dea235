package account

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

const (
	// freshFor bounds how long an answer of the database is good for, counted from
	// the question, and so how long a key that was revoked elsewhere still works:
	// half of the second that is promised, the rest is for slow machines.
	freshFor = 500 * time.Millisecond
	// refusedFor is longer: no key that is refused ever becomes valid.
	refusedFor = 10 * time.Second
	// queueTimeout bounds how long a stranger waits for its turn. The question itself
	// may take freshFor: an answer that took longer would be too old to use.
	queueTimeout = 5 * time.Second
	// maxStrangers bounds how many keys that were not seen before are looked up at
	// once, so that a flood of invented ones leaves the database to the others.
	maxStrangers = 2
)

// Authenticator decides about the key of every request, mostly from memory.
type Authenticator struct {
	repo     *Repository
	tags     *recogniser
	accepted *cache[digest, accepted]
	refused  *cache[digest, refused]
	flights  flights
	// strangers holds a token per lookup of a key that was not seen before.
	strangers chan struct{}
	// configured are the keys of the settings; nil when there are none.
	configured map[[sha256.Size]byte]*Principal
	usage      usage
	log        *slog.Logger
}

// accepted and refused say what was found, when it was asked for (not when the
// answer came: a key may have been revoked in between), and after how many
// changes to keys by this process.
type accepted struct {
	who     *Principal
	expires time.Time // zero: never
	use     *use
	at      time.Time
	changes uint64
}

type refused struct {
	at      time.Time
	changes uint64
}

// NewAuthenticator answers from repo, by its clock. Run writes down in the
// background when keys were used. The logger may be nil.
func NewAuthenticator(repo *Repository, log *slog.Logger) *Authenticator {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Authenticator{
		repo:      repo,
		tags:      newRecogniser(),
		accepted:  newCache[digest, accepted](),
		refused:   newCache[digest, refused](),
		strangers: make(chan struct{}, maxStrangers),
		log:       log,
	}
}

// Authenticate says whose key was presented. The error is ErrMalformed,
// ErrUnknown, or says why the database could not be asked; no error holds the key.
func (a *Authenticator) Authenticate(ctx context.Context, presented string) (Principal, error) {
	return a.AuthenticateGuarded(ctx, presented, nil)
}

// Guard is asked before a key is looked at that was not accepted before; lookup says
// that the database would have to be asked. Its error ends the matter.
type Guard interface {
	Stranger(ctx context.Context, lookup bool) error
}

// AuthenticateGuarded is Authenticate with a guard; nil is none.
func (a *Authenticator) AuthenticateGuarded(ctx context.Context, presented string, g Guard) (Principal, error) {
	var t tag
	var d digest
	recognised := false
	if len(presented) == keySize {
		t = a.tags.of(presented)
		d, recognised = a.tags.known.get(&t)
	}
	if !recognised {
		if _, err := ParseKey(presented); err != nil {
			if refusal := stranger(ctx, g, false); refusal != nil {
				return Principal{}, refusal
			}
			return Principal{}, err
		}
		d = a.repo.digest.digest(presented)
	}
	now, changes := a.repo.now(), a.repo.changes.Load()
	known, seen := a.accepted.get(&d)
	if seen && known.changes == changes && within(now, known.at, freshFor) {
		return a.admit(&known, now)
	}
	no, bad := a.refused.get(&d)
	bad = bad && no.changes == changes && within(now, no.at, refusedFor)
	if !seen {
		if who, ok := a.isConfigured(presented); ok {
			return who, nil
		}
		if err := stranger(ctx, g, !bad); err != nil {
			return Principal{}, err
		}
	}
	if bad {
		return Principal{}, ErrUnknown
	}
	var before *use
	if seen {
		before = known.use
	}
	// The digest is copied so that only this slow way puts it on the heap.
	question := question{of: d, changes: changes}
	found, err := a.flights.do(ctx, question, func(ctx context.Context) (accepted, error) {
		return a.ask(ctx, &question.of, before)
	})
	if err != nil {
		return Principal{}, err
	}
	a.tags.known.put(&t, d)
	return a.admit(&found, now)
}

func stranger(ctx context.Context, g Guard, lookup bool) error {
	if g == nil {
		return nil
	}
	return g.Stranger(ctx, lookup)
}

// within also refuses an entry from the future: after a clock went back nobody
// knows how old it is.
func within(now, at time.Time, d time.Duration) bool {
	age := now.Sub(at)
	return age >= 0 && age < d
}

func (a *Authenticator) admit(e *accepted, now time.Time) (Principal, error) {
	if !e.expires.IsZero() && !now.Before(e.expires) {
		return Principal{}, ErrUnknown
	}
	a.usage.note(e.use, now)
	return *e.who, nil
}

// ask looks a key up in the database and remembers the answer. before is the
// use of a key that was accepted earlier, nil for a stranger.
func (a *Authenticator) ask(ctx context.Context, d *digest, before *use) (accepted, error) {
	if before == nil {
		if err := a.queue(ctx); err != nil {
			return accepted{}, err
		}
		defer func() { <-a.strangers }()
	}
	ctx, cancel := context.WithTimeout(ctx, freshFor)
	defer cancel()
	now, changes := a.repo.now(), a.repo.changes.Load()
	k, err := a.repo.byDigest(ctx, d)
	switch {
	case errors.Is(err, ErrUnknown):
		a.accepted.drop(d)
		a.refused.put(d, refused{at: now, changes: changes})
		return accepted{}, ErrUnknown
	case err != nil:
		return accepted{}, fmt.Errorf("look up an API key: %w", err)
	}
	e := accepted{
		who: &Principal{
			KeyID: k.ID, PublicID: k.PublicID, WorkspaceID: k.WorkspaceID, Plan: k.plan, Kind: k.kind,
			Scopes: k.Scopes, Policy: k.Policy, Environment: k.Environment, Origins: k.Origins,
		},
		use: before, at: now, changes: changes,
	}
	if e.use == nil {
		e.use = &use{keyID: k.ID}
	}
	if k.ExpiresAt != nil {
		e.expires = *k.ExpiresAt
	}
	a.accepted.put(d, e)
	return e, nil
}

// queue waits for a stranger's turn.
func (a *Authenticator) queue(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, queueTimeout)
	defer cancel()
	select {
	case a.strangers <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("look up an API key: too many at once: %w", ctx.Err())
	}
}
