package index

import (
	"context"
	"fmt"
	"math"
	"sync"
	"sync/atomic"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/catalog"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/explorer/transaction"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
)

// Replayer projects blocks again from what the index keeps of them, with the
// same code as the write path, for whoever checks an index or takes blocks back.
type Replayer struct {
	subjects  []explorer.Subject
	followers []explorer.Follower
	dated     [256]bool         // tables, by id, of catalog.Dated
	tables    [256]*store.Table // of the subjects, by id
	number    [256]int8         // where the block's number stands in the keys of their lists, or -1
	memory    sync.Pool         // of *TakenBack
	// expectRows is how many the next block will have, about.
	expectRows atomic.Int64
}

// EarlierRows answers the rows that followers ask for.
type EarlierRows interface {
	GetMany(ctx context.Context, keys []store.Key) ([][]byte, error)
}

// NewReplayer makes a replayer for these subjects.
func NewReplayer(subjects []explorer.Subject) *Replayer {
	r := &Replayer{subjects: subjects, followers: followersOf(subjects)}
	for i := range r.number {
		r.number[i] = -1
	}
	for _, t := range catalog.Dated() {
		r.dated[t.ID] = true
		r.number[t.ID] = int8(t.Number)
	}
	r.number[catalog.Undo.ID] = 0
	for _, s := range subjects {
		for _, t := range s.Tables() {
			r.tables[t.ID] = t
		}
	}
	return r
}

// Replayed is a block with everything done that needs no other block.
type Replayed struct {
	block *explorer.Block
	rows  *explorer.Rows // that follow from the block alone
	sum   [32]byte
	plans []explorer.Plan // of the others

	followers []explorer.Follower
}

// Begin projects a block, for which it needs no other. Blocks may be begun side by side.
func (r *Replayer) Begin(b *explorer.Block) (*Replayed, error) {
	return r.begin(b, explorer.NewRows(int(r.expectRows.Load())))
}

// begin projects a block into rows, which are empty.
func (r *Replayer) begin(b *explorer.Block, rows *explorer.Rows) (*Replayed, error) {
	for _, s := range r.subjects {
		if err := s.Project(b, rows); err != nil {
			return nil, &projectionError{b.Number, s.Name(), err}
		}
	}
	r.expectRows.Store(int64(rows.Len()))
	return &Replayed{b, rows, rows.Sum(), planned(r.followers, b), r.followers}, nil
}

// Own are the rows that follow from the block alone.
func (p *Replayed) Own() *explorer.Rows { return p.rows }

// Finish returns the rows that build on earlier ones, and the head that the block makes.
func (p *Replayed) Finish(ctx context.Context, parent chain.Head, earlier EarlierRows) ([]store.Op, chain.Head, error) {
	next := &explorer.Rows{}
	head, err := p.finish(ctx, parent, earlier, next)
	if err != nil {
		return nil, head, err
	}
	return next.Ops(), head, nil
}

// finish makes the rows that build on earlier ones, in next, and returns the head that
// the block makes.
func (p *Replayed) finish(ctx context.Context, parent chain.Head, earlier EarlierRows, next *explorer.Rows) (head chain.Head, err error) {
	if err := follow(ctx, p.followers, p.plans, p.block, next, earlier.GetMany); err != nil {
		return head, err
	}
	return headOf(p.block, parent.Digest, p.sum, next.Sum()), nil
}

// LoadBlock reads a block back as projections see it, with its row.
func LoadBlock(ctx context.Context, r store.Reader, number uint64) (*explorer.Block, *block.Summary, error) {
	sum, err := block.Get(ctx, r, number)
	if err != nil {
		return nil, nil, err
	}
	b := &explorer.Block{StateDiffLength: sum.StateDiffLength}
	b.Header = sum.Header
	if b.State, err = block.StateOf(ctx, r, number); err != nil {
		return nil, nil, err
	}
	recs, err := transaction.OfBlock(ctx, r, number, 0, math.MaxInt32)
	if err != nil {
		return nil, nil, err
	}
	b.Transactions = make([]starknet.Transaction, 0, len(recs))
	b.Receipts = make([]starknet.Receipt, 0, len(recs))
	for i, rec := range recs {
		if rec.Index != uint32(i) {
			return nil, nil, fmt.Errorf("transaction %d of block %d is missing", i, number)
		}
		b.Transactions = append(b.Transactions, rec.Transaction)
		b.Receipts = append(b.Receipts, rec.Receipt)
	}
	return b, sum, nil
}

func followersOf(subjects []explorer.Subject) (out []explorer.Follower) {
	for _, s := range subjects {
		if f, ok := s.(explorer.Follower); ok {
			out = append(out, f)
		}
	}
	return out
}

func headOf(b *explorer.Block, before chain.Digest, own, followed [32]byte) chain.Head {
	return chain.Head{
		Number: b.Number, Hash: b.Hash, Timestamp: b.Timestamp,
		Digest: nextDigest(before, own, followed),
	}
}
