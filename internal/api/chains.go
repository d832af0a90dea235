package api

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/explorer/decoded"
	"chainexplorer/internal/explorer/proof"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/registry"
)

// Chain is one chain that the API serves.
type Chain struct {
	ID    string // SN_MAIN or SN_SEPOLIA
	Store explorer.Index
	// Depth is how far below the head a block is finalized; chain.DefaultDepth when 0.
	Depth uint64
	// Heard is what the nodes of this process said lately; nil when nobody in it
	// asks them, and what the indexer left in the store must do.
	Heard func() chain.Seen
	// Node answers live routes; nil when this process reaches none.
	Node Node
	// Trouble says why this process writes nothing new, "" when it does; nil when it
	// never writes.
	Trouble func() string
	// Registry is what is known of the chain beyond its blocks; nil is empty.
	Registry *registry.Chain
	// Proofs are the exact verifications of its classes; nil tells of none.
	Proofs *proof.Book

	revisions  *chain.RevisionMemo
	sighted    *atomic.Pointer[sighting]
	now        func() time.Time
	headMaxAge time.Duration
}

// Options configure the routes.
type Options struct {
	Chains []Chain // the first is the default
	// Labels are the operator's own names of addresses; nil is none.
	Labels Labels
	// HeadMaxAge is how long what a node said of its head, and what an indexer
	// reported, counts (default 60 s).
	HeadMaxAge time.Duration
	// RPC is what the documents and the capabilities say of the JSON-RPC gateway.
	RPC RPCService
	// Verification says why no verification jobs are taken, for /readyz; nil where
	// nothing is verified.
	Verification func(context.Context) error
	// Attempt is the newest try of a workspace to verify a class, unless it succeeded; nil
	// when there is none. It never tells of another workspace's. Nil knows of none.
	Attempt func(ctx context.Context, workspace, chain string, class felt.Felt) (*Attempt, error)
	// Prover says why no requests for proofs are taken, likewise; nil without a relay.
	Prover func() error
}

// Routes are the REST routes of the chains, on a kernel.
type Routes struct {
	*kernel.Server
	Chains    map[string]*Chain
	Order     []string // chain ids as configured
	labels    Labels
	schemas   *decoded.Cache // of class ABIs, which are named by their hash on every chain
	Live      *kernel.Seats  // requests that wait for a node
	batchTime time.Duration
	RPC       RPCService

	verification func(context.Context) error
	attempt      func(ctx context.Context, workspace, chain string, class felt.Felt) (*Attempt, error)
	prover       func() error
}

// New fills the kernel's table. It panics on a mistake in the table itself.
func New(k *kernel.Server, o Options) (*Routes, error) {
	if len(o.Chains) == 0 {
		return nil, errors.New("api: chains are needed")
	}
	s := &Routes{Server: k, Chains: map[string]*Chain{}, labels: o.Labels, RPC: o.RPC, verification: o.Verification, attempt: o.Attempt, prover: o.Prover, schemas: decoded.NewCache(schemaCacheBytes),
		Live: kernel.NewSeats(maxLive, 0, 0), batchTime: min(batchTime, k.Bounds().Timeout)}
	for _, c := range o.Chains {
		if c.Depth == 0 {
			c.Depth = chain.DefaultDepth
		}
		if s.Chains[c.ID] != nil || c.ID == "meta" || c.ID == "" {
			return nil, fmt.Errorf("api: chain %q cannot be served", c.ID)
		}
		c.sighted = new(atomic.Pointer[sighting])
		c.revisions, c.now, c.headMaxAge = new(chain.RevisionMemo), k.Now, kernel.DefaultTo(o.HeadMaxAge, defaultHeadMaxAge)
		s.Chains[c.ID] = &c
		s.Order = append(s.Order, c.ID)
	}
	k.Chains = s.Order
	k.KeepBy(s.revision, s.written)
	k.Explain(explainStore)
	s.routes()
	return s, nil
}

// sighting is when a head was first seen.
type sighting struct {
	hash felt.Felt
	at   time.Time
}

// sightedAt is when this process first saw the index at a head. What the index holds
// there was written by then: it does not keep the times of its writes.
func (c *Chain) sightedAt(head *chain.Head) time.Time {
	for {
		last := c.sighted.Load()
		if last != nil && last.hash == head.Hash {
			return last.at
		}
		now := &sighting{head.Hash, c.now()}
		if c.sighted.CompareAndSwap(last, now) {
			return now.at
		}
	}
}

// revision is that of a chain, for the kernel, with what is proven beside it: answers
// that were kept before a proof came or was withdrawn are not sent any more.
func (s *Routes) revision(ctx context.Context, id string) (chain.Revision, bool) {
	c := s.Chains[id]
	if c == nil {
		return chain.Revision{}, false
	}
	proofs := c.Proofs.Version() // before the view, so that it can only be too old
	now, err := c.revisions.Now(ctx, c.Store)
	now.Proofs = proofs
	return now, err == nil
}

// written counts what is written to the index of a chain, names and classes that come beside
// the blocks included.
func (s *Routes) written(id string) (uint64, bool) {
	c := s.Chains[id]
	if c == nil {
		return 0, false
	}
	return explorer.Commits(c.Store)
}

// explainStore puts what goes wrong with an index into words.
func explainStore(err error) *kernel.Error {
	var layout *chain.LayoutError
	switch {
	case errors.As(err, &layout):
		return kernel.RetryLater(60, err, "The index was written by another version of the service and cannot be read by this one.")
	case explorer.Unreadable(err):
		return kernel.RetryLater(60, err, "A file of the index is damaged, and this cannot be read until it is mended.")
	case explorer.Unavailable(err):
		return kernel.RetryLater(2, err, "The index cannot be read right now; try again.")
	}
	return nil
}

// schemaCacheBytes bounds the class ABIs that are kept ready for decoding.
const schemaCacheBytes = 32 << 20

// ChainInput is the path segment that every chain route has.
type ChainInput struct {
	Chain string `path:"chain" doc:"The chain, such as SN_MAIN."`
}

// served returns the chain of a request.
func (s *Routes) served(id string) (*Chain, *kernel.Error) {
	if c := s.Chains[id]; c != nil {
		return c, nil
	}
	return nil, kernel.Fail(kernel.CodeNotFound, "path.chain: %q is not served here; %s.", kernel.Clip(id, 40), theseAre(s.Order))
}

// theseAre says which names there are.
func theseAre(names []string) string {
	if len(names) == 1 {
		return names[0] + " is"
	}
	return kernel.Listed(names) + " are"
}

// view runs fn on one consistent view of a chain, with the chain's own state.
// What fn answers must follow from the request and the view alone, and not from
// who asks or when: it is kept and sent to others until the next block.
func (s *Routes) view(ctx context.Context, id string, fn func(c *Chain, r explorer.Reader, state *chain.State) error) error {
	c, e := s.served(id)
	if e != nil {
		return e
	}
	if p, ok := ctx.Value(pinKey{}).(*held); ok && p.chain == c {
		return fn(c, p.reader, p.state)
	}
	return chain.View(ctx, c.Store, func(r explorer.Reader, state *chain.State) error {
		if !state.HasHead {
			return kernel.RetryLater(5, nil, "The index of %s has no block yet; it is being built.", id)
		}
		return fn(c, r, state)
	})
}

// held is the view that all routes see which a page asks.
type held struct {
	chain  *Chain
	reader explorer.Reader
	state  *chain.State
}

type pinKey struct{}

// Pin runs fn on one view of a chain. Every route of the chain that is asked with its
// context answers from this view: a page is of one moment, as an answer is. Nothing in fn
// may wait for a node, because views are few.
func (s *Routes) Pin(ctx context.Context, id string, fn func(ctx context.Context, c *Chain, r explorer.Reader, state *chain.State) error) error {
	return s.view(ctx, id, func(c *Chain, r explorer.Reader, state *chain.State) error {
		return fn(context.WithValue(ctx, pinKey{}, &held{c, r, state}), c, r, state)
	})
}

// blockRef finds a block by number, hash or latest; name is where the reference stands. The block is in the room.
func blockRef(ctx context.Context, r explorer.Reader, state *chain.State, name, ref string, room *block.Room) (*block.Summary, error) {
	number, err := blockNumber(ctx, r, state, name, ref)
	if err != nil {
		return nil, err
	}
	s, err := room.Get(ctx, r, number)
	if errors.Is(err, block.ErrNotFound) {
		return nil, kernel.Because(kernel.ReasonBlockNotFound, "Block %d is not indexed; the newest is %d.", number, state.Head.Number)
	}
	return s, err
}

func blockNumber(ctx context.Context, r explorer.Reader, state *chain.State, name, ref string) (uint64, error) {
	if ref == "latest" {
		return state.Head.Number, nil
	}
	if len(ref) > 1 && (ref[:2] == "0x" || ref[:2] == "0X") {
		hash, err := kernel.FeltOf(name, ref)
		if err != nil {
			return 0, err
		}
		n, err := block.NumberOf(ctx, r, hash)
		if errors.Is(err, block.ErrNotFound) {
			return 0, kernel.Because(kernel.ReasonBlockNotFound, "No indexed block has the hash %s.", hash)
		}
		return n, err
	}
	n, ok := kernel.NumberOf(ref)
	if strings.HasPrefix(name, "path.") && strings.Trim(ref, "0123456789") != "" {
		ok = false // one address for one block: 5.0 and 5e0 are numbers in a query, and no names of pages
	}
	if !ok {
		return 0, kernel.Fail(kernel.CodeInvalidRequest, "%s: %q is neither a block number, nor a block hash, nor latest.", name, kernel.Clip(ref, 70))
	}
	return n, nil
}
