package node

import (
	"context"
	"errors"
	"fmt"

	"chainexplorer/internal/contractcall"
	"chainexplorer/internal/felt"
)

// codeNoTrace is how nodes say that they have no trace of a transaction.
const codeNoTrace = 10

// TraceOf returns what a transaction of a block called, as the node tells it; false when
// it has no such transaction, or no trace of it, or does not tell traces.
func (p *Pool) TraceOf(ctx context.Context, at contractcall.Block, tx felt.Felt) (trace []byte, found bool, err error) {
	a, err := p.Call(ctx, "starknet_traceTransaction", []any{tx}, AtBlock(at.Number))
	var rpc *RPCError
	switch {
	case errors.As(err, &rpc) && (rpc.Code == codeNoTrace || rpc.Code == CodeTxNotFound || rpc.Code == CodeMethodNotFound):
		return nil, false, nil
	case err != nil:
		return nil, false, fmt.Errorf("%w: %w", contractcall.ErrUnavailable, err)
	}
	return a.Result, true, nil
}
