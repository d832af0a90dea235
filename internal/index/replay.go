package index

import (
	"context"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/store"
)

// Replayer projects blocks again from what the index keeps of them, with the
// same code as the write path, for whoever checks or copies an index.
type Replayer struct {
	subjects  []explorer.Subject
	followers []explorer.Follower
}

// EarlierRows answers the rows that followers ask for.
type EarlierRows interface {
	GetMany(ctx context.Context, keys []store.Key) ([][]byte, error)
}

// NewReplayer makes a replayer for these subjects.
func NewReplayer(subjects []explorer.Subject) *Replayer {
	return &Replayer{subjects: subjects, followers: followersOf(subjects)}
}

// Block returns the rows of a block: those that follow from it alone, those
// that build on earlier ones, and the head that the block makes.
func (r *Replayer) Block(ctx context.Context, b *explorer.Block, parent chain.Head, earlier EarlierRows) (own, followed []store.Op, head chain.Head, err error) {
	rows := &explorer.Rows{}
	for _, s := range r.subjects {
		if err := s.Project(b, rows); err != nil {
			return nil, nil, head, &projectionError{b.Number, s.Name(), err}
		}
	}
	next := &explorer.Rows{}
	if err := follow(ctx, planned(r.followers, b), b, next, earlier.GetMany); err != nil {
		return nil, nil, head, err
	}
	return rows.Ops(), next.Ops(), headOf(b, parent.Digest, rows.Sum(), next.Sum()), nil
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
