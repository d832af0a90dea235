// Package publication is what everybody may read about receipts, without a key: the trust-root
// document, and the transparency log in the layout of C2SP tlog-tiles.
package publication

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"chainexplorer/internal/kernel"
	"chainexplorer/internal/verification/logproof"
	"chainexplorer/internal/verification/receipt"
	"chainexplorer/internal/verification/revocation"
	"chainexplorer/internal/verification/translog"
)

// Where everything is.
const (
	TrustPath = "/.well-known/service-receipt-trust-root.json"
	LogPath   = "/receipt-log"
)

const (
	textType  = "text/plain; charset=utf-8"
	bytesType = "application/octet-stream"
	// A document that changes is asked about again within this time; a tile never changes.
	brief   = "public, max-age=60"
	instant = "public, max-age=1"
	forever = "public, max-age=31536000, immutable"
)

// Options say what is published. Without one of them its paths answer that there is none.
type Options struct {
	// Trust is the file of the trust-root document. It is read again when it may have changed.
	Trust string
	// Revoked remembers what documents revoked: one that takes it back is not published. It may be nil.
	Revoked *revocation.Book
	// Log is the log, and LogKey its public key as text.
	Log    *translog.Log
	LogKey string
	// Now is time.Now unless a test sets it.
	Now func() time.Time
}

// routes answers for what is published.
type routes struct {
	Options
	k *kernel.Server

	mu      sync.Mutex // guards the copy of the document
	read    time.Time
	copied  []byte
	learned time.Time // when the revoked keys were asked for last
}

// New checks what is to be published, and serves it.
func New(k *kernel.Server, o Options) error {
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &routes{Options: o, k: k}
	if o.Trust != "" {
		// One that takes a revocation back is no reason to serve nothing else.
		if _, err := s.document(context.Background()); err != nil && !errors.Is(err, revocation.ErrTakenBack) && !errors.Is(err, errUnlearned) {
			return err
		}
	}
	k.Open("GET "+TrustPath, s.answer(brief, kernel.JSONType, s.trust))
	k.Open("GET "+LogPath+"/key", s.answer(brief, textType, s.key))
	k.Open("GET "+LogPath+"/checkpoint", s.answer(instant, textType, s.checkpoint))
	k.Open("GET "+LogPath+"/tile/{path...}", s.answer(forever, bytesType, s.tile))
	k.Open("GET "+LogPath+"/proof/{digest}", s.answer(brief, textType, s.proof))
	k.Open("GET "+LogPath+"/withdrawn/{digest}", s.answer(instant, textType, s.withdrawn))
	return nil
}

// errNone says that nothing of the kind is published here.
var errNone = errors.New("none")

// answer sends what a function found, with a validator.
func (s *routes) answer(caching, kind string, find func(*http.Request) ([]byte, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := find(r)
		if err != nil {
			s.fail(w, r, err)
			return
		}
		sum := sha256.Sum256(body)
		tag := hex.EncodeToString(sum[:16])
		h := w.Header()
		h.Set("Cache-Control", caching)
		h.Set("ETag", `"`+tag+`"`)
		if _, same := kernel.Matches(r.Header["If-None-Match"], tag, tag); same {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		h.Set("Content-Type", kind)
		h.Set("Content-Length", strconv.Itoa(len(body)))
		if r.Method != http.MethodHead {
			w.Write(body) //nolint:errcheck // the client went away
		}
	}
}

func (s *routes) fail(w http.ResponseWriter, r *http.Request, err error) {
	id := kernel.RecordOf(w).ID
	switch {
	case errors.Is(err, errNone):
		kernel.SendError(w, r, kernel.Fail(kernel.CodeNotFound, "This service issues no verification receipts."), id, nil)
	case errors.Is(err, translog.ErrUnknown):
		kernel.SendError(w, r, kernel.Fail(kernel.CodeNotFound, "The log of receipts does not have this."), id, nil)
	case errors.Is(err, translog.ErrNotPublished):
		kernel.SendError(w, r, kernel.RetryLater(2, nil, "The log of receipts has no signed head with this yet."), id, nil)
	case errors.Is(err, context.Canceled):
		return // nobody is there
	default:
		s.k.Log.Error("publication failed", "request_id", id, "err", err)
		kernel.SendError(w, r, kernel.RetryLater(5, nil, "This cannot be read at the moment."), id, nil)
	}
}

// document reads the trust document, at most once a second. What is no trust document is not published.
func (s *routes) document(ctx context.Context) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := s.Now(); s.copied != nil && now.Sub(s.read) < time.Second && !now.Before(s.read) {
		return s.copied, nil
	}
	data, err := os.ReadFile(s.Options.Trust)
	if err != nil {
		return nil, err
	}
	trust, err := receipt.ParseTrust(data)
	if err == nil {
		err = s.takesNothingBack(ctx, trust)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Options.Trust, err)
	}
	s.copied, s.read = bytes.Clone(data), s.Now()
	return s.copied, nil
}

// errUnlearned says that nobody knows yet which keys were revoked.
var errUnlearned = errors.New("the keys that were revoked before cannot be read")

// takesNothingBack refuses a document that calls a key good which another revoked. While the
// control database is away, what is known of revoked keys counts.
func (s *routes) takesNothingBack(ctx context.Context, t *receipt.Trust) error {
	if s.Revoked == nil {
		return nil
	}
	if now := s.Now(); now.Sub(s.learned) >= time.Second || now.Before(s.learned) {
		s.learned = now
		if _, err := s.Revoked.Learn(ctx, t); err != nil {
			s.k.Log.Error("revoked keys cannot be remembered", "err", err)
		}
	}
	if !s.Revoked.Read() {
		return errUnlearned
	}
	return s.Revoked.Apply(t)
}

func (s *routes) trust(r *http.Request) ([]byte, error) {
	if s.Options.Trust == "" {
		return nil, errNone
	}
	return s.document(r.Context())
}

func (s *routes) key(*http.Request) ([]byte, error) {
	if s.Log == nil {
		return nil, errNone
	}
	return []byte(s.LogKey + "\n"), nil
}

func (s *routes) checkpoint(r *http.Request) ([]byte, error) {
	if s.Log == nil {
		return nil, errNone
	}
	_, signed, err := s.Log.Checkpoint(r.Context())
	return signed, err
}

// tile reads paths such as 0/x001/234 and entries/000.p/17, which have one spelling each.
func (s *routes) tile(r *http.Request) ([]byte, error) {
	if s.Log == nil {
		return nil, errNone
	}
	path := r.PathValue("path")
	if rest, ok := strings.CutPrefix(path, "entries/"); ok {
		path = "data/" + rest
	} else if strings.HasPrefix(path, "data/") {
		return nil, translog.ErrUnknown
	}
	t, err := tlog.ParseTilePath(fmt.Sprintf("tile/%d/%s", translog.Height, path))
	if err != nil {
		return nil, translog.ErrUnknown
	}
	return s.Log.Tile(r.Context(), t)
}

// proof proves a receipt by the digest of its canonical form, which its holder can compute.
func (s *routes) proof(r *http.Request) ([]byte, error) {
	return s.prove(r, func(entry []byte) []byte { return entry })
}

// withdrawn proves that a receipt was withdrawn, by the same digest.
func (s *routes) withdrawn(r *http.Request) ([]byte, error) { return s.prove(r, logproof.Withdrawal) }

func (s *routes) prove(r *http.Request, entryOf func(digest []byte) []byte) ([]byte, error) {
	if s.Log == nil {
		return nil, errNone
	}
	text := r.PathValue("digest")
	digest, err := hex.DecodeString(text)
	if err != nil || len(digest) != sha256.Size || strings.ToLower(text) != text {
		return nil, translog.ErrUnknown
	}
	p, err := s.Log.Prove(r.Context(), entryOf(digest))
	if err != nil {
		return nil, err
	}
	return p.Text(), nil
}

// ProofPath is where the proof of a receipt is.
func ProofPath(r *receipt.Receipt) (string, error) {
	entry, err := logproof.Entry(r)
	if err != nil {
		return "", err
	}
	return LogPath + "/proof/" + hex.EncodeToString(entry), nil
}
