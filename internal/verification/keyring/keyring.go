// Package keyring keeps the keys that receipts are signed with: a folder of the operator's
// with a private key in each file, the trust-root document that names the public ones, and
// the key of the transparency log. It makes, rotates and revokes them, and never shows one.
package keyring

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
	"unicode"

	"golang.org/x/mod/sumdb/note"

	"chainexplorer/internal/durable"
	"chainexplorer/internal/verification/receipt"
)

// The files of a key folder, besides one of each private key.
const (
	TrustFile     = "trust.json"
	LogKeyFile    = "log.key"
	LogPublicFile = "log.pub"
	keySuffix     = ".key"
	lockFile      = ".lock"
)

// DefaultOrigin is the name of a log that was given none.
const DefaultOrigin = "chainexplorer/receipt-log"

// Ring is a key folder.
type Ring struct {
	Dir string
	// Now and Rand are the system's unless a test sets them.
	Now  func() time.Time
	Rand io.Reader
}

// New says what a key is to be.
type New struct {
	ID       string        // one is made of the date when empty
	StartsIn time.Duration // when it becomes valid, from now
	Lifetime time.Duration // how long it is valid; 0 while nobody says
}

// Made is a key that was made.
type Made struct {
	Key     receipt.Key
	Path    string
	Trust   string
	LogPath string // of the log's public key, when that was made as well
}

// Errors of a folder.
var (
	ErrInUse    = errors.New("another command changes the keys")
	ErrHasKey   = errors.New("there is a key already: rotate it instead")
	ErrNoKey    = errors.New("there is no key yet: create one")
	ErrUnknown  = errors.New("the trust document has no key of that id")
	ErrRevoked  = errors.New("that key was revoked already")
	ErrTaken    = errors.New("there is a key of that id already")
	ErrBadID    = errors.New("a key's id has 1 to 120 letters, digits, dots, underscores, colons and dashes, no dot or dash first, and is not log")
	ErrBadTimes = errors.New("times must not be negative")
	ErrBadLog   = errors.New("the name of a log has up to 200 characters, without spaces and plus signs")
	ErrOtherLog = errors.New("the folder has the key of a log of another name, which stays: leave the name out, or begin with an empty folder")
)

var ids = regexp.MustCompile(`^[A-Za-z0-9_:][A-Za-z0-9._:-]{0,119}$`)

func (r *Ring) now() time.Time {
	if r.Now != nil {
		return r.Now().UTC().Truncate(time.Second)
	}
	return time.Now().UTC().Truncate(time.Second)
}

func (r *Ring) random() io.Reader {
	if r.Rand != nil {
		return r.Rand
	}
	return rand.Reader
}

func (r *Ring) path(name string) string { return filepath.Join(r.Dir, name) }

// locked runs fn while no other process changes the folder, with its trust document.
func (r *Ring) locked(fn func(*receipt.Trust) error) error {
	f, err := os.OpenFile(r.path(lockFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("key folder: %w", err)
	}
	defer f.Close() //nolint:errcheck // which lets others in
	if err := durable.Lock(f); err != nil {
		return fmt.Errorf("key folder %s: %w", r.Dir, ErrInUse)
	}
	t, err := ReadTrust(r.path(TrustFile))
	if errors.Is(err, os.ErrNotExist) {
		t, err = &receipt.Trust{}, nil
	}
	if err != nil {
		return err
	}
	return fn(t)
}

// check refuses what no key can have, before anything is made.
func (n *New) check() error {
	if n.StartsIn < 0 || n.Lifetime < 0 {
		return ErrBadTimes
	}
	if n.ID != "" && (!ids.MatchString(n.ID) || n.ID == strings.TrimSuffix(LogKeyFile, keySuffix)) {
		return ErrBadID
	}
	return nil
}

// Create makes the first key, the trust document and, when there is none, the key of a log.
func (r *Ring) Create(n New, origin string) (m Made, err error) {
	if err := n.check(); err != nil {
		return m, err
	}
	if len(origin) > 200 || strings.ContainsFunc(origin, func(c rune) bool { return c == '+' || unicode.IsSpace(c) || !unicode.IsPrint(c) }) {
		return m, ErrBadLog
	}
	if err := os.MkdirAll(r.Dir, 0o700); err != nil {
		return m, fmt.Errorf("key folder: %w", err)
	}
	err = r.locked(func(t *receipt.Trust) error {
		if len(t.Keys) > 0 {
			return ErrHasKey
		}
		if m.LogPath, err = r.createLog(origin); err != nil {
			return err
		}
		k, err := r.add(t, n)
		if err != nil {
			return err
		}
		m.Key, m.Path, m.Trust = *k, r.path(k.ID+keySuffix), r.path(TrustFile)
		return nil
	})
	return m, err
}

// Rotate makes the next key. Those that are valid end when the new one has been valid for the
// overlap: until then, either may sign.
func (r *Ring) Rotate(n New, overlap time.Duration) (m Made, err error) {
	if overlap < 0 {
		return m, ErrBadTimes
	}
	err = r.locked(func(t *receipt.Trust) error {
		if len(t.Keys) == 0 {
			return ErrNoKey
		}
		end := r.now().Add(n.StartsIn + overlap)
		for i := range t.Keys {
			k, stop := &t.Keys[i], end
			if k.NotBefore.Equal(end) { // it has to have been valid for a moment
				stop = end.Add(time.Second)
			}
			if k.RevokedAt == nil && (k.NotAfter == nil || k.NotAfter.After(stop)) && k.NotBefore.Before(stop) {
				k.NotAfter = &stop
			}
		}
		k, err := r.add(t, n)
		if err != nil {
			return err
		}
		m.Key, m.Path, m.Trust = *k, r.path(k.ID+keySuffix), r.path(TrustFile)
		return nil
	})
	return m, err
}

// Revoke ends a key for good: none of its receipts counts any more, whatever their date.
// The private key stays where it is, and nothing signs with it.
func (r *Ring) Revoke(id string) (k receipt.Key, err error) {
	err = r.locked(func(t *receipt.Trust) error {
		for i := range t.Keys {
			if t.Keys[i].ID != id {
				continue
			}
			if t.Keys[i].RevokedAt != nil {
				return ErrRevoked
			}
			at := r.now()
			t.Keys[i].RevokedAt = &at
			k = t.Keys[i]
			return r.writeTrust(t)
		}
		return ErrUnknown
	})
	return k, err
}

// add makes a key: the private one first, so that no document names a key that nobody has.
func (r *Ring) add(t *receipt.Trust, n New) (*receipt.Key, error) {
	if err := n.check(); err != nil {
		return nil, err
	}
	public, private, err := ed25519.GenerateKey(r.random())
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	if n.ID == "" {
		n.ID = "receipt-" + r.now().Format("2006-01-02") + "-" + hex.EncodeToString(public[:4])
	}
	for _, k := range t.Keys {
		if k.ID == n.ID {
			return nil, ErrTaken
		}
	}
	k := receipt.Key{ID: n.ID, PublicKey: public, NotBefore: r.now().Add(n.StartsIn)}
	if n.Lifetime > 0 {
		end := k.NotBefore.Add(n.Lifetime)
		k.NotAfter = &end
	}
	t.Keys = append(t.Keys, k)
	if _, err := t.Document(); err != nil { // before anything is written
		return nil, err
	}
	if err := writePrivate(r.path(n.ID+keySuffix), private); err != nil {
		return nil, err
	}
	return &k, r.writeTrust(t)
}

func (r *Ring) writeTrust(t *receipt.Trust) error {
	document, err := t.Document()
	if err != nil {
		return err
	}
	if err := durable.WriteFile(r.path(TrustFile), document, 0o644); err != nil {
		return fmt.Errorf("write the trust document: %w", err)
	}
	return nil
}

// createLog makes the key of a log. It is made once: another key is another log.
func (r *Ring) createLog(origin string) (path string, err error) {
	if _, err := os.Stat(r.path(LogKeyFile)); err == nil {
		return r.keptLog(origin)
	}
	if origin == "" {
		origin = DefaultOrigin
	}
	private, public, err := note.GenerateKey(r.random(), origin)
	if err != nil {
		return "", fmt.Errorf("make the key of the log: %w", err)
	}
	if err := createFile(r.path(LogKeyFile), []byte(private+"\n")); err != nil {
		return "", err
	}
	path = r.path(LogPublicFile)
	if err := durable.WriteFile(path, []byte(public+"\n"), 0o644); err != nil {
		return "", fmt.Errorf("write the log's public key: %w", err)
	}
	return path, nil
}

// keptLog goes on with the key of a log that is there, and writes the public one when a process was killed before it did.
func (r *Ring) keptLog(origin string) (path string, err error) {
	key, err := ReadLogKey(r.path(LogKeyFile))
	if err != nil {
		return "", err
	}
	if origin != "" && key.Name() != origin {
		return "", fmt.Errorf("%s: %w", key.Name(), ErrOtherLog)
	}
	path = r.path(LogPublicFile)
	if _, err := os.Stat(path); err == nil {
		return "", nil
	}
	text, err := readSmall(r.path(LogKeyFile))
	if err != nil {
		return "", err
	}
	// PRIVATE+KEY+name+hash+key, where the key is the kind and a seed; the public one is name+hash+key.
	parts := strings.SplitN(strings.TrimSpace(string(text)), "+", 5)
	seed, err := base64.StdEncoding.DecodeString(parts[len(parts)-1])
	if err != nil || len(seed) != 1+ed25519.SeedSize {
		return "", fmt.Errorf("%s: its public key cannot be told", LogKeyFile)
	}
	public := append(seed[:1:1], ed25519.NewKeyFromSeed(seed[1:]).Public().(ed25519.PublicKey)...)
	line := strings.Join([]string{key.Name(), fmt.Sprintf("%08x", key.KeyHash()), base64.StdEncoding.EncodeToString(public)}, "+")
	if err := durable.WriteFile(path, []byte(line+"\n"), 0o644); err != nil {
		return "", fmt.Errorf("write the log's public key: %w", err)
	}
	return path, nil
}
