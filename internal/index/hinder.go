package index

import (
	"context"
	"errors"
	"fmt"
	"time"

	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/node"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
)

// This file tells readers of the store why no more blocks come. They are strangers:
// what they are told names nodes by their place in the configuration, and what an
// operator can do about it stands in the log alone.

const (
	// deniedRounds is after how many failures in a row blocks that a node claims
	// and does not give, that do not build on ours, or that the store does not take, are
	// told, and failedRounds any other trouble: by then most have passed.
	deniedRounds, failedRounds = 3, 10
)

// hinder leaves in the store what a round failed with. A block that cannot be used
// is told at once.
func (x *Indexer) hinder(ctx context.Context, err error, failures int) {
	var denied *node.UnsettledError
	var fork *forkError
	var standoff *standoffError
	var commit *commitError
	switch {
	case inconsistent(err), errors.As(err, &standoff):
	case (errors.As(err, &denied) || errors.As(err, &fork) || errors.As(err, &commit)) && failures >= deniedRounds:
	case failures >= failedRounds:
	default:
		return
	}
	h := chain.Hindrance{Since: time.Now(), Block: x.nextBlock(), Reason: x.told(err)}
	if was := x.state.Hindered; !was.Since.IsZero() && was.Block == h.Block {
		if was.Reason == h.Reason {
			return
		}
		h.Since = was.Since
	}
	x.Logger.Error("indexing does not get on", "block", h.Block, "err", err)
	b := &store.Batch{Epoch: x.lease.Epoch}
	b.Put(chain.HinderedKey, h.Encode())
	if err := x.Store.Commit(ctx, b); err != nil {
		x.Logger.Warn("could not store why the index does not get on", "err", err)
		return
	}
	x.state.Hindered = h
}

// unhinder takes it back after a round that nothing was in the way of.
func (x *Indexer) unhinder(ctx context.Context) error {
	if x.state.Hindered.Since.IsZero() {
		return nil
	}
	b := &store.Batch{Epoch: x.lease.Epoch}
	b.Delete(chain.HinderedKey)
	if err := x.Store.Commit(ctx, b); err != nil {
		return fmt.Errorf("store that the index gets on: %w", err)
	}
	x.state.Hindered = chain.Hindrance{}
	return nil
}

// told is what strangers may know of an error.
func (x *Indexer) told(err error) string {
	var (
		stuck  *StuckError
		verify *VerifyError
		doubt  *starknet.UnverifiedError
		wrong  *starknet.MismatchError
		check  *checkError
		fork   *forkError
		deep   *DeepForkError
		l1     *L1ForkError
		proj   *projectionError
		denied *node.UnsettledError
		stand  *standoffError
		commit *commitError
	)
	switch {
	case errors.As(err, &stuck):
		return fmt.Sprintf("Indexing was given up after %d attempts. %s", stuck.Rounds, x.told(stuck.Last))
	case errors.As(err, &doubt) && errors.As(err, &verify):
		return fmt.Sprintf("Block %d from %s cannot be verified (%s) and is refused.", verify.Block, x.public(verify.Node), doubt.Reason)
	case errors.As(err, &wrong) && errors.As(err, &verify):
		return fmt.Sprintf("Block %d from %s fails verification: its %s does not follow from its data.", verify.Block, x.public(verify.Node), wrong.What)
	case errors.As(err, &verify):
		return fmt.Sprintf("Block %d from %s fails verification.", verify.Block, x.public(verify.Node))
	case errors.As(err, &check):
		return fmt.Sprintf("Block %d from %s cannot be read, or its parts contradict each other.", check.Block, x.public(check.Node))
	case errors.As(err, &fork):
		return fmt.Sprintf("Block %d from %s does not build on the block before it.", fork.Block, x.public(fork.Node))
	case errors.As(err, &deep):
		return fmt.Sprintf("The chain was forked below block %d, the oldest that can be undone; nothing was undone.", deep.Floor)
	case errors.As(err, &l1):
		return fmt.Sprintf("Another block %d than the indexed one is shown by %s, and blocks up to %d had been accepted on L1; nothing was undone.", l1.Block, x.public(l1.Node), l1.L1)
	case errors.As(err, &proj):
		return fmt.Sprintf("Block %d passed all checks and could not be indexed: this is a fault of the program.", proj.Block)
	case errors.As(err, &stand):
		return fmt.Sprintf("The nodes do not agree from block %d on. Of another block than the indexed one %d would have to be sure, and it is %d.", stand.Block, stand.Want, stand.Have)
	case errors.As(err, &commit) && x.state.Rewinding:
		return chain.NotStored("The end of a branch that was left")
	case errors.As(err, &commit), errors.Is(err, store.ErrUnavailable), errors.Is(err, store.ErrDamaged):
		return chain.NotStored(fmt.Sprintf("Block %d", x.nextBlock()))
	case errors.As(err, &denied):
		return fmt.Sprintf("Block %d is not to be had: %s says that it has such a block and does not give it.", x.nextBlock(), x.public(denied.Node))
	}
	return fmt.Sprintf("Block %d is not to be had from the nodes.", x.nextBlock())
}

// public is how strangers are told of a node.
func (x *Indexer) public(name string) string {
	if s, ok := x.Source.(interface{ Place(node string) (int, bool) }); ok {
		if place, ok := s.Place(name); ok {
			return fmt.Sprintf("node-%d", place+1)
		}
	}
	return "a node"
}

// Place is where the node stands in the configuration, from 0.
func (n *Nodes) Place(name string) (int, bool) {
	for i, s := range n.Pool.Statuses() {
		if s.Node == name {
			return i, true
		}
	}
	return 0, false
}

// reportFault leaves the reason of a stop in the store, where readers see it.
func (x *Indexer) reportFault(ctx context.Context, err error) {
	var format *FormatError
	if !permanent(err) || errors.As(err, &format) { // a store that is not ours is not written to
		return
	}
	b := &store.Batch{Epoch: x.lease.Epoch}
	b.Put(chain.FaultKey, chain.Fault{Block: x.nextBlock(), Reason: x.told(err)}.Encode())
	b.Delete(chain.HinderedKey)
	if err := x.Store.Commit(ctx, b); err != nil {
		x.Logger.Error("could not store why the index stopped", "err", err)
	}
}

// pardon tells a source that the block came which nobody could use: a quarantine of
// an only node means nothing any more.
func (x *Indexer) pardon() {
	if s, ok := x.Source.(interface{ Pardon() }); ok {
		s.Pardon()
	}
}

// Pardon ends the quarantine of an only node.
func (n *Nodes) Pardon() { n.Pool.Pardon() }
