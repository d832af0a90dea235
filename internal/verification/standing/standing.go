// Package standing keeps in memory which receipts of exact verifications count, for the
// reads: those that a key of the trust document signed which was not revoked and was valid
// then, and that were not withdrawn. Whether the declaration that a receipt names is still on the chain is for the reads
// to see, on the view of the index that they answer from.
//
// A receipt is read and its signature verified once. From then on every refresh reads the
// trust document and the numbers of the newest receipts, and decides anew only when one of
// them has changed. What it does not know it does not tell: without a document that can be
// read no receipt counts. The control database is another matter: one that cannot be reached delays
// what is new, receipts and their withdrawals, which can only be written there.
//
// Costs, with n receipts: about 400 bytes each, half a millisecond each when it is read (on
// a busy machine), and for every refresh one small file, the keys that were revoked and one
// range of about 1,000 numbers, whatever n is. A change of the document is a pass over n entries without any
// cryptography: 1,000 of them take a millisecond, 100,000 a fifth of a second.
package standing

import (
	"bytes"
	"cmp"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"chainexplorer/internal/arrange"
	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/proof"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/verification/job"
	"chainexplorer/internal/verification/logproof"
	"chainexplorer/internal/verification/receipt"
	"chainexplorer/internal/verification/revocation"
	"chainexplorer/internal/verification/withdrawal"
)

const (
	// Every is how often it pays to refresh: so long after a key was revoked, and a
	// moment more, its receipts still count.
	Every = time.Second
	// window is how many numbers below the newest are looked at again: a receipt is
	// numbered before it is signed, and others may come first.
	window = 1000
	// page is how many receipts are read at once. A refresh takes in a few pages:
	// however many there are, the document does not wait for them.
	page = 250
	// patience bounds a query of the control database, and when a refresh begins its last
	// one: with it how late the next look at the trust document can be.
	patience = 2 * time.Second
)

// MaxReceipts bounds those that are kept; more are not told of.
const MaxReceipts = 200_000

// Options are what receipts are judged by.
type Options struct {
	Jobs  *job.Repo
	Chain string
	Trust string // file of the trust document
	// Revoked remembers what documents revoked; nil where only the present one counts.
	Revoked *revocation.Book
	// Withdrawn is which receipts were withdrawn; nil where none can be.
	Withdrawn *withdrawal.Book
	// Logger takes trouble, once while it lasts.
	Logger *slog.Logger
	// Now is time.Now unless a test sets it.
	Now func() time.Time
}

// Receipts are those that count. They are safe for concurrent use.
type Receipts struct {
	Options
	known atomic.Pointer[proof.Known]

	mu       sync.Mutex // guards what follows, for one refresh at a time
	document []byte     // as it was read last; nil when it could not be
	trust    *receipt.Trust
	// takenBack is what the document would make good again that was revoked.
	takenBack error
	claims    []claim             // in the order of their numbers
	numbers   map[uint64]struct{} // of those, and of what is no receipt
	newest    uint64
	withdrawn map[uint64]time.Time
	// mark is the last withdrawal that is known; allRead says that all were, once.
	mark     withdrawal.Mark
	allRead  bool
	judged   bool // what is known follows from what is here
	troubles map[string]string
}

// claim is what a receipt says, and whose word it is.
type claim struct {
	number uint64
	class  felt.Felt
	proof.Proof
	keyID string
	key   ed25519.PublicKey // that made the signature; nil while none is known
	// unsigned is the receipt while key is nil: its key may still be trusted.
	unsigned *receipt.Receipt
}

// New makes an empty set; Refresh fills it.
func New(o Options) *Receipts {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Receipts{Options: o, numbers: map[uint64]struct{}{}, withdrawn: map[uint64]time.Time{}, troubles: map[string]string{}}
	s.known.Store(&proof.Known{})
	return s
}

// Known is what the receipts that count prove. It answers at once.
func (s *Receipts) Known() *proof.Known { return s.known.Load() }

// Run refreshes until the context ends.
func (s *Receipts) Run(ctx context.Context) {
	tick := time.NewTicker(Every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			s.Refresh(ctx)
		}
	}
}

// Refresh sees what has changed. The document comes first and by itself, so that a key
// that was revoked does not have to wait for a database.
func (s *Receipts) Refresh(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tell(ctx, "the trust document cannot be read: no class is called verified", s.readTrust())
	s.judge()
	s.tell(ctx, "revoked keys cannot be remembered", s.learn(ctx))
	s.judge()
	if s.Revoked != nil && !s.Revoked.Read() {
		return // an older document may call keys good that are not
	}
	s.tell(ctx, "withdrawn receipts cannot be read: those that were just withdrawn still count", s.readWithdrawn(ctx))
	if s.Withdrawn != nil && !s.allRead {
		return
	}
	s.tell(ctx, "receipts cannot be read: new ones are not told of", s.readReceipts(ctx))
	s.judge()
}

// learn has remembered what the document revokes, and takes over what others saw revoked.
func (s *Receipts) learn(ctx context.Context) error {
	if s.Revoked == nil {
		return nil
	}
	more, err := s.Revoked.Learn(ctx, s.trust)
	if more {
		s.judged = false
	}
	if s.trust != nil {
		s.takenBack = errors.Join(s.takenBack, s.Revoked.Apply(s.trust))
		s.tell(ctx, "the trust document is older than one that was here: keys that were revoked stay revoked", s.takenBack)
	}
	return err
}

// readWithdrawn takes in which receipts were withdrawn since.
func (s *Receipts) readWithdrawn(ctx context.Context) error {
	if s.Withdrawn == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		list, last, err := s.Withdrawn.Since(ctx, s.mark, window)
		if err != nil {
			return err
		}
		for _, w := range list { // what was withdrawn stays so, whatever database comes back
			s.withdrawn[w.Number] = w.At
		}
		s.mark, s.judged = last, s.judged && len(list) == 0
		if len(list) < window {
			s.allRead = true
			return nil
		}
	}
}

// tell logs trouble when it begins or changes.
func (s *Receipts) tell(ctx context.Context, what string, err error) {
	switch {
	case err == nil:
		delete(s.troubles, what)
	case ctx.Err() == nil && s.troubles[what] != err.Error():
		s.troubles[what] = err.Error()
		s.Logger.Error(what, "err", err)
	}
}

func (s *Receipts) readTrust() error {
	data, err := os.ReadFile(s.Trust)
	if err == nil && s.document != nil && bytes.Equal(data, s.document) {
		return nil
	}
	var trust *receipt.Trust
	if err == nil {
		trust, err = receipt.ParseTrust(data)
	}
	if err != nil {
		s.judged = s.judged && s.trust == nil
		s.document, s.trust = nil, nil
		return err
	}
	s.document, s.trust, s.judged = data, trust, false
	if s.takenBack = nil; s.Revoked != nil {
		s.takenBack = s.Revoked.Apply(trust)
	}
	for i := range s.claims {
		s.claims[i].attribute(trust)
	}
	return nil
}

// attribute finds the key that signed a claim.
func (c *claim) attribute(t *receipt.Trust) {
	if c.unsigned == nil || t == nil {
		return
	}
	if k := t.Key(c.keyID); k != nil && k.Signed(c.unsigned) == nil {
		c.key, c.unsigned = k.PublicKey, nil
	}
}

// readReceipts takes in those that were not there before, or as many of them as a refresh
// has time for.
func (s *Receipts) readReceipts(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	list, err := s.Jobs.Numbers(limited, s.Chain, s.newest-min(s.newest, window), window+page)
	if err != nil {
		return err
	}
	fresh := slices.DeleteFunc(list, func(n uint64) bool {
		_, known := s.numbers[n]
		return known
	})
	for part := range slices.Chunk(fresh, page) {
		if limited.Err() != nil {
			return nil
		}
		if err := s.read(ctx, part); err != nil {
			return err
		}
	}
	return nil
}

// read takes in receipts by their numbers.
func (s *Receipts) read(ctx context.Context, numbers []uint64) error {
	if len(s.claims)+len(numbers) > MaxReceipts {
		return fmt.Errorf("there are more than %d receipts", MaxReceipts)
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	all, err := s.Jobs.Documents(ctx, s.Chain, numbers[0], numbers[len(numbers)-1])
	if err != nil {
		return err
	}
	var wrong error
	for _, n := range numbers {
		text, ok := all[n]
		if !ok {
			continue
		}
		s.numbers[n], s.newest = struct{}{}, max(s.newest, n)
		c, err := parse(n, s.Chain, text)
		if err != nil {
			wrong = errors.Join(wrong, fmt.Errorf("receipt %d: %w", n, err))
			continue
		}
		c.attribute(s.trust)
		s.claims, s.judged = append(s.claims, *c), false
	}
	arrange.By(s.claims, func(a, b claim) int { return cmp.Compare(a.number, b.number) })
	return wrong
}

func parse(number uint64, chain string, text []byte) (*claim, error) {
	r, err := receipt.Parse(text)
	if err != nil {
		return nil, err
	}
	e := r.Evidence
	if e.ChainID != chain || e.ReceiptID != number {
		return nil, errors.New("it is about something else")
	}
	class, err := felt.Parse(e.ClassHash)
	if err != nil {
		return nil, err
	}
	declared, err := felt.Parse(e.Declaration.BlockHash)
	if err != nil {
		return nil, err
	}
	issued, err := e.Issued()
	if err != nil {
		return nil, err
	}
	entry, err := logproof.Entry(r)
	if err != nil {
		return nil, err
	}
	return &claim{number: number, class: class, keyID: r.KeyID, unsigned: r,
		Proof: proof.Proof{Declared: block.Ref{Number: e.Declaration.BlockNumber, Hash: declared}, Digest: logproof.Digest(entry), Issued: issued.UTC()}}, nil
}

// judge says anew what is known, if that may have changed.
func (s *Receipts) judge() {
	if s.judged {
		return
	}
	s.judged = true
	now, classes, gone := s.Now(), map[felt.Felt][]proof.Proof{}, map[felt.Felt]proof.Withdrawal{}
	for i := range s.claims {
		c := &s.claims[i]
		if s.trust == nil || c.key == nil {
			continue
		}
		k := s.trust.Key(c.keyID)
		if k == nil || !k.PublicKey.Equal(c.key) {
			continue
		}
		if at, withdrawn := s.withdrawn[c.number]; withdrawn {
			gone[c.class] = gone[c.class].With(c.Digest, at)
			continue
		}
		var refused *receipt.Refusal
		switch err := k.Admits(c.Issued, now); {
		case err == nil:
			classes[c.class] = append(classes[c.class], c.Proof)
		case errors.As(err, &refused) && refused.Failure == receipt.IssuedAhead:
			s.judged = false // it will count when it is time
		}
	}
	last := s.known.Load()
	if !maps.EqualFunc(last.Classes, classes, slices.Equal) || !maps.Equal(last.Withdrawn, gone) {
		s.known.Store(&proof.Known{Version: last.Version + 1, Classes: classes, Withdrawn: gone})
	}
}
