package api

import (
	"context"
	"math/big"
	"net/http"
	"strings"

	"chainexplorer/internal/account"
	"chainexplorer/internal/contractcall"
	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
)

const (
	maxReadCalldata = 256
	maxReadResult   = 10_000
)

// ContractRead is what a view function returned.
type ContractRead struct {
	ChainID         string    `json:"chainId"`
	ContractAddress felt.Felt `json:"contractAddress"`
	Selector        felt.Felt `json:"selector"`
	LiveBlock
	Result          []felt.Felt `json:"result" doc:"At most 10,000 felts."`
	ResultLength    int         `json:"resultLength" doc:"How many felts the function returned."`
	ResultTruncated bool        `json:"resultTruncated"`
}

func (s *Routes) contractReadRoutes() {
	kernel.Register(s.Server, kernel.Route{ID: "readContract", Method: http.MethodGet, Path: "/v1/{chain}/contract/{address}/read", Family: "Contracts",
		Summary: "Call a view function",
		Description: "Runs a function of the contract at one block and names that block. `selector` is the chain's selector, not a name. " +
			"`calldata` is repeated, one felt each, hexadecimal or decimal, at most 256.",
		Class: kernel.Heavy, Scope: account.Read, Tier: kernel.TierOfficial, Certification: kernel.Beta, Audience: kernel.External, Depends: kernel.OnChain | kernel.OnNode,
		Statuses: []int{http.StatusNotFound, http.StatusUnprocessableEntity}}, s.readContract)
}

func (s *Routes) readContract(ctx context.Context, in *struct {
	ChainInput
	Address  string   `path:"address" format:"felt" maxLength:"70" doc:"The contract."`
	Selector string   `query:"selector" format:"felt" required:"true" maxLength:"70" doc:"Selector of the function, such as that of decimals."`
	Calldata []string `query:"calldata,explode" doc:"Arguments, one felt each, hexadecimal or decimal; repeat."`
	BlockTagInput
}) (*body[ContractRead], error) {
	address, err := kernel.FeltOf("path.address", in.Address)
	if err != nil {
		return nil, err
	}
	selector, err := kernel.FeltOf("query.selector", in.Selector)
	if err != nil {
		return nil, err
	}
	if len(in.Calldata) > maxReadCalldata {
		return nil, kernel.Fail(kernel.CodeInvalidRequest, "query.calldata: at most %d values.", maxReadCalldata)
	}
	call := contractcall.Call{Contract: address, Selector: selector}
	for _, text := range in.Calldata {
		f, err := parseArgument(text)
		if err != nil {
			return nil, err
		}
		call.Calldata = append(call.Calldata, f)
	}
	var c *Chain
	var b *liveBlock
	err = s.view(ctx, in.Chain, func(found *Chain, r explorer.Reader, state *chain.State) (err error) {
		c = found
		b, err = s.liveBlock(ctx, r, state, in.BlockTag)
		return err
	})
	if err != nil {
		return nil, err
	}
	at, results, err := s.ask(ctx, c, b, call)
	if err != nil {
		return nil, err
	}
	result := &results[0]
	switch result.Fault {
	case contractcall.NoContract:
		return nil, kernel.Because(kernel.ReasonContractNotFound, "At that block there is no contract at %s.", address)
	case contractcall.NoEntryPoint:
		return nil, kernel.Because(kernel.ReasonEntryPointNotFound, "The contract has no function with the selector %s.", selector)
	case contractcall.Reverted:
		return nil, reverted(result)
	}
	shown := result.Values[:min(len(result.Values), maxReadResult)]
	return &body[ContractRead]{ContractRead{in.Chain, address, selector, *at, head(shown, len(shown)), len(result.Values), len(shown) < len(result.Values)}}, nil
}

// parseArgument reads a felt in either base.
func parseArgument(text string) (felt.Felt, error) {
	if strings.HasPrefix(text, "0x") || strings.HasPrefix(text, "0X") {
		return kernel.FeltOf("query.calldata", text)
	}
	n, ok := new(big.Int), len(text) > 0 && len(text) <= 80
	for _, r := range text {
		ok = ok && r >= '0' && r <= '9'
	}
	if ok {
		n.SetString(text, 10)
		if f, err := felt.FromBig(n); err == nil {
			return f, nil
		}
	}
	if ok {
		return felt.Felt{}, kernel.Fail(kernel.CodeInvalidRequest, "query.calldata: %q is too large: a felt is below 2^251 + 17*2^192 + 1.", kernel.Clip(text, 80))
	}
	return felt.Felt{}, kernel.Fail(kernel.CodeInvalidRequest, "query.calldata: %q is not a felt.", kernel.Clip(text, 80))
}
