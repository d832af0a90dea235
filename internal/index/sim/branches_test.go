package sim

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/index"
	"chainexplorer/internal/index/simsource"
	"chainexplorer/internal/starknet"
)

// realVersion is one whose hashes are computed.
const realVersion = "0.14.0"

// copyOf is a chain of the same blocks that goes its own way from now on.
func copyOf(c *Chain) *Chain {
	d := *c
	d.blocks, d.updates = slices.Clone(c.blocks), slices.Clone(c.updates)
	d.branch += 1000
	return &d
}

// worldOf puts a node in front of a chain.
func worldOf(c *Chain) *World { return NewWorld(c, 1, Faults{}, 0, 0) }

// pretender is an honest node but for one block, of which it shows another hash
// everywhere: nothing that it hashes to.
type pretender struct {
	*World
	at uint64
}

func (p *pretender) HashAt(ctx context.Context, number uint64) (felt.Felt, error) {
	hash, err := p.World.HashAt(ctx, number)
	if number >= p.at && err == nil {
		hash[31] ^= 1
	}
	return hash, err
}

func (p *pretender) Head(ctx context.Context) (index.BlockRef, error) {
	ref, err := p.World.Head(ctx)
	ref.Hash[31] ^= 1
	return ref, err
}

func (p *pretender) Fetch(ctx context.Context, number uint64) (index.Raw, error) {
	l := liar{World: p.World, at: number, lie: func(b *starknet.Block, su *starknet.StateUpdate) {
		if number < p.at {
			return
		}
		b.Hash[31] ^= 1
		su.BlockHash = b.Hash
		if number > p.at {
			b.ParentHash[31] ^= 1
		}
	}}
	return l.Fetch(ctx, number)
}

// TestClaimOfAnotherBlock is the attack: blocks up to 159 are indexed, most of
// them accepted on L1, and a node claims another block 20. Nothing is undone, with
// that node alone or beside an honest one.
func TestClaimOfAnotherBlock(t *testing.T) {
	skipRaced(t)
	const blocks = 160
	for _, c := range some([]struct {
		name   string
		l1Lag  int
		honest bool
		ahead  bool // the liar claims more blocks than there are
	}{
		{name: "alone, below the L1 mark", l1Lag: 10},
		{name: "alone, nothing accepted on L1", l1Lag: 1000},
		{name: "alone and ahead", l1Lag: 1000, ahead: true},
		{name: "beside an honest node", l1Lag: 10, honest: true},
		{name: "beside an honest node, nothing accepted on L1", l1Lag: 1000, honest: true},
		{name: "ahead of an honest node", l1Lag: 1000, honest: true, ahead: true},
	}) {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				honest := quiet(3, blocks, c.l1Lag, realVersion)
				engine, o := started(t, honest, func(o *index.Options) { o.UndoBlocks = 1000 })
				runFor(t, engine, o, 5*time.Second)
				before := simsource.State(t, engine)
				rows := dump(t, engine)

				lying := copyOf(honest.chain)
				if c.ahead {
					lying.Extend(3)
				}
				liar := &pretender{World: worldOf(lying), at: 20}
				o.Announce = func(a index.Announcement) {
					if a.Fork != nil {
						t.Errorf("%d blocks were undone", a.Fork.Depth)
					}
				}
				if c.honest {
					crowd := NewCrowd(liar, honest)
					o.Source = crowd
					runFor(t, engine, o, 5*time.Minute)
					if len(crowd.Blames()) == 0 {
						t.Error("the liar was not blamed")
					}
					honest.chain.Extend(10)
					runTo(t, engine, o, blocks+9)
					compareWithQuietRun(t, planFor(1, false), honest, engine, blocks+9)
					return
				}
				o.Source, o.Store = liar, engine
				err := newIndexer(t, o).Run(t.Context())
				var belowL1 *index.L1ForkError
				var lie *index.VerifyError
				if before.HasL1 && !(errors.As(err, &belowL1) && belowL1.Block == 20) || !before.HasL1 && !errors.As(err, &lie) {
					t.Fatalf("the run ended with %v", err)
				}
				after := simsource.State(t, engine)
				if after.Head != before.Head || after.Fork.Count != 0 || !after.HasFault {
					t.Errorf("the index is at %+v, was at %+v", after, before)
				}
				compareLines(t, withoutFault(dump(t, engine)), rows)
			})
		})
	}
}

// TestBranchNeedsMoreNodes: a branch whose every hash is right, and that is
// higher than ours, does not win while as many nodes have our blocks.
func TestBranchNeedsMoreNodes(t *testing.T) {
	const blocks = 40
	for _, c := range some([]struct {
		name        string
		ours, rival int
		wins        bool
	}{
		{"one against one", 1, 1, false},
		{"one against two", 2, 1, false},
		{"two against one", 1, 2, true},
		{"nobody has ours", 0, 2, true},
		{"the only node", 0, 1, true},
	}) {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				first := quiet(3, blocks, 1000, realVersion)
				engine, o := started(t, first)
				other := worldOf(copyOf(first.chain))
				other.chain.Fork(15)
				other.chain.Extend(2)
				var nodes []index.Source
				for range c.rival {
					nodes = append(nodes, other)
				}
				for range c.ours {
					nodes = append(nodes, first)
				}
				o.Source = NewCrowd(nodes...)
				runFor(t, engine, o, time.Minute)
				winner := first
				if c.wins {
					winner = other
				} else {
					first.chain.Extend(1) // it is still followed
				}
				last := uint64(winner.chain.Len() - 1)
				runTo(t, engine, o, last)
				compareWithQuietRun(t, planFor(1, false), winner, engine, last)
			})
		})
	}
}

// TestLowerBranch: a branch that is not higher than ours is not taken at once, and
// is when it stayed and nobody has our blocks any more.
func TestLowerBranch(t *testing.T) {
	skipRaced(t)
	for _, depth := range []int{1, 12} {
		synctest.Test(t, func(t *testing.T) {
			w := quiet(3, 40, 1000, UnknownVersion)
			engine, o := started(t, w)
			before := simsource.State(t, engine).Head
			w.chain.Truncate(depth)
			w.chain.Extend((depth + 1) / 2)
			runFor(t, engine, o, 50*time.Second)
			if simsource.State(t, engine).Head != before {
				t.Fatalf("depth %d: blocks were undone for fewer, at once", depth)
			}
			runFor(t, engine, o, 3*time.Minute)
			s := simsource.State(t, engine)
			if s.Head.Number != uint64(w.chain.Len()-1) || s.Head.Hash != w.chain.blocks[s.Head.Number].Hash {
				t.Errorf("depth %d: the index is at block %d after three minutes", depth, s.Head.Number)
			}
			compareWithQuietRun(t, planFor(1, false), w, engine, s.Head.Number)
		})
	}
}

// TestFalseBranch: a branch in which one block is not what its hash says is not
// taken, however high it is.
func TestFalseBranch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := quiet(3, 40, 1000, realVersion)
		engine, o := started(t, first)
		before := dump(t, engine)
		other := worldOf(copyOf(first.chain))
		other.chain.Fork(15)
		other.chain.Extend(20)
		o.Store = engine
		o.Source = &liar{World: other, at: 38, lie: func(b *starknet.Block, _ *starknet.StateUpdate) { b.Timestamp++ }}
		var lie *index.VerifyError
		if err := newIndexer(t, o).Run(t.Context()); !errors.As(err, &lie) || lie.Block != 38 {
			t.Fatalf("got %v, want a VerifyError about block 38", err)
		}
		compareLines(t, withoutFault(dump(t, engine)), before)
		o.Source = other
		last := uint64(other.chain.Len() - 1)
		runTo(t, engine, o, last)
		compareWithQuietRun(t, planFor(1, false), other, engine, last)
	})
}

// TestVerifiedIsNotReplacedByUnverified: whatever the settings are now, a block
// that was verified gives way only to one that can be.
func TestVerifiedIsNotReplacedByUnverified(t *testing.T) {
	for _, mode := range []index.VerifyMode{index.VerifyOff, index.VerifyTail} {
		synctest.Test(t, func(t *testing.T) {
			first := quiet(3, 40, 1000, realVersion)
			engine, o := started(t, first)
			other := worldOf(copyOf(first.chain))
			other.chain.version = UnknownVersion
			other.chain.Fork(15)
			other.chain.Extend(2)
			o.Source, o.Store, o.Verify, o.Unverified = other, engine, mode, index.UnverifiedStore
			before := dump(t, engine)
			var lie *index.VerifyError
			if err := newIndexer(t, o).Run(t.Context()); !errors.As(err, &lie) || lie.Block != 25 {
				t.Fatalf("got %v, want a VerifyError about block 25", err)
			}
			compareLines(t, withoutFault(dump(t, engine)), before)
		})
	}
}

// fickle changes its branch when the last block of the first one was read.
type fickle struct {
	*World
	reads  int
	change func()
}

func (f *fickle) Fetch(ctx context.Context, number uint64) (index.Raw, error) {
	if f.reads--; f.reads == 0 {
		f.change()
	}
	return f.World.Fetch(ctx, number)
}

// TestBranchChangesAgain: at whatever moment the branch changes while it is read
// and indexed, the index ends on the last one.
func TestBranchChangesAgain(t *testing.T) {
	skipRaced(t)
	for _, reads := range some([]int{1, 4, 7, 10, 13, 16, 19, 22}) {
		synctest.Test(t, func(t *testing.T) {
			w := quiet(3, 30, 1000, UnknownVersion)
			engine, o := started(t, w, func(o *index.Options) { o.Window, o.Workers = 1, 1 })
			w.chain.Fork(10)
			w.chain.Extend(3)
			o.Source = &fickle{World: w, reads: reads, change: func() {
				w.mu.Lock()
				defer w.mu.Unlock()
				w.chain.Fork(8)
				w.chain.Extend(2)
			}}
			runTo(t, engine, o, 34)
			o.Source = w
			runTo(t, engine, o, uint64(w.chain.Len()-1))
			compareWithQuietRun(t, planFor(1, false), w, engine, uint64(w.chain.Len()-1))
		})
	}
}

// TestLyingHistories runs histories of a chain that forks above its L1 mark, with
// an honest majority of nodes and one that shows branches of its own, at the mark,
// below it and far below. The process is killed now and then, also between the
// steps of undoing. The index must end like one built in one quiet run.
func TestLyingHistories(t *testing.T) {
	n := 4
	if raced {
		n = 1
	}
	for seed := range n {
		synctest.Test(t, func(t *testing.T) { lyingHistory(t, uint64(1000+2*seed+1)) })
	}
}

func lyingHistory(t *testing.T, seed uint64) {
	p := planFor(seed, false)
	p.blocks += 60
	honest := NewChain(seed, p.blocks, 5+p.rng.IntN(20), UnknownVersion)
	world := worldOf(honest)
	lying := worldOf(copyOf(honest))
	o := p.options
	o.UndoBytes = 1 << (8 + p.rng.IntN(6))
	o.UndoBlocks = 1000
	crowd := NewCrowd(world, lying, world)
	o.Source = crowd
	fs := vfs.NewCrashableMem()
	deepest := 0
	o.Announce = func(a index.Announcement) {
		if a.Fork == nil {
			return
		}
		if old := a.Fork.Ancestor + a.Fork.Depth; a.Fork.BelowL1 || int(old) < honest.Len() && honest.blocks[old].Hash == a.Fork.OldHead {
			t.Errorf("seed %d: blocks of the honest chain were undone: %+v", seed, a.Fork)
		}
		deepest = max(deepest, int(a.Fork.Depth))
	}
	fs = liveBriefly(t, p, o, fs) // they all agree in the beginning
	for range 20 {
		// The honest chain grows and forks; the liar has its blocks up to
		// somewhere, and more of its own than anybody.
		if p.rng.IntN(3) == 0 {
			honest.Fork(1 + p.rng.IntN(honest.l1Lag))
		}
		honest.Extend(1 + p.rng.IntN(4))
		lying.chain = copyOf(honest)
		lying.chain.Truncate(1 + p.rng.IntN(honest.Len()-2))
		lying.chain.branch += p.rng.Uint64N(1 << 30)
		lying.chain.Extend(honest.Len() - lying.chain.Len() + p.rng.IntN(3))
		fs = liveBriefly(t, p, o, fs)
	}
	lying.chain = copyOf(honest)
	honest.Extend(40)
	last := uint64(honest.Len() - 1)
	engine := openStore(t, fs)
	defer closeStore(t, engine)
	runTo(t, engine, o, last)
	compareWithQuietRun(t, p, world, engine, last)
	if deepest == 0 || len(crowd.Blames()) == 0 {
		t.Errorf("seed %d: nothing was undone or nobody was blamed", seed)
	}
}

// liveBriefly runs the indexer until it is killed around a commit, or for a while.
func liveBriefly(t *testing.T, p *plan, o index.Options, fs *vfs.MemFS) *vfs.MemFS {
	ctx, cancel := context.WithTimeout(t.Context(), time.Duration(1+p.rng.IntN(120))*time.Second)
	defer cancel()
	engine := openStoreWith(t, fs, p.bulk)
	left := (*vfs.MemFS)(nil)
	o.Store = &killer{Engine: engine, at: 1 + p.rng.IntN(20), after: p.rng.IntN(2) == 0, kill: func() {
		left = fs.CrashClone(vfs.CrashCloneCfg{})
		cancel()
	}}
	if err := newIndexer(t, o).Run(ctx); err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("seed %d: the run ended with %v", p.seed, err)
	}
	if left == nil {
		left = fs.CrashClone(vfs.CrashCloneCfg{})
	}
	closeStore(t, engine)
	return left
}

// staleHead is a source whose head is not yet told to have moved to another branch.
type staleHead struct {
	*World
	head index.BlockRef
}

func (s *staleHead) Head(context.Context) (index.BlockRef, error) { return s.head, nil }

// TestMarkOnABranchThatIsGone: while the head of another branch is not known yet, L1
// may have accepted a block of it that is ahead of ours. Our own head is not marked
// by that: the mark could not be taken back without the operator.
func TestMarkOnABranchThatIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const blocks = 60
		w := quiet(5, blocks, 1000, UnknownVersion)
		o := options(w)
		engine := openStore(t, vfs.NewCrashableMem())
		defer closeStore(t, engine)
		runTo(t, engine, o, blocks-1)
		o.Source = &staleHead{w, w.ref(blocks - 1)}
		w.chain.Fork(3)
		w.chain.Extend(20)
		w.chain.l1Lag = 5
		runFor(t, engine, o, 5*time.Second)
		if s := simsource.State(t, engine); s.HasL1 && s.L1.Hash != w.chain.blocks[s.L1.Number].Hash {
			t.Fatalf("block %d of a branch that is gone is marked as accepted on L1", s.L1.Number)
		}
		o.Source = w
		runTo(t, engine, o, uint64(w.chain.Len()-1))
	})
}
