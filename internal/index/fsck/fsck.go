// Package fsck walks a whole index and checks every invariant.
//
// It replays the chain from the stored blocks: each block is read back, its
// rows are projected again and added up by table, and its digest is recomputed.
// Rows that later blocks may overwrite are replayed into a scratch store. Then
// every table is walked and must have the same sum: a row that is missing,
// that differs or that no block explains makes it another one. Only then are
// blocks replayed once more, to say which row it is. Rows that were fetched from
// nodes cannot be replayed: they must be readable and belong to something that
// blocks name.
//
// Cost: one pass over the blocks with one scan and four reads each, on all cores but
// for the rows that build on earlier ones, and one walk of every table. No row is looked
// for by itself, unless something is wrong. It is for an operator, not for a request.
package fsck

import (
	"context"
	"errors"
	"fmt"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/catalog"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/index"
	"chainexplorer/internal/store"
)

// maxProblems ends the walk: an index with this many is not worth more reading.
const maxProblems = 100

// Report is the outcome of a check.
type Report struct {
	State        chain.State
	Blocks       uint64
	Transactions uint64
	Events       uint64
	Rows         map[string]uint64 // by table
	UndoRecords  uint64
	// Unverified lists the runs of blocks that could not be held against their
	// hashes, at most 100. They are no problem of the index.
	Unverified []chain.FindingSpan
	// Problems has a sentence for each invariant that does not hold, at most 100.
	Problems []string
}

// Clean reports whether every invariant holds.
func (r *Report) Clean() bool { return len(r.Problems) == 0 }

// Options are what Check needs.
type Options struct {
	Store store.Engine
	// Scratch is an empty store with the same tables; its content is lost.
	Scratch  store.Engine
	Subjects []explorer.Subject // default: catalog.Subjects()
	// Progress is called now and then, and when all is done.
	Progress func(Progress)
}

var errEnough = errors.New("too many problems")

type checker struct {
	Options
	ctx     context.Context
	r       store.Reader
	scratch *scratch
	report  *Report
	replay  *index.Replayer
	adder   *adder
	// expected is of the rows that later blocks leave as they are.
	expected map[*store.Table]sum
	classes  map[felt.Felt]struct{} // that blocks name
	at       Progress
	walked   map[*store.Table]bool
}

// Check walks the index. The error is about the machine; what is wrong with
// the index is in the report.
func Check(ctx context.Context, o Options) (*Report, error) {
	if o.Subjects == nil {
		o.Subjects = catalog.Subjects()
	}
	if o.Progress == nil {
		o.Progress = func(Progress) {}
	}
	c := &checker{Options: o, ctx: ctx, report: &Report{Rows: map[string]uint64{}}, adder: newAdder(), expected: map[*store.Table]sum{}, classes: map[felt.Felt]struct{}{}, walked: map[*store.Table]bool{}}
	c.replay = index.NewReplayer(o.Subjects)
	var err error
	if c.scratch, err = newScratch(ctx, o.Scratch, writtenOnce()); err != nil {
		return nil, err
	}
	err = o.Store.View(ctx, func(r store.Reader) error {
		c.r = counted{r, c}
		return c.run()
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return c.report, err
}

func (c *checker) problem(format string, args ...any) error {
	c.report.Problems = append(c.report.Problems, fmt.Sprintf(format, args...))
	if len(c.report.Problems) >= maxProblems {
		return errEnough
	}
	return nil
}

func (c *checker) run() error {
	state, err := chain.Read(c.ctx, c.r)
	if wrong := new(chain.LayoutError); errors.As(err, &wrong) {
		return wrong
	}
	if err != nil {
		return c.problem("the state of the index cannot be read: %v", err)
	}
	c.report.State = state
	if !state.Present {
		if state.HasHead {
			return c.problem("the index has a head but no format row")
		}
		return nil
	}
	if !state.HasHead {
		return c.problem("the index has a format row but no head")
	}
	if err := c.blocks(&state); err != nil {
		return err
	}
	if err := c.marks(&state); err != nil {
		return err
	}
	if err := c.undo(&state); err != nil {
		return err
	}
	if err := c.verification(&state); err != nil {
		return err
	}
	if err := c.tables(); err != nil {
		return err
	}
	if err := c.enrichment(state.Fork.Count > 0); err != nil {
		return err
	}
	if err := c.derived(); err != nil {
		return err
	}
	if err := c.tokenNames(); err != nil {
		return err
	}
	c.at.Tables = c.at.TablesTotal
	c.Progress(c.at)
	return nil
}

// blocks replays the chain.
func (c *checker) blocks(state *chain.State) error {
	var parent chain.Head
	c.at.BlocksTotal = state.Head.Number + 1
	ahead := c.ahead(c.at.BlocksTotal)
	defer ahead.stop()
	for slot := range ahead.queue {
		n := c.report.Blocks
		if n%256 == 0 {
			if err := c.ctx.Err(); err != nil {
				return err
			}
			c.at.Blocks = n
			c.Progress(c.at)
		}
		l := <-slot
		if l.unread != nil {
			if err := c.unread(n, l.unread); err != nil {
				return err
			}
			break
		}
		b := l.block
		if n > 0 && b.ParentHash != parent.Hash {
			if err := c.problem("block %d has parent %s, block %d has hash %s", n, b.ParentHash, n-1, parent.Hash); err != nil {
				return err
			}
		}
		if l.row.Transactions != uint64(len(b.Transactions)) {
			if err := c.problem("block %d counts %d transactions, %d are stored", n, l.row.Transactions, len(b.Transactions)); err != nil {
				return err
			}
		}
		var err error
		if parent, err = c.oneBlock(l, parent); err != nil {
			return err
		}
		c.noteClasses(b)
		c.report.Blocks++
		c.report.Transactions += uint64(len(b.Transactions))
		c.report.Events += uint64(b.EventCount())
	}
	if err := c.ctx.Err(); err != nil {
		return err
	}
	c.at.Blocks = c.at.BlocksTotal
	c.Progress(c.at)
	if c.report.Blocks == c.at.BlocksTotal && parent != state.Head {
		return c.problem("the head row says block %d %s digest %x, the blocks end at %d %s digest %x",
			state.Head.Number, state.Head.Hash, state.Head.Digest, parent.Number, parent.Hash, parent.Digest)
	}
	return nil
}

// unread tells of a block that ends the replay: totals and digests of those behind it
// cannot hold.
func (c *checker) unread(n uint64, err error) error {
	if c.ctx.Err() != nil {
		return c.ctx.Err()
	}
	if err := c.problem("%v", err); err != nil {
		return err
	}
	return c.problem("the check stops at block %d", n)
}

// oneBlock goes on with a block that was projected again.
func (c *checker) oneBlock(l *loaded, parent chain.Head) (head chain.Head, err error) {
	number := l.block.Number
	if l.unprojected != nil {
		return head, c.problem("block %d cannot be projected: %v", number, l.unprojected)
	}
	for _, s := range l.own {
		c.expect(s.table, s.sum)
	}
	followed, head, err := l.replayed.Finish(c.ctx, parent, c.scratch)
	if err != nil {
		return head, c.problem("block %d cannot be projected: %v", number, err)
	}
	for i := range followed {
		op := &followed[i]
		if c.scratch.leftOut[op.Table.ID] {
			c.expect(op.Table, c.adder.row(op.Table.ID, op.Partition, op.Sort, op.Value))
		} else if err := c.scratch.add(op); err != nil {
			return head, err
		}
	}
	switch {
	case l.undigested != nil:
		return head, c.problem("%v", l.undigested)
	case l.digest == nil:
		return head, c.problem("block %d has no digest", number)
	case *l.digest != head.Digest:
		return head, c.problem("block %d has digest %x, its rows give %x", number, *l.digest, head.Digest)
	}
	return head, nil
}

// writtenOnce are the tables of lists whose rows are new with their block and never asked
// for: they are added up at once, also where they build on earlier rows.
func writtenOnce() (tables []*store.Table) {
	for _, t := range catalog.Dated() {
		if t.Listed {
			tables = append(tables, t.Table)
		}
	}
	return tables
}

// expect adds rows that a block explains and no later one changes.
func (c *checker) expect(t *store.Table, s sum) {
	was := c.expected[t]
	was.add(s)
	c.expected[t] = was
}

func keyBytes(k store.Key) []byte { return append(append([]byte(nil), k.Partition...), k.Sort...) }

// marks checks what is said of the chain as a whole.
func (c *checker) marks(state *chain.State) error {
	if !state.HasL1 {
		return nil
	}
	if state.L1.Number > state.Head.Number {
		return c.problem("block %d is marked as accepted on L1, the head is %d", state.L1.Number, state.Head.Number)
	}
	s, err := block.Get(c.ctx, c.r, state.L1.Number)
	if err != nil {
		return c.problem("%v", err)
	}
	if s.Hash != state.L1.Hash {
		return c.problem("the block accepted on L1 has hash %s, block %d has %s", state.L1.Hash, state.L1.Number, s.Hash)
	}
	return nil
}
