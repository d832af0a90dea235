package control

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
)

// The server's secrets live in the database itself, not in a file beside it.
// Losing the digest secret makes every API key useless, so it must be in every
// backup and at hand in every process of a deployment: in the table it is. It
// protects nothing from a thief of the whole database, and need not: API keys
// are random and too long to guess from their digests, whatever the secret.

// Secret is 32 random bytes. It prints as nothing.
type Secret [32]byte

// String keeps the secret out of logs.
func (Secret) String() string { return "(secret)" }

// GoString keeps the secret out of logs.
func (Secret) GoString() string { return "(secret)" }

// MarshalText keeps the secret out of JSON.
func (Secret) MarshalText() ([]byte, error) { return []byte("(secret)"), nil }

const (
	keyDigest = "key_digest"
	cursor    = "cursor"
	prover    = "prover_digest"
)

// secretNames are all of them.
var secretNames = []string{keyDigest, cursor, prover}

// KeyDigestSecret is what API keys are digested with before they are stored.
func (d *DB) KeyDigestSecret() Secret { return d.secrets[keyDigest] }

// CursorSecret is what page cursors are authenticated with.
func (d *DB) CursorSecret() Secret { return d.secrets[cursor] }

// ProverSecret is what requests to the prover are digested with. Without it the same
// request counts as another one.
func (d *DB) ProverSecret() Secret { return d.secrets[prover] }

// loadSecrets reads the secrets, and makes those that a new database lacks.
func (d *DB) loadSecrets(ctx context.Context) error {
	read := func(tx *sql.Tx) (missing bool, err error) {
		d.secrets = map[string]Secret{}
		for _, name := range secretNames {
			s, err := readSecret(ctx, tx, name)
			if errors.Is(err, sql.ErrNoRows) {
				missing = true
				continue
			} else if err != nil {
				return false, err
			}
			d.secrets[name] = s
		}
		return missing, nil
	}
	missing := false
	if err := d.View(ctx, func(tx *sql.Tx) (err error) { missing, err = read(tx); return err }); err != nil || !missing {
		return err
	}
	return d.Update(ctx, func(tx *sql.Tx) error {
		if _, err := read(tx); err != nil { // another process may have been quicker
			return err
		}
		for _, name := range secretNames {
			if _, ok := d.secrets[name]; ok {
				continue
			}
			s, err := d.makeSecret(ctx, tx, name)
			if err != nil {
				return fmt.Errorf("make secret %s: %w", name, err)
			}
			d.secrets[name] = s
		}
		return nil
	})
}

func readSecret(ctx context.Context, tx *sql.Tx, name string) (Secret, error) {
	var text string
	if err := tx.QueryRowContext(ctx, `SELECT value FROM secret WHERE name = $1`, name).Scan(&text); err != nil {
		return Secret{}, err
	}
	var s Secret
	if n, err := hex.Decode(s[:], []byte(text[:min(len(text), 2*len(s))])); err != nil || n != len(s) || len(text) != 2*len(s) {
		return Secret{}, fmt.Errorf("secret %s is damaged: restore a backup", name)
	}
	return s, nil
}

func (d *DB) makeSecret(ctx context.Context, tx *sql.Tx, name string) (Secret, error) {
	if name == keyDigest {
		// A new secret would quietly lock out everybody.
		var keys int64
		if err := tx.QueryRowContext(ctx, `SELECT COUNT(*) FROM api_key`).Scan(&keys); err != nil {
			return Secret{}, err
		}
		if keys > 0 {
			return Secret{}, fmt.Errorf("it is missing although there are %d API keys: restore a backup", keys)
		}
	}
	var s Secret
	if _, err := io.ReadFull(d.rand, s[:]); err != nil {
		return Secret{}, err
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO secret (name, value, created_at) VALUES ($1, $2, $3)`,
		name, hex.EncodeToString(s[:]), Micros(d.now()))
	return s, err
}
