// Package index is the write path: it fetches blocks from a node, checks and
// verifies them, projects them into rows, and commits the rows with an undo
// record and a digest.
//
//	source ─▶ fetch ─▶ decode ─▶ check ─▶ verify ─▶ project ─▶ classes ─┐   window of blocks, in parallel
//	                                                                    ▼
//	          announce ◀─ commit ◀─ batch ◀─ follow, digest, undo    one goroutine, block order
//
// Guarantees:
//
//   - A commit holds whole blocks: their rows, digests, undo records and the
//     new head. A crash at any moment leaves the index at some block, from
//     which the next run goes on; nothing that was announced is lost.
//   - The rows, and so the digest, depend on the chain alone: not on batch
//     size, parallelism, forks, crashes or faults of the node. What was fetched
//     of classes is kept beside them, outside digest and undo.
//   - A fork is undone in commits of bounded size, each of which leaves the rows
//     as they were at an older block, byte for byte, and not before the branch
//     that replaces them was fetched and verified. A fork that reaches below the
//     oldest undo record, or, without the operator's word, below the L1 mark,
//     stops the run, and so does a block that fails verification.
//   - Only the holder of the store's lease can commit.
//
// Cost per block: one round trip to the node and one per class that is new; no
// read of the store while catching up except for the followers' GetMany (one,
// answered from memory for rows of the running batch) and one of the classes
// that this process has not seen yet, if the block names any; and with undo
// records one GetMany a commit, of the other rows that its blocks write and that
// may be there already. Memory is bounded by the window of prepared blocks and two
// batches. While catching up, rows of transactions, more than half of all bytes, are
// written down as their blocks come, where the store can take them before the commit: a
// batch holds the others.
package index

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/catalog"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/store"
)

// VerifyMode says which blocks are recomputed.
type VerifyMode string

// The verification modes. The tail is every block that gets an undo record:
// not yet accepted on L1, or among the newest UndoBlocks.
const (
	VerifyOff  VerifyMode = "off"
	VerifyTail VerifyMode = "tail"
	VerifyAll  VerifyMode = "all"
)

// Options configure an Indexer. Zero values take the defaults.
type Options struct {
	Store    store.Engine
	Source   Source
	Subjects []explorer.Subject // default: catalog.Subjects()

	Verify     VerifyMode       // default: VerifyTail
	Unverified UnverifiedPolicy // default: UnverifiedRefuse

	// Window is how many blocks are fetched and prepared ahead (default 32).
	Window int
	// Workers is how many of them are worked on at a time (default: the window,
	// because they mostly wait for the node).
	Workers int
	// BatchBytes ends a batch while catching up: it is of the keys and values that it
	// holds, without those that the store takes before the commit (default 40 MiB).
	BatchBytes int
	// BatchAge ends a batch that is slow to fill, so that progress shows (default 10 s).
	BatchAge time.Duration
	// TailBlocks is how near to the head a block is committed as soon as the commit before it
	// has ended (default 16).
	TailBlocks uint64
	// UndoBlocks is how many of the newest blocks keep their undo records
	// whatever L1 says (default 10,000).
	UndoBlocks uint64
	// UndoBytes ends a step of undoing a fork: about what it may take in memory
	// (default 64 MiB).
	UndoBytes int

	// ForkPatience is how long a branch must have been there before it replaces a
	// longer one, or one that nodes which do not answer may have (default 1 minute).
	ForkPatience time.Duration
	// AllowForkBelowL1 is the operator's word that blocks from this one on may be
	// undone though they had been accepted on L1.
	AllowForkBelowL1 *uint64

	// Owner names this process in the lease; TTL is the lease's life (default 15 s).
	Owner string
	TTL   time.Duration
	// PollInterval is how often the head is looked at when nothing is announced (default 2 s).
	PollInterval time.Duration
	// L1Interval is how often L1 acceptance is asked for (default 30 s).
	L1Interval time.Duration
	// Quorum is how many nodes must have a block before it is called finalized, or
	// takes the place of an indexed one, and say that it is accepted on L1; below 2
	// the depth alone, any node and one node decide. FinalityDepth is where they are asked about
	// that tier (default chain.DefaultDepth).
	Quorum        int
	FinalityDepth uint64
	// Heard tells what the nodes of the source said lately; it must not wait for
	// them. With it the index keeps chain.Seen for its readers, written every
	// HeardInterval (default 10 s).
	Heard         func() chain.Seen
	HeardInterval time.Duration
	// RetryMin and RetryMax bound the pause after a failed round (default 250 ms, 15 s).
	RetryMin, RetryMax time.Duration
	// MaxStuck is how many rounds in a row a node may contradict itself
	// before the run gives up (default 20).
	MaxStuck int

	// NoClasses leaves the classes that blocks name alone: nothing is asked for
	// and nothing is stored of them.
	NoClasses bool

	Logger  *slog.Logger
	Metrics *Metrics
	// Announce is called after every commit that moved the head, from one
	// goroutine, in order. It must not block for long.
	Announce func(Announcement)
}

// Announcement tells what a commit changed.
type Announcement struct {
	Head chain.Head
	// Fork is set when the commit undid blocks. A deep fork is undone in several
	// commits, whose Ancestor falls and whose Count is the same.
	Fork *chain.Fork
}

func (o Options) withDefaults() (Options, error) {
	if o.Store == nil || o.Source == nil {
		return o, errors.New("index: a store and a source are needed")
	}
	if o.Subjects == nil {
		o.Subjects = catalog.Subjects()
	}
	switch o.Verify {
	case "":
		o.Verify = VerifyTail
	case VerifyOff, VerifyTail, VerifyAll:
	default:
		return o, fmt.Errorf("index: verify mode %q is none of off, tail, all", o.Verify)
	}
	switch o.Unverified {
	case "":
		o.Unverified = UnverifiedRefuse
	case UnverifiedRefuse, UnverifiedStore:
	default:
		return o, fmt.Errorf("index: policy %q for unverified blocks is none of refuse, store", o.Unverified)
	}
	setDefault(&o.Window, 32)
	setDefault(&o.Workers, max(o.Window, runtime.GOMAXPROCS(0)))
	setDefault(&o.BatchBytes, 40<<20)
	setDefault(&o.BatchAge, 10*time.Second)
	setDefault(&o.TailBlocks, 16)
	setDefault(&o.UndoBlocks, 10_000)
	setDefault(&o.ForkPatience, time.Minute)
	setDefault(&o.UndoBytes, 64<<20)
	setDefault(&o.Owner, "indexer")
	setDefault(&o.TTL, 15*time.Second)
	setDefault(&o.PollInterval, 2*time.Second)
	setDefault(&o.L1Interval, 30*time.Second)
	setDefault(&o.FinalityDepth, chain.DefaultDepth)
	setDefault(&o.HeardInterval, 10*time.Second)
	setDefault(&o.RetryMin, 250*time.Millisecond)
	setDefault(&o.RetryMax, 15*time.Second)
	setDefault(&o.MaxStuck, 20)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Metrics == nil {
		o.Metrics = NewMetrics(nil)
	}
	if o.Announce == nil {
		o.Announce = func(Announcement) {}
	}
	return o, nil
}

func setDefault[T comparable](v *T, def T) {
	var zero T
	if *v == zero {
		*v = def
	}
}

// Indexer keeps one chain's index up to date. Make one with New, then call Run
// or RunTo once.
type Indexer struct {
	Options

	followers []explorer.Follower
	replay    *Replayer
	streamer  store.Streamer // nil if rows cannot be written down before their commit
	recalled  [256]bool      // tables, by id, whose rows followers may ask for
	dated     *[256]bool     // those of catalog.Dated

	chainID felt.Felt
	lease   store.Lease
	state   chain.State // what is committed
	undo    UndoSpan
	checked chain.FindingLog // what is committed
	lately  committed
	asked   questions // memory of the last block's
	found   found     // by the block that is being added
	known   uint64    // the newest block that the source was seen to have

	rival    *branch        // that was seen and has not won
	standoff *standoffError // of this round
	expected *branch        // that has, and is being indexed

	classes    *classes
	lies       lies
	missing    missing
	origins    origins
	background errgroup.Group // what must end before the run does

	followed   explorer.Rows // of the last block without an undo record, for its memory
	spare      store.Batch   // the memory of a commit that is done
	expectRows struct {      // how many the next block will have, about, and their bytes
		own, ownBytes           atomic.Int64
		followed, followedBytes int
	}

	stuck    int
	l1Asked  time.Time
	progress progress
}

// New checks the options. Nothing is read or written before Run.
func New(o Options) (*Indexer, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	x := &Indexer{Options: o, followers: followersOf(o.Subjects), replay: NewReplayer(o.Subjects), classes: newClasses(), lately: newCommitted(keepRows, keepBytes)}
	x.dated = &x.replay.dated
	x.streamer, _ = o.Store.(store.Streamer)
	for _, f := range x.followers {
		for _, t := range f.Recalled() {
			x.recalled[t.ID] = true
		}
		for _, t := range slices.Concat(f.Tables(), f.Recalled()) {
			if t.Ascending { // what is streamed follows from blocks alone, and cannot be asked for
				x.streamer = nil
			}
		}
	}
	x.recalled[chain.Meta.ID] = true // the head is written with every block
	return x, nil
}

// load reads the committed state, after a start and after anything that may
// have left memory ahead of the store.
func (x *Indexer) load(ctx context.Context) error {
	x.lately.forget()
	return x.Store.View(ctx, func(r store.Reader) error {
		state, err := chain.Read(ctx, r)
		if wrong := new(chain.LayoutError); errors.As(err, &wrong) {
			return &FormatError{wrong.Error()}
		}
		if err != nil {
			return err
		}
		x.state = state
		if x.undo, err = ReadUndoSpan(ctx, r); err != nil {
			return err
		}
		if x.checked, err = chain.ReadFindingLog(ctx, r); err != nil {
			return err
		}
		return x.loadOrigins(ctx, r)
	})
}

// nextBlock is the number of the block to index next.
func (x *Indexer) nextBlock() uint64 {
	if !x.state.HasHead {
		return 0
	}
	return x.state.Head.Number + 1
}
