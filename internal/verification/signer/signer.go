// Package signer holds the keys of receipts and of the transparency log. It has two narrow calls:
// one signs evidence of an exact verification, the other the head of a log that has only grown. A
// third signs nothing: it says whether the first could.
// It believes nobody, the service included: what is not well formed, of another chain or time, a
// receipt's number with other evidence, and a log that forgot or changed a leaf are refused.
// What it signed is in a journal on its own disk before anybody gets it.
package signer

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"chainexplorer/internal/verification/keyring"
	"chainexplorer/internal/verification/logproof"
	"chainexplorer/internal/verification/receipt"
)

// Chain is the only one that receipts are issued for.
const Chain = "SN_MAIN"

// clockSkew is how far issuedAt may be from the signer's own clock.
const clockSkew = 5 * time.Minute

// JournalFile is the name of the journal beside the key, unless another is given.
const JournalFile = "signer.journal"

// Code says by one word why something was not signed.
type Code string

// Why the signer refuses.
const (
	Malformed   Code = "malformed"         // not evidence, or not a request
	WrongChain  Code = "wrong_chain"       // evidence of another chain than SN_MAIN
	WrongTime   Code = "wrong_time"        // issuedAt is not near the signer's clock
	Reused      Code = "receipt_id_reused" // that receipt has other evidence
	NoValidKey  Code = "no_valid_key"      // the trust document has no key of the signer's that is valid now and was then
	NoLog       Code = "no_log"            // the signer has no key of a log
	LogBase     Code = "log_base"          // the proof begins at another size than the last checkpoint's, which Size tells
	LogShrunk   Code = "log_shrunk"        // smaller than the last checkpoint
	LogForked   Code = "log_forked"        // not what the last checkpoint had, and more
	Unavailable Code = "unavailable"       // trouble of the signer's own; the only one that can pass
)

// Refused is the error of what is not signed.
type Refused struct {
	Code   Code
	Reason string
	Size   int64 // of the last checkpoint, with LogBase, LogShrunk and LogForked
}

func (r *Refused) Error() string { return fmt.Sprintf("the signer refuses (%s): %s", r.Code, r.Reason) }

func refuse(code Code, format string, args ...any) error {
	return &Refused{Code: code, Reason: fmt.Sprintf(format, args...)}
}

// Options say which keys a signer holds.
type Options struct {
	// Keys are files of private keys. The one that became valid last signs.
	Keys []string
	// Trust is the trust document; that beside the first key when empty. It is read for every receipt,
	// so that a key that was revoked signs nothing more, whatever it says later.
	Trust string
	// LogKey is the file of the log's key; that beside the first key, if any, when empty.
	LogKey string
	// Journal is the file of what was signed; beside the first key when empty.
	Journal string
	Logger  *slog.Logger
	// Now is time.Now unless a test sets it.
	Now func() time.Time
}

// Signer holds keys in this process.
type Signer struct {
	keys  []ed25519.PrivateKey
	trust string
	log   note.Signer // nil without a log
	now   func() time.Time

	logger *slog.Logger

	mu      sync.Mutex // one call at a time
	journal *journal
	older   string // a key that the trust document calls good again, of which the log was told
}

// Open reads the keys and replays the journal.
func Open(o Options) (_ *Signer, err error) {
	if len(o.Keys) == 0 {
		return nil, errors.New("signer: it was given no key")
	}
	beside := func(name string) string { return filepath.Join(filepath.Dir(o.Keys[0]), name) }
	if o.Trust == "" {
		o.Trust = beside(keyring.TrustFile)
	}
	if o.Journal == "" {
		o.Journal = beside(JournalFile)
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Signer{trust: o.Trust, now: o.Now, logger: o.Logger}
	if s.now == nil {
		s.now = time.Now
	}
	for _, path := range o.Keys {
		key, err := keyring.ReadPrivate(path)
		if err != nil {
			return nil, fmt.Errorf("signer: %w", err)
		}
		s.keys = append(s.keys, key)
	}
	if _, err := keyring.ReadTrust(s.trust); err != nil {
		return nil, fmt.Errorf("signer: trust document: %w", err)
	}
	path := o.LogKey
	if path == "" {
		path = beside(keyring.LogKeyFile)
	}
	if s.log, err = keyring.ReadLogKey(path); err != nil && (o.LogKey != "" || !errors.Is(err, os.ErrNotExist)) {
		return nil, fmt.Errorf("signer: %w", err)
	}
	if s.journal, err = openJournal(o.Journal, o.Logger); err != nil {
		return nil, fmt.Errorf("signer: journal %s: %w", o.Journal, err)
	}
	if _, err := s.readTrust(); err != nil { // remembers what is revoked now
		return nil, errors.Join(fmt.Errorf("signer: %w", err), s.journal.Close())
	}
	return s, nil
}

// Close ends the signer; calls after it fail.
func (s *Signer) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.journal.Close()
}

// Sign makes the receipt of evidence. The same evidence gets the same receipt, however often it is
// asked for and whatever happened to the key since.
func (s *Signer) Sign(ctx context.Context, e receipt.Evidence) (*receipt.Receipt, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	message, err := e.Canonical()
	if err != nil {
		return nil, refuse(Malformed, "the evidence has no canonical form")
	}
	if _, err := receipt.ParseEvidence(message); err != nil {
		return nil, refuse(Malformed, "%v", err)
	}
	if e.ChainID != Chain {
		return nil, refuse(WrongChain, "evidence of %s; receipts are issued for %s alone", e.ChainID, Chain)
	}
	digest := sha256.Sum256(message)
	if before, ok, err := s.journal.receipt(e.ReceiptID); err != nil {
		return nil, refuse(Unavailable, "the journal cannot be read")
	} else if ok {
		if before.digest != digest {
			return nil, refuse(Reused, "receipt %d was signed with other evidence", e.ReceiptID)
		}
		return &receipt.Receipt{SchemaVersion: receipt.SchemaVersion, Algorithm: receipt.Algorithm, KeyID: before.keyID, Evidence: &e, Signature: before.signature}, nil
	}
	now := s.now()
	issued, err := e.Issued()
	if err != nil || issued.Before(now.Add(-clockSkew)) || issued.After(now.Add(clockSkew)) {
		return nil, refuse(WrongTime, "issuedAt is more than %s from the signer's clock", clockSkew)
	}
	return s.signNew(e, digest, issued, now)
}

// Ready says whether evidence that is issued now would find a key, so that nobody builds what
// cannot be signed.
func (s *Signer) Ready(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	trust, err := s.readTrust()
	if err != nil {
		return err
	}
	now := s.now()
	if key, _ := s.pick(trust, now, now); key == nil {
		return errNoKey
	}
	return nil
}

var (
	errNoTrust = refuse(Unavailable, "the trust document cannot be read")
	errNoKey   = refuse(NoValidKey, "the trust document names no key of this signer that is valid now and was when the evidence was issued")
)

// readTrust reads the trust document. A key of this signer's that it ever called revoked stays
// so: an older document that is put back does not make it sign again.
func (s *Signer) readTrust() (*receipt.Trust, error) {
	trust, err := keyring.ReadTrust(s.trust)
	if err != nil {
		return nil, errNoTrust
	}
	older := ""
	for i := range trust.Keys {
		k := &trust.Keys[i]
		switch remembered := s.journal.isRevoked(k.PublicKey); {
		case remembered && k.RevokedAt == nil:
			at := s.now()
			k.RevokedAt, older = &at, k.ID
		case !remembered && k.RevokedAt != nil && s.holds(k.PublicKey):
			if err := s.journal.addRevoked(k.PublicKey); err != nil {
				return nil, refuse(Unavailable, "the journal cannot be written")
			}
		}
	}
	if older != "" && older != s.older {
		s.logger.Error("the trust document is older than one that was here: a key that was revoked stays revoked", "key", older)
	}
	s.older = older
	return trust, nil
}

func (s *Signer) holds(key ed25519.PublicKey) bool {
	return slices.ContainsFunc(s.keys, func(private ed25519.PrivateKey) bool { return key.Equal(private.Public()) })
}

// pick is the newest of the keys that are valid now and were when something was issued: around a
// rotation, and where clocks differ, that is not the newest of all. It is nil when there is none.
func (s *Signer) pick(trust *receipt.Trust, issued, now time.Time) (key ed25519.PrivateKey, named *receipt.Key) {
	for i := range trust.Keys {
		k := &trust.Keys[i]
		if keyring.StateOf(k, now) != keyring.Valid || k.Admits(issued, now) != nil {
			continue
		}
		for _, private := range s.keys {
			if k.PublicKey.Equal(private.Public()) && (named == nil || k.NotBefore.After(named.NotBefore)) {
				key, named = private, k
			}
		}
	}
	return key, named
}

// signNew signs what was never signed.
func (s *Signer) signNew(e receipt.Evidence, digest [32]byte, issued, now time.Time) (*receipt.Receipt, error) {
	trust, err := s.readTrust()
	if err != nil {
		return nil, err
	}
	key, named := s.pick(trust, issued, now)
	if key == nil {
		return nil, errNoKey
	}
	r, err := receipt.Sign(e, named.ID, key)
	if err != nil {
		return nil, refuse(Malformed, "%v", err)
	}
	// Those who pinned the document must believe it. They judge by issuedAt and not by our clock.
	if err := trust.Verify(r, now); err != nil {
		return nil, refuse(NoValidKey, "%v", err)
	}
	if err := s.journal.addReceipt(e.ReceiptID, digest, r); err != nil {
		return nil, refuse(Unavailable, "the journal cannot be written")
	}
	return r, nil
}

// Growth is a log that is larger than at its last checkpoint, with the proof.
type Growth struct {
	Size    int64
	Root    tlog.Hash
	OldSize int64 // of the last checkpoint that the signer signed; 0 for none
	Proof   tlog.TreeProof
}

// SignCheckpoint signs the head of the log, which holds all that the last checkpoint held, at
// the same places. The answer is a signed note.
func (s *Signer) SignCheckpoint(ctx context.Context, g Growth) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if s.log == nil {
		return nil, refuse(NoLog, "this signer has no key of a log")
	}
	last := s.journal.head
	about := func(code Code, reason string) error { return &Refused{Code: code, Reason: reason, Size: last.N} }
	switch {
	case g.Size < 1:
		return nil, refuse(Malformed, "a log without leaves has no checkpoint")
	case g.Size < last.N:
		return nil, about(LogShrunk, fmt.Sprintf("the log has %d leaves, and had %d", g.Size, last.N))
	case g.Size == last.N && g.Root != last.Hash:
		return nil, about(LogForked, fmt.Sprintf("another log of %d leaves was signed", last.N))
	case g.Size > last.N && g.OldSize != last.N:
		return nil, about(LogBase, fmt.Sprintf("the last checkpoint has %d leaves", last.N))
	case g.Size > last.N && last.N > 0:
		if err := tlog.CheckTree(g.Proof, g.Size, g.Root, last.N, last.Hash); err != nil {
			return nil, about(LogForked, fmt.Sprintf("it is not the log of %d leaves that was signed, with more behind it", last.N))
		}
	}
	c := logproof.Checkpoint{Origin: s.log.Name(), Size: g.Size, Root: g.Root}
	signed, err := c.Sign(s.log)
	if err != nil {
		return nil, refuse(Unavailable, "the checkpoint cannot be signed")
	}
	if g.Size > last.N {
		if err := s.journal.addHead(tlog.Tree{N: g.Size, Hash: g.Root}); err != nil {
			return nil, refuse(Unavailable, "the journal cannot be written")
		}
	}
	return signed, nil
}
