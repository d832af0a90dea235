package simnode

import (
	"fmt"
	"sync"
	"sync/atomic"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
)

// Chain is a simulated chain. Its methods may be called from any goroutine.
type Chain struct {
	cfg Config

	// view is the canonical branch. It is replaced as a whole, so that a
	// reader never sees half of a fork.
	view atomic.Pointer[view]

	// mu guards everything below, the ground truth included.
	mu      sync.RWMutex
	w       *world
	branch  uint64
	byHash  map[felt.Felt]*record
	txs     map[felt.Felt]txPlace
	orphans []*record // newest last, at most maxOrphans
	mempool []*submitted
	changed chan struct{} // closed at every change of the view
	reorgs  []Reorg
}

// view is a branch from block 0 up. It never changes.
type view struct {
	blocks []*record
	reorgs int // how many reorgs led to it
}

type txPlace struct {
	rec   *record
	index int
}

// maxOrphans is how many orphaned blocks are still served by hash.
const maxOrphans = 4096

// Reorg is a range of blocks that left the canonical branch.
type Reorg struct {
	StartHash   felt.Felt
	StartNumber uint64
	EndHash     felt.Felt
	EndNumber   uint64
}

// Check says whether a chain can be made from the configuration.
func (c Config) Check() error {
	c = c.withDefaults()
	if !c.RealHashes {
		return nil
	}
	b := &starknet.Block{Header: starknet.Header{StarknetVersion: c.StarknetVersion}}
	commitments, err := starknet.ComputeCommitments(b, &starknet.StateDiff{})
	if err == nil {
		_, err = starknet.ComputeBlockHash(&b.Header, commitments)
	}
	if err != nil {
		return fmt.Errorf("real hashes under starknet version %q: %w", c.StarknetVersion, err)
	}
	return nil
}

// New makes a chain and its first cfg.Blocks blocks. It panics if cfg.Check
// has something against the configuration.
func New(cfg Config) *Chain {
	if err := cfg.Check(); err != nil {
		panic(err)
	}
	cfg = cfg.withDefaults()
	c := &Chain{
		cfg: cfg, w: newWorld(cfg, true), byHash: map[felt.Felt]*record{}, txs: map[felt.Felt]txPlace{},
		changed: make(chan struct{}),
	}
	c.view.Store(&view{})
	c.Extend(cfg.Blocks)
	return c
}

// Config returns the configuration with its defaults filled in.
func (c *Chain) Config() Config { return c.cfg }

// Extend adds n blocks, one by one: each is visible as soon as it is made.
func (c *Chain) Extend(n int) {
	for range n {
		c.mu.Lock()
		v := c.view.Load()
		blocks := append(v.blocks, c.make(v.blocks, c.take()))
		c.publish(&view{blocks, v.reorgs})
		c.mu.Unlock()
	}
}

// make plays the next block on top of blocks. The lock must be held.
func (c *Chain) make(blocks []*record, sent []*submitted) *record {
	var prev parent
	if n := len(blocks); n > 0 {
		prev = parent{blocks[n-1].header.Hash, blocks[n-1].header.NewRoot}
	}
	past := func(n uint64) felt.Felt {
		if n < uint64(len(blocks)) {
			return blocks[n].header.Hash
		}
		return felt.Zero
	}
	rec, err := makeBlock(c.w, uint64(len(blocks)), c.branch, prev, past, sent)
	if err != nil {
		panic(err) // Check found that everything can be hashed
	}
	c.byHash[rec.header.Hash] = rec
	for i, tx := range rec.block().Transactions {
		c.txs[tx.Hash] = txPlace{rec, i}
	}
	if c.cfg.Compact && len(blocks) >= loose {
		blocks[len(blocks)-loose].pack()
	}
	return rec
}

// publish makes a view the canonical one and wakes who waits for it.
func (c *Chain) publish(v *view) {
	c.view.Store(v)
	close(c.changed)
	c.changed = make(chan struct{})
}

// Fork replaces the newest depth blocks by as many different ones, in one
// step. Depth is cut to the length of the chain less its first block.
func (c *Chain) Fork(depth int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	kept, reorg, ok := c.cut(depth)
	if !ok {
		return
	}
	blocks := append(make([]*record, 0, len(kept)+depth+16), kept...)
	for range reorg.EndNumber - reorg.StartNumber + 1 {
		blocks = append(blocks, c.make(blocks, nil))
	}
	c.reorgs = append(c.reorgs, reorg)
	c.publish(&view{blocks, len(c.reorgs)})
}

// Truncate takes the newest n blocks off: the head goes back. What Extend puts
// there later is different.
func (c *Chain) Truncate(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	kept, reorg, ok := c.cut(n)
	if !ok {
		return
	}
	c.reorgs = append(c.reorgs, reorg)
	c.publish(&view{append([]*record(nil), kept...), len(c.reorgs)})
}

// cut rolls the world back by n blocks and starts another branch. The view is
// not touched.
func (c *Chain) cut(n int) (kept []*record, r Reorg, ok bool) {
	blocks := c.view.Load().blocks
	n = min(n, len(blocks)-1)
	if n <= 0 {
		return nil, r, false
	}
	kept, gone := blocks[:len(blocks)-n], blocks[len(blocks)-n:]
	first, last := gone[0].header, gone[n-1].header
	r = Reorg{first.Hash, first.Number, last.Hash, last.Number}
	c.branch++
	c.w.rollback(first.Number)
	for _, rec := range gone {
		for _, tx := range rec.block().Transactions {
			if c.txs[tx.Hash].rec == rec {
				delete(c.txs, tx.Hash)
			}
		}
	}
	c.orphans = append(c.orphans, gone...)
	for len(c.orphans) > maxOrphans {
		delete(c.byHash, c.orphans[0].header.Hash)
		c.orphans = c.orphans[1:]
	}
	return kept, r, true
}

// Reorgs lists every fork and truncation so far.
func (c *Chain) Reorgs() []Reorg {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return append([]Reorg(nil), c.reorgs...)
}

// Changed returns a channel that is closed when the canonical branch changes
// next. Ask for it before looking at the chain, and no change is missed.
func (c *Chain) Changed() <-chan struct{} {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.changed
}

// head is the newest block of a view, nil when there is none.
func (v *view) head() *record {
	if len(v.blocks) == 0 {
		return nil
	}
	return v.blocks[len(v.blocks)-1]
}

// at is a block of a view by number.
func (v *view) at(n uint64) *record {
	if n >= uint64(len(v.blocks)) {
		return nil
	}
	return v.blocks[n]
}

// l1Head is the newest block accepted on L1 in a view.
func (c *Chain) l1Head(v *view) (uint64, bool) {
	n := len(v.blocks) - 1 - c.cfg.L1Lag
	if c.cfg.L1Lag < 0 || n < 0 {
		return 0, false
	}
	return uint64(n), true
}

// status is the finality of a block of a view.
func (c *Chain) status(v *view, rec *record) starknet.BlockStatus {
	if n, ok := c.l1Head(v); ok && rec.header.Number <= n && v.at(rec.header.Number) == rec {
		return starknet.AcceptedOnL1
	}
	return starknet.AcceptedOnL2
}

// finalized is the block with the finality that it has in a view. The block
// that was made is shared by all readers, so what changes is copied.
func (c *Chain) finalized(v *view, rec *record) *starknet.Block {
	status := c.status(v, rec)
	if status == starknet.AcceptedOnL2 {
		return rec.block()
	}
	b := *rec.block()
	b.Status = status
	b.Receipts = append([]starknet.Receipt(nil), b.Receipts...)
	for i := range b.Receipts {
		b.Receipts[i].Finality = status
	}
	return &b
}
