// Package own answers methods of the JSON-RPC interface from the index, where the
// index holds exactly what a node would answer in the caller's version. In all other
// cases it says that a node has to be asked; it never answers that something does not
// exist because the index does not have it.
//
// Which blocks are answered for: all of them while the head that the nodes show is a
// block of the index, because then the index and the nodes are on one branch. While
// the nodes are ahead, those that are finalized. While they have gone back behind the
// index, those that they still have. While they show another branch, or the index
// undoes one, those that are accepted on L1.
//
// What is left to nodes:
//
//	blocks in 0.10             their headers have commitments that the index does not
//	                           keep, and the one of the state diff does not follow from
//	                           what it keeps
//	l1_accepted                the index asks for the mark now and then: a node may
//	                           have a newer one
//	the status of a block      above the mark, unless the index is at the nodes' head;
//	                           the mark may then be as old as the indexer's interval
//	proof facts that are none  unless the block was verified: nodes before 0.10 tell of
//	                           no proof facts, and what they told was indexed. The hash
//	                           of a transaction covers them
//	pending, pre_confirmed     no such block is indexed
//	what is malformed          the node has the words for it
//	more than 16 positions     nodes differ: some refuse so many keys
package own

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/explorer/event"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/gateway/method"
	"chainexplorer/internal/starknet"
)

// Options are what answers are made of.
type Options struct {
	Store explorer.Index
	// Depth is how far below the head a block is finalized; chain.DefaultDepth when
	// zero.
	Depth uint64
	// Head is the best head that nodes showed; ok is false while none did.
	Head func() (number uint64, hash felt.Felt, ok bool)
	// Budget bounds the work of a page of events; DefaultBudget when zero. A page that
	// it ends is shorter than it was asked to be, or empty, and has a token: nodes do
	// the same.
	Budget event.Budget
}

// Index answers from an index.
type Index struct{ Options }

// New makes an Index.
func New(o Options) *Index {
	if o.Depth == 0 {
		o.Depth = chain.DefaultDepth
	}
	if o.Budget == (event.Budget{}) {
		o.Budget = DefaultBudget
	}
	return &Index{o}
}

// errElsewhere says that a node has to be asked.
var errElsewhere = errors.New("the index does not hold this exactly")

// protocolError is an error of the specification, by its code.
type protocolError int

func (e protocolError) Error() string { return fmt.Sprintf("error %d of the specification", int(e)) }

// The codes that the index answers with.
const (
	codeInvalidIndex = protocolError(27)
	codePageTooBig   = protocolError(31)
	codeInvalidToken = protocolError(33)
)

// answers are the methods that the index can answer.
var answers = map[string]func(*call) ([]byte, error){
	"starknet_blockNumber":                     (*call).blockNumber,
	"starknet_blockHashAndNumber":              (*call).blockHashAndNumber,
	"starknet_getBlockTransactionCount":        (*call).transactionCount,
	"starknet_getBlockWithTxHashes":            (*call).blockWithHashes,
	"starknet_getBlockWithTxs":                 (*call).blockWithTransactions,
	"starknet_getBlockWithReceipts":            (*call).blockWithReceipts,
	"starknet_getTransactionByHash":            (*call).transactionByHash,
	"starknet_getTransactionByBlockIdAndIndex": (*call).transactionByIndex,
	"starknet_getTransactionReceipt":           (*call).receipt,
	"starknet_getTransactionStatus":            (*call).transactionStatus,
	"starknet_getEvents":                       (*call).events,
}

// wholeBlocks are left to nodes in 0.10, whatever they are asked for: no view needs to be
// opened to find that out.
var wholeBlocks = map[string]bool{"starknet_getBlockWithTxHashes": true, "starknet_getBlockWithTxs": true, "starknet_getBlockWithReceipts": true}

// Answers says whether the index can answer calls of a method at all.
func Answers(m *method.Method) bool { return answers[m.Name] != nil }

// Answer answers a call from one view of the index. done is false when a node has to
// be asked. A code that is not 0 is the specification's error; otherwise result is the
// result, of no more than limit bytes if limit is positive.
func (x *Index) Answer(ctx context.Context, m *method.Method, args method.Args, v starknet.SpecVersion, limit int64) (result []byte, code int, done bool, err error) {
	answer := answers[m.Name]
	if answer == nil || v < starknet.V08 || v > starknet.V010 || v == starknet.V010 && wholeBlocks[m.Name] {
		return nil, 0, false, nil
	}
	c := &call{ctx: ctx, args: args, v: v, limit: limit, budget: x.Budget}
	// The head is asked for before the view is opened, which is then at least as new:
	// so a head that the index has just taken over is not mistaken for another branch.
	c.nodes.number, c.nodes.hash, c.nodes.known = x.Head()
	err = chain.View(ctx, x.Store, func(r explorer.Reader, s *chain.State) error {
		c.r, c.s = r, s
		if err := c.findReach(x.Depth); err != nil {
			return err
		}
		result, err = answer(c)
		return err
	})
	var failure protocolError
	switch {
	case errors.Is(err, errElsewhere), err == nil && limit > 0 && int64(len(result)) > limit:
		return nil, 0, false, nil
	case errors.As(err, &failure):
		return nil, int(failure), true, nil
	case err != nil:
		return nil, 0, false, fmt.Errorf("answer %s from the index: %w", m.Name, err)
	}
	return result, 0, true, nil
}

// call is a call on its way to an answer, with the view that all of it is from.
type call struct {
	ctx    context.Context
	args   method.Args
	v      starknet.SpecVersion
	limit  int64
	budget event.Budget

	nodes struct { // the best head that they showed
		number uint64
		hash   felt.Felt
		known  bool
	}
	r explorer.Reader
	s *chain.State

	// next is the number after the newest block that is answered for; 0 when none is.
	next uint64
	// atHead says that the newest block of the nodes is the newest of the index, or
	// one below it.
	atHead bool
}

func (c *call) arg(name string) (json.RawMessage, bool) {
	a, ok := c.args[name]
	return a, ok
}
