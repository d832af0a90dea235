package index

import (
	"context"
	"errors"
	"fmt"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/node"
)

// ErrReverted says that a contract refused a call, or has no such entry point.
var ErrReverted = errors.New("the contract refused the call")

// Codes of the specification for what a contract answers itself.
const (
	codeNoEntryPoint   = 21
	codeContractError  = 40
	codeExecutionError = 41
)

// Call runs a view function of a contract at the block with a hash. ErrReverted
// is the contract's own answer, and as final as any; ErrNotFound says that the
// node has no such block, or not the contract in it.
func (n *Nodes) Call(ctx context.Context, block, contract, selector felt.Felt, calldata []felt.Felt) ([]felt.Felt, error) {
	out, err := n.Pool.CallContract(ctx, node.BlockHash(block), contract, selector, calldata)
	var rpc *node.RPCError
	if errors.As(err, &rpc) {
		switch rpc.Code {
		case codeNoEntryPoint, codeContractError, codeExecutionError:
			return nil, fmt.Errorf("%w: %v", ErrReverted, err)
		}
	}
	return out, known(err)
}
