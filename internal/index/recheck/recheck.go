// Package recheck holds blocks that are in an index against their hashes again:
// from the index alone where it keeps all that the hash covers, and with the help
// of a node where it does not, because the index keeps no storage cells.
//
// What the node says is believed only as far as the block's hash proves it. What
// is compared with the index then is everything that follows from the block alone,
// byte for byte.
package recheck

import (
	"context"
	"errors"
	"fmt"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/catalog"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/index"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
)

// Method is how a block was recomputed.
type Method string

// The methods.
const (
	FromIndex Method = "index" // from the index alone
	WithNode  Method = "node"  // with what a node told of it
	NotAtAll  Method = "none"  // a node is needed and there is none
)

// Fetcher is the part of index.Source that is needed.
type Fetcher interface {
	Fetch(ctx context.Context, number uint64) (index.Raw, error)
}

// FalseAnswerError says that a node told a block that contradicts its own hash, or
// that is not the one it was asked for.
type FalseAnswerError struct {
	Node  string
	Cause error
}

func (e *FalseAnswerError) Error() string {
	return fmt.Sprintf("node %s serves a false block: %v", e.Node, e.Cause)
}

func (e *FalseAnswerError) Unwrap() error { return e.Cause }

// Result is what came of a block.
type Result struct {
	Number  uint64
	Finding chain.Finding
	Method  Method
	// Mismatch says in what the index contradicts the block's hash.
	Mismatch string
}

// Block recomputes one block. node may be nil. The error is about the machine or
// the node; what is wrong with the index is in the result.
func Block(ctx context.Context, r store.Reader, number uint64, chainID felt.Felt, node Fetcher) (Result, error) {
	stored, _, err := index.LoadBlock(ctx, r, number)
	if err != nil {
		return Result{Number: number, Method: FromIndex}, err
	}
	return judge(ctx, stored, chainID, node)
}

// judge holds a block that was read from the index against its hash.
func judge(ctx context.Context, stored *explorer.Block, chainID felt.Felt, node Fetcher) (Result, error) {
	out := Result{Number: stored.Number, Method: FromIndex}
	rules := starknet.RulesOf(&stored.Header, chainID)
	if rules >= starknet.RulesPoseidon {
		return withNode(ctx, stored, chainID, node)
	}
	var doubt *starknet.UnverifiedError
	switch err := starknet.Verify(&stored.Block, nil, chainID); {
	case err == nil:
		out.Finding = chain.Finding{Outcome: chain.Verified, Rules: rules}
	case errors.As(err, &doubt):
		out.Finding = chain.Finding{Outcome: chain.Unverified, Reason: doubt.Reason}
	default:
		out.Mismatch = err.Error()
	}
	return out, nil
}

func withNode(ctx context.Context, stored *explorer.Block, chainID felt.Felt, node Fetcher) (Result, error) {
	out := Result{Number: stored.Number, Method: NotAtAll, Finding: chain.Finding{Outcome: chain.NotChecked}}
	if node == nil {
		return out, nil
	}
	out.Method = WithNode
	raw, err := node.Fetch(ctx, stored.Number)
	if err != nil {
		return out, fmt.Errorf("fetch block %d: %w", stored.Number, err)
	}
	b, err := starknet.DecodeBlock(raw.Block)
	if err != nil {
		return out, &FalseAnswerError{raw.Node, fmt.Errorf("block %d: %w", stored.Number, err)}
	}
	su, err := starknet.DecodeStateUpdate(raw.StateUpdate)
	if err != nil {
		return out, &FalseAnswerError{raw.Node, fmt.Errorf("block %d: %w", stored.Number, err)}
	}
	if b.Number != stored.Number {
		return out, &FalseAnswerError{raw.Node, fmt.Errorf("it answers with block %d for block %d", b.Number, stored.Number)}
	}
	if b.Hash != stored.Hash {
		return out, &FalseAnswerError{raw.Node, fmt.Errorf("it has another block %d: %s, the index has %s", b.Number, b.Hash, stored.Hash)}
	}
	rules := starknet.RulesOf(&b.Header, chainID)
	var doubt *starknet.UnverifiedError
	switch err := starknet.Verify(b, su, chainID); {
	case errors.As(err, &doubt):
		out.Finding = chain.Finding{Outcome: chain.Unverified, Reason: doubt.Reason}
		return out, nil
	case err != nil:
		return out, &FalseAnswerError{Node: raw.Node, Cause: err}
	}
	same, err := sameRows(stored, explorer.NewBlock(b, su))
	if err != nil {
		return out, err
	}
	if !same {
		out.Finding = chain.Finding{}
		out.Mismatch = fmt.Sprintf("block %d: what the index keeps of it is not what its hash %s covers", stored.Number, stored.Hash)
		return out, nil
	}
	out.Finding = chain.Finding{Outcome: chain.Verified, Rules: rules}
	return out, nil
}

// sameRows says that two blocks give the same rows.
func sameRows(a, b *explorer.Block) (bool, error) {
	var sums [2][32]byte
	for i, blk := range []*explorer.Block{a, b} {
		rows := explorer.NewRows(64)
		for _, s := range catalog.Subjects() {
			if err := s.Project(blk, rows); err != nil {
				return false, fmt.Errorf("project %s rows of block %d: %w", s.Name(), blk.Number, err)
			}
		}
		sums[i] = rows.Sum()
	}
	return sums[0] == sums[1], nil
}
