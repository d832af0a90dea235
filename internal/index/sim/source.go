package sim

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/index"
	"chainexplorer/internal/starknet"
)

// Faults are chances, per question, of things that go wrong.
type Faults struct {
	Error     float64 // the node fails
	Latency   float64 // the answer takes up to three seconds
	Lag       float64 // the node answers as if it were a few blocks behind
	Truncated float64 // the body is cut
	Mixed     float64 // block and state update do not belong together
	Parent    float64 // the block names a wrong parent
	Change    float64 // the chain changes before the answer
	Class     float64 // a class is refused, denied or cut
}

// World is a chain that changes while it is being read, and the node in front
// of it. It implements index.Source.
type World struct {
	mu     sync.Mutex
	rng    *rand.Rand
	chain  *Chain
	faults Faults
	// changes is how often the chain may still change.
	changes int
	maxFork int
	// keepL1 says that blocks which were accepted on L1 stay.
	keepL1 bool
	// highest is the longest that the chain ever was.
	highest int
	wake    chan struct{}
	// classFaults counts the classes that were not served.
	classFaults int
	// asked counts the questions since the world was made.
	asked int
}

// maxAsked is far more than any history asks. A run that goes round in circles
// would otherwise never end, because virtual time does not pass meanwhile.
const maxAsked = 300_000

var _ index.Source = (*World)(nil)

var errNode = errors.New("simulated node failure")

// NewWorld puts a node in front of a chain.
func NewWorld(chain *Chain, seed uint64, faults Faults, changes, maxFork int) *World {
	return &World{rng: rand.New(rand.NewPCG(seed, 1)), chain: chain, faults: faults,
		changes: changes, maxFork: maxFork, highest: chain.Len(), wake: make(chan struct{}, 1)}
}

// Settle ends all faults and changes, and makes the chain longer than it ever
// was, so that what was left behind is replaced. It returns the last block.
func (w *World) Settle() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.faults, w.changes = Faults{}, 0
	w.chain.Extend(w.highest + 1 - w.chain.Len())
	w.highest = w.chain.Len()
	return uint64(w.chain.Len() - 1)
}

// Done reports whether the chain has changed as often as it may.
func (w *World) Done() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.changes == 0
}

func (w *World) chance(p float64) bool { return p > 0 && w.rng.Float64() < p }

// ask starts an answer: the chain may change, time may pass, the node may fail.
// It returns with the lock held if err is nil.
func (w *World) ask(ctx context.Context) (unlock func(), err error) {
	w.mu.Lock()
	if w.asked++; w.asked > maxAsked {
		panic("sim: the indexer asks without end")
	}
	var delay time.Duration
	if w.chance(w.faults.Latency) {
		delay = time.Duration(w.rng.Int64N(int64(3 * time.Second)))
	}
	fail := w.chance(w.faults.Error)
	w.mu.Unlock()
	if delay > 0 {
		select {
		case <-time.After(delay):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if fail {
		return nil, errNode
	}
	w.mu.Lock()
	w.change()
	return w.mu.Unlock, nil
}

func (w *World) change() {
	if w.changes == 0 || !w.chance(w.faults.Change) {
		return
	}
	w.changes--
	// However often it changes, the chain never goes more than maxFork blocks
	// below the longest that anybody saw.
	room := w.maxFork - (w.highest - w.chain.Len())
	if w.keepL1 {
		room = min(room, w.chain.l1Lag-(w.highest-w.chain.Len()))
	}
	switch kind := w.rng.IntN(10); {
	case kind < 3 && room > 0:
		w.chain.Fork(1 + w.rng.IntN(room))
	case kind == 3 && room > 0:
		w.chain.Truncate(1 + w.rng.IntN(min(room, 4)))
	default:
		w.chain.Extend(1 + w.rng.IntN(5))
	}
	w.highest = max(w.highest, w.chain.Len())
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// length is how many blocks the node shows.
func (w *World) length() int {
	n := w.chain.Len()
	if w.chance(w.faults.Lag) {
		n = max(n-1-w.rng.IntN(5), 1)
	}
	return n
}

// ChainID names the chain.
func (w *World) ChainID(ctx context.Context) (felt.Felt, error) {
	unlock, err := w.ask(ctx)
	if err != nil {
		return felt.Felt{}, err
	}
	defer unlock()
	return ChainID, nil
}

// Head is the newest block that the node shows.
func (w *World) Head(ctx context.Context) (index.BlockRef, error) {
	unlock, err := w.ask(ctx)
	if err != nil {
		return index.BlockRef{}, err
	}
	defer unlock()
	return w.ref(w.length() - 1), nil
}

func (w *World) ref(n int) index.BlockRef {
	return index.BlockRef{Number: uint64(n), Hash: w.chain.blocks[n].Hash}
}

// HashAt returns a block's hash.
func (w *World) HashAt(ctx context.Context, number uint64) (felt.Felt, error) {
	unlock, err := w.ask(ctx)
	if err != nil {
		return felt.Felt{}, err
	}
	defer unlock()
	if number >= uint64(w.length()) {
		return felt.Felt{}, index.ErrNotFound
	}
	return w.chain.blocks[number].Hash, nil
}

// L1Accepted is the newest block accepted on L1.
func (w *World) L1Accepted(ctx context.Context) (index.BlockRef, error) {
	unlock, err := w.ask(ctx)
	if err != nil {
		return index.BlockRef{}, err
	}
	defer unlock()
	if w.chain.L1() < 0 {
		return index.BlockRef{}, index.ErrNotFound
	}
	return w.ref(w.chain.L1()), nil
}

// Heads signals changes of the chain.
func (w *World) Heads(context.Context) <-chan struct{} { return w.wake }

// Fetch returns a block, possibly spoilt.
func (w *World) Fetch(ctx context.Context, number uint64) (index.Raw, error) {
	unlock, err := w.ask(ctx)
	if err != nil {
		return index.Raw{}, err
	}
	defer unlock()
	if number >= uint64(w.length()) {
		return index.Raw{}, fmt.Errorf("block %d: %w", number, index.ErrNotFound)
	}
	b := w.chain.Block(int(number))
	su := w.chain.updates[number]
	if w.chance(w.faults.Parent) {
		b.ParentHash = felt.FromUint64(w.rng.Uint64())
	}
	if w.chance(w.faults.Mixed) {
		su = w.chain.updates[w.rng.IntN(w.chain.Len())]
	}
	raw := index.Raw{
		Block:       starknet.AppendBlock(nil, b, starknet.V010),
		StateUpdate: starknet.AppendStateUpdate(nil, su, starknet.V010),
		Node:        "sim",
	}
	if w.chance(w.faults.Truncated) {
		raw.Block = raw.Block[:w.rng.IntN(len(raw.Block))]
	}
	return raw, nil
}
