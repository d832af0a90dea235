// Package live tells what is new on chains, to however many want to know: one watcher
// looks at each index, and only while somebody listens.
//
// Costs: a look every interval, which is no read where the index can tell that nothing was
// written, and otherwise one view with the state and the newest blocks. Whoever listens
// holds nothing but the last state: a slow listener misses states, not blocks, as long as
// it is not slower than Recent blocks.
package live

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/felt"
)

// Recent is how many of the newest blocks a state has.
const Recent = 16

// Head is a block that was the newest.
type Head struct {
	Number       uint64
	Hash         felt.Felt
	Timestamp    uint64
	Transactions uint64
}

// State is a chain at one moment.
type State struct {
	// Heads are the newest blocks, the newest last; there is at least one.
	Heads []Head
	// Finalized and L1 are the newest blocks of these tiers; nil where there are none.
	Finalized, L1 *uint64
	// Forks changes whenever blocks were taken back.
	Forks uint64
}

// Newest is the newest block.
func (s *State) Newest() Head { return s.Heads[len(s.Heads)-1] }

// Chain is what is watched.
type Chain struct {
	ID    string
	Index explorer.Index
	Depth uint64 // of finality
}

// Options configure a Hub.
type Options struct {
	Every  time.Duration // how often an index is looked at; half a second when zero
	Logger *slog.Logger
}

// Hub has the watchers of all chains.
type Hub struct {
	feeds map[string]*Feed
	life  context.Context
	end   context.CancelFunc

	mu     sync.Mutex // guards closed, and is held where work begins
	closed bool
	work   sync.WaitGroup
}

// New makes a hub, in which nothing runs yet.
func New(chains []Chain, o Options) *Hub {
	if o.Every == 0 {
		o.Every = 500 * time.Millisecond
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	h := &Hub{feeds: map[string]*Feed{}}
	h.life, h.end = context.WithCancel(context.Background())
	for _, c := range chains {
		h.feeds[c.ID] = &Feed{hub: h, chain: c, o: o, changed: make(chan struct{}), hashes: map[uint64]*felt.Felt{}}
	}
	return h
}

// Close ends all watching, and returns when nothing runs any more. Nothing is told to
// whoever joins later.
func (h *Hub) Close() {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.end()
	h.work.Wait()
}

// begin runs something until it ends by itself, unless the hub is closed.
func (h *Hub) begin(f func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.closed {
		h.work.Go(f)
	}
}

// Done is closed when the hub is.
func (h *Hub) Done() <-chan struct{} { return h.life.Done() }

// Feed is what there is to hear of a chain; nil where it is not watched.
func (h *Hub) Feed(id string) *Feed { return h.feeds[id] }

// Feed tells the states of one chain.
type Feed struct {
	hub   *Hub
	chain Chain
	o     Options

	mu        sync.Mutex // guards what follows
	listeners int
	halt      context.CancelFunc // of the watcher that runs
	state     *State             // nil before the first look
	changed   chan struct{}      // closed when state is replaced
	hashes    map[uint64]*felt.Felt
}

// Join makes the feed run until leave is called, which must be once.
func (f *Feed) Join() (leave func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.listeners++; f.listeners == 1 {
		ctx, halt := context.WithCancel(f.hub.life)
		f.halt, f.state = halt, nil // what was known before is old
		f.hub.begin(func() { f.watch(ctx) })
	}
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.listeners--; f.listeners == 0 {
			f.halt()
		}
	}
}

// Now is the state, nil before the first look, and a channel that is closed when there is
// another.
func (f *Feed) Now() (*State, <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.state, f.changed
}

// watch looks at the index until ctx ends.
func (f *Feed) watch(ctx context.Context) {
	tick := time.NewTicker(f.o.Every)
	defer tick.Stop()
	var memo chain.RevisionMemo
	var last *chain.Revision
	failed := false
	for {
		at, err := memo.Now(ctx, f.chain.Index)
		if err == nil && (last == nil || *last != at) {
			var state *State
			if state, err = f.read(ctx); err == nil {
				last = &at // read before the state, so that the state can only be newer
				f.tell(ctx, state)
			}
		}
		if err != nil && ctx.Err() == nil && !failed {
			f.o.Logger.Warn("the index cannot be watched", "chain", f.chain.ID, "err", err)
		}
		failed = err != nil
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// tell replaces the state, unless this watcher was stopped: another may run by now. An
// index without a block has none.
func (f *Feed) tell(ctx context.Context, state *State) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if state == nil || ctx.Err() != nil {
		return
	}
	f.state = state
	clear(f.hashes)
	close(f.changed)
	f.changed = make(chan struct{})
}

// lookTime bounds a look.
const lookTime = 10 * time.Second

func (f *Feed) read(ctx context.Context) (out *State, err error) {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	err = chain.View(ctx, f.chain.Index, func(r explorer.Reader, s *chain.State) error {
		if !s.HasHead {
			return nil
		}
		blocks, err := block.List(ctx, r, s.Head.Number, Recent)
		if err != nil {
			return err
		}
		out = &State{Forks: 2 * s.Fork.Count}
		if s.Rewinding {
			out.Forks++
		}
		for _, b := range slices.Backward(blocks) {
			out.Heads = append(out.Heads, Head{b.Number, b.Hash, b.Timestamp, b.Transactions})
		}
		if n, ok := s.FinalizedBlock(f.chain.Depth); ok {
			out.Finalized = &n
		}
		if s.HasL1 {
			n := s.L1.Number
			out.L1 = &n
		}
		return nil
	})
	return out, err
}

// HashAt is the hash of the block that has a number now, nil for none. It is read once for
// all who ask in the same state.
func (f *Feed) HashAt(ctx context.Context, number uint64) (*felt.Felt, error) {
	f.mu.Lock()
	known, ok := f.hashes[number]
	state := f.state
	f.mu.Unlock()
	if ok {
		return known, nil
	}
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	var found *felt.Felt
	err := f.chain.Index.View(ctx, func(r explorer.Reader) error {
		hash, err := block.HashOf(ctx, r, number)
		if errors.Is(err, block.ErrNotFound) {
			return nil
		}
		found = &hash
		return err
	})
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.state == state && len(f.hashes) < 4096 {
		f.hashes[number] = found
	}
	return found, nil
}
