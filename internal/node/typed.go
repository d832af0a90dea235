package node

import (
	"bytes"
	"context"
	"fmt"
	"strconv"

	"chainexplorer/internal/felt"
)

// BlockID names a block: by number, by hash, or by what it is to the node.
type BlockID struct {
	json    string
	number  *uint64
	minSpec SpecVersion
}

var (
	// Latest is the newest block agreed on by L2.
	Latest = BlockID{json: `"latest"`}
	// L1Accepted is the newest block proven on L1. Only nodes of version 0.9
	// and later know it.
	L1Accepted = BlockID{json: `"l1_accepted"`, minSpec: SpecVersion{0, 9, 0}}
)

// BlockNumber names a block by its number.
func BlockNumber(n uint64) BlockID {
	return BlockID{json: `{"block_number":` + strconv.FormatUint(n, 10) + `}`, number: &n}
}

// BlockHash names a block by its hash.
func BlockHash(h felt.Felt) BlockID {
	return BlockID{json: `{"block_hash":"` + h.String() + `"}`}
}

// MarshalJSON writes the wire form.
func (b BlockID) MarshalJSON() ([]byte, error) { return []byte(b.wire()), nil }

// wire is the JSON form; the zero value is Latest.
func (b BlockID) wire() string {
	if b.json == "" {
		return Latest.json
	}
	return b.json
}

// params are the parameters of a call about the block, by name: what a method
// takes beside the block differs between versions, and some nodes refuse a list
// that leaves out an optional last one. more continues the object.
func (b BlockID) params(more string) []byte { return []byte(`{"block_id":` + b.wire() + more + `}`) }

// op starts a read about the block.
func (b BlockID) op(what string) readOp {
	return readOp{what: what, at: b.number, minSpec: b.minSpec}
}

// Raw is a block as one node sent it. Both parts were answered in one request
// where the node takes batches; a fork between the two answers is still
// possible, so compare their block hashes.
type Raw struct {
	Block       []byte // result of starknet_getBlockWithReceipts
	StateUpdate []byte // result of starknet_getStateUpdate
	Node        string
	// Release gives the memory of both parts back to the budget. It is to be
	// called when they are not used any more.
	Release func()
}

// BlockWithUpdate fetches a block with its receipts and its state update, from
// one node, in one request. A block that does not exist is IsNotFound.
func (p *Pool) BlockWithUpdate(ctx context.Context, number uint64, opts ...Option) (Raw, error) {
	id := BlockNumber(number)
	op := id.op("block " + strconv.FormatUint(number, 10))
	op.count, op.oneNode, op.objects, op.whole = 2, true, true, true
	op.hold = newHold(p.cfg.Budget)
	plain := []call{
		{method: "starknet_getBlockWithReceipts", params: id.params("")},
		{method: "starknet_getStateUpdate", params: id.params("")},
	}
	// Transaction hashes cover the proof facts, which nodes leave out unasked.
	flagged := []call{
		{method: plain[0].method, params: id.params(`,"response_flags":["INCLUDE_PROOF_FACTS"]`)},
		plain[1],
	}
	op.calls = func(n *node) []call {
		if n.takesFlags() {
			return flagged
		}
		return plain
	}
	op.rejected = func(n *node, c call) bool {
		flags := bytes.Equal(c.params, flagged[0].params)
		if flags && n.rejectFlags() {
			p.log.Info("node rejects response flags; proof facts are not asked for", "node", n.name)
		}
		return flags
	}
	for _, o := range opts {
		o(&op)
	}
	out, err := p.read(ctx, op)
	if err != nil {
		return Raw{}, err
	}
	for _, r := range out {
		if r.Err != nil {
			op.hold.release()
			return Raw{}, op.final(&r)
		}
	}
	p.nodeNamed(out[0].Node).serves(number)
	return Raw{Block: out[0].Result, StateUpdate: out[1].Result, Node: out[0].Node, Release: func() { op.hold.release() }}, nil
}

func (p *Pool) nodeNamed(name string) *node {
	for _, n := range p.nodes {
		if n.name == name {
			return n
		}
	}
	return nil
}

// BlockHeader fetches a block's header with its transaction hashes and says
// which node gave it.
func (p *Pool) BlockHeader(ctx context.Context, id BlockID, opts ...Option) ([]byte, string, error) {
	op := id.op("block header " + id.wire())
	op.objects, op.whole = true, id.number != nil
	a, err := p.readOne(ctx, op, call{
		method: "starknet_getBlockWithTxHashes", params: id.params(""),
	}, opts...)
	return a.Result, a.Node, err
}

// Class fetches a class as it is known at a block.
func (p *Pool) Class(ctx context.Context, id BlockID, classHash felt.Felt, opts ...Option) ([]byte, string, error) {
	op := id.op("class " + classHash.String())
	op.objects = true
	a, err := p.readOne(ctx, op, call{
		method: "starknet_getClass", params: id.params(`,"class_hash":"` + classHash.String() + `"`),
	}, opts...)
	return a.Result, a.Node, err
}

// CallContract runs a view function at a block and returns what it returns.
func (p *Pool) CallContract(ctx context.Context, id BlockID, contract, selector felt.Felt, calldata []felt.Felt) ([]felt.Felt, error) {
	params, err := encodeParams(callParams(contract, selector, calldata, id))
	if err != nil {
		return nil, err
	}
	op := id.op("call of " + contract.String())
	a, err := p.readOne(ctx, op, call{method: "starknet_call", params: params})
	if err != nil {
		return nil, err
	}
	out, err := feltsOf(a.Result)
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w: %w", op.what, a.Node, ErrMalformed, err)
	}
	return out, nil
}
