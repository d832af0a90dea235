package index

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"chainexplorer/internal/explorer/class"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
)

// Every class that a block declares or first uses is fetched, and what is kept
// of it is committed with the block. The rows are enrichment: no digest covers
// them and no fork undoes them, because a class is what its hash says.
//
// A class that cannot be had never holds the chain back: the block is committed
// with a note that the class is missing, and it is asked for again later. Only
// a Sierra class that no node serves as its hash says stops the run, as a false block
// does; a class of the first Cairo that is not is noted and nothing of it used.

// WhatClassHash is what a MismatchError about a class is about.
const WhatClassHash = "class hash"

const (
	// classCalls bounds the questions for classes at one time.
	classCalls = 8
	// classTimeout ends a question for a class.
	classTimeout = 20 * time.Second
	// classFailures is after how many failures in a row nothing is asked for a
	// while: the node may have its blocks and not its classes.
	classFailures = 3
	// knownClasses is how many classes are remembered to be stored, at least.
	knownClasses = 1 << 16
)

// classRow is what is kept of a class, on its way to the store.
type classRow struct {
	hash felt.Felt
	*fetched
}

// fetched is what is kept of a class that was asked for.
type fetched struct {
	abi   *class.ABI
	iface *class.Interface // nil when the class was not had
}

// put adds the changes of the store.
func (row *classRow) put(b *store.Batch) {
	b.Put(class.ABIKey(row.hash), row.abi.Encode())
	row.abi.PutNames(b)
	if row.iface != nil {
		b.Put(class.InterfaceKey(row.hash), row.iface.Encode())
		row.iface.PutNames(b)
	}
	if row.abi.Status.Wanted() {
		b.Put(class.MissingKey(row.hash), class.EncodeMissing(row.abi.Block))
	} else {
		b.Delete(class.MissingKey(row.hash))
	}
}

// classes finds what classes are new and fetches them.
type classes struct {
	calls chan struct{} // a token for each question under way
	// unpacked is held while a Cairo 0 class is hashed: its program takes many
	// times its size in memory.
	unpacked sync.Mutex

	mu sync.Mutex // guards what follows
	// known are classes that have a row in the store.
	known hashSet
	// wanted are classes that a block of this round asked for and that are not
	// known to be stored.
	wanted map[felt.Felt]*wantedClass

	failures  int
	restUntil time.Time
}

// wantedClass is a class that is being fetched, or was and is not stored yet.
type wantedClass struct {
	done chan struct{}
	// got is nil when the store has the class already. It and err are set when
	// done is closed.
	got *fetched
	err error
}

func newClasses() *classes {
	return &classes{calls: make(chan struct{}, classCalls), wanted: map[felt.Felt]*wantedClass{}}
}

// fetchClasses returns the rows of the classes that the block names and the
// store does not have.
func (x *Indexer) fetchClasses(ctx context.Context, p *prepared) ([]classRow, error) {
	if x.NoClasses {
		return nil, nil
	}
	mentioned := class.Of(p.block)
	if len(mentioned) == 0 {
		return nil, nil
	}
	ours, all := x.classes.want(mentioned)
	if err := x.fetchWanted(ctx, p, ours, all); err != nil {
		return nil, err
	}
	var rows []classRow
	for _, m := range mentioned {
		w := all[m.Hash]
		if w == nil {
			continue // known
		}
		select {
		case <-w.done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if w.err != nil {
			return nil, w.err
		}
		if w.got != nil {
			rows = append(rows, classRow{m.Hash, w.got})
		}
	}
	return rows, nil
}

// want sorts the classes of a block: known ones are left out of all, and ours
// are those that the caller has to fetch, because no other block does.
func (c *classes) want(mentioned []class.Mention) (ours []class.Mention, all map[felt.Felt]*wantedClass) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range mentioned {
		if c.known.has(m.Hash) {
			continue
		}
		if all == nil {
			all = map[felt.Felt]*wantedClass{}
		}
		w := c.wanted[m.Hash]
		if w == nil {
			w = &wantedClass{done: make(chan struct{})}
			c.wanted[m.Hash] = w
			ours = append(ours, m)
		}
		all[m.Hash] = w
	}
	return ours, all
}

// fetchWanted settles our classes: each is in the store, fetched, or missing.
// It closes them all, whatever happens, because other blocks may wait.
func (x *Indexer) fetchWanted(ctx context.Context, p *prepared, ours []class.Mention, all map[felt.Felt]*wantedClass) error {
	if len(ours) == 0 {
		return nil
	}
	stored, err := x.storedClasses(ctx, ours)
	var g errgroup.Group
	for i, m := range ours {
		w := all[m.Hash]
		switch {
		case err != nil:
			w.err = err
			close(w.done)
		case stored[i]:
			x.classes.learn(m.Hash)
			close(w.done)
		default:
			g.Go(func() error {
				defer close(w.done)
				w.got, w.err = x.fetchClass(ctx, m, p.block.Number, x.Verify != VerifyOff)
				return nil
			})
		}
	}
	g.Wait() //nolint:errcheck // each class has its own
	return err
}

func (x *Indexer) storedClasses(ctx context.Context, ms []class.Mention) ([]bool, error) {
	keys := make([]store.Key, len(ms))
	for i := range ms {
		keys[i] = class.ABIKey(ms[i].Hash)
	}
	out := make([]bool, len(ms))
	err := x.Store.View(ctx, func(r store.Reader) error {
		values, err := r.GetMany(ctx, keys)
		for i, v := range values {
			out[i] = v != nil
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("look for %d classes: %w", len(ms), err)
	}
	return out, nil
}

// fetchClass asks for a class of a block. The error is one that stops the block.
func (x *Indexer) fetchClass(ctx context.Context, m class.Mention, number uint64, verify bool) (*fetched, error) {
	absent := &fetched{abi: &class.ABI{Status: class.Absent, Block: number}}
	release, err := x.classes.turn(ctx)
	if err != nil {
		return nil, err
	}
	// Asked when the turn has come: those in front may have failed meanwhile.
	if x.classes.resting() {
		release()
		x.Metrics.classes.WithLabelValues(absent.abi.Status.String()).Inc()
		return absent, nil
	}
	got, err := x.askClass(ctx, m, number, verify)
	release()
	var lie *VerifyError
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.As(err, &lie):
		return nil, err
	case err != nil:
		x.Logger.Warn("a class cannot be had now and is asked for again later", "class", m.Hash, "block", number, "err", err)
		got = absent
	}
	x.Metrics.classes.WithLabelValues(got.abi.Status.String()).Inc()
	return got, nil
}

// turn waits for one of the few places among those that ask.
func (c *classes) turn(ctx context.Context) (release func(), err error) {
	select {
	case c.calls <- struct{}{}:
		return func() { <-c.calls }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// askClass fetches and reads one class, in the caller's turn. A node that serves
// something else is blamed and another is asked. A VerifyError says that no node
// serves what the hash says, any other error that it could not be had.
func (x *Indexer) askClass(ctx context.Context, m class.Mention, number uint64, verify bool) (*fetched, error) {
	var from From
	var doubtful *fetched // what is kept if no node can do better
	var lie error
	for {
		start := time.Now()
		limited, cancel := context.WithTimeout(ctx, classTimeout)
		raw, node, err := x.fetchClassFrom(limited, number, m.Hash, from)
		cancel()
		if ctx.Err() == nil && len(from.Not) == 0 {
			// A class that the node does not have says nothing against the node.
			x.classes.note(err == nil || errors.Is(err, ErrNotFound), x.L1Interval)
		}
		switch {
		case err != nil && doubtful != nil:
			return doubtful, nil
		case errors.Is(err, ErrNoOther) && lie != nil:
			return nil, lie
		case err != nil:
			return nil, err
		}
		x.Metrics.stage("class", start)
		got, err := x.readClass(raw, node, m, number, verify)
		switch {
		case err == nil && got.abi.Status != class.Unverified:
			return got, nil
		case err == nil:
			doubtful = got // no proof against the node, but another may serve it as it was declared
		default:
			lie = err
			x.blame(node, err)
		}
		from.Not = append(from.Not, node)
	}
}

// readClass decodes a class and holds it against its hash.
func (x *Indexer) readClass(raw []byte, node string, m class.Mention, number uint64, verify bool) (*fetched, error) {
	c, err := starknet.DecodeClass(raw)
	if err != nil {
		return nil, fmt.Errorf("class %s from node %s: %w", m.Hash, node, err)
	}
	if verify {
		switch err := x.checkClass(c, m); {
		case errors.Is(err, errUnverified):
			x.Logger.Warn("a Cairo 0 class does not have its hash as the node serves it, and is not used", "class", m.Hash, "block", number, "node", node, "err", err)
			return &fetched{abi: &class.ABI{Status: class.Unverified, Block: number}}, nil
		case err != nil:
			x.Metrics.classes.WithLabelValues("false").Inc()
			return nil, &VerifyError{Block: number, Node: node, Cause: classMismatch(err, number)}
		}
	}
	return &fetched{class.Materialize(c), class.InterfaceOf(c)}, nil
}

// errUnverified says that a class does not have its hash, which may not be the
// node's fault.
var errUnverified = errors.New("class is not verified")

// checkClass holds a class against what is known of it. Nodes print the classes
// of the first Cairo in ways that can differ from how they were declared, so that
// another hash of one is no proof against the node.
func (x *Indexer) checkClass(c *starknet.Class, m class.Mention) error {
	kind := class.Cairo0
	if c.Sierra != nil {
		kind = class.Sierra
	}
	if m.Kind != class.KindUnknown && m.Kind != kind {
		return fmt.Errorf("class %s was declared as %s, the node serves %s", m.Hash, m.Kind, kind)
	}
	if c.Sierra == nil {
		return x.checkCairo0(c.Cairo0, m)
	}
	computed, err := c.Sierra.Hash()
	if err != nil {
		return fmt.Errorf("class %s: %w", m.Hash, err)
	}
	if computed != m.Hash {
		return &starknet.MismatchError{What: WhatClassHash, Index: -1, Claimed: m.Hash, Computed: computed}
	}
	return nil
}

func (x *Indexer) checkCairo0(c *starknet.Cairo0Class, m class.Mention) error {
	x.classes.unpacked.Lock()
	defer x.classes.unpacked.Unlock()
	computed, err := c.Hash()
	if err != nil {
		return fmt.Errorf("%w: %w", errUnverified, err)
	}
	if computed != m.Hash {
		return fmt.Errorf("%w: its hash is %s", errUnverified, computed)
	}
	return nil
}

func classMismatch(err error, number uint64) error {
	var mismatch *starknet.MismatchError
	if errors.As(err, &mismatch) {
		mismatch.Block = number
	}
	return err
}

// resting says that nothing is to be asked for now.
func (c *classes) resting() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Before(c.restUntil)
}

// note counts failures in a row and rests after too many.
func (c *classes) note(ok bool, rest time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if ok {
		c.failures, c.restUntil = 0, time.Time{}
		return
	}
	if c.failures++; c.failures >= classFailures {
		c.restUntil = time.Now().Add(rest)
	}
}

// learn remembers that classes are in the store.
func (c *classes) learn(hashes ...felt.Felt) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, h := range hashes {
		c.known.add(h)
		delete(c.wanted, h)
	}
}

// forget drops what a round fetched and did not commit.
func (c *classes) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.wanted)
}

// hashSet remembers at least the newest knownClasses members, and at most twice
// as many.
type hashSet struct{ young, old map[felt.Felt]struct{} }

func (s *hashSet) has(h felt.Felt) bool {
	if _, ok := s.young[h]; ok {
		return true
	}
	_, ok := s.old[h]
	if ok {
		s.add(h) // it is in use
	}
	return ok
}

func (s *hashSet) add(h felt.Felt) {
	if s.young == nil || len(s.young) >= knownClasses {
		s.old, s.young = s.young, map[felt.Felt]struct{}{}
	}
	s.young[h] = struct{}{}
}
