package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"chainexplorer/internal/contractcall"
	"chainexplorer/internal/felt"
)

// This file answers questions to contracts at one block. A contract's own
// refusal is a result; an error is a node's. What a node may not know yet is
// asked of others first, as every read.

// Codes of the specification that a contract's refusal comes under.
const (
	codeEntryPointNotFound = 21
	codeContractError      = 40
	codeExecutionError     = 41
)

// CallAt runs view functions at one block, in one batch. The results are in the
// order of the calls, and all of them are of that block. At most Config.MaxBatch
// calls go into one request.
func (p *Pool) CallAt(ctx context.Context, at contractcall.Block, calls []contractcall.Call) ([]contractcall.Result, error) {
	return p.callAt(ctx, at, calls)
}

func (p *Pool) callAt(ctx context.Context, at contractcall.Block, calls []contractcall.Call, opts ...Option) ([]contractcall.Result, error) {
	id := BlockHash(at.Hash)
	reqs := make([]Request, len(calls))
	for i := range calls {
		reqs[i] = Request{"starknet_call", callParams(calls[i].Contract, calls[i].Selector, calls[i].Calldata, id)}
	}
	out, err := p.Batch(ctx, reqs, append(opts, AtBlock(at.Number))...)
	if errors.Is(err, ErrTooLarge) {
		return p.callApart(ctx, at, calls, opts...)
	}
	if err != nil {
		return nil, fmt.Errorf("call contracts at block %d: %w", at.Number, unanswered(err))
	}
	return results(calls, out)
}

// callApart asks in halves for calls whose answers are longer than what is taken, so that one contract takes no
// other's answer away. One that is too long by itself is as good as refused.
func (p *Pool) callApart(ctx context.Context, at contractcall.Block, calls []contractcall.Call, opts ...Option) ([]contractcall.Result, error) {
	if len(calls) == 1 {
		return []contractcall.Result{{Fault: contractcall.Reverted, Reason: fmt.Sprintf("the answer is longer than %d MiB", contractcall.MaxAnswer>>20)}}, nil
	}
	var out []contractcall.Result
	for _, half := range [][]contractcall.Call{calls[:len(calls)/2], calls[len(calls)/2:]} {
		part, err := p.callAt(ctx, at, half, opts...)
		if err != nil {
			return nil, err
		}
		out = append(out, part...)
	}
	return out, nil
}

// unanswered says what it means for who asks that calls failed.
func unanswered(err error) error {
	if errors.Is(err, ErrTooLarge) {
		return fmt.Errorf("%w: %w: %w", contractcall.ErrUnavailable, contractcall.ErrTooLong, err)
	}
	return fmt.Errorf("%w: %w", contractcall.ErrUnavailable, err)
}

// callParams are the parameters of starknet_call.
func callParams(contract, selector felt.Felt, calldata []felt.Felt, id any) any {
	if calldata == nil {
		calldata = []felt.Felt{}
	}
	request := map[string]any{"contract_address": contract, "entry_point_selector": selector, "calldata": calldata}
	return map[string]any{"request": request, "block_id": id}
}

func results(calls []contractcall.Call, answers []Response) ([]contractcall.Result, error) {
	out := make([]contractcall.Result, len(calls))
	for i := range calls {
		var err error
		if out[i], err = resultOf(&calls[i], &answers[i]); err != nil {
			return nil, fmt.Errorf("call of %s: %s: %w", calls[i].Contract, answers[i].Node, err)
		}
	}
	return out, nil
}

func resultOf(c *contractcall.Call, a *Response) (r contractcall.Result, err error) {
	if a.Err == nil {
		if r.Values, err = feltsOf(a.Result); err != nil {
			return r, fmt.Errorf("%w: %w: %w", contractcall.ErrUnavailable, ErrMalformed, err)
		}
		return r, nil
	}
	switch a.Err.Code {
	case CodeContractNotFound:
		r.Fault = contractcall.NoContract
	case codeEntryPointNotFound:
		r.Fault = contractcall.NoEntryPoint
	case CodeBlockNotFound, CodeNoBlocks:
		return r, fmt.Errorf("%w: %w", contractcall.ErrBlockUnknown, a.Err)
	case codeContractError, codeExecutionError:
		r.Fault, r.Reason = contractcall.Reverted, reason(a.Err.Data)
		if lacksEntryPoint(r.Reason, c.Selector) {
			r.Fault = contractcall.NoEntryPoint
		}
	default:
		return r, fmt.Errorf("%w: %w", contractcall.ErrUnavailable, a.Err)
	}
	return r, nil
}

// noDoor is how the sequencer calls a missing entry point: ENTRYPOINT_NOT_FOUND.
var noDoor = felt.MustShortString("ENTRYPOINT_NOT_FOUND").String()

// lacksEntryPoint recognises a missing function behind an old proxy, which
// passes every call on and reverts with what it gets back.
func lacksEntryPoint(reason string, selector felt.Felt) bool {
	text := strings.ToLower(reason)
	if strings.Contains(text, noDoor) || strings.Contains(text, "entrypoint_not_found") {
		return true
	}
	named := strings.Contains(text, strings.TrimPrefix(selector.String(), "0x"))
	return named && strings.Contains(text, "entry point") && strings.Contains(text, "not found")
}

// maxReason bounds what is kept of a revert's reason.
const maxReason = 1000

// reason makes one line of the data of a contract error, whose form differs
// between versions and nodes: it is nested where calls are.
func reason(data json.RawMessage) string {
	var any struct {
		Error json.RawMessage `json:"revert_error"`
	}
	text := data
	if json.Unmarshal(data, &any) == nil && any.Error != nil {
		text = any.Error
	}
	// The innermost error comes last in the forms that nest.
	for range 8 {
		var inner struct {
			Error json.RawMessage `json:"error"`
		}
		if json.Unmarshal(text, &inner) != nil || inner.Error == nil {
			break
		}
		text = inner.Error
	}
	var plain string
	if json.Unmarshal(text, &plain) != nil {
		plain = string(text)
	}
	return clip(plain, maxReason)
}

// CallPending runs view functions on the block that is being built, all on one
// node and in one batch, and tells which block that is. Should the node have
// moved on meanwhile, it is asked again.
func (p *Pool) CallPending(ctx context.Context, calls []contractcall.Call) (contractcall.Pending, []contractcall.Result, error) {
	const tries = 3
	for try := 1; ; try++ {
		before, after, out, err := p.askPending(ctx, calls)
		switch {
		case err != nil:
			return before, nil, fmt.Errorf("call contracts at the pending block: %w", err)
		case before.Same(after):
			return before, out, nil
		case try == tries:
			return before, nil, fmt.Errorf("call contracts at the pending block: %w: it changed while it was asked", contractcall.ErrUnavailable)
		}
	}
}

func (p *Pool) askPending(ctx context.Context, calls []contractcall.Call) (before, after contractcall.Pending, out []contractcall.Result, err error) {
	if len(calls)+2 > p.cfg.MaxBatch {
		return before, after, nil, fmt.Errorf("at most %d calls can be asked of one block", p.cfg.MaxBatch-2)
	}
	params := make(map[string][]call, 2)
	for _, tag := range []string{`"pending"`, `"pre_confirmed"`} {
		header := call{method: "starknet_getBlockWithTxHashes", params: []byte(`{"block_id":` + tag + `}`)}
		list := []call{header}
		for i := range calls {
			raw, err := encodeParams(callParams(calls[i].Contract, calls[i].Selector, calls[i].Calldata, json.RawMessage(tag)))
			if err != nil {
				return before, after, nil, err
			}
			list = append(list, call{method: "starknet_call", params: raw})
		}
		params[tag] = append(list, header)
	}
	op := readOp{what: "pending block", count: len(calls) + 2, oneNode: true}
	op.calls = func(n *node) []call {
		n.mu.Lock()
		defer n.mu.Unlock()
		if n.id != nil && !n.id.spec.atLeast(0, 9, 0) {
			return params[`"pending"`]
		}
		return params[`"pre_confirmed"`]
	}
	answers, err := p.read(ctx, op)
	if err != nil {
		return before, after, nil, unanswered(err)
	}
	if before, err = pendingOf(&answers[0]); err != nil {
		return before, after, nil, err
	}
	if after, err = pendingOf(&answers[len(answers)-1]); err != nil {
		return before, after, nil, err
	}
	out, err = results(calls, answers[1:len(answers)-1])
	return before, after, out, err
}

func pendingOf(a *Response) (p contractcall.Pending, err error) {
	if a.Err != nil {
		return p, fmt.Errorf("%w: %w", contractcall.ErrUnavailable, a.Err)
	}
	var header struct {
		Number *uint64    `json:"block_number"`
		Parent *felt.Felt `json:"parent_hash"`
	}
	if err := json.Unmarshal(a.Result, &header); err != nil {
		return p, fmt.Errorf("%w: %w: %w", contractcall.ErrUnavailable, ErrMalformed, err)
	}
	if header.Number == nil && header.Parent == nil {
		return p, fmt.Errorf("%w: %w: a block without a number or a parent", contractcall.ErrUnavailable, ErrMalformed)
	}
	return contractcall.Pending{Number: header.Number, Parent: header.Parent}, nil
}

// ClassHashAt returns the class of a contract at a block; false when there is no
// contract.
func (p *Pool) ClassHashAt(ctx context.Context, at contractcall.Block, address felt.Felt) (felt.Felt, bool, error) {
	return p.feltAt(ctx, "starknet_getClassHashAt", at, address)
}

// NonceAt returns the nonce of a contract at a block; false when there is no
// contract.
func (p *Pool) NonceAt(ctx context.Context, at contractcall.Block, address felt.Felt) (felt.Felt, bool, error) {
	return p.feltAt(ctx, "starknet_getNonce", at, address)
}

func (p *Pool) feltAt(ctx context.Context, method string, at contractcall.Block, address felt.Felt, opts ...Option) (f felt.Felt, found bool, err error) {
	a, err := p.Call(ctx, method, map[string]any{"block_id": BlockHash(at.Hash), "contract_address": address}, append(opts, AtBlock(at.Number))...)
	var rpc *RPCError
	switch {
	case errors.As(err, &rpc) && rpc.Code == CodeContractNotFound:
		return f, false, nil
	case errors.As(err, &rpc) && rpc.Code == CodeBlockNotFound:
		return f, false, fmt.Errorf("%w: %w", contractcall.ErrBlockUnknown, err)
	case err != nil:
		return f, false, fmt.Errorf("%w: %w", contractcall.ErrUnavailable, err)
	}
	var told *felt.Felt
	if err = json.Unmarshal(a.Result, &told); err == nil && told == nil {
		err = errNull
	}
	if err != nil {
		return f, false, fmt.Errorf("%s: %w: %w: %w", method, contractcall.ErrUnavailable, ErrMalformed, err)
	}
	return *told, true, nil
}

// errNull: a felt is never null, and what a decoder would make of it, zero, is an answer
// that nobody gave.
var errNull = errors.New("null in place of a felt")

// feltsOf reads what a call returned.
func feltsOf(result []byte) ([]felt.Felt, error) {
	var told []*felt.Felt
	if err := json.Unmarshal(result, &told); err != nil {
		return nil, err
	}
	if told == nil || slices.Contains(told, nil) {
		return nil, errNull
	}
	out := make([]felt.Felt, len(told))
	for i, f := range told {
		out[i] = *f
	}
	return out, nil
}
