package keyring

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"

	"chainexplorer/internal/durable"
	"chainexplorer/internal/verification/receipt"
)

// maxFile bounds a file of the folder.
const maxFile = 64 << 10

// pemType is of a key in PKCS #8, as openssl writes it.
const pemType = "PRIVATE KEY"

// State is what a key is good for now.
type State string

// The states of keys.
const (
	Waiting State = "not_yet_valid"
	Valid   State = "valid"
	Expired State = "expired"
	Revoked State = "revoked"
)

// StateOf says what a key is good for.
func StateOf(k *receipt.Key, now time.Time) State {
	switch {
	case k.RevokedAt != nil:
		return Revoked
	case now.Before(k.NotBefore):
		return Waiting
	case k.NotAfter != nil && !now.Before(*k.NotAfter):
		return Expired
	}
	return Valid
}

// Entry is a key of the trust document.
type Entry struct {
	receipt.Key
	State State
	Held  bool // whether its private key is in the folder
}

// List is all keys, in the order in which they were made.
func (r *Ring) List() ([]Entry, error) {
	t, err := ReadTrust(r.path(TrustFile))
	if err != nil {
		return nil, err
	}
	var list []Entry
	for _, k := range t.Keys {
		_, err := os.Stat(r.path(k.ID + keySuffix))
		list = append(list, Entry{Key: k, State: StateOf(&k, r.now()), Held: err == nil})
	}
	return list, nil
}

// ReadTrust reads a trust document.
func ReadTrust(path string) (*receipt.Trust, error) {
	data, err := readSmall(path)
	if err != nil {
		return nil, err
	}
	t, err := receipt.ParseTrust(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}

// ReadPrivate reads a private key that nobody else can read.
func ReadPrivate(path string) (ed25519.PrivateKey, error) {
	data, err := readSecret(path)
	if err != nil {
		return nil, err
	}
	block, rest := pem.Decode(data)
	if block == nil || block.Type != pemType || len(strings.TrimSpace(string(rest))) > 0 {
		return nil, fmt.Errorf("signing key %s: it is not one key in PEM", path)
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("signing key %s: it is not a key in PKCS #8", path) // the reason might quote it
	}
	private, ok := key.(ed25519.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("signing key %s: it is not an Ed25519 key", path)
	}
	return private, nil
}

// ReadLogKey reads the private key of a log, under the same rules.
func ReadLogKey(path string) (note.Signer, error) {
	data, err := readSecret(path)
	if err != nil {
		return nil, err
	}
	key, err := note.NewSigner(strings.TrimSpace(string(data)))
	if err != nil {
		return nil, fmt.Errorf("log key %s: it is not the key of a signed note", path)
	}
	return key, nil
}

// ReadLogPublic reads the public key of a log, which others pin.
func ReadLogPublic(path string) (note.Verifier, string, error) {
	data, err := readSmall(path)
	if err != nil {
		return nil, "", err
	}
	text := strings.TrimSpace(string(data))
	key, err := note.NewVerifier(text)
	if err != nil {
		return nil, "", fmt.Errorf("log key %s: it is not a name, a hash and a key with plus signs between them", path)
	}
	return key, text, nil
}

func readSmall(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // read only
	return bounded(f)
}

func bounded(f *os.File) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("%s has more than %d bytes", f.Name(), maxFile)
	}
	return data, nil
}

// readSecret refuses a file that others can read: whoever read it may sign.
func readSecret(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()       //nolint:errcheck // read only
	info, err := f.Stat() // of what is open, whatever the name stands for by now
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a file", path)
	case info.Mode().Perm()&0o077 != 0:
		return nil, fmt.Errorf("%s can be read or written by others (mode %04o): take a new key, or chmod 600 it if nobody did", path, info.Mode().Perm())
	}
	return bounded(f)
}

func writePrivate(path string, key ed25519.PrivateKey) error {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return errors.New("write a key: it cannot be encoded")
	}
	return createFile(path, pem.EncodeToMemory(&pem.Block{Type: pemType, Bytes: der}))
}

// createFile makes a file that must not be there yet, for its owner alone.
func createFile(path string, data []byte) (err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("write a key: %w", err)
	}
	_, err = f.Write(data)
	if err := errors.Join(err, f.Chmod(0o600), f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("write a key: %w", err)
	}
	return durable.SyncDir(filepath.Dir(path))
}
