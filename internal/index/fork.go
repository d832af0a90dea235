package index

import (
	"context"
	"errors"
	"fmt"
	"time"

	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/store"
)

// Nothing that is indexed is undone on a claim. When a node shows another block
// where the index has one, the nodes are compared, the branch is fetched from the
// node that shows it and verified, and only when it is higher than ours, or when
// it has stayed and nobody has our blocks any more, are ours undone. See
// docs/indexing.md, "Forks and finality".

// errOtherGenesis says that not even the first blocks agree.
var errOtherGenesis = &FormatError{"the node's chain has another first block than the index: " +
	"use another directory or database, or another node"}

// healing is what came of looking at a fork.
type healing uint8

const (
	noFork  healing = iota // every node that can tell has our blocks
	waiting                // there is a branch, and it has not won
	settled                // blocks were undone, or a node was sent away: look again
)

// heal holds the index against its nodes and undoes what a better branch replaced.
func (x *Indexer) heal(ctx context.Context, sourceHead uint64) (healing, error) {
	if !x.state.HasHead {
		return noFork, nil
	}
	// A source that is merely behind agrees with all that it has. Nothing is
	// undone before there is a replacement: a shrunken chain cannot be told
	// from a lagging node.
	top := min(x.state.Head.Number, sourceHead)
	ours, err := x.hashAt(ctx, top)
	if err != nil {
		return noFork, err
	}
	claims, err := x.claims(ctx, top)
	if err != nil {
		return noFork, err
	}
	rival := ""
	found := false
	for _, c := range claims {
		if c.Found && c.Hash != ours {
			rival, found = c.Node, true
			break
		}
	}
	if !found {
		same, err := x.sameContents(ctx, top)
		if err != nil || same {
			x.rival = nil
			return noFork, err
		}
		rival = claims[0].Node // blocks whose hashes say nothing come from one node
	}
	return x.challenge(ctx, rival, top)
}

// challenge decides between our blocks and the branch of a node that has another
// block than ours at top.
func (x *Indexer) challenge(ctx context.Context, node string, top uint64) (healing, error) {
	ancestor, found, err := x.commonAncestor(ctx, node, top)
	if err != nil {
		return noFork, err
	}
	differs := ancestor + 1
	if !found {
		differs = x.oldestKept()
	}
	v, err := x.vote(ctx, node, differs)
	if err != nil {
		return noFork, err
	}
	belowL1 := found && x.state.HasL1 && ancestor < x.state.L1.Number && !x.mayUndo(differs)
	switch {
	case v.moved && !v.inPlace:
		return waiting, nil // it has our block again, or yet another one
	case !v.inPlace && v.ours > 0 && (v.ours >= v.rival || !found || belowL1):
		x.rival = nil
		x.blame(node, &BranchError{Block: differs, Node: node, Ours: v.ours, Rival: v.rival})
		return settled, nil
	case !v.inPlace && v.rival < x.Quorum:
		if x.seen(node, ancestor, v.hash).old(x.ForkPatience) {
			x.standoff = &standoffError{Block: differs, Have: v.rival, Want: x.Quorum}
		}
		return waiting, nil // too few have it for anything to be done about it
	case !v.inPlace && v.silent > 0 && !x.seen(node, ancestor, v.hash).old(x.ForkPatience):
		return waiting, nil // those that do not answer may have our blocks
	case !found && x.undo.Floor == 0:
		return noFork, errOtherGenesis
	case !found:
		return noFork, &DeepForkError{Head: x.state.Head.Number, Floor: x.undo.Floor}
	case belowL1:
		return noFork, &L1ForkError{Block: differs, L1: x.state.L1.Number, Node: node}
	case v.inPlace: // there are no hashes to hold a branch to
		return settled, x.rollback(ctx, ancestor)
	}
	return x.decide(ctx, node, x.seen(node, ancestor, v.hash), v)
}

// decide reads the branch, and undoes our blocks if it is worth more.
func (x *Indexer) decide(ctx context.Context, node string, b *branch, v votes) (healing, error) {
	err := x.examine(ctx, node, b)
	var lie *VerifyError
	var inconsistent *checkError
	switch {
	case errors.As(err, &lie), errors.As(err, &inconsistent):
		x.rival = nil
		if v.asked > 1 {
			x.blame(node, fmt.Errorf("its branch from block %d on is false: %w", b.ancestor+1, err))
			return settled, nil
		}
		return noFork, err
	case err != nil:
		return noFork, err
	}
	higher := b.head() > x.state.Head.Number
	if !higher && (v.ours > 0 || !b.old(x.ForkPatience)) {
		return waiting, nil
	}
	x.Logger.Warn("fork: a branch was verified and takes the place of indexed blocks", "node", node, "ancestor", b.ancestor,
		"through", b.head(), "head", x.state.Head.Number, "nodes", v.rival, "nodes_with_ours", v.ours, "nodes_silent", v.silent)
	if err := x.rollback(ctx, b.ancestor); err != nil {
		return noFork, err
	}
	x.rival, x.expected = nil, b
	return settled, nil
}

// mayUndo says whether the operator allowed to undo this block though it had been
// accepted on L1.
func (x *Indexer) mayUndo(number uint64) bool {
	return x.AllowForkBelowL1 != nil && number >= *x.AllowForkBelowL1
}

// votes is what the nodes say of the first block of a branch.
type votes struct {
	asked  int // nodes
	ours   int // have our block
	rival  int // have the branch's
	silent int // gave no answer
	hash   felt.Felt
	moved  bool // the node that showed the branch does not any more
	// inPlace says that it shows another block with the same hash.
	inPlace bool
}

// vote asks all nodes for a block where one of them has another than ours. One
// that has not come so far says nothing.
func (x *Indexer) vote(ctx context.Context, node string, number uint64) (v votes, err error) {
	ours, err := x.hashAt(ctx, number)
	if err != nil {
		return v, err
	}
	claims, err := x.claims(ctx, number)
	if err != nil {
		return v, err
	}
	v.asked, v.moved = len(claims), true
	for _, c := range claims {
		switch {
		case c.Node != node || c.Err != nil || !c.Found:
		case c.Hash != ours:
			v.hash, v.moved = c.Hash, false
		default: // where the hash is no commitment, the contents may differ
			same, err := x.sameContents(ctx, number)
			if err != nil {
				return v, err
			}
			v.inPlace = !same
		}
	}
	for _, c := range claims {
		switch {
		case c.Err != nil:
			v.silent++
		case c.Found && c.Hash == ours:
			v.ours++
		case c.Found && c.Hash == v.hash:
			v.rival++
		}
	}
	return v, nil
}

// commonAncestor returns the newest block up to top that index and node share.
// It doubles its steps backwards and then halves the gap: about 2*log2(depth)
// questions. It never looks below what can be undone.
func (x *Indexer) commonAncestor(ctx context.Context, node string, top uint64) (number uint64, found bool, err error) {
	bottom := x.oldestKept()
	if top < bottom {
		// The source is so far behind that it cannot show a fork we could undo;
		// compare what it has, to tell another chain from a lagging node.
		same, err := x.sameAt(ctx, node, top)
		return top, same, err
	}
	differs := top + 1
	for step := uint64(1); ; step *= 2 {
		same, err := x.sameAt(ctx, node, top)
		if err != nil {
			return 0, false, err
		}
		if same {
			break
		}
		differs = top
		if top == bottom {
			return 0, false, nil
		}
		top -= min(step, top-bottom)
	}
	for top+1 < differs {
		mid := top + (differs-top)/2
		same, err := x.sameAt(ctx, node, mid)
		if err != nil {
			return 0, false, err
		}
		if same {
			top = mid
		} else {
			differs = mid
		}
	}
	return top, true, nil
}

// oldestKept is the oldest block that stays whatever is undone.
func (x *Indexer) oldestKept() uint64 { return max(x.undo.Floor, 1) - 1 }

func (x *Indexer) sameAt(ctx context.Context, node string, number uint64) (bool, error) {
	ours, err := x.hashAt(ctx, number)
	if err != nil {
		return false, err
	}
	claims, err := x.claims(ctx, number)
	if err != nil {
		return false, err
	}
	for _, c := range claims {
		switch {
		case c.Node != node:
		case c.Err != nil || !c.Found || c.Hash != ours:
			return false, c.Err
		default:
			return x.sameContents(ctx, number)
		}
	}
	return false, fmt.Errorf("node %s is gone", node)
}

// claims is what each node says of a block number. An error means that none of
// them said anything.
func (x *Indexer) claims(ctx context.Context, number uint64) ([]NodeHash, error) {
	if p, ok := x.Source.(Peers); ok {
		claims := p.HashesAt(ctx, number)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		var failed error
		for i := range claims {
			if claims[i].Err == nil {
				return claims, nil
			}
			failed = errors.Join(failed, claims[i].Err)
		}
		return nil, fmt.Errorf("ask for the hash of block %d: %w", number, failed)
	}
	hash, err := x.Source.HashAt(ctx, number)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return nil, fmt.Errorf("ask for the hash of block %d: %w", number, err)
	}
	return []NodeHash{{Hash: hash, Found: err == nil}}, nil
}

func (x *Indexer) hashAt(ctx context.Context, number uint64) (hash felt.Felt, err error) {
	err = x.Store.View(ctx, func(r store.Reader) error {
		s, err := block.Get(ctx, r, number)
		if err == nil {
			hash = s.Hash
		}
		return err
	})
	return hash, err
}

// seen returns the branch that is being looked at, or begins with it.
func (x *Indexer) seen(node string, ancestor uint64, first felt.Felt) *branch {
	if b := x.rival; b == nil || b.ancestor != ancestor || b.first != first {
		x.rival = &branch{ancestor: ancestor, first: first, since: time.Now()}
		x.Logger.Warn("fork: a node shows another branch", "node", node, "ancestor", ancestor, "head", x.state.Head.Number)
	}
	return x.rival
}
