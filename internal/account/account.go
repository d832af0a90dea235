// Package account knows who may use the service: workspaces, their API keys and
// what each key may do.
//
// It guarantees that a key is shown once and kept only as a keyed digest, that an
// issued key survives a crash, that a revoked or expired key is refused within a
// second by every process on the database, and that nobody learns why a key is
// refused. No key is ever logged or part of an error.
package account

import (
	"errors"
	"fmt"
	"time"
)

// Why a key is refused. Any other error of Authenticate says that the database
// could not be asked: the caller should try again later.
var (
	// ErrMalformed: it does not have the form of a key, or was mistyped.
	ErrMalformed = errors.New("not an API key")
	// ErrUnknown: never issued, revoked or expired; which of them is not told.
	ErrUnknown = errors.New("API key is not valid")
)

// Why a change is refused.
var (
	ErrWorkspaceExists   = errors.New("there is already a workspace of this name")
	ErrWorkspaceNotFound = errors.New("there is no such workspace")
	ErrKeyNotFound       = errors.New("there is no such key")
	ErrKeyRevoked        = errors.New("the key is revoked")
	ErrKeyChanged        = errors.New("the key was changed meanwhile")
	ErrTooManyKeys       = errors.New("the workspace has as many active keys as its plan allows")
)

// InvalidError is a value that cannot be stored.
type InvalidError struct{ Field, Reason string }

// Error names the field.
func (e *InvalidError) Error() string { return fmt.Sprintf("%s: %s", e.Field, e.Reason) }

// Workspace owns keys and has a plan.
type Workspace struct {
	ID        string    `json:"id"`
	Name      string    `json:"name"`
	Plan      Plan      `json:"plan"`
	Kind      Kind      `json:"kind"`
	CreatedAt time.Time `json:"createdAt"`
}

// Status of a key. An expired key is still active: its expiry tells.
type Status string

// The statuses.
const (
	Active  Status = "active"
	Revoked Status = "revoked"
)

// Key is everything about a key but the key. Its JSON is the key summary of the
// public API.
type Key struct {
	ID          string      `json:"-"`
	WorkspaceID string      `json:"-"`
	Workspace   string      `json:"-"` // its name
	PublicID    string      `json:"publicId"`
	Label       string      `json:"label"`
	Environment Environment `json:"environment"`
	Scopes      Scopes      `json:"scopes"`
	Status      Status      `json:"status"`
	SecretHint  string      `json:"secretHint"`
	MaskedKey   string      `json:"maskedKey"`
	Policy      Policy      `json:"rateLimitPolicy"`
	Origins     Origins     `json:"allowedOrigins"` // none are all
	CreatedAt   time.Time   `json:"createdAt"`
	LastUsedAt  *time.Time  `json:"lastUsedAt"`
	ExpiresAt   *time.Time  `json:"expiresAt"`
	RevokedAt   *time.Time  `json:"revokedAt"`
}

// Issued is a new key, with the only copy of its plain text.
type Issued struct {
	Key       Key
	Plaintext string
}

// Principal is who asks, once a key has been accepted.
type Principal struct {
	KeyID       string
	PublicID    string
	WorkspaceID string
	Plan        Plan
	Kind        Kind
	Scopes      Scopes
	Policy      Policy
	Environment Environment
	Origins     Origins
	// Configured says that the key is one of the settings, and in no database.
	Configured bool
}

// WideRanges says whether somebody may search wide ranges of events.
func (p *Principal) WideRanges() bool { return p.Plan == Wallet || p.Kind == WalletKind }
