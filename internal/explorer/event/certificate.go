package event

import (
	"context"
	"errors"
	"time"

	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/store"
)

// Freshness is how much a certificate says at this moment.
type Freshness string

// The words for it.
const (
	Current     Freshness = "current"
	Stale       Freshness = "stale"       // nobody vouches for the index, or it lags
	Unavailable Freshness = "unavailable" // no block is finalized
)

// Vouching is what is known of an index's age when its state was read.
type Vouching struct {
	Current bool      // somebody vouches for it, and it is near the head of the chain
	Behind  bool      // it is not near, but somebody vouches for it
	At      time.Time // when a node last told a head that is not below what is indexed
}

// Certificate is how far the lists of an index are certified at one moment.
type Certificate struct {
	Head      *uint64 // the newest indexed block; nil while there is none
	Through   *uint64 // the newest block that is covered; nil while none is finalized
	Freshness Freshness
	Live      bool      // an indexer and its node were heard lately, or nothing says otherwise
	Verified  time.Time // when the index was held against a node's head; zero unless current
	Faulty    bool      // the write path is stopped
}

// CertificateOf is the certificate of an index whose blocks are finalized at a depth.
func CertificateOf(s *chain.State, depth uint64, v Vouching) Certificate {
	c := Certificate{Freshness: Unavailable, Live: true, Faulty: s.HasFault}
	if !s.HasHead {
		return c
	}
	head := s.Head.Number
	c.Head = &head
	through, ok := s.FinalizedBlock(depth)
	if !ok {
		return c
	}
	c.Through = &through
	if v.Current {
		c.Freshness, c.Verified = Current, v.At
	} else {
		c.Freshness, c.Live = Stale, v.Behind
	}
	return c
}

// Lag is how far the certificate is behind the newest indexed block; nil while it
// covers nothing.
func (c *Certificate) Lag() *uint64 {
	if c.Through == nil {
		return nil
	}
	lag := *c.Head - *c.Through
	return &lag
}

// Available says that a wide search may rest on the certificate now.
func (c *Certificate) Available() bool { return !c.Faulty && c.Freshness == Current }

// Servable is the last block that an ordinary search of so many blocks may reach from
// one, and have all of it covered; nil when not even that one is.
func (c *Certificate) Servable(from, blocks uint64) *uint64 {
	if c.Through == nil || from > *c.Through {
		return nil
	}
	last := min(*c.Through, from+blocks-1)
	return &last
}

// Why a certificate cannot stand for a wide search.
var (
	ErrNotCurrent = errors.New("the certificate is not current")
	ErrUncovered  = errors.New("nothing of the range is covered")
)

// Wide is a search that begins now. Its Top is told with ErrUncovered, too. One Get.
func (c *Certificate) Wide(ctx context.Context, r store.Reader, requested Interval) (w Wide, err error) {
	if c.Freshness != Current {
		return w, ErrNotCurrent
	}
	w = NewWide(requested, *c.Through, *c.Head)
	if requested.FromBlock > w.Top {
		return w, ErrUncovered
	}
	w.TopHash, err = block.HashOf(ctx, r, w.Top)
	return w, err
}

// Resume goes on with a search, newest first, whose first page began at a block and
// whose last page ended in another that is part of the chain. When the first is not
// any more, the pages told of blocks that are gone: the claim begins anew. One Get.
func (w *Wide) Resume(ctx context.Context, r store.Reader, began, ended block.Ref) error {
	same, err := began.Holds(ctx, r)
	if err != nil {
		return err
	}
	if !same {
		began = ended
	}
	w.Top, w.TopHash = began.Number, began.Hash
	return nil
}
